"""Reads: the chunks of one request, decoded to their places."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Sequence
from contextlib import aclosing
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from zcodec.chain import Chain
from zcodec.coding import Target, decode_to
from zcodec.plan import Plan
from zcodec.sharing import refuse_shared
from zcodec.tasks import DecodeTask, raise_first, run_decode
from zcodec.views import Array, View, from_buffer
from zcodec.zarr import stored
from zcodec.zarr.chains import fill_value_of
from zcodec.zarr.places import PlacedTarget, Places, are_disjoint
from zcodec.zarr.selection import axes_of, cells_of, is_basic, with_dropped
from zcodec.zarr.stats import stats
from zcodec.zarr.threads import WORTH_A_THREAD, for_each, in_thread, in_thread_if_large, max_threads

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import NDBuffer

# Chunks of stores that have to be waited for, and small ones of others, are decoded together as soon as they decode to
# this many bytes.
WINDOW = 32 << 20
# How many of these windows are decoded at once. Where that is slower than reading, reading waits: memory is bounded.
_MOST_WINDOWS = 2


class ReadRequest:
    """The array that the chunks of one read fill."""

    def __init__(self, out: NDBuffer, drop_axes: tuple[int, ...]) -> None:
        self.out = out
        self.drop_axes = drop_axes
        self.memory = stored.elements_of(out)
        self.places = Places(self.memory)


class ChunkRead:
    """One chunk of a request: which elements are needed, and where they go.

    It goes to its place, if it has one. Else to `target`, an array with the shape of `box`; or if the selections are no
    boxes, to temporary memory first.
    """

    def __init__(
        self, chain: Chain, getter: Any, spec: ArraySpec, chunk_selection: Any, out_selection: Any, request: ReadRequest
    ) -> None:
        self.chain = chain
        self.getter = getter
        self.spec = spec
        self.chunk_selection = chunk_selection
        self.out_selection = out_selection
        self.request = request
        self.is_missing = False
        self.part_count: int | None = None
        """About how many elements are decoded if parts of the object are read; None if the whole object is."""
        self.target: Array | None = None
        self.box: Any = None
        self._temporary: Array | None = None
        self.place = None if request.drop_axes else request.places.get(chain, chunk_selection, out_selection)
        if self.place is None:
            self._resolve()
        elif self.place.shape != chain.shape:
            self.part_count = _part_count(chain, self.place.shape)

    def _resolve(self) -> None:
        shape, memory = self.chain.shape, self.request.memory
        same = memory.dtype in (self.chain.dtype, self.chain.dtype.newbyteorder("S"))
        if same and is_basic(self.chunk_selection) and is_basic(self.out_selection) and not self.request.drop_axes:
            axes = axes_of(self.chunk_selection, shape)
            target = with_dropped(memory[self.out_selection if self.out_selection != () else ...], axes)
            if target.shape == axes.shape:
                self.target, self.box = target, None if axes.is_whole else axes.box
                steps = [part.step or 1 for part in axes.box]
                self.part_count = None if axes.is_whole else _part_count(self.chain, axes.shape, steps)
                return
        if self.chain.has_index:
            self.box = cells_of(self.chunk_selection, shape, self.chain.granularity)
            if self.box is not None:
                self.part_count = sum(math.prod(part.stop - part.start for part in cell) for cell in self.box)

    def plan(self, threads: int) -> Plan:
        """A plan for the parts that are needed."""
        if self.place is not None:
            return self.chain.plan(self.place.box, self.place.array, max_threads=threads)
        if self.target is not None:
            return self.chain.plan(self.box, self.target, max_threads=threads)
        temporary = self._new_temporary()
        outs = [temporary[cell] for cell in self.box]
        return self.chain.plan(self.box, outs, max_threads=threads)

    def task(self, memory: Any) -> DecodeTask:
        """A task for the whole chunk."""
        return DecodeTask(self.chain, memory, self._whole_target())

    def _whole_target(self) -> Any:
        if self.place is not None:
            return PlacedTarget(self.chain, self.place)
        if self.target is not None:
            return Target(self.chain, self.target, self.box)
        return Target(self.chain, self._new_temporary(), None)

    def _new_temporary(self) -> Array:
        self._temporary = np.empty(self.chain.shape, self.chain.dtype)
        return self._temporary

    def decode(self, memory: Any, threads: int) -> None:
        """Decodes the whole chunk."""
        target = self._whole_target()
        with from_buffer(memory) as encoded:
            target.refuse_shared(encoded)
            decode_to(target, self.chain, encoded, threads)
        self.finish()

    @property
    def in_parts(self) -> bool:
        return self.part_count is not None

    @property
    def work(self) -> int:
        """About how many bytes are decoded: a box that crosses edges of inner chunks may need up to twice as many along
        each dimension."""
        return self.chain._decoded_size if self.part_count is None else self.part_count * self.chain.dtype.itemsize

    def miss(self) -> None:
        """Fills the elements of a chunk that does not exist."""
        self.is_missing = True
        self.request.out[self.out_selection] = fill_value_of(self.spec)

    def finish(self) -> None:
        """Counts the chunk, and puts the elements of a selection that is not a box into place."""
        stats.add(decoded=1)
        if self._temporary is None:
            return
        selected: Any = self._temporary[self.chunk_selection]
        self._temporary = None  # its memory serves the next chunk
        if self.request.drop_axes:
            selected = selected.squeeze(axis=self.request.drop_axes)
        self.request.out[self.out_selection] = selected


def refuse_overlaps(chunks: Sequence[ChunkRead]) -> None:
    """Raises ValueError if threads would decode two chunks to the same memory."""
    if len(chunks) == 1:
        return
    places = [chunk.place for chunk in chunks if chunk.place is not None]
    targets = [chunk.target for chunk in chunks if chunk.target is not None]
    if targets or not are_disjoint(places):
        refuse_shared([View(array) for array in (*targets, *(place.array for place in places))], [])


# Chunks of a fixed size can also be read in part. This is worth another request if they have this many bytes.
LARGE = 1 << 20


def _part_count(chain: Chain, selected: tuple[int, ...], steps: Sequence[int] | None = None) -> int | None:
    """About how many elements are decoded if parts of an object are read. None if the whole object is to be read: it has no
    parts, or those needed are more than half of it."""
    shape, granularity = chain.shape, chain.granularity
    if granularity == shape or not (chain.has_index or (chain.encoded_size is not None and chain._decoded_size >= LARGE)):
        return None
    covered = []
    for count, step, cell, whole in zip(selected, steps or [1] * len(shape), granularity, shape, strict=True):
        if step > cell and chain.has_index:
            size = count * cell  # the inner chunks in between are not read
        else:
            size = -(-((count - 1) * step + 1) // cell) * cell if count else 0
        covered.append(min(size, whole))
    found = math.prod(covered)
    return found if 2 * found <= math.prod(shape) else None


def decode_window(window: Sequence[tuple[ChunkRead, Any]], threads: int) -> None:
    """Decodes whole chunks in one call."""
    if len(window) == 1:
        chunk, memory = window[0]
        with stored.named(chunk.getter):
            chunk.decode(memory, threads)
        return
    errors = run_decode([chunk.task(memory) for chunk, memory in window], threads)[1]
    if any(errors):
        raise_first(errors, [stored.name_of(chunk.getter) for chunk, _ in window])
    for chunk, _ in window:
        chunk.finish()


# ---- Synchronous stores ------------------------------------------------------------------------


def read_sync(chunks: Sequence[ChunkRead]) -> None:
    """Reads from a synchronous store. A thread fetches a chunk and decodes it while it is in a cache."""
    for_each(_groups(chunks), _read, sum(chunk.work for chunk in chunks))


def _groups(chunks: Sequence[ChunkRead]) -> list[list[ChunkRead]]:
    """What one thread reads at once: a chunk, or small chunks until they hold WINDOW bytes. Threads that fetch small
    chunks would wait for each other, because Python runs one at a time; so they are decoded by threads of the
    library."""
    is_alone = max_threads() == 1
    groups: list[list[ChunkRead]] = []
    small: list[ChunkRead] = []
    room = 0
    for chunk in chunks:
        work = chunk.work
        if is_alone or chunk.in_parts or work >= WORTH_A_THREAD:
            groups.append([chunk])
            continue
        if room <= 0:
            small, room = [], WINDOW
            groups.append(small)
        small.append(chunk)
        room -= work
    return groups


def _read(group: Sequence[ChunkRead], threads: int) -> None:
    if group[0].in_parts:
        with stored.named(group[0].getter):
            _read_parts_sync(group[0], threads)
        return
    window = []
    for chunk in group:
        with stored.named(chunk.getter):
            memory = stored.get_sync(chunk.getter, chunk.spec.prototype)
        if memory is None:
            chunk.miss()
        else:
            window.append((chunk, memory))
    if window:
        decode_window(window, threads)


def _read_parts_sync(chunk: ChunkRead, threads: int) -> None:
    plan = chunk.plan(threads)
    with stored.fetching_sync(chunk.getter, chunk.spec.prototype) as fetch:
        for ranges in plan:
            found = fetch(ranges)
            if found is None:
                chunk.miss()
                return
            plan.supply_joined(found)
    plan.result  # noqa: B018 - puts elements into place
    chunk.finish()


# ---- Asynchronous stores -----------------------------------------------------------------------


class _Window:
    """Whole chunks that have arrived and are to be decoded together."""

    def __init__(self) -> None:
        self.chunks: list[tuple[ChunkRead, Any]] = []
        self.work = 0

    def add(self, chunk: ChunkRead, memory: Any) -> None:
        self.chunks.append((chunk, memory))
        self.work += chunk.work

    def take(self) -> list[tuple[ChunkRead, Any]]:
        chunks, self.chunks, self.work = self.chunks, [], 0
        return chunks


async def read_async(chunks: Sequence[ChunkRead]) -> None:
    """Reads from any store: chunks are decoded in batches as they arrive."""
    left, requests = iter(chunks), stored.new_limit()
    window = _Window()
    jobs: list[asyncio.Task[None]] = []

    async def read() -> None:
        for chunk in left:
            await _fetch(chunk, requests, window)
            while window.work >= WINDOW:
                raise_failed([job for job in jobs if job.done()])
                jobs[:] = [job for job in jobs if not job.done()]
                if len(jobs) < _MOST_WINDOWS:
                    jobs.append(asyncio.create_task(in_thread(decode_window, window.take(), max_threads())))
                else:
                    await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)

    before = sys.exception()
    readers = [asyncio.create_task(read()) for _ in range(min(stored.concurrency() or len(chunks), len(chunks)))]
    try:
        await asyncio.gather(*readers)
        if window.chunks:
            await in_thread_if_large(window.work, decode_window, window.take(), max_threads())
    finally:
        await settle([*readers, *jobs], before)
    raise_failed(jobs)


async def _fetch(chunk: ChunkRead, requests: stored.Limit, window: _Window) -> None:
    """Reads a chunk in parts, or puts it into the window."""
    with stored.named(chunk.getter):
        if chunk.in_parts:
            await _read_parts(chunk, requests)
            return
        async with requests:
            buffer = await chunk.getter.get(prototype=chunk.spec.prototype)
        if buffer is None:
            chunk.miss()
        else:
            window.add(chunk, stored.memory_of(buffer))


async def settle(futures: Sequence[asyncio.Future[Any]], before: BaseException | None = None) -> None:
    """Waits for all. If one failed, or an exception such as a cancellation is being handled, the others are cancelled:
    another one than that of `before`, which the caller may have been handling already."""
    failed = (future.done() and not future.cancelled() and future.exception() is not None for future in futures)
    if sys.exception() is not before or any(failed):
        for future in futures:
            future.cancel()
    await asyncio.gather(*futures, return_exceptions=True)


def raise_failed(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Raises the exception of a task, once all are settled. Others may have been cancelled because of it; only if no
    task has an exception, CancelledError is raised."""
    for task in sorted(tasks, key=lambda task: task.cancelled()):
        task.result()


async def _read_parts(chunk: ChunkRead, requests: stored.Limit) -> None:
    plan = chunk.plan(max_threads())
    is_index = chunk.chain.has_index
    async for ranges in plan:
        async with aclosing(stored.fetch(chunk.getter, ranges, chunk.spec, requests, is_index=is_index)) as fetched:
            async for found in fetched:
                if found is None:
                    chunk.miss()
                    return
                work = sum(memory.nbytes for _, memory in found) if is_index else chunk.work
                await in_thread_if_large(work, _supply, plan, found)
        is_index = False
    plan.result  # noqa: B018 - puts elements into place
    chunk.finish()


def _supply(plan: Plan, parts: Sequence[tuple[int, Any]]) -> None:
    """Supplies ranges. If they are all of the stage, several threads decode them."""
    if len(parts) == len(plan.ranges):
        plan.supply_all([memory for _, memory in sorted(parts, key=itemgetter(0))])
        return
    for i, memory in parts:
        plan.supply(i, memory)
