//! Writers: shards made and changed by their inner chunks.

use super::call::{read_options, zcodec_call_options};
use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::index::zcodec_index;
use super::range::{known, zcodec_range};
use super::stage::{self, InUse, Staged};
use super::view::{read_box, read_source, zcodec_box, zcodec_view};
use crate::chain::{ByteRange, Piece, PieceBytes, ShardLayout, Writer};
use crate::error::{Error, Result};
use crate::memory::collect;
use std::ffi::c_void;

/// Makes or changes a shard by its inner chunks. Opaque. The host puts boxes, then supplies the old inner chunks that
/// the writer asks for, then takes the pieces of the new object. Since 0.2.
#[derive(Debug)]
pub struct zcodec_writer {
    state: InUse<WriterState>,
}

#[derive(Debug)]
struct WriterState {
    writer: Writer,
    ranges: Vec<zcodec_range>,
    pieces: Vec<zcodec_piece>,
}

impl Staged for WriterState {
    const NAME: &'static str = "writer";

    fn next_stage(&mut self) -> Result<impl Iterator<Item = ByteRange>> {
        self.writer.next_stage()
    }

    fn end(&self) {
        self.writer.end();
    }

    fn ranges(&mut self) -> &mut Vec<zcodec_range> {
        &mut self.ranges
    }

    fn supply(&self, index: usize, bytes: &[u8]) -> Result<()> {
        self.writer.supply(index, bytes)
    }
}

/// The layout of the pieces of a shard's object. Since 0.2.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum zcodec_layout {
    /// The whole new object, with inner chunks in C order: for object stores.
    ZCODEC_LAYOUT_PACKED = 0,
    /// Only the bytes to write, in the order in which to write them, the index last; old bytes stay where they are: for
    /// files. There are no pieces if nothing changes. For a new shard, the same as ZCODEC_LAYOUT_PACKED.
    ZCODEC_LAYOUT_APPEND = 1,
}

/// A piece of a new object: `size` bytes that go to `offset`. Since 0.2.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct zcodec_piece {
    /// The offset of the bytes in the new object.
    pub offset: u64,
    /// The number of bytes.
    pub size: u64,
    /// If `data` is NULL, the offset of the bytes in the old object.
    pub source_offset: u64,
    /// The bytes. NULL: the bytes of the old object at `source_offset`.
    pub data: *const c_void,
}

impl From<&Piece> for zcodec_piece {
    fn from(piece: &Piece) -> Self {
        let (source_offset, data) = match &piece.bytes {
            PieceBytes::Old(range) => (range.start, std::ptr::null()),
            PieceBytes::New(bytes) => (0, bytes.as_ptr().cast()),
        };
        Self { offset: piece.offset, size: piece.bytes.size(), source_offset, data }
    }
}

/// Creates a writer. If `old_index` is NULL, it makes a new shard. Otherwise it changes a shard whose stored object has
/// this index and `old_size` bytes; inner chunks that are not put keep their bytes. Those of a new shard that are not
/// put are missing, also in a chain without a fill value. For a new shard, pass 0 as `old_size`. `options` may be NULL.
///
/// Some codecs of numcodecs before the shard, such as numcodecs.fixedscaleoffset, pass the fill value on unencoded, so
/// that a missing inner chunk differs from a missing object. A writer of such a chain stores all inner chunks of a new
/// shard, as if ZCODEC_CALL_STORE_EMPTY were set. If these codecs cannot encode the fill value, such as NaN as an
/// integer, zcodec_writer_next and zcodec_writer_finish fail as zcodec_encode would, unless every element was put. At
/// the edge of an array, put any number that can be encoded outside of it.
///
/// Options are copied; call_data and the executor must stay valid until the writer is freed. The chain and the index
/// may be freed earlier. The writer uses the callbacks that the chain has now. On success `*writer` is a handle that
/// the caller frees with zcodec_writer_free; on failure it is NULL. UNSUPPORTED: codecs other than transpose and
/// elementwise ones precede sharding_indexed, or any codec follows it. INVALID_ARGUMENT: `old_size` is
/// ZCODEC_SIZE_UNKNOWN, or not 0 without an index, or the index belongs to another grid, or was decoded for an object
/// of another size: then somebody has changed the object since. CORRUPT_DATA: `old_size` is less than the size of an
/// index. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_new(
    chain: *const zcodec_chain,
    options: *const zcodec_call_options,
    old_index: *const zcodec_index,
    old_size: u64,
    writer: *mut *mut zcodec_writer,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (writer, chain, options) = unsafe {
            (ffi::out(writer, std::ptr::null_mut(), "writer")?, ffi::handle(chain, "chain")?, read_options(options)?)
        };
        let Some(old_size) = known(old_size) else {
            return Err(Error::argument(
                "old_size is ZCODEC_SIZE_UNKNOWN, but a writer needs the size of the old object",
            ));
        };
        // SAFETY: NULL or a live handle, says the header.
        let old = unsafe { old_index.as_ref() }.map(|index| (index.share(), old_size));
        if old.is_none() && old_size > 0 {
            // An index that could not be read must not make the writer forget the shard.
            return Err(Error::argument(format!(
                "old_size is {old_size}, but old_index is NULL: a new shard has no old object"
            )));
        }
        let made = Writer::new(chain.shared(), options, old)?;
        let state = InUse::new(WriterState { writer: made, ranges: Vec::new(), pieces: Vec::new() });
        *writer = ffi::make_handle(zcodec_writer { state });
        Ok(())
    })
}

