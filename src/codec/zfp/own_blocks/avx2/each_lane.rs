//! AVX2 instructions on each lane.

use super::super::across::EachLane;
use super::super::lanes::{Arithmetic, Lanes};
use super::Avx2;
use std::arch::x86_64::*;

impl EachLane for Avx2 {
    /// Lanes of ones and of zeros.
    type Mask = __m256i;

    #[inline(always)]
    fn all<const WIDE: bool>(self, number: i64) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm256_set1_epi64x(number) } else { _mm256_set1_epi32(number as i32) } }
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { _mm256_and_si256(a, b) }
    }

    #[inline(always)]
    fn smaller<const WIDE: bool>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { self.select::<true>(self.less::<true>(a, b), a, b) } else { _mm256_min_epi32(a, b) } }
    }

    #[inline(always)]
    fn larger<const WIDE: bool>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { self.select::<true>(self.less::<true>(a, b), b, a) } else { _mm256_max_epi32(a, b) } }
    }

    #[inline(always)]
    fn equal<const WIDE: bool>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm256_cmpeq_epi64(a, b) } else { _mm256_cmpeq_epi32(a, b) } }
    }

    #[inline(always)]
    fn less<const WIDE: bool>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm256_cmpgt_epi64(b, a) } else { _mm256_cmpgt_epi32(b, a) } }
    }

    #[inline(always)]
    fn both(self, a: __m256i, b: __m256i) -> __m256i {
        self.and(a, b)
    }

    #[inline(always)]
    fn not(self, mask: __m256i) -> __m256i {
        self.xor(mask, self.repeat(0xFF))
    }

    #[inline(always)]
    fn any(self, mask: __m256i) -> bool {
        !self.is_zero(mask)
    }

    #[inline(always)]
    fn select<const WIDE: bool>(self, mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { _mm256_blendv_epi8(b, a, mask) }
    }

    #[inline(always)]
    fn shifted_left<const WIDE: bool>(self, numbers: __m256i, counts: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm256_sllv_epi64(numbers, counts) } else { _mm256_sllv_epi32(numbers, counts) } }
    }

    #[inline(always)]
    fn shifted_right<const WIDE: bool>(self, numbers: __m256i, counts: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { _mm256_srlv_epi64(numbers, counts) } else { _mm256_srlv_epi32(numbers, counts) } }
    }

    #[inline(always)]
    fn leading_zeros<const WIDE: bool>(self, numbers: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { if WIDE { leading_zeros_64(numbers) } else { leading_zeros_32(numbers) } }
    }

    #[inline(always)]
    fn product<const WIDE: bool>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            if WIDE {
                _mm256_castpd_si256(_mm256_mul_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)))
            } else {
                _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)))
            }
        }
    }
}

/// AVX2 has no instruction for it: the exponent of a float tells the place of the highest bit.
#[inline]
#[target_feature(enable = "avx2")]
fn leading_zeros_32(numbers: __m256i) -> __m256i {
    // Without ones that might round the number up to the next power of two.
    let few_ones = _mm256_andnot_si256(_mm256_srli_epi32::<1>(numbers), numbers);
    let float = _mm256_castps_si256(_mm256_cvtepi32_ps(few_ones));
    // With the highest bit, the number is negative: the sign of the float takes 256 away, too, so that none are left.
    let zeros = _mm256_subs_epu16(_mm256_set1_epi32(127 + 31), _mm256_srli_epi32::<23>(float));
    _mm256_min_epi32(zeros, _mm256_set1_epi32(32))
}

#[inline]
#[target_feature(enable = "avx2")]
fn leading_zeros_64(numbers: __m256i) -> __m256i {
    let zeros = leading_zeros_32(numbers);
    let (upper, lower) = (_mm256_srli_epi64::<32>(zeros), _mm256_and_si256(zeros, _mm256_set1_epi64x(0xFFFF_FFFF)));
    let is_low = _mm256_cmpeq_epi64(upper, _mm256_set1_epi64x(32));
    _mm256_add_epi64(upper, _mm256_and_si256(lower, is_low))
}
