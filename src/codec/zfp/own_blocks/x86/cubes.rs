//! Blocks of three dimensions, the cubes, and of four: four cubes along w.

use super::super::bits::{BitReader, BitWriter};
use super::super::block::{size_of_block, width};
use super::super::kernel::{DecodingKernel, EncodingKernel, Kernel};
use super::super::lanes::Lanes;
use super::super::lift::{from_negabinary, lift, to_negabinary, unlift};
use super::super::planes_of_words::{self, Planes};
use super::planes_of_64;
use bytemuck::Zeroable;
use std::fmt::Debug;

/// What a tier does with a cube, or with four. Coefficients are in the order of the tier.
///
/// # Safety
///
/// A value of such a type exists only where the processor has BMI1, BMI2, LZCNT and POPCNT.
pub(in super::super) unsafe trait CubeKernel: Lanes + Debug {
    /// The values of a cube, by vectors. Those of 32 bits take the first half.
    type Cube: Copy + AsRef<[Self::Vector]> + AsMut<[Self::Vector]> + Zeroable;
    /// The values of four, as those of one.
    type Cubes: Copy + AsRef<[Self::Vector]> + AsMut<[Self::Vector]> + Zeroable;

    /// The number of vectors that hold a cube.
    fn cube_size(wide: bool) -> usize;
    fn load_cube<const WIDE: bool>(self, bytes: &[u8], cube: &mut [Self::Vector]);
    fn store_cube<const WIDE: bool>(self, cube: &[Self::Vector], bytes: &mut [u8]);
    /// The transform along x, y and z. Integers do not become negabinary numbers.
    fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [Self::Vector]);
    /// The inverse of [`lift_axes`](Self::lift_axes).
    fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [Self::Vector]);
    /// The planes from `kmin` to `top`.
    fn cube_to_planes<const WIDE: bool>(self, cube: &Self::Cube, kmin: u32, top: u32, planes: &mut [u64; 64]);
    /// The coefficients of planes, of which those below `lowest` are zeros.
    fn planes_to_cube<const WIDE: bool>(self, planes: &[u64; 64], lowest: u32) -> Self::Cube;
    /// The planes from `kmin` to `top`.
    fn cubes_to_planes<const WIDE: bool>(self, cubes: &Self::Cubes, kmin: u32, top: u32, planes: &mut Planes<4>);
    /// The coefficients of planes, of which those below `lowest` are zeros.
    fn planes_to_cubes<const WIDE: bool>(self, planes: &Planes<4>, lowest: u32, cubes: &mut Self::Cubes);
}

impl<K: CubeKernel> Kernel<64> for K {
    type Block = K::Cube;

    #[inline(always)]
    fn zeros(self) -> K::Cube {
        K::Cube::zeroed()
    }

    #[inline(always)]
    fn vector_count(wide: bool) -> usize {
        K::cube_size(wide)
    }
}

impl<K: CubeKernel> EncodingKernel<64> for K {
    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8], block: &mut K::Cube) {
        self.load_cube::<WIDE>(bytes, block.as_mut());
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, block: &mut K::Cube) {
        self.lift_axes::<WIDE, REVERSIBLE>(block.as_mut());
        for vector in &mut block.as_mut()[..K::cube_size(WIDE)] {
            *vector = to_negabinary::<K, WIDE>(self, *vector);
        }
    }

    #[inline(always)]
    fn encode_planes<const WIDE: bool>(
        self,
        sink: &mut BitWriter<'_>,
        coefficients: &K::Cube,
        top: u32,
        kmin: u32,
        budget: u32,
    ) {
        let mut planes = [0; 64];
        self.cube_to_planes::<WIDE>(coefficients, kmin, top, &mut planes);
        planes_of_words::encode::<1>(sink, bytemuck::cast_ref(&planes), width(WIDE), top, kmin, budget);
    }
}

