"""Boxes of neighbouring chunks, which a conversion copies at once."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Protocol

from zcodec.cli.grid import Axis, Box, Coordinates, Grid, combined


class Boxes:
    """Boxes of chunks of `target`, which have all of them. No two boxes share a chunk of `source`, if boxes of `most`
    elements allow this. There may be any number of boxes: each is made when it is asked for."""

    def __init__(self, source: Grid, target: Grid, most: int) -> None:
        self._source, self._target = source, target
        self.sides: list[Sides] = []
        widths = [axis.widest for axis in target.sizes]
        for i, axis in reversed(list(enumerate(target.sizes))):
            others = math.prod(widths[:i] + widths[i + 1 :])
            side = _joined(source.sizes[i], axis, most // max(others, 1))
            self.sides.insert(0, side)
            widths[i] = side.widest

    def __iter__(self) -> Iterator[Box]:
        return combined(self.sides)

    @property
    def count(self) -> int:
        return math.prod(side.count for side in self.sides)

    def numbers(self) -> Iterator[Coordinates]:
        """Which box each is along each axis."""
        return combined([range(side.count) for side in self.sides])

    def numbered(self, numbers: Coordinates) -> Box:
        return tuple(side.part(i) for i, side in zip(numbers, self.sides, strict=True))

    def numbers_with(self, coordinates: Coordinates) -> Iterator[Coordinates]:
        """The boxes that have an element of this chunk of the source."""
        region = self._source.region(coordinates)
        touched = []
        for part, axis, side in zip(region, self._target.sizes, self.sides, strict=True):
            first, last = (side.number_with(axis.at(element)) for element in (part.start, part.stop - 1))
            touched.append(range(first, last + 1))
        return combined(touched)


class Sides(Protocol):
    """The sides of boxes along an axis, as ranges of its chunks."""

    count: int
    widest: int
    """The largest number of elements."""

    def __iter__(self) -> Iterator[range]: ...

    def part(self, number: int) -> range: ...

    def number_with(self, chunk: int) -> int: ...


class _Regular:
    """Of chunks of one size: `joined` at a time, but none across a multiple of `period`."""

    def __init__(self, axis: Axis, joined: int, period: int) -> None:
        self._chunk_count, self._joined, self._period = axis.count, joined, period
        self._count_in_period = -(-period // joined)
        periods, rest = divmod(axis.count, period)
        self.count = periods * self._count_in_period + -(-rest // joined)
        self.widest = _widest(axis, [self.part(0)] if self.count else [])

    def __iter__(self) -> Iterator[range]:
        return map(self.part, range(self.count))

    def part(self, number: int) -> range:
        periods, i = divmod(number, self._count_in_period)
        start = periods * self._period
        first = start + i * self._joined
        return range(first, min(first + self._joined, start + self._period, self._chunk_count))

    def number_with(self, chunk: int) -> int:
        periods, rest = divmod(chunk, self._period)
        return periods * self._count_in_period + rest // self._joined


class _Listed:
    """Of chunks where the source or the target has a list of sizes: then a list of ranges costs little more."""

    def __init__(self, axis: Axis, parts: Iterable[range]) -> None:
        self._parts = list(parts)
        self.count = len(self._parts)
        self.widest = _widest(axis, self._parts)

    def __iter__(self) -> Iterator[range]:
        return iter(self._parts)

    def part(self, number: int) -> range:
        return self._parts[number]

    def number_with(self, chunk: int) -> int:
        return bisect_right(self._parts, chunk, key=lambda part: part.start) - 1


def _joined(source: Axis, target: Axis, most: int) -> Sides:
    """Joins neighbouring chunks up to the next end of a chunk of the source, or to `most` elements."""
    if isinstance(source.sizes, int) and isinstance(target.sizes, int):
        period = math.lcm(source.sizes, target.sizes) // target.sizes
        return _Regular(target, min(max(most // target.sizes, 1), period), period)
    return _Listed(target, _parts(source, target, most))


def _parts(source: Axis, target: Axis, most: int) -> Iterator[range]:
    first = 0
    for i in range(target.count):
        stop = target.slice(i).stop
        if i > first and stop - target.slice(first).start > most:
            yield range(first, i)
            first = i
        if source.slice(source.at(stop - 1)).stop == stop:
            yield range(first, i + 1)
            first = i + 1


def _widest(axis: Axis, parts: Iterable[range]) -> int:
    return max((axis.span(part).stop - axis.span(part).start for part in parts), default=0)
