//! Indices of shards, and the parts of a shard for hosts that read and write shards themselves.

use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::range::{known, zcodec_range};
use crate::chain::ShardIndex;
use std::ffi::c_void;
use std::sync::Arc;

/// The decoded index of a shard. Opaque. It never changes, and any thread may use it. Since 0.2.
#[derive(Debug)]
pub struct zcodec_index(Arc<ShardIndex>);

impl zcodec_index {
    /// A handle that the caller of the library frees.
    pub(super) fn into_handle(index: Arc<ShardIndex>) -> *mut Self {
        ffi::make_handle(Self(index))
    }

    pub(super) fn share(&self) -> Arc<ShardIndex> {
        Arc::clone(&self.0)
    }
}

/// The size of an index in memory, in bytes, for a cache. 0 for NULL. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_index_memory(index: *const zcodec_index) -> usize {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(index, "index") }.map_or(0, |index| index.0.memory())
}

/// Adds a reference to an index, which the caller frees with zcodec_index_free. NULL for NULL. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_index_ref(index: *const zcodec_index) -> *mut zcodec_index {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(index, "index") }
        .map_or(std::ptr::null_mut(), |index| zcodec_index::into_handle(index.share()))
}

/// Frees a reference to an index; other references stay valid. NULL is fine. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_index_free(index: *mut zcodec_index) {
    // SAFETY: NULL or a live handle that is not used again, says the header.
    unsafe { ffi::free_handle(index) }
}

/// Gives the chain of a shard's inner chunks. For shards in shards, these are the inner shards. Codecs before
/// sharding_indexed are not part of it: the elements of an inner chunk, their type and the order of its dimensions are
/// those of the array that sharding_indexed receives. A plan sees through those codecs. `*inner` is a handle of its
/// own, which the caller frees with zcodec_chain_free; it is NULL on failure. UNSUPPORTED: the chain's array->bytes
/// codec is not sharding_indexed, or bytes->bytes codecs follow it. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_inner(
    chain: *const zcodec_chain,
    inner: *mut *mut zcodec_chain,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (inner, chain) = unsafe { (ffi::out(inner, std::ptr::null_mut(), "inner")?, ffi::handle(chain, "chain")?) };
        *inner = zcodec_chain::into_handle(chain.inner()?);
        Ok(())
    })
}

/// The byte range of the index in a shard. UNSUPPORTED as for zcodec_chain_inner. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_index_range(
    chain: *const zcodec_chain,
    range: *mut zcodec_range,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        let nothing = zcodec_range { offset: 0, size: 0 };
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (range, chain) = unsafe { (ffi::out(range, nothing, "range")?, ffi::handle(chain, "chain")?) };
        *range = chain.index_range()?.into();
        Ok(())
    })
}

/// Decodes the index of a shard from the bytes of zcodec_chain_index_range. `object_size` is the size of the shard, or
/// ZCODEC_SIZE_UNKNOWN. The caller frees `*index` with zcodec_index_free; it is NULL on failure. UNSUPPORTED as for
/// zcodec_chain_inner. CORRUPT_DATA: the bytes are not an index of this chain. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_index_decode(
    chain: *const zcodec_chain,
    bytes: *const c_void,
    size: usize,
    object_size: u64,
    index: *mut *mut zcodec_index,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (index, chain, bytes) = unsafe {
            (
                ffi::out(index, std::ptr::null_mut(), "index")?,
                ffi::handle(chain, "chain")?,
                ffi::input(bytes.cast(), size, "bytes")?,
            )
        };
        *index = zcodec_index::into_handle(Arc::new(chain.decode_index(bytes, known(object_size))?));
        Ok(())
    })
}

/// The byte range, in its shard, of the inner chunk at the grid coordinates `cell`, `ndim` numbers. The grid is that of
/// the array that sharding_indexed receives, after the codecs before it. `*present` is 0 if the shard does not store the
/// inner chunk: all its elements are the fill value; in a chain without one, the shard is damaged.
/// INVALID_ARGUMENT: there is no such inner chunk. CORRUPT_DATA: the range lies outside the shard. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_index_entry(
    index: *const zcodec_index,
    cell: *const u64,
    ndim: usize,
    range: *mut zcodec_range,
    present: *mut i32,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        let nothing = zcodec_range { offset: 0, size: 0 };
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (range, present) = unsafe { (ffi::out(range, nothing, "range"), ffi::out(present, 0, "present")) };
        // SAFETY: the header asks the same of the caller.
        let (range, present, index, cell) =
            unsafe { (range?, present?, ffi::handle(index, "index")?, ffi::input(cell, ndim, "cell")?) };
        if let Some(entry) = index.0.entry_at(cell)? {
            *range = zcodec_range { offset: entry.start, size: entry.end - entry.start };
            *present = 1;
        }
        Ok(())
    })
}
