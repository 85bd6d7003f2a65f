//! Bools: one bit for each byte.

use super::{Avx2, load};
use crate::codec::packbits::blocks::BIT_OF_BOOL;
use std::arch::x86_64::*;

/// Two places of the chunk are read in turn: that keeps more memory requests in flight than one.
#[target_feature(enable = "avx2")]
pub(super) fn encode(_: &Avx2, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let blocks = decoded.as_chunks::<32>().0.as_chunks::<8>().0;
    let packed = &mut encoded.as_chunks_mut::<32>().0[..blocks.len()];
    let (first_half, second_half) = blocks.split_at(blocks.len() / 2);
    let (first_packed, second_packed) = packed.split_at_mut(first_half.len());
    let firsts = first_half.iter().zip(first_packed);
    for ((first, packed), (second, packed_too)) in firsts.zip(second_half.iter().zip(&mut *second_packed)) {
        pack_bools(first, packed);
        pack_bools(second, packed_too);
    }
    // An odd number of blocks.
    for (block, packed) in second_half.iter().zip(second_packed).skip(first_half.len()) {
        pack_bools(block, packed);
    }
    256 * blocks.len()
}

/// Half of a block goes through `vpmovmskb`, which takes two cycles on Zen 3 whatever else is done, and half through
/// sums of bits, which other units do meanwhile.
#[inline]
#[target_feature(enable = "avx2")]
fn pack_bools([a, b, c, d, e, f, g, h]: &[[u8; 32]; 8], packed: &mut [u8; 32]) {
    let (sums, masks) = (pack_by_sums([a, b, c, d]), pack_by_masks([e, f, g, h]));
    // SAFETY: `packed` is 32 writable bytes, and these stores need no alignment.
    unsafe {
        _mm_storeu_si128(packed.as_mut_ptr().cast(), sums);
        packed[16..].as_mut_ptr().cast::<[u64; 2]>().write_unaligned(masks);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn pack_by_sums([a, b, c, d]: [&[u8; 32]; 4]) -> __m128i {
    let words = _mm256_packus_epi32(
        _mm256_packus_epi32(sums_of_bits(a), sums_of_bits(b)),
        _mm256_packus_epi32(sums_of_bits(c), sums_of_bits(d)),
    );
    let bytes = _mm256_packus_epi16(words, words);
    // Packing works in each half of a register: each half has two bytes of each of the four.
    _mm_unpacklo_epi16(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn pack_by_masks([e, f, g, h]: [&[u8; 32]; 4]) -> [u64; 2] {
    [mask(e) | mask(f) << 32, mask(g) | mask(h) << 32]
}

#[inline]
#[target_feature(enable = "avx2")]
fn mask(bools: &[u8; 32]) -> u64 {
    // Saturating, this sets the highest bit of each byte that is not zero.
    let trues = _mm256_adds_epu8(load(bools), _mm256_set1_epi8(0x7F));
    _mm256_movemask_epi8(trues).cast_unsigned().into()
}

/// For each 8 bools, a byte in a lane of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn sums_of_bits(bools: &[u8; 32]) -> __m256i {
    let is_false = _mm256_cmpeq_epi8(load(bools), _mm256_setzero_si256());
    let bits = _mm256_andnot_si256(is_false, _mm256_set1_epi64x(BIT_OF_BOOL.cast_signed()));
    _mm256_sad_epu8(bits, _mm256_setzero_si256())
}

#[target_feature(enable = "avx2")]
pub(super) fn decode(_: &Avx2, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let byte_of_bool = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let bit_of_bool = _mm256_set1_epi64x(BIT_OF_BOOL.cast_signed());
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
