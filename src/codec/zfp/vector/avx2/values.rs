//! Values of memory, and floats as integers: what [`Kernel`](super::Kernel) says of each.

use super::{Vectors, vector_count};
use std::arch::x86_64::*;

/// The rows that the halves of a vector hold, of values of 32 bits: neighbours along z.
const fn rows(vector: usize) -> [usize; 2] {
    let first = vector / 4 * 8 + vector % 4;
    [first, first + 4]
}

/// A block of values of 64 bits in their order, or of 32 bits as [`rows`] tells.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load<const WIDE: bool>(bytes: &[u8]) -> Vectors {
    let mut block = [_mm256_setzero_si256(); 16];
    if WIDE {
        for (vector, bytes) in block.iter_mut().zip(bytes.as_chunks::<32>().0) {
            *vector = bytemuck::cast(*bytes);
        }
    } else if let Some(bytes) = bytes.as_chunks::<16>().0.first_chunk::<16>() {
        for (index, vector) in block[..8].iter_mut().enumerate() {
            let [low, high] = rows(index).map(|row| bytemuck::cast(bytes[row]));
            *vector = _mm256_set_m128i(high, low);
        }
    }
    block
}

/// The inverse of [`load`].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store<const WIDE: bool>(block: &Vectors, bytes: &mut [u8]) {
    if WIDE {
        for (bytes, vector) in bytes.as_chunks_mut::<32>().0.iter_mut().zip(block) {
            *bytes = bytemuck::cast(*vector);
        }
    } else if let Some(bytes) = bytes.as_chunks_mut::<16>().0.first_chunk_mut::<16>() {
        for (index, vector) in block[..8].iter().enumerate() {
            let [low, high] = rows(index);
            bytes[low] = bytemuck::cast(_mm256_castsi256_si128(*vector));
            bytes[high] = bytemuck::cast(_mm256_extracti128_si256::<1>(*vector));
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn any_bits<const WIDE: bool>(block: &Vectors) -> u64 {
    let mut all = _mm256_setzero_si256();
    for vector in &block[..const { vector_count(WIDE) }] {
        all = _mm256_or_si256(all, *vector);
    }
    let [a, b, c, d]: [u64; 4] = bytemuck::cast(all);
    let all = a | b | c | d;
    if WIDE { all } else { (all | all >> 32) & u64::from(u32::MAX) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn largest_magnitude<const WIDE: bool>(values: &Vectors) -> u64 {
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
    if WIDE {
        let values: [u64; 4] = bytemuck::cast(largest);
        values[0].max(values[1]).max(values[2]).max(values[3])
    } else {
        let values: [u32; 8] = bytemuck::cast(largest);
        values.into_iter().fold(0, u32::max).into()
    }
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
pub(super) fn scale<const WIDE: bool>(values: &Vectors, factor: f64) -> Vectors {
    let mut scaled = [_mm256_setzero_si256(); 16];
    for i in 0..const { vector_count(WIDE) } {
        scaled[i] = multiply::<WIDE>(values[i], factor);
    }
    scaled
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn truncate<const WIDE: bool>(values: &Vectors, factor: f64) -> Vectors {
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

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn to_floats<const WIDE: bool>(integers: &Vectors, factor: f64) -> Vectors {
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

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn are_same<const WIDE: bool>(a: &Vectors, b: &Vectors) -> bool {
    let mut differences = _mm256_setzero_si256();
    for i in 0..const { vector_count(WIDE) } {
        differences = _mm256_or_si256(differences, _mm256_xor_si256(a[i], b[i]));
    }
    _mm256_testz_si256(differences, differences) == 1
}

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
