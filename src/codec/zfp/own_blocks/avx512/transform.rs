//! Blocks of integers to coefficients and back: those of 64 bits in the order of the block; those of 32 bits by z, then
//! x, then y.

use super::super::lift::{lift, unlift};
use super::Avx512;
use super::lanes::{exchange_halves, transpose_32, transpose_64, transpose_lanes};
use std::arch::x86_64::*;

/// The lifting alone, along all axes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx512, block: &mut [__m512i]) {
    if WIDE {
        lift_64::<REVERSIBLE>(kernel, block);
    } else {
        lift_32::<REVERSIBLE>(kernel, block);
    }
}

/// The inverse of [`lift_axes`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx512, block: &mut [__m512i]) {
    if WIDE {
        unlift_64::<REVERSIBLE>(kernel, block);
    } else {
        unlift_32::<REVERSIBLE>(kernel, block);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lift_32<const REVERSIBLE: bool>(kernel: Avx512, block: &mut [__m512i]) {
    let Some(block) = block.first_chunk_mut::<4>() else { return };
    // A vector for each x, then y, then z.
    let lines = lift::<Avx512, false, REVERSIBLE>(kernel, transpose_32(*block));
    let lines = lift::<Avx512, false, REVERSIBLE>(kernel, transpose_lanes(lines));
    *block = lift::<Avx512, false, REVERSIBLE>(kernel, transpose_32(lines));
}

#[inline]
#[target_feature(enable = "avx512f")]
fn unlift_32<const REVERSIBLE: bool>(kernel: Avx512, block: &mut [__m512i]) {
    let Some(block) = block.first_chunk_mut::<4>() else { return };
    let lines = transpose_32(unlift::<Avx512, false, REVERSIBLE>(kernel, *block));
    let lines = transpose_lanes(unlift::<Avx512, false, REVERSIBLE>(kernel, lines));
    *block = transpose_32(unlift::<Avx512, false, REVERSIBLE>(kernel, lines));
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lift_64<const REVERSIBLE: bool>(kernel: Avx512, block: &mut [__m512i]) {
    let Some(block) = block.first_chunk_mut::<8>() else { return };
    let mut places = *block;
    for rows in places.as_chunks_mut().0 {
        let lines = transpose_64(lift::<Avx512, true, REVERSIBLE>(kernel, transpose_64(*rows)));
        *rows = lift::<Avx512, true, REVERSIBLE>(kernel, lines);
    }
    // The halves of the vectors were neighbours along z.
    let pairs =
        |y: usize| [exchange_halves([places[y], places[y + 1]]), exchange_halves([places[4 + y], places[5 + y]])];
    for (half, [[a, c], [b, d]]) in [pairs(0), pairs(2)].into_iter().enumerate() {
        for (z, line) in lift::<Avx512, true, REVERSIBLE>(kernel, [a, b, c, d]).into_iter().enumerate() {
            block[2 * z + half] = line;
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn unlift_64<const REVERSIBLE: bool>(kernel: Avx512, block: &mut [__m512i]) {
    let Some(block) = block.first_chunk_mut::<8>() else { return };
    let places = *block;
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
}
