//! Four bits of each byte.

use super::{Avx2, load};
use crate::codec::packbits::field::FieldKind;
use std::arch::x86_64::*;

#[target_feature(enable = "avx2")]
pub(super) fn encode(kernel: &Avx2, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let first_bit = _mm_cvtsi32_si128(kernel.field.first_bit.cast_signed());
    let pack_pairs = |bytes| {
        let nibbles = _mm256_and_si256(_mm256_srl_epi16(bytes, first_bit), _mm256_set1_epi8(15));
        _mm256_maddubs_epi16(nibbles, _mm256_set1_epi16(0x1001))
    };
    let (blocks, packed) = (decoded.as_chunks::<32>().0.as_chunks::<2>().0, encoded.as_chunks_mut::<32>().0);
    for ([low, high], packed) in blocks.iter().zip(packed) {
        // Packing works in each half of a register; the permutation puts the quarters in order.
        let bytes = _mm256_packus_epi16(pack_pairs(load(low)), pack_pairs(load(high)));
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
        // SAFETY: `packed` is 32 writable bytes, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(packed.as_mut_ptr().cast(), bytes) };
    }
    64 * blocks.len()
}

#[target_feature(enable = "avx2")]
pub(super) fn decode(kernel: &Avx2, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let field = &kernel.field;
    let first_bit = _mm_cvtsi32_si128(field.first_bit.cast_signed());
    let sign = if field.kind == FieldKind::Signed { 1 << field.last_bit() } else { 0_u8 };
    let sign = _mm256_set1_epi8(sign.cast_signed());
    let (packed, blocks) = (encoded.as_chunks::<16>().0, decoded.as_chunks_mut::<32>().0);
    let count = 32 * blocks.len();
    for (packed, block) in packed.iter().zip(blocks) {
        // SAFETY: `packed` is 16 readable bytes, and this load needs no alignment.
        let pairs = _mm256_cvtepu8_epi16(unsafe { _mm_loadu_si128(packed.as_ptr().cast()) });
        let nibbles = _mm256_or_si256(pairs, _mm256_slli_epi16::<4>(pairs));
        let nibbles = _mm256_sll_epi16(_mm256_and_si256(nibbles, _mm256_set1_epi8(15)), first_bit);
        let bytes = _mm256_sub_epi8(_mm256_xor_si256(nibbles, sign), sign);
        // SAFETY: `block` is 32 writable bytes, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(block.as_mut_ptr().cast(), bytes) };
    }
    count
}
