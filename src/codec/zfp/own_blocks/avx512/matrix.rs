//! Coefficients to bit planes and back.
//!
//! Bytes of the same significance stand together, in the order of the coefficients, when the 8 by 8 bits of each 8 of
//! them are transposed.

use super::super::order::OF_64 as ORDER;
use super::cubes::Vectors;
use super::lanes::{transpose_8x8, transpose_32};
use std::arch::x86_64::*;

/// For each resulting byte, which one of a vector it is.
pub(super) type Permutation = [u8; 64];

/// Where the byte of a coefficient lies among the 64 of its significance: see [`transform`](super::transform).
pub(super) const fn byte_of(index: u8, wide: bool) -> u8 {
    let (x, y, z) = (index % 4, index / 4 % 4, index / 16);
    if wide { index } else { 16 * x + 4 * z + y }
}

/// The bytes in the order of the coefficients, each 8 in the order in which [`transpose_bits`] takes them: backwards.
const fn to_order(wide: bool) -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        sources[i ^ 7] = byte_of(ORDER[i], wide);
        i += 1;
    }
    sources
}

/// From the order of the coefficients.
const fn from_order(wide: bool) -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        sources[byte_of(ORDER[i], wide) as usize] = i as u8;
        i += 1;
    }
    sources
}

/// The first bytes of each 8, then the second ones, and so on; in each 8 forwards, or backwards.
const fn by_place(backwards: bool) -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        sources[if backwards { i ^ 7 } else { i }] = (i % 8 * 8 + i / 8) as u8;
        i += 1;
    }
    sources
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
pub(super) fn permute(bytes: __m512i, sources: Permutation) -> __m512i {
    _mm512_permutexvar_epi8(bytemuck::cast(sources), bytes)
}

/// Bit j of byte 7 - i of each 8 bytes becomes bit i of byte j.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
pub(super) fn transpose_bits(bytes: __m512i) -> __m512i {
    // The bytes are the rows of a matrix, from the last one on, that these vectors are multiplied with.
    let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    _mm512_gf2p8affine_epi64_epi8::<0>(units, bytes)
}

/// Bit 7 - j of byte 7 - i of each 8 bytes becomes bit i of byte j: the same, from the most significant bit down.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
pub(super) fn transpose_bits_downwards(bytes: __m512i) -> __m512i {
    let units = _mm512_set1_epi64(0x0102_0408_1020_4080);
    _mm512_gf2p8affine_epi64_epi8::<0>(units, bytes)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn to_planes<const WIDE: bool>(coefficients: &Vectors, kmin: u32, top: u32, planes: &mut [u64; 64]) {
    let bytes = bytes_of::<WIDE>(coefficients);
    let planes: &mut [[u64; 8]] = planes.as_chunks_mut().0;
    for byte in kmin as usize / 8..(top as usize).div_ceil(8) {
        let bits = transpose_bits(permute(bytes[byte % 8], const { to_order(WIDE) }));
        planes[byte] = bytemuck::cast(permute(bits, const { by_place(false) }));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn coefficients_of<const WIDE: bool>(planes: &[u64; 64], lowest: u32) -> Vectors {
    let mut bytes = [_mm512_setzero_si512(); 8];
    let planes: &[[u64; 8]] = planes.as_chunks().0;
    for byte in lowest as usize / 8..if WIDE { 8 } else { 4 } {
        let bits = transpose_bits(permute(bytemuck::cast(planes[byte]), const { by_place(true) }));
        bytes[byte] = permute(bits, const { from_order(WIDE) });
    }
    let mut coefficients = [_mm512_setzero_si512(); 8];
    put_places::<WIDE>(&bytes, &mut coefficients);
    coefficients
}

/// The bytes of each significance, a vector for each, in places by [`byte_of`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn bytes_of<const WIDE: bool>(coefficients: &[__m512i]) -> Vectors {
    let mut words = [_mm512_setzero_si512(); 8];
    if WIDE {
        words.copy_from_slice(&coefficients[..8]);
        bytes_of_64(words)
    } else {
        words[..4].copy_from_slice(&coefficients[..4]);
        bytes_of_32(words)
    }
}

/// The inverse of [`bytes_of`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn put_places<const WIDE: bool>(bytes: &Vectors, coefficients: &mut [__m512i]) {
    if WIDE {
        coefficients[..8].copy_from_slice(&bytes_to_64(bytes));
    } else {
        coefficients[..4].copy_from_slice(&bytes_to_32(bytes));
    }
}

/// The first bytes of four words of 32 bits, then the second ones, and so on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn by_significance_32(words: __m512i) -> __m512i {
    const ORDER: [i8; 16] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
    _mm512_shuffle_epi8(words, _mm512_broadcast_i32x4(bytemuck::cast(ORDER)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bytes_of_32([a, b, c, d, none, ..]: Vectors) -> Vectors {
    let words = [by_significance_32(a), by_significance_32(b), by_significance_32(c), by_significance_32(d)];
    let [a, b, c, d] = transpose_32(words);
    [a, b, c, d, none, none, none, none]
}

/// The inverse of [`bytes_of_32`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bytes_to_32(bytes: &Vectors) -> [__m512i; 4] {
    let [a, b, c, d, ..] = *bytes;
    let (ab, cd) = (_mm512_unpacklo_epi8(a, b), _mm512_unpacklo_epi8(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi8(a, b), _mm512_unpackhi_epi8(c, d));
    [
        _mm512_unpacklo_epi16(ab, cd),
        _mm512_unpackhi_epi16(ab, cd),
        _mm512_unpacklo_epi16(ab_high, cd_high),
        _mm512_unpackhi_epi16(ab_high, cd_high),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn bytes_of_64(mut words: Vectors) -> Vectors {
    for vector in &mut words {
        *vector = permute(*vector, const { by_place(false) });
    }
    transpose_8x8(words)
}

/// The inverse of [`bytes_of_64`].
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn bytes_to_64(bytes: &Vectors) -> Vectors {
    let mut words = transpose_8x8(*bytes);
    for vector in &mut words {
        *vector = permute(*vector, const { by_place(false) });
    }
    words
}
