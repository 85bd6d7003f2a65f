//! Integers of 64 bits to `float64`, which AVX-512 has an instruction for.

use crate::codec::cast_value::avx2::{Convert, TierLoop};
use crate::codec::cast_value::kernel::Kernel;
use crate::number::Rounding;
use crate::simd::for_each_group;
use std::arch::x86_64::*;

const TOWARDS_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

/// Refuses nothing.
pub(in crate::codec::cast_value) fn to_float64(signed: bool, rounding: Rounding) -> Box<dyn Kernel> {
    Box::new(TierLoop(if signed { convert_in::<true>(rounding) } else { convert_in::<false>(rounding) }))
}

fn convert_in<const IS_SIGNED: bool>(rounding: Rounding) -> Convert<8, 8> {
    match rounding {
        Rounding::NearestEven => convert_all::<IS_SIGNED, { _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>,
        Rounding::NearestAway => convert_all_away::<IS_SIGNED>,
        Rounding::TowardsZero => convert_all::<IS_SIGNED, TOWARDS_ZERO>,
        Rounding::TowardsPositive => convert_all::<IS_SIGNED, { _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>,
        Rounding::TowardsNegative => convert_all::<IS_SIGNED, { _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>,
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
fn convert_all<const IS_SIGNED: bool, const ROUNDING: i32>(input: &[[u8; 8]], output: &mut [[u8; 8]]) -> bool {
    each_eight(input, output, |integers| rounded::<IS_SIGNED, ROUNDING>(integers))
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
        _mm512_castsi512_pd(_mm512_mask_mov_epi64(bits, is_next, next))
    })
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

#[inline]
#[target_feature(enable = "avx512f")]
fn each_eight(input: &[[u8; 8]], output: &mut [[u8; 8]], convert: impl Fn(__m512i) -> __m512d) -> bool {
    for_each_group(input, output, [0; 8], |input: &[[u8; 8]; 8], output: &mut [[u8; 8]; 8]| {
        // SAFETY: `input` is 64 readable bytes, and this load needs no alignment.
        let integers = unsafe { _mm512_loadu_si512(input.as_ptr().cast()) };
        // SAFETY: `output` is 64 writable bytes, and this store needs no alignment.
        unsafe { _mm512_storeu_pd(output.as_mut_ptr().cast(), convert(integers)) };
    });
    false
}
