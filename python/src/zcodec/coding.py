"""Encoding and decoding one chunk. `Chain` has these as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zcodec._ffi import ARRAY_TO_ARRAY, NULL, ffi, lib, new_buffer, new_error, new_size, text_of
from zcodec.callbacks import call_options, raise_late
from zcodec.dtypes import DataType, as_numbers, converted, is_ml
from zcodec.errors import check, check_call
from zcodec.views import (
    Array, Box, Buffer, Part, Selection, View, from_buffer, must_be_bytes, overlaps_itself, refuse_masked,
    shares_memory,
)  # fmt: skip

if TYPE_CHECKING:
    from zcodec.chain import Chain

_from_buffer = ffi.from_buffer
_decode = lib.zcodec_decode
_encode = lib.zcodec_encode


# ---- Decoding ----------------------------------------------------------------------------------


def is_whole(chain: Chain, array: Any) -> bool:
    """Whether the memory of an array is laid out as a decoded chunk."""
    return (
        type(array) is np.ndarray
        and array.flags.carray
        and array.shape == chain._shape
        and bool(array.dtype == chain._dtype)
    )


def decode_whole(chain: Chain, buffer: Buffer, out: Array | None) -> Array:
    """Decodes a whole chunk without callbacks to memory of its shape: the fast path for small chunks."""
    handle = chain.handle
    if out is None:
        out = np.empty(chain._shape, chain._dtype)
    if type(buffer) is not bytes:
        must_be_bytes(buffer)
    try:
        encoded = _from_buffer(buffer)
    except (TypeError, ValueError, BufferError):
        encoded = from_buffer(buffer)
    error = new_error()
    status = _decode(handle, encoded, len(encoded), _from_buffer(out), chain._decoded_size, new_size(), error)
    if status:
        ffi.release(encoded)  # the traceback would keep it, and nobody could close a mapped file
        check(status, error)
    return out


def decode(chain: Chain, buffer: Buffer, out: Any, box: Box | None, max_threads: int | None) -> Any:
    from zcodec.plan import read_object

    if chain._shape is None:
        if box is not None:
            raise ValueError("a chain of bytes->bytes codecs has no boxes")
        return _decode_bytes(chain, buffer, out, max_threads)
    buffer = encoded_of(chain, buffer)
    with from_buffer(buffer) as encoded:
        target, size = Target(chain, out, box), ffi.sizeof(encoded)
        target.refuse_shared(encoded)
        if box is None or len(target.parts(chain)) <= 1:
            return decode_to(target, chain, encoded, max_threads)
    return read_object(chain.plan(box, out, object_size=size, max_threads=max_threads), buffer)


def decode_to(target: Any, chain: Chain, encoded: Any, max_threads: int | None) -> Any:
    """Decodes a cffi buffer to a `Target`, or to what is like one."""
    context, error = chain.context(), new_error()
    status = lib.zcodec_decode_view(
        chain.handle, call_options(context, max_threads), encoded, ffi.sizeof(encoded),
        target.part_pointer, target.view_pointer, error,
    )  # fmt: skip
    check_call(status, error, context)
    return target.finish()


def encoded_of(chain: Chain, buffer: Any) -> Any:
    """The input of a decode. A chain of array->array codecs takes an array, or its bytes."""
    if chain._kind != ARRAY_TO_ARRAY or not isinstance(buffer, np.ndarray):
        return buffer
    dtype, shape = output_array(chain)
    array = _checked(buffer, dtype, shape, "the encoded array")
    return np.ascontiguousarray(converted(array, array.dtype.newbyteorder("=")))


def _decode_bytes(chain: Chain, buffer: Buffer, out: Any, max_threads: int | None) -> bytes | memoryview:
    context, error = chain.context(), new_error()
    options = call_options(context, max_threads)
    with from_buffer(buffer) as encoded:
        if out is None:
            made = new_buffer()
            status = lib.zcodec_decode_to_buffer_with(chain.handle, options, encoded, ffi.sizeof(encoded), made, error)
            check_call(status, error, context)
            return text_of(made[0])
        size = new_size()
        with writable_buffer(out) as decoded:
            status = lib.zcodec_decode_with(
                chain.handle, options, encoded, ffi.sizeof(encoded), decoded, ffi.sizeof(decoded), size, error
            )
            check_call(status, error, context, size)
    return memoryview(out).cast("B")[: size[0]]


class Target:
    """Where a box of a chunk goes: `view_pointer` and `part_pointer` are what the library fills, and `finish` gives the
    result.

    Where the box is taken with steps, or `out` is in the other byte order, the library fills memory in between.
    """

    __slots__ = ("_result", "_selection", "_steps", "out", "part", "part_pointer", "view", "view_pointer")

    def __init__(self, chain: Chain, out: Any, box: Box | None) -> None:
        shape, dtype = chain.shape, chain.dtype
        selection = None if box is None else Selection(box, shape)
        selected = shape if selection is None else selection.selected_shape
        self._selection = selection
        self.out = None if out is None else output_of(out, dtype, selected)
        if self.out is not None and overlaps_itself(self.out):
            raise ValueError("elements of out share memory")
        self._steps = selection is not None and not selection.is_plain
        if selection is None:
            self.part, self.part_pointer = None, NULL
        else:
            self.part = Part(selection.start, selection.shape)
            self.part_pointer = self.part.pointer
        covered = shape if selection is None else selection.shape
        self._result = self.out
        if self.out is None or self._steps or not self.out.dtype.isnative:
            # Elements may also be integers with their bits, which no cast may change.
            self._result = np.empty(covered, dtype if self.out is None else self.out.dtype.newbyteorder("="))
        assert self._result is not None
        self.view = View(self._result)
        self.view_pointer = self.view.pointer
        if selection is not None and self._steps:
            self._result = self._result[(*selection.within, ...)]  # a view, also of one element

    def refuse_shared(self, encoded: Any) -> None:
        """The library must not fill memory that it reads."""
        if self.out is not None and shares_memory(self.view.array, encoded):
            raise ValueError("out and the encoded chunk share memory")

    @property
    def filled(self) -> View | None:
        """The part of the caller's memory that is filled in the end."""
        if self.out is None or self.view.array is self.out:
            return None if self.out is None else self.view
        return View(self.out)

    def parts(self, chain: Chain) -> list[tuple[Part, View]]:
        """The box; for a shard several boxes, which leave out the inner chunks between steps."""
        selection, memory = self._selection, self.view.array
        if self.part is None or selection is None:
            raise ValueError("a whole chunk has no parts")
        if not self._steps or not chain.has_index:
            return [(self.part, self.view)]
        found = []
        for box in selection.parts(chain.granularity):
            part = Part(tuple(first for first, _ in box), tuple(size for _, size in box))
            within: Any = tuple(
                slice(first - low, first - low + size) for (first, size), low in zip(box, selection.start, strict=True)
            )
            found.append((part, View(memory[(*within, ...)])))
        return found

    def finish(self) -> Array:
        assert self._result is not None
        if self.out is None:
            return self._result
        if self._result is not self.out:
            as_numbers(self.out)[...] = as_numbers(self._result)
        return self.out


