//! Blocks in the order of memory to vectors across them, and back.

use super::super::across::Across;
use super::Avx512;
use super::lanes::{exchange_halves, transpose_8x8, transpose_32, transpose_64, transpose_lanes};
use std::arch::x86_64::*;

impl<const N: usize> Across<N> for Avx512 {
    #[inline(always)]
    fn by_place<const WIDE: bool>(self, blocks: &[__m512i; N]) -> [__m512i; N] {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { by_place::<N, WIDE>(blocks) }
    }
}

/// Blocks in the order of memory to a vector for each place, with a lane for each block.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn by_place<const N: usize, const WIDE: bool>(blocks: &[__m512i; N]) -> [__m512i; N] {
    let mut places = *blocks;
    if N == 16 && WIDE {
        for half in 0..2 {
            let mut vectors = [_mm512_setzero_si512(); 8];
            for (vector, block) in vectors.iter_mut().zip(blocks.as_chunks::<2>().0) {
                *vector = block[half];
            }
            places[8 * half..][..8].copy_from_slice(&transpose_8x8(vectors));
        }
    } else if N == 16 {
        transpose_16x16(&mut places);
    } else if let Some(four) = places.first_chunk_mut() {
        *four = if WIDE { transpose_64(by_halves(*four)) } else { transpose_32(transpose_lanes(*four)) };
    }
    places
}

/// The inverse of [`by_place`], except that in one dimension block b is not in its vector but in part b / 4 of vector
/// b % 4.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn by_block<const N: usize, const WIDE: bool>(places: &[__m512i; N]) -> [__m512i; N] {
    let mut blocks = *places;
    if N == 16 && WIDE {
        for half in 0..2 {
            let mut vectors = [_mm512_setzero_si512(); 8];
            vectors.copy_from_slice(&places[8 * half..][..8]);
            for (vector, block) in transpose_8x8(vectors).iter().zip(blocks.as_chunks_mut::<2>().0) {
                block[half] = *vector;
            }
        }
    } else if N == 16 {
        transpose_16x16(&mut blocks);
    } else if let Some(four) = blocks.first_chunk_mut() {
        *four = if WIDE { transpose_64(*four) } else { transpose_32(*four) };
    }
    blocks
}

/// Of four vectors of two halves, vectors of the first half and the fifth, the second and the sixth, and so on.
#[inline]
#[target_feature(enable = "avx512f")]
fn by_halves([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let ([a, b], [c, d]) = (exchange_halves([a, c]), exchange_halves([b, d]));
    [a, b, c, d]
}

/// Sixteen words of 32 bits of sixteen vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_16x16(vectors: &mut [__m512i]) {
    let fours = vectors.as_chunks_mut::<4>().0;
    for four in &mut *fours {
        *four = transpose_32(*four);
    }
    if let [a, b, c, d] = fours {
        for place in 0..4 {
            let lanes = transpose_lanes([a[place], b[place], c[place], d[place]]);
            [a[place], b[place], c[place], d[place]] = lanes;
        }
    }
}

/// Puts blocks as [`by_block`] has them in the order of memory.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn in_order<const N: usize, const WIDE: bool>(mut blocks: [__m512i; N]) -> [__m512i; N] {
    if let (false, Some(four)) = (N == 16, blocks.first_chunk_mut()) {
        *four = if WIDE {
            let [a, b, c, d] = *four;
            let ([a, c], [b, d]) = (exchange_halves([a, b]), exchange_halves([c, d]));
            [a, b, c, d]
        } else {
            transpose_lanes(*four)
        };
    }
    blocks
}

/// Eight lanes from that of this block on, as lanes of 64 bits.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn eight_lanes<const WIDE: bool>(lanes: __m512i, first: usize) -> __m512i {
    if WIDE {
        lanes
    } else if first == 0 {
        _mm512_cvtepu32_epi64(_mm512_castsi512_si256(lanes))
    } else {
        _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(lanes))
    }
}
