"""The common part of plans and writers: stages of byte ranges. A stage starts when the one before is supplied."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

from zcodec._ffi import ffi, new_error, new_size
from zcodec.callbacks import Context
from zcodec.errors import check_call
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
        self._missing = 0
        self._is_complete = False

    @property
    def ranges(self) -> list[Range]:
        """The bytes that the current stage needs; empty when no stage is left."""
        with self._lock:
            if self._is_complete:
                return []
            if self._stage is None or not self._missing:
                self._stage = self._next()
                self._missing = len(self._stage)
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
        memory, error = self._memory_of(encoded), new_error()
        status = self._supply_function(self._handle, i, memory, ffi.sizeof(memory), error)
        check_call(status, error, self._context)
        with self._lock:
            self._missing -= 1

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
            if self._stage is stage and self._missing > 0:
                raise ValueError(f"{self._missing} of the {len(stage)} ranges of this stage were not supplied")