impl<K: CubeKernel> DecodingKernel<64> for K {
    #[inline(always)]
    fn decode_integers<const WIDE: bool>(
        self,
        source: &mut BitReader<'_>,
        kmin: u32,
        budget: u32,
        is_reversible: bool,
        block: &mut K::Cube,
    ) {
        let mut planes = [0; 64];
        // SAFETY: the processor has the instructions, as there is a value of this type.
        let lowest = unsafe { planes_of_64::decode(source, &mut planes, width(WIDE), kmin, budget) };
        *block = self.planes_to_cube::<WIDE>(&planes, lowest);
        for vector in &mut block.as_mut()[..K::cube_size(WIDE)] {
            *vector = from_negabinary::<K, WIDE>(self, *vector);
        }
        if is_reversible {
            self.unlift_axes::<WIDE, true>(block.as_mut());
        } else {
            self.unlift_axes::<WIDE, false>(block.as_mut());
        }
    }

    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &K::Cube, bytes: &mut [u8]) {
        self.store_cube::<WIDE>(block.as_ref(), bytes);
    }
}

impl<K: CubeKernel> Kernel<256> for K {
    type Block = K::Cubes;

    #[inline(always)]
    fn zeros(self) -> K::Cubes {
        K::Cubes::zeroed()
    }

    #[inline(always)]
    fn vector_count(wide: bool) -> usize {
        4 * K::cube_size(wide)
    }
}

impl<K: CubeKernel> EncodingKernel<256> for K {
    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8], block: &mut K::Cubes) {
        let cubes = block.as_mut().chunks_exact_mut(K::cube_size(WIDE));
        for (cube, bytes) in cubes.zip(bytes.chunks_exact(size_of_block::<64>(WIDE))) {
            self.load_cube::<WIDE>(bytes, cube);
        }
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, block: &mut K::Cubes) {
        forward_transform::<K, WIDE, REVERSIBLE>(self, block.as_mut());
    }

    #[inline(always)]
    fn encode_planes<const WIDE: bool>(
        self,
        sink: &mut BitWriter<'_>,
        coefficients: &K::Cubes,
        top: u32,
        kmin: u32,
        budget: u32,
    ) {
        let mut planes = [[0; 4]; 64];
        self.cubes_to_planes::<WIDE>(coefficients, kmin, top, &mut planes);
        planes_of_words::encode(sink, &planes, width(WIDE), top, kmin, budget);
    }
}

impl<K: CubeKernel> DecodingKernel<256> for K {
    #[inline(always)]
    fn decode_integers<const WIDE: bool>(
        self,
        source: &mut BitReader<'_>,
        kmin: u32,
        budget: u32,
        is_reversible: bool,
        block: &mut K::Cubes,
    ) {
        let mut planes = [[0; 4]; 64];
        let lowest = planes_of_words::decode(source, &mut planes, width(WIDE), kmin, budget);
        self.planes_to_cubes::<WIDE>(&planes, lowest, block);
        if is_reversible {
            inverse_transform::<K, WIDE, true>(self, block.as_mut());
        } else {
            inverse_transform::<K, WIDE, false>(self, block.as_mut());
        }
    }

    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &K::Cubes, bytes: &mut [u8]) {
        let cubes = block.as_ref().chunks_exact(K::cube_size(WIDE));
        for (cube, bytes) in cubes.zip(bytes.chunks_exact_mut(size_of_block::<64>(WIDE))) {
            self.store_cube::<WIDE>(cube, bytes);
        }
    }
}

/// Integers to coefficients.
#[inline(always)]
fn forward_transform<K: CubeKernel, const WIDE: bool, const REVERSIBLE: bool>(kernel: K, block: &mut [K::Vector]) {
    let size = K::cube_size(WIDE);
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
fn inverse_transform<K: CubeKernel, const WIDE: bool, const REVERSIBLE: bool>(kernel: K, block: &mut [K::Vector]) {
    let size = K::cube_size(WIDE);
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
