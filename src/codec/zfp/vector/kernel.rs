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

/// Implements [`Kernel`] and [`Lanes`](super::lift::Lanes) for a tier, by the functions of the same names in its modules
/// `values`, `transform`, `matrix` and `lanes`: those of a trait cannot themselves be compiled for instructions, and be
/// safe.
macro_rules! implement_kernel {
    ($tier:ty, $block:ty, $vector:ty) => {
        impl Kernel for $tier {
            type Block = $block;

            #[inline(always)]
            fn load<const WIDE: bool>(self, bytes: &[u8]) -> $block {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { values::load::<WIDE>(bytes) }
            }

            #[inline(always)]
            fn store<const WIDE: bool>(self, block: &$block, bytes: &mut [u8]) {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { values::store::<WIDE>(block, bytes) };
            }

            #[inline(always)]
            fn any_bits<const WIDE: bool>(self, block: &$block) -> u64 {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { values::any_bits::<WIDE>(block) }
            }

            #[inline(always)]
            fn are_same<const WIDE: bool>(self, a: &$block, b: &$block) -> bool {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { values::are_same::<WIDE>(a, b) }
            }

            #[inline(always)]
            fn largest_magnitude<const WIDE: bool>(self, values: &$block) -> u64 {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { values::largest_magnitude::<WIDE>(values) }
            }

            #[inline(always)]
            fn scale<const WIDE: bool>(self, values: &$block, factor: f64) -> $block {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { values::scale::<WIDE>(values, factor) }
            }

            #[inline(always)]
            fn truncate<const WIDE: bool>(self, values: &$block, factor: f64) -> $block {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { values::truncate::<WIDE>(values, factor) }
            }

            #[inline(always)]
            fn to_floats<const WIDE: bool>(self, integers: &$block, factor: f64) -> $block {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { values::to_floats::<WIDE>(integers, factor) }
            }

            #[inline(always)]
            fn reinterpret<const WIDE: bool>(self, values: &$block) -> $block {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { values::reinterpret::<WIDE>(values) }
            }

            #[inline(always)]
            fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, integers: &$block) -> $block {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { transform::forward::<WIDE, REVERSIBLE>(self, integers) }
            }

            #[inline(always)]
            fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(self, coefficients: &$block) -> $block {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { transform::inverse::<WIDE, REVERSIBLE>(self, coefficients) }
            }

            #[inline(always)]
            fn to_planes<const WIDE: bool>(self, coefficients: &$block, kmin: u32, top: u32, planes: &mut Planes) {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { matrix::to_planes::<WIDE>(coefficients, kmin, top, planes) };
            }

            #[inline(always)]
            fn coefficients_of<const WIDE: bool>(self, planes: &Planes, lowest: u32) -> $block {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { matrix::coefficients_of::<WIDE>(planes, lowest) }
            }
        }

        impl Lanes for $tier {
            type Vector = $vector;

            #[inline(always)]
            fn add<const WIDE: bool>(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { lanes::add::<WIDE>(a, b) }
            }

            #[inline(always)]
            fn sub<const WIDE: bool>(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { lanes::sub::<WIDE>(a, b) }
            }

            #[inline(always)]
            fn half<const WIDE: bool>(self, a: $vector) -> $vector {
                // SAFETY: there is a value of this type only where the processor has these instructions.
                unsafe { lanes::half::<WIDE>(a) }
            }
        }
    };
}
pub(super) use implement_kernel;
