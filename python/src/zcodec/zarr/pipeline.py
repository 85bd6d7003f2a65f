"""The codec pipeline of zarr-python on zcodec."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.registry import register_pipeline

from zcodec.coding import Target
from zcodec.tasks import DecodeTask, EncodeTask, raise_first, run_decode, run_encode
from zcodec.zarr import stored
from zcodec.zarr.chains import Chains, Unsupported
from zcodec.zarr.misfits import refuse_misfits
from zcodec.zarr.read import ChunkRead, ReadRequest, read_async, read_sync, refuse_overlaps
from zcodec.zarr.selection import is_empty
from zcodec.zarr.stats import stats
from zcodec.zarr.threads import in_thread, in_thread_if_large, max_threads
from zcodec.zarr.write import ChunkWrite, write_async, write_sync

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer
    from zarr.core.metadata import ArrayMetadata

Batch = Iterable[tuple[Any, Any, Any, Any, bool]]


@dataclass(frozen=True)
class CodecPipeline(BatchedCodecPipeline):
    """Codes whole chains in zcodec. zarr-python's own pipeline codes what zcodec does not support, with a warning.

    The chunks of a request are divided among the processors that this process may use, or among
    "codec_pipeline.max_workers" threads. Only the inner chunks of a shard that are needed are read.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if not key.startswith("_z")}

    @property
    def _zchains(self) -> Chains:
        chains: Chains | None = self.__dict__.get("_zcached")
        if chains is None:
            chains = self.__dict__["_zcached"] = Chains(self)
        return chains

    @property
    def _zown(self) -> BatchedCodecPipeline:
        """zarr-python's own pipeline of the same codecs."""
        return BatchedCodecPipeline(
            array_array_codecs=self.array_array_codecs,
            array_bytes_codec=self.array_bytes_codec,
            bytes_bytes_codecs=self.bytes_bytes_codecs,
            batch_size=self.batch_size,
        )

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: ArrayMetadata, store: Store) -> Self:
        """Refuses codecs of ours that do not fit the chunks before the metadata is stored; the rest is as in
        zarr-python."""
        refuse_misfits(array_metadata)
        return super().from_array_metadata_and_store(array_metadata, store)

    # ---- Arrays --------------------------------------------------------------------------------

    async def read(self, batch_info: Batch, out: NDBuffer, drop_axes: tuple[int, ...] = ()) -> Any:
        """Reads chunks to their places in `out`. Returns whether each one was missing."""
        batch = list(batch_info)
        try:
            _must_be_numpy(out)
            if isinstance(out.as_ndarray_like(), np.ma.MaskedArray):
                raise Unsupported("elements that are read would stay masked")
            request, chains = ReadRequest(out, drop_axes), self._zchains
            chunks = [
                ChunkRead(chains.get(spec), getter, spec, chunk_selection, out_selection, request)
                for getter, spec, chunk_selection, out_selection, _ in batch
            ]
        except Unsupported as reason:
            stats.fall_back(str(reason), len(batch))
            return await self._zown.read(batch, out, drop_axes)
        refuse_overlaps(chunks)
        await _run(chunks, [chunk.getter for chunk in chunks], read_sync, read_async)
        return tuple({"status": "missing" if chunk.is_missing else "present"} for chunk in chunks)

    async def write(self, batch_info: Batch, value: NDBuffer, drop_axes: tuple[int, ...] = ()) -> None:
        """Writes chunks from their places in `value`."""
        batch = list(batch_info)
        try:
            _must_be_numpy(value)
            if stored.is_masked_element(value):
                raise Unsupported("numpy assigns a masked element alone in its own way")
            value = stored.broadcast(value, (out_selection for _, _, _, out_selection, _ in batch))
            chunks = [
                ChunkWrite(
                    self._zchains.get(spec), setter, spec, chunk_selection, out_selection, is_complete, value, drop_axes
                )
                for setter, spec, chunk_selection, out_selection, is_complete in batch
                if not is_empty(chunk_selection, spec.shape)
            ]
        except Unsupported as reason:
            stats.fall_back(str(reason), len(batch))
            await self._zown.write(batch, value, drop_axes)
            return
        await _run(chunks, [chunk.setter for chunk in chunks], write_sync, write_async)

    # ---- Chunks --------------------------------------------------------------------------------

    async def decode(
        self, chunk_bytes_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Decodes each chunk to a new array."""
        batch = list(chunk_bytes_and_specs)
        try:
            chains = [self._zchains.get(spec) for _, spec in batch]
        except Unsupported as reason:
            stats.fall_back(str(reason), len(batch))
            return await self._zown.decode(batch)
        found: list[NDBuffer | None] = [None] * len(batch)
        places = [i for i, (encoded, _) in enumerate(batch) if encoded is not None]
        tasks = []
        for i in places:
            encoded, spec = batch[i]
            assert encoded is not None
            out = np.empty(spec.shape, spec.dtype.to_native_dtype(), order=spec.order)
            tasks.append(DecodeTask(chains[i], stored.memory_of(encoded), Target(chains[i], out, None)))
        size = sum(chains[i]._decoded_size for i in places)
        arrays, errors = await in_thread_if_large(size, run_decode, tasks, max_threads())
        raise_first(errors)
        stats.add(decoded=len(places))
        made: list[Any] = list(arrays)
        for i, array in zip(places, made, strict=True):
            found[i] = batch[i][1].prototype.nd_buffer.from_ndarray_like(array)
        return found

    async def encode(
        self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        """Encodes chunks."""
        batch = list(chunk_arrays_and_specs)
        try:
            chains = [self._zchains.get(spec) for _, spec in batch]
            for array, _ in batch:
                if array is not None:
                    _must_be_numpy(array)
        except Unsupported as reason:
            stats.fall_back(str(reason), len(batch))
            return await self._zown.encode(batch)
        found: list[Buffer | None] = [None] * len(batch)
        places = [i for i, (array, _) in enumerate(batch) if array is not None]
        given: list[Any] = [array for array, _ in batch]
        tasks = [EncodeTask(chains[i], stored.elements_of(given[i])) for i in places]
        size = sum(chains[i]._decoded_size for i in places)
        encoded, errors = await in_thread_if_large(size, run_encode, tasks, max_threads())
        raise_first(errors)
        stats.add(encoded=len(places))
        for i, chunk in zip(places, encoded, strict=True):
            found[i] = batch[i][1].prototype.buffer.from_array_like(chunk)
        return found


def _must_be_numpy(array: NDBuffer) -> None:
    if not isinstance(array.as_ndarray_like(), np.ndarray):
        raise Unsupported(f"arrays of {type(array.as_ndarray_like()).__name__} are not in memory of numpy")


async def _run(
    chunks: Sequence[Any], getters: Sequence[Any], run_sync: Callable[[Any], None], run_async: Callable[[Any], Any]
) -> None:
    """Runs small requests of zarr-python's own stores in this thread, others in another thread, and those of asynchronous
    stores on the event loop."""
    if not chunks:
        return
    if not stored.support_sync(getters):
        await run_async(chunks)
    elif stored.are_of_zarr(getters):
        await in_thread_if_large(sum(chunk.work for chunk in chunks), run_sync, chunks)
    else:
        await in_thread(run_sync, chunks)


# zarr-python finds a pipeline by this name, which is also the one in the configuration.
CodecPipeline.__module__ = "zcodec.zarr"
register_pipeline(CodecPipeline)
