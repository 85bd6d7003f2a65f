"""Objects of zarr-python's LocalStore, read from their files: its own methods take longer than the system does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from typing import Any

import numpy as np
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.storage import LocalStore, StorePath


def path_of(getter: Any) -> str | None:
    """The file of an object, if it is one of an open LocalStore itself and not of a class derived from it."""
    if type(getter) is not StorePath or type(getter.store) is not LocalStore or not getter.store._is_open:
        return None
    return os.path.join(getter.store.root, getter.path)


@contextmanager
def opened(path: str) -> Iterator[FileIO | None]:
    """The file; None if there is no object, as in zarr-python."""
    try:
        file = FileIO(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        yield None
        return
    with file:
        yield file


def part(file: FileIO, request: ByteRequest | None) -> Any:
    """A range of a file, as far as the file has its bytes; None asks for all of them."""
    if request is None:
        return np.frombuffer(file.readall(), np.uint8)
    size = os.fstat(file.fileno()).st_size
    match request:
        case RangeByteRequest(start, end):
            pass
        case OffsetByteRequest(start):
            end = size
        case SuffixByteRequest(suffix):
            start, end = max(0, size - suffix), size
    memory: Any = np.empty(max(0, min(end, size) - start), np.uint8)
    file.seek(start)
    filled = 0
    while filled < memory.size and (count := file.readinto(memory[filled:])):
        filled += count
    return memory[:filled]
