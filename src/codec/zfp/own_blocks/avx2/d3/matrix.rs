//! Coefficients to bit planes and back.

use super::Vectors;
use super::order::{from_order, to_order};
use std::arch::x86_64::*;

/// Vectors whose lanes hold the same 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn in_both_lanes(bytes: [i8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(bytemuck::cast(bytes))
}

/// The bytes of two words one by one.
pub(in super::super) const INTERLEAVED: [i8; 16] = [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15];
/// The first bytes of four words, then the second ones, and so on.
pub(in super::super) const BY_SIGNIFICANCE: [i8; 16] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn to_planes<const WIDE: bool>(places: &Vectors, kmin: u32, top: u32, planes: &mut [u64; 64]) {
    let halves = bytes_of::<WIDE>(places);
    for byte in kmin as usize / 8..(top as usize).div_ceil(8) {
        let bytes = const { &to_order(WIDE) }.apply([halves[0][byte], halves[1][byte]]);
        planes_of_bytes::<1>(bytes, bytemuck::cast_slice_mut(&mut planes[8 * byte..][..8]), 0);
    }
}

/// The bytes of 64 coefficients, those of the same significance in one vector of each half.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn bytes_of<const WIDE: bool>(places: &[__m256i]) -> [[__m256i; 8]; 2] {
    if WIDE {
        [bytes_of_64(places, 0), bytes_of_64(places, 8)]
    } else {
        [bytes_of_32(places, 0), bytes_of_32(places, 4)]
    }
}

/// The bytes of 32 coefficients, those of the same significance in one vector.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of_32(places: &[__m256i], first: usize) -> [__m256i; 8] {
    let order = in_both_lanes(BY_SIGNIFICANCE);
    let [a, b, c, d] = transpose_32([
        _mm256_shuffle_epi8(places[first], order),
        _mm256_shuffle_epi8(places[first + 1], order),
        _mm256_shuffle_epi8(places[first + 2], order),
        _mm256_shuffle_epi8(places[first + 3], order),
    ]);
    let none = _mm256_setzero_si256();
    [a, b, c, d, none, none, none, none]
}

/// The bytes of 32 coefficients, those of the same significance in one vector.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of_64(places: &[__m256i], first: usize) -> [__m256i; 8] {
    let order = in_both_lanes(INTERLEAVED);
    let (mut low, mut high) = ([_mm256_setzero_si256(); 4], [_mm256_setzero_si256(); 4]);
    for i in 0..4 {
        let a = _mm256_shuffle_epi8(places[first + 2 * i], order);
        let b = _mm256_shuffle_epi8(places[first + 2 * i + 1], order);
        low[i] = _mm256_unpacklo_epi16(a, b);
        high[i] = _mm256_unpackhi_epi16(a, b);
    }
    let ([a, b, c, d], [e, f, g, h]) = (transpose_32(low), transpose_32(high));
    [a, b, c, d, e, f, g, h]
}

