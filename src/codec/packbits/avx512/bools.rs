//! Bools: one bit for each byte, as in a mask.

use super::{Avx512, load, store};
use std::arch::x86_64::*;

/// Loads come four at a time: on Zen 5, a load between each two stores waits up to a fifth longer for the second-level
/// cache.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn encode(_: &Avx512, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let groups = decoded.as_chunks::<64>().0;
    // The bools after the last group may take another 8 bytes.
    let packed = &mut encoded.as_chunks_mut::<8>().0[..groups.len()];
    let (fours, last_groups) = groups.as_chunks::<4>();
    let (packed_fours, last_packed) = packed.as_chunks_mut::<4>();
    for (four, packed) in fours.iter().zip(packed_fours) {
        let [first, second, third, fourth] = [load(&four[0]), load(&four[1]), load(&four[2]), load(&four[3])];
        *packed = [pack(first), pack(second), pack(third), pack(fourth)];
    }
    for (group, packed) in last_groups.iter().zip(last_packed) {
        *packed = pack(load(group));
    }
    64 * groups.len()
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn pack(bools: __m512i) -> [u8; 8] {
    _mm512_test_epi8_mask(bools, bools).to_le_bytes()
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
