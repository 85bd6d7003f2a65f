//! What codecs share that keep a checksum of four bytes, little-endian.

use crate::error::{Error, Result};

/// Refuses a checksum that is not that of its chunk.
pub(super) fn check(stored: &[u8], computed: u32) -> Result<()> {
    if stored == computed.to_le_bytes() { Ok(()) } else { Err(unequal(stored, computed)) }
}

/// The error of a checksum that is not that of its chunk.
#[cold]
pub(super) fn unequal(stored: &[u8], computed: u32) -> Error {
    let stored = stored.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    Error::corrupt(format!("the checksum stored is {stored:#010x}, that of the bytes is {computed:#010x}"))
        .with_code("checksum")
}
