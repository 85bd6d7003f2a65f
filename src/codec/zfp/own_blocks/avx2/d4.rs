//! Blocks of four dimensions: four blocks of three dimensions along w.

use super::super::bits::{Sink, Source};
use super::super::block::width;
use super::super::kernel::Kernel;
use super::super::lanes::Lanes;
use super::super::lift::{from_negabinary, lift, to_negabinary, unlift};
use super::super::order::OF_256;
use super::super::planes_of_words::{self, Planes};
use super::super::values;
use super::Avx2;
use super::d3::{Vectors, matrix, memory, order, transform};
use std::arch::x86_64::*;

/// The values of a block; those of 32 bits take the first half.
type Cubes = [__m256i; 64];

/// The vectors of one of the four.
const fn cube_size(wide: bool) -> usize {
    if wide { 16 } else { 8 }
}

impl Kernel<256> for Avx2 {
    type Block = Cubes;
    type Coefficients = Cubes;

    #[inline(always)]
    fn zeros(self) -> Cubes {
        [self.zero(); 64]
    }

    #[inline(always)]
    fn vector_count(wide: bool) -> usize {
        4 * cube_size(wide)
    }

    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8]) -> Cubes {
        let mut block = [self.zero(); 64];
        let size = cube_size(WIDE);
        for (cube, bytes) in block.chunks_exact_mut(size).zip(bytes.chunks_exact(32 * size)) {
            // SAFETY: there is a value of this type only where the processor has the instructions.
            let values = unsafe { memory::load::<WIDE>(bytes) };
            cube.copy_from_slice(&values[..size]);
        }
        block
    }

    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &Cubes, bytes: &mut [u8]) {
        let size = cube_size(WIDE);
        for (cube, bytes) in block.chunks_exact(size).zip(bytes.chunks_exact_mut(32 * size)) {
            // SAFETY: as in `load`.
            unsafe { memory::store::<WIDE>(&vectors(cube), bytes) };
        }
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, integers: &Cubes) -> Cubes {
        let mut block = *integers;
        let size = cube_size(WIDE);
        for cube in block[..4 * size].chunks_exact_mut(size) {
            // SAFETY: as in `load`.
            let lifted = unsafe { transform::lift_axes::<WIDE, REVERSIBLE>(self, &vectors(cube)) };
            cube.copy_from_slice(&lifted[..size]);
        }
        for i in 0..size {
            let line = [block[i], block[size + i], block[2 * size + i], block[3 * size + i]];
            for (w, coefficients) in lift::<Self, WIDE, REVERSIBLE>(self, line).into_iter().enumerate() {
                block[w * size + i] = to_negabinary::<Self, WIDE>(self, coefficients);
            }
        }
        block
    }

    #[inline(always)]
    fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(self, coefficients: &Cubes) -> Cubes {
        let mut block = *coefficients;
        let size = cube_size(WIDE);
        for i in 0..size {
            let mut line = [block[i], block[size + i], block[2 * size + i], block[3 * size + i]];
            for coefficients in &mut line {
                *coefficients = from_negabinary::<Self, WIDE>(self, *coefficients);
            }
            for (w, integers) in unlift::<Self, WIDE, REVERSIBLE>(self, line).into_iter().enumerate() {
                block[w * size + i] = integers;
            }
        }
        for cube in block[..4 * size].chunks_exact_mut(size) {
            // SAFETY: as in `load`.
            let integers = unsafe { transform::unlift_axes::<WIDE, REVERSIBLE>(self, &vectors(cube)) };
            cube.copy_from_slice(&integers[..size]);
        }
        block
    }

    #[inline(always)]
    fn significant_bits<const WIDE: bool>(self, coefficients: &Cubes) -> u64 {
        values::any_bits::<Self, 256, WIDE>(self, coefficients)
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
        // SAFETY: as in `load`.
        unsafe {
            to_planes::<WIDE>(coefficients, kmin, top, &mut planes);
            planes_of_words::encode(sink, &planes, width(WIDE), top, kmin, budget);
        }
    }

    #[inline(always)]
    fn decode_planes<const WIDE: bool>(self, source: &mut Source<'_>, kmin: u32, budget: u32) -> Cubes {
        let mut planes = [[0; 4]; 64];
        // SAFETY: as in `load`.
        unsafe {
            let lowest = planes_of_words::decode(source, &mut planes, width(WIDE), kmin, budget);
            coefficients_of::<WIDE>(&planes, lowest)
        }
    }
}

