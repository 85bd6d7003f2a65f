//! Values of memory, and floats as integers: what [`Kernel`](super::Kernel) says of each.

use super::{Vectors, vector_count};
use std::arch::x86_64::*;

/// Of values of 64 bits, the halves of a vector hold rows of four: that of its index, and its neighbour of two further
/// along z.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load<const WIDE: bool>(bytes: &[u8]) -> Vectors {
    let mut block = [_mm512_setzero_si512(); 8];
    if !WIDE {
        for (vector, bytes) in block.iter_mut().zip(bytes.as_chunks::<64>().0) {
            *vector = bytemuck::cast(*bytes);
        }
    } else if let Some(bytes) = bytes.as_chunks::<32>().0.first_chunk::<16>() {
        for (index, vector) in block.iter_mut().enumerate() {
            let (low, high) = (bytemuck::cast(bytes[index]), bytemuck::cast(bytes[index + 8]));
            *vector = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        }
    }
    block
}

/// The inverse of [`load`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store<const WIDE: bool>(block: &Vectors, bytes: &mut [u8]) {
    if !WIDE {
        for (bytes, vector) in bytes.as_chunks_mut::<64>().0.iter_mut().zip(block) {
            *bytes = bytemuck::cast(*vector);
        }
    } else if let Some(bytes) = bytes.as_chunks_mut::<32>().0.first_chunk_mut::<16>() {
        for (index, vector) in block.iter().enumerate() {
            bytes[index] = bytemuck::cast(_mm512_castsi512_si256(*vector));
            bytes[index + 8] = bytemuck::cast(_mm512_extracti64x4_epi64::<1>(*vector));
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn any_bits<const WIDE: bool>(block: &Vectors) -> u64 {
    let mut all = _mm512_setzero_si512();
    for vector in &block[..const { vector_count(WIDE) }] {
        all = _mm512_or_si512(all, *vector);
    }
    if WIDE { _mm512_reduce_or_epi64(all).cast_unsigned() } else { _mm512_reduce_or_epi32(all).cast_unsigned().into() }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn are_same<const WIDE: bool>(a: &Vectors, b: &Vectors) -> bool {
    let mut differences = _mm512_setzero_si512();
    for i in 0..const { vector_count(WIDE) } {
        differences = _mm512_or_si512(differences, _mm512_xor_si512(a[i], b[i]));
    }
    _mm512_test_epi64_mask(differences, differences) == 0
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn largest_magnitude<const WIDE: bool>(values: &Vectors) -> u64 {
    let mut largest = _mm512_setzero_si512();
    for vector in &values[..const { vector_count(WIDE) }] {
        if WIDE {
            let magnitude = _mm512_and_si512(*vector, _mm512_set1_epi64(i64::MAX));
            let is_number = _mm512_cmple_epi64_mask(magnitude, _mm512_set1_epi64(0x7FF << 52));
            largest = _mm512_mask_max_epi64(largest, is_number, largest, magnitude);
        } else {
            let magnitude = _mm512_and_si512(*vector, _mm512_set1_epi32(i32::MAX));
            let is_number = _mm512_cmple_epi32_mask(magnitude, _mm512_set1_epi32(0xFF << 23));
            largest = _mm512_mask_max_epi32(largest, is_number, largest, magnitude);
        }
    }
    if WIDE {
        _mm512_reduce_max_epi64(largest).cast_unsigned()
    } else {
        _mm512_reduce_max_epi32(largest).cast_unsigned().into()
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn multiply<const WIDE: bool>(values: __m512i, factor: f64) -> __m512i {
    if WIDE {
        _mm512_castpd_si512(_mm512_mul_pd(_mm512_castsi512_pd(values), _mm512_set1_pd(factor)))
    } else {
        _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(values), _mm512_set1_ps(factor as f32)))
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn scale<const WIDE: bool>(values: &Vectors, factor: f64) -> Vectors {
    let mut scaled = [_mm512_setzero_si512(); 8];
    for i in 0..const { vector_count(WIDE) } {
        scaled[i] = multiply::<WIDE>(values[i], factor);
    }
    scaled
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn truncate<const WIDE: bool>(values: &Vectors, factor: f64) -> Vectors {
    let mut integers = scale::<WIDE>(values, factor);
    for vector in &mut integers[..const { vector_count(WIDE) }] {
        *vector = if WIDE {
            _mm512_cvttpd_epi64(_mm512_castsi512_pd(*vector))
        } else {
            _mm512_cvttps_epi32(_mm512_castsi512_ps(*vector))
        };
    }
    integers
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn to_floats<const WIDE: bool>(integers: &Vectors, factor: f64) -> Vectors {
    let mut values = [_mm512_setzero_si512(); 8];
    for i in 0..const { vector_count(WIDE) } {
        let unscaled = if WIDE {
            _mm512_castpd_si512(_mm512_cvtepi64_pd(integers[i]))
        } else {
            _mm512_castps_si512(_mm512_cvtepi32_ps(integers[i]))
        };
        values[i] = multiply::<WIDE>(unscaled, factor);
    }
    values
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn reinterpret<const WIDE: bool>(values: &Vectors) -> Vectors {
    let mut integers = [_mm512_setzero_si512(); 8];
    for i in 0..const { vector_count(WIDE) } {
        let flipped = if WIDE {
            _mm512_srli_epi64::<1>(_mm512_srai_epi64::<63>(values[i]))
        } else {
            _mm512_srli_epi32::<1>(_mm512_srai_epi32::<31>(values[i]))
        };
        integers[i] = _mm512_xor_si512(values[i], flipped);
    }
    integers
}
