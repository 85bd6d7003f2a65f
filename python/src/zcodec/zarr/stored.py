"""Stored objects of zarr-python, whole or in ranges, read synchronously or asynchronously."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import Buffer, NDBuffer
from zarr.core.config import config
from zarr.storage import StorePath, WrapperStore

from zcodec.index import Range
from zcodec.plan import Joined
from zcodec.zarr import local
from zcodec.zarr.selection import shape_of

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import BufferPrototype

# Ranges with smaller gaps, in bytes, are read at once: the bytes in between cost less than another request, and less
# than opening a file again.
_GAP = 64 * 1024
_FILE_GAP = 256 * 1024


Limit = AbstractAsyncContextManager[Any]


def concurrency() -> int | None:
    """How many requests to a store may run at once; None means any number, as in zarr-python."""
    return config.get("async.concurrency")  # type: ignore[no-any-return]


def new_limit() -> Limit:
    """What requests to a store wait for."""
    most = concurrency()
    return nullcontext() if most is None else asyncio.Semaphore(most)


def support_sync(getters: Sequence[Any]) -> bool:
    """Whether the stores of these paths can be read and written without waiting."""
    return all(isinstance(getter, StorePath) for getter in getters) and all(map(_supports_sync, _stores(getters)))


def are_of_zarr(getters: Sequence[Any]) -> bool:
    """Whether the stores of these paths are zarr-python's own. The synchronous methods of others may call functions of
    zarr-python that do not work on the thread of its event loop."""
    return all(type(layer).__module__.startswith("zarr.") for store in _stores(getters) for layer in _layers(store))


def _stores(getters: Sequence[Any]) -> Iterable[Any]:
    """The stores of paths: mostly one."""
    return {id(getter.store): getter.store for getter in getters}.values()


def _supports_sync(store: Any) -> bool:
    if not getattr(store, "_supports_sync_io", True):
        return False
    layers = list(_layers(store))
    classes: list[type] = [type(layer) for layer in layers]
    return all(map(_has_sync, classes)) and not any(map(local.is_patched, layers))


def _layers(store: Any) -> Iterator[Any]:
    """A store, and the stores that it wraps."""
    while isinstance(store, WrapperStore):
        yield store
        store = store._store
    yield store


@lru_cache(maxsize=64)
def _has_sync(store: type) -> bool:
    """Whether the store has `get_sync` and the like, and no subclass of their class overrides `get`, `set` or
    `delete`."""
    depths = [(_depth(store, f"{name}_sync"), _depth(store, name)) for name in local.METHODS]
    return all(sync <= usual and sync < math.inf for sync, usual in depths)


def _depth(store: type, name: str) -> float:
    """How far up the class that defines this name is."""
    classes = enumerate(store.__mro__)
    return next((i for i, cls in classes if name in vars(cls)), math.inf)


def name_of(getter: Any) -> str:
    """Where a chunk is stored, as errors name it."""
    return str(getter) if isinstance(getter, StorePath) else "inside a shard"


@contextmanager
def named(getter: Any) -> Iterator[None]:
    """Adds the name of the chunk to exceptions."""
    try:
        yield
    except Exception as error:
        error.add_note(f"chunk {name_of(getter)}")
        raise


def memory_of(buffer: Buffer) -> Any:
    """The bytes of a buffer, not copied."""
    return buffer.as_numpy_array()


def elements_of(buffer: NDBuffer) -> Any:
    """The elements of a buffer, not copied. As in zarr-python, the masks of arrays are ignored: see
    `is_masked_element`."""
    return np.asarray(buffer.as_numpy_array())


def broadcast(buffer: NDBuffer, selections: Iterable[Any]) -> NDBuffer:
    """The elements as numpy assigns them to what all these selections, one for each chunk, are of. Raises ValueError
    where numpy does: elements of another shape, cut for each chunk, would come to the wrong places."""
    elements = elements_of(buffer)
    shape = None if elements.ndim == 0 else shape_of(selections)
    if shape is None or elements.shape == shape:
        return buffer
    while elements.ndim > len(shape) and elements.shape[0] == 1:  # numpy drops these axes
        elements = elements[0]
    try:
        assigned: Any = np.broadcast_to(elements, shape)
    except ValueError as error:
        raise ValueError(f"elements of shape {elements.shape} do not fit a selection of shape {shape}") from error
    return type(buffer).from_ndarray_like(assigned)


def without_subarrays(buffer: NDBuffer, dtype: Any) -> NDBuffer:
    """The elements of a struct whose members are arrays as zarr-python stores them, with bytes for such a member. numpy
    would keep only the first element of each."""
    given = buffer.as_ndarray_like().dtype
    if given.fields is None or dtype.fields is None or given == dtype:
        return buffer
    if all(member[0].subdtype is None for member in given.fields.values()):
        return buffer

    def layout(of: Any) -> Any:
        return of.itemsize, [(name, of.fields[name][1], of.fields[name][0].itemsize) for name in of.names]

    if layout(given) != layout(dtype):
        raise TypeError(f"elements of the type {given} cannot be stored as {dtype}")
    return type(buffer).from_ndarray_like(elements_of(buffer).view(dtype))


def is_masked_element(buffer: NDBuffer) -> bool:
    """Whether this is one element, and masked. numpy, and so zarr-python, assigns it to one element of an array as NaN,
    or raises, where it assigns what lies under the mask of several."""
    array = buffer.as_ndarray_like()
    # The mask of a struct has one bool for each member.
    return isinstance(array, np.ma.MaskedArray) and array.size == 1 and any(np.ma.getmaskarray(array).tobytes())


def request_of(part: Range) -> ByteRequest:
    if part.offset is None:
        assert part.size is not None
        return SuffixByteRequest(part.size)
    if part.size is None:
        return OffsetByteRequest(part.offset)
    return RangeByteRequest(part.offset, part.offset + part.size)


class Group(NamedTuple):
    """Ranges that are read together."""

    request: ByteRequest
    start: int
    members: list[int]


def groups_of(ranges: Sequence[Range], gap: int = _GAP) -> list[Group]:
    """Joins neighbours of sorted ranges; a range whose offset or size is unknown stays alone."""
    groups: list[Group] = []
    for i, part in enumerate(ranges):
        if part.offset is None or part.size is None:
            groups.append(Group(request_of(part), part.offset or 0, [i]))
            continue
        last = groups[-1].request if groups else None
        if isinstance(last, RangeByteRequest) and part.offset - last.end <= gap:
            request = RangeByteRequest(last.start, max(last.end, part.offset + part.size))
            groups[-1] = Group(request, last.start, [*groups[-1].members, i])
        else:
            groups.append(Group(request_of(part), part.offset, [i]))
    return groups


def parts_of(group: Group, ranges: Sequence[Range], memory: Any) -> Iterator[tuple[int, Any]]:
    """The bytes of each range of a group that was read."""
    if len(group.members) == 1:
        yield group.members[0], memory
        return
    for i in group.members:
        offset, size = ranges[i]
        assert offset is not None and size is not None
        yield i, memory[offset - group.start : offset - group.start + size]


def get_sync(getter: Any, prototype: BufferPrototype) -> Any:
    """The bytes of an object; None if it does not exist."""
    path = local.path_of(getter)
    if path is None:
        return _part_of(getter, prototype, None)
    with local.opened(path) as file:
        return None if file is None else local.part(file, None)


@contextmanager
def fetching_sync(getter: Any, prototype: BufferPrototype) -> Iterator[Callable[[Sequence[Range]], Joined | None]]:
    """Gives a function for the bytes of ranges of an object; None if it does not exist. A file is opened once,
    because another one may take its place; it stays open until all ranges are read."""
    path = local.path_of(getter)
    if path is None:
        yield lambda ranges: _joined(ranges, lambda request: _part_of(getter, prototype, request))
        return
    with local.opened(path) as file:
        yield lambda ranges: None if file is None else _joined(ranges, lambda request: local.part(file, request))


def _joined(ranges: Sequence[Range], part_of: Callable[[ByteRequest], Any]) -> Joined | None:
    parts: list[Any] = []
    places = [(0, 0)] * len(ranges)
    for number, group in enumerate(groups_of(ranges, _FILE_GAP)):
        parts.append(part_of(group.request))
        if parts[-1] is None:
            return None
        for i in group.members:
            places[i] = number, (ranges[i].offset or 0) - group.start
    return Joined(parts, places)


def _part_of(getter: Any, prototype: BufferPrototype, request: ByteRequest | None) -> Any:
    """A range of an object by the methods of its store, or all of it; None if it does not exist."""
    buffer = getter.get_sync(prototype=prototype, byte_range=request)
    return None if buffer is None else memory_of(buffer)


async def fetch(
    getter: Any, ranges: Sequence[Range], spec: ArraySpec, limit: Limit, *, is_index: bool
) -> AsyncGenerator[list[tuple[int, Any]] | None]:
    """The bytes of ranges as they arrive, those that were read together as one list; None if the object does not exist.
    An index is never joined with other ranges.

    Requests wait for `limit`, except those of stores that limit requests themselves. Closing this ends all requests.
    """
    prototype = spec.prototype
    known = all(part.offset is not None and part.size is not None for part in ranges)
    if known and not is_index and isinstance(getter, StorePath) and hasattr(getter.store, "get_ranges"):
        try:
            async for several in getter.store.get_ranges(
                getter.path, [request_of(each) for each in ranges], prototype=prototype, **_coalescing(spec)
            ):
                parts = [(i, memory_of(part)) for i, part in several if part is not None]
                yield parts if len(parts) == len(several) else None
        except BaseExceptionGroup as failed:
            # The object was there a moment ago, and somebody deleted it. Other errors come from the store.
            _, others = failed.split(FileNotFoundError)
            if others is not None:
                raise others from None
            yield None
        return
    requests = [asyncio.ensure_future(_get(getter, group, prototype, limit)) for group in groups_of(ranges)]
    try:
        for done in asyncio.as_completed(requests):
            group, buffer = await done
            if buffer is None:
                yield None
                return
            yield list(parts_of(group, ranges, memory_of(buffer)))
    finally:
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)


def _coalescing(spec: ArraySpec) -> dict[str, int]:
    """The options of the array for gaps between ranges, in versions of zarr-python that have them."""
    names = {"max_gap_bytes": "sharding_coalesce_max_gap_bytes", "max_coalesced_bytes": "sharding_coalesce_max_bytes"}
    return {name: getattr(spec.config, member) for name, member in names.items() if hasattr(spec.config, member)}


async def _get(
    getter: Any, group: Group, prototype: BufferPrototype, limit: Limit
) -> tuple[Group, Buffer | None]:
    async with limit:
        return group, await getter.get(prototype=prototype, byte_range=group.request)
