//! AVX2: 32 bytes of memory at a time, any width but a few that no register holds.
//!
//! Each kernel handles whole blocks as long as it may read or write a whole register; the rest goes to the portable
//! tier. `pext` and `pdep` would move 8 bytes at a time, and slowly on older processors.

#![allow(unsafe_code)]

mod fold;
mod gather;
mod small;
mod whole_bytes;

use super::field::{Field, Kind};
use super::portable;
use crate::codec::Elementwise;
use crate::error::Result;
use fold::Fold;
use gather::Gather;
use std::arch::x86_64::*;
use std::sync::Arc;
use whole_bytes::WholeBytes;

/// Packs or unpacks from the beginning; returns how many components it has done: packed, they are whole bytes.
///
/// # Safety
/// The processor has AVX2.
type Blocks = unsafe fn(&Avx2, &[u8], &mut [u8]) -> usize;

/// Exists only where the processor has AVX2.
#[derive(Debug)]
struct Avx2 {
    field: Field,
    fold: Fold,
    gather: Gather,
    whole_bytes: WholeBytes,
    encode_blocks: Blocks,
    decode_blocks: Blocks,
    portable: Arc<dyn Elementwise>,
}

pub(super) fn kernel(field: &Field) -> Option<Arc<dyn Elementwise>> {
    if field.kind == Kind::Raw || field.bits == field.size_bits() || !is_x86_feature_detected!("avx2") {
        return None;
    }
    let (fold, gather, whole_bytes) = (Fold::new(field), Gather::new(field), WholeBytes::new(field));
    let (encode_blocks, decode_blocks): (Blocks, Blocks) = match (field.kind, field.size, field.bits) {
        (Kind::Bool, ..) => (small::encode_bools, small::decode_bools),
        (_, 1, 4) => (small::encode_nibbles, small::decode_nibbles),
        _ => {
            let encode = WholeBytes::encode_blocks(field).or_else(|| fold.blocks(field));
            let decode = WholeBytes::decode_blocks(field).or_else(|| gather.blocks(field));
            (encode.unwrap_or(no_blocks), decode.unwrap_or(no_blocks))
        }
    };
    Some(Arc::new(Avx2 {
        field: *field,
        fold,
        gather,
        whole_bytes,
        encode_blocks,
        decode_blocks,
        portable: portable::kernel(field)?,
    }))
}

/// For widths that no register holds: the portable tier does it all.
fn no_blocks(_: &Avx2, _: &[u8], _: &mut [u8]) -> usize {
    0
}

impl Elementwise for Avx2 {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        // SAFETY: `kernel` makes this only where the processor has AVX2.
        let count = unsafe { (self.encode_blocks)(self, decoded, encoded) };
        let (decoded_size, packed_size) = self.field.sizes_of_whole_bytes(count);
        self.portable.encode(&decoded[decoded_size..], &mut encoded[packed_size..])
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        // SAFETY: `kernel` makes this only where the processor has AVX2.
        let count = unsafe { (self.decode_blocks)(self, encoded, decoded) };
        let (decoded_size, packed_size) = self.field.sizes_of_whole_bytes(count);
        self.portable.decode(&encoded[packed_size..], &mut decoded[decoded_size..])
    }
}

/// A register of two halves.
///
/// # Safety
/// From each pointer on, 16 bytes are readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_halves(low: *const u8, high: *const u8) -> __m256i {
    // SAFETY: the same is asked of the caller; these loads need no alignment.
    unsafe {
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(_mm_loadu_si128(low.cast())), _mm_loadu_si128(high.cast()))
    }
}

/// A register with these bytes in each half.
#[inline]
#[target_feature(enable = "avx2")]
fn both_halves(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: 16 readable bytes.
    unsafe { load_halves(bytes.as_ptr(), bytes.as_ptr()) }
}
