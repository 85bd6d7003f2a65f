//! Floats as integers, with a lane for each block.

use super::super::block::{Limits, slack, width};
use super::super::float::{bias, exponent_bits, integer_bits};
use super::{EachLane, any_bits};

/// Integers and what is known of them.
pub(super) struct Integers<K: EachLane, const N: usize> {
    pub(super) values: [K::Vector; N],
    pub(super) headers: K::Vector,
    pub(super) header_lengths: K::Vector,
    /// How many planes are coded at most.
    pub(super) precisions: K::Vector,
    /// The blocks of which more than one bit is coded.
    pub(super) are_coded: K::Mask,
}

/// The exponents of the largest magnitudes, biased as [`exponent`](super::super::float::exponent) has them, and as they
/// are.
#[inline(always)]
fn largest_exponents<K: EachLane, const N: usize, const WIDE: bool>(
    kernel: K,
    values: &[K::Vector; N],
) -> [K::Vector; 2] {
    let (none, own_bias) = (kernel.zero(), kernel.all::<WIDE>(bias(WIDE).into()));
    let mut largest = none;
    for vector in values {
        largest = kernel.larger_magnitude::<WIDE>(largest, *vector);
    }
    let exponents = kernel.shifted_right::<WIDE>(largest, kernel.all::<WIDE>(mantissa_bits(WIDE)));
    let infinity = kernel.all::<WIDE>((1 << exponent_bits(WIDE)) - 1);
    let biased = kernel.add::<WIDE>(exponents, kernel.all::<WIDE>(1));
    let biased = kernel.select::<WIDE>(kernel.equal::<WIDE>(exponents, infinity), own_bias, biased);
    let biased = kernel.select::<WIDE>(kernel.equal::<WIDE>(largest, none), none, biased);
    [biased, kernel.sub::<WIDE>(biased, own_bias)]
}

#[inline(always)]
pub(super) fn lossy_integers<K: EachLane, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    values: [K::Vector; N],
) -> Integers<K, N> {
    let (none, one) = (kernel.zero(), kernel.all::<WIDE>(1));
    let [biased, exponents] = largest_exponents::<K, N, WIDE>(kernel, &values);
    let precisions = float_precisions::<K, N, WIDE>(kernel, limits, exponents, limits.maxprec.min(width(WIDE)));
    let has_exponent = kernel.not(kernel.equal::<WIDE>(biased, none));
    let has_planes = kernel.not(kernel.equal::<WIDE>(precisions, none));
    Integers {
        values: to_integers::<K, N, WIDE>(kernel, values, exponents),
        headers: kernel.add::<WIDE>(kernel.add::<WIDE>(biased, biased), one),
        header_lengths: kernel.all::<WIDE>((1 + exponent_bits(WIDE)).into()),
        precisions,
        are_coded: kernel.both(has_exponent, has_planes),
    }
}

/// How many planes of floats of these exponents are coded, up to `most`: [`Limits::precision`] of each block.
#[inline(always)]
pub(in super::super) fn float_precisions<K: EachLane, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    exponents: K::Vector,
    most: u32,
) -> K::Vector {
    // Exponents of floats are far from these limits, and sums with them do not overflow.
    let least = limits.minexp.clamp(-4096, 4096);
    let planes = kernel.sub::<WIDE>(exponents, kernel.all::<WIDE>(i64::from(least) - slack::<N>()));
    kernel.smaller::<WIDE>(kernel.larger::<WIDE>(planes, kernel.zero()), kernel.all::<WIDE>(most.into()))
}

