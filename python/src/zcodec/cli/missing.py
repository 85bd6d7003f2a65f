"""Boxes of a conversion in which the source has no chunks: of a sparse array, nearly all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from zcodec.cli.boxes import Boxes
from zcodec.cli.grid import Coordinates
from zcodec.cli.store import document, file_of, grid_of

# If more boxes have chunks, the set of them would take too much memory, and is not worth it.
_MOST = 1 << 18
_FOLDER = re.compile("[cC]|[0-9]+")


def stored_boxes(source: Any, boxes: Boxes) -> set[Coordinates] | None:
    """The numbers of the boxes in which the source has chunks. None if nobody knows, or if these are too many.

    Only directories are asked: a list of objects in a remote store may be old, and what it lacks would be lost."""
    root = file_of(source.store_path)
    encoding = document(source).get("chunk_key_encoding", {"name": "v2"})["name"]
    if root is None or encoding not in ("default", "v2"):
        return None
    grid, found = grid_of(source), set[Coordinates]()
    try:
        for key in _keys(str(root), "", len(source.shape)):
            coordinates = tuple(map(int, re.findall("[0-9]+", key))) if source.shape else ()
            if coordinates in grid and source.metadata.encode_chunk_key(coordinates) == key:
                found.update(boxes.numbers_with(coordinates))
                if len(found) > _MOST:
                    return None
    except OSError:  # such as a directory that may be used but not listed
        return None
    return found


def _keys(folder: str, above: str, depth: int) -> Iterator[str]:
    """The names in a folder and in those below it that may have chunks; in lower case, as some file systems find them
    by either."""
    with os.scandir(folder) as entries:
        for entry in entries:
            key = above + entry.name.lower()
            yield key
            if depth and _FOLDER.fullmatch(entry.name) and entry.is_dir():
                yield from _keys(entry.path, f"{key}/", depth - 1)
