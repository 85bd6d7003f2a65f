//! Four bits of each byte.

use super::{Neon, load};
use crate::codec::packbits::field::FieldKind;
use std::arch::aarch64::*;

#[target_feature(enable = "neon")]
pub(super) fn encode(kernel: &Neon, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let to_bit_0 = vdupq_n_s8(-(kernel.field.first_bit as i8));
    let (blocks, packed) = (decoded.as_chunks::<32>().0, encoded.as_chunks_mut::<16>().0);
    for (block, packed) in blocks.iter().zip(packed) {
        // SAFETY: `block` is 32 readable bytes, and this load needs no alignment.
        let uint8x16x2_t(even, odd) = unsafe { vld2q_u8(block.as_ptr()) };
        let (even, odd) = (vshlq_u8(even, to_bit_0), vshlq_u8(odd, to_bit_0));
        // SAFETY: `packed` is 16 writable bytes, and this store needs no alignment.
        unsafe { vst1q_u8(packed.as_mut_ptr(), vsliq_n_u8::<4>(even, odd)) };
    }
    32 * blocks.len()
}

#[target_feature(enable = "neon")]
pub(super) fn decode(kernel: &Neon, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let field = &kernel.field;
    let first_bit = vdupq_n_s8(field.first_bit as i8);
    let sign = vdupq_n_u8(if field.kind == FieldKind::Signed { 1 << field.last_bit() } else { 0 });
    let (packed, blocks) = (encoded.as_chunks::<16>().0, decoded.as_chunks_mut::<32>().0);
    let count = 32 * blocks.len();
    for (packed, block) in packed.iter().zip(blocks) {
        let pairs = load(packed);
        let (even, odd) = (vandq_u8(pairs, vdupq_n_u8(15)), vshrq_n_u8::<4>(pairs));
        let (even, odd) = (vshlq_u8(even, first_bit), vshlq_u8(odd, first_bit));
        let bytes = uint8x16x2_t(vsubq_u8(veorq_u8(even, sign), sign), vsubq_u8(veorq_u8(odd, sign), sign));
        // SAFETY: `block` is 32 writable bytes, and this store needs no alignment.
        unsafe { vst2q_u8(block.as_mut_ptr(), bytes) };
    }
    count
}
