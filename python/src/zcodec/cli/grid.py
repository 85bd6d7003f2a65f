"""The chunk grid of an array, as its metadata has it: of equal chunks (regular), or with sizes of their own (rectilinear)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, chain, product, repeat
from typing import Any

Coordinates = tuple[int, ...]


class Grid:
    """Where the chunks of an array lie. A chunk is a stored object: with shards, a shard."""

    def __init__(self, document: dict[str, Any]) -> None:
        """Of a zarr.json or a .zarray."""
        self._array_shape = tuple(document["shape"])
        self.sizes = [_Axis(*axis) for axis in zip(_sizes(document), self._array_shape, strict=True)]

    def __iter__(self) -> Iterator[Coordinates]:
        """The coordinates of all chunks."""
        return product(*(range(axis.count) for axis in self.sizes))

    def __len__(self) -> int:
        return math.prod(axis.count for axis in self.sizes)

    @property
    def chunks(self) -> list[int | list[int]]:
        """For each axis the size of every chunk, or the list of the sizes."""
        return [axis.sizes for axis in self.sizes]

    def shape(self, coordinates: Coordinates) -> tuple[int, ...]:
        """The shape of a chunk, also where it reaches beyond the array."""
        return tuple(axis.size(i) for axis, i in zip(self.sizes, coordinates, strict=True))

    def region(self, coordinates: Coordinates) -> tuple[slice, ...]:
        """Where a chunk lies in its array."""
        return tuple(axis.slice(i) for axis, i in zip(self.sizes, coordinates, strict=True))


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
    """`[size, count]` stands for this many chunks of one size."""
    return list(chain.from_iterable([size] if isinstance(size, int) else repeat(*size) for size in sizes))
