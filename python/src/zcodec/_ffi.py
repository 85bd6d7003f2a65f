"""The library and its declarations. Every call through `lib` releases the GIL; callbacks take it."""

from __future__ import annotations

import ctypes
import sys
from functools import partial
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

# Constants of zcodec.h.
SIZE_UNKNOWN = 2**64 - 1
CALL_STORE_EMPTY: int = lib.ZCODEC_CALL_STORE_EMPTY
TASK_MISSING: int = lib.ZCODEC_TASK_MISSING
CODEC_TOO_SMALL: int = lib.ZCODEC_CODEC_TOO_SMALL
ARRAY_TO_ARRAY: int = lib.ZCODEC_KIND_ARRAY_TO_ARRAY
BYTES_TO_BYTES: int = lib.ZCODEC_KIND_BYTES_TO_BYTES


def size_of(value: int, name: str) -> int:
    """`value` if it is a size or an offset in bytes that the library accepts. Raises ValueError."""
    if not 0 <= value <= SIZE_UNKNOWN:
        raise ValueError(f"{name} is {value}, expected 0 to 2^64 - 1")
    return value


# Where a call leaves its results. Every call has its own: a callback, or the handler of a signal, may call the library
# on the same thread, even after a call has returned and before its results are read.
new_size: Any = partial(ffi.new, ffi.typeof("size_t *"))
new_error: Any = partial(ffi.new, ffi.typeof("zcodec_error **"))
new_chain: Any = partial(ffi.new, ffi.typeof("zcodec_chain **"))
new_buffer: Any = partial(ffi.new, ffi.typeof("zcodec_buffer **"))


def text_of(buffer: Any) -> bytes:
    """The bytes of a zcodec_buffer, which is freed."""
    try:
        return bytes(ffi.buffer(lib.zcodec_buffer_data(buffer), lib.zcodec_buffer_size(buffer)))
    finally:
        lib.zcodec_buffer_free(buffer)
