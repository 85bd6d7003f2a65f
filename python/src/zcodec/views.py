"""numpy arrays as the library sees them, and numpy slices as boxes of a chunk."""

from __future__ import annotations

from itertools import product
from types import EllipsisType
from typing import Any

import numpy as np

from zcodec._ffi import ffi

Array = np.ndarray[Any, np.dtype[Any]]
Selector = slice | int | np.integer[Any] | EllipsisType
Box = tuple[Selector, ...] | Selector
Buffer = Any  # a contiguous object with the buffer protocol; Python 3.12 has collections.abc.Buffer


def from_buffer(buffer: Buffer) -> Any:
    """The memory of a buffer; the result keeps it alive. Raises TypeError if the buffer is not contiguous."""
    must_be_bytes(buffer)
    try:
        if isinstance(buffer, np.ndarray) and buffer.dtype.kind in "MmVUS":
            return ffi.from_buffer(np.atleast_1d(buffer).view(np.uint8))
        return ffi.from_buffer(buffer)
    except (TypeError, ValueError, BufferError) as error:
        raise TypeError(f"expected bytes that lie back to back, not {type(buffer).__name__}: {error}") from None


def must_be_bytes(buffer: Buffer) -> None:
    """Raises TypeError for arrays of Python objects, whose memory is pointers, and for arrays with a mask."""
    array = buffer.obj if isinstance(buffer, memoryview) else buffer
    if isinstance(array, np.ndarray):
        if array.dtype.hasobject:
            raise TypeError(f"expected bytes, not the pointers of an array of {array.dtype}")
        refuse_masked(array, "the array of bytes")


def refuse_masked(array: Array, what: str) -> None:
    """Raises TypeError for arrays with a mask: masked elements would be encoded, and decoded ones would stay masked."""
    if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):  # asking for numpy.ma imports it
        raise TypeError(f"{what} has a mask, which a chunk cannot have; pass its .data, or what .filled() gives")


class View:
    """A zcodec_view of an array; it keeps everything alive that the view points to."""

    __slots__ = ("array", "pointer", "size", "start", "strides")

    def __init__(self, array: Array, pointer: Any = None) -> None:
        self.array = array
        self.pointer = ffi.new("zcodec_view *") if pointer is None else pointer
        self.strides = None
        self._fill()

    def _fill(self) -> None:
        array, view = self.array, self.pointer
        low, size = extent(array)
        self.start: int = array.__array_interface__["data"][0] + low  # of its memory
        self.size = size
        view.struct_size = _VIEW_SIZE
        view.memory = ffi.cast("void *", self.start)
        view.memory_size = size
        view.offset = -low
        view.ndim = array.ndim
        if not array.flags.c_contiguous:
            self.strides = ffi.new("int64_t[]", array.strides)
            view.strides = self.strides


_VIEW_SIZE = ffi.sizeof("zcodec_view")
_BOX_SIZE = ffi.sizeof("zcodec_box")


def extent(array: Array) -> tuple[int, int]:
    """Where the memory of an array begins, relative to its first element, and its size."""
    if array.flags.c_contiguous:
        return 0, array.nbytes
    if not array.size:
        return 0, 0
    reach = [(size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True)]
    low = sum(step for step in reach if step < 0)
    high = sum(step for step in reach if step > 0)
    return low, high - low + array.itemsize


def shares_memory(array: Array, buffer: Any) -> bool:
    """Whether an array and a cffi buffer share a byte."""
    return bool(array.size and ffi.sizeof(buffer)) and arrays_share(array, array_of(buffer))


def array_of(buffer: Any) -> Array:
    """The bytes of a cffi buffer, which must not be empty."""
    return np.frombuffer(ffi.buffer(buffer), np.uint8)


def address_of(pointer: Any) -> int:
    """The address that a cffi pointer or buffer points to."""
    return int(ffi.cast("uintptr_t", pointer))


def arrays_share(one: Array, other: Array) -> bool:
    """Whether two arrays share a byte. Where that is hard to tell, whether their bounds overlap."""
    if not np.may_share_memory(one, other):
        return False
    most: Any = 10_000
    try:
        return np.shares_memory(one, other, max_work=most)
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(array: Array) -> bool:
    """Whether two elements of an array share a byte."""
    if array.flags.forc or not array.size:
        return False
    axes = sorted((abs(stride), size) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1)
    reach = array.itemsize
    for stride, size in axes:
        if stride < reach:
            break
        reach += stride * (size - 1)
    else:
        return False  # each axis steps over everything that the smaller ones cover
    if extent(array)[1] < array.nbytes:
        return True
    starts = np.zeros((), np.int64)
    for stride, size in axes:
        starts = np.add.outer(starts, stride * np.arange(size))
    return bool((np.diff(np.sort(starts, axis=None)) < array.itemsize).any())


