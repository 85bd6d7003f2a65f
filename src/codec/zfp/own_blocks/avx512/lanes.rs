//! AVX-512 instructions on one vector, and transpositions of vectors.

use super::super::lanes::{Arithmetic, Lanes};
use super::Avx512;
use std::arch::x86_64::*;

impl Arithmetic for Avx512 {
    type Vector = __m512i;

    #[inline(always)]
    fn repeat(self, byte: u8) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe { _mm512_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe { _mm512_xor_si512(a, b) }
    }

    #[inline(always)]
    fn add<const WIDE: bool>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe { if WIDE { _mm512_add_epi64(a, b) } else { _mm512_add_epi32(a, b) } }
    }

    #[inline(always)]
    fn sub<const WIDE: bool>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe { if WIDE { _mm512_sub_epi64(a, b) } else { _mm512_sub_epi32(a, b) } }
    }

    #[inline(always)]
    fn half<const WIDE: bool>(self, integers: __m512i) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe { if WIDE { _mm512_srai_epi64::<1>(integers) } else { _mm512_srai_epi32::<1>(integers) } }
    }
}

impl Lanes for Avx512 {
    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe { _mm512_or_si512(a, b) }
    }

    #[inline(always)]
    fn is_zero(self, vector: __m512i) -> bool {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe { _mm512_test_epi64_mask(vector, vector) == 0 }
    }

    #[inline(always)]
    fn any_bits<const WIDE: bool>(self, vector: __m512i) -> u64 {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe {
            if WIDE {
                _mm512_reduce_or_epi64(vector).cast_unsigned()
            } else {
                _mm512_reduce_or_epi32(vector).cast_unsigned().into()
            }
        }
    }

    #[inline(always)]
    fn larger_magnitude<const WIDE: bool>(self, largest: __m512i, values: __m512i) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe {
            if WIDE {
                let magnitude = _mm512_and_si512(values, _mm512_set1_epi64(i64::MAX));
                let is_number = _mm512_cmple_epi64_mask(magnitude, _mm512_set1_epi64(0x7FF << 52));
                _mm512_mask_max_epi64(largest, is_number, largest, magnitude)
            } else {
                let magnitude = _mm512_and_si512(values, _mm512_set1_epi32(i32::MAX));
                let is_number = _mm512_cmple_epi32_mask(magnitude, _mm512_set1_epi32(0xFF << 23));
                _mm512_mask_max_epi32(largest, is_number, largest, magnitude)
            }
        }
    }

    #[inline(always)]
    fn largest<const WIDE: bool>(self, vector: __m512i) -> u64 {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe {
            if WIDE {
                _mm512_reduce_max_epi64(vector).cast_unsigned()
            } else {
                _mm512_reduce_max_epi32(vector).cast_unsigned().into()
            }
        }
    }

    #[inline(always)]
    fn multiply<const WIDE: bool>(self, values: __m512i, factor: f64) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe {
            if WIDE {
                _mm512_castpd_si512(_mm512_mul_pd(_mm512_castsi512_pd(values), _mm512_set1_pd(factor)))
            } else {
                _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(values), _mm512_set1_ps(factor as f32)))
            }
        }
    }

    #[inline(always)]
    fn truncate<const WIDE: bool>(self, values: __m512i) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe {
            if WIDE {
                _mm512_cvttpd_epi64(_mm512_castsi512_pd(values))
            } else {
                _mm512_cvttps_epi32(_mm512_castsi512_ps(values))
            }
        }
    }

    #[inline(always)]
    fn to_floats<const WIDE: bool>(self, integers: __m512i) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe {
            if WIDE {
                _mm512_castpd_si512(_mm512_cvtepi64_pd(integers))
            } else {
                _mm512_castps_si512(_mm512_cvtepi32_ps(integers))
            }
        }
    }

    #[inline(always)]
    fn reinterpret<const WIDE: bool>(self, values: __m512i) -> __m512i {
        // SAFETY: the processor has AVX-512 F and DQ.
        unsafe {
            let flipped = if WIDE {
                _mm512_srli_epi64::<1>(_mm512_srai_epi64::<63>(values))
            } else {
                _mm512_srli_epi32::<1>(_mm512_srai_epi32::<31>(values))
            };
            _mm512_xor_si512(values, flipped)
        }
    }
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
