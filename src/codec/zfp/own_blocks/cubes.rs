//! Blocks of four dimensions as four blocks of three dimensions along w, the cubes.

use super::bits::{BitReader, BitWriter};
use super::block::{size_of_block, width};
use super::kernel::{DecodingKernel, EncodingKernel, Kernel};
use super::lift::{from_negabinary, lift, to_negabinary, unlift};
use super::planes_of_words::{self, Planes};

/// What a tier does with a block, or with the vectors of one of the four.
pub(super) trait CubeKernel: Kernel<64> {
    /// The values of a block, by vectors. Those of 32 bits take the first half.
    type Cubes: Copy + AsRef<[Self::Vector]> + AsMut<[Self::Vector]>;

    fn zero_cubes(self) -> Self::Cubes;
    fn load_cube<const WIDE: bool>(self, bytes: &[u8], cube: &mut [Self::Vector]);
    fn store_cube<const WIDE: bool>(self, cube: &[Self::Vector], bytes: &mut [u8]);
    /// The transform along x, y and z. Integers do not become negabinary numbers.
    fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [Self::Vector]);
    /// The inverse of [`lift_axes`](Self::lift_axes).
    fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [Self::Vector]);
    /// The planes from `kmin` to `top`.
    fn to_planes<const WIDE: bool>(self, coefficients: &Self::Cubes, kmin: u32, top: u32, planes: &mut Planes<4>);
    /// The coefficients of planes, of which those below `lowest` are zeros.
    fn coefficients_of<const WIDE: bool>(self, planes: &Planes<4>, lowest: u32, coefficients: &mut Self::Cubes);
}

impl<K: CubeKernel> Kernel<256> for K {
    type Block = K::Cubes;

    #[inline(always)]
    fn zeros(self) -> K::Cubes {
        self.zero_cubes()
    }

    #[inline(always)]
    fn vector_count(wide: bool) -> usize {
        4 * cube_size::<K>(wide)
    }
}

impl<K: CubeKernel> EncodingKernel<256> for K {
    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8], block: &mut K::Cubes) {
        let cubes = block.as_mut().chunks_exact_mut(cube_size::<K>(WIDE));
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
        self.to_planes::<WIDE>(coefficients, kmin, top, &mut planes);
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
        self.coefficients_of::<WIDE>(&planes, lowest, block);
        if is_reversible {
            inverse_transform::<K, WIDE, true>(self, block.as_mut());
        } else {
            inverse_transform::<K, WIDE, false>(self, block.as_mut());
        }
    }

    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &K::Cubes, bytes: &mut [u8]) {
        let cubes = block.as_ref().chunks_exact(cube_size::<K>(WIDE));
        for (cube, bytes) in cubes.zip(bytes.chunks_exact_mut(size_of_block::<64>(WIDE))) {
            self.store_cube::<WIDE>(cube, bytes);
        }
    }
}

/// The vectors of one of the four.
#[inline(always)]
fn cube_size<K: CubeKernel>(wide: bool) -> usize {
    <K as Kernel<64>>::vector_count(wide)
}

/// Integers to coefficients.
#[inline(always)]
fn forward_transform<K: CubeKernel, const WIDE: bool, const REVERSIBLE: bool>(kernel: K, block: &mut [K::Vector]) {
    let size = cube_size::<K>(WIDE);
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
    let size = cube_size::<K>(WIDE);
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
