//! The arithmetic of floats, for loops: operators that round as the type does, and faults that show without a branch.

use crate::number::{Rounding, round_to_bfloat16};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Sub};

/// A float in its own arithmetic. A fault shows by becoming infinite.
pub(super) trait ScaledFloat:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    type Bytes: Copy;
    /// As wide as the number, so that a vector of numbers has a vector of faults.
    type Fault: Copy + Default + PartialEq + BitOr<Output = Self::Fault> + BitAnd<Output = Self::Fault>;
    /// The bits of a fault that count.
    const TESTED: Self::Fault;
    fn from_bits(bits: u64) -> Self;
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;
    /// Whether this result may be a fault of any operation before it. A finite float that became infinite stays so in
    /// every operation with a finite operand that is not zero, but the number may have been infinite from the start.
    fn suspicion(self) -> Self::Fault;
}

/// Floats whose own operators already round as the data type requires.
pub(super) trait Native: ScaledFloat {
    /// Whether a suspicion is a fault: the number was finite before.
    fn fault(before: Self, after: Self) -> Self::Fault;
}

macro_rules! float {
    ($float:ty, $bits:ty, $size:literal) => {
        impl ScaledFloat for $float {
            type Bytes = [u8; $size];
            type Fault = $bits;
            const TESTED: $bits = 1 << (<$bits>::BITS - 1);

            fn from_bits(bits: u64) -> Self {
                Self::from_bits(bits as $bits)
            }

            #[inline(always)] // into the vectorised loop
            fn load(bytes: [u8; $size]) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[inline(always)] // into the vectorised loop
            fn store(self) -> [u8; $size] {
                self.to_ne_bytes()
            }

            #[inline(always)] // into the vectorised loop
            fn suspicion(self) -> $bits {
                // Only 0 sets the sign bit. A comparison would be narrowed to a vector of fewer bits.
                (self.abs().to_bits() ^ Self::INFINITY.to_bits()).wrapping_sub(1)
            }
        }

        impl Native for $float {
            #[inline(always)] // into the vectorised loop
            fn fault(before: Self, after: Self) -> $bits {
                // The sign bit is set if the number is not finite.
                let over = |number: Self| <$float>::MAX.to_bits().wrapping_sub(number.abs().to_bits());
                over(after) & !over(before)
            }
        }
    };
}

float!(f32, u32, 4);
float!(f64, u64, 8);

/// Two `bfloat16` as the upper halves of `float32`, in the arithmetic of that, rounded after each operation: `float32`
/// has more than twice the digits, so that this is the same as rounding once (Figueroa, "When is double rounding
/// innocuous?", 1995). Pairs part and join in place, which single numbers of 16 bits in 32-bit lanes do not.
///
/// The lower half of each word is ignored.
#[derive(Clone, Copy)]
pub(super) struct Bfloat16Pair([u32; 2]);

/// A NaN stays one, because the lower half of its bits is 0.
#[inline(always)] // into the vectorised loop
fn rounded(number: f32) -> u32 {
    round_to_bfloat16(number.to_bits(), Rounding::NearestEven)
}

macro_rules! rounding {
    ($($operator:ident, $method:ident);*) => {
        $(impl $operator for Bfloat16Pair {
            type Output = Self;

            #[inline(always)] // into the vectorised loop
            fn $method(self, operand: Self) -> Self {
                let wide = |bits: u32| f32::from_bits(bits & 0xFFFF_0000);
                let [(a, b), (c, d)] = [(self.0[0], operand.0[0]), (self.0[1], operand.0[1])];
                Self([rounded($operator::$method(wide(a), wide(b))), rounded($operator::$method(wide(c), wide(d)))])
            }
        })*
    };
}

rounding!(Add, add; Sub, sub; Mul, mul; Div, div);

impl ScaledFloat for Bfloat16Pair {
    type Bytes = [u8; 4];
    type Fault = u32;
    const TESTED: u32 = f32::TESTED;

    /// Twice the same number.
    fn from_bits(bits: u64) -> Self {
        Self([(bits as u32) << 16; 2])
    }

    #[inline(always)] // into the vectorised loop
    fn load(bytes: [u8; 4]) -> Self {
        let bits = u32::from_ne_bytes(bytes);
        Self([bits << 16, bits])
    }

    #[inline(always)] // into the vectorised loop
    fn store(self) -> [u8; 4] {
        (self.0[0] >> 16 | self.0[1] & 0xFFFF_0000).to_ne_bytes()
    }

    #[inline(always)] // into the vectorised loop
    fn suspicion(self) -> u32 {
        // The largest exponent overflows into the sign. NaNs are suspects, too: they are to become the format's
        // default.
        let suspicion = |bits: u32| bits ^ bits.wrapping_add(0x0080_0000);
        suspicion(self.0[0]) | suspicion(self.0[1])
    }
}
