"""How many chunks zcodec coded, and why it left others to zarr-python."""

from __future__ import annotations

import os
import threading
import warnings
from collections import Counter
from typing import Any


class FallbackWarning(UserWarning):
    """zarr-python's own pipeline codes an array, because zcodec does not support it."""


class Stats:
    """Counters of this process. `coded` counts the chunks that zcodec decoded or encoded; `fallback` counts others by
    reason."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.decoded = 0
        self.encoded = 0
        self.fallback: Counter[str] = Counter()

    @property
    def coded(self) -> int:
        return self.decoded + self.encoded

    @property
    def share(self) -> float:
        """The fraction of all chunks that zcodec coded: 0 to 1."""
        total = self.coded + self.fallback.total()
        return self.coded / total if total else 1.0

    def add(self, *, decoded: int = 0, encoded: int = 0) -> None:
        with self._lock:
            self.decoded += decoded
            self.encoded += encoded

    def fall_back(self, reason: str, count: int) -> None:
        """Counts chunks that zarr-python codes. Warns when a reason is new."""
        with self._lock:
            is_new = reason not in self.fallback
            self.fallback[reason] += count
        if is_new:
            message = f"zarr-python's own pipeline encodes and decodes this array, because zcodec does not: {reason}"
            warnings.warn(message, FallbackWarning, stacklevel=2)

    def reset(self) -> None:
        with self._lock:
            self.decoded = self.encoded = 0
            self.fallback.clear()

    def _renew_lock(self) -> None:
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """The counts of this moment, for other processes."""
        with self._lock:
            return {"decoded": self.decoded, "encoded": self.encoded, "fallback": self.fallback.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def __repr__(self) -> str:
        return f"Stats(decoded={self.decoded}, encoded={self.encoded}, fallback={dict(self.fallback)})"


stats = Stats()
if hasattr(os, "register_at_fork"):
    # A thread of the parent may hold the lock during the fork, and no thread of the child would release it.
    os.register_at_fork(after_in_child=stats._renew_lock)
