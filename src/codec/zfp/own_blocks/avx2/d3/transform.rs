//! Blocks of integers to coefficients in the places of [`order`](super::order), and back.

use super::super::super::lift::{Lines, lift, unlift};
use super::super::Avx2;
use super::super::lanes::transpose;
use std::arch::x86_64::*;

/// The transform along x, y and z.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx2, block: &mut [__m256i]) {
    if WIDE {
        lift_64::<REVERSIBLE>(kernel, block);
    } else {
        lift_32::<REVERSIBLE>(kernel, block);
    }
}

/// The inverse of [`lift_axes`].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx2, block: &mut [__m256i]) {
    if WIDE {
        unlift_64::<REVERSIBLE>(kernel, block);
    } else {
        unlift_32::<REVERSIBLE>(kernel, block);
    }
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
fn lift_32<const REVERSIBLE: bool>(kernel: Avx2, block: &mut [__m256i]) {
    let Some(block) = block.first_chunk_mut::<8>() else { return };
    let mut rows = [[_mm256_setzero_si256(); 4]; 2];
    for (rows, block) in rows.iter_mut().zip(block.as_chunks().0) {
        let lines = transpose::<false>(lift::<Avx2, false, REVERSIBLE>(kernel, transpose::<false>(*block)));
        *rows = lift::<Avx2, false, REVERSIBLE>(kernel, lines);
    }
    let [[a, b, c, d], [e, f, g, h]] = rows;
    let first = lift::<Avx2, false, REVERSIBLE>(kernel, exchange_lanes([a, b, e, f]));
    let last = lift::<Avx2, false, REVERSIBLE>(kernel, exchange_lanes([c, d, g, h]));
    *block = bytemuck::cast([first, last]);
}

#[inline]
#[target_feature(enable = "avx2")]
fn unlift_32<const REVERSIBLE: bool>(kernel: Avx2, block: &mut [__m256i]) {
    let Some(block) = block.first_chunk_mut::<8>() else { return };
    let [first, last]: [Lines<Avx2>; 2] = bytemuck::cast(*block);
    let [a, b, e, f] = exchange_lanes(unlift::<Avx2, false, REVERSIBLE>(kernel, first));
    let [c, d, g, h] = exchange_lanes(unlift::<Avx2, false, REVERSIBLE>(kernel, last));
    for (block, rows) in block.as_chunks_mut().0.iter_mut().zip([[a, b, c, d], [e, f, g, h]]) {
        let lines = transpose::<false>(unlift::<Avx2, false, REVERSIBLE>(kernel, rows));
        *block = transpose::<false>(unlift::<Avx2, false, REVERSIBLE>(kernel, lines));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn lift_64<const REVERSIBLE: bool>(kernel: Avx2, block: &mut [__m256i]) {
    let Some(block) = block.first_chunk_mut::<16>() else { return };
    for rows in block.as_chunks_mut().0 {
        let lines = transpose::<true>(lift::<Avx2, true, REVERSIBLE>(kernel, transpose::<true>(*rows)));
        *rows = lift::<Avx2, true, REVERSIBLE>(kernel, lines);
    }
    for y in 0..4 {
        let lines = lift::<Avx2, true, REVERSIBLE>(kernel, [block[y], block[4 + y], block[8 + y], block[12 + y]]);
        for (z, line) in lines.into_iter().enumerate() {
            block[4 * z + y] = line;
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn unlift_64<const REVERSIBLE: bool>(kernel: Avx2, block: &mut [__m256i]) {
    let Some(block) = block.first_chunk_mut::<16>() else { return };
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
}
