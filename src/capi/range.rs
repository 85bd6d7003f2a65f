//! Ranges of bytes in a stored object.

use crate::chain::ByteRange;

/// An offset or a size that is not known. Since 0.2.
pub const ZCODEC_SIZE_UNKNOWN: u64 = u64::MAX;

/// A range of bytes in a stored object. If `offset` is ZCODEC_SIZE_UNKNOWN, the last `size` bytes; if `size` is,
/// everything from `offset` to the end. Since 0.2.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct zcodec_range {
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub size: u64,
}

impl From<ByteRange> for zcodec_range {
    fn from(range: ByteRange) -> Self {
        match range {
            ByteRange::At { offset, size } => Self { offset, size },
            ByteRange::From(offset) => Self { offset, size: ZCODEC_SIZE_UNKNOWN },
            ByteRange::Last(size) => Self { offset: ZCODEC_SIZE_UNKNOWN, size },
        }
    }
}

/// A size; `None` for [`ZCODEC_SIZE_UNKNOWN`].
pub(super) fn known(size: u64) -> Option<u64> {
    (size != ZCODEC_SIZE_UNKNOWN).then_some(size)
}