/// One of the four, as the functions of three dimensions take it.
#[inline(always)]
fn vectors(cube: &[__m256i]) -> Vectors {
    let mut vectors: Vectors = bytemuck::Zeroable::zeroed();
    vectors[..cube.len()].copy_from_slice(cube);
    vectors
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

/// Coefficients in the order of the stream.
#[inline(always)]
fn in_order<const WIDE: bool>(coefficients: &Cubes) -> Cubes {
    let mut ordered: Cubes = bytemuck::Zeroable::zeroed();
    if WIDE {
        take_each::<u64, 256>(bytemuck::cast_ref(coefficients), &SOURCES_OF_64, bytemuck::cast_mut(&mut ordered));
    } else {
        take_each::<u32, 512>(bytemuck::cast_ref(coefficients), &SOURCES_OF_32, bytemuck::cast_mut(&mut ordered));
    }
    ordered
}

/// The inverse of [`in_order`].
#[inline(always)]
fn from_order<const WIDE: bool>(ordered: &Cubes) -> Cubes {
    let mut coefficients: Cubes = bytemuck::Zeroable::zeroed();
    if WIDE {
        put_each::<u64, 256>(bytemuck::cast_ref(ordered), &SOURCES_OF_64, bytemuck::cast_mut(&mut coefficients));
    } else {
        put_each::<u32, 512>(bytemuck::cast_ref(ordered), &SOURCES_OF_32, bytemuck::cast_mut(&mut coefficients));
    }
    coefficients
}

/// To each place the number from its source.
#[inline(always)]
fn take_each<T: Copy, const N: usize>(from: &[T; N], sources: &[u8; 256], to: &mut [T; N]) {
    for (number, source) in to.iter_mut().zip(sources) {
        *number = from[usize::from(*source)];
    }
}

/// The inverse of [`take_each`].
#[inline(always)]
fn put_each<T: Copy, const N: usize>(from: &[T; N], sources: &[u8; 256], to: &mut [T; N]) {
    for (number, source) in from.iter().zip(sources) {
        to[usize::from(*source)] = *number;
    }
}

/// The planes from `kmin` to `top`.
#[inline]
#[target_feature(enable = "avx2")]
fn to_planes<const WIDE: bool>(coefficients: &Cubes, kmin: u32, top: u32, planes: &mut Planes<4>) {
    let ordered = in_order::<WIDE>(coefficients);
    for (word, cube) in ordered.chunks_exact(cube_size(WIDE)).take(4).enumerate() {
        let halves = matrix::bytes_of::<WIDE>(&vectors(cube));
        for byte in kmin as usize / 8..(top as usize).div_ceil(8) {
            let mut words = [0; 8];
            matrix::planes_of_bytes([halves[0][byte], halves[1][byte]], &mut words);
            for (plane, bits) in planes[8 * byte..].iter_mut().zip(words) {
                plane[word] = bits;
            }
        }
    }
}

/// The coefficients of planes, of which those below `lowest` are zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn coefficients_of<const WIDE: bool>(planes: &Planes<4>, lowest: u32) -> Cubes {
    let mut ordered: Cubes = bytemuck::Zeroable::zeroed();
    let size = cube_size(WIDE);
    for (word, cube) in ordered.chunks_exact_mut(size).take(4).enumerate() {
        let mut bytes = [[_mm256_setzero_si256(); 2]; 8];
        for byte in lowest as usize / 8..if WIDE { 8 } else { 4 } {
            let words: [u64; 8] = std::array::from_fn(|plane| planes[8 * byte + plane][word]);
            bytes[byte] = matrix::bytes_of_planes(&words);
        }
        cube.copy_from_slice(&matrix::places_of::<WIDE>(&bytes)[..size]);
    }
    from_order::<WIDE>(&ordered)
}
