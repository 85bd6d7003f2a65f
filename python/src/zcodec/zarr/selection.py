"""The selections that zarr-python makes in a chunk, as boxes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from zcodec.views import Array

Selector = tuple[Any, ...]


def as_tuple(selection: Any) -> Selector:
    return selection if isinstance(selection, tuple) else (selection,)


def is_basic(selection: Any) -> bool:
    """Whether there are only slices, integers and an ellipsis: numpy then gives a view."""
    return all(
        isinstance(item, slice | int | np.integer) or item is ... for item in as_tuple(selection)
    )


def shape_of(selections: Iterable[Any]) -> tuple[int, ...] | None:
    """The shape of an array that these selections, one for each chunk, are all of. None if it has no elements, or they
    are neither slices nor lists of numbers along each axis."""
    ends: list[tuple[int, ...]] = []
    for selection in selections:
        along = [_end(item) for item in as_tuple(selection)]
        if None in along:
            return None
        ends.append(tuple(end for end in along if end is not None))
    if len({len(end) for end in ends}) != 1:
        return None
    shape = tuple(max(sizes) for sizes in zip(*ends, strict=True))
    return shape if all(size > 0 for size in shape) else None


def _end(item: Any) -> int | None:
    """After the last element along an axis; None if it is not known."""
    if isinstance(item, slice):
        return None if item.stop is None else int(item.stop)
    if isinstance(item, np.ndarray) and np.issubdtype(item.dtype, np.integer):
        return int(item.max(initial=-1)) + 1
    return None


def is_empty(selection: Any, chunk_shape: tuple[int, ...]) -> bool:
    """Whether nothing of a chunk is selected: zarr-python 3.1 wants such shards written."""
    items = as_tuple(selection)
    if any(item is ... for item in items):
        return False
    axes = zip(items, chunk_shape, strict=False)
    return any(not range(*item.indices(size)) if isinstance(item, slice) else not np.size(item) for item, size in axes)


class Axes(NamedTuple):
    """A basic selection of a chunk: the box that it is, and whether it takes every element of it in order."""

    box: tuple[slice, ...]
    shape: tuple[int, ...]
    is_whole: bool
    is_box: bool
    dropped: tuple[int, ...]


def axes_of(selection: Any, chunk_shape: tuple[int, ...]) -> Axes:
    """A basic selection with integers as slices of one element; `dropped` are their axes."""
    items = list(as_tuple(selection))
    if ... in [item for item in items if not isinstance(item, np.ndarray)]:
        at = items.index(...)
        items[at : at + 1] = [slice(None)] * (len(chunk_shape) - len(items) + 1)
    items += [slice(None)] * (len(chunk_shape) - len(items))
    box, shape, dropped, is_box = [], [], [], True
    for axis, (item, size) in enumerate(zip(items, chunk_shape, strict=True)):
        if isinstance(item, slice):
            start, stop, step = item.indices(size)
            is_box &= step == 1
            length = len(range(start, stop, step))
            box.append(slice(start, start + length) if step == 1 else item)
        else:
            start, length = int(item) % size, 1
            box.append(slice(start, start + 1))
            dropped.append(axis)
        shape.append(length)
    is_whole = is_box and tuple(shape) == chunk_shape
    return Axes(tuple(box), tuple(shape), is_whole, is_box, tuple(dropped))


def with_dropped(array: Array, axes: Axes) -> Array:
    """Adds the axes of integers to an array that lacks them."""
    if not axes.dropped:
        return array
    return array[tuple(None if axis in axes.dropped else slice(None) for axis in range(len(axes.box)))]


def cells_of(selection: Any, chunk_shape: tuple[int, ...], cell: tuple[int, ...]) -> list[tuple[slice, ...]] | None:
    """The boxes of the grid `cell` that a selection touches, in order; None means the whole chunk."""
    indices = _cell_indices(as_tuple(selection), chunk_shape, cell)
    if indices is None:
        return None
    if not chunk_shape:
        return [()]
    picked = np.zeros([-(-size // step) for size, step in zip(chunk_shape, cell, strict=True)], bool)
    picked[indices] = True
    # Neighbours along the last axis are one box.
    edges = np.diff(picked.astype(np.int8), axis=-1, prepend=0, append=0)
    runs = zip(np.argwhere(edges == 1).tolist(), np.argwhere(edges == -1)[:, -1].tolist(), strict=True)
    boxes = []
    for first, end in runs:
        ends = [i + 1 for i in first[:-1]] + [end]
        corners = zip(first, ends, cell, chunk_shape, strict=True)
        boxes.append(tuple(slice(i * step, min(j * step, size)) for i, j, step, size in corners))
    return boxes or None


def _cell_indices(items: Selector, chunk_shape: tuple[int, ...], cell: tuple[int, ...]) -> tuple[Any, ...] | None:
    """The selection as indices of cells: only arrays, or at most one next to slices, of which numpy takes the
    product."""
    items = tuple(_without_mask(item) for item in items)
    arrays = [item for item in items if not isinstance(item, slice | int | np.integer)]
    if len(items) != len(chunk_shape) or any(not _is_indices(item) for item in arrays):
        return None
    indices = [_cells_of_axis(*axis) for axis in zip(items, chunk_shape, cell, strict=True)]
    if arrays and len(arrays) == len(items):
        return tuple(indices)
    if not arrays or (len(arrays) == 1 and np.ndim(arrays[0]) == 1):
        return np.ix_(*indices)
    return None


def _without_mask(item: Any) -> Any:
    """The indices that a boolean array of one dimension selects, which zarr-python 3.4 has in selections."""
    is_mask = isinstance(item, np.ndarray) and item.dtype == bool and item.ndim == 1
    return np.flatnonzero(item) if is_mask else item


def _is_indices(item: Any) -> bool:
    return isinstance(item, np.ndarray | list) and np.asarray(item).dtype.kind in "iu"


def _cells_of_axis(item: Any, size: int, step: int) -> Any:
    if isinstance(item, slice):
        return np.unique(np.arange(size)[item] // step)
    if isinstance(item, int | np.integer):
        return np.array([int(item) % size // step])
    array = np.asarray(item)
    return np.where(array < 0, array + size, array) // step

