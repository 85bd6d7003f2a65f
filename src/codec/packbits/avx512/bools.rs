//! Bools are what masks are: a bit for each byte.

use super::{Avx512, load, store};
use std::arch::x86_64::*;

/// Loads come four at a time: one between any two stores waits longer for the second-level cache, by up to a fifth on Zen 5.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn encode(_: &Avx512, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let blocks = decoded.as_chunks::<64>().0.as_chunks::<4>().0;
    let packed = encoded.as_chunks_mut::<8>().0.as_chunks_mut::<4>().0;
    for (block, packed) in blocks.iter().zip(packed) {
        let [first, second, third, fourth] = [load(&block[0]), load(&block[1]), load(&block[2]), load(&block[3])];
        *packed = [
            _mm512_test_epi8_mask(first, first).to_le_bytes(),
            _mm512_test_epi8_mask(second, second).to_le_bytes(),
            _mm512_test_epi8_mask(third, third).to_le_bytes(),
            _mm512_test_epi8_mask(fourth, fourth).to_le_bytes(),
        ];
    }
    256 * blocks.len()
}

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn decode(_: &Avx512, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let (packed, groups) = (encoded.as_chunks::<8>().0, decoded.as_chunks_mut::<64>().0);
    let count = 64 * groups.len();
    for (packed, group) in packed.iter().zip(groups) {
        store(_mm512_maskz_set1_epi8(u64::from_le_bytes(*packed), 1), group);
    }
    count
}
