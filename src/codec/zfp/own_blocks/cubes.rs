//! Blocks of four dimensions as four blocks of three dimensions along w, the cubes.

use super::block::size_of_block;
use super::kernel::Kernel;
use super::lift::{from_negabinary, lift, to_negabinary, unlift};

/// What a tier does with the vectors of one of the four.
pub(super) trait CubeKernel: Kernel<64> {
    fn load_cube<const WIDE: bool>(self, bytes: &[u8], cube: &mut [Self::Vector]);
    fn store_cube<const WIDE: bool>(self, cube: &[Self::Vector], bytes: &mut [u8]);
    /// The transform along x, y and z. Integers do not become negabinary numbers.
    fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [Self::Vector]);
    /// The inverse of [`lift_axes`](Self::lift_axes).
    fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [Self::Vector]);
}

/// The values of a block.
#[inline(always)]
pub(super) fn load<K: CubeKernel, const WIDE: bool>(kernel: K, bytes: &[u8], block: &mut [K::Vector]) {
    let cubes = block.chunks_exact_mut(K::vector_count(WIDE));
    for (cube, bytes) in cubes.zip(bytes.chunks_exact(size_of_block::<64>(WIDE))) {
        kernel.load_cube::<WIDE>(bytes, cube);
    }
}

/// The inverse of [`load`].
#[inline(always)]
pub(super) fn store<K: CubeKernel, const WIDE: bool>(kernel: K, block: &[K::Vector], bytes: &mut [u8]) {
    let cubes = block.chunks_exact(K::vector_count(WIDE));
    for (cube, bytes) in cubes.zip(bytes.chunks_exact_mut(size_of_block::<64>(WIDE))) {
        kernel.store_cube::<WIDE>(cube, bytes);
    }
}

/// Integers to coefficients.
#[inline(always)]
pub(super) fn forward_transform<K: CubeKernel, const WIDE: bool, const REVERSIBLE: bool>(
    kernel: K,
    block: &mut [K::Vector],
) {
    let size = K::vector_count(WIDE);
    for cube in block[..4 * size].chunks_exact_mut(size) {
        kernel.lift_axes::<WIDE, REVERSIBLE>(cube);
    }
    for i in 0..size {
        let line = [block[i], block[size + i], block[2 * size + i], block[3 * size + i]];
        for (w, coefficients) in lift::<K, WIDE, REVERSIBLE>(kernel, line).into_iter().enumerate() {
            block[w * size + i] = to_negabinary::<K, WIDE>(kernel, coefficients);
        }
    }
}

/// The inverse of [`forward_transform`].
#[inline(always)]
pub(super) fn inverse_transform<K: CubeKernel, const WIDE: bool, const REVERSIBLE: bool>(
    kernel: K,
    block: &mut [K::Vector],
) {
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
    for cube in block[..4 * size].chunks_exact_mut(size) {
        kernel.unlift_axes::<WIDE, REVERSIBLE>(cube);
    }
}
