//! zfp's decorrelating transforms on vectors of integers of 32 bits, or if `WIDE` of 64 bits.

use super::lanes::Lanes;

/// Four values along an axis, for as many lines as a vector has.
pub(super) type Lines<L> = [<L as Lanes>::Vector; 4];

/// The transform of zfp's lossy modes, or that of its reversible one.
#[inline(always)]
pub(super) fn lift<L: Lanes, const WIDE: bool, const REVERSIBLE: bool>(lanes: L, lines: Lines<L>) -> Lines<L> {
    if REVERSIBLE { differences::<L, WIDE>(lanes, lines) } else { forward::<L, WIDE>(lanes, lines) }
}

/// The inverse of [`lift`].
#[inline(always)]
pub(super) fn unlift<L: Lanes, const WIDE: bool, const REVERSIBLE: bool>(lanes: L, lines: Lines<L>) -> Lines<L> {
    if REVERSIBLE { sums::<L, WIDE>(lanes, lines) } else { backward::<L, WIDE>(lanes, lines) }
}

/// `fwd_lift`
#[inline(always)]
fn forward<L: Lanes, const WIDE: bool>(lanes: L, [mut x, mut y, mut z, mut w]: Lines<L>) -> Lines<L> {
    x = lanes.half::<WIDE>(lanes.add::<WIDE>(x, w));
    w = lanes.sub::<WIDE>(w, x);
    z = lanes.half::<WIDE>(lanes.add::<WIDE>(z, y));
    y = lanes.sub::<WIDE>(y, z);
    x = lanes.half::<WIDE>(lanes.add::<WIDE>(x, z));
    z = lanes.sub::<WIDE>(z, x);
    w = lanes.half::<WIDE>(lanes.add::<WIDE>(w, y));
    y = lanes.sub::<WIDE>(y, w);
    w = lanes.add::<WIDE>(w, lanes.half::<WIDE>(y));
    y = lanes.sub::<WIDE>(y, lanes.half::<WIDE>(w));
    [x, y, z, w]
}

/// `inv_lift`, which doubles what the other one halves.
#[inline(always)]
fn backward<L: Lanes, const WIDE: bool>(lanes: L, [mut x, mut y, mut z, mut w]: Lines<L>) -> Lines<L> {
    y = lanes.add::<WIDE>(y, lanes.half::<WIDE>(w));
    w = lanes.sub::<WIDE>(w, lanes.half::<WIDE>(y));
    y = lanes.add::<WIDE>(y, w);
    w = lanes.sub::<WIDE>(lanes.add::<WIDE>(w, w), y);
    z = lanes.add::<WIDE>(z, x);
    x = lanes.sub::<WIDE>(lanes.add::<WIDE>(x, x), z);
    y = lanes.add::<WIDE>(y, z);
    z = lanes.sub::<WIDE>(lanes.add::<WIDE>(z, z), y);
    w = lanes.add::<WIDE>(w, x);
    x = lanes.sub::<WIDE>(lanes.add::<WIDE>(x, x), w);
    [x, y, z, w]
}

/// `rev_fwd_lift`: differences of the third order.
#[inline(always)]
fn differences<L: Lanes, const WIDE: bool>(lanes: L, [x, mut y, mut z, mut w]: Lines<L>) -> Lines<L> {
    w = lanes.sub::<WIDE>(w, z);
    z = lanes.sub::<WIDE>(z, y);
    y = lanes.sub::<WIDE>(y, x);
    w = lanes.sub::<WIDE>(w, z);
    z = lanes.sub::<WIDE>(z, y);
    w = lanes.sub::<WIDE>(w, z);
    [x, y, z, w]
}

/// `rev_inv_lift`
#[inline(always)]
fn sums<L: Lanes, const WIDE: bool>(lanes: L, [x, mut y, mut z, mut w]: Lines<L>) -> Lines<L> {
    w = lanes.add::<WIDE>(w, z);
    z = lanes.add::<WIDE>(z, y);
    w = lanes.add::<WIDE>(w, z);
    y = lanes.add::<WIDE>(y, x);
    z = lanes.add::<WIDE>(z, y);
    w = lanes.add::<WIDE>(w, z);
    [x, y, z, w]
}

/// Integers to negabinary numbers.
#[inline(always)]
pub(super) fn to_negabinary<L: Lanes, const WIDE: bool>(lanes: L, integers: L::Vector) -> L::Vector {
    let mask = lanes.repeat(0xAA);
    lanes.xor(lanes.add::<WIDE>(integers, mask), mask)
}

/// The inverse of [`to_negabinary`].
#[inline(always)]
pub(super) fn from_negabinary<L: Lanes, const WIDE: bool>(lanes: L, numbers: L::Vector) -> L::Vector {
    let mask = lanes.repeat(0xAA);
    lanes.sub::<WIDE>(lanes.xor(numbers, mask), mask)
}
