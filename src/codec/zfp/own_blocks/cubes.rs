//! Blocks of four dimensions as four blocks of three dimensions along w, the cubes.

use super::block::size_of_block;
use super::kernel::{DecodingKernel, EncodingKernel};
use super::lift::{from_negabinary, lift, to_negabinary, unlift};

/// A kernel of three dimensions with the transform along x, y and z by itself.
pub(super) trait CubeKernel: EncodingKernel<64> + DecodingKernel<64> {
    /// Decorrelates integers, which do not become negabinary numbers.
    fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &Self::Block) -> Self::Block;
    /// The inverse of [`lift_axes`](Self::lift_axes).
    fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &Self::Block) -> Self::Block;
}

/// One of the four from its vectors.
#[inline(always)]
pub(super) fn cube<K: CubeKernel>(kernel: K, vectors: &[K::Vector]) -> K::Block {
    let mut cube = kernel.zeros();
    cube.as_mut()[..vectors.len()].copy_from_slice(vectors);
    cube
}

/// The values of a block, in `COUNT` vectors or the first half of them.
#[inline(always)]
pub(super) fn load<K: CubeKernel, const COUNT: usize, const WIDE: bool>(kernel: K, bytes: &[u8]) -> [K::Vector; COUNT] {
    let mut block = [kernel.zero(); COUNT];
    let size = K::vector_count(WIDE);
    for (cube, bytes) in block.chunks_exact_mut(size).zip(bytes.chunks_exact(size_of_block::<64>(WIDE))) {
        cube.copy_from_slice(&kernel.load::<WIDE>(bytes).as_ref()[..size]);
    }
    block
}

/// The inverse of [`load`].
#[inline(always)]
pub(super) fn store<K: CubeKernel, const WIDE: bool>(kernel: K, block: &[K::Vector], bytes: &mut [u8]) {
    let vectors = block.chunks_exact(K::vector_count(WIDE));
    for (vectors, bytes) in vectors.zip(bytes.chunks_exact_mut(size_of_block::<64>(WIDE))) {
        kernel.store::<WIDE>(&cube(kernel, vectors), bytes);
    }
}

/// Decorrelates integers along all axes.
#[inline(always)]
pub(super) fn forward_transform<K: CubeKernel, const COUNT: usize, const WIDE: bool, const REVERSIBLE: bool>(
    kernel: K,
    integers: &[K::Vector; COUNT],
) -> [K::Vector; COUNT] {
    let mut block = *integers;
    let size = K::vector_count(WIDE);
    for vectors in block[..4 * size].chunks_exact_mut(size) {
        let lifted = kernel.lift_axes::<WIDE, REVERSIBLE>(&cube(kernel, vectors));
        vectors.copy_from_slice(&lifted.as_ref()[..size]);
    }
    for i in 0..size {
        let line = [block[i], block[size + i], block[2 * size + i], block[3 * size + i]];
        for (w, coefficients) in lift::<K, WIDE, REVERSIBLE>(kernel, line).into_iter().enumerate() {
            block[w * size + i] = to_negabinary::<K, WIDE>(kernel, coefficients);
        }
    }
    block
}

/// The inverse of [`forward_transform`].
#[inline(always)]
pub(super) fn inverse_transform<K: CubeKernel, const COUNT: usize, const WIDE: bool, const REVERSIBLE: bool>(
    kernel: K,
    coefficients: &[K::Vector; COUNT],
) -> [K::Vector; COUNT] {
    let mut block = *coefficients;
    let size = K::vector_count(WIDE);
    for i in 0..size {
        let mut line = [block[i], block[size + i], block[2 * size + i], block[3 * size + i]];
        for coefficients in &mut line {
            *coefficients = from_negabinary::<K, WIDE>(kernel, *coefficients);
        }
        for (w, integers) in unlift::<K, WIDE, REVERSIBLE>(kernel, line).into_iter().enumerate() {
            block[w * size + i] = integers;
        }
    }
    for vectors in block[..4 * size].chunks_exact_mut(size) {
        let integers = kernel.unlift_axes::<WIDE, REVERSIBLE>(&cube(kernel, vectors));
        vectors.copy_from_slice(&integers.as_ref()[..size]);
    }
    block
}
