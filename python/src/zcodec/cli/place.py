"""Where a store lies. One place may have several names: paths through links, and URLs."""

from __future__ import annotations

import os
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A path in a file system of fsspec; `files` None means that of the machine."""

    files: Any
    path: str

    @property
    def parts(self) -> tuple[str, ...]:
        path = self.path if self.files is not None else os.path.normcase(self.path).replace(os.sep, "/")
        return tuple(part for part in path.split("/") if part)

    def shares(self, other: Place) -> bool:
        """Whether both are one place, or one is inside the other."""
        ours, others = self.parts, other.parts
        count = min(len(ours), len(others))
        return bool(self.files == other.files) and ours[:count] == others[:count]


def is_url(store: str) -> bool:
    """Whether it is a URL of fsspec, and no path."""
    return "://" in store or "::" in store


def place_of(store: str) -> Place:
    """The place of a path or a URL."""
    if not is_url(store):
        return _local(store)
    from fsspec.core import url_to_fs
    from fsspec.implementations.cached import CachingFileSystem
    from fsspec.implementations.dirfs import DirFileSystem
    from fsspec.implementations.local import LocalFileSystem

    files, path = url_to_fs(store)
    while isinstance(files, CachingFileSystem | DirFileSystem):
        files, path = files.fs, files._join(path) if isinstance(files, DirFileSystem) else path
    return _local(path) if isinstance(files, LocalFileSystem) else Place(files, path)


def places_of(store: str) -> list[Place]:
    """The place of a path or a URL, and if it is in an archive, that of the archive."""
    links = store.split("::") if is_url(store) else [store]
    return [place_of("::".join(links[i:])) for i in range(len(links))]


def _local(path: str) -> Place:
    return Place(None, os.path.realpath(path))
