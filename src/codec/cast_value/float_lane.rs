//! `f32` and `f64` lanes, and the rounding modes as types.

use super::lane::Lane;
use crate::data_type::Rounding;
use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Sub};

/// A float lane that rounds by itself only to nearest, ties to even.
pub(super) trait Float:
    Lane + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    const MANTISSA_BITS: u32;
    const BIAS: i32;
    /// `1.5 * 2^MANTISSA_BITS`: added to a magnitude of at most a quarter of it, it leaves the number rounded to an
    /// integer in the low bits.
    const MAGIC: Self;
    const ZERO: Self;
    fn from_f64(value: f64) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! float {
    ($float:ty, $bias:literal) => {
        impl Float for $float {
            const MANTISSA_BITS: u32 = <$float>::MANTISSA_DIGITS - 1;
            const BIAS: i32 = $bias;
            const MAGIC: Self = 1.5 * (1_u64 << Self::MANTISSA_BITS) as $float;
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$float>::is_finite(self)
            }
        }
    };
}
float!(f32, 127);
float!(f64, 1023);

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

/// What leads from the magnitude rounded to nearest, ties to even, to the one that a mode asks for: 1, 0 or -1 units,
/// as wrapping bits. `half_unit` is half the distance between neighbours.
#[inline(always)]
pub(super) fn correction<M: Mode, F: Float>(magnitude: F, nearest: F, half_unit: F, is_negative: bool) -> u64 {
    let up = u64::from(nearest < magnitude);
    let down = u64::from(nearest > magnitude).wrapping_neg();
    match M::ROUNDING {
        Rounding::NearestEven => 0,
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
        Rounding::NearestAway => u64::from(magnitude - nearest == half_unit),
    }
}
