"""Finds memory that several tasks share. It checks thousands of tasks at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from zcodec.views import Array, View, address_of, array_of, arrays_share

# How many strides are tried: arrays in one piece of memory have few different ones.
_MOST_PERIODS = 16


def refuse_shared(filled: Sequence[View | None], read: Sequence[Any]) -> None:
    """Raises ValueError if an array that is filled shares memory with another one, or with a cffi buffer that is
    read."""
    if any(view is not None for view in filled):
        found = _Memories(filled, read).shared()
        if found is not None:
            raise ValueError(f"{found[0]} and {found[1]} share memory")


class _Memories:
    """Arrays that are filled, which may have gaps, then buffers that are read, with their addresses. Groups are lists
    of their numbers."""

    def __init__(self, filled: Sequence[View | None], read: Sequence[Any]) -> None:
        outs = [(i, view) for i, view in enumerate(filled) if view is not None and view.size]
        buffers = [(i, buffer) for i, buffer in enumerate(read) if buffer is not None and len(buffer)]
        self._outs = [view.array for _, view in outs]
        self._buffers = [buffer for _, buffer in buffers]
        self._places = [i for i, _ in outs], [i for i, _ in buffers]
        starts = [view.start for _, view in outs] + [address_of(buffer) for _, buffer in buffers]
        sizes = [view.size for _, view in outs] + [len(buffer) for _, buffer in buffers]
        self._starts, self._sizes = np.array(starts, np.int64), np.array(sizes, np.int64)

    def shared(self) -> tuple[str, str] | None:
        """The names of two that share memory."""
        for group in _groups(self._starts, self._sizes):
            found = self._shared(group, self._periods(group))
            if found is not None:
                return self._name(min(found)), self._name(max(found))
        return None

    def _name(self, i: int) -> str:
        outs, buffers = self._places
        return f"out[{outs[i]}]" if i < len(outs) else f"buffers[{buffers[i - len(outs)]}]"

    def _periods(self, group: Array) -> list[int]:
        """The strides of the arrays, the largest first."""
        strides = chain(*{self._outs[i].strides for i in group.tolist() if i < len(self._outs)})
        return sorted({abs(stride) for stride in strides if stride}, reverse=True)[:_MOST_PERIODS]

    def _shared(self, group: Array, periods: list[int]) -> tuple[int, int] | None:
        """The bounds of tiles of an image overlap, but not their addresses modulo the stride of a row. So a group is
        divided by one stride after the other, and few arrays are compared."""
        if group.min() >= len(self._outs):
            return None  # reads
        if not periods:
            return self._compared(group.tolist())
        period = periods[0]
        for part in _groups(self._starts[group] % period, self._reaches(group, period), period):
            found = self._shared(group[part], periods[1:])
            if found is not None:
                return found
        return None

    def _reaches(self, group: Array, period: int) -> Array:
        """How many bytes each one spans modulo a period."""
        reaches: Array = self._sizes[group]
        known: dict[Any, int] = {}
        for at, i in enumerate(group.tolist()):
            if i < len(self._outs):
                array = self._outs[i]
                layout = array.shape, array.strides
                if layout not in known:
                    known[layout] = _reach(array, period)
                reaches[at] = known[layout]
        return reaches.clip(max=period)

    def _compared(self, group: list[int]) -> tuple[int, int] | None:
        """Compares all pairs whose bounds overlap."""
        starts, ends = self._starts.tolist(), (self._starts + self._sizes).tolist()
        group.sort(key=starts.__getitem__)
        for at, one in enumerate(group):
            for other in islice(group, at + 1, None):
                if starts[other] >= ends[one]:
                    break
                if min(one, other) < len(self._outs) and arrays_share(self._array(one), self._array(other)):
                    return one, other
        return None

    def _array(self, i: int) -> Array:
        return self._outs[i] if i < len(self._outs) else array_of(self._buffers[i - len(self._outs)])


def _reach(array: Array, period: int) -> int:
    axes = zip(array.shape, array.strides, strict=True)
    steps: list[int] = [(size - 1) * abs(stride) for size, stride in axes if stride % period]
    return array.itemsize + sum(steps)


def _groups(starts: Array, sizes: Array, period: int = 0) -> Iterator[Array]:
    """The numbers of memories that overlap, directly or through others, in groups of two or more. With a period,
    addresses wrap around."""
    order = np.argsort(starts, kind="stable")
    ends = np.maximum.accumulate((starts + sizes)[order])
    starts = starts[order]
    firsts = np.flatnonzero(np.concatenate(([True], starts[1:] >= ends[:-1])))
    if period:
        met = int((starts[firsts] < ends[-1] - period).sum())  # groups that the last one reaches by wrapping around
        if met == len(firsts):
            yield order
            return
        order = np.roll(order, -firsts[met])
        firsts = firsts[met:] - firsts[met]
    lengths = np.diff(firsts, append=len(order))
    for i in np.flatnonzero(lengths > 1).tolist():
        yield order[firsts[i] : firsts[i] + lengths[i]]
