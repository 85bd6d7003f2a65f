//! AVX-512 instructions on each lane.

use super::super::across::EachLane;
use super::Avx512;
use std::arch::x86_64::*;

impl EachLane for Avx512 {
    /// A bit for each lane; the bits above these are unspecified.
    type Mask = u16;

    #[inline(always)]
    fn all<const WIDE: bool>(self, number: i64) -> __m512i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm512_set1_epi64(number) } else { _mm512_set1_epi32(number as i32) } }
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    fn smaller<const WIDE: bool>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm512_min_epi64(a, b) } else { _mm512_min_epi32(a, b) } }
    }

    #[inline(always)]
    fn larger<const WIDE: bool>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm512_max_epi64(a, b) } else { _mm512_max_epi32(a, b) } }
    }

    #[inline(always)]
    fn equal<const WIDE: bool>(self, a: __m512i, b: __m512i) -> u16 {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm512_cmpeq_epi64_mask(a, b).into() } else { _mm512_cmpeq_epi32_mask(a, b) } }
    }

    #[inline(always)]
    fn less<const WIDE: bool>(self, a: __m512i, b: __m512i) -> u16 {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm512_cmplt_epi64_mask(a, b).into() } else { _mm512_cmplt_epi32_mask(a, b) } }
    }

    #[inline(always)]
    fn both(self, a: u16, b: u16) -> u16 {
        a & b
    }

    #[inline(always)]
    fn not(self, mask: u16) -> u16 {
        !mask
    }

    #[inline(always)]
    fn any(self, mask: u16) -> bool {
        mask != 0
    }

    #[inline(always)]
    fn select<const WIDE: bool>(self, mask: u16, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm512_mask_mov_epi64(b, mask as __mmask8, a) } else { _mm512_mask_mov_epi32(b, mask, a) } }
    }

    #[inline(always)]
    fn shifted_left<const WIDE: bool>(self, numbers: __m512i, counts: __m512i) -> __m512i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm512_sllv_epi64(numbers, counts) } else { _mm512_sllv_epi32(numbers, counts) } }
    }

    #[inline(always)]
    fn shifted_right<const WIDE: bool>(self, numbers: __m512i, counts: __m512i) -> __m512i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm512_srlv_epi64(numbers, counts) } else { _mm512_srlv_epi32(numbers, counts) } }
    }

    #[inline(always)]
    fn leading_zeros<const WIDE: bool>(self, numbers: __m512i) -> __m512i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm512_lzcnt_epi64(numbers) } else { _mm512_lzcnt_epi32(numbers) } }
    }

    #[inline(always)]
    fn product<const WIDE: bool>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            if WIDE {
                _mm512_castpd_si512(_mm512_mul_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)))
            } else {
                _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
            }
        }
    }
}
