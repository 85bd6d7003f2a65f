//! Writers: a shard is made and changed by its inner chunks.

use super::call::{read_options, zcodec_call_options};
use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::index::zcodec_index;
use super::plan::{known, zcodec_range};
use super::view::{read_box, read_source, zcodec_box, zcodec_view};
use crate::chain::{Piece, PieceBytes, ShardLayout, Writer};
use crate::error::{Error, Result};
use std::ffi::c_void;

/// A shard that is made, or changed, by its inner chunks. Opaque. Boxes are put; then the old inner chunks that are needed
/// are asked for and supplied; then it gives the pieces of the new object.
#[derive(Debug)]
pub struct zcodec_writer {
    writer: Writer,
    ranges: Vec<zcodec_range>,
    pieces: Vec<zcodec_piece>,
}

/// How the object of a shard is made.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum zcodec_layout {
    /// The whole new object, inner chunks in C order: for object stores.
    ZCODEC_LAYOUT_PACKED = 0,
    /// Only what must be written, in the order to write it, the index last; old bytes stay where they are. Nothing to
    /// write: no pieces. For files. A new shard: as ZCODEC_LAYOUT_PACKED.
    ZCODEC_LAYOUT_APPEND = 1,
}

/// Bytes of a new object: `size` bytes that go to `offset`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct zcodec_piece {
    /// Where the bytes go.
    pub offset: u64,
    /// Their number.
    pub size: u64,
    /// If `data` is NULL: where the bytes lie in the old object.
    pub source_offset: u64,
    /// The bytes. NULL: those of the old object.
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

/// Makes a writer. `old_index` NULL: of a new shard. Else of a shard whose stored object has this index and `old_size`
/// bytes; what is not put keeps its bytes. `options` may be NULL.
///
/// Options are copied; call_data and the executor must live until the writer is freed. Chain and index may be freed before
/// it. Callbacks are those set when the writer is made. On success `*writer` is a handle that the caller frees with
/// zcodec_writer_free; on failure it is NULL. UNSUPPORTED: before sharding_indexed stand codecs other than transpose and
/// elementwise ones, or any codec after it. INVALID_ARGUMENT: `old_size` is ZCODEC_SIZE_UNKNOWN, or the index is that of
/// another grid. CORRUPT_DATA: `old_size` is less than an index takes. Since 0.2.
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
            return Err(Error::argument("old_size is ZCODEC_SIZE_UNKNOWN: a writer needs the size of the old object"));
        };
        // SAFETY: NULL or a live handle, says the header.
        let old = unsafe { old_index.as_ref() }.map(|index| (index.share(), old_size));
        let made = Writer::new(chain.shared(), options, old)?;
        *writer = Box::into_raw(Box::new(zcodec_writer { writer: made, ranges: Vec::new(), pieces: Vec::new() }));
        Ok(())
    })
}

/// Puts a box (NULL: all) of the shard's array. Any box, any number of times, in any order; what was put last wins. The
/// memory of the view is needed for the call only. Several threads may put at once; where their boxes share elements,
/// either wins.
///
/// Inner chunks that a box covers whole are encoded at once, on max_threads threads or by the executor; those that are only
/// the fill value are left out, unless ZCODEC_CALL_STORE_EMPTY is set. A part put onto an inner chunk that is already
/// encoded decodes it again. INVALID_ARGUMENT, and the writer is as it was: a box or a view that does not fit, or
/// zcodec_writer_next has been called. Any other failure, except NULL_ARGUMENT, ends the writer: it can only be freed.
/// Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_put(
    writer: *mut zcodec_writer,
    part: *const zcodec_box,
    view: *const zcodec_view,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us; other threads only share the writer.
        let writer = unsafe { ffi::handle(writer.cast_const(), "writer") }?;
        // SAFETY: as above.
        let part = unsafe { read_box(part, writer.writer.chain()) }?;
        // SAFETY: as above.
        let source = unsafe { read_source(view, &part.shape, writer.writer.chain()) }?;
        writer.writer.put(&part.start, source)
    })
}

/// The ranges of the old object that are needed because inner chunks were put in part, sorted by offset. `*count` 0:
/// nothing is needed any more. `*ranges` is valid until the next call of this function. After the first call nothing can
/// be put.
///
/// INVALID_ARGUMENT, and the writer is as it was: a range is missing. UNSUPPORTED: a new inner chunk was put in part, and
/// the chain has no fill value. CORRUPT_DATA: a needed inner chunk lies outside the old object. Not while another thread
/// uses the writer. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_next(
    writer: *mut zcodec_writer,
    ranges: *mut *const zcodec_range,
    count: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (ranges, count, writer) = unsafe {
            (
                ffi::out(ranges, std::ptr::null(), "ranges")?,
                ffi::out(count, 0, "count")?,
                ffi::handle_mut(writer, "writer")?,
            )
        };
        let next: Vec<zcodec_range> = writer.writer.next_stage()?.map(zcodec_range::from).collect();
        writer.ranges = next;
        (*ranges, *count) = (writer.ranges.as_ptr(), writer.ranges.len());
        Ok(())
    })
}

/// The bytes of range `i`; needed for the call only. Several threads may supply different ranges at once. The statuses are
/// those of zcodec_plan_supply. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_supply(
    writer: *mut zcodec_writer,
    i: usize,
    bytes: *const c_void,
    size: usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us; other threads only share the writer.
        let (writer, bytes) =
            unsafe { (ffi::handle(writer.cast_const(), "writer")?, ffi::input(bytes.cast(), size, "bytes")?) };
        writer.writer.supply(i, bytes)
    })
}

/// The pieces of the new object by a zcodec_layout, and its size. Once only; then the writer can only be freed, and
/// `*pieces` is valid until it is.
///
/// ZCODEC_LAYOUT_PACKED: all of the object, in order of offset. If every inner chunk is left out, `*object_size` is the
/// size of the index, and the object may be deleted. ZCODEC_LAYOUT_APPEND: write the pieces in their order, each complete
/// before the last. Up to the last one the first `old_size` bytes stay as they are: an object cut back to `old_size` is the
/// old one, and a crash costs nothing that was there. An index at the start is the last piece and overwrites the old one:
/// only a torn write of it can lose the object. zcodec_index_decode decodes the new index from its piece.
///
/// INVALID_ARGUMENT, and the writer is as it was: a range is missing, or the layout is unknown. CORRUPT_DATA: the old index
/// has an inner chunk outside the old object. Not while another thread uses the writer. Since 0.2.
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
        let (pieces, count, object_size, writer) = unsafe {
            (
                ffi::out(pieces, std::ptr::null(), "pieces")?,
                ffi::out(count, 0, "count")?,
                ffi::out(object_size, 0, "object_size")?,
                ffi::handle_mut(writer, "writer")?,
            )
        };
        let (made, size) = writer.writer.finish(read_layout(layout)?)?;
        writer.pieces = made.iter().map(zcodec_piece::from).collect();
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
        _ => Err(Error::argument(format!("layout is {layout}, which is no zcodec_layout"))),
    }
}

/// Frees a writer; no thread may be using it. NULL is fine. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_writer_free(writer: *mut zcodec_writer) {
    if !writer.is_null() {
        // SAFETY: it came from `zcodec_writer_new`, and the caller frees it once.
        let writer = unsafe { Box::from_raw(writer) };
        ffi::guard(None, || {
            drop(writer);
            Ok(())
        });
    }
}
