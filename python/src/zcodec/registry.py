"""Codecs of your own, written in Python, inside chains and shards."""

from __future__ import annotations

import json
import math
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar

import numpy as np

from zcodec._ffi import ARRAY_TO_ARRAY, BYTES_TO_BYTES, CODEC_TOO_SMALL, NULL, SIZE_UNKNOWN, ffi, lib, new_error
from zcodec.callbacks import Raised, copied, keep_late, running
from zcodec.coding import element_dtype, same_elements
from zcodec.dtypes import converted
from zcodec.errors import check
from zcodec.views import must_be_bytes

_FAILED = 2  # any number but 0 and CODEC_TOO_SMALL
_CODEC_SIZE = ffi.sizeof("zcodec_codec")


class HostCodec(ABC):
    """A codec in Python. One object is made for each place of the codec in a chain, and again by `Chain.with_shape`;
    its methods run in any thread, and in several at once.

    `kind` is a `zcodec.Kind`. `__init__` gets the configuration, and a description of the data to encode: data_type,
    shape and fill_value of an array, or size. If it raises, the metadata is invalid. Arrays arrive as read-only numpy
    arrays, bytes as memoryviews; both are copies, which may be kept.

    The library keeps the objects of a chain, and Python's garbage collector does not see them there. If an object or
    its class refers to the chain, directly or not, both are freed only after `Chain.close`.

    Before Python 3.14, end daemon threads that run these methods before the interpreter ends. Otherwise Python ends them
    inside the library, which aborts the process. The same holds for paddings.
    """

    name: ClassVar[str]
    kind: ClassVar[int]

    def __init__(self, configuration: dict[str, Any], entering: dict[str, Any]) -> None:
        self.configuration = configuration
        self.entering = entering

    def output(self) -> dict[str, Any]:
        """The encoded chunk: data_type, shape and fill_value of an array, or {"size": n or None}."""
        return self.entering if self.kind == ARRAY_TO_ARRAY else {"size": None}

    def encoded_bound(self, decoded_size: int) -> int | None:
        """The most bytes that encoding this many can make; None if that is not known. First called when the chain is
        made: if it raises then, the metadata is invalid. A later exception is printed, and the bound is not known."""
        return None

    @abstractmethod
    def encode(self, decoded: Any) -> Any:
        """The encoded chunk. An array has the data type and shape of `output`, or its elements in C order in one
        dimension; anything else is a buffer with the bytes."""

    @abstractmethod
    def decode(self, encoded: Any) -> Any:
        """The decoded chunk, as an array or a buffer: as in `encode`, with the data type and shape that entered."""


class _State:
    """A codec that was bound, with the data that enters and leaves it."""

    def __init__(self, codec: HostCodec) -> None:
        leaving = codec.output()
        self.codec = codec
        self.leaving = leaving
        self.decoded = _entering(codec)
        self.encoded = _Array(leaving) if codec.kind == ARRAY_TO_ARRAY else _Bytes(None)
        self.handle = ffi.new_handle(self)
        if codec.kind != ARRAY_TO_ARRAY and self.decoded.size is not None:
            self.encoded_bound(self.decoded.size)  # an exception can reach the caller of `bind`, but not the library

    def encoded_bound(self, decoded_size: int) -> int:
        bound = self.codec.encoded_bound(decoded_size)
        if bound is None:
            return SIZE_UNKNOWN
        if not isinstance(bound, int | np.integer) or bound < 0:
            raise ValueError(f"encoded_bound gave {bound!r}, expected a number of bytes or None")
        return min(int(bound), SIZE_UNKNOWN)


class _Bytes:
    """Bytes that enter or leave, at most `size`; None means not known."""

    def __init__(self, size: int | None) -> None:
        self.size = size

    def given(self, view: memoryview) -> Any:
        """The data as the codec gets it."""
        return view

    def bytes_of(self, result: Any) -> memoryview:
        """The bytes of the codec's result."""
        must_be_bytes(result)
        if isinstance(result, np.ndarray | np.generic):
            return memoryview(np.ascontiguousarray(result).reshape(-1).view(np.uint8).data)
        return memoryview(result).cast("B")