# ---- Encoding ----------------------------------------------------------------------------------


def encode(chain: Chain, array: Any, box: Box | None, max_threads: int | None) -> Any:
    source = source_of(chain, array, box, max_threads)
    try:
        return _encoded(chain, source, max_threads)
    finally:
        source.release()


def _encoded(chain: Chain, source: Source, max_threads: int | None) -> Any:
    if chain._kind == ARRAY_TO_ARRAY:
        dtype, shape = output_array(chain)
        result = np.empty(shape, dtype)
        source.encode_into(View(result).pointer.memory, result.nbytes, max_threads)
        return result
    size = chain.encoded_size
    if size is not None and size > 1:
        # Nobody else has seen these bytes yet, so they may be filled, which saves a copy. (Python shares bytes of size
        # 0 and 1.)
        exact = bytes(size)
        source.encode_into(_from_buffer(exact), size, max_threads)
        return exact
    return source.encode_bytes(max_threads)


def encode_into(chain: Chain, array: Any, encoded: Buffer, box: Box | None, max_threads: int | None) -> int:
    source = source_of(chain, array, box, max_threads)
    try:
        with writable_buffer(encoded) as target:
            if source.array is not None and shares_memory(source.array, target):
                raise ValueError("the array and the buffer for the encoded chunk share memory")
            return source.encode_into(target, ffi.sizeof(target), max_threads)
    finally:
        source.release()


