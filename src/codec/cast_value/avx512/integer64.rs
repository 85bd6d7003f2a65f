//! Integers of 64 bits to `float64` and back, which AVX-512 has instructions for.

use super::{TO_NEAREST, TOWARDS_NEGATIVE, TOWARDS_POSITIVE, TOWARDS_ZERO};
use crate::codec::cast_value::avx2::{Convert, TierLoop};
use crate::codec::cast_value::kernel::{Kernel, optimistic};
use crate::number::Rounding;
use crate::simd::for_each_group;
use std::arch::x86_64::*;

/// Refuses nothing.
pub(in crate::codec::cast_value) fn to_float64(signed: bool, rounding: Rounding) -> Box<dyn Kernel> {
    if signed { convert_in::<true>(rounding) } else { convert_in::<false>(rounding) }
}

fn convert_in<const IS_SIGNED: bool>(rounding: Rounding) -> Box<dyn Kernel> {
    let boxed = |convert: Convert<8, 8>| -> Box<dyn Kernel> { Box::new(TierLoop(convert)) };
    match rounding {
        Rounding::NearestEven => boxed(convert_all::<IS_SIGNED, TO_NEAREST>),
        Rounding::NearestAway => {
            optimistic(boxed(convert_all_exactly::<IS_SIGNED>), boxed(convert_all_away::<IS_SIGNED>))
        }
        Rounding::TowardsZero => boxed(convert_all::<IS_SIGNED, TOWARDS_ZERO>),
        Rounding::TowardsPositive => boxed(convert_all::<IS_SIGNED, TOWARDS_POSITIVE>),
        Rounding::TowardsNegative => boxed(convert_all::<IS_SIGNED, TOWARDS_NEGATIVE>),
    }
}

/// `float64` to integers of 64 bits, towards zero; refuses what is beyond the range, and the least signed integer.
pub(in crate::codec::cast_value) fn truncate_float64(signed: bool) -> Box<dyn Kernel> {
    Box::new(TierLoop(if signed { truncate_all::<true> } else { truncate_all::<false> }))
}

#[target_feature(enable = "avx512f,avx512dq")]
fn convert_all<const IS_SIGNED: bool, const ROUNDING: i32>(input: &[[u8; 8]], output: &mut [[u8; 8]]) -> bool {
    each_eight(input, output, |integers| _mm512_castpd_si512(rounded::<IS_SIGNED, ROUNDING>(integers)));
    false
}

/// To the neighbour away from zero, if the integer is not nearer to the other one.
#[target_feature(enable = "avx512f,avx512dq")]
fn convert_all_away<const IS_SIGNED: bool>(input: &[[u8; 8]], output: &mut [[u8; 8]]) -> bool {
    each_eight(input, output, |integers| {
        let truncated = rounded::<IS_SIGNED, TOWARDS_ZERO>(integers);
        let back = if IS_SIGNED { _mm512_cvttpd_epi64(truncated) } else { _mm512_cvttpd_epu64(truncated) };
        // Both are exact: what was cut off, and the distance to the neighbour.
        let rest = _mm512_cvtepi64_pd(_mm512_sub_epi64(integers, back));
        let bits = _mm512_castpd_si512(truncated);
        let next = _mm512_add_epi64(bits, _mm512_set1_epi64(1));
        let unit = _mm512_sub_pd(_mm512_castsi512_pd(next), truncated);
        // Doubled, since half the unit of 0 is no `f64`.
        let (twice, unit) = (_mm512_abs_pd(_mm512_add_pd(rest, rest)), _mm512_abs_pd(unit));
        let is_next = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(twice, unit);
        _mm512_mask_mov_epi64(bits, is_next, next)
    });
    false
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn rounded<const IS_SIGNED: bool, const ROUNDING: i32>(integers: __m512i) -> __m512d {
    if IS_SIGNED {
        _mm512_cvt_roundepi64_pd::<ROUNDING>(integers)
    } else {
        _mm512_cvt_roundepu64_pd::<ROUNDING>(integers)
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
fn truncate_all<const IS_SIGNED: bool>(input: &[[u8; 8]], output: &mut [[u8; 8]]) -> bool {
    // What the instructions make of numbers beyond the range, and of NaN.
    let beyond = _mm512_set1_epi64(if IS_SIGNED { i64::MIN } else { -1 });
    let mut are_beyond = 0;
    each_eight(input, output, |bits| {
        let numbers = _mm512_castsi512_pd(bits);
        let integers = if IS_SIGNED { _mm512_cvttpd_epi64(numbers) } else { _mm512_cvttpd_epu64(numbers) };
        are_beyond |= _mm512_cmpeq_epi64_mask(integers, beyond);
        integers
    });
    are_beyond != 0
}

/// To the nearest number; refuses magnitudes from 2^53 on, some of which are no `f64`.
#[target_feature(enable = "avx512f,avx512dq")]
fn convert_all_exactly<const IS_SIGNED: bool>(input: &[[u8; 8]], output: &mut [[u8; 8]]) -> bool {
    let limit = 1 << 53;
    // Distances from the least integer that is not refused, and the bits that none of them has.
    let (mut distances, least) = (_mm512_setzero_si512(), if IS_SIGNED { -limit } else { 0 });
    let outside = if IS_SIGNED { -2 * limit } else { -limit };
    each_eight(input, output, |integers| {
        distances = _mm512_or_si512(distances, _mm512_sub_epi64(integers, _mm512_set1_epi64(least)));
        _mm512_castpd_si512(rounded::<IS_SIGNED, TO_NEAREST>(integers))
    });
    _mm512_test_epi64_mask(distances, _mm512_set1_epi64(outside)) != 0
}

#[inline]
#[target_feature(enable = "avx512f")]
fn each_eight(input: &[[u8; 8]], output: &mut [[u8; 8]], mut convert: impl FnMut(__m512i) -> __m512i) {
    for_each_group(input, output, [0; 8], |input: &[[u8; 8]; 8], output: &mut [[u8; 8]; 8]| {
        // SAFETY: `input` is 64 readable bytes, and this load needs no alignment.
        let elements = unsafe { _mm512_loadu_si512(input.as_ptr().cast()) };
        // SAFETY: `output` is 64 writable bytes, and this store needs no alignment.
        unsafe { _mm512_storeu_si512(output.as_mut_ptr().cast(), convert(elements)) };
    });
}
