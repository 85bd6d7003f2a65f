//! Kernels that pack and unpack whole blocks, and leave the components after the last block to another tier.

#![allow(unsafe_code)]

use super::field::Field;
use crate::error::Result;
use crate::interface::Elementwise;
use crate::simd::Level;
use std::fmt::Debug;
use std::sync::Arc;

/// Packs or unpacks from the beginning, by tables in `T` for the field. Returns the number of components that it has
/// done, which take whole bytes when packed.
///
/// # Safety
/// The processor has the instructions of the tier, and the tables are those of the field.
pub(super) type BlockLoop<T> = unsafe fn(&T, &[u8], &mut [u8]) -> usize;

/// Exists only where the processor has the instructions of its tier.
#[derive(Debug)]
pub(super) struct Blockwise<T> {
    field: Field,
    tier: T,
    encode_blocks: BlockLoop<T>,
    decode_blocks: BlockLoop<T>,
    rest: Arc<dyn Elementwise>,
}

impl<T> Blockwise<T> {
    /// `None` if the processor does not have this level.
    ///
    /// # Safety
    /// The blocks need no instructions but those of the level.
    pub(super) unsafe fn new(
        level: Level,
        field: &Field,
        tier: T,
        [encode_blocks, decode_blocks]: [BlockLoop<T>; 2],
        rest: Arc<dyn Elementwise>,
    ) -> Option<Self> {
        level.is_available().then_some(Self { field: *field, tier, encode_blocks, decode_blocks, rest })
    }
}

impl<T: Debug + Send + Sync + 'static> Elementwise for Blockwise<T> {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        // SAFETY: the processor has the level, whose instructions are all that the caller of `new` promised to need.
        let count = unsafe { (self.encode_blocks)(&self.tier, decoded, encoded) };
        let (decoded_size, packed_size) = self.field.sizes_of_whole_bytes(count);
        self.rest.encode(&decoded[decoded_size..], &mut encoded[packed_size..])
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        // SAFETY: the processor has the level, whose instructions are all that the caller of `new` promised to need.
        let count = unsafe { (self.decode_blocks)(&self.tier, encoded, decoded) };
        let (decoded_size, packed_size) = self.field.sizes_of_whole_bytes(count);
        self.rest.decode(&encoded[packed_size..], &mut decoded[decoded_size..])
    }
}

/// In each of 8 bytes, the bit that the bool of this byte has when packed.
pub(super) const BIT_OF_BOOL: u64 = 0x8040_2010_0804_0201;

/// For fields that a tier has no kernel for: the other tier does them all.
pub(super) fn no_blocks<T>(_: &T, _: &[u8], _: &mut [u8]) -> usize {
    0
}
