//! The operations of a tier on a block.

use super::bits::{BitReader, BitWriter};
use super::lanes::Lanes;
use std::fmt::Debug;

/// Kernels for blocks of `N` values, integers, or coefficients, of 32 bits each, or if `WIDE` of 64.
///
/// A value of such a type exists only where the processor has the instructions of its tier. All functions are inlined,
/// as those of [`Lanes`]. They work in place, because a large block takes long to copy.
pub(super) trait Kernel<const N: usize>: Lanes + Debug {
    /// N values, by vectors. Those of 32 bits take the first of them; lanes that are left over are zeros. Coefficients
    /// are negabinary numbers, in the order of the tier.
    type Block: Copy + AsRef<[Self::Vector]> + AsMut<[Self::Vector]>;

    fn zeros(self) -> Self::Block;
    /// The number of vectors that hold N values.
    fn vector_count(wide: bool) -> usize;
}

/// What writes blocks.
pub(super) trait EncodingKernel<const N: usize>: Kernel<N> {
    /// Values in the order of memory, their first dimension fastest. What the block had before does not matter.
    fn load<const WIDE: bool>(self, bytes: &[u8], block: &mut Self::Block);
    /// Integers to coefficients.
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, block: &mut Self::Block);
    /// Writes the bit planes from the most significant one down to `kmin`, at most `budget` bits. Those from `top` on
    /// are zeros.
    fn encode_planes<const WIDE: bool>(
        self,
        sink: &mut BitWriter<'_>,
        coefficients: &Self::Block,
        top: u32,
        kmin: u32,
        budget: u32,
    );
}

/// What reads blocks: the inverse of [`EncodingKernel`].
pub(super) trait DecodingKernel<const N: usize>: Kernel<N> {
    /// The integers of the bit planes down to `kmin`, which take at most `budget` bits. Planes that were not written are
    /// zeros. What the block had before does not matter.
    fn decode_integers<const WIDE: bool>(
        self,
        source: &mut BitReader<'_>,
        kmin: u32,
        budget: u32,
        is_reversible: bool,
        block: &mut Self::Block,
    );
    fn store<const WIDE: bool>(self, block: &Self::Block, bytes: &mut [u8]);
}
