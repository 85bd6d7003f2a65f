//! Blocks of four dimensions: four blocks of three dimensions along w.

use super::super::order::OF_256 as ORDER;
use super::super::planes_of_words::Planes;
use super::super::x86::cubes::CubeKernel;
use super::Avx512;
use super::cubes::{Cubes, Vectors};
use super::matrix::{self, Permutation, byte_of, permute, transpose_bits};
use std::arch::x86_64::*;

/// Bytes of a block in 64 places of four vectors: from the first two or the last two of these, and in which places from
/// the last two.
struct Sources {
    places: [Permutation; 4],
    from_last: [u64; 4],
}

impl Sources {
    /// Where each byte comes from, by its place.
    const fn new(sources: [u8; 256]) -> Self {
        let mut all = Self { places: [[0; 64]; 4], from_last: [0; 4] };
        let mut i = 0;
        while i < 256 {
            all.places[i / 64][i % 64] = sources[i] % 128;
            all.from_last[i / 64] |= (sources[i] as u64 / 128) << (i % 64);
            i += 1;
        }
        all
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn take(&self, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
        let mut taken = [a; 4];
        for (taken, (places, from_last)) in taken.iter_mut().zip(self.places.iter().zip(self.from_last)) {
            let places = bytemuck::cast(*places);
            let (first, last) = (_mm512_permutex2var_epi8(a, places, b), _mm512_permutex2var_epi8(c, places, d));
            *taken = _mm512_mask_blend_epi8(from_last, first, last);
        }
        taken
    }
}

/// Where the byte of a coefficient lies among the 256 of its significance.
const fn place(index: u8, wide: bool) -> u8 {
    index / 64 * 64 + byte_of(index % 64, wide)
}

/// The bytes in the order of the coefficients, each 8 in the order in which [`transpose_bits`] takes them: backwards.
const fn to_order(wide: bool) -> Sources {
    let mut sources = [0; 256];
    let mut i = 0;
    while i < 256 {
        sources[i ^ 7] = place(ORDER[i], wide);
        i += 1;
    }
    Sources::new(sources)
}

/// From the order of the coefficients.
const fn from_order(wide: bool) -> Sources {
    let mut sources = [0; 256];
    let mut i = 0;
    while i < 256 {
        sources[place(ORDER[i], wide) as usize] = i as u8;
        i += 1;
    }
    Sources::new(sources)
}

static TO_ORDER: [Sources; 2] = [to_order(false), to_order(true)];
static FROM_ORDER: [Sources; 2] = [from_order(false), from_order(true)];

/// The order of planes in a vector from which [`rows`] makes rows of four words.
const INTERLEAVED: [u8; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// The bytes of each of these planes among 8 times 8, whose first bytes are in the first 8; or the bytes of the planes
/// in that order, each 8 of them backwards.
const fn by_plane(backwards: bool) -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (plane, byte) = (INTERLEAVED[i / 8], i as u8 % 8);
        if backwards {
            sources[(8 * byte + 7 - plane) as usize] = i as u8;
        } else {
            sources[i] = 8 * byte + plane;
        }
        i += 1;
    }
    sources
}

/// The planes from `kmin` to `top`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn to_planes<const WIDE: bool>(coefficients: &Cubes, kmin: u32, top: u32, planes: &mut Planes<4>) {
    let size = Avx512::cube_size(WIDE);
    let mut bytes: [Vectors; 4] = bytemuck::Zeroable::zeroed();
    for (bytes, cube) in bytes.iter_mut().zip(coefficients.chunks_exact(size)) {
        *bytes = matrix::bytes_of::<WIDE>(cube);
    }
    let planes: &mut [[[u64; 8]; 4]; 8] = bytemuck::cast_mut(planes);
    for byte in kmin as usize / 8..(top as usize).div_ceil(8) {
        let mut words = [bytes[0][byte % 8], bytes[1][byte % 8], bytes[2][byte % 8], bytes[3][byte % 8]];
        words = TO_ORDER[usize::from(WIDE)].take(words);
        for word in &mut words {
            *word = permute(transpose_bits(*word), const { by_plane(false) });
        }
        for (planes, rows) in planes[byte].iter_mut().zip(rows(words)) {
            *planes = bytemuck::cast(rows);
        }
    }
}

/// The coefficients of planes, of which those below `lowest` are zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn coefficients_of<const WIDE: bool>(planes: &Planes<4>, lowest: u32, coefficients: &mut Cubes) {
    let size = Avx512::cube_size(WIDE);
    let planes: &[[[u64; 8]; 4]; 8] = bytemuck::cast_ref(planes);
    let mut bytes: [Vectors; 4] = bytemuck::Zeroable::zeroed();
    for byte in lowest as usize / 8..size {
        let [a, b, c, d] = planes[byte];
        let mut words = words([bytemuck::cast(a), bytemuck::cast(b), bytemuck::cast(c), bytemuck::cast(d)]);
        for word in &mut words {
            *word = transpose_bits(permute(*word, const { by_plane(true) }));
        }
        for (cube, taken) in bytes.iter_mut().zip(FROM_ORDER[usize::from(WIDE)].take(words)) {
            cube[byte] = taken;
        }
    }
    for (cube, bytes) in coefficients.chunks_exact_mut(size).zip(&bytes) {
        matrix::put_places::<WIDE>(bytes, cube);
    }
}

/// Four words of each of 8 planes, by the planes, from vectors of each word of the planes, [`INTERLEAVED`].
#[inline]
#[target_feature(enable = "avx512f")]
fn rows([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, cd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d));
    let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let last = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    [
        _mm512_permutex2var_epi64(ab, first, cd),
        _mm512_permutex2var_epi64(ab, last, cd),
        _mm512_permutex2var_epi64(ab_high, first, cd_high),
        _mm512_permutex2var_epi64(ab_high, last, cd_high),
    ]
}

/// The inverse of [`rows`].
#[inline]
#[target_feature(enable = "avx512f")]
fn words([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let first = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13);
    let last = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
    let (low, low_last) = (_mm512_permutex2var_epi64(a, first, b), _mm512_permutex2var_epi64(a, last, b));
    let (high, high_last) = (_mm512_permutex2var_epi64(c, first, d), _mm512_permutex2var_epi64(c, last, d));
    [
        _mm512_unpacklo_epi64(low, high),
        _mm512_unpackhi_epi64(low, high),
        _mm512_unpacklo_epi64(low_last, high_last),
        _mm512_unpackhi_epi64(low_last, high_last),
    ]
}
