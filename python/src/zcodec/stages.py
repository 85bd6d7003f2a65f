"""The common part of plans and writers: stages of byte ranges. A stage starts when the one before is supplied."""

from __future__ import annotations

import operator
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from zcodec._ffi import ffi, new_error, new_size
from zcodec.callbacks import Context, is_running
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
        self._lock = threading.Condition(threading.Lock())
        self._stage: list[Range] | None = None
        self._supplied: set[int] = set()  # numbers of ranges of this stage, also of those that are being supplied
        self._running = 0  # calls that supply
        self._is_asking = False  # without the lock, which a callback would wait for
        self._has_ended = False
        self._is_complete = False

    @property
    def ranges(self) -> list[Range]:
        """The bytes that the current stage needs; empty when no stage is left. Raises `Error` if an error has ended the
        stages, or in a callback that runs while they are asked for."""
        with self._lock:
            while self._is_asking:
                if is_running():
                    raise Error("a callback cannot ask the plan or writer that runs it for ranges")
                self._lock.wait()
            if self._is_complete:
                return []
            supplied = self._stage is not None and len(self._supplied) == len(self._stage) and not self._running
            if self._stage is not None and not supplied and not self._has_ended:
                return self._stage
            self._is_asking = True
        stage = None
        try:
            stage = self._next()
        finally:
            with self._lock:
                self._is_asking = False
                self._lock.notify_all()
                if stage is not None:
                    self._stage, self._is_complete = stage, not stage
                    self._supplied.clear()
        return stage

    def _next(self) -> list[Range]:
        ranges, count, error = ffi.new("zcodec_range **"), new_size(), new_error()
        check_call(self._next_function(self._handle, ranges, count, error), error, self._context)
        raw = ranges[0]
        return [range_of(raw[i]) for i in range(count[0])]

    def supply(self, i: int, encoded: Buffer) -> None:
        """The bytes of range `i` of this stage. Several threads may supply different ranges at once. When one of them
        fails, the others may get INVALID_ARGUMENT, perhaps before that call raises: the other error is the cause."""
        i = operator.index(i)
        if not 0 <= i < 1 << 63:
            raise IndexError(f"there is no range {i}")
        with self._memory_of(encoded) as memory:
            self._supply_ranges((i,), self._supply_function, i, memory, ffi.sizeof(memory))

    def _supply_ranges(self, numbers: Iterable[int], function: Any, *arguments: Any) -> None:
        """Supplies the ranges with these numbers. They count as supplied from the start, because an interrupt may come
        when the call has returned; not if the call refuses them."""
        error, status = new_error(), 0
        with self._lock:
            new = [i for i in numbers if i not in self._supplied]
            self._supplied.update(new)
            self._running += 1
        try:
            status = function(self._handle, *arguments, error)
        finally:
            with self._lock:
                self._running -= 1
                if status == Status.INVALID_ARGUMENT:
                    self._supplied.difference_update(new)
                elif status:
                    self._has_ended = True
        check_call(status, error, self._context)

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
            missing = len(stage) - len(self._supplied) + self._running
            if self._stage is stage and missing > 0:
                raise ValueError(f"{missing} of the {len(stage)} ranges of this stage were not supplied")
