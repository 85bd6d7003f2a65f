//! Boxes of a chunk, in memory of any strides.

use super::call::{read_options, zcodec_call_options};
use super::caller_struct::{self, CallerStruct, members};
use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use crate::chain::Chain;
use crate::error::{Error, Result, Status};
use crate::strided::{Layout, Source, Target};
use std::ffi::c_void;
use std::mem::offset_of;

/// A rectangular part of a decoded chunk. Since 0.2.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zcodec_box {
    /// sizeof(zcodec_box), as the caller was compiled; later versions may append members.
    pub struct_size: usize,
    /// The number of dimensions, which must be the chain's.
    pub ndim: usize,
    /// The first element of the box, as `ndim` indices. NULL: zeros.
    pub start: *const u64,
    /// The size along each dimension, `ndim` numbers. NULL: from `start` to the end of the chunk.
    pub shape: *const u64,
}

// SAFETY: sizes and pointers, in the layout of C.
unsafe impl CallerStruct for zcodec_box {
    const NAME: &'static str = "zcodec_box";
    const OLDEST_SIZE: usize = offset_of!(zcodec_box, shape) + size_of::<*const u64>();
    const MEMBERS: &'static [(usize, usize)] =
        members!(zcodec_box: struct_size: usize, ndim: usize, start: *const u64, shape: *const u64);
}

/// Where the elements of a box lie in the caller's memory. Element (0, .., 0) of the box begins at `memory + offset`;
/// neighbours along dimension i are `strides[i]` bytes apart, which may be negative. A view that reaches outside
/// memory[0..memory_size) is INVALID_ARGUMENT, and nothing is read or written. Bytes between the elements keep their
/// values. No element may overlap the encoded bytes. If the library writes to the view, no two elements may share a
/// byte; this is not checked. Since 0.2.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zcodec_view {
    /// sizeof(zcodec_view), as the caller was compiled; later versions may append members.
    pub struct_size: usize,
    /// The memory. Encoding only reads it.
    pub memory: *mut c_void,
    /// The size of `memory` in bytes.
    pub memory_size: usize,
    /// The offset of element (0, .., 0) in bytes; at most `memory_size`, also if the box has no elements.
    pub offset: usize,
    /// The number of dimensions, which must be the chain's.
    pub ndim: usize,
    /// `ndim` strides in bytes. NULL: C order, back to back.
    pub strides: *const i64,
}

// SAFETY: sizes and pointers, in the layout of C.
unsafe impl CallerStruct for zcodec_view {
    const NAME: &'static str = "zcodec_view";
    const OLDEST_SIZE: usize = offset_of!(zcodec_view, strides) + size_of::<*const i64>();
    const MEMBERS: &'static [(usize, usize)] = members!(
        zcodec_view: struct_size: usize, memory: *mut c_void, memory_size: usize, offset: usize, ndim: usize,
        strides: *const i64
    );
}

/// A box that has been read: where it begins, and its shape.
pub(super) struct OwnedBox {
    pub(super) start: Vec<u64>,
    pub(super) shape: Vec<u64>,
}

/// Reads a box of this chain's chunk, and checks that it lies within the chunk; NULL is all of it.
///
/// # Safety
/// `part` is NULL, or a `zcodec_box` as the header asks for.
pub(super) unsafe fn read_box(part: *const zcodec_box, chain: &Chain) -> Result<OwnedBox> {
    let chunk = chain.shape()?;
    // SAFETY: the same contract.
    let Some(part) = (unsafe { caller_struct::read_optional(part) })? else {
        return Ok(OwnedBox { start: vec![0; chunk.len()], shape: chunk.to_vec() });
    };
    check_ndim("box", part.ndim, chunk)?;
    // SAFETY: NULL, or `ndim` numbers, says the header.
    let [start, shape] = unsafe { [part.start, part.shape].map(|numbers| optional(numbers, part.ndim)) };
    let start = start.map_or_else(|| vec![0; chunk.len()], <[u64]>::to_vec);
    let to_the_end = || -> Result<Vec<u64>> {
        let sizes = chunk.iter().zip(&start).map(|(size, start)| size.checked_sub(*start));
        sizes.collect::<Option<_>>().ok_or_else(|| {
            Error::argument(format!("the box begins at {start:?}, outside the chunk of shape {chunk:?}"))
        })
    };
    let shape = shape.map_or_else(to_the_end, |shape| Ok(shape.to_vec()))?;
    chain.check_box(&start, &shape)?;
    Ok(OwnedBox { start, shape })
}

/// Borrows an optional array of numbers.
///
/// # Safety
/// `numbers` is NULL or points to `count` readable, aligned numbers that nobody changes during the call.
unsafe fn optional<'a, T>(numbers: *const T, count: usize) -> Option<&'a [T]> {
    // SAFETY: see above; `count` is the number of dimensions of a chain.
    (!numbers.is_null()).then(|| unsafe { std::slice::from_raw_parts(numbers, count) })
}

