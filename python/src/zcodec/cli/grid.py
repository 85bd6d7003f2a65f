"""The chunk grid of an array as in its metadata: regular (equal chunks) or rectilinear (a list of sizes along each
axis)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, chain, repeat
from typing import Any

Coordinates = tuple[int, ...]
Box = tuple[range, ...]  # neighbouring chunks: along each axis from one of them to another


class Grid:
    """Where the chunks of an array are. A chunk is a stored object: if the array has shards, a shard."""

    def __init__(self, document: dict[str, Any]) -> None:
        """The grid of a zarr.json or a .zarray."""
        self._array_shape = tuple(document["shape"])
        sizes = _sizes(document)
        if any(axis == 0 or (isinstance(axis, list) and 0 in axis) for axis in sizes):
            raise ValueError(f"chunk_shape is {sizes}, but a chunk has at least one element along each dimension")
        self.sizes = [_Axis(*axis) for axis in zip(sizes, self._array_shape, strict=True)]

    def __iter__(self) -> Iterator[Coordinates]:
        """The coordinates of all chunks."""
        return _coordinates([axis.count for axis in self.sizes])

    @property
    def count(self) -> int:
        """The number of chunks, which may be more than `len` can return."""
        return math.prod(axis.count for axis in self.sizes)

    @property
    def chunks(self) -> list[int | list[int]]:
        """For each axis the size of all chunks, or the list of their sizes."""
        return [axis.sizes for axis in self.sizes]

    def shape(self, coordinates: Coordinates) -> tuple[int, ...]:
        """The shape of a whole chunk, even if it reaches beyond the array."""
        return tuple(axis.size(i) for axis, i in zip(self.sizes, coordinates, strict=True))

    def region(self, coordinates: Coordinates) -> tuple[slice, ...]:
        """Where a chunk lies in its array."""
        return tuple(axis.slice(i) for axis, i in zip(self.sizes, coordinates, strict=True))

    def region_of(self, box: Box) -> tuple[slice, ...]:
        """Where several chunks lie in their array."""
        return tuple(axis.span(part) for axis, part in zip(self.sizes, box, strict=True))


def boxes(source: Grid, target: Grid, most: int) -> list[list[range]]:
    """Along each axis, the sides of boxes of chunks of `target`. No two boxes share a chunk of `source`, if boxes of
    `most` elements allow this."""
    sides = [[range(i, i + 1) for i in range(axis.count)] for axis in target.sizes]
    widths = [axis.widest(parts) for axis, parts in zip(target.sizes, sides, strict=True)]
    for i, axis in reversed(list(enumerate(target.sizes))):
        others = math.prod(widths[:i] + widths[i + 1 :])
        sides[i] = axis.joined(source.sizes[i], most // max(others, 1))
        widths[i] = axis.widest(sides[i])
    return sides


def _coordinates(counts: list[int]) -> Iterator[Coordinates]:
    """As `itertools.product` of ranges, which would make tuples of them: there may be any number of chunks."""
    if not counts:
        yield ()
        return
    for i in range(counts[0]):
        for others in _coordinates(counts[1:]):
            yield (i, *others)


class _Axis:
    """The chunks along one axis."""

    def __init__(self, sizes: int | list[int], array_size: int) -> None:
        self.sizes = sizes
        self._array_size = array_size
        if isinstance(sizes, int):
            self.count = -(-array_size // sizes)
        else:
            self._ends = list(accumulate(sizes))
            self.count = bisect_left(self._ends, array_size) + 1 if array_size else 0

    def size(self, i: int) -> int:
        return self.sizes if isinstance(self.sizes, int) else self.sizes[i]

    def joined(self, source: _Axis, most: int) -> list[range]:
        """Joins neighbouring chunks up to the next end of a chunk of the source, or to `most` elements."""
        shared = {source.slice(i).stop for i in range(source.count)}
        found, first = [], 0
        for i in range(self.count):
            if i > first and self.slice(i).stop - self.slice(first).start > most:
                found.append(range(first, i))
                first = i
            if self.slice(i).stop in shared:
                found.append(range(first, i + 1))
                first = i + 1
        return found

    def widest(self, parts: list[range]) -> int:
        return max((self.span(part).stop - self.span(part).start for part in parts), default=0)

    def span(self, part: range) -> slice:
        return slice(self.slice(part[0]).start, self.slice(part[-1]).stop)

    def slice(self, i: int) -> slice:
        end = (i + 1) * self.sizes if isinstance(self.sizes, int) else self._ends[i]
        return slice(end - self.size(i), min(end, self._array_size))


def _sizes(document: dict[str, Any]) -> list[int | list[int]]:
    if "chunks" in document:  # Zarr v2
        return list(document["chunks"])
    configuration = document["chunk_grid"]["configuration"]
    if document["chunk_grid"]["name"] == "regular":
        return list(configuration["chunk_shape"])
    return [axis if isinstance(axis, int) else _unpacked(axis) for axis in configuration["chunk_shapes"]]


def _unpacked(sizes: list[Any]) -> list[int]:
    """The sizes of all chunks: `[size, count]` stands for `count` chunks of one size."""
    return list(chain.from_iterable([size] if isinstance(size, int) else repeat(*size) for size in sizes))
