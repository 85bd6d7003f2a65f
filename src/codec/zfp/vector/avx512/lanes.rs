//! Integers of 32 bits, or if `WIDE` of 64 bits: what [`Lanes`](super::Lanes) says of each, and what else transforms need.

use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add<const WIDE: bool>(a: __m512i, b: __m512i) -> __m512i {
    if WIDE { _mm512_add_epi64(a, b) } else { _mm512_add_epi32(a, b) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn sub<const WIDE: bool>(a: __m512i, b: __m512i) -> __m512i {
    if WIDE { _mm512_sub_epi64(a, b) } else { _mm512_sub_epi32(a, b) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn half<const WIDE: bool>(a: __m512i) -> __m512i {
    if WIDE { _mm512_srai_epi64::<1>(a) } else { _mm512_srai_epi32::<1>(a) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn to_negabinary<const WIDE: bool>(a: __m512i) -> __m512i {
    let mask = _mm512_set1_epi64(0xAAAA_AAAA_AAAA_AAAA_u64.cast_signed());
    _mm512_xor_si512(add::<WIDE>(a, mask), mask)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn from_negabinary<const WIDE: bool>(a: __m512i) -> __m512i {
    let mask = _mm512_set1_epi64(0xAAAA_AAAA_AAAA_AAAA_u64.cast_signed());
    sub::<WIDE>(_mm512_xor_si512(a, mask), mask)
}

/// In each lane of 16 bytes, four words of 32 bits of four vectors.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose_32([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(ab, cd),
        _mm512_unpackhi_epi64(ab, cd),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// In each half, four words of 64 bits of four vectors.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose_64([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, cd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d));
    let even_lanes = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let odd_lanes = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    [
        _mm512_permutex2var_epi64(ab, even_lanes, cd),
        _mm512_permutex2var_epi64(ab_high, even_lanes, cd_high),
        _mm512_permutex2var_epi64(ab, odd_lanes, cd),
        _mm512_permutex2var_epi64(ab_high, odd_lanes, cd_high),
    ]
}

/// Four lanes of 16 bytes of four vectors.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose_lanes([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let [ab, ab_high] = exchange_halves([a, b]);
    let [cd, cd_high] = exchange_halves([c, d]);
    [
        _mm512_shuffle_i64x2::<0x88>(ab, cd),
        _mm512_shuffle_i64x2::<0xDD>(ab, cd),
        _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high),
        _mm512_shuffle_i64x2::<0xDD>(ab_high, cd_high),
    ]
}

/// The first halves of two vectors, and the second ones.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn exchange_halves([a, b]: [__m512i; 2]) -> [__m512i; 2] {
    [_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xEE>(a, b)]
}

/// Eight words of 64 bits of eight vectors.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose_8x8([a, b, c, d, e, f, g, h]: [__m512i; 8]) -> [__m512i; 8] {
    // A lane for each two vectors and two words.
    let even = [
        _mm512_unpacklo_epi64(a, b),
        _mm512_unpacklo_epi64(c, d),
        _mm512_unpacklo_epi64(e, f),
        _mm512_unpacklo_epi64(g, h),
    ];
    let odd = [
        _mm512_unpackhi_epi64(a, b),
        _mm512_unpackhi_epi64(c, d),
        _mm512_unpackhi_epi64(e, f),
        _mm512_unpackhi_epi64(g, h),
    ];
    let ([a, c, e, g], [b, d, f, h]) = (transpose_lanes(even), transpose_lanes(odd));
    [a, b, c, d, e, f, g, h]
}
