//! Blocks of float32, or if `WIDE` of float64, to integers of the same size and back.

use super::{Vectors, vector_count};
use std::arch::x86_64::*;

/// The bits of a biased exponent.
pub(super) const fn exponent_bits(wide: bool) -> u32 {
    if wide { 11 } else { 8 }
}

const fn bias(wide: bool) -> i32 {
    if wide { 1023 } else { 127 }
}

/// Magnitudes of integers are below 2 to this power: one bit is for the sign, and one for what the transform adds.
const fn integer_bits(wide: bool) -> i32 {
    if wide { 62 } else { 30 }
}

/// The exponent that this one stands for.
pub(super) const fn unbiased(exponent: u32, wide: bool) -> i32 {
    exponent.cast_signed() - bias(wide)
}

/// Whether the factor that makes integers of a block of this exponent is finite. The C library takes no care of others.
pub(super) const fn has_finite_scale(exponent: i32, wide: bool) -> bool {
    exponent >= integer_bits(wide) - bias(wide)
}

/// The biased exponent of the largest magnitude, as `frexp` has it, or 0 where all are zeros. NaNs do not count.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn exponent<const WIDE: bool>(values: &Vectors) -> u32 {
    let (shift, infinity) = if WIDE { (52, 0x7FF) } else { (23, 0xFF) };
    let mut largest = _mm256_setzero_si256();
    for vector in &values[..const { vector_count(WIDE) }] {
        if WIDE {
            let magnitude = _mm256_and_si256(*vector, _mm256_set1_epi64x(i64::MAX));
            let is_nan = _mm256_cmpgt_epi64(magnitude, _mm256_set1_epi64x(0x7FF << 52));
            let magnitude = _mm256_andnot_si256(is_nan, magnitude);
            largest = _mm256_blendv_epi8(largest, magnitude, _mm256_cmpgt_epi64(magnitude, largest));
        } else {
            let magnitude = _mm256_and_si256(*vector, _mm256_set1_epi32(i32::MAX));
            let is_nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0xFF << 23));
            largest = _mm256_max_epi32(largest, _mm256_andnot_si256(is_nan, magnitude));
        }
    }
    let largest = if WIDE {
        let values: [u64; 4] = bytemuck::cast(largest);
        values[0].max(values[1]).max(values[2]).max(values[3])
    } else {
        let values: [u32; 8] = bytemuck::cast(largest);
        values.into_iter().fold(0, u32::max).into()
    };
    match (largest >> shift) as u32 {
        _ if largest == 0 => 0,
        exponent if exponent == infinity => bias(WIDE).cast_unsigned(),
        exponent => exponent + 1,
    }
}

/// 2^exponent, subnormal or 0 if that is small.
fn power<const WIDE: bool>(exponent: i32) -> f64 {
    let (least, least_normal) = if WIDE { (-1074, -1022) } else { (-149, -126) };
    if exponent < least {
        0.0
    } else if WIDE && exponent < least_normal {
        f64::from_bits(1 << (exponent - least))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

/// Integers of values whose largest magnitude has this exponent, towards zero.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn to_integers<const WIDE: bool>(values: &Vectors, exponent: i32) -> Vectors {
    if has_finite_scale(exponent, WIDE) {
        return truncate::<WIDE>(values, power::<WIDE>(integer_bits(WIDE) - exponent));
    }
    // In two steps, each exact.
    let normal = scale::<WIDE>(values, power::<WIDE>(64));
    truncate::<WIDE>(&normal, power::<WIDE>(integer_bits(WIDE) - 64 - exponent))
}

#[inline]
#[target_feature(enable = "avx2")]
fn multiply<const WIDE: bool>(values: __m256i, factor: f64) -> __m256i {
    if WIDE {
        _mm256_castpd_si256(_mm256_mul_pd(_mm256_castsi256_pd(values), _mm256_set1_pd(factor)))
    } else {
        _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(values), _mm256_set1_ps(factor as f32)))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn scale<const WIDE: bool>(values: &Vectors, factor: f64) -> Vectors {
    let mut scaled = [_mm256_setzero_si256(); 16];
    for i in 0..const { vector_count(WIDE) } {
        scaled[i] = multiply::<WIDE>(values[i], factor);
    }
    scaled
}

/// What NaNs and values that are too large become is unspecified.
#[inline]
#[target_feature(enable = "avx2")]
fn truncate<const WIDE: bool>(values: &Vectors, factor: f64) -> Vectors {
    let mut integers = [_mm256_setzero_si256(); 16];
    for i in 0..const { vector_count(WIDE) } {
        let scaled = multiply::<WIDE>(values[i], factor);
        integers[i] = if WIDE {
            truncate_64(_mm256_castsi256_pd(scaled))
        } else {
            _mm256_cvttps_epi32(_mm256_castsi256_ps(scaled))
        };
    }
    integers
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

/// The inverse of [`to_integers`], rounded.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn from_integers<const WIDE: bool>(integers: &Vectors, exponent: i32) -> Vectors {
    let factor = power::<WIDE>(exponent - integer_bits(WIDE));
    let mut values = [_mm256_setzero_si256(); 16];
    for i in 0..const { vector_count(WIDE) } {
        let unscaled = if WIDE {
            _mm256_castpd_si256(round_64(integers[i]))
        } else {
            _mm256_castps_si256(_mm256_cvtepi32_ps(integers[i]))
        };
        values[i] = multiply::<WIDE>(unscaled, factor);
    }
    values
}

/// Whether all bits are the same.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn are_same<const WIDE: bool>(a: &Vectors, b: &Vectors) -> bool {
    let mut differences = _mm256_setzero_si256();
    for i in 0..const { vector_count(WIDE) } {
        differences = _mm256_or_si256(differences, _mm256_xor_si256(a[i], b[i]));
    }
    _mm256_testz_si256(differences, differences) == 1
}

/// Floats as integers in the same order, by sign and magnitude, and back.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn reinterpret<const WIDE: bool>(values: &Vectors) -> Vectors {
    let mut integers = [_mm256_setzero_si256(); 16];
    for i in 0..const { vector_count(WIDE) } {
        let flipped = if WIDE {
            _mm256_srli_epi64::<1>(_mm256_cmpgt_epi64(_mm256_setzero_si256(), values[i]))
        } else {
            _mm256_srli_epi32::<1>(_mm256_srai_epi32::<31>(values[i]))
        };
        integers[i] = _mm256_xor_si256(values[i], flipped);
    }
    integers
}