class _Array(_Bytes):
    """An array that enters or leaves."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.dtype = element_dtype(description["data_type"])
        self.shape = tuple(description["shape"])
        self.count = math.prod(self.shape)
        super().__init__(self.count * self.dtype.itemsize)

    def given(self, view: memoryview) -> Any:
        return np.frombuffer(view, np.uint8).view(self.dtype).reshape(self.shape)

    def bytes_of(self, result: Any) -> memoryview:
        if isinstance(result, np.ndarray | np.generic):
            found = result.dtype.newbyteorder("=")
            if not same_elements(found, self.dtype) or result.shape not in (self.shape, (self.count,)):
                raise TypeError(f"expected {self.dtype} of shape {self.shape}, not {result.dtype} of shape {result.shape}")
            result = converted(np.asarray(result), found)
        return super().bytes_of(result)


def _entering(codec: HostCodec) -> _Bytes:
    entering = codec.entering
    if codec.kind == BYTES_TO_BYTES:
        return _Bytes(entering.get("bound", entering["size"]))
    return _Array(entering)


# Keeps each object alive as long as its state in the library.
_live: dict[int, _State] = {}
_raised = threading.local()


def take_bind_error() -> BaseException | None:
    """The exception that binding a codec raised on this thread."""
    error: BaseException | None = getattr(_raised, "error", None)
    _raised.error = None
    return error


def _say(sink: Any, text: str) -> None:
    message = text.encode("utf-8", "replace")
    lib.zcodec_sink_write(sink, message, len(message))


def _say_why(sink: Any, exception: BaseException) -> None:
    name = type(exception).__name__
    try:
        text = f"{name}: {exception}"
    except Exception:  # its own text fails
        text = name
    _say(sink, text)


def _code(call: Any, function: Any, entering: _Bytes, leaving: _Bytes, given: Any, size: int, room: Any) -> int:
    """Runs `function` of the codec and copies its result to `room`: (memory, capacity, size, message)."""
    memory, capacity, written, message = room
    raised: Raised | None = None if call == NULL else ffi.from_handle(call)
    try:
        with running():
            result = leaving.bytes_of(function(entering.given(copied(given, size))))
        written[0] = result.nbytes
        if result.nbytes > capacity:
            return CODEC_TOO_SMALL
        ffi.memmove(memory, result, result.nbytes)
        return 0
    except BaseException as exception:
        if raised is not None:
            raised.keep(exception)
        _say_why(message, exception)
        return _FAILED


@cache
def _functions() -> dict[str, Any]:
    """The C functions that call Python; made on first use."""

    @ffi.callback(
        "int32_t(void *, const char *, size_t, const char *, size_t, zcodec_sink *, zcodec_sink *, void **)",
        error=_FAILED,
        onerror=keep_late,
    )  # type: ignore[untyped-decorator]
    def bind(user: Any, text: Any, size: int, entering: Any, entering_size: int, output: Any, message: Any, state: Any) -> int:
        try:
            made = ffi.from_handle(user)(
                json.loads(bytes(ffi.buffer(text, size))), json.loads(bytes(ffi.buffer(entering, entering_size)))
            )
            bound = _State(made)
            _say(output, json.dumps(bound.leaving))
        except BaseException as exception:
            _raised.error = exception
            _say_why(message, exception)
            return _FAILED
        _live[int(ffi.cast("uintptr_t", bound.handle))] = bound
        state[0] = bound.handle
        return 0

    @ffi.callback("void(void *)", onerror=keep_late)  # type: ignore[untyped-decorator]
    def free_state(state: Any) -> None:
        _live.pop(int(ffi.cast("uintptr_t", state)), None)

    @ffi.callback("uint64_t(void *, uint64_t)", error=SIZE_UNKNOWN, onerror=keep_late)  # type: ignore[untyped-decorator]
    def encoded_bound(state: Any, decoded_size: int) -> int:
        try:
            bound: int = ffi.from_handle(state).encoded_bound(decoded_size)
        except Exception:
            traceback.print_exc()
            return SIZE_UNKNOWN
        return bound

    signature = "int32_t(void *, void *, const void *, size_t, void *, size_t, size_t *, zcodec_sink *)"

    @ffi.callback(signature, error=_FAILED, onerror=keep_late)  # type: ignore[untyped-decorator]
    def encode(state: Any, call: Any, decoded: Any, size: int, *room: Any) -> int:
        bound = ffi.from_handle(state)
        return _code(call, bound.codec.encode, bound.decoded, bound.encoded, decoded, size, room)

    @ffi.callback(signature, error=_FAILED, onerror=keep_late)  # type: ignore[untyped-decorator]
    def decode(state: Any, call: Any, encoded: Any, size: int, *room: Any) -> int:
        bound = ffi.from_handle(state)
        return _code(call, bound.codec.decode, bound.encoded, bound.decoded, encoded, size, room)

    return {
        "bind": bind, "free_state": free_state, "encoded_bound": encoded_bound, "encode": encode, "decode": decode,
    }  # fmt: skip


class Registry:
    """The built-in codecs, and classes of your own: `Chain(..., registry=registry)`."""

    def __init__(self, codecs: Iterable[type[HostCodec]] = ()) -> None:
        registry, error = ffi.new("zcodec_registry **"), new_error()
        check(lib.zcodec_registry_new(registry, error), error)
        self.handle = ffi.gc(registry[0], lib.zcodec_registry_free)
        self._codecs: list[type[HostCodec]] = []
        self._classes: list[Any] = []
        for codec in codecs:
            self.add(codec)

    def add(self, codec: type[HostCodec]) -> None:
        """Adds a codec under its name. No other thread may make a chain with this registry meanwhile."""
        if "\0" in codec.name:
            raise ValueError(f"the name {codec.name!r} contains a NUL")
        user_data, name = ffi.new_handle(codec), ffi.new("char[]", codec.name.encode())
        raw = ffi.new("zcodec_codec *")
        raw.struct_size, raw.name, raw.kind, raw.user_data = _CODEC_SIZE, name, int(codec.kind), user_data
        for member, function in _functions().items():
            setattr(raw, member, function)
        error = new_error()
        check(lib.zcodec_registry_add(self.handle, raw, error), error)
        self._codecs.append(codec)
        self._classes.append(user_data)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (type(self), self._codecs)


def _unpickle(cls: type[Registry], codecs: list[type[HostCodec]]) -> Registry:
    registry = cls.__new__(cls)
    Registry.__init__(registry, codecs)
    return registry
