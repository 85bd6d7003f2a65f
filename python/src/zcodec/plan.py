"""Plans: reads of objects that are not in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from zcodec._ffi import NULL, ffi, lib, new_error
from zcodec.callbacks import call_options
from zcodec.coding import Target
from zcodec.errors import check
from zcodec.index import Index, Range, known
from zcodec.sharing import refuse_shared
from zcodec.stages import Stages
from zcodec.views import Array, Box, Buffer, Part, View, address_of, from_buffer

if TYPE_CHECKING:
    from zcodec.chain import Chain

Fetch = Callable[[Range], Awaitable[Buffer]]


class Joined(NamedTuple):
    """The bytes of all ranges of a stage: for each range the number of its buffer, and where it begins there, in
    bytes."""

    buffers: Sequence[Buffer]
    places: Sequence[tuple[int, int]]


class Plan(Stages):
    """One read of one stored object, a chunk or a shard.

    `ranges` are the bytes that the next stage needs. Fetch them as you like, and give each to `supply`, from any
    thread; it is decoded at once. `ranges` then has those of the next stage; when there are none, `result` is complete:

        plan = chain.plan((slice(0, 100), ...))
        async for ranges in plan:
            for i, (offset, size) in enumerate(ranges):
                plan.supply(i, await get(offset, size))
        plan.result

    `box` is one box, or a list of boxes; `out` an array, or a list with one for each box. `object_size` None means not
    known. `index` is that of an earlier plan of the same object, so that it is not read again. Threads may `supply` at
    once.

    Raises `Error`: CORRUPT_DATA for damaged bytes, which ends the plan; INVALID_ARGUMENT for a range that does not
    exist or was already supplied, which leaves the plan as it was. So does the ValueError for bytes that share memory
    with `out`. There is no plan for an object that does not exist: see `Chain.fill`.
    """

    def __init__(
        self,
        chain: Chain,
        box: Box | list[Any] | None = None,
        out: Any = None,
        *,
        object_size: int | None = None,
        index: Index | None = None,
        max_threads: int | None = 1,
    ) -> None:
        self._is_list = isinstance(box, list)
        self._arrays: list[Any] | None = None
        boxes = box if isinstance(box, list) else [box]
        outs = out if self._is_list and out is not None else [out] * len(boxes)
        if len(outs) != len(boxes):
            raise ValueError(f"out has {len(outs)} arrays for {len(boxes)} boxes")
        self._chain = chain
        self._paddings = tuple(chain._paddings.values())  # those of the library's plan, even if others are set later
        self._targets = [Target(chain, to, part if part is not None else ...) for to, part in zip(outs, boxes, strict=True)]
        if len(self._targets) > 1:
            refuse_shared([target.filled for target in self._targets], [])
        views = [target.view for target in self._targets]
        self._start = min((view.start for view in views), default=0)
        self._end = max((view.start + view.size for view in views), default=0)
        super().__init__(chain.context(), lib.zcodec_plan_next, lib.zcodec_plan_supply)
        parts = [part for target in self._targets for part in target.parts(chain)]
        plan, error = ffi.new("zcodec_plan **"), new_error()
        status = lib.zcodec_plan_new(
            chain.handle, call_options(self._context, max_threads), *_arrays(parts), len(parts), known(object_size),
            NULL if index is None else index.handle, plan, error,
        )  # fmt: skip
        check(status, error)
        self._handle = ffi.gc(plan[0], lib.zcodec_plan_free)

    def supply_all(self, encoded: Sequence[Buffer]) -> None:
        """The bytes of all ranges of this stage, decoded by `max_threads` threads."""
        stage = self.ranges
        if len(encoded) != len(stage):
            raise ValueError(f"{len(encoded)} buffers for {len(stage)} ranges")
        with self._memories(encoded) as memory:
            pointers = ffi.new("void *[]", memory)
            self._supply_all(pointers, ffi.new("size_t[]", [ffi.sizeof(item) for item in memory]))

    def supply_joined(self, joined: Joined) -> None:
        """As `supply_all`, where several ranges may lie in one buffer because they were read together."""
        with self._memories(joined.buffers) as memory:
            ends = [(address_of(item), ffi.sizeof(item)) for item in memory]
            addresses, sizes = [], []
            for part, (buffer, offset) in zip(self.ranges, joined.places, strict=True):
                address, size = ends[buffer]
                offset = min(offset, size)  # an object may end early
                addresses.append(address + offset)
                sizes.append(size - offset if part.size is None else min(part.size, size - offset))
            pointers = ffi.new("uintptr_t[]", addresses)
            self._supply_all(ffi.cast("void **", pointers), ffi.new("size_t[]", sizes))

    @contextmanager
    def _memories(self, buffers: Sequence[Buffer]) -> Iterator[list[Any]]:
        with ExitStack() as stack:
            yield [stack.enter_context(self._memory_of(buffer)) for buffer in buffers]

    def _supply_all(self, pointers: Any, sizes: Any) -> None:
        self._supply_ranges(range(len(self.ranges)), lib.zcodec_plan_supply_all, pointers, sizes)

    def _memory_of(self, encoded: Buffer) -> Any:
        memory = super()._memory_of(encoded)
        start = address_of(memory)
        if start < self._end and self._start < start + ffi.sizeof(memory):  # with many boxes, most lie elsewhere
            try:
                for target in self._targets:
                    target.refuse_shared(memory)
            except BaseException:
                ffi.release(memory)
                raise
        return memory

    @property
    def is_complete(self) -> bool:
        """Whether no stage is left. Asks for the next stage once this one has been supplied, as `ranges` does."""
        return not self.ranges

    @property
    def result(self) -> Any:
        """The array, or the list of arrays, once every stage has been supplied."""
        if self.ranges:
            raise ValueError("ranges of this stage are missing")
        if self._arrays is None:  # once: what the caller changes in `out` later stays
            self._arrays = [target.finish() for target in self._targets]
        return self._arrays if self._is_list else self._arrays[0]

    @property
    def index(self) -> Index | None:
        """The index of the shard; None if the chain has none, or a codec before the shard needs the whole of it.

        Raises `Error`: INVALID_ARGUMENT until its bytes have been supplied, and if every box is empty."""
        index, error = ffi.new("zcodec_index **"), new_error()
        check(lib.zcodec_plan_index(self._handle, index, error), error)
        return None if index[0] == NULL else Index.adopt(index[0])

    async def read(self, fetch: Fetch) -> Any:
        """Fetches and decodes everything. The ranges of a stage are fetched at once, and decoded as they arrive.

        `fetch` is called with each range, an (offset, size), and returns an awaitable of its bytes. After a fetch that
        failed or was cancelled this may be called again: it fetches what is missing."""
        import asyncio

        async def one(i: int, part: Range) -> None:
            self.supply(i, await fetch(part))

        async for ranges in self:
            parts = [asyncio.ensure_future(one(i, part)) for i, part in enumerate(ranges) if not self._is_supplied(i)]
            try:
                await asyncio.gather(*parts)
            finally:
                for part in parts:
                    part.cancel()
                await asyncio.gather(*parts, return_exceptions=True)
        return self.result

    def __reduce__(self) -> Any:
        raise TypeError("a plan belongs to this process")


def _arrays(parts: Sequence[tuple[Part, View]]) -> tuple[Any, Any]:
    """The boxes and views, which the library copies."""
    boxes = ffi.new("zcodec_box[]", len(parts))
    views = ffi.new("zcodec_view[]", len(parts))
    for i, (part, view) in enumerate(parts):
        boxes[i] = part.pointer[0]
        views[i] = view.pointer[0]
    return boxes, views


def read_object(plan: Plan, encoded: Buffer) -> Any | Array:
    """Runs a plan on an object that is in memory."""
    with from_buffer(encoded) as memory:
        size = ffi.sizeof(memory)
    for ranges in plan:
        starts = [max(0, size - part.size) if part.offset is None else part.offset for part in ranges]
        plan.supply_joined(Joined([encoded], [(0, start) for start in starts]))
    return plan.result