def source_of(chain: Chain, array: Any, box: Box | None, max_threads: int | None) -> Source:
    if chain._is_plain and box is None and max_threads == 1 and is_whole(chain, array):
        return WholeSource(chain, array)
    return Source(chain, array, box)


class Source:
    """The input of an encode: an array of any strides, a part of a chunk, or bytes."""

    __slots__ = ("_bytes", "_chain", "_flags", "_handle", "array", "part", "part_pointer", "view")

    def __init__(self, chain: Chain, array: Any, box: Box | None, flags: int = 0) -> None:
        self._chain, self._handle, self._flags = chain, chain.handle, flags
        self._bytes = self.array = self.view = self.part = None
        self.part_pointer = NULL
        if chain._shape is None:
            if box is not None:
                raise ValueError("a chain of bytes->bytes codecs has no boxes")
            if isinstance(array, np.ndarray):
                refuse_masked(array, "the array")
                array = np.ascontiguousarray(array)
            self._bytes = from_buffer(array)
            return
        shape = chain._shape
        if box is not None:
            selection = Selection(box, shape)
            if not selection.is_plain:
                raise ValueError("the box of an encode consists of slices without steps")
            self.part = Part(selection.start, selection.shape)
            self.part_pointer, shape = self.part.pointer, selection.shape
        self.array = input_of(array, chain.dtype, shape)
        self.view = View(self.array)

    def release(self) -> None:
        """Gives the bytes back to the caller, who may want to close them while the traceback of an error keeps this."""
        if self._bytes is not None:
            ffi.release(self._bytes)

    def encode_into(self, encoded: Any, capacity: int, max_threads: int | None) -> int:
        """The number of bytes written."""
        context, error, size = self._chain.context(), new_error(), new_size()
        options = call_options(context, max_threads, self._flags)
        if self.view is None:
            status = lib.zcodec_encode_with(
                self._handle, options, self._bytes, ffi.sizeof(self._bytes), encoded, capacity, size, error
            )
        else:
            status = lib.zcodec_encode_view(
                self._handle, options, self.part_pointer, self.view.pointer, encoded, capacity, size, error
            )
        check_call(status, error, context, size)
        return int(size[0])

    def encode_bytes(self, max_threads: int | None) -> bytes:
        bound = self._bound()
        if bound is None:
            return self._encode_to_buffer(max_threads)
        scratch = np.empty(bound, np.uint8)
        size = self.encode_into(_from_buffer(scratch), bound, max_threads)
        return scratch[:size].tobytes()

    def _bound(self) -> int | None:
        """A size that is always enough; None if a codec of the host does not know one."""
        if self.array is not None:
            if not self._chain._has_callbacks:
                return self._chain.encoded_bound()
            size = self._chain._decoded_size
        else:
            size = ffi.sizeof(self._bytes)
        bound = new_size()
        status = lib.zcodec_chain_encoded_bound(self._handle, size, bound)
        raise_late()
        return int(bound[0]) if not status else None

    def _encode_to_buffer(self, max_threads: int | None) -> bytes:
        if self.array is not None:
            return self._encode_doubling(max_threads)
        context, made, error = self._chain.context(), new_buffer(), new_error()
        options = call_options(context, max_threads, self._flags)
        status = lib.zcodec_encode_to_buffer_with(
            self._handle, options, self._bytes, ffi.sizeof(self._bytes), made, error
        )
        check_call(status, error, context)
        return text_of(made[0])

    def _encode_doubling(self, max_threads: int | None) -> bytes:
        """No call allocates the result for a view: the memory grows as the library asks until it is enough."""
        from zcodec.errors import Error

        capacity = self._chain._decoded_size + 1024
        while True:
            scratch = np.empty(capacity, np.uint8)
            try:
                size = self.encode_into(_from_buffer(scratch), capacity, max_threads)
                return scratch[:size].tobytes()
            except Error as error:
                if error.needed_size is None:
                    raise
                capacity = max(error.needed_size, capacity + 1)


class WholeSource(Source):
    """A whole chunk as it lies in memory, for a chain without callbacks: the fast path for small chunks. It has no
    view."""

    __slots__ = ()

    def __init__(self, chain: Chain, array: Array) -> None:
        self._chain, self._handle, self.array, self._bytes, self._flags = chain, chain.handle, array, None, 0

    def encode_into(self, encoded: Any, capacity: int, max_threads: int | None) -> int:
        array, error, size = self.array, new_error(), new_size()
        assert array is not None
        check(_encode(self._handle, _from_buffer(array), array.nbytes, encoded, capacity, size, error), error, size)
        return int(size[0])


