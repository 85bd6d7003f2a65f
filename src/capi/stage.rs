//! Plans and writers: who may use them at the same time, and their stages, in which the library asks for ranges and
//! gets their bytes.

use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::range::zcodec_range;
use crate::chain::ByteRange;
use crate::error::{Error, Result};
use crate::memory::collect;
use std::ffi::c_void;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult};

/// The inside of a handle that several calls may share, or one may have for itself. None waits for another, which may
/// be the call whose callback makes it.
#[derive(Debug)]
pub(super) struct InUse<S>(RwLock<S>);

impl<S: Staged> InUse<S> {
    pub(super) fn new(object: S) -> Self {
        Self(RwLock::new(object))
    }

    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): a call has it for itself.
    pub(super) fn shared(&self) -> Result<RwLockReadGuard<'_, S>> {
        Self::granted(self.0.try_read())
    }

    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): another call uses it.
    pub(super) fn exclusive(&self) -> Result<RwLockWriteGuard<'_, S>> {
        Self::granted(self.0.try_write())
    }

    fn granted<Guard>(result: TryLockResult<Guard>) -> Result<Guard> {
        match result {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Error::argument(format!(
                "another call is using the {}: the one that runs this callback, or one on another thread",
                S::NAME
            ))),
        }
    }
}

/// An object that asks for ranges of bytes, in stages.
pub(super) trait Staged {
    /// The parameter that holds the object.
    const NAME: &'static str;

    /// Ends the stage; the ranges of the next one.
    fn next_stage(&mut self) -> Result<impl Iterator<Item = ByteRange>>;

    /// Ends it: no further call succeeds.
    fn end(&self);

    /// The ranges of the stage, which stay where they are until the next one.
    fn ranges(&mut self) -> &mut Vec<zcodec_range>;

    /// Takes the bytes of a range.
    fn supply(&self, index: usize, bytes: &[u8]) -> Result<()>;
}

/// Gives the ranges of the next stage.
///
/// # Safety
/// Each pointer is NULL or as the header asks for.
pub(super) unsafe fn next<S: Staged>(
    object: Result<&InUse<S>>,
    ranges: *mut *const zcodec_range,
    count: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the same contract.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the same contract.
        let (ranges, count) = unsafe { (ffi::out(ranges, std::ptr::null(), "ranges"), ffi::out(count, 0, "count")) };
        let (ranges, count, mut object) = (ranges?, count?, object?.exclusive()?);
        let next = collect(object.next_stage()?.map(|range| Ok(range.into())));
        *object.ranges() = next.inspect_err(|_| object.end())?;
        let next = object.ranges();
        (*ranges, *count) = (next.as_ptr(), next.len());
        Ok(())
    })
}

/// Supplies the bytes of a range.
///
/// # Safety
/// Each pointer is NULL or as the header asks for.
pub(super) unsafe fn supply<S: Staged>(
    object: Result<&InUse<S>>,
    index: usize,
    bytes: *const c_void,
    size: usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the same contract.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the same contract.
        let bytes = unsafe { ffi::input(bytes.cast(), size, "bytes") };
        object?.shared()?.supply(index, bytes?)
    })
}
