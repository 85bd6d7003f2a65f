//! The kinds of chains, and of codecs.

use crate::error::{Error, Result};
use crate::interface::Kind;

/// The kinds of chains, and of codecs.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum zcodec_kind {
    /// Array->array codecs only: an array enters on encode, and an array leaves.
    ZCODEC_KIND_ARRAY_TO_ARRAY = 1,
    /// One array->bytes codec, with any number of others before and after it: an array enters on encode, bytes leave.
    ZCODEC_KIND_ARRAY_TO_BYTES = 2,
    /// Bytes->bytes codecs only: bytes enter on encode, and bytes leave.
    ZCODEC_KIND_BYTES_TO_BYTES = 3,
}

impl From<Kind> for zcodec_kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::ArrayToArray => Self::ZCODEC_KIND_ARRAY_TO_ARRAY,
            Kind::ArrayToBytes => Self::ZCODEC_KIND_ARRAY_TO_BYTES,
            Kind::BytesToBytes => Self::ZCODEC_KIND_BYTES_TO_BYTES,
        }
    }
}

/// The kind that a host gives its codec.
pub(super) fn read_kind(number: i32) -> Result<Kind> {
    let kinds = [Kind::ArrayToArray, Kind::ArrayToBytes, Kind::BytesToBytes];
    kinds
        .into_iter()
        .find(|&kind| zcodec_kind::from(kind) as i32 == number)
        .ok_or_else(|| Error::argument(format!("kind of the codec is {number}, expected a zcodec_kind, 1 to 3")))
}
