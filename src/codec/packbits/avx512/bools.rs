//! Bools are what masks are: a bit for each byte.

use super::{Avx512, load, store};
use std::arch::x86_64::*;

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn encode(_: &Avx512, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let (groups, packed) = (decoded.as_chunks::<64>().0, encoded.as_chunks_mut::<8>().0);
    for (group, packed) in groups.iter().zip(packed) {
        let bools = load(group);
        *packed = _mm512_test_epi8_mask(bools, bools).to_le_bytes();
    }
    64 * groups.len()
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
