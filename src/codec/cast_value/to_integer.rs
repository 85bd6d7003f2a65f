//! Floats to integers.
#![expect(unsafe_code, reason = "converts without asking again whether a number is in range")]

use super::convert::{self, Eight};
use super::float_lane::{Float, Mode, WithMode, with_mode};
use super::integer::LowBits;
use super::lane::{Bits, Convert, Integer, Lane, Low, Pass, each, flag};
use super::reference::{Cast, OutOfRange};
use super::scaled::Scaled;
use crate::codec::scale_offset::Scaling;
use crate::data_type::{Component, Rounding, integer_range};
use std::marker::PhantomData;

/// The pass from lanes of `F`, whatever type they were widened from. `f32` lanes hold the bounds of up to 16 bits.
pub(super) fn pass<F: Float + Eight>(cast: &Cast) -> Option<Box<dyn Pass>> {
    Some(with_mode(cast.rounding, Pick::<F>::new(cast, None)?))
}

/// The same, of what scaling makes of a number; to up to 32 bits, not wrapping. A map may be of every NaN alone.
pub(super) fn scaled_pass<F: Float + Eight>(cast: &Cast, scaling: Scaling) -> Option<Box<dyn Pass>> {
    Some(with_mode(cast.rounding, Pick::<F>::new(cast, Some(scaling))?))
}

/// Whether the lanes suffice for this target.
pub(super) fn fits_f32(cast: &Cast) -> bool {
    cast.target.bits() <= 16 && cast.out_of_range != OutOfRange::Wrap
}

/// Whether a vector of `f64` can be narrowed to this target without wrapping.
pub(super) fn fits_f64(cast: &Cast) -> bool {
    cast.target.bits() <= 32 && cast.out_of_range != OutOfRange::Wrap
}

struct Pick<F> {
    out_of_range: OutOfRange,
    bits: u32,
    signed: bool,
    scaling: Option<Scaling>,
    from: PhantomData<F>,
}

impl<F: Float + Eight> Pick<F> {
    fn new(cast: &Cast, scaling: Option<Scaling>) -> Option<Self> {
        let Component::Int { bits, signed } = cast.target else { return None };
        Some(Self { out_of_range: cast.out_of_range, bits, signed, scaling, from: PhantomData })
    }

    fn to_size<M: Mode, const CHECKED: bool>(&self) -> Box<dyn Pass> {
        match (self.bits, self.signed) {
            (..=8, false) => self.narrow::<u8, u8, M, CHECKED>(),
            (..=8, true) => self.narrow::<u8, i8, M, CHECKED>(),
            (16, false) => self.narrow::<u16, u16, M, CHECKED>(),
            (16, true) => self.narrow::<u16, i16, M, CHECKED>(),
            _ => self.narrow::<u32, u32, M, CHECKED>(),
        }
    }

    /// `T` for loops that store low bits, `N` where it matters whether the target has a sign.
    fn narrow<T: Integer, N: Integer, M: Mode, const CHECKED: bool>(&self) -> Box<dyn Pass> {
        let range = integer_range(self.bits, self.signed);
        let conversion = Narrow::<F, T, M, CHECKED>::new(range.0, range.1);
        let general = match self.scaling {
            Some(scaling) => each(Scaled::new(conversion, scaling)),
            None => each(conversion),
        };
        convert::narrow::<F, N, M, CHECKED>(range, self.scaling, general)
    }
}

impl<F: Float + Eight> WithMode for Pick<F> {
    type Output = Box<dyn Pass>;

    fn with<M: Mode>(self) -> Box<dyn Pass> {
        match (self.out_of_range, self.bits) {
            (OutOfRange::Wrap, ..=8) => each(Wrap::<u8, M>::new(&self)),
            (OutOfRange::Wrap, 16) => each(Wrap::<u16, M>::new(&self)),
            (OutOfRange::Wrap, 32) => each(Wrap::<u32, M>::new(&self)),
            (OutOfRange::Wrap, _) => each(Wrap::<u64, M>::new(&self)),
            (policy, 64) => {
                let is_clamped = policy == OutOfRange::Clamp;
                if self.signed {
                    each(Wide::<i64, M> { is_clamped, to: PhantomData, mode: PhantomData })
                } else {
                    each(Wide::<u64, M> { is_clamped, to: PhantomData, mode: PhantomData })
                }
            }
            (OutOfRange::Clamp, _) => self.to_size::<M, false>(),
            (OutOfRange::Error, _) => self.to_size::<M, true>(),
        }
    }
}

/// The number rounded to an integer.
///
/// # Safety
/// Its magnitude is at most [`Float::LIMIT`].
#[inline(always)]
unsafe fn rounded<F: Float, M: Mode>(number: F) -> F::Bits {
    if M::ROUNDING == Rounding::TowardsZero {
        // SAFETY: the same is asked of the caller.
        return unsafe { number.truncate() };
    }
    // The last bit breaks ties, and changes nothing else: it is worth at most a quarter.
    let tie_bit = F::Bits::truncate(u64::from(M::ROUNDING == Rounding::NearestAway));
    let number = F::from_bits(number.bits() | tie_bit);
    let sum = number + F::MAGIC;
    let nearest = sum - F::MAGIC;
    let step = match M::ROUNDING {
        Rounding::TowardsPositive => u64::from(nearest < number),
        Rounding::TowardsNegative => u64::from(nearest > number).wrapping_neg(),
        _ => 0,
    };
    sum.bits().minus(F::MAGIC.bits()).plus(F::Bits::truncate(step))
}

