//! The arithmetic of floats, for loops: operators that round as the type does, and faults that show without a branch.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Sub};

/// A float in its own arithmetic. A fault shows by becoming infinite.
pub(super) trait Number:
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
    /// One divided by the number, if that is exact: multiplying by it is then the same as dividing by the number.
    fn reciprocal(self) -> Option<Self>;
    /// Whether this result may be a fault of any operation before it. A finite float that became infinite stays so in
    /// every operation with a finite operand that is not zero, but the number may have been infinite from the start.
    fn suspicion(self) -> Self::Fault;
    /// Whether a suspicion is a fault: the number was finite before.
    fn fault(before: Self, after: Self) -> Self::Fault;
}

macro_rules! float {
    ($float:ty, $bits:ty, $size:literal) => {
        impl Number for $float {
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

            fn reciprocal(self) -> Option<Self> {
                let reciprocal = self.recip();
                // A power of two has no other bits in its significand.
                let is_power_of_two =
                    self.is_normal() && self.to_bits() << (<$bits>::BITS - Self::MANTISSA_DIGITS + 1) == 0;
                (is_power_of_two && reciprocal.is_normal()).then_some(reciprocal)
            }

            #[inline(always)] // into the vectorised loop
            fn suspicion(self) -> $bits {
                // Only 0 sets the sign bit. A comparison would be narrowed to a vector of fewer bits.
                (self.abs().to_bits() ^ Self::INFINITY.to_bits()).wrapping_sub(1)
            }

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

/// A `bfloat16` in the arithmetic of `float32`, rounded after each operation: `float32` has more than twice the digits, so
/// that this is the same as rounding once (Figueroa, "When is double rounding innocuous?", 1995).
#[derive(Clone, Copy)]
pub(super) struct Bfloat16(f32);

impl Bfloat16 {
    /// To nearest, ties to even. NaN becomes the format's default NaN.
    #[inline(always)] // into the vectorised loop
    fn rounded(number: f32) -> Self {
        let bits = number.to_bits();
        let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) & 0xFFFF_0000;
        Self(f32::from_bits(if number.is_nan() { 0x7FC0_0000 } else { rounded }))
    }
}

macro_rules! rounding {
    ($($operator:ident, $method:ident);*) => {
        $(impl $operator for Bfloat16 {
            type Output = Self;

            #[inline(always)] // into the vectorised loop
            fn $method(self, operand: Self) -> Self {
                Self::rounded($operator::$method(self.0, operand.0))
            }
        })*
    };
}

rounding!(Add, add; Sub, sub; Mul, mul; Div, div);

impl Number for Bfloat16 {
    type Bytes = [u8; 2];
    type Fault = u32;
    const TESTED: u32 = f32::TESTED;

    fn from_bits(bits: u64) -> Self {
        Self(f32::from_bits((bits as u32) << 16))
    }

    #[inline(always)] // into the vectorised loop
    fn load(bytes: [u8; 2]) -> Self {
        Self::from_bits(u16::from_ne_bytes(bytes).into())
    }

    #[inline(always)] // into the vectorised loop
    fn store(self) -> [u8; 2] {
        ((self.0.to_bits() >> 16) as u16).to_ne_bytes()
    }

    fn reciprocal(self) -> Option<Self> {
        self.0.reciprocal().map(Self)
    }

    #[inline(always)] // into the vectorised loop
    fn suspicion(self) -> u32 {
        self.0.suspicion()
    }

    #[inline(always)] // into the vectorised loop
    fn fault(before: Self, after: Self) -> u32 {
        f32::fault(before.0, after.0)
    }
}
