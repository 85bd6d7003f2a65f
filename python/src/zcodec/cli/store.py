"""Arrays of a store, and their chunks."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any, TypeVar

import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from zcodec.chain import Chain
from zcodec.cli.grid import Grid
from zcodec.tasks import processors
from zcodec.zarr import FallbackWarning

Item = TypeVar("Item")
Result = TypeVar("Result")


def use_zcodec() -> None:
    """Sets the pipeline; what it leaves to zarr-python is said by `inspect`."""
    zarr.config.set({"codec_pipeline.path": "zcodec.zarr.CodecPipeline", "array.rectilinear_chunks": True})
    warnings.simplefilter("ignore", FallbackWarning)


def arrays(store: str) -> list[tuple[str, Any]]:
    """The arrays of a store with their paths, in order; an array itself has the path ""."""
    use_zcodec()
    node = zarr.open(store, mode="r")
    if isinstance(node, zarr.Array):
        return [("", node)]
    found = [(path, member) for path, member in node.members(max_depth=None) if isinstance(member, zarr.Array)]
    return sorted(found, key=lambda item: item[0])


def document(array: Any) -> dict[str, Any]:
    """The metadata as it is stored: a zarr.json, or a .zarray."""
    files = array.metadata.to_buffer_dict(default_buffer_prototype())
    name = "zarr.json" if array.metadata.zarr_format == 3 else ".zarray"
    return json.loads(files[name].to_bytes())  # type: ignore[no-any-return]


def grid_of(array: Any) -> Grid:
    return Grid(document(array))


def encoded(array: Any, coordinates: tuple[int, ...]) -> Any | None:
    """The bytes of a stored chunk; None if there is no such chunk."""
    path = array.store_path / array.metadata.encode_chunk_key(coordinates)
    buffer = sync(path.get(default_buffer_prototype()))
    return None if buffer is None else buffer.as_numpy_array()


def chain_of(array: Any) -> Chain:
    return Chain.from_zarr_json(document(array))


def each(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int | None
) -> Iterator[tuple[Item, Future[Result]]]:
    """Runs `work` on all items in threads; a few more than there are workers are under way at any time."""
    count = workers or processors()
    left = iter(items)
    with ThreadPoolExecutor(count) as pool:
        running = {pool.submit(work, item): item for item in islice(left, 2 * count)}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future
                for item in islice(left, 2 * count - len(running)):
                    running[pool.submit(work, item)] = item
        finally:
            for future in running:
                future.cancel()