/// The number rounded to an integer, still as a float; towards zero, that is left to the conversion.
#[inline(always)]
fn whole<F: Float, M: Mode>(number: F) -> F {
    let nearest = (number + F::MAGIC) - F::MAGIC;
    match M::ROUNDING {
        Rounding::NearestEven => nearest,
        Rounding::NearestAway => (F::from_bits(number.bits() | F::Bits::truncate(1)) + F::MAGIC) - F::MAGIC,
        Rounding::TowardsZero => number,
        Rounding::TowardsPositive if nearest < number => nearest + F::ONE,
        Rounding::TowardsNegative if nearest > number => nearest - F::ONE,
        _ => nearest,
    }
}

/// Integers of up to 32 bits. The number is first cut to what lies just outside the range (checked) or at its ends
/// (clamped): both are integers, so this does not change what it is rounded to.
#[derive(Debug, Clone, Copy)]
struct Narrow<F: Float, T, M, const CHECKED: bool> {
    low: F,
    high: F,
    least: F::Bits,
    outside: F::Bits,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

impl<F: Float, T, M, const CHECKED: bool> Narrow<F, T, M, CHECKED> {
    fn new(least: i128, most: i128) -> Self {
        let margin = i128::from(CHECKED);
        let bound = |value: i128| {
            let bound = F::from_f64(value as f64);
            assert!(-F::LIMIT <= bound && bound <= F::LIMIT, "{value} is too much for the lanes");
            bound
        };
        Self {
            low: bound(least - margin),
            high: bound(most + margin),
            least: F::Bits::truncate(least as u64),
            outside: F::Bits::truncate(!(most - least) as u64),
            to: PhantomData,
            mode: PhantomData,
        }
    }
}

impl<F: Float, T: Integer, M: Mode, const CHECKED: bool> Convert for Narrow<F, T, M, CHECKED> {
    type Source = F;
    type Target = Low<T>;

    #[inline(always)]
    fn convert(&self, element: F) -> (Low<T>, F::Bits) {
        // NaN becomes `low`: outside, if checked.
        let number = if element > self.low { element } else { self.low };
        let number = if number < self.high { number } else { self.high };
        if size_of::<T>() < size_of::<i32>() && size_of::<i32>() < size_of::<F>() {
            // Vectors of `f64` become vectors of 32-bit integers, half the way to the target.
            let whole = whole::<F, M>(number);
            // SAFETY: the number is between the two, which 32 bits hold.
            let integer = unsafe { whole.to_i32() };
            let fault = if CHECKED {
                let distance = (integer as u32).wrapping_sub(self.least.extend() as u32);
                F::Bits::truncate(u64::from(distance & self.outside.extend() as u32))
            } else {
                element.not_finite()
            };
            return (Low::new(integer as u32), fault);
        }
        // SAFETY: the number is between the two, which are no further from 0 than the limit.
        let integer = unsafe { rounded::<F, M>(number) };
        // Neither NaN nor infinities are clamped.
        let fault = if CHECKED { integer.minus(self.least) & self.outside } else { element.not_finite() };
        (Low::new(integer.extend() as u32), fault)
    }
}

/// Modulo `2^N`, of numbers that a `f64` lane holds with their fraction's first bit; larger ones are for the reference.
#[derive(Debug, Clone, Copy)]
struct Wrap<T, M> {
    low: LowBits,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

impl<T, M> Wrap<T, M> {
    fn new<F>(pick: &Pick<F>) -> Self {
        Self { low: LowBits::new(pick.bits, pick.signed), to: PhantomData, mode: PhantomData }
    }
}

impl<T: Integer, M: Mode> Convert for Wrap<T, M> {
    type Source = f64;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: f64) -> (T, Bits<Self>) {
        let number = if element > -f64::LIMIT { element } else { -f64::LIMIT };
        let number = if number < f64::LIMIT { number } else { f64::LIMIT };
        // SAFETY: the number is between the two.
        let integer = unsafe { rounded::<f64, M>(number) };
        (T::truncate(self.low.of(integer)), flag(number != element))
    }
}

/// 64-bit integers, whose bounds no float lane holds: the conversion saturates.
#[derive(Debug, Clone, Copy)]
struct Wide<T, M> {
    is_clamped: bool,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

trait Saturating: Integer {
    /// The range is `LEAST <= x < END`.
    const LEAST: f64;
    const END: f64;
    fn saturate(number: f64) -> Self;
}

impl Saturating for i64 {
    const LEAST: f64 = i64::MIN as f64;
    const END: f64 = -Self::LEAST;
    #[inline(always)]
    fn saturate(number: f64) -> Self {
        number as Self
    }
}

impl Saturating for u64 {
    const LEAST: f64 = 0.0;
    const END: f64 = 2.0 * <i64 as Saturating>::END;
    #[inline(always)]
    fn saturate(number: f64) -> Self {
        number as Self
    }
}

impl<T: Saturating + Lane, M: Mode> Convert for Wide<T, M> {
    type Source = f64;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: f64) -> (T, Bits<Self>) {
        let number = match M::ROUNDING {
            Rounding::NearestEven => element.round_ties_even(),
            Rounding::TowardsZero => element.trunc(),
            Rounding::TowardsPositive => element.ceil(),
            Rounding::TowardsNegative => element.floor(),
            // Not `round`: that of Windows' C library (mingw-w64) adds 0.5, which makes 1 of the largest number below it.
            Rounding::NearestAway => (element + 0.5_f64.next_down().copysign(element)).trunc(),
        };
        let is_inside = (number >= T::LEAST) & (number < T::END);
        (T::saturate(number), flag(!is_inside & !(self.is_clamped & element.is_finite())))
    }
}
