//! Blocks in the order of memory to vectors across them.

use super::super::across::Across;
use super::Avx2;
use super::d3::matrix::transpose_32;
use super::lanes::transpose;
use std::arch::x86_64::*;

impl<const N: usize> Across<N> for Avx2 {
    #[inline(always)]
    fn by_place<const WIDE: bool>(self, blocks: &[__m256i; N]) -> [__m256i; N] {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { by_place::<N, WIDE>(blocks) }
    }
}

/// Eight blocks, or if `WIDE` four.
#[inline]
#[target_feature(enable = "avx2")]
fn by_place<const N: usize, const WIDE: bool>(blocks: &[__m256i; N]) -> [__m256i; N] {
    let (mut places, in_block) = (*blocks, vectors_in_block::<N>(WIDE));
    for (part, places) in places.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        if WIDE {
            for (block, vector) in places.iter_mut().enumerate() {
                *vector = blocks[(block * in_block + part) % N];
            }
            *places = transpose::<true>(*places);
        } else if N == 4 {
            let [a, b, c, d] = *places;
            let ([a, b], [c, d]) = (exchange_lanes([a, c]), exchange_lanes([b, d]));
            *places = transpose_32([a, b, c, d]);
        } else {
            // Of each vector of a block, first the values in its first lane, then the others.
            for (block, vector) in places.iter_mut().enumerate() {
                let [first, second] = [block, block + 4];
                let lanes = [blocks[(first * in_block + part / 2) % N], blocks[(second * in_block + part / 2) % N]];
                *vector = exchange_lanes(lanes)[part % 2];
            }
            *places = transpose_32(*places);
        }
    }
    places
}

const fn vectors_in_block<const N: usize>(wide: bool) -> usize {
    if wide { N / 4 } else { N / 8 }
}

/// The first lanes of 16 bytes of two vectors, and the second ones.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn exchange_lanes([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)]
}
