//! Blocks of integers to coefficients in the places of [`order`](super::order), and back.

use super::super::super::lift::{Lines, from_negabinary, lift, to_negabinary, unlift};
use super::super::Avx2;
use super::super::lanes::transpose;
use super::Vectors;
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn forward<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx2, block: &Vectors) -> Vectors {
    let mut places = lift_axes::<WIDE, REVERSIBLE>(kernel, block);
    for vector in &mut places {
        *vector = to_negabinary::<Avx2, WIDE>(kernel, *vector);
    }
    places
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn inverse<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx2, places: &Vectors) -> Vectors {
    let mut integers = *places;
    for vector in &mut integers {
        *vector = from_negabinary::<Avx2, WIDE>(kernel, *vector);
    }
    unlift_axes::<WIDE, REVERSIBLE>(kernel, &integers)
}

/// The transform along x, y and z.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx2, block: &Vectors) -> Vectors {
    if WIDE { lift_64::<REVERSIBLE>(kernel, block) } else { lift_32::<REVERSIBLE>(kernel, block) }
}

/// The inverse of [`lift_axes`].
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(
    kernel: Avx2,
    places: &Vectors,
) -> Vectors {
    if WIDE { unlift_64::<REVERSIBLE>(kernel, places) } else { unlift_32::<REVERSIBLE>(kernel, places) }
}

/// The first lanes of two vectors, and the second ones, of two pairs.
#[inline]
#[target_feature(enable = "avx2")]
fn exchange_lanes([a, b, c, d]: Lines<Avx2>) -> Lines<Avx2> {
    [
        _mm256_permute2x128_si256::<0x20>(a, b),
        _mm256_permute2x128_si256::<0x31>(a, b),
        _mm256_permute2x128_si256::<0x20>(c, d),
        _mm256_permute2x128_si256::<0x31>(c, d),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn lift_32<const REVERSIBLE: bool>(kernel: Avx2, block: &Vectors) -> Vectors {
    let mut rows = [[_mm256_setzero_si256(); 4]; 2];
    for (half, rows) in rows.iter_mut().enumerate() {
        let block = &block[4 * half..][..4];
        let lines = transpose::<false>([block[0], block[1], block[2], block[3]]);
        let lines = transpose::<false>(lift::<Avx2, false, REVERSIBLE>(kernel, lines));
        *rows = lift::<Avx2, false, REVERSIBLE>(kernel, lines);
    }
    let mut places = [_mm256_setzero_si256(); 16];
    for half in 0..2 {
        let [first, second] = [&rows[0][2 * half..], &rows[1][2 * half..]];
        let lines = lift::<Avx2, false, REVERSIBLE>(kernel, exchange_lanes([first[0], first[1], second[0], second[1]]));
        places[4 * half..4 * half + 4].copy_from_slice(&lines);
    }
    places
}

#[inline]
#[target_feature(enable = "avx2")]
fn unlift_32<const REVERSIBLE: bool>(kernel: Avx2, places: &Vectors) -> Vectors {
    let mut rows = [[_mm256_setzero_si256(); 4]; 2];
    for half in 0..2 {
        let lines = [places[4 * half], places[4 * half + 1], places[4 * half + 2], places[4 * half + 3]];
        let [a, b, c, d] = exchange_lanes(unlift::<Avx2, false, REVERSIBLE>(kernel, lines));
        [rows[0][2 * half], rows[0][2 * half + 1]] = [a, b];
        [rows[1][2 * half], rows[1][2 * half + 1]] = [c, d];
    }
    let mut block = [_mm256_setzero_si256(); 16];
    for (half, rows) in rows.into_iter().enumerate() {
        let lines = transpose::<false>(unlift::<Avx2, false, REVERSIBLE>(kernel, rows));
        let lines = transpose::<false>(unlift::<Avx2, false, REVERSIBLE>(kernel, lines));
        block[4 * half..4 * half + 4].copy_from_slice(&lines);
    }
    block
}

#[inline]
#[target_feature(enable = "avx2")]
fn lift_64<const REVERSIBLE: bool>(kernel: Avx2, block: &Vectors) -> Vectors {
    let mut places = [_mm256_setzero_si256(); 16];
    for (rows, block) in places.as_chunks_mut().0.iter_mut().zip(block.as_chunks().0) {
        let lines = transpose::<true>(lift::<Avx2, true, REVERSIBLE>(kernel, transpose::<true>(*block)));
        *rows = lift::<Avx2, true, REVERSIBLE>(kernel, lines);
    }
    for y in 0..4 {
        let lines = lift::<Avx2, true, REVERSIBLE>(kernel, [places[y], places[4 + y], places[8 + y], places[12 + y]]);
        for (z, line) in lines.into_iter().enumerate() {
            places[4 * z + y] = line;
        }
    }
    places
}

#[inline]
#[target_feature(enable = "avx2")]
fn unlift_64<const REVERSIBLE: bool>(kernel: Avx2, places: &Vectors) -> Vectors {
    let mut block = *places;
    for y in 0..4 {
        let lines = unlift::<Avx2, true, REVERSIBLE>(kernel, [block[y], block[4 + y], block[8 + y], block[12 + y]]);
        for (z, line) in lines.into_iter().enumerate() {
            block[4 * z + y] = line;
        }
    }
    for rows in block.as_chunks_mut().0 {
        let lines = transpose::<true>(unlift::<Avx2, true, REVERSIBLE>(kernel, *rows));
        *rows = transpose::<true>(unlift::<Avx2, true, REVERSIBLE>(kernel, lines));
    }
    block
}
