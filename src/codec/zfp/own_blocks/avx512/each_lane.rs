//! Instructions on each lane, of 32 bits, or if `WIDE` of 64, beside those of [`Lanes`](super::super::lanes::Lanes).
//!
//! Masks have a bit for each lane; the bits above these are unspecified.

use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn all<const WIDE: bool>(number: i64) -> __m512i {
    if WIDE { _mm512_set1_epi64(number) } else { _mm512_set1_epi32(number as i32) }
}

/// Of signed numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn smaller<const WIDE: bool>(a: __m512i, b: __m512i) -> __m512i {
    if WIDE { _mm512_min_epi64(a, b) } else { _mm512_min_epi32(a, b) }
}

/// Of signed numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn larger<const WIDE: bool>(a: __m512i, b: __m512i) -> __m512i {
    if WIDE { _mm512_max_epi64(a, b) } else { _mm512_max_epi32(a, b) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn equal<const WIDE: bool>(a: __m512i, b: __m512i) -> u16 {
    if WIDE { _mm512_cmpeq_epi64_mask(a, b).into() } else { _mm512_cmpeq_epi32_mask(a, b) }
}

/// Of signed numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn less<const WIDE: bool>(a: __m512i, b: __m512i) -> u16 {
    if WIDE { _mm512_cmplt_epi64_mask(a, b).into() } else { _mm512_cmplt_epi32_mask(a, b) }
}

/// The lanes of `a` that the mask has, and the others of `b`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn select<const WIDE: bool>(mask: u16, a: __m512i, b: __m512i) -> __m512i {
    if WIDE { _mm512_mask_mov_epi64(b, mask as __mmask8, a) } else { _mm512_mask_mov_epi32(b, mask, a) }
}

/// By a number of bits for each lane; 0 where it is negative, or not less than the bits of a lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn shifted_left<const WIDE: bool>(numbers: __m512i, counts: __m512i) -> __m512i {
    if WIDE { _mm512_sllv_epi64(numbers, counts) } else { _mm512_sllv_epi32(numbers, counts) }
}

/// By a number of bits for each lane, with zeros from above.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn shifted_right<const WIDE: bool>(numbers: __m512i, counts: __m512i) -> __m512i {
    if WIDE { _mm512_srlv_epi64(numbers, counts) } else { _mm512_srlv_epi32(numbers, counts) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512cd")]
pub(super) fn leading_zeros<const WIDE: bool>(numbers: __m512i) -> __m512i {
    if WIDE { _mm512_lzcnt_epi64(numbers) } else { _mm512_lzcnt_epi32(numbers) }
}

/// Of floats.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn multiply<const WIDE: bool>(a: __m512i, b: __m512i) -> __m512i {
    if WIDE {
        _mm512_castpd_si512(_mm512_mul_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)))
    } else {
        _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
    }
}

/// Ones in the places below the highest one of each number; none where it is 0.
#[inline]
#[target_feature(enable = "avx512f,avx512cd")]
pub(super) fn below_first_ones<const WIDE: bool>(numbers: __m512i) -> __m512i {
    let zeros = leading_zeros::<WIDE>(numbers);
    if WIDE {
        _mm512_srlv_epi64(_mm512_set1_epi64(i64::MAX), zeros)
    } else {
        _mm512_srlv_epi32(_mm512_set1_epi32(i32::MAX), zeros)
    }
}