/// Puts a box of the decoded chunk (NULL: the whole chunk). Any boxes may be put, any number of times and in any order;
/// later elements replace earlier ones. The memory of the view is needed for this call only. Several threads may put at
/// once; where their boxes overlap, either may win. When one of them fails, the others may get INVALID_ARGUMENT, perhaps
/// before that call returns: the other error is the cause.
///
/// Inner chunks that a box covers completely are encoded during the call, on up to max_threads threads or by the
/// executor. Those whose elements are all the fill value are not stored, unless ZCODEC_CALL_STORE_EMPTY is set or
/// zcodec_writer_new says otherwise. Putting a part of an inner chunk that is already encoded decodes it again; it is
/// kept decoded until zcodec_writer_next or zcodec_writer_finish.
///
/// An error is that of the first inner chunk at fault, in C order. Its element index is neither in the box nor in the
/// inner chunk: it counts in the whole array that enters the codec that the error names. For a codec before
/// sharding_indexed that is the chunk after the codecs before it; for sharding_indexed and the codecs inside it, the
/// array of the shard, after all codecs before it. If one of these is transpose, the index is not that of the element
/// in the caller's order. INVALID_ARGUMENT: the box or the view does not fit, zcodec_writer_next has been called, or the
/// writer is finished or has failed; the writer is unchanged. Any other failure except NULL_ARGUMENT ends the writer,
/// which can then only be freed. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_put(
    writer: *mut zcodec_writer,
    r#box: *const zcodec_box,
    view: *const zcodec_view,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let writer = unsafe { ffi::handle(writer.cast_const(), "writer") }?.state.shared()?;
        // SAFETY: as above.
        let part = unsafe { read_box(r#box, writer.writer.chain()) }?;
        // SAFETY: as above.
        let source = unsafe { read_source(view, &part.shape, writer.writer.chain()) }?;
        writer.writer.put(&part.start, source)
    })
}

/// The ranges of the old object that are needed because parts of inner chunks were put, sorted by offset. `*count` is 0
/// when nothing more is needed. `*ranges` is valid until the next call of this function, or until the writer is freed.
/// After the first call nothing can be put.
///
/// The inner chunks that need no old bytes are encoded, which may fail as zcodec_writer_put may. INVALID_ARGUMENT: a
/// range has not been supplied, or the writer is finished or has failed; the writer is unchanged. UNSUPPORTED: only a
/// part of a new inner chunk was put, and the chain has no fill value. CORRUPT_DATA: a needed inner chunk lies outside
/// the old object. Any failure except INVALID_ARGUMENT and NULL_ARGUMENT ends the writer. No other thread may use the
/// writer during this call. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_next(
    writer: *mut zcodec_writer,
    ranges: *mut *const zcodec_range,
    count: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or a live handle, says the header.
    let state = unsafe { ffi::handle(writer.cast_const(), "writer") }.map(|writer| &writer.state);
    // SAFETY: the header asks the same of the caller.
    unsafe { stage::next(state, ranges, count, error) }
}

