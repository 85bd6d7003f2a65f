//! `f32` and `f64` lanes, and the rounding modes as types.
#![expect(unsafe_code, reason = "converts without asking again whether a number is in range")]

use super::lane::Lane;
use crate::data_type::Rounding;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A float lane that rounds by itself only to nearest, ties to even.
pub(super) trait Float:
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
    /// Not zero if it is infinite or not a number: only then the difference is not 0.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "not a number minus itself is not 0")]
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
            unsafe fn to_i32(self) -> i32 {
                // SAFETY: the same is asked of the caller.
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
pub(super) trait Mode: Copy + Debug + Send + Sync + 'static {
    const ROUNDING: Rounding;
}

macro_rules! mode {
    ($($name:ident)*) => {$(
        #[derive(Debug, Clone, Copy)]
        pub(super) struct $name;
        impl Mode for $name {
            const ROUNDING: Rounding = Rounding::$name;
        }
    )*};
}
mode! { NearestEven TowardsZero TowardsPositive TowardsNegative NearestAway }

/// Something to be done with a mode that is known when it is compiled.
pub(super) trait WithMode {
    type Output;
    fn with<M: Mode>(self) -> Self::Output;
}

pub(super) fn with_mode<W: WithMode>(rounding: Rounding, work: W) -> W::Output {
    match rounding {
        Rounding::NearestEven => work.with::<NearestEven>(),
        Rounding::TowardsZero => work.with::<TowardsZero>(),
        Rounding::TowardsPositive => work.with::<TowardsPositive>(),
        Rounding::TowardsNegative => work.with::<TowardsNegative>(),
        Rounding::NearestAway => work.with::<NearestAway>(),
    }
}

/// What leads from the magnitude rounded to nearest to the one that a directed mode asks for: 1, 0 or -1 units, as
/// wrapping bits.
#[inline(always)]
pub(super) fn directed<M: Mode, F: Float>(magnitude: F, nearest: F, is_negative: bool) -> u64 {
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
