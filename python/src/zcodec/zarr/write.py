"""Writes: the chunks of one request, encoded from the caller's memory."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zcodec.chain import Chain
from zcodec.errors import Error, Status
from zcodec.index import Index, index_range
from zcodec.plan import read_object
from zcodec.tasks import EncodeTask, raise_first, run_encode
from zcodec.views import Array
from zcodec.writer import Writer, whole_object
from zcodec.zarr import local, stored
from zcodec.zarr.chains import fill_value_of
from zcodec.zarr.read import WINDOW, raise_failed, settle
from zcodec.zarr.selection import Axes, axes_of, cells_of, is_basic, with_dropped
from zcodec.zarr.stats import stats
from zcodec.zarr.threads import SMALL, for_each, in_thread_if_large, is_cancelled, max_threads

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer


class ChunkWrite:
    """One chunk of a request: which elements are given, and where they are."""

    def __init__(
        self,
        chain: Chain,
        setter: Any,
        spec: ArraySpec,
        chunk_selection: Any,
        out_selection: Any,
        is_complete: bool,
        value: NDBuffer,
        drop_axes: tuple[int, ...],
    ) -> None:
        self.chain = chain
        self.setter = setter
        self.spec = spec
        self._chunk_selection = chunk_selection
        self._out_selection = out_selection
        self._value = stored.without_subarrays(value, chain.dtype)
        self._drop_axes = drop_axes
        self._store_empty = bool(spec.config.write_empty_chunks)
        self._axes: Axes | None = None
        self._part: Array | None = None
        self._resolve()
        # `is_complete` ignores elements beyond the array. Shards keep those, as zarr-python keeps them if there is no
        # other codec: they come back when the array grows.
        is_whole = self._axes is not None and self._axes.is_whole
        self.needs_old = not is_whole and (chain.has_index or not is_complete)
        self._is_at_edge = is_complete and not is_whole

    def _resolve(self) -> None:
        """Makes a view of the given elements with the axes of the chunk, if they are a box of it."""
        memory = stored.elements_of(self._value)
        same = memory.dtype in (self.chain.dtype, self.chain.dtype.newbyteorder("S"))
        if not same or not is_basic(self._chunk_selection) or self._drop_axes:
            return
        axes = axes_of(self._chunk_selection, self.chain.shape)
        if not axes.is_box:
            return
        if memory.shape == ():
            part = memory
        elif is_basic(self._out_selection):
            part = memory[self._out_selection if self._out_selection != () else ...]
            ndim = len(axes.box) - len(axes.dropped)
            while part.ndim > ndim and part.shape[0] == 1:  # numpy drops these axes when it assigns
                part = part.reshape(part.shape[1:])
            if part.ndim == ndim:
                part = with_dropped(part, axes)
        else:
            return
        self._axes, self._part = axes, part if part.shape == axes.shape else np.broadcast_to(part, axes.shape)

    @property
    def work(self) -> int:
        """How many bytes are encoded, at most."""
        return self.chain._decoded_size

    def merge(self, old: Any) -> EncodeTask | Any | None:
        """What to store: a task to encode, bytes, or None to delete the chunk. `old` is the stored chunk, or None."""
        with stored.named(self.setter):
            return self._merged(old)

    def _merged(self, old: Any) -> EncodeTask | Any | None:
        axes, part = self._axes, self._part
        # With `_store_empty`, encoding a new shard would store all inner chunks, including those that nobody wrote.
        in_parts = self.chain.has_index and (old is not None or self._store_empty)
        if axes is not None and part is not None:
            if axes.is_whole:
                return self._whole(part)
            if old is None and not self._store_empty and self._is_fill(part):
                return None
            made = self._rewrite(old, lambda: [(part, axes.box)]) if in_parts else NotImplemented
            if made is not NotImplemented:
                return made
            if old is None:
                return EncodeTask(self.chain, part, axes.box)
        elif in_parts:
            made = self._rewrite(old, lambda: self._cells(old))
            if made is not NotImplemented:
                return made
        array = np.empty(self.chain.shape, self.chain.dtype)
        if old is None:
            array[...] = fill_value_of(self.spec)
        else:
            self.chain.decode(old, out=array, max_threads=max_threads())
            stats.add(decoded=1)
        self._assign(array)
        return self._whole(array)

    def without_fill_value(self) -> EncodeTask | None:
        """A task that has another value beyond the edge of the array, where all elements before it are given: some codecs
        of numcodecs cannot encode the fill value. None for other chunks."""
        if not self._is_at_edge or self._part is None or not self._part.size:
            return None
        array = np.full(self.chain.shape, self._part.flat[0], self.chain.dtype)
        self._assign(array)
        return EncodeTask(self.chain, array)

    def _whole(self, array: Array) -> EncodeTask | None:
        if not self._store_empty and self._is_fill(array):
            return None
        return EncodeTask(self.chain, array)

    def _is_fill(self, array: Array) -> bool:
        return self.spec.fill_value is not None and self.chain.is_fill(array)

    def _assign(self, array: Array) -> None:
        if self._axes is not None:
            array[self._axes.box] = self._part
            return
        value = self._value
        memory = value.as_ndarray_like()
        if memory.shape == () or self._chunk_selection == ():
            array[self._chunk_selection] = memory
            return
        part: Any = value[self._out_selection].as_ndarray_like()
        if self._drop_axes:
            part = part[tuple(None if axis in self._drop_axes else slice(None) for axis in range(array.ndim))]
        array[self._chunk_selection] = part

    def _cells(self, old: Any) -> list[tuple[Array, Any]] | None:
        """The inner chunks that a selection other than a box touches, with its elements; None means all of them."""
        array = np.empty(self.chain.shape, self.chain.dtype)
        cells = cells_of(self._chunk_selection, array.shape, self.chain.granularity)
        parts = [array[cell] for cell in cells or ()]
        if cells is None or sum(part.size for part in parts) == array.size:
            return None
        if old is None:
            for part in parts:
                part[...] = fill_value_of(self.spec)
        else:
            read_object(self.chain.plan(cells, parts, max_threads=max_threads()), old)
            stats.add(decoded=1)
        self._assign(array)
        return list(zip(parts, cells, strict=True))

    def _rewrite(self, old: Any, parts_of: Callable[[], list[tuple[Any, Any]] | None]) -> Any:
        """Codes only the inner chunks that were put; NotImplemented if the chain makes no shards, or all chunks were
        put."""
        try:
            where = index_range(self.chain)
            writer = self._writer(old, where)
        except Error as error:
            if error.status != Status.UNSUPPORTED:
                raise
            return NotImplemented
        parts = parts_of()
        if parts is None:
            return NotImplemented
        for part, box in parts:
            writer.put(part, box)
        for ranges in writer:
            for i, (offset, size) in enumerate(ranges):
                assert offset is not None and size is not None
                writer.supply(i, old[offset : offset + size])
        pieces, object_size = writer.finish()
        stats.add(encoded=1)
        if object_size == where.size and not self._store_empty:
            return None
        return whole_object(pieces, object_size, old)

    def _writer(self, old: Any, where: Any) -> Writer:
        if old is None:
            return self.chain.writer(max_threads=max_threads(), store_empty=self._store_empty)
        offset, size = where
        encoded = old[-size:] if offset is None else old[offset : offset + size]
        index = Index(self.chain, encoded, len(old))
        return self.chain.writer(index, len(old), max_threads=max_threads(), store_empty=self._store_empty)


def encode_window(chunks: Sequence[ChunkWrite], olds: Sequence[Any]) -> list[Any]:
    """What to store for each chunk: an array of bytes, or None to delete it. Chunks are encoded in one call."""
    made: list[Any] = [chunk.merge(old) for chunk, old in zip(chunks, olds, strict=True)]
    tasks = {i: item for i, item in enumerate(made) if isinstance(item, EncodeTask)}
    store_empty = bool(chunks[0].spec.config.write_empty_chunks)
    encoded, errors = run_encode(list(tasks.values()), max_threads(), store_empty=store_empty)
    refused = [
        (place, chunks[i].without_fill_value())
        for place, (i, error) in enumerate(zip(tasks, errors, strict=True))
        if isinstance(error, Error) and error.status == Status.OUT_OF_RANGE
    ]
    again = {place: task for place, task in refused if task is not None}
    if again:
        results = run_encode(list(again.values()), max_threads(), store_empty=store_empty)
        for place, chunk, error in zip(again, *results, strict=True):
            encoded[place], errors[place] = chunk, error
    if any(errors):
        raise_first(errors, [stored.name_of(chunks[i].setter) for i in tasks])
    stats.add(encoded=len(tasks))
    for i, chunk in zip(tasks, encoded, strict=True):
        made[i] = chunk if local.path_to_replace(chunks[i].setter) else _trimmed(chunk)
    return made


def _trimmed(encoded: Array) -> Array:
    """A copy if much of the memory is unused: stores in memory keep the array that they get. Files do not."""
    room = encoded.base
    is_roomy = isinstance(room, np.ndarray) and room.nbytes > encoded.nbytes + encoded.nbytes // 4
    return encoded.copy() if is_roomy else encoded


def _windows(chunks: Sequence[ChunkWrite]) -> list[list[ChunkWrite]]:
    windows: list[list[ChunkWrite]] = [[]]
    size = 0
    for chunk in chunks:
        if size >= WINDOW:
            windows.append([])
            size = 0
        windows[-1].append(chunk)
        size += chunk.work
    return windows


def _buffer(chunk: ChunkWrite, encoded: Array) -> Buffer:
    return chunk.spec.prototype.buffer.from_array_like(encoded)


def write_sync(chunks: Sequence[ChunkWrite]) -> None:
    """Writes to a synchronous store. Chunks are encoded together, and each thread stores some of them."""
    for window in _windows(chunks):
        if is_cancelled():
            return
        made = encode_window(window, [_old_sync(chunk) for chunk in window])
        size = sum(encoded.nbytes for encoded in made if encoded is not None and encoded.nbytes > SMALL)
        for_each(list(zip(window, made, strict=True)), _store_sync, size)


def _old_sync(chunk: ChunkWrite) -> Any:
    if not chunk.needs_old:
        return None
    with stored.named(chunk.setter):
        return stored.get_sync(chunk.setter, chunk.spec.prototype)


def _store_sync(item: tuple[ChunkWrite, Any], _threads: int) -> None:
    chunk, encoded = item
    with stored.named(chunk.setter):
        if encoded is None:
            chunk.setter.delete_sync()
        elif path := local.path_to_replace(chunk.setter):
            chunk.setter.store._check_writable()
            local.replace(path, encoded)
        else:
            chunk.setter.set_sync(_buffer(chunk, encoded))


async def write_async(chunks: Sequence[ChunkWrite]) -> None:
    """Writes to any store: chunks are stored while the next ones are encoded."""
    limit = stored.new_limit()
    stores: list[asyncio.Task[None]] = []

    async def old(chunk: ChunkWrite) -> Any:
        if not chunk.needs_old:
            return None
        with stored.named(chunk.setter):
            async with limit:
                buffer = await chunk.setter.get(prototype=chunk.spec.prototype)
        return None if buffer is None else stored.memory_of(buffer)

    async def store(chunk: ChunkWrite, encoded: Any) -> None:
        with stored.named(chunk.setter):
            async with limit:
                if encoded is None:
                    await chunk.setter.delete()
                else:
                    await chunk.setter.set(_buffer(chunk, encoded))

    before = sys.exception()
    try:
        for window in _windows(chunks):
            reads = [asyncio.ensure_future(old(chunk)) for chunk in window]
            try:
                olds = await asyncio.gather(*reads)
            finally:
                await settle(reads, before)
            made = await in_thread_if_large(sum(chunk.work for chunk in window), encode_window, window, olds)
            await settle(stores, before)
            raise_failed(stores)
            stores = [asyncio.create_task(store(*item)) for item in zip(window, made, strict=True)]
    finally:
        await settle(stores, before)
    raise_failed(stores)
