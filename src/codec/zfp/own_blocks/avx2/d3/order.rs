//! Coefficients in the places where the transform leaves them, and in the order of their frequency.
//!
//! They are put in order when they are bytes, those of the same significance together: that is less to move than the
//! coefficients themselves, and often only some of the bytes have planes that are coded.

use super::super::super::order::OF_64 as ORDER;
use std::arch::x86_64::*;

/// Where the value of this index in a block lies after the transform along z: of 32 bits, two rows that are neighbours
/// along y share a vector.
pub(in super::super) const fn place(index: usize, wide: bool) -> usize {
    let (x, y, z) = (index % 4, index / 4 % 4, index / 16);
    if wide { index } else { x + 4 * (y % 2) + 8 * z + 32 * (y / 2) }
}

/// Where the byte of a place lies among the 64 of its significance. Instructions that take vectors apart into bytes
/// work on lanes of 16 bytes: each half of the vectors has 32 places, whose first lanes give 16 bytes, and the second
/// lanes.
pub(in super::super) const fn byte_of(place: usize, wide: bool) -> usize {
    let in_lane = if wide { 2 } else { 4 };
    let (half, place) = (place / 32, place % 32);
    let (vector, lane, place) = (place / in_lane / 2, place / in_lane % 2, place % in_lane);
    32 * half + 16 * lane + in_lane * vector + place
}

/// The bytes in the order of the coefficients.
pub(super) const fn to_order(wide: bool) -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        sources[i] = byte_of(place(ORDER[i] as usize, wide), wide);
        i += 1;
    }
    Permutation::new(&sources)
}

/// The inverse of [`to_order`].
pub(super) const fn from_order(wide: bool) -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        sources[byte_of(place(ORDER[i] as usize, wide), wide)] = i;
        i += 1;
    }
    Permutation::new(&sources)
}

/// Takes each of 64 bytes, in two vectors, from one of the others' places.
///
/// For each resulting vector, for each of the two, for those bytes that stay in their lane and those that do not, which
/// byte of the lane it is.
pub(super) struct Permutation([[[[u8; 32]; 2]; 2]; 2]);

impl Permutation {
    const fn new(sources: &[usize; 64]) -> Self {
        /// An index for which a shuffle gives zero.
        const NONE: u8 = 0x80;
        let mut shuffles = [[[[NONE; 32]; 2]; 2]; 2];
        let mut i = 0;
        while i < 64 {
            let (from, lane, byte) = (sources[i] / 32, sources[i] / 16 % 2, sources[i] % 16);
            let changes_lane = (lane != i / 16 % 2) as usize;
            shuffles[i / 32][from][changes_lane][i % 32] = byte as u8;
            i += 1;
        }
        Self(shuffles)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn apply(&self, [a, b]: [__m256i; 2]) -> [__m256i; 2] {
        let lanes_of = |vector| [vector, _mm256_permute2x128_si256::<1>(vector, vector)];
        let lanes = [lanes_of(a), lanes_of(b)];
        let mut permuted = [_mm256_setzero_si256(); 2];
        for (to, result) in permuted.iter_mut().enumerate() {
            let part = |from: usize, lane: usize| {
                _mm256_shuffle_epi8(lanes[from][lane], bytemuck::cast(self.0[to][from][lane]))
            };
            *result = _mm256_or_si256(_mm256_or_si256(part(0, 0), part(0, 1)), _mm256_or_si256(part(1, 0), part(1, 1)));
        }
        permuted
    }
}