/// Supplies the bytes of range `i`, which are needed for this call only: decodes that old inner chunk, and encodes the
/// new one. Several threads may supply different ranges at once, as in zcodec_plan_supply.
///
/// INVALID_ARGUMENT: there is no range `i`, it was already supplied, or the writer is finished or has failed; the
/// writer is unchanged. CORRUPT_DATA: `size` is not the size of the range, or the bytes do not decode. It may also fail
/// as zcodec_encode may. Any failure except INVALID_ARGUMENT and NULL_ARGUMENT ends the writer. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_supply(
    writer: *mut zcodec_writer,
    i: usize,
    bytes: *const c_void,
    size: usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or a live handle, says the header.
    let state = unsafe { ffi::handle(writer.cast_const(), "writer") }.map(|writer| &writer.state);
    // SAFETY: the header asks the same of the caller.
    unsafe { stage::supply(state, i, bytes, size, error) }
}

/// Gives the pieces of the new object in a zcodec_layout, and its size. It succeeds only once; then the writer can only
/// be freed, and `*pieces` is valid until it is.
///
/// ZCODEC_LAYOUT_PACKED: the whole object, in order of offset. If no inner chunk is stored, `*object_size` is the size
/// of the index, and the object may be deleted. Where missing inner chunks do not decode to the fill value, because a
/// codec before the shard rounds or casts it, at least one inner chunk is stored. ZCODEC_LAYOUT_APPEND: write the
/// pieces in their order, and all others before the last one. Until the last piece is written the first `old_size`
/// bytes do not change: truncated to `old_size`, the object is the old one, so a crash loses no old data if `old_size`
/// was stored before the first piece. Until the last piece is written or the object is truncated, nobody may read an
/// index at its end, as other bytes are there; only a checksum in the index would show that. An index at the start is
/// the last piece and overwrites the old index: only a torn write of that piece can lose the object.
/// zcodec_index_decode decodes the new index from its piece.
///
/// In either layout `data` of a piece may be NULL: its bytes are then those of the old object at `source_offset`.
///
/// INVALID_ARGUMENT: a range has not been supplied, old bytes are needed and zcodec_writer_next has not been called,
/// the layout is unknown, or the writer is finished or has failed; the writer is unchanged. CORRUPT_DATA: the old index
/// has an inner chunk outside the old object. It may encode, and fail, as zcodec_writer_next may. Any failure except
/// INVALID_ARGUMENT and NULL_ARGUMENT ends the writer. No other thread may use the writer during this call. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_finish(
    writer: *mut zcodec_writer,
    layout: i32,
    pieces: *mut *const zcodec_piece,
    count: *mut usize,
    object_size: *mut u64,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (pieces, count, object_size) = unsafe {
            (
                ffi::out(pieces, std::ptr::null(), "pieces"),
                ffi::out(count, 0, "count"),
                ffi::out(object_size, 0, "object_size"),
            )
        };
        // SAFETY: the header asks the same of the caller.
        let (pieces, count, object_size, writer) =
            unsafe { (pieces?, count?, object_size?, ffi::handle(writer.cast_const(), "writer")?) };
        let writer = &mut *writer.state.exclusive()?;
        let (made, size) = writer.writer.finish(read_layout(layout)?)?;
        writer.pieces = collect(made.iter().map(|piece| Ok(piece.into())))?;
        (*pieces, *count, *object_size) = (writer.pieces.as_ptr(), writer.pieces.len(), size);
        Ok(())
    })
}

fn read_layout(layout: i32) -> Result<ShardLayout> {
    const PACKED: i32 = zcodec_layout::ZCODEC_LAYOUT_PACKED as i32;
    const APPEND: i32 = zcodec_layout::ZCODEC_LAYOUT_APPEND as i32;
    match layout {
        PACKED => Ok(ShardLayout::Packed),
        APPEND => Ok(ShardLayout::Append),
        _ => Err(Error::argument(format!("layout is {layout}, expected a zcodec_layout, 0 or 1"))),
    }
}

/// Frees a writer; no thread may be using it. NULL is fine. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_free(writer: *mut zcodec_writer) {
    // SAFETY: NULL or a live handle that is not used again, says the header.
    unsafe { ffi::free_handle(writer) }
}