fn check_ndim(what: &str, ndim: usize, chunk: &[u64]) -> Result<()> {
    if ndim == chunk.len() {
        return Ok(());
    }
    Err(Error::argument(format!("ndim of the {what} is {ndim}, the chunk has {} dimensions", chunk.len())))
}

/// Reads a view of elements of this shape, and checks that they all lie in its memory.
///
/// # Safety
/// `view` is NULL, or a `zcodec_view` as the header asks for.
unsafe fn read_view(view: *const zcodec_view, shape: &[u64], chain: &Chain) -> Result<(zcodec_view, Layout)> {
    let element_size = chain.element_size()?;
    // SAFETY: the same contract.
    let mut view = unsafe { caller_struct::read(view) }?;
    check_ndim("view", view.ndim, shape)?;
    // No memory is larger.
    view.memory_size = view.memory_size.min(isize::MAX as usize);
    if view.memory.is_null() && view.memory_size > 0 {
        return Err(Error::new(Status::NullArgument, "the memory of the view is NULL, but memory_size is not 0"));
    }
    // SAFETY: NULL, or `ndim` numbers, says the header.
    let strides = unsafe { optional(view.strides, view.ndim) };
    let layout = Layout::new(element_size, shape, strides, view.offset, view.memory_size)?;
    Ok((view, layout))
}

/// The elements of a view, for reading.
///
/// # Safety
/// `view` is NULL, or a `zcodec_view` as the header asks for, whose memory nobody changes during `'a`.
pub(super) unsafe fn read_source<'a>(view: *const zcodec_view, shape: &[u64], chain: &Chain) -> Result<Source<'a>> {
    // SAFETY: the same contract.
    let (view, layout) = unsafe { read_view(view, shape, chain) }?;
    // SAFETY: `memory_size` bytes can be read, says the header.
    unsafe { Source::from_raw(view.memory.cast_const().cast(), view.memory_size, layout) }
}

/// The elements of a view, for writing.
///
/// # Safety
/// `view` is NULL, or a `zcodec_view` as the header asks for, whose memory nobody else uses during `'a`.
pub(super) unsafe fn read_target<'a>(view: *const zcodec_view, shape: &[u64], chain: &Chain) -> Result<Target<'a>> {
    // SAFETY: the same contract.
    let (view, layout) = unsafe { read_view(view, shape, chain) }?;
    // SAFETY: `memory_size` bytes can be written, and no two elements share one, says the header.
    unsafe { Target::from_raw(view.memory.cast(), view.memory_size, layout) }
}

/// Decodes a box of a chunk (NULL: the whole chunk) into a view of the caller's memory. The elements are bit for bit
/// those of zcodec_decode, but only what the box needs is decoded, where the codecs allow it. `options` may be NULL.
///
/// A box with a size of 0 is valid; nothing is written. INVALID_ARGUMENT: `ndim` is wrong, the box does not lie within
/// the chunk, the view is too small for it, or the view and the encoded bytes overlap. UNSUPPORTED: a chain of
/// bytes->bytes codecs. Otherwise like zcodec_decode. The element index of an error counts in the whole array that the
/// named codec received. The library need not read what lies outside the box, so a chunk that is damaged elsewhere may
/// decode. After a failure the elements of the view are unspecified. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_decode_view(
    chain: *const zcodec_chain,
    options: *const zcodec_call_options,
    encoded: *const c_void,
    encoded_size: usize,
    r#box: *const zcodec_box,
    decoded: *const zcodec_view,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (chain, options) = unsafe { (ffi::handle(chain, "chain")?, read_options(options)?) };
        // SAFETY: as above.
        let (encoded, part) =
            unsafe { (ffi::input(encoded.cast(), encoded_size, "encoded")?, read_box(r#box, chain)?) };
        // SAFETY: as above.
        let target = unsafe { read_target(decoded, &part.shape, chain) }?;
        if target.overlaps(encoded.as_ptr(), encoded.len()) {
            return Err(ffi::overlap());
        }
        chain.decode_view(encoded, &part.start, target, &options)
    })
}

/// Encodes a chunk of which the caller has a box (NULL: the whole chunk); the rest is the fill value, as in the border
/// chunks of a regular grid. Sizes and BUFFER_TOO_SMALL are as for zcodec_encode. `options` may be NULL.
///
/// INVALID_ARGUMENT and UNSUPPORTED as for zcodec_decode_view; UNSUPPORTED also if the box is not the whole chunk and
/// the chain has no fill value. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_encode_view(
    chain: *const zcodec_chain,
    options: *const zcodec_call_options,
    r#box: *const zcodec_box,
    decoded: *const zcodec_view,
    encoded: *mut c_void,
    encoded_capacity: usize,
    encoded_size: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (encoded_size, chain, options) = unsafe {
            (ffi::out(encoded_size, 0, "encoded_size")?, ffi::handle(chain, "chain")?, read_options(options)?)
        };
        // SAFETY: as above.
        let part = unsafe { read_box(r#box, chain) }?;
        // SAFETY: as above; the view is only read.
        let source = unsafe { read_source(decoded, &part.shape, chain) }?;
        if source.overlaps(encoded.cast_const().cast(), encoded_capacity) {
            return Err(ffi::overlap());
        }
        // SAFETY: as above, and no element lies in it.
        let encoded = unsafe { ffi::output(encoded.cast(), encoded_capacity, "encoded") }?;
        let result = chain.encode_view(&part.start, source, encoded, &options);
        *encoded_size = ffi::reported_size(&result);
        result.map(drop)
    })
}