class Part:
    """A zcodec_box: where a box begins in the chunk and its shape."""

    __slots__ = ("numbers", "pointer")

    def __init__(self, start: tuple[int, ...], shape: tuple[int, ...], pointer: Any = None) -> None:
        ndim = len(shape)
        self.pointer = ffi.new("zcodec_box *") if pointer is None else pointer
        self.numbers = ffi.new("uint64_t[]", (*start, *shape))
        box = self.pointer
        box.struct_size = _BOX_SIZE
        box.ndim = ndim
        box.start = self.numbers
        box.shape = self.numbers + ndim


class Selection:
    """A numpy selection of slices and integers, resolved for a chunk.

    The box `start`, `shape` covers it; `within` selects its elements from the box: it reverses axes, takes steps, and
    drops the axes of integers. `is_plain`: the selection is the box.
    """

    __slots__ = ("is_plain", "selected_shape", "shape", "start", "within")

    def __init__(self, box: Box, chunk_shape: tuple[int, ...]) -> None:
        start, shape, within, selected = [], [], [], []
        self.is_plain = True
        for axis, (selector, size) in enumerate(zip(_full(box, len(chunk_shape)), chunk_shape, strict=True)):
            rest: slice | int
            if isinstance(selector, slice):
                first, count, rest, length = _slice(selector, size)
                selected.append(length)
                self.is_plain &= rest == _ALL
            else:
                first, count, rest = _integer(selector, size, axis), 1, 0
                self.is_plain = False
            start.append(first)
            shape.append(count)
            within.append(rest)
        self.start, self.shape = tuple(start), tuple(shape)
        self.within: tuple[slice | int, ...] = tuple(within)
        self.selected_shape = tuple(selected)

    def parts(self, cell: tuple[int, ...]) -> list[tuple[tuple[int, int], ...]]:
        """Boxes that cover the selection, and leave out the cells of a grid that have no element of it. A box is
        (start, size) along each axis."""
        return list(product(*map(_runs, self.start, self.shape, self.within, cell)))


def _runs(start: int, count: int, within: slice | int, cell: int) -> list[tuple[int, int]]:
    """The runs of neighbouring cells along an axis, as (start, size)."""
    step = abs(within.step or 1) if isinstance(within, slice) else 1
    if step <= cell:
        return [(start, count)]
    runs: list[tuple[int, int]] = []
    for index in range(start, start + count, step):
        first, length = runs[-1] if runs else (index, 0)
        if length and index // cell - (first + length - 1) // cell == 1:
            runs[-1] = first, index + 1 - first
        else:
            runs.append((index, 1))
    return runs


_ALL = slice(None)


def _full(box: Box, ndim: int) -> list[slice | int]:
    """One selector per axis. An ellipsis, or the end of the box, stands for all axes that are missing."""
    selectors = list(box) if isinstance(box, tuple) else [box]
    at = next((i for i, selector in enumerate(selectors) if selector is ...), None)
    given = [selector for i, selector in enumerate(selectors) if i != at]
    missing = ndim - len(given)
    if missing < 0:
        raise IndexError(f"the box has {len(given)} axes, the chunk has {ndim}")
    at = len(given) if at is None else at
    given[at:at] = [_ALL] * missing
    for selector in given:
        if not isinstance(selector, slice | int | np.integer) or isinstance(selector, bool):
            raise TypeError(f"a box consists of slices, integers and at most one ellipsis, not {selector!r}")
    return given  # type: ignore[return-value]


def _slice(selector: slice, size: int) -> tuple[int, int, slice, int]:
    """The first index and number of the elements that cover a slice, which of them it takes, and how many."""
    first, stop, step = selector.indices(size)
    length = len(range(first, stop, step))
    if not length:
        return 0, 0, _ALL, 0
    last = first + (length - 1) * step
    count = abs(last - first) + 1
    if step == 1:
        return first, count, _ALL, length
    return min(first, last), count, slice(None, None, step), length


def _integer(selector: int, size: int, axis: int) -> int:
    index = int(selector)
    if not -size <= index < size:
        raise IndexError(f"index {index} is outside axis {axis} of the chunk, which has {size} elements")
    return index % size
