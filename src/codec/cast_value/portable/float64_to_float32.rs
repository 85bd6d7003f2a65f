//! `f64` to `f32`.

use super::float::{RoundingMode, with_mode};
use super::loops::{Convert, each, fault, flag};
use crate::codec::cast_value::kernel::{Kernel, optimistic};
use crate::number::Rounding;
use std::marker::PhantomData;

pub(in crate::codec::cast_value) fn kernel(rounding: Rounding, is_clamped: bool) -> Box<dyn Kernel> {
    with_mode!(rounding, M => {
        let mode = PhantomData::<M>;
        let quick = match rounding {
            Rounding::NearestEven | Rounding::NearestAway => each(QuickNearest { mode }),
            _ => each(QuickDirected { mode }),
        };
        optimistic(quick, each(Thorough { is_clamped, mode }))
    })
}

/// Rounds as the processor does, to nearest with ties to even, and then to a neighbour if the mode asks for it.
#[inline(always)]
fn round<M: RoundingMode>(element: f64, is_finite: bool) -> f32 {
    let bits = element.to_bits();
    let is_negative = bits >> 63 != 0;
    let nearest = element as f32;
    let back = f64::from(nearest);
    let step = |is_too_large: bool, is_too_small: bool| {
        // Bits count magnitudes: one up is one away from zero.
        let step = i32::from(is_too_small) - i32::from(is_too_large);
        nearest.to_bits().wrapping_add(if is_negative { -step } else { step } as u32)
    };
    f32::from_bits(match M::ROUNDING {
        Rounding::NearestEven => nearest.to_bits(),
        // The last bit breaks ties, and changes nothing else.
        Rounding::NearestAway => (f64::from_bits(bits | u64::from(is_finite)) as f32).to_bits(),
        Rounding::TowardsZero => nearest.to_bits().wrapping_sub(u32::from(back.abs() > element.abs())),
        Rounding::TowardsPositive => step(false, back < element),
        Rounding::TowardsNegative => step(back > element, false),
    })
}

const SIGN: u64 = 1 << 63;

/// Of the largest `f32`.
const MAX_BITS: u64 = (f32::MAX as f64).to_bits();

#[inline(always)]
fn magnitude(element: f64) -> u64 {
    element.to_bits() & !SIGN
}

/// Refuses numbers above the largest `f32`; up to there no mode overflows.
#[derive(Debug, Clone, Copy)]
struct QuickNearest<M> {
    mode: PhantomData<M>,
}

impl<M: RoundingMode> Convert for QuickNearest<M> {
    type Source = f64;
    type Target = f32;

    #[inline(always)]
    fn convert(&self, element: f64) -> (f32, u64) {
        (round::<M>(element, true), MAX_BITS.wrapping_sub(magnitude(element)) & SIGN)
    }
}

/// Refuses subnormal results as well: for normal ones, the number of bits to round off is fixed.
#[derive(Debug, Clone, Copy)]
struct QuickDirected<M> {
    mode: PhantomData<M>,
}

impl<M: RoundingMode> Convert for QuickDirected<M> {
    type Source = f64;
    type Target = f32;

    #[inline(always)]
    fn convert(&self, element: f64) -> (f32, u64) {
        const REST: u64 = (1 << 29) - 1;
        const MIN_BITS: u64 = (f32::MIN_POSITIVE as f64).to_bits();
        let bits = element.to_bits();
        let is_negative = bits.cast_signed() < 0;
        let goes_up = match M::ROUNDING {
            Rounding::TowardsPositive => !is_negative,
            Rounding::TowardsNegative => is_negative,
            _ => false,
        };
        let rounded = f64::from_bits(bits.wrapping_add(flag::<u64>(goes_up) & REST) & !REST);
        // Each has its sign bit set if its name is true.
        let magnitude = magnitude(element);
        let is_over = MAX_BITS.wrapping_sub(magnitude);
        let is_under = magnitude.wrapping_sub(MIN_BITS);
        let is_not_zero = magnitude.wrapping_neg();
        (rounded as f32, (is_over | is_under) & is_not_zero & SIGN)
    }
}

#[derive(Debug, Clone, Copy)]
struct Thorough<M> {
    is_clamped: bool,
    mode: PhantomData<M>,
}

impl<M: RoundingMode> Convert for Thorough<M> {
    type Source = f64;
    type Target = f32;

    #[inline(always)]
    fn convert(&self, element: f64) -> (f32, u64) {
        /// From here on, numbers round past the largest `f32` in the nearest modes.
        const TIE: f64 = 3.402_823_567_797_336_6e38;
        const END: f64 = 2.0 * (1_u128 << 127) as f64;
        const MAX: f64 = f32::MAX as f64;
        let magnitude = element.abs();
        let is_over = match M::ROUNDING {
            Rounding::NearestEven | Rounding::NearestAway => magnitude >= TIE,
            Rounding::TowardsZero => magnitude >= END,
            Rounding::TowardsPositive => (element > MAX) | (-element >= END),
            Rounding::TowardsNegative => (-element > MAX) | (element >= END),
        };
        let number =
            if is_over { f32::INFINITY.copysign(element as f32) } else { round::<M>(element, element.is_finite()) };
        let number = if element.is_nan() { f32::from_bits(0x7FC0_0000) } else { number };
        (number, fault(is_over & (magnitude < f64::INFINITY) & !self.is_clamped))
    }
}