/// In each lane, four words of 32 bits of four vectors.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn transpose_32([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// A word of each of eight planes from one byte of every coefficient.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn planes_of_bytes<const WORDS: usize>(
    [mut low, mut high]: [__m256i; 2],
    planes: &mut [[u64; WORDS]],
    word: usize,
) {
    for plane in planes.iter_mut().rev() {
        let (a, b) = (_mm256_movemask_epi8(low).cast_unsigned(), _mm256_movemask_epi8(high).cast_unsigned());
        plane[word] = u64::from(a) | u64::from(b) << 32;
        low = _mm256_add_epi8(low, low);
        high = _mm256_add_epi8(high, high);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn coefficients_of<const WIDE: bool>(planes: &[u64; 64], lowest: u32) -> Vectors {
    let mut bytes = [[_mm256_setzero_si256(); 2]; 8];
    let planes: &[[u64; 8]] = planes.as_chunks().0;
    for byte in lowest as usize / 8..if WIDE { 8 } else { 4 } {
        bytes[byte] = const { &from_order(WIDE) }.apply(bytes_of_planes(&planes[byte]));
    }
    let mut places = [_mm256_setzero_si256(); 16];
    put_places::<WIDE>(&bytes, &mut places);
    places
}

/// The inverse of [`bytes_of`]; of each significance there are two halves.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn put_places<const WIDE: bool>(bytes: &[[__m256i; 2]; 8], places: &mut [__m256i]) {
    let width = if WIDE { 8 } else { 4 };
    for half in 0..2 {
        let mut low = [_mm256_setzero_si256(); 4];
        let mut high = [_mm256_setzero_si256(); 4];
        for i in 0..width / 2 {
            let (a, b) = (bytes[2 * i][half], bytes[2 * i + 1][half]);
            low[i] = _mm256_unpacklo_epi8(a, b);
            high[i] = _mm256_unpackhi_epi8(a, b);
        }
        if WIDE {
            for (i, words) in [low, high].into_iter().enumerate() {
                let [a, b, c, d] = words;
                let (ab, cd) = (_mm256_unpacklo_epi16(a, b), _mm256_unpacklo_epi16(c, d));
                let (ab_high, cd_high) = (_mm256_unpackhi_epi16(a, b), _mm256_unpackhi_epi16(c, d));
                let first = 8 * half + 4 * i;
                places[first] = _mm256_unpacklo_epi32(ab, cd);
                places[first + 1] = _mm256_unpackhi_epi32(ab, cd);
                places[first + 2] = _mm256_unpacklo_epi32(ab_high, cd_high);
                places[first + 3] = _mm256_unpackhi_epi32(ab_high, cd_high);
            }
        } else {
            places[4 * half] = _mm256_unpacklo_epi16(low[0], low[1]);
            places[4 * half + 1] = _mm256_unpackhi_epi16(low[0], low[1]);
            places[4 * half + 2] = _mm256_unpacklo_epi16(high[0], high[1]);
            places[4 * half + 3] = _mm256_unpackhi_epi16(high[0], high[1]);
        }
    }
}

/// One byte of every coefficient, from eight planes.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn bytes_of_planes(planes: &[u64; 8]) -> [__m256i; 2] {
    // For each 8 coefficients the bytes of two planes, then of four, with the other four in the other lane, then of
    // all.
    let order = in_both_lanes(INTERLEAVED);
    let [a, b, c, d, e, f, g, h] = *planes;
    let low = _mm256_shuffle_epi8(bytemuck::cast([a, b, c, d]), order);
    let high = _mm256_shuffle_epi8(bytemuck::cast([e, f, g, h]), order);
    let (even, odd) = (_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high));
    let join = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    [
        transpose_8x8(_mm256_permutevar8x32_epi32(_mm256_unpacklo_epi16(even, odd), join)),
        transpose_8x8(_mm256_permutevar8x32_epi32(_mm256_unpackhi_epi16(even, odd), join)),
    ]
}

/// Bit i of byte j of each 8 bytes becomes bit j of byte i.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn transpose_8x8(bits: __m256i) -> __m256i {
    let bits = exchange::<7>(bits, 0x00AA_00AA_00AA_00AA);
    let bits = exchange::<14>(bits, 0x0000_CCCC_0000_CCCC);
    exchange::<28>(bits, 0x0000_0000_F0F0_F0F0)
}

/// Exchanges the bits of the mask with those so far above them.
#[inline]
#[target_feature(enable = "avx2")]
fn exchange<const DISTANCE: i32>(bits: __m256i, mask: i64) -> __m256i {
    let differences = _mm256_xor_si256(bits, _mm256_srli_epi64::<DISTANCE>(bits));
    let differences = _mm256_and_si256(differences, _mm256_set1_epi64x(mask));
    _mm256_xor_si256(bits, _mm256_xor_si256(differences, _mm256_slli_epi64::<DISTANCE>(differences)))
}
