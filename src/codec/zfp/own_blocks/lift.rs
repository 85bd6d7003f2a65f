//! zfp's decorrelating transforms on vectors of integers of 32 bits, or if `WIDE` of 64 bits.

use super::lanes::Arithmetic;

/// Four values along an axis, for as many lines as a vector has.
pub(super) type Lines<A> = [<A as Arithmetic>::Vector; 4];

/// The transform of zfp's lossy modes, or that of its reversible one.
#[inline(always)]
pub(super) fn lift<A: Arithmetic, const WIDE: bool, const REVERSIBLE: bool>(lanes: A, lines: Lines<A>) -> Lines<A> {
    if REVERSIBLE { differences::<A, WIDE>(lanes, lines) } else { forward::<A, WIDE>(lanes, lines) }
}

/// The inverse of [`lift`].
#[inline(always)]
pub(super) fn unlift<A: Arithmetic, const WIDE: bool, const REVERSIBLE: bool>(lanes: A, lines: Lines<A>) -> Lines<A> {
    if REVERSIBLE { sums::<A, WIDE>(lanes, lines) } else { backward::<A, WIDE>(lanes, lines) }
}

/// `fwd_lift`
#[inline(always)]
fn forward<A: Arithmetic, const WIDE: bool>(lanes: A, [mut x, mut y, mut z, mut w]: Lines<A>) -> Lines<A> {
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
fn backward<A: Arithmetic, const WIDE: bool>(lanes: A, [mut x, mut y, mut z, mut w]: Lines<A>) -> Lines<A> {
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
fn differences<A: Arithmetic, const WIDE: bool>(lanes: A, [x, mut y, mut z, mut w]: Lines<A>) -> Lines<A> {
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
fn sums<A: Arithmetic, const WIDE: bool>(lanes: A, [x, mut y, mut z, mut w]: Lines<A>) -> Lines<A> {
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
pub(super) fn to_negabinary<A: Arithmetic, const WIDE: bool>(lanes: A, integers: A::Vector) -> A::Vector {
    let mask = lanes.repeat(0xAA);
    lanes.xor(lanes.add::<WIDE>(integers, mask), mask)
}

/// The inverse of [`to_negabinary`].
#[inline(always)]
pub(super) fn from_negabinary<A: Arithmetic, const WIDE: bool>(lanes: A, numbers: A::Vector) -> A::Vector {
    let mask = lanes.repeat(0xAA);
    lanes.sub::<WIDE>(lanes.xor(numbers, mask), mask)
}
