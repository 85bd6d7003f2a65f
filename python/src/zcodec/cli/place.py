"""Where a store lies. One place may have several names: paths through links, and URLs."""

from __future__ import annotations

import os
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A path in a file system of fsspec, or, where this is None, in that of the machine."""

    files: Any
    parts: tuple[str, ...]

    def shares(self, other: Place) -> bool:
        """Whether both are one place, or one is inside the other."""
        count = min(len(self.parts), len(other.parts))
        return bool(self.files == other.files) and self.parts[:count] == other.parts[:count]


def place_of(store: str) -> Place:
    """The place of a path or a URL."""
    if "://" not in store and "::" not in store:
        return _local(store)
    from fsspec.core import url_to_fs
    from fsspec.implementations.cached import CachingFileSystem
    from fsspec.implementations.dirfs import DirFileSystem
    from fsspec.implementations.local import LocalFileSystem

    files, path = url_to_fs(store)
    while isinstance(files, CachingFileSystem | DirFileSystem):
        files, path = files.fs, files._join(path) if isinstance(files, DirFileSystem) else path
    return _local(path) if isinstance(files, LocalFileSystem) else Place(files, _parts(path))


def _local(path: str) -> Place:
    return Place(None, _parts(os.path.normcase(os.path.realpath(path)).replace(os.sep, "/")))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)
