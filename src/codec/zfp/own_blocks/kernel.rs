//! The operations of a tier on a block.

use super::lanes::Lanes;
use super::planes::Planes;
use std::fmt::Debug;

/// Kernels for 64 values, integers, or coefficients, of 32 bits each, or if `WIDE` of 64.
///
/// A value of such a type exists only where the processor has the instructions of its tier, and those of
/// [`planes`](super::planes). All functions are inlined, as those of [`Lanes`].
pub(super) trait Kernel: Lanes + Debug {
    /// 64 of them, by vectors. Those of 32 bits take the first half.
    type Block: Copy + AsRef<[Self::Vector]> + AsMut<[Self::Vector]>;

    fn zeros(self) -> Self::Block;
    /// The number of vectors that hold 64 lanes.
    fn vector_count(wide: bool) -> usize;

    /// Values in the order of memory, their first dimension fastest.
    fn load<const WIDE: bool>(self, bytes: &[u8]) -> Self::Block;
    /// The inverse of [`load`](Self::load).
    fn store<const WIDE: bool>(self, block: &Self::Block, bytes: &mut [u8]);

    /// Decorrelates integers. Returns their coefficients as negabinary numbers, in the order of the tier.
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, integers: &Self::Block) -> Self::Block;
    /// The inverse of [`forward_transform`](Self::forward_transform).
    fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(self, coefficients: &Self::Block) -> Self::Block;

    /// The planes from `kmin` to `top` of coefficients, which are put in the order of their frequency. Other planes are
    /// unspecified.
    fn to_planes<const WIDE: bool>(self, coefficients: &Self::Block, kmin: u32, top: u32, planes: &mut Planes);
    /// The coefficients of planes, of which those below `lowest` are zeros.
    fn coefficients_of<const WIDE: bool>(self, planes: &Planes, lowest: u32) -> Self::Block;
}