/// Scaled integers of blocks that decode to the same values, and the bits of the others.
#[inline(always)]
pub(super) fn reversible_integers<K: EachLane, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    values: [K::Vector; N],
) -> Integers<K, N> {
    let (none, two) = (kernel.zero(), kernel.all::<WIDE>(2));
    let [biased, exponents] = largest_exponents::<K, N, WIDE>(kernel, &values);
    let mut integers = to_integers::<K, N, WIDE>(kernel, values, exponents);
    let own_scale = kernel.sub::<WIDE>(exponents, kernel.all::<WIDE>(integer_bits(WIDE).into()));
    let factors = powers::<K, WIDE>(kernel, own_scale);
    let mut differences = none;
    for (value, integer) in values.iter().zip(&integers) {
        let decoded = kernel.product::<WIDE>(kernel.to_floats::<WIDE>(*integer), factors);
        differences = kernel.or(differences, kernel.xor(*value, decoded));
    }
    let has_no_exponent = kernel.equal::<WIDE>(biased, none);
    let are_scaled = kernel.both(
        kernel.both(kernel.equal::<WIDE>(differences, none), kernel.not(has_no_exponent)),
        kernel.not(have_infinite_scale::<K, WIDE>(kernel, exponents)),
    );
    for (value, integer) in values.iter().zip(&mut integers) {
        *integer = kernel.select::<WIDE>(are_scaled, *integer, kernel.reinterpret::<WIDE>(*value));
    }
    let header = kernel.or(kernel.shifted_left::<WIDE>(biased, two), kernel.all::<WIDE>(0b01));
    let header_length = kernel.all::<WIDE>((2 + exponent_bits(WIDE)).into());
    let are_zeros = kernel.both(has_no_exponent, kernel.equal::<WIDE>(any_bits(kernel, &values), none));
    Integers {
        values: integers,
        headers: kernel.select::<WIDE>(are_scaled, header, kernel.all::<WIDE>(0b11)),
        header_lengths: kernel.select::<WIDE>(are_scaled, header_length, two),
        precisions: kernel.all::<WIDE>(limits.maxprec.min(width(WIDE)).into()),
        are_coded: kernel.not(are_zeros),
    }
}

/// Floats of these exponents to integers: [`to_integers`](super::super::float::to_integers) of each block.
#[inline(always)]
fn to_integers<K: EachLane, const N: usize, const WIDE: bool>(
    kernel: K,
    mut values: [K::Vector; N],
    exponents: K::Vector,
) -> [K::Vector; N] {
    let mut powers_of_factors = kernel.sub::<WIDE>(kernel.all::<WIDE>(integer_bits(WIDE).into()), exponents);
    let are_small = have_infinite_scale::<K, WIDE>(kernel, exponents);
    if kernel.any(are_small) {
        // In two steps, each exact.
        let first = kernel.select::<WIDE>(are_small, kernel.all::<WIDE>(64), kernel.zero());
        powers_of_factors = kernel.sub::<WIDE>(powers_of_factors, first);
        let factors = powers::<K, WIDE>(kernel, first);
        for vector in &mut values {
            *vector = kernel.product::<WIDE>(*vector, factors);
        }
    }
    let factors = powers::<K, WIDE>(kernel, powers_of_factors);
    for vector in &mut values {
        *vector = kernel.truncate::<WIDE>(kernel.product::<WIDE>(*vector, factors));
    }
    values
}

/// The blocks without [`has_finite_scale`](super::super::float::has_finite_scale).
#[inline(always)]
fn have_infinite_scale<K: EachLane, const WIDE: bool>(kernel: K, exponents: K::Vector) -> K::Mask {
    kernel.less::<WIDE>(exponents, kernel.all::<WIDE>((integer_bits(WIDE) - bias(WIDE)).into()))
}

/// 2^exponent, subnormal or 0 if that is small.
#[inline(always)]
pub(in super::super) fn powers<K: EachLane, const WIDE: bool>(kernel: K, exponents: K::Vector) -> K::Vector {
    let one = kernel.all::<WIDE>(1);
    let biased = kernel.add::<WIDE>(exponents, kernel.all::<WIDE>(bias(WIDE).into()));
    let normal = kernel.shifted_left::<WIDE>(biased, kernel.all::<WIDE>(mantissa_bits(WIDE)));
    let bit = kernel.add::<WIDE>(biased, kernel.all::<WIDE>(mantissa_bits(WIDE) - 1));
    let subnormal = kernel.shifted_left::<WIDE>(one, bit);
    kernel.select::<WIDE>(kernel.less::<WIDE>(biased, one), subnormal, normal)
}

fn mantissa_bits(wide: bool) -> i64 {
    (width(wide) - 1 - exponent_bits(wide)).into()
}
