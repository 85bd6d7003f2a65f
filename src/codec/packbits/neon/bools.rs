//! Bools: one bit for each byte.

use super::{Neon, load};
use crate::codec::packbits::blocks::BIT_OF_BOOL;
use std::arch::aarch64::*;

#[target_feature(enable = "neon")]
pub(super) fn encode(_: &Neon, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let (blocks, words) = (decoded.as_chunks::<16>().0.as_chunks::<4>().0, encoded.as_chunks_mut::<8>().0);
    for ([a, b, c, d], word) in blocks.iter().zip(words) {
        // Neighbours are added until a byte has the bits of 8 bools.
        let (low, high) = (vpaddq_u8(bits_of(a), bits_of(b)), vpaddq_u8(bits_of(c), bits_of(d)));
        let quads = vpaddq_u8(low, high);
        // SAFETY: `word` is 8 writable bytes, and this store needs no alignment.
        unsafe { vst1_u8(word.as_mut_ptr(), vget_low_u8(vpaddq_u8(quads, quads))) };
    }
    64 * blocks.len()
}

/// Each true is a bit of its own among 8.
#[inline]
#[target_feature(enable = "neon")]
fn bits_of(bools: &[u8; 16]) -> uint8x16_t {
    let bools = load(bools);
    vandq_u8(vtstq_u8(bools, bools), vreinterpretq_u8_u64(vdupq_n_u64(BIT_OF_BOOL)))
}

#[target_feature(enable = "neon")]
pub(super) fn decode(_: &Neon, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let (pairs, blocks) = (encoded.as_chunks::<2>().0, decoded.as_chunks_mut::<16>().0);
    let count = 16 * blocks.len();
    for ([low, high], block) in pairs.iter().zip(blocks) {
        let bytes = vcombine_u8(vdup_n_u8(*low), vdup_n_u8(*high));
        let trues = vtstq_u8(bytes, vreinterpretq_u8_u64(vdupq_n_u64(BIT_OF_BOOL)));
        // SAFETY: `block` is 16 writable bytes, and this store needs no alignment.
        unsafe { vst1q_u8(block.as_mut_ptr(), vandq_u8(trues, vdupq_n_u8(1))) };
    }
    count
}
