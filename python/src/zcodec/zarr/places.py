"""Chunks that go to boxes of one array: the usual request, which costs little more per chunk than the call into the
library."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from zcodec._ffi import NULL, ffi
from zcodec.chain import Chain
from zcodec.views import Array, Part, View, address_of, overlaps_itself, shares_memory
from zcodec.zarr.selection import as_tuple


class Frame:
    """The array of a request with the axes of its chunks, and its boxes as a zcodec_view each."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self._whole = View(array)
        self._strides = ffi.new("int64_t[]", array.strides)

    def view(self, first: tuple[int, ...]) -> Any:
        """The view of a box that begins at `first`. Its memory is that of the whole array."""
        view = ffi.new("zcodec_view *", self._whole.pointer[0])
        view.offset += sum(map(mul, first, self.array.strides))
        view.strides = self._strides
        return view

    def refuse_shared(self, encoded: Any) -> None:
        """The library must not fill memory that it reads."""
        start, whole = address_of(encoded), self._whole
        overlaps = start < whole.start + whole.size and whole.start < start + len(encoded)
        if overlaps and shares_memory(self.array, encoded):
            raise ValueError("out and the encoded chunk share memory")


class Place(NamedTuple):
    """A box of a chunk, and of the frame where it goes: their first elements and their shape."""

    frame: Frame
    first: tuple[int, ...]
    shape: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def box(self) -> tuple[slice, ...]:
        """The box of the chunk."""
        return _slices(self.first, self.shape)

    @property
    def array(self) -> Array:
        """The box of the frame."""
        where: Any = (*_slices(self.target, self.shape), ...)
        array: Array = self.frame.array[where]  # a view, also of one element
        return array


def _slices(first: tuple[int, ...], shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(start, start + size) for start, size in zip(first, shape, strict=True))


class Places:
    """The places of the chunks of one request in its array `memory`."""

    def __init__(self, memory: Array) -> None:
        self._memory = memory
        self._is_usable = memory.dtype.isnative and memory.flags.writeable and not overlaps_itself(memory)
        self._frames: dict[tuple[int, ...], Frame] = {}

    def get(self, chain: Chain, chunk_selection: Any, out_selection: Any) -> Place | None:
        """The place of a chunk; None unless the selections are slices without steps, and integers in the chunk."""
        shape = chain.shape
        items, targets = as_tuple(chunk_selection), as_tuple(out_selection)
        fits = len(items) == len(shape) and len(targets) == self._memory.ndim and self._memory.dtype == chain.dtype
        if not fits or not self._is_usable:
            return None
        firsts, sizes, starts, dropped = [], [], [], []
        at = 0
        for axis, (item, size) in enumerate(zip(items, shape, strict=True)):
            if isinstance(item, slice):
                first, stop, step = item.indices(size)
                target = targets[at] if at < len(targets) else None
                if step != 1 or stop <= first or not isinstance(target, slice):
                    return None
                start, end, step = target.indices(self._memory.shape[at])
                if step != 1 or end - start != stop - first:
                    return None
                firsts.append(first)
                sizes.append(stop - first)
                starts.append(start)
                at += 1
            elif isinstance(item, int | np.integer):
                firsts.append(int(item) % size)
                sizes.append(1)
                starts.append(0)
                dropped.append(axis)
            else:
                return None
        if at != len(targets):
            return None
        return Place(self._frame(tuple(dropped), len(shape)), tuple(firsts), tuple(sizes), tuple(starts))

    def _frame(self, dropped: tuple[int, ...], ndim: int) -> Frame:
        frame = self._frames.get(dropped)
        if frame is None:
            axes: Any = tuple(None if axis in dropped else slice(None) for axis in range(ndim))
            frame = self._frames[dropped] = Frame(self._memory[(*axes, ...)])  # a view, also of one element
        return frame


def are_disjoint(places: Sequence[Place]) -> bool:
    """Whether places are boxes of a grid, each of them once. Others may be disjoint, too."""
    if len({place.target for place in places}) != len(places) or len({place.frame for place in places}) > 1:
        return False
    for starts, sizes in zip(zip(*(p.target for p in places)), zip(*(p.shape for p in places)), strict=True):
        end = 0
        for start, size in sorted(set(zip(starts, sizes, strict=True))):
            if start < end:
                return False
            end = start + size
    return True


class PlacedTarget:
    """A place as the library fills it: what `Target` is for any array. The places of one call must be disjoint."""

    __slots__ = ("_frame", "_part", "part_pointer", "view_pointer")
    filled = None  # nothing to compare with other targets

    def __init__(self, chain: Chain, place: Place) -> None:
        self._frame = place.frame
        self._part = None if place.shape == chain.shape else Part(place.first, place.shape)
        self.part_pointer = NULL if self._part is None else self._part.pointer
        self.view_pointer = place.frame.view(place.target)

    def refuse_shared(self, encoded: Any) -> None:
        self._frame.refuse_shared(encoded)

    def finish(self) -> None:
        """Nothing is left to do."""