/// Fills a view with the chain's fill value, for a chunk that does not exist. `shape` is the shape of the view, with as
/// many sizes as the chain has dimensions. INVALID_ARGUMENT: `ndim` of the view is wrong, or the view is too small for
/// the shape. UNSUPPORTED: the chain has no fill value, or has only bytes->bytes codecs. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_fill_view(
    chain: *const zcodec_chain,
    shape: *const u64,
    decoded: *const zcodec_view,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let chain = unsafe { ffi::handle(chain, "chain") }?;
        // SAFETY: as above; the header asks for as many sizes as the chain has dimensions.
        let shape = unsafe { ffi::input(shape, chain.shape()?.len(), "shape") }?;
        // SAFETY: as above.
        chain.fill_view(unsafe { read_target(decoded, shape, chain) }?)
    })
}

/// Sets `*is_fill` to 1 if every element of a view of this shape equals the fill value in all bits that the data type
/// has, otherwise to 0. Such a chunk need not be stored. INVALID_ARGUMENT and UNSUPPORTED as for zcodec_fill_view.
/// Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_is_fill_view(
    chain: *const zcodec_chain,
    shape: *const u64,
    decoded: *const zcodec_view,
    is_fill: *mut i32,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (is_fill, chain) = unsafe { (ffi::out(is_fill, 0, "is_fill")?, ffi::handle(chain, "chain")?) };
        // SAFETY: as above; the header asks for as many sizes as the chain has dimensions.
        let shape = unsafe { ffi::input(shape, chain.shape()?.len(), "shape") }?;
        // SAFETY: as above; the view is only read.
        *is_fill = chain.is_fill_view(&unsafe { read_source(decoded, shape, chain) }?)?.into();
        Ok(())
    })
}

/// The smallest box that is worth decoding alone: the innermost inner chunk of a shard, seen through the codecs before
/// it; the block of zfp at a fixed rate; 1 along each dimension if each element decodes by itself; the chunk if the
/// whole of it must be decoded, and for blosc, although a box of it decodes only the blocks that it touches. `ndim`
/// numbers, none of them 0, are written to `shape`, on success only.
///
/// INVALID_ARGUMENT: `ndim` is not the chain's. UNSUPPORTED for chains of bytes->bytes codecs. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_granularity(
    chain: *const zcodec_chain,
    shape: *mut u64,
    ndim: usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let chain = unsafe { ffi::handle(chain, "chain") }?;
        check_ndim("call", ndim, chain.shape()?)?;
        // SAFETY: as above.
        let shape = unsafe { ffi::output(shape, ndim, "shape") }?;
        shape.copy_from_slice(&chain.granularity()?);
        Ok(())
    })
}

/// The shape of a decoded chunk: `*ndim` numbers are written to `shape`, which has room for `capacity` numbers.
/// BUFFER_TOO_SMALL: `capacity` is less than `*ndim`, which is set all the same. UNSUPPORTED for chains of bytes->bytes
/// codecs; `*ndim` is then 0. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_shape(
    chain: *const zcodec_chain,
    shape: *mut u64,
    capacity: usize,
    ndim: *mut usize,
) -> zcodec_status {
    ffi::guard(None, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (ndim, chain) = unsafe { (ffi::out(ndim, 0, "ndim")?, ffi::handle(chain, "chain")?) };
        let chunk = chain.shape()?;
        if capacity < chunk.len() {
            *ndim = chunk.len();
            return Err(Error::buffer_too_small("capacity", capacity, chunk.len() as u64));
        }
        // SAFETY: as above.
        unsafe { ffi::output(shape, chunk.len(), "shape") }?.copy_from_slice(chunk);
        *ndim = chunk.len();
        Ok(())
    })
}

/// The size of one decoded element in memory, in bytes. UNSUPPORTED for chains of bytes->bytes codecs; `*size` is then
/// 0. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_element_size(chain: *const zcodec_chain, size: *mut usize) -> zcodec_status {
    ffi::guard(None, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (size, chain) = unsafe { (ffi::out(size, 0, "size")?, ffi::handle(chain, "chain")?) };
        *size = chain.element_size()?;
        Ok(())
    })
}
