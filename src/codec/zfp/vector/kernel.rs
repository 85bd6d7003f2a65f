//! What a tier of instructions does with a block.

use super::planes::Planes;
use std::fmt::Debug;

/// Kernels for 64 values, integers, or coefficients, of 32 bits each, or if `WIDE` of 64.
///
/// A value of such a type exists only where the processor has the instructions of its tier and those of
/// [`planes`](super::planes). All functions are inlined, so that a caller that is compiled for these keeps blocks in
/// registers.
pub(super) trait Kernel: Copy + Debug {
    /// 64 of them.
    type Block: Copy;

    /// Values in the order of memory, their first dimension fastest.
    fn load<const WIDE: bool>(self, bytes: &[u8]) -> Self::Block;
    /// The inverse of [`load`](Self::load).
    fn store<const WIDE: bool>(self, block: &Self::Block, bytes: &mut [u8]);

    /// The bits that any of them has.
    fn any_bits<const WIDE: bool>(self, block: &Self::Block) -> u64;
    /// Whether all bits are the same.
    fn are_same<const WIDE: bool>(self, a: &Self::Block, b: &Self::Block) -> bool;

    /// The bits of the largest magnitude of floats. NaNs do not count.
    fn largest_magnitude<const WIDE: bool>(self, values: &Self::Block) -> u64;
    /// Floats times a factor.
    fn scale<const WIDE: bool>(self, values: &Self::Block, factor: f64) -> Self::Block;
    /// Floats times a factor as integers, towards zero. What NaNs and magnitudes above 2^30, or if `WIDE` 2^62, become is
    /// unspecified.
    fn truncate<const WIDE: bool>(self, values: &Self::Block, factor: f64) -> Self::Block;
    /// Integers as floats, rounded to nearest, times a factor.
    fn to_floats<const WIDE: bool>(self, integers: &Self::Block, factor: f64) -> Self::Block;
    /// Floats as integers in the same order, by sign and magnitude, and back.
    fn reinterpret<const WIDE: bool>(self, values: &Self::Block) -> Self::Block;

    /// Decorrelates integers; returns their coefficients as negabinary numbers, in the order of the tier.
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, integers: &Self::Block) -> Self::Block;
    /// The inverse of [`forward_transform`](Self::forward_transform).
    fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(self, coefficients: &Self::Block) -> Self::Block;

    /// Planes from `kmin` to `top` of coefficients, which are put in the order of their frequency; others are
    /// unspecified.
    fn to_planes<const WIDE: bool>(self, coefficients: &Self::Block, kmin: u32, top: u32, planes: &mut Planes);
    /// Coefficients of planes, of which those below `lowest` are zeros.
    fn coefficients_of<const WIDE: bool>(self, planes: &Planes, lowest: u32) -> Self::Block;
}