# ---- Fill values -------------------------------------------------------------------------------


def _shaped_view(chain: Chain, array: Array) -> tuple[Any, View]:
    if array.ndim != len(chain.shape):
        raise ValueError(f"the array has {array.ndim} dimensions, the chunk has {len(chain.shape)}")
    return ffi.new("uint64_t[]", array.shape), View(array)


def fill(chain: Chain, out: Array) -> None:
    if not isinstance(out, np.ndarray):
        raise TypeError(f"expected a numpy array to fill, not {type(out).__name__}")
    output_of(out, chain.dtype, out.shape)
    if overlaps_itself(out):
        raise ValueError("elements of out share memory")
    native = out if out.dtype.isnative else np.empty(out.shape, out.dtype.newbyteorder("="))
    (shape, view), error = _shaped_view(chain, native), new_error()
    check(lib.zcodec_fill_view(chain.handle, shape, view.pointer, error), error)
    if native is not out:
        as_numbers(out)[...] = as_numbers(native)


def is_fill(chain: Chain, array: Any) -> bool:
    array = np.asanyarray(array)
    shape, view = _shaped_view(chain, input_of(array, chain.dtype, array.shape))
    answer, error = ffi.new("int32_t *"), new_error()
    check(lib.zcodec_is_fill_view(chain.handle, shape, view.pointer, answer, error), error)
    return bool(answer[0])


# ---- Arrays that fit ---------------------------------------------------------------------------


def output_array(chain: Chain) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """dtype and shape of an encoded chunk of a chain of array->array codecs."""
    if chain._output_array is None:
        leaving = chain.output
        chain._output_array = element_dtype(leaving["data_type"]), tuple(leaving["shape"])
    return chain._output_array


def element_dtype(data_type: DataType) -> np.dtype[Any]:
    """The numpy dtype of a Zarr data type. A chain that changes nothing knows the size of an element."""
    from zcodec.chain import Chain as AnyChain

    return AnyChain([{"name": "transpose", "configuration": {"order": [0]}}], data_type, (1,)).dtype


def same_elements(found: np.dtype[Any], expected: np.dtype[Any]) -> bool:
    """Whether arrays of dtype `found` are accepted. For types that numpy lacks, so are integers with their bits."""
    if found == expected:
        return True
    is_lacking = is_ml(expected) or (expected.kind == "V" and expected.names is None)
    return is_lacking and found.kind == "u" and found.isnative and found.itemsize == expected.itemsize


def _checked(array: Array, dtype: np.dtype[Any], shape: tuple[int, ...], what: str) -> Array:
    refuse_masked(array, what)
    found = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")
    if not same_elements(found, dtype):
        raise TypeError(f"{what} has dtype {array.dtype}, the chain takes {dtype}")
    if array.shape != shape:
        raise ValueError(f"{what} has shape {array.shape}, expected {shape}")
    return array


def input_of(array: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """The array to encode, in native byte order."""
    found = array if isinstance(array, np.ndarray) else np.asarray(array)
    _checked(found, dtype, shape, "the array")
    if found.dtype.isnative:
        return found
    return converted(found, found.dtype.newbyteorder("="))


def output_of(out: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """The array to decode to. Other writable memory is taken as elements in C order."""
    if not isinstance(out, np.ndarray):
        must_be_bytes(out)
        memory = memoryview(out)
        if memory.readonly:
            raise ValueError("out is read-only")
        count = int(np.prod(shape, dtype=object))
        if memory.nbytes != count * dtype.itemsize:
            raise ValueError(f"out has {memory.nbytes} bytes, expected {count * dtype.itemsize}")
        return np.frombuffer(memory.cast("B"), np.uint8).view(dtype).reshape(shape) if count else np.empty(shape, dtype)
    _checked(out, dtype, shape, "out")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    return out


def writable_buffer(buffer: Buffer) -> Any:
    """Writable memory of the caller, as bytes."""
    must_be_bytes(buffer)
    try:
        return _from_buffer("uint8_t[]", buffer, require_writable=True)
    except BufferError as error:
        raise ValueError(f"the buffer is read-only, or its bytes do not lie back to back: {error}") from None
