//! Blocks of four dimensions: four blocks of three dimensions along w.

use super::super::order::OF_256;
use super::super::planes_of_words::Planes;
use super::d3::{Cubes, matrix, order};
use std::arch::x86_64::*;

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
pub(super) fn to_planes<const WIDE: bool>(coefficients: &Cubes, kmin: u32, top: u32, planes: &mut Planes<4>) {
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
pub(super) fn coefficients_of<const WIDE: bool>(planes: &Planes<4>, lowest: u32, coefficients: &mut Cubes) {
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
