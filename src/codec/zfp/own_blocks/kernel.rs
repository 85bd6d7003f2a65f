//! The operations of a tier on a block.

use super::bits::{Sink, Source};
use super::lanes::Lanes;
use std::fmt::Debug;

/// Kernels for blocks of `N` values, integers, or coefficients, of 32 bits each, or if `WIDE` of 64.
///
/// A value of such a type exists only where the processor has the instructions of its tier. All functions are inlined,
/// as those of [`Lanes`].
pub(super) trait Kernel<const N: usize>: Lanes + Debug {
    /// N values, by vectors. Those of 32 bits take the first of them; lanes that are left over are zeros.
    type Block: Copy + AsRef<[Self::Vector]> + AsMut<[Self::Vector]>;
    /// Negabinary numbers, in the order of the tier.
    type Coefficients;

    fn zeros(self) -> Self::Block;
    /// The number of vectors that hold N values.
    fn vector_count(wide: bool) -> usize;
}

/// What writes blocks.
pub(super) trait EncodingKernel<const N: usize>: Kernel<N> {
    /// Values in the order of memory, their first dimension fastest.
    fn load<const WIDE: bool>(self, bytes: &[u8]) -> Self::Block;
    /// Decorrelates integers.
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, integers: &Self::Block) -> Self::Coefficients;
    /// The bits that any coefficient has.
    fn significant_bits<const WIDE: bool>(self, coefficients: &Self::Coefficients) -> u64;
    /// Writes the bit planes from the most significant one down to `kmin`, at most `budget` bits. Those from `top` on
    /// are zeros.
    fn encode_planes<const WIDE: bool>(
        self,
        sink: &mut Sink<'_>,
        coefficients: &Self::Coefficients,
        top: u32,
        kmin: u32,
        budget: u32,
    );
}

/// What reads blocks: the inverse of [`EncodingKernel`].
pub(super) trait DecodingKernel<const N: usize>: Kernel<N> {
    /// Planes that were not written are zeros.
    fn decode_planes<const WIDE: bool>(self, source: &mut Source<'_>, kmin: u32, budget: u32) -> Self::Coefficients;
    fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(
        self,
        coefficients: &Self::Coefficients,
    ) -> Self::Block;
    fn store<const WIDE: bool>(self, block: &Self::Block, bytes: &mut [u8]);
}
