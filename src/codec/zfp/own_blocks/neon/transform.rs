//! Blocks of integers to coefficients in the same order, and back.

use super::super::lift::{Lines, from_negabinary, lift, to_negabinary, unlift};
use super::lanes::{narrow, wide};
use super::{Neon, Vectors};
use std::arch::aarch64::*;

/// The vectors of a row of four values.
const fn row_size(wide: bool) -> usize {
    if wide { 2 } else { 1 }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn forward<const WIDE: bool, const REVERSIBLE: bool>(kernel: Neon, block: &mut Vectors) {
    let along = row_size(WIDE);
    for group in 0..4 * along {
        let lines = to_lines::<WIDE>(gather(block, 4 * group, 1));
        scatter(block, 4 * group, 1, from_lines::<WIDE>(lift::<Neon, WIDE, REVERSIBLE>(kernel, lines)));
    }
    for first in 0..4 * along {
        let first = first / along * 4 * along + first % along;
        let lines = lift::<Neon, WIDE, REVERSIBLE>(kernel, gather(block, first, along));
        scatter(block, first, along, lines);
    }
    for first in 0..4 * along {
        let mut lines = lift::<Neon, WIDE, REVERSIBLE>(kernel, gather(block, first, 4 * along));
        for line in &mut lines {
            *line = to_negabinary::<Neon, WIDE>(kernel, *line);
        }
        scatter(block, first, 4 * along, lines);
    }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn inverse<const WIDE: bool, const REVERSIBLE: bool>(kernel: Neon, block: &mut Vectors) {
    let along = row_size(WIDE);
    for first in 0..4 * along {
        let mut lines = gather(block, first, 4 * along);
        for line in &mut lines {
            *line = from_negabinary::<Neon, WIDE>(kernel, *line);
        }
        scatter(block, first, 4 * along, unlift::<Neon, WIDE, REVERSIBLE>(kernel, lines));
    }
    for first in 0..4 * along {
        let first = first / along * 4 * along + first % along;
        let lines = unlift::<Neon, WIDE, REVERSIBLE>(kernel, gather(block, first, along));
        scatter(block, first, along, lines);
    }
    for group in 0..4 * along {
        let lines = to_lines::<WIDE>(gather(block, 4 * group, 1));
        scatter(block, 4 * group, 1, from_lines::<WIDE>(unlift::<Neon, WIDE, REVERSIBLE>(kernel, lines)));
    }
}

/// Four vectors, each this far from the one before.
#[inline(always)]
fn gather(block: &Vectors, first: usize, stride: usize) -> Lines<Neon> {
    [block[first], block[first + stride], block[first + 2 * stride], block[first + 3 * stride]]
}

/// The inverse of [`gather`].
#[inline(always)]
fn scatter(block: &mut Vectors, first: usize, stride: usize, lines: Lines<Neon>) {
    let [a, b, c, d] = lines;
    block[first] = a;
    block[first + stride] = b;
    block[first + 2 * stride] = c;
    block[first + 3 * stride] = d;
}

/// Four vectors of rows to lines along x: of four rows, or if `WIDE` of two.
#[inline]
#[target_feature(enable = "neon")]
fn to_lines<const WIDE: bool>([a, b, c, d]: Lines<Neon>) -> Lines<Neon> {
    if WIDE {
        let [a, b, c, d] = [wide(a), wide(b), wide(c), wide(d)];
        [narrow(vtrn1q_u64(a, c)), narrow(vtrn2q_u64(a, c)), narrow(vtrn1q_u64(b, d)), narrow(vtrn2q_u64(b, d))]
    } else {
        let [ab, ab_odd] = [wide(vtrn1q_u32(a, b)), wide(vtrn2q_u32(a, b))];
        let [cd, cd_odd] = [wide(vtrn1q_u32(c, d)), wide(vtrn2q_u32(c, d))];
        [
            narrow(vtrn1q_u64(ab, cd)),
            narrow(vtrn1q_u64(ab_odd, cd_odd)),
            narrow(vtrn2q_u64(ab, cd)),
            narrow(vtrn2q_u64(ab_odd, cd_odd)),
        ]
    }
}

/// The inverse of [`to_lines`].
#[inline]
#[target_feature(enable = "neon")]
fn from_lines<const WIDE: bool>([a, b, c, d]: Lines<Neon>) -> Lines<Neon> {
    if !WIDE {
        // It exchanges rows and columns.
        return to_lines::<false>([a, b, c, d]);
    }
    let [a, b, c, d] = [wide(a), wide(b), wide(c), wide(d)];
    [narrow(vtrn1q_u64(a, b)), narrow(vtrn1q_u64(c, d)), narrow(vtrn2q_u64(a, b)), narrow(vtrn2q_u64(c, d))]
}
