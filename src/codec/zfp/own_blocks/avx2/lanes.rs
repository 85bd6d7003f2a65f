//! AVX2 instructions on one vector.

use super::super::lanes::{Arithmetic, Lanes};
use super::Avx2;
use super::d3::matrix::transpose_32;
use std::arch::x86_64::*;

impl Arithmetic for Avx2 {
    type Vector = __m256i;

    #[inline(always)]
    fn repeat(self, byte: u8) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe { _mm256_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe { _mm256_xor_si256(a, b) }
    }

    #[inline(always)]
    fn add<const WIDE: bool>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe { if WIDE { _mm256_add_epi64(a, b) } else { _mm256_add_epi32(a, b) } }
    }

    #[inline(always)]
    fn sub<const WIDE: bool>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe { if WIDE { _mm256_sub_epi64(a, b) } else { _mm256_sub_epi32(a, b) } }
    }

    #[inline(always)]
    fn half<const WIDE: bool>(self, integers: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe {
            let half = _mm256_srai_epi32::<1>(integers);
            // There is no arithmetic shift of 64 bits: the upper half is that of 32 bits.
            if WIDE { _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<1>(integers), half) } else { half }
        }
    }
}

impl Lanes for Avx2 {
    #[inline(always)]
    fn zero(self) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe { _mm256_or_si256(a, b) }
    }

    #[inline(always)]
    fn is_zero(self, vector: __m256i) -> bool {
        // SAFETY: the processor has AVX2.
        unsafe { _mm256_testz_si256(vector, vector) == 1 }
    }

    #[inline(always)]
    fn any_bits<const WIDE: bool>(self, vector: __m256i) -> u64 {
        let [a, b, c, d]: [u64; 4] = bytemuck::cast(vector);
        let all = a | b | c | d;
        if WIDE { all } else { (all | all >> 32) & u64::from(u32::MAX) }
    }

    #[inline(always)]
    fn larger_magnitude<const WIDE: bool>(self, largest: __m256i, values: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe {
            if WIDE {
                let magnitude = _mm256_and_si256(values, _mm256_set1_epi64x(i64::MAX));
                let is_nan = _mm256_cmpgt_epi64(magnitude, _mm256_set1_epi64x(0x7FF << 52));
                let magnitude = _mm256_andnot_si256(is_nan, magnitude);
                _mm256_blendv_epi8(largest, magnitude, _mm256_cmpgt_epi64(magnitude, largest))
            } else {
                let magnitude = _mm256_and_si256(values, _mm256_set1_epi32(i32::MAX));
                let is_nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0xFF << 23));
                _mm256_max_epi32(largest, _mm256_andnot_si256(is_nan, magnitude))
            }
        }
    }

    #[inline(always)]
    fn largest<const WIDE: bool>(self, vector: __m256i) -> u64 {
        if WIDE {
            let values: [u64; 4] = bytemuck::cast(vector);
            values[0].max(values[1]).max(values[2]).max(values[3])
        } else {
            let values: [u32; 8] = bytemuck::cast(vector);
            values.into_iter().fold(0, u32::max).into()
        }
    }

    #[inline(always)]
    fn multiply<const WIDE: bool>(self, values: __m256i, factor: f64) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe {
            if WIDE {
                _mm256_castpd_si256(_mm256_mul_pd(_mm256_castsi256_pd(values), _mm256_set1_pd(factor)))
            } else {
                _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(values), _mm256_set1_ps(factor as f32)))
            }
        }
    }

    #[inline(always)]
    fn truncate<const WIDE: bool>(self, values: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe {
            if WIDE {
                truncate_64(_mm256_castsi256_pd(values))
            } else {
                _mm256_cvttps_epi32(_mm256_castsi256_ps(values))
            }
        }
    }

    #[inline(always)]
    fn to_floats<const WIDE: bool>(self, integers: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe {
            if WIDE {
                _mm256_castpd_si256(round_64(integers))
            } else {
                _mm256_castps_si256(_mm256_cvtepi32_ps(integers))
            }
        }
    }

    #[inline(always)]
    fn reinterpret<const WIDE: bool>(self, values: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe {
            let flipped = if WIDE {
                _mm256_srli_epi64::<1>(_mm256_cmpgt_epi64(_mm256_setzero_si256(), values))
            } else {
                _mm256_srli_epi32::<1>(_mm256_srai_epi32::<31>(values))
            };
            _mm256_xor_si256(values, flipped)
        }
    }
}

/// Of magnitudes up to 2^62. AVX2 has no instruction for it: the upper and the lower 32 bits go through the fraction of
/// a float, where 1.5 * 2^52 leaves them.
#[inline]
#[target_feature(enable = "avx2")]
fn truncate_64(values: __m256d) -> __m256i {
    const TO_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
    let place = _mm256_set1_pd(1.5 * (1_u64 << 52) as f64);
    let two_to_32 = (1_u64 << 32) as f64;
    let upper = _mm256_round_pd::<TO_ZERO>(_mm256_mul_pd(values, _mm256_set1_pd(1.0 / two_to_32)));
    let lower = _mm256_sub_pd(values, _mm256_mul_pd(upper, _mm256_set1_pd(two_to_32)));
    let lower = _mm256_round_pd::<TO_ZERO>(lower);
    let integer =
        |float| _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(float, place)), _mm256_castpd_si256(place));
    _mm256_add_epi64(_mm256_slli_epi64::<32>(integer(upper)), integer(lower))
}

/// Rounded to nearest. AVX2 has no instruction for it: the upper and the lower 32 bits become floats in the fraction of
/// 2^84 and of 2^52; what these are more than the integer is subtracted from the first without rounding.
#[inline]
#[target_feature(enable = "avx2")]
fn round_64(integers: __m256i) -> __m256d {
    const TWO_TO_52: f64 = (1_u64 << 52) as f64;
    const TWO_TO_84: f64 = TWO_TO_52 * (1_u64 << 32) as f64;
    let place = |float: f64| _mm256_castpd_si256(_mm256_set1_pd(float));
    let upper = _mm256_add_epi64(
        _mm256_srli_epi64::<32>(_mm256_xor_si256(integers, _mm256_set1_epi64x(i64::MIN))),
        place(TWO_TO_84),
    );
    let lower = _mm256_blend_epi32::<0b1010_1010>(integers, place(TWO_TO_52));
    // The flipped sign adds 2^63.
    let surplus = _mm256_set1_pd(TWO_TO_84 + (1_u64 << 63) as f64 + TWO_TO_52);
    let upper = _mm256_sub_pd(_mm256_castsi256_pd(upper), surplus);
    _mm256_add_pd(upper, _mm256_castsi256_pd(lower))
}

/// Rows of four values to lines, and back. Of 32 bits, the lanes of the vectors hold a row each.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose<const WIDE: bool>(rows: [__m256i; 4]) -> [__m256i; 4] {
    if !WIDE {
        return transpose_32(rows);
    }
    let [a, b, c, d] = rows;
    let (ab, cd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d));
    [
        _mm256_permute2x128_si256::<0x20>(ab, cd),
        _mm256_permute2x128_si256::<0x20>(ab_high, cd_high),
        _mm256_permute2x128_si256::<0x31>(ab, cd),
        _mm256_permute2x128_si256::<0x31>(ab_high, cd_high),
    ]
}
