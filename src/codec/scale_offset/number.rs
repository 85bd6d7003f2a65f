//! The arithmetic of each type.

use std::ops::{BitAnd, BitOr};

/// A number in native arithmetic. Each operation gives its result and its fault: some tested bit is set if there is no
/// result.
pub(super) trait Number: Copy {
    type Bytes: Copy;
    /// As wide as the number, so that a vector of numbers has a vector of faults.
    type Fault: Copy + Default + PartialEq + BitOr<Output = Self::Fault> + BitAnd<Output = Self::Fault>;
    /// What dividing needs.
    type Divisor: Copy;
    /// The bits of a fault that tell.
    const TESTED: Self::Fault;
    fn from_bits(bits: u64) -> Self;
    fn from_ne_bytes(bytes: Self::Bytes) -> Self;
    fn to_ne_bytes(self) -> Self::Bytes;
    fn add(self, operand: Self) -> (Self, Self::Fault);
    fn subtract(self, operand: Self) -> (Self, Self::Fault);
    fn multiply(self, operand: Self) -> (Self, Self::Fault);
    /// The operand is not zero.
    fn divisor(self) -> Self::Divisor;
    /// For integers, faulty unless there is no rest.
    fn divide(self, divisor: Self::Divisor) -> (Self, Self::Fault);
    /// What may be a fault of all steps together, as far as the steps do not tell: an infinity, since a number that is
    /// lost becomes one, and stays one in every operation with a finite operand that is not zero.
    fn suspicion(after: Self) -> Self::Fault;
    /// Whether what looks like a fault is one: a float that was finite before, and any integer.
    fn fault(before: Self, after: Self) -> Self::Fault;
}

macro_rules! float {
    ($float:ty, $bits:ty, $size:literal) => {
        impl Number for $float {
            type Bytes = [u8; $size];
            type Fault = $bits;
            type Divisor = Self;
            const TESTED: $bits = 1 << (<$bits>::BITS - 1);

            fn from_bits(bits: u64) -> Self {
                Self::from_bits(bits as $bits)
            }

            #[inline(always)] // into the vectorised loop
            fn from_ne_bytes(bytes: [u8; $size]) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[inline(always)] // into the vectorised loop
            fn to_ne_bytes(self) -> [u8; $size] {
                self.to_ne_bytes()
            }

            #[inline(always)] // into the vectorised loop
            fn add(self, operand: Self) -> (Self, $bits) {
                (self + operand, 0)
            }

            #[inline(always)] // into the vectorised loop
            fn subtract(self, operand: Self) -> (Self, $bits) {
                (self - operand, 0)
            }

            #[inline(always)] // into the vectorised loop
            fn multiply(self, operand: Self) -> (Self, $bits) {
                (self * operand, 0)
            }

            fn divisor(self) -> Self {
                self
            }

            #[inline(always)] // into the vectorised loop
            fn divide(self, divisor: Self) -> (Self, $bits) {
                (self / divisor, 0)
            }

            #[inline(always)] // into the vectorised loop
            fn suspicion(after: Self) -> $bits {
                // Only of 0 does this set the sign bit. A comparison would be narrowed to a vector of fewer bits.
                (after.abs().to_bits() ^ Self::INFINITY.to_bits()).wrapping_sub(1)
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

/// An operand to divide by without a division: `2^shift` times an odd number, which has an inverse among the integers
/// modulo 2^N (Warren, "Hacker's Delight", 10-16).
#[derive(Clone, Copy)]
pub(super) struct Divisor<T> {
    shift: u32,
    inverse: T,
    divisor: T,
}

macro_rules! integer {
    ($integer:ty, $size:literal, $wide:ty) => {
        impl Number for $integer {
            type Bytes = [u8; $size];
            type Fault = $integer;
            type Divisor = Divisor<$integer>;
            const TESTED: $integer = !0;

            fn from_bits(bits: u64) -> Self {
                bits as $integer
            }

            #[inline(always)] // into the vectorised loop
            fn from_ne_bytes(bytes: [u8; $size]) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[inline(always)] // into the vectorised loop
            fn to_ne_bytes(self) -> [u8; $size] {
                self.to_ne_bytes()
            }

            #[inline(always)] // into the vectorised loop
            fn add(self, operand: Self) -> (Self, Self) {
                let result = self.wrapping_add(operand);
                (result, result ^ self.saturating_add(operand))
            }

            #[inline(always)] // into the vectorised loop
            fn subtract(self, operand: Self) -> (Self, Self) {
                let result = self.wrapping_sub(operand);
                (result, result ^ self.saturating_sub(operand))
            }

            #[inline(always)] // into the vectorised loop
            fn multiply(self, operand: Self) -> (Self, Self) {
                let result = self.wrapping_mul(operand);
                // The upper halves of the product, and of the result made as wide.
                let upper = (<$wide>::from(self) * <$wide>::from(operand)) >> Self::BITS;
                (result, upper as Self ^ (<$wide>::from(result) >> Self::BITS) as Self)
            }

            fn divisor(self) -> Divisor<Self> {
                let shift = self.trailing_zeros();
                let odd = self >> shift;
                // Newton's iteration: three bits are right at first, and twice as many after each step.
                let inverse = (0..5)
                    .fold(odd, |inverse, _| inverse.wrapping_mul((2 as Self).wrapping_sub(odd.wrapping_mul(inverse))));
                Divisor { shift, inverse, divisor: self }
            }

            #[inline(always)] // into the vectorised loop
            fn divide(self, divisor: Divisor<Self>) -> (Self, Self) {
                let quotient = (self >> divisor.shift).wrapping_mul(divisor.inverse);
                let (product, fault) = quotient.multiply(divisor.divisor);
                (quotient, (product ^ self) | fault)
            }

            #[inline(always)] // into the vectorised loop
            fn suspicion(_: Self) -> Self {
                0
            }

            #[inline(always)] // into the vectorised loop
            fn fault(_: Self, _: Self) -> Self {
                1
            }
        }
    };
}

integer!(i8, 1, i16);
integer!(u8, 1, u16);
integer!(i16, 2, i32);
integer!(u16, 2, u32);
integer!(i32, 4, i64);
integer!(u32, 4, u64);
integer!(i64, 8, i128);
integer!(u64, 8, u128);
