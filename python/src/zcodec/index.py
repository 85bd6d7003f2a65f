"""Indices of shards: where each inner chunk lies in its object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from zcodec._ffi import SIZE_UNKNOWN, ffi, lib, new_error, size_of
from zcodec.errors import check
from zcodec.views import Buffer, from_buffer

if TYPE_CHECKING:
    from zcodec.chain import Chain


class Range(NamedTuple):
    """Bytes of a stored object; both numbers count bytes. `offset` None: the last `size`. `size` None: up to the
    end."""

    offset: int | None
    size: int | None


def range_of(raw: Any) -> Range:
    return Range(
        None if raw.offset == SIZE_UNKNOWN else raw.offset, None if raw.size == SIZE_UNKNOWN else raw.size
    )


def known(size: int | None) -> int:
    return SIZE_UNKNOWN if size is None else size_of(size, "object_size")


class Index:
    """The decoded index of a shard. It is immutable, and any thread may use it. `memory` is what it costs in a cache,
    in bytes."""

    def __init__(self, chain: Chain, encoded: Buffer, object_size: int | None = None) -> None:
        """Decodes an index from the bytes of `index_range(chain)`; `object_size` None means not known.

        Raises `Error`: CORRUPT_DATA for a damaged index, or one that points outside the object; UNSUPPORTED if the
        chain has none.
        """
        index, error = ffi.new("zcodec_index **"), new_error()
        with from_buffer(encoded) as memory:
            status = lib.zcodec_index_decode(
                chain.handle, memory, ffi.sizeof(memory), known(object_size), index, error
            )
            check(status, error)
        self.handle = ffi.gc(index[0], lib.zcodec_index_free)

    @classmethod
    def adopt(cls, pointer: Any) -> Index:
        index = cls.__new__(cls)
        index.handle = ffi.gc(pointer, lib.zcodec_index_free)
        return index

    @property
    def memory(self) -> int:
        """The bytes that the index takes in memory."""
        return int(lib.zcodec_index_memory(self.handle))

    def entry(self, cell: Sequence[int]) -> Range | None:
        """Where the inner chunk at these coordinates lies, in the grid of the array that `sharding_indexed` receives;
        None if it is not stored, because it is the fill value; in a chain without one the shard is damaged."""
        if any(index < 0 for index in cell):
            raise IndexError(f"there is no inner chunk {tuple(cell)}")
        cells, entry, present = ffi.new("uint64_t[]", cell), ffi.new("zcodec_range *"), ffi.new("int32_t *")
        error = new_error()
        check(lib.zcodec_index_entry(self.handle, cells, len(cell), entry, present, error), error)
        return range_of(entry) if present[0] else None

    def __reduce__(self) -> Any:
        raise TypeError("an index belongs to this process; pickle the encoded one")


def index_range(chain: Chain) -> Range:
    """Where the index of a shard lies in its object."""
    found, error = ffi.new("zcodec_range *"), new_error()
    check(lib.zcodec_chain_index_range(chain.handle, found, error), error)
    return range_of(found)
