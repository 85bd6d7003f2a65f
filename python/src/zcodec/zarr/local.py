"""Objects of zarr-python's LocalStore, read from their files and written to them: its own methods take longer than the
system does."""

from __future__ import annotations

import os
import uuid
from contextlib import AbstractContextManager, nullcontext, suppress
from io import FileIO
from typing import Any

import numpy as np
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.storage import LocalStore, StorePath


METHODS = ("get", "set", "delete")


def is_patched(store: Any) -> bool:
    """Whether this object has methods of its own, as mocks do, which must be called."""
    return not vars(store).keys().isdisjoint(METHODS)


def path_of(getter: Any) -> str | None:
    """The file of an object, if it is one of an open LocalStore itself and not of a class derived from it."""
    if type(getter) is not StorePath or type(getter.store) is not LocalStore or not getter.store._is_open:
        return None
    if is_patched(getter.store):
        return None
    return os.path.join(getter.store.root, getter.path)


def path_to_replace(setter: Any) -> str | None:
    """The file of an object, as `path_of`, if `replace` may write it. None on Windows, where files that somebody reads
    cannot be replaced: the store's own methods know what to do."""
    return None if os.name == "nt" else path_of(setter)


def opened(path: str) -> AbstractContextManager[FileIO | None]:
    """The file; None if there is no object, as in zarr-python."""
    try:
        return FileIO(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return nullcontext()


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


def replace(path: str, encoded: Any) -> None:
    """Makes a file of these bytes, in place of one that may exist. Whoever reads it meanwhile gets the old bytes or the
    new ones."""
    partial = f"{path}.{uuid.uuid4().hex}.partial"
    try:
        with _created(partial) as file:
            rest = memoryview(encoded)
            while rest:
                rest = rest[file.write(rest) :]
        os.replace(partial, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(partial)
        raise


def _created(path: str) -> FileIO:
    try:
        return FileIO(path, "x")
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return FileIO(path, "x")
