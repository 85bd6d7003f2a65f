//! Floats as integers, with a lane for each block.

use super::super::super::block::{Limits, slack, width};
use super::super::super::float::{bias, exponent_bits, integer_bits};
use super::super::super::lanes::{Arithmetic, Lanes};
use super::super::Avx512;
use super::super::each_lane::{all, equal, larger, less, multiply, select, shifted_left, smaller};
use super::any_bits;
use std::arch::x86_64::*;

/// Integers and what is known of them.
pub(super) struct Integers<const N: usize> {
    pub(super) values: [__m512i; N],
    pub(super) headers: __m512i,
    pub(super) header_lengths: __m512i,
    /// How many planes are coded at most.
    pub(super) precisions: __m512i,
    /// The blocks of which more than one bit is coded.
    pub(super) are_coded: u16,
}

/// The exponents of the largest magnitudes, biased as [`exponent`](super::super::super::float::exponent) has them, and
/// as they are.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn largest_exponents<const N: usize, const WIDE: bool>(kernel: Avx512, values: &[__m512i; N]) -> [__m512i; 2] {
    let mut largest = kernel.zero();
    for vector in values {
        largest = kernel.larger_magnitude::<WIDE>(largest, *vector);
    }
    let exponents = if WIDE { _mm512_srli_epi64::<52>(largest) } else { _mm512_srli_epi32::<23>(largest) };
    let infinity = all::<WIDE>((1 << exponent_bits(WIDE)) - 1);
    let biased = kernel.add::<WIDE>(exponents, all::<WIDE>(1));
    let biased = select::<WIDE>(equal::<WIDE>(exponents, infinity), all::<WIDE>(bias(WIDE).into()), biased);
    let biased = select::<WIDE>(equal::<WIDE>(largest, kernel.zero()), kernel.zero(), biased);
    [biased, kernel.sub::<WIDE>(biased, all::<WIDE>(bias(WIDE).into()))]
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn lossy_integers<const N: usize, const WIDE: bool>(
    kernel: Avx512,
    limits: &Limits,
    values: [__m512i; N],
) -> Integers<N> {
    let [biased, exponents] = largest_exponents::<N, WIDE>(kernel, &values);
    let precisions = float_precisions::<N, WIDE>(kernel, limits, exponents, limits.maxprec.min(width(WIDE)));
    let are_coded = !equal::<WIDE>(biased, kernel.zero()) & !equal::<WIDE>(precisions, kernel.zero());
    Integers {
        values: to_integers::<N, WIDE>(kernel, values, exponents),
        headers: kernel.add::<WIDE>(kernel.add::<WIDE>(biased, biased), all::<WIDE>(1)),
        header_lengths: all::<WIDE>((1 + exponent_bits(WIDE)).into()),
        precisions,
        are_coded,
    }
}

/// How many planes of floats of these exponents are coded, up to so many: [`Limits::precision`] of each block.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in super::super) fn float_precisions<const N: usize, const WIDE: bool>(
    kernel: Avx512,
    limits: &Limits,
    exponents: __m512i,
    most: u32,
) -> __m512i {
    // Exponents of floats are far from these limits, and sums with them do not overflow.
    let least = limits.minexp.clamp(-4096, 4096);
    let planes = kernel.sub::<WIDE>(exponents, all::<WIDE>(i64::from(least) - slack::<N>()));
    smaller::<WIDE>(larger::<WIDE>(planes, all::<WIDE>(0)), all::<WIDE>(most.into()))
}

/// Scaled integers of blocks that decode to the same values, and the bits of the others.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn reversible_integers<const N: usize, const WIDE: bool>(
    kernel: Avx512,
    limits: &Limits,
    values: [__m512i; N],
) -> Integers<N> {
    let [biased, exponents] = largest_exponents::<N, WIDE>(kernel, &values);
    let mut integers = to_integers::<N, WIDE>(kernel, values, exponents);
    let factors = powers::<WIDE>(kernel, kernel.sub::<WIDE>(exponents, all::<WIDE>(integer_bits(WIDE).into())));
    let mut differences = kernel.zero();
    for (value, integer) in values.iter().zip(&integers) {
        let decoded = multiply::<WIDE>(kernel.to_floats::<WIDE>(*integer), factors);
        differences = kernel.or(differences, kernel.xor(*value, decoded));
    }
    let are_scaled = equal::<WIDE>(differences, kernel.zero())
        & !equal::<WIDE>(biased, kernel.zero())
        & !have_infinite_scale::<WIDE>(exponents);
    for (value, integer) in values.iter().zip(&mut integers) {
        *integer = select::<WIDE>(are_scaled, *integer, kernel.reinterpret::<WIDE>(*value));
    }
    let header = kernel.or(shifted_left::<WIDE>(biased, all::<WIDE>(2)), all::<WIDE>(0b01));
    let are_zeros = equal::<WIDE>(biased, kernel.zero()) & equal::<WIDE>(any_bits(kernel, &values), kernel.zero());
    Integers {
        values: integers,
        headers: select::<WIDE>(are_scaled, header, all::<WIDE>(0b11)),
        header_lengths: select::<WIDE>(are_scaled, all::<WIDE>((2 + exponent_bits(WIDE)).into()), all::<WIDE>(2)),
        precisions: all::<WIDE>(limits.maxprec.min(width(WIDE)).into()),
        are_coded: !are_zeros,
    }
}

/// Floats of these exponents to integers: [`to_integers`](super::super::super::float::to_integers) of each block.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn to_integers<const N: usize, const WIDE: bool>(
    kernel: Avx512,
    mut values: [__m512i; N],
    exponents: __m512i,
) -> [__m512i; N] {
    let mut powers_of_factors = kernel.sub::<WIDE>(all::<WIDE>(integer_bits(WIDE).into()), exponents);
    let are_small = have_infinite_scale::<WIDE>(exponents);
    if are_small != 0 {
        // In two steps, each exact.
        let first = select::<WIDE>(are_small, all::<WIDE>(64), kernel.zero());
        powers_of_factors = kernel.sub::<WIDE>(powers_of_factors, first);
        let factors = powers::<WIDE>(kernel, first);
        for vector in &mut values {
            *vector = multiply::<WIDE>(*vector, factors);
        }
    }
    let factors = powers::<WIDE>(kernel, powers_of_factors);
    for vector in &mut values {
        *vector = kernel.truncate::<WIDE>(multiply::<WIDE>(*vector, factors));
    }
    values
}

/// The blocks without [`has_finite_scale`](super::super::super::float::has_finite_scale).
#[inline]
#[target_feature(enable = "avx512f")]
fn have_infinite_scale<const WIDE: bool>(exponents: __m512i) -> u16 {
    less::<WIDE>(exponents, all::<WIDE>((integer_bits(WIDE) - bias(WIDE)).into()))
}

/// 2^exponent, subnormal or 0 if that is small.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn powers<const WIDE: bool>(kernel: Avx512, exponents: __m512i) -> __m512i {
    let mantissa_bits = i64::from(width(WIDE) - 1 - exponent_bits(WIDE));
    let biased = kernel.add::<WIDE>(exponents, all::<WIDE>(bias(WIDE).into()));
    let normal = shifted_left::<WIDE>(biased, all::<WIDE>(mantissa_bits));
    let bit = kernel.add::<WIDE>(biased, all::<WIDE>(mantissa_bits - 1));
    let subnormal = shifted_left::<WIDE>(all::<WIDE>(1), bit);
    select::<WIDE>(less::<WIDE>(biased, all::<WIDE>(1)), subnormal, normal)
}
