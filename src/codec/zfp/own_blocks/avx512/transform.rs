//! Blocks of integers to coefficients and back: those of 64 bits in the order of the block; those of 32 bits by z, then
//! x, then y.

use super::super::lift::{from_negabinary, lift, to_negabinary, unlift};
use super::lanes::{exchange_halves, transpose_32, transpose_64, transpose_lanes};
use super::{Avx512, Vectors};

/// The lifting alone, along all axes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx512, block: &Vectors) -> Vectors {
    if WIDE { lift_64::<REVERSIBLE>(kernel, block) } else { lift_32::<REVERSIBLE>(kernel, block) }
}

/// The inverse of [`lift_axes`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx512, places: &Vectors) -> Vectors {
    if WIDE { unlift_64::<REVERSIBLE>(kernel, places) } else { unlift_32::<REVERSIBLE>(kernel, places) }
}

/// To coefficients.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn forward<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx512, block: &Vectors) -> Vectors {
    let mut coefficients = lift_axes::<WIDE, REVERSIBLE>(kernel, block);
    for vector in &mut coefficients[..if WIDE { 8 } else { 4 }] {
        *vector = to_negabinary::<Avx512, WIDE>(kernel, *vector);
    }
    coefficients
}

/// The inverse of [`forward`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn inverse<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx512, coefficients: &Vectors) -> Vectors {
    let mut places = *coefficients;
    for vector in &mut places[..if WIDE { 8 } else { 4 }] {
        *vector = from_negabinary::<Avx512, WIDE>(kernel, *vector);
    }
    unlift_axes::<WIDE, REVERSIBLE>(kernel, &places)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lift_32<const REVERSIBLE: bool>(kernel: Avx512, block: &Vectors) -> Vectors {
    let [a, b, c, d, none, ..] = *block;
    // A vector for each x, then y, then z.
    let lines = lift::<Avx512, false, REVERSIBLE>(kernel, transpose_32([a, b, c, d]));
    let lines = lift::<Avx512, false, REVERSIBLE>(kernel, transpose_lanes(lines));
    let [a, b, c, d] = lift::<Avx512, false, REVERSIBLE>(kernel, transpose_32(lines));
    [a, b, c, d, none, none, none, none]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn unlift_32<const REVERSIBLE: bool>(kernel: Avx512, places: &Vectors) -> Vectors {
    let [a, b, c, d, none, ..] = *places;
    let lines = transpose_32(unlift::<Avx512, false, REVERSIBLE>(kernel, [a, b, c, d]));
    let lines = transpose_lanes(unlift::<Avx512, false, REVERSIBLE>(kernel, lines));
    let [a, b, c, d] = transpose_32(unlift::<Avx512, false, REVERSIBLE>(kernel, lines));
    [a, b, c, d, none, none, none, none]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lift_64<const REVERSIBLE: bool>(kernel: Avx512, block: &Vectors) -> Vectors {
    let mut places = *block;
    for rows in places.as_chunks_mut().0 {
        let lines = transpose_64(lift::<Avx512, true, REVERSIBLE>(kernel, transpose_64(*rows)));
        *rows = lift::<Avx512, true, REVERSIBLE>(kernel, lines);
    }
    // The halves of the vectors were neighbours along z.
    let pairs =
        |y: usize| [exchange_halves([places[y], places[y + 1]]), exchange_halves([places[4 + y], places[5 + y]])];
    let mut lifted = *block;
    for (half, [[a, c], [b, d]]) in [pairs(0), pairs(2)].into_iter().enumerate() {
        for (z, line) in lift::<Avx512, true, REVERSIBLE>(kernel, [a, b, c, d]).into_iter().enumerate() {
            lifted[2 * z + half] = line;
        }
    }
    lifted
}

#[inline]
#[target_feature(enable = "avx512f")]
fn unlift_64<const REVERSIBLE: bool>(kernel: Avx512, places: &Vectors) -> Vectors {
    let mut block = *places;
    for half in 0..2 {
        let lines = [places[half], places[2 + half], places[4 + half], places[6 + half]];
        let [a, b, c, d] = unlift::<Avx512, true, REVERSIBLE>(kernel, lines);
        let y = 2 * half;
        [block[y], block[y + 1]] = exchange_halves([a, c]);
        [block[4 + y], block[5 + y]] = exchange_halves([b, d]);
    }
    for rows in block.as_chunks_mut().0 {
        let lines = transpose_64(unlift::<Avx512, true, REVERSIBLE>(kernel, *rows));
        *rows = transpose_64(unlift::<Avx512, true, REVERSIBLE>(kernel, lines));
    }
    block
}
