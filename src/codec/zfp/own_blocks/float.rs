//! Blocks of float32, or if `WIDE` of float64, to integers of the same size and back.

use super::kernel::Kernel;
use super::values;

/// The bits of a biased exponent.
pub(super) const fn exponent_bits(wide: bool) -> u32 {
    if wide { 11 } else { 8 }
}

pub(super) const fn bias(wide: bool) -> i32 {
    if wide { 1023 } else { 127 }
}

/// Magnitudes of integers are below 2 to this power: one bit is for the sign, and one for the growth in the transform.
pub(super) const fn integer_bits(wide: bool) -> i32 {
    if wide { 62 } else { 30 }
}

/// The exponent that this one stands for.
pub(super) const fn unbiased(exponent: u32, wide: bool) -> i32 {
    exponent.cast_signed() - bias(wide)
}

/// Whether the factor that scales a block of this exponent to integers is finite. The C library does not check this.
pub(super) const fn has_finite_scale(exponent: i32, wide: bool) -> bool {
    exponent >= integer_bits(wide) - bias(wide)
}

/// The biased exponent of the largest magnitude, as `frexp` has it, or 0 where all are zeros. NaNs do not count.
#[inline(always)]
pub(super) fn exponent<K: Kernel<N>, const N: usize, const WIDE: bool>(kernel: K, values: &K::Block) -> u32 {
    let (shift, infinity) = if WIDE { (52, 0x7FF) } else { (23, 0xFF) };
    let largest = values::largest_magnitude::<K, N, WIDE>(kernel, values);
    match (largest >> shift) as u32 {
        _ if largest == 0 => 0,
        exponent if exponent == infinity => bias(WIDE).cast_unsigned(),
        exponent => exponent + 1,
    }
}

/// 2^exponent, subnormal or 0 if that is small.
fn power<const WIDE: bool>(exponent: i32) -> f64 {
    let (least, least_normal) = if WIDE { (-1074, -1022) } else { (-149, -126) };
    if exponent < least {
        0.0
    } else if WIDE && exponent < least_normal {
        f64::from_bits(1 << (exponent - least))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

/// Values whose largest magnitude has this exponent to integers, towards zero.
#[inline(always)]
pub(super) fn to_integers<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    block: &mut K::Block,
    exponent: i32,
) {
    let mut bits = integer_bits(WIDE) - exponent;
    if !has_finite_scale(exponent, WIDE) {
        // In two steps, each exact.
        values::scale::<K, N, WIDE>(kernel, block, power::<WIDE>(64));
        bits -= 64;
    }
    values::truncate::<K, N, WIDE>(kernel, block, power::<WIDE>(bits));
}

/// The inverse of [`to_integers`], rounded.
#[inline(always)]
pub(super) fn from_integers<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    block: &mut K::Block,
    exponent: i32,
) {
    values::to_floats::<K, N, WIDE>(kernel, block, power::<WIDE>(exponent - integer_bits(WIDE)));
}

/// Whether [`from_integers`] gives these values.
#[inline(always)]
pub(super) fn are_exact<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    integers: &K::Block,
    exponent: i32,
    values: &K::Block,
) -> bool {
    values::are_floats::<K, N, WIDE>(kernel, integers, power::<WIDE>(exponent - integer_bits(WIDE)), values)
}
