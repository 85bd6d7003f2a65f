"""The library and its declarations. Every call through `lib` releases the GIL; callbacks take it."""

from __future__ import annotations

import ctypes
import sys
import threading
from pathlib import Path
from typing import Any

from zcodec import _declarations

_NAMES = {"win32": "zcodec.dll", "darwin": "libzcodec.dylib"}

_PATH = str(Path(__file__).with_name(_NAMES.get(sys.platform, "libzcodec.so")))

# ctypes never unloads a library. cffi does when the interpreter ends, and handles that are freed after that would call
# code that is gone.
_LOADED = ctypes.CDLL(_PATH)
ffi: Any = _declarations.ffi
lib: Any = ffi.dlopen(_PATH)

NULL: Any = ffi.NULL
SIZE_UNKNOWN = 2**64 - 1


def size_of(value: int, name: str) -> int:
    """A size or place in bytes that the library can be told."""
    if not 0 <= value <= SIZE_UNKNOWN:
        raise ValueError(f"{name} is {value}, expected 0 to 2^64 - 1")
    return value


class Slots(threading.local):
    """Where a call leaves its results: allocated once per thread, because that takes longer than a short call.

    A callback may call the library on the same thread. Results are written at the end of a call and read right after
    it, so the inner call cannot disturb the outer one.
    """

    def __init__(self) -> None:
        self.size: Any = ffi.new("size_t *")
        self.error: Any = ffi.new("zcodec_error **")
        self.chain: Any = ffi.new("zcodec_chain **")
        self.buffer: Any = ffi.new("zcodec_buffer **")


slots = Slots()


def text_of(buffer: Any) -> bytes:
    """The bytes of a zcodec_buffer, which is freed."""
    try:
        return bytes(ffi.buffer(lib.zcodec_buffer_data(buffer), lib.zcodec_buffer_size(buffer)))
    finally:
        lib.zcodec_buffer_free(buffer)
