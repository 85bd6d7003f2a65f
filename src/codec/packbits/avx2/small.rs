//! Bools, and four bits of a byte.

use super::Avx2;
use crate::codec::packbits::field::Kind;
use std::arch::x86_64::*;

#[target_feature(enable = "avx2")]
pub(super) fn encode_bools(_: &Avx2, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let zeros_of = |bools: &[u8]| {
        // SAFETY: the two halves of a block are 32 readable bytes each, and this load needs no alignment.
        let bools = unsafe { _mm256_loadu_si256(bools.as_ptr().cast()) };
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(bools, _mm256_setzero_si256())).cast_unsigned()
    };
    let (blocks, words) = (decoded.as_chunks::<64>().0, encoded.as_chunks_mut::<8>().0);
    for (block, word) in blocks.iter().zip(words) {
        let zeros = u64::from(zeros_of(&block[..32])) | u64::from(zeros_of(&block[32..])) << 32;
        *word = (!zeros).to_le_bytes();
    }
    64 * blocks.len()
}

#[target_feature(enable = "avx2")]
pub(super) fn decode_bools(_: &Avx2, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let byte_of_bool = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let bit_of_bool = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    let (words, blocks) = (encoded.as_chunks::<4>().0, decoded.as_chunks_mut::<32>().0);
    let count = 32 * blocks.len();
    for (word, block) in words.iter().zip(blocks) {
        let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(i32::from_le_bytes(*word)), byte_of_bool);
        let bools = _mm256_min_epu8(_mm256_and_si256(bytes, bit_of_bool), _mm256_set1_epi8(1));
        // SAFETY: `block` is 32 writable bytes, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(block.as_mut_ptr().cast(), bools) };
    }
    count
}

#[target_feature(enable = "avx2")]
pub(super) fn encode_nibbles(kernel: &Avx2, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let first_bit = _mm_cvtsi32_si128(kernel.field.first_bit.cast_signed());
    let pack_pairs = |bytes| {
        let nibbles = _mm256_and_si256(_mm256_srl_epi16(bytes, first_bit), _mm256_set1_epi8(15));
        _mm256_maddubs_epi16(nibbles, _mm256_set1_epi16(0x1001))
    };
    let (blocks, packed) = (decoded.as_chunks::<64>().0, encoded.as_chunks_mut::<32>().0);
    for (block, packed) in blocks.iter().zip(packed) {
        // SAFETY: `block` is 64 readable bytes, and these loads need no alignment.
        let (low, high) =
            unsafe { (_mm256_loadu_si256(block.as_ptr().cast()), _mm256_loadu_si256(block[32..].as_ptr().cast())) };
        // Packing works in each half of a register; the permutation puts the quarters in order.
        let bytes = _mm256_packus_epi16(pack_pairs(low), pack_pairs(high));
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
        // SAFETY: `packed` is 32 writable bytes, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(packed.as_mut_ptr().cast(), bytes) };
    }
    64 * blocks.len()
}

#[target_feature(enable = "avx2")]
pub(super) fn decode_nibbles(kernel: &Avx2, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let field = &kernel.field;
    let first_bit = _mm_cvtsi32_si128(field.first_bit.cast_signed());
    let sign = if field.kind == Kind::Signed { 1 << field.last_bit() } else { 0_u8 };
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
