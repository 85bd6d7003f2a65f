"""The chunk grid of an array as in its metadata: regular (equal chunks) or rectilinear (a list of sizes along each
axis)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, repeat
from typing import Any, TypeVar

Item = TypeVar("Item")
Coordinates = tuple[int, ...]
Box = tuple[range, ...]  # neighbouring chunks: along each axis from one of them to another


class Grid:
    """Where the chunks of an array are. A chunk is a stored object: if the array has shards, a shard."""

    def __init__(self, document: dict[str, Any]) -> None:
        """The grid of a zarr.json or a .zarray."""
        self._array_shape = tuple(document["shape"])
        sizes = _sizes(document)
        # zarr-python before 3.4 writes a chunk size of 0 where the array has size 0, and so no chunks.
        sizes = [1 if axis == size == 0 else axis for axis, size in zip(sizes, self._array_shape, strict=True)]
        if any(axis == 0 or (isinstance(axis, list) and 0 in axis) for axis in sizes):
            raise ValueError(f"chunk_shape is {sizes}, but a chunk has at least one element along each dimension")
        self.sizes = [Axis(*axis) for axis in zip(sizes, self._array_shape, strict=True)]

    def __iter__(self) -> Iterator[Coordinates]:
        """The coordinates of all chunks."""
        return combined([range(axis.count) for axis in self.sizes])

    @property
    def count(self) -> int:
        """The number of chunks, which may be more than `len` can return."""
        return math.prod(axis.count for axis in self.sizes)

    def __contains__(self, coordinates: Coordinates) -> bool:
        counts = [axis.count for axis in self.sizes]
        return len(coordinates) == len(counts) and all(i < count for i, count in zip(coordinates, counts))

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

    def touching(self, region: tuple[slice, ...]) -> Iterator[Coordinates]:
        """The coordinates of the chunks that have an element of a region, which has one."""
        pairs = zip(self.sizes, region, strict=True)
        return combined([range(axis.at(part.start), axis.at(part.stop - 1) + 1) for axis, part in pairs])


def combined(axes: Sequence[Iterable[Item]]) -> Iterator[tuple[Item, ...]]:
    """As `itertools.product`, which would make tuples of the axes: they may be of any length."""
    if not axes:
        yield ()
        return
    for item in axes[0]:
        for others in combined(axes[1:]):
            yield (item, *others)


class Axis:
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

    @property
    def widest(self) -> int:
        """The largest number of elements of a chunk."""
        if isinstance(self.sizes, int):
            return min(self.sizes, self._array_size)
        return max((part.stop - part.start for part in map(self.slice, range(self.count))), default=0)

    def at(self, element: int) -> int:
        """The chunk that has an element."""
        return element // self.sizes if isinstance(self.sizes, int) else bisect_right(self._ends, element)

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
    axes = zip(configuration["chunk_shapes"], document["shape"], strict=True)
    return [axis if isinstance(axis, int) else _unpacked(axis, array_size) for axis, array_size in axes]


def _unpacked(sizes: list[Any], array_size: int) -> list[int]:
    """The sizes of the chunks up to the end of the array: `[size, count]` stands for `count` chunks of one size, which
    may be more than any memory holds."""
    unpacked: list[int] = []
    end = 0
    for item in sizes:
        size, count = (item, 1) if isinstance(item, int) else item
        if unpacked and end >= array_size:
            break
        needed = -(-(array_size - end) // size) if size > 0 else 1
        count = min(count, max(needed, 1))
        unpacked += repeat(size, count)
        end += size * count
    return unpacked
