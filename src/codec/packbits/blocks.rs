//! Kernels that pack and unpack whole blocks, and leave what is behind the last one to another tier.

#![allow(unsafe_code)]

use super::field::Field;
use crate::codec::Elementwise;
use crate::error::Result;
use std::fmt::Debug;
use std::sync::Arc;

/// Packs or unpacks from the beginning, by what `T` knows of the field; returns how many components it has done: packed,
/// they are whole bytes.
///
/// # Safety
/// The processor has the instructions of the tier.
pub(super) type Blocks<T> = unsafe fn(&T, &[u8], &mut [u8]) -> usize;

/// Exists only where the processor has the instructions of its tier.
#[derive(Debug)]
pub(super) struct Blockwise<T> {
    field: Field,
    tier: T,
    encode_blocks: Blocks<T>,
    decode_blocks: Blocks<T>,
    rest: Arc<dyn Elementwise>,
}

impl<T> Blockwise<T> {
    /// # Safety
    /// The processor has the instructions of the tier.
    pub(super) unsafe fn new(
        field: &Field,
        tier: T,
        [encode_blocks, decode_blocks]: [Blocks<T>; 2],
        rest: Arc<dyn Elementwise>,
    ) -> Self {
        Self { field: *field, tier, encode_blocks, decode_blocks, rest }
    }
}

/// In bytes: of a cache line, or of the part of one that a processor reads at a time.
const LINE: usize = 64;
/// In bytes: below this, an array is done before it has gained anything by its alignment.
const LARGE: usize = 4096;

impl<T> Blockwise<T> {
    /// The bytes, in memory and packed, of the components in front of the first line: from there on no register lies
    /// across two lines. Zeros where that is not to be had.
    fn head(&self, decoded: &[u8]) -> (usize, usize) {
        let size = decoded.as_ptr().addr().wrapping_neg() % LINE;
        let bits = size / self.field.size * self.field.bits as usize;
        let is_whole = size.is_multiple_of(self.field.size) && bits.is_multiple_of(8);
        if decoded.len() < LARGE || !is_whole { (0, 0) } else { (size, bits / 8) }
    }
}

impl<T: Debug + Send + Sync> Elementwise for Blockwise<T> {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        let (head_size, packed_head_size) = self.head(decoded);
        let (head, decoded) = decoded.split_at(head_size);
        let (packed_head, encoded) = encoded.split_at_mut(packed_head_size);
        if head_size > 0 {
            self.rest.encode(head, packed_head)?;
        }
        // SAFETY: the same was asked of the caller of `new`.
        let count = unsafe { (self.encode_blocks)(&self.tier, decoded, encoded) };
        let (decoded_size, packed_size) = self.field.sizes_of_whole_bytes(count);
        self.rest.encode(&decoded[decoded_size..], &mut encoded[packed_size..])
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        let (head_size, packed_head_size) = self.head(decoded);
        let (head, decoded) = decoded.split_at_mut(head_size);
        let (packed_head, encoded) = encoded.split_at(packed_head_size);
        if head_size > 0 {
            self.rest.decode(packed_head, head)?;
        }
        // SAFETY: the same was asked of the caller of `new`.
        let count = unsafe { (self.decode_blocks)(&self.tier, encoded, decoded) };
        let (decoded_size, packed_size) = self.field.sizes_of_whole_bytes(count);
        self.rest.decode(&encoded[packed_size..], &mut decoded[decoded_size..])
    }
}

/// For fields that a tier has no kernel for: the other one does it all.
pub(super) fn no_blocks<T>(_: &T, _: &[u8], _: &mut [u8]) -> usize {
    0
}
