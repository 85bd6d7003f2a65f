//! Lanes of `f32` and `f64`, and the rounding modes as types.
#![expect(unsafe_code, reason = "converts numbers that are known to be in range")]

use super::lane::Lane;
use crate::number::Rounding;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A float lane. Its own operations round to nearest, ties to even.
pub(in crate::codec::cast_value) trait Float:
    Lane
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const MANTISSA_BITS: u32;
    const BIAS: i32;
    /// `1.5 * 2^MANTISSA_BITS`: added to a magnitude of at most a quarter of it, it leaves the number rounded to an
    /// integer in the low bits.
    const MAGIC: Self;
    /// A quarter of the magic number.
    const LIMIT: Self;
    const ONE: Self;
    fn from_f64(value: f64) -> Self;
    /// `self * factor + summand`, rounded once.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// Not 0 if the number is infinite or NaN: then it differs from itself.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "NaN minus itself is not 0")]
    fn not_finite(self) -> Self::Bits {
        (self - self).bits()
    }
    /// The integer towards zero.
    ///
    /// # Safety
    /// The magnitude is at most [`LIMIT`](Self::LIMIT).
    unsafe fn truncate(self) -> Self::Bits;
    /// The integer towards zero.
    ///
    /// # Safety
    /// It is an `i32`.
    unsafe fn to_i32(self) -> i32;
}

macro_rules! float {
    ($float:ty, $bias:literal, $truncate:expr) => {
        impl Float for $float {
            const MANTISSA_BITS: u32 = <$float>::MANTISSA_DIGITS - 1;
            const BIAS: i32 = $bias;
            const MAGIC: Self = 1.5 * (1_u64 << Self::MANTISSA_BITS) as $float;
            const LIMIT: Self = 0.25 * Self::MAGIC;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                <$float>::mul_add(self, factor, summand)
            }
            #[inline(always)]
            unsafe fn to_i32(self) -> i32 {
                // SAFETY: the caller promises the same.
                unsafe { self.to_int_unchecked() }
            }
            #[inline(always)]
            unsafe fn truncate(self) -> Self::Bits {
                $truncate(self)
            }
        }
    };
}
float!(f32, 127, |number: f32| {
    // SAFETY: the limit is less than 2^31.
    unsafe { number.to_int_unchecked::<i32>() }.cast_unsigned()
});
float!(f64, 1023, |number: f64| {
    // Vectors of this have no instruction before AVX-512.
    let sum = number + f64::MAGIC;
    let nearest = sum - f64::MAGIC;
    let is_past = if number > 0.0 { nearest > number } else { nearest < number };
    let step = u64::from(is_past);
    let step = if number > 0.0 { step.wrapping_neg() } else { step };
    sum.to_bits().wrapping_sub(f64::MAGIC.to_bits()).wrapping_add(step)
});

/// A rounding mode.
pub(in crate::codec::cast_value) trait RoundingMode:
    Copy + Debug + Send + Sync + 'static
{
    const ROUNDING: Rounding;
}

macro_rules! mode {
    ($($name:ident)*) => {$(
        #[derive(Debug, Clone, Copy)]
        pub(in crate::codec::cast_value) struct $name;
        impl RoundingMode for $name {
            const ROUNDING: Rounding = Rounding::$name;
        }
    )*};
}
mode! { NearestEven TowardsZero TowardsPositive TowardsNegative NearestAway }

/// Evaluates an expression in which `$mode` is the type of a rounding mode.
macro_rules! with_mode {
    ($rounding:expr, $mode:ident => $work:expr) => {
        match $rounding {
            Rounding::NearestEven => {
                type $mode = $crate::codec::cast_value::portable::float::NearestEven;
                $work
            }
            Rounding::TowardsZero => {
                type $mode = $crate::codec::cast_value::portable::float::TowardsZero;
                $work
            }
            Rounding::TowardsPositive => {
                type $mode = $crate::codec::cast_value::portable::float::TowardsPositive;
                $work
            }
            Rounding::TowardsNegative => {
                type $mode = $crate::codec::cast_value::portable::float::TowardsNegative;
                $work
            }
            Rounding::NearestAway => {
                type $mode = $crate::codec::cast_value::portable::float::NearestAway;
                $work
            }
        }
    };
}
pub(in crate::codec::cast_value) use with_mode;

/// The units, 1, 0 or -1 as wrapping bits, from a magnitude rounded to nearest to the one that a directed mode gives.
#[inline(always)]
pub(in crate::codec::cast_value) fn directed<M: RoundingMode, F: Float>(
    magnitude: F,
    nearest: F,
    is_negative: bool,
) -> u64 {
    let up = u64::from(nearest < magnitude);
    let down = u64::from(nearest > magnitude).wrapping_neg();
    match M::ROUNDING {
        Rounding::NearestEven | Rounding::NearestAway => 0,
        Rounding::TowardsZero => down,
        Rounding::TowardsPositive => {
            if is_negative {
                down
            } else {
                up
            }
        }
        Rounding::TowardsNegative => {
            if is_negative {
                up
            } else {
                down
            }
        }
    }
}
