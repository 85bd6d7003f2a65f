//! Blocks of four dimensions: four blocks of three dimensions along w.

use super::super::bits::{Sink, Source};
use super::super::block::width;
use super::super::cubes::{self, CubeKernel};
use super::super::kernel::{DecodingKernel, EncodingKernel, Kernel};
use super::super::lanes::Lanes;
use super::super::order::OF_256;
use super::super::planes_of_words::{self, Planes};
use super::Avx2;
use super::d3::{matrix, memory, order, transform};
use std::arch::x86_64::*;

/// The values of a block; those of 32 bits take the first half.
type Cubes = [__m256i; 64];

/// The vectors of one of the four.
const fn cube_size(wide: bool) -> usize {
    if wide { 16 } else { 8 }
}

impl CubeKernel for Avx2 {
    #[inline(always)]
    fn load_cube<const WIDE: bool>(self, bytes: &[u8], cube: &mut [__m256i]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { memory::load::<WIDE>(bytes, cube) };
    }

    #[inline(always)]
    fn store_cube<const WIDE: bool>(self, cube: &[__m256i], bytes: &mut [u8]) {
        // SAFETY: as in `load_cube`.
        unsafe { memory::store::<WIDE>(cube, bytes) };
    }

    #[inline(always)]
    fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [__m256i]) {
        // SAFETY: as in `load_cube`.
        unsafe { transform::lift_axes::<WIDE, REVERSIBLE>(self, cube) };
    }

    #[inline(always)]
    fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [__m256i]) {
        // SAFETY: as in `load_cube`.
        unsafe { transform::unlift_axes::<WIDE, REVERSIBLE>(self, cube) };
    }
}

impl Kernel<256> for Avx2 {
    type Block = Cubes;

    #[inline(always)]
    fn zeros(self) -> Cubes {
        [self.zero(); 64]
    }

    #[inline(always)]
    fn vector_count(wide: bool) -> usize {
        4 * cube_size(wide)
    }
}

impl EncodingKernel<256> for Avx2 {
    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8], block: &mut Cubes) {
        cubes::load::<Self, WIDE>(self, bytes, block);
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, block: &mut Cubes) {
        cubes::forward_transform::<Self, WIDE, REVERSIBLE>(self, block);
    }

    #[inline(always)]
    fn encode_planes<const WIDE: bool>(
        self,
        sink: &mut Sink<'_>,
        coefficients: &Cubes,
        top: u32,
        kmin: u32,
        budget: u32,
    ) {
        let mut planes = [[0; 4]; 64];
        // SAFETY: as in `load_cube`.
        unsafe { to_planes::<WIDE>(coefficients, kmin, top, &mut planes) };
        planes_of_words::encode(sink, &planes, width(WIDE), top, kmin, budget);
    }
}

impl DecodingKernel<256> for Avx2 {
    #[inline(always)]
    fn decode_integers<const WIDE: bool>(
        self,
        source: &mut Source<'_>,
        kmin: u32,
        budget: u32,
        is_reversible: bool,
        block: &mut Cubes,
    ) {
        let mut planes = [[0; 4]; 64];
        let lowest = planes_of_words::decode(source, &mut planes, width(WIDE), kmin, budget);
        // SAFETY: as in `load_cube`.
        unsafe { coefficients_of::<WIDE>(&planes, lowest, block) };
        if is_reversible {
            cubes::inverse_transform::<Self, WIDE, true>(self, block);
        } else {
            cubes::inverse_transform::<Self, WIDE, false>(self, block);
        }
    }

    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &Cubes, bytes: &mut [u8]) {
        cubes::store::<Self, WIDE>(self, block, bytes);
    }
}

/// For each place of a block in the order of the stream, which coefficient it takes.
///
/// Four times 64 coefficients are taken apart into bytes as a block of three dimensions; this is the inverse of the
/// order in which their bytes are then.
const fn sources(wide: bool) -> [u8; 256] {
    let mut sources = [0; 256];
    let mut place = 0;
    while place < 256 {
        let rank = place / 64 * 64 + order::byte_of(place % 64, wide);
        let index = OF_256[rank] as usize;
        sources[place] = (index / 64 * 64 + order::place(index % 64, wide)) as u8;
        place += 1;
    }
    sources
}

