//! The stages of plans and of writers: ranges that the library asks for, and their bytes.

use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::plan::zcodec_range;
use crate::chain::ByteRange;
use crate::error::Result;
use crate::memory::collect;
use std::ffi::c_void;

/// An object that asks for ranges of bytes, in stages.
pub(super) trait Staged {
    /// The parameter that holds the object.
    const NAME: &'static str;

    /// Ends the stage; the ranges of the next one.
    fn next_stage(&mut self) -> Result<impl Iterator<Item = ByteRange>>;

    /// The ranges of the stage, which stay where they are until the next one.
    fn ranges(&mut self) -> &mut Vec<zcodec_range>;

    /// Takes the bytes of a range.
    fn supply(&self, index: usize, bytes: &[u8]) -> Result<()>;
}

/// Gives the ranges of the next stage.
///
/// # Safety
/// Each pointer is NULL or as the header asks for; nobody else uses the object during the call.
pub(super) unsafe fn next<S: Staged>(
    object: *mut S,
    ranges: *mut *const zcodec_range,
    count: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the same contract.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the same contract.
        let (ranges, count) = unsafe { (ffi::out(ranges, std::ptr::null(), "ranges"), ffi::out(count, 0, "count")) };
        // SAFETY: the same contract.
        let (ranges, count, object) = unsafe { (ranges?, count?, ffi::handle_mut(object, S::NAME)?) };
        let next = collect(object.next_stage()?.map(|range| Ok(range.into())))?;
        *object.ranges() = next;
        let next = object.ranges();
        (*ranges, *count) = (next.as_ptr(), next.len());
        Ok(())
    })
}

/// Supplies the bytes of a range.
///
/// # Safety
/// Each pointer is NULL or as the header asks for; other threads only share the object.
pub(super) unsafe fn supply<S: Staged>(
    object: *const S,
    index: usize,
    bytes: *const c_void,
    size: usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the same contract.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the same contract.
        let (object, bytes) = unsafe { (ffi::handle(object, S::NAME)?, ffi::input(bytes.cast(), size, "bytes")?) };
        object.supply(index, bytes)
    })
}
