"""Writers: they make a shard, or change one, by its inner chunks."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zcodec._ffi import CALL_STORE_EMPTY, NULL, ffi, lib, new_error, new_size, size_of
from zcodec.callbacks import call_options
from zcodec.coding import Source
from zcodec.errors import check, check_call
from zcodec.index import Index
from zcodec.stages import Stages
from zcodec.views import Array, Box, Buffer

if TYPE_CHECKING:
    from zcodec.chain import Chain


class Layout(IntEnum):
    """What a writer makes."""

    PACKED = 0
    """The whole new object, inner chunks in C order: for object stores."""
    APPEND = 1
    """Only what must be written, in the order to write it, the index last; old bytes stay where they are: for files."""


class Piece(NamedTuple):
    """`size` bytes at `offset` of the new object: `data`; if it is None, the bytes at `source_offset` of the old
    object.

    `data` lives as long as the writer, which it keeps alive.
    """

    offset: int
    size: int
    source_offset: int
    data: memoryview | None


class Writer(Stages):
    """Makes a shard, or changes one: put any boxes, supply the old inner chunks that were put in part, and finish.

        writer = chain.writer(index, old_size)
        writer.put(array, (slice(0, 100), ...))
        async for ranges in writer:
            for i, (offset, size) in enumerate(ranges):
                writer.supply(i, await get(offset, size))
        pieces, object_size = writer.finish()

    `index` None makes a new shard; otherwise it is the index of the old object, which has `old_size` bytes. The last
    put wins. Inner chunks with only the fill value are left out, unless `store_empty` is set. Several threads may put
    at once, and supply at once; where their boxes share elements, either wins.

    Raises `Error`: UNSUPPORTED for a chain that makes no shards, CORRUPT_DATA for damaged old chunks, INVALID_ARGUMENT
    for calls out of order (no `put` after the first `ranges`, `finish` once and last), for an `old_size` without an
    `index`, and for an index that was decoded for an object of another size: then somebody has changed the shard since.
    """

    def __init__(
        self,
        chain: Chain,
        index: Index | None = None,
        old_size: int = 0,
        *,
        max_threads: int | None = 1,
        store_empty: bool = False,
    ) -> None:
        self._chain = chain
        self._paddings = tuple(chain._paddings.values())  # those of the library's writer, even if others are set later
        super().__init__(chain.context(), lib.zcodec_writer_next, lib.zcodec_writer_supply)
        writer, error = ffi.new("zcodec_writer **"), new_error()
        options = call_options(self._context, max_threads, CALL_STORE_EMPTY if store_empty else 0)
        old_index = NULL if index is None else index.handle
        size = size_of(old_size, "old_size")
        check(lib.zcodec_writer_new(chain.handle, options, old_index, size, writer, error), error)
        self._handle = ffi.gc(writer[0], lib.zcodec_writer_free)

    def put(self, array: Any, box: Box | None = None) -> None:
        """Puts a part of the shard; `array` may have any strides. Whole inner chunks are encoded at once."""
        source, error = Source(self._chain, array, box), new_error()
        assert source.view is not None
        status = lib.zcodec_writer_put(self._handle, source.part_pointer, source.view.pointer, error)
        check_call(status, error, self._context)

    def finish(self, layout: Layout = Layout.PACKED) -> tuple[list[Piece], int]:
        """What to write, in order, and the size of the new object in bytes. May be called once.

        If every inner chunk is left out the new object is only an index, and may be deleted instead.
        """
        pieces, count, object_size = ffi.new("zcodec_piece **"), new_size(), ffi.new("uint64_t *")
        error = new_error()
        status = lib.zcodec_writer_finish(self._handle, int(layout), pieces, count, object_size, error)
        check_call(status, error, self._context)
        raw = pieces[0]
        return [self._piece(raw[i]) for i in range(count[0])], int(object_size[0])

    def _piece(self, raw: Any) -> Piece:
        if raw.data == NULL:
            return Piece(raw.offset, raw.size, raw.source_offset, None)
        writer = self._handle
        owned = ffi.gc(ffi.cast("uint8_t *", raw.data), lambda _: writer)  # the memory keeps the writer
        return Piece(raw.offset, raw.size, 0, memoryview(ffi.buffer(owned, raw.size)).toreadonly())

    def __reduce__(self) -> Any:
        raise TypeError("a writer belongs to this process")


def whole_object(pieces: list[Piece], object_size: int, old: Buffer | None = None) -> Array:
    """The new object of a PACKED finish, in memory. (numpy uses huge pages for large objects; bytearray does not.)"""
    made = np.empty(object_size, np.uint8)
    target = made.data
    source = memoryview(b"" if old is None else old).cast("B")
    end = 0
    for piece in pieces:
        data = source[piece.source_offset : piece.source_offset + piece.size] if piece.data is None else piece.data
        target[piece.offset : piece.offset + piece.size] = data
        assert piece.offset == end
        end += piece.size
    assert end == object_size
    return made
