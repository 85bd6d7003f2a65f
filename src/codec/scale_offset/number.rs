//! The arithmetic of each type, for loops: operators that note a fault instead of panicking or branching.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Sub};

/// A number in native arithmetic. Floats show a fault by becoming infinite, integers carry it along.
pub(super) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Self::Divisor, Output = Self>
{
    type Bytes: Copy;
    /// As wide as the number, so that a vector of numbers has a vector of faults.
    type Fault: Copy + Default + PartialEq + BitOr<Output = Self::Fault> + BitAnd<Output = Self::Fault>;
    /// What dividing needs.
    type Divisor: Copy;
    /// The bits of a fault that count.
    const TESTED: Self::Fault;
    fn from_bits(bits: u64) -> Self;
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;
    /// The operand is not zero.
    fn divisor(self) -> Self::Divisor;
    /// Whether this result may be a fault of any operation before it. A finite float that became infinite stays so in
    /// every operation with a finite operand that is not zero, but the number may have been infinite from the start.
    fn suspicion(self) -> Self::Fault;
    /// Whether a suspicion is a fault: a float that was finite before, and any integer.
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
            fn load(bytes: [u8; $size]) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[inline(always)] // into the vectorised loop
            fn store(self) -> [u8; $size] {
                self.to_ne_bytes()
            }

            fn divisor(self) -> Self {
                self
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

/// An integer, with bits set in `fault` if an operation on the left of it had no result. Operands have none.
#[derive(Clone, Copy)]
pub(super) struct Checked<T> {
    number: T,
    fault: T,
}

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
        impl Add for Checked<$integer> {
            type Output = Self;

            #[inline(always)] // into the vectorised loop
            fn add(self, operand: Self) -> Self {
                let number = self.number.wrapping_add(operand.number);
                Self { number, fault: self.fault | (number ^ self.number.saturating_add(operand.number)) }
            }
        }

        impl Sub for Checked<$integer> {
            type Output = Self;

            #[inline(always)] // into the vectorised loop
            fn sub(self, operand: Self) -> Self {
                let number = self.number.wrapping_sub(operand.number);
                Self { number, fault: self.fault | (number ^ self.number.saturating_sub(operand.number)) }
            }
        }

        impl Mul for Checked<$integer> {
            type Output = Self;

            #[inline(always)] // into the vectorised loop
            fn mul(self, operand: Self) -> Self {
                let number = self.number.wrapping_mul(operand.number);
                // The upper halves of the product, and of the result made as wide.
                let upper = (<$wide>::from(self.number) * <$wide>::from(operand.number)) >> <$integer>::BITS;
                let fault = upper as $integer ^ (<$wide>::from(number) >> <$integer>::BITS) as $integer;
                Self { number, fault: self.fault | fault }
            }
        }

        impl Div<Divisor<$integer>> for Checked<$integer> {
            type Output = Self;

            /// A fault if there is a remainder.
            #[inline(always)] // into the vectorised loop
            fn div(self, divisor: Divisor<$integer>) -> Self {
                let number = (self.number >> divisor.shift).wrapping_mul(divisor.inverse);
                let quotient = Self { number, fault: self.fault };
                let product = quotient * Self { number: divisor.divisor, fault: 0 };
                Self { number, fault: (product.number ^ self.number) | product.fault }
            }
        }

        impl Number for Checked<$integer> {
            type Bytes = [u8; $size];
            type Fault = $integer;
            type Divisor = Divisor<$integer>;
            const TESTED: $integer = !0;

            fn from_bits(bits: u64) -> Self {
                Self { number: bits as $integer, fault: 0 }
            }

            #[inline(always)] // into the vectorised loop
            fn load(bytes: [u8; $size]) -> Self {
                Self { number: <$integer>::from_ne_bytes(bytes), fault: 0 }
            }

            #[inline(always)] // into the vectorised loop
            fn store(self) -> [u8; $size] {
                self.number.to_ne_bytes()
            }

            fn divisor(self) -> Divisor<$integer> {
                let shift = self.number.trailing_zeros();
                let odd = self.number >> shift;
                // Newton's iteration: three bits are right at first, and twice as many after each round.
                let inverse = (0..5).fold(odd, |inverse, _| {
                    inverse.wrapping_mul((2 as $integer).wrapping_sub(odd.wrapping_mul(inverse)))
                });
                Divisor { shift, inverse, divisor: self.number }
            }

            #[inline(always)] // into the vectorised loop
            fn suspicion(self) -> $integer {
                self.fault
            }

            #[inline(always)] // into the vectorised loop
            fn fault(_: Self, _: Self) -> $integer {
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