static SOURCES_OF_32: [u8; 256] = sources(false);
static SOURCES_OF_64: [u8; 256] = sources(true);

/// The numbers from these sources.
#[inline(always)]
fn take_each<T: Copy + Default, const N: usize>(from: &[T; N], sources: &[u8; 64]) -> [T; 64] {
    let mut to = [T::default(); 64];
    for (number, source) in to.iter_mut().zip(sources) {
        *number = from[usize::from(*source)];
    }
    to
}

/// The inverse of [`take_each`].
#[inline(always)]
fn put_each<T: Copy, const N: usize>(from: &[T; 64], sources: &[u8; 64], to: &mut [T; N]) {
    for (number, source) in from.iter().zip(sources) {
        to[usize::from(*source)] = *number;
    }
}

/// The planes from `kmin` to `top`.
#[inline]
#[target_feature(enable = "avx2")]
fn to_planes<const WIDE: bool>(coefficients: &Cubes, kmin: u32, top: u32, planes: &mut Planes<4>) {
    for word in 0..4 {
        let halves = bytes_in_order::<WIDE>(coefficients, word);
        for byte in kmin as usize / 8..(top as usize).div_ceil(8) {
            let planes = &mut planes[8 * byte..][..8];
            matrix::planes_of_bytes([halves[0][byte], halves[1][byte]], planes, word);
        }
    }
}

/// The bytes of 64 coefficients in the order of the stream: [`matrix::bytes_of`].
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_in_order<const WIDE: bool>(coefficients: &Cubes, word: usize) -> [[__m256i; 8]; 2] {
    if WIDE {
        let sources = &SOURCES_OF_64.as_chunks().0[word];
        let cube = take_each::<u64, 256>(bytemuck::cast_ref(coefficients), sources);
        matrix::bytes_of::<WIDE>(&bytemuck::cast::<_, [__m256i; 16]>(cube))
    } else {
        let sources = &SOURCES_OF_32.as_chunks().0[word];
        let cube = take_each::<u32, 512>(bytemuck::cast_ref(coefficients), sources);
        matrix::bytes_of::<WIDE>(&bytemuck::cast::<_, [__m256i; 8]>(cube))
    }
}

/// The coefficients of planes, of which those below `lowest` are zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn coefficients_of<const WIDE: bool>(planes: &Planes<4>, lowest: u32, coefficients: &mut Cubes) {
    for word in 0..4 {
        let mut bytes = [[_mm256_setzero_si256(); 2]; 8];
        for byte in lowest as usize / 8..if WIDE { 8 } else { 4 } {
            let mut words = [0; 8];
            for (bits, plane) in words.iter_mut().zip(&planes[8 * byte..]) {
                *bits = plane[word];
            }
            bytes[byte] = matrix::bytes_of_planes(&words);
        }
        put_in_order::<WIDE>(&bytes, word, coefficients);
    }
}

/// The inverse of [`bytes_in_order`].
#[inline]
#[target_feature(enable = "avx2")]
fn put_in_order<const WIDE: bool>(bytes: &[[__m256i; 2]; 8], word: usize, coefficients: &mut Cubes) {
    let mut cube = [_mm256_setzero_si256(); 16];
    matrix::put_places::<WIDE>(bytes, &mut cube);
    if WIDE {
        let sources = &SOURCES_OF_64.as_chunks().0[word];
        put_each::<u64, 256>(bytemuck::cast_ref(&cube), sources, bytemuck::cast_mut(coefficients));
    } else {
        let (sources, [half, _]) = (&SOURCES_OF_32.as_chunks().0[word], bytemuck::cast_ref::<_, [[u32; 64]; 2]>(&cube));
        put_each::<u32, 512>(half, sources, bytemuck::cast_mut(coefficients));
    }
}
