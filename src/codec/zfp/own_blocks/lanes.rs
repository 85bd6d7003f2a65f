//! The instructions on one vector that the algorithms of this module are written with.

/// Instructions on a vector whose lanes are integers of 32 bits, or if `WIDE` of 64: those that
/// [`lift`](super::lift) needs.
///
/// A value of such a type exists only where the processor has the instructions. All functions are inlined, so that a
/// caller that is compiled for these instructions keeps vectors in registers.
pub(super) trait Arithmetic: Copy {
    type Vector: Copy;

    /// A vector of equal bytes.
    fn repeat(self, byte: u8) -> Self::Vector;
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Modulo 2^32, or 2^64.
    fn add<const WIDE: bool>(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Modulo 2^32, or 2^64.
    fn sub<const WIDE: bool>(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Rounded down.
    fn half<const WIDE: bool>(self, integers: Self::Vector) -> Self::Vector;
}

/// The others, also on floats.
pub(super) trait Lanes: Arithmetic {
    fn zero(self) -> Self::Vector;
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn is_zero(self, vector: Self::Vector) -> bool;
    /// The bits that any lane has.
    fn any_bits<const WIDE: bool>(self, vector: Self::Vector) -> u64;

    /// In each lane, the larger one of `largest` and the bits of a float's magnitude, except for NaNs.
    fn larger_magnitude<const WIDE: bool>(self, largest: Self::Vector, values: Self::Vector) -> Self::Vector;
    /// The largest lane, where none is negative.
    fn largest<const WIDE: bool>(self, vector: Self::Vector) -> u64;
    /// Floats times a factor.
    fn multiply<const WIDE: bool>(self, values: Self::Vector, factor: f64) -> Self::Vector;
    /// Floats to integers, towards zero. NaNs and magnitudes above 2^30, or if `WIDE` 2^62, give unspecified integers.
    fn truncate<const WIDE: bool>(self, values: Self::Vector) -> Self::Vector;
    /// Integers to floats, rounded to nearest.
    fn to_floats<const WIDE: bool>(self, integers: Self::Vector) -> Self::Vector;
    /// Floats to integers in the same order, by sign and magnitude, and back.
    fn reinterpret<const WIDE: bool>(self, values: Self::Vector) -> Self::Vector;
}
