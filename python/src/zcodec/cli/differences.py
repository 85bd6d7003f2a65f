"""The differences between an array and its conversion."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from zcodec.dtypes import converted


class Differences:
    """Elements whose bits differ: other values, NaN with other bits, and zeros of the other sign."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0
        self.largest = 0.0
        self.nan_count = 0
        self.zero_count = 0
        self.first: tuple[int, ...] = ()

    def compare(self, where: tuple[int, ...], expected: Any, found: Any) -> None:
        """Adds the differences in the chunk `where`."""
        expected, found = _unequal(expected, found)
        if not expected.size:
            return
        nan_count, zero_count, largest = 0, 0, 0.0
        if expected.dtype.kind in "iufc":
            is_nan = np.isnan(expected) | np.isnan(found)
            nan_count = int(np.count_nonzero(is_nan))
            zero_count = int(np.count_nonzero(expected == found))  # their bits differ
            largest = _largest_difference(expected[~is_nan], found[~is_nan])
        with self._lock:
            self.first = min(self.first, where) if self.count else where
            self.count += expected.size
            self.nan_count += nan_count
            self.zero_count += zero_count
            self.largest = max(self.largest, largest)

    def __str__(self) -> str:
        by = f", by {self.largest:g} at most" if self.largest else ""
        nan = f", {self.nan_count} of them NaN before or after" if self.nan_count else ""
        zero = f", {self.zero_count} of them zeros of the other sign" if self.zero_count else ""
        return f"{self.count} values differ{by}{nan}{zero}"


def _unequal(expected: Any, found: Any) -> tuple[Any, Any]:
    """The elements that differ in their bits, after both have the same byte order."""
    expected, found = expected.reshape(-1), converted(found.reshape(-1), expected.dtype)
    unequal = np.asarray(expected != found) if expected.dtype.hasobject else _differ(expected, found)
    return expected[unequal], found[unequal]


def _differ(expected: Any, found: Any) -> Any:
    """Which elements differ in their bits. Gaps between the members of a struct do not count."""
    dtype = expected.dtype
    if dtype.names is not None:
        members = [_differ(expected[name], found[name]) for name in dtype.names]
        return np.logical_or.reduce([each.reshape(len(expected), -1).any(axis=1) for each in members])
    if not expected.size or not dtype.itemsize:
        return np.zeros(expected.shape, bool)
    word = next(size for size in (8, 4, 2, 1) if dtype.itemsize % size == 0)
    sides = [np.ascontiguousarray(side).reshape(-1).view(f"u{word}") for side in (expected, found)]
    return (sides[0] != sides[1]).reshape(*expected.shape, -1).any(axis=-1)


def _largest_difference(expected: Any, found: Any) -> float:
    if expected.dtype.kind in "iu":  # exactly: long doubles have 53 bits on some machines
        high, low = np.maximum(expected, found), np.minimum(expected, found)
        return float((high.astype(np.uint64) - low.astype(np.uint64)).max(initial=0))
    wide = np.clongdouble if expected.dtype.kind == "c" else np.longdouble
    with np.errstate(invalid="ignore"):  # complex infinities
        differences = np.abs(expected.astype(wide) - found.astype(wide))
    return float(np.where(np.isnan(differences), np.inf, differences).max(initial=0))
