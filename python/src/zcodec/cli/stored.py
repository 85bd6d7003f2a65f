"""Which chunks of an array exist: of a sparse array, few."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from zcodec.cli.boxes import Boxes
from zcodec.cli.grid import Coordinates
from zcodec.cli.store import document, file_of, grid_of

# A larger set would take too much memory, and is not worth it.
_MOST = 1 << 18
_FOLDER = re.compile("[cC]|[0-9]+")


class _Unlisted(Exception):
    """Nobody knows which chunks exist."""


def stored_chunks(array: Any) -> set[Coordinates] | None:
    """The coordinates of the chunks that exist. None if nobody knows, or if there are too many.

    Only directories are asked: a list of objects in a remote store may be old, and what it lacks would be passed
    over."""
    return _set_of(_coordinates(array))


def stored_boxes(source: Any, boxes: Boxes) -> set[Coordinates] | None:
    """The numbers of the boxes in which the source has chunks; None as for `stored_chunks`."""
    return _set_of(numbers for coordinates in _coordinates(source) for numbers in boxes.numbers_with(coordinates))


def _set_of(items: Iterable[Coordinates]) -> set[Coordinates] | None:
    found = set[Coordinates]()
    try:
        for item in items:
            found.add(item)
            if len(found) > _MOST:
                return None
    except (_Unlisted, OSError):  # such as a directory that may be used but not listed
        return None
    return found


def _coordinates(array: Any) -> Iterator[Coordinates]:
    root, grid = file_of(array.store_path), grid_of(array)
    encoding = document(array).get("chunk_key_encoding", "v2")
    if root is None or (encoding if isinstance(encoding, str) else encoding["name"]) not in ("default", "v2"):
        raise _Unlisted
    for key, entry in _entries(str(root), "", len(grid.sizes)):
        coordinates = tuple(map(int, re.findall("[0-9]+", key))) if grid.sizes else ()
        if coordinates in grid and array.metadata.encode_chunk_key(coordinates) == key:
            yield coordinates
        elif _FOLDER.fullmatch(entry.name) and not entry.is_dir():  # chunks may belong into a folder of this name
            raise _Unlisted


def _entries(folder: str, above: str, depth: int) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The entries of a folder and of the folders below it that may hold chunks, each with its path relative to the first
    folder, in lower case: some file systems ignore case."""
    with os.scandir(folder) as entries:
        for entry in entries:
            key = above + entry.name.lower()
            yield key, entry
            if depth and _FOLDER.fullmatch(entry.name) and entry.is_dir():
                yield from _entries(entry.path, f"{key}/", depth - 1)
