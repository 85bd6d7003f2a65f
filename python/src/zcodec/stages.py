"""The common part of plans and writers: stages of byte ranges. A stage starts when the one before is supplied."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from zcodec._ffi import ffi, new_error, new_size
from zcodec.callbacks import Context
from zcodec.errors import Error, Status, check_call
from zcodec.index import Range, range_of
from zcodec.views import Buffer, from_buffer


class Stages:
    """The stages of one handle, with its functions `next` and `supply` of the C interface."""

    _handle: Any

    def __init__(self, context: Context | None, next_function: Any, supply_function: Any) -> None:
        self._context = context
        self._next_function = next_function
        self._supply_function = supply_function
        self._lock = threading.Lock()
        self._stage: list[Range] | None = None
        self._supplied: set[int] = set()  # numbers of ranges of this stage
        self._is_complete = False

    @property
    def ranges(self) -> list[Range]:
        """The bytes that the current stage needs; empty when no stage is left. Raises `Error` if damaged bytes ended
        the stages."""
        with self._lock:
            if self._is_complete:
                return []
            if self._stage is None or len(self._supplied) == len(self._stage):
                self._stage = self._next()
                self._supplied.clear()
                self._is_complete = not self._stage
            return self._stage

    def _next(self) -> list[Range]:
        ranges, count, error = ffi.new("zcodec_range **"), new_size(), new_error()
        check_call(self._next_function(self._handle, ranges, count, error), error, self._context)
        raw = ranges[0]
        return [range_of(raw[i]) for i in range(count[0])]

    def supply(self, i: int, encoded: Buffer) -> None:
        """The bytes of range `i` of this stage. Several threads may supply different ranges at once."""
        if i < 0:
            raise IndexError(f"there is no range {i}")
        error = new_error()
        with self._memory_of(encoded) as memory, self._supplying([i]) as done:
            done(self._supply_function(self._handle, i, memory, ffi.sizeof(memory), error), error)

    @contextmanager
    def _supplying(self, numbers: Iterable[int]) -> Iterator[Callable[[int, Any], None]]:
        """Gives a function for the result of the call that supplies ranges with these numbers. They count as supplied
        from the start, because an interrupt may come when the call has returned; not if the call refuses them."""
        with self._lock:
            new = [i for i in numbers if i not in self._supplied]
            self._supplied.update(new)
        try:
            yield lambda status, error: check_call(status, error, self._context)
        except Error as failed:
            with self._lock:
                if failed.status == Status.INVALID_ARGUMENT:
                    self._supplied.difference_update(new)
                else:
                    self._stage = None  # the stages have ended
            raise

    def _is_supplied(self, i: int) -> bool:
        with self._lock:
            return i in self._supplied

    def _memory_of(self, encoded: Buffer) -> Any:
        """The memory of bytes that are supplied."""
        return from_buffer(encoded)

    def __iter__(self) -> Iterator[list[Range]]:
        """The stages, one after the other. Raises ValueError if one was not supplied before the next is asked for."""
        while ranges := self.ranges:
            yield ranges
            self._must_be_supplied(ranges)

    async def __aiter__(self) -> AsyncIterator[list[Range]]:
        """The stages, one after the other, as by `__iter__`."""
        while ranges := self.ranges:
            yield ranges
            self._must_be_supplied(ranges)

    def _must_be_supplied(self, stage: list[Range]) -> None:
        with self._lock:
            missing = len(stage) - len(self._supplied)
            if self._stage is stage and missing > 0:
                raise ValueError(f"{missing} of the {len(stage)} ranges of this stage were not supplied")
