//! `float16` from and to `f32`, twice as many at a time as by F16C.

use crate::codec::cast_value::avx2::TierLoop;
use crate::codec::cast_value::kernel::Kernel;
use crate::number::Rounding;
use crate::simd::for_each_group;
use std::arch::x86_64::*;

/// `f32` to `float16`, for numbers up to the largest of them; refuses others.
pub(in crate::codec::cast_value) fn narrow(rounding: Rounding) -> Option<Box<dyn Kernel>> {
    Some(Box::new(TierLoop(match rounding {
        Rounding::NearestEven => narrow_all::<_MM_FROUND_TO_NEAREST_INT, false>,
        // The last bit breaks ties, and changes nothing else.
        Rounding::NearestAway => narrow_all::<_MM_FROUND_TO_NEAREST_INT, true>,
        Rounding::TowardsZero => narrow_all::<_MM_FROUND_TO_ZERO, false>,
        Rounding::TowardsPositive => narrow_all::<_MM_FROUND_TO_POS_INF, false>,
        Rounding::TowardsNegative => narrow_all::<_MM_FROUND_TO_NEG_INF, false>,
    })))
}

/// `float16` to `f32`; refuses NaN.
pub(in crate::codec::cast_value) fn widen() -> Option<Box<dyn Kernel>> {
    Some(Box::new(TierLoop(widen_all)))
}

#[target_feature(enable = "avx512f")]
fn narrow_all<const ROUNDING: i32, const SETS_LAST_BIT: bool>(input: &[[u8; 4]], output: &mut [[u8; 2]]) -> bool {
    let last_bit = _mm512_set1_epi32(i32::from(SETS_LAST_BIT));
    let mut largest = _mm512_setzero_si512();
    for_each_group(input, output, [0; 2], |input: &[[u8; 4]; 32], output: &mut [[u8; 2]; 32]| {
        // SAFETY: `input` is 128 readable bytes, and these loads need no alignment.
        let (low, high) =
            unsafe { (_mm512_loadu_si512(input.as_ptr().cast()), _mm512_loadu_si512(input[16..].as_ptr().cast())) };
        // Compared as integers, the bits of floats order like their magnitudes; NaNs sort last.
        let magnitude = |numbers| _mm512_and_si512(numbers, _mm512_set1_epi32(i32::MAX));
        largest = _mm512_max_epu32(largest, _mm512_max_epu32(magnitude(low), magnitude(high)));
        let halves = |numbers| _mm512_cvtps_ph::<ROUNDING>(_mm512_castsi512_ps(_mm512_or_si512(numbers, last_bit)));
        // SAFETY: `output` is 64 writable bytes, and these stores need no alignment.
        unsafe {
            _mm256_storeu_si256(output.as_mut_ptr().cast(), halves(low));
            _mm256_storeu_si256(output[16..].as_mut_ptr().cast(), halves(high));
        }
    });
    _mm512_cmpgt_epi32_mask(largest, _mm512_set1_epi32(65504_f32.to_bits() as i32)) != 0
}

#[target_feature(enable = "avx512f")]
fn widen_all(input: &[[u8; 2]], output: &mut [[u8; 4]]) -> bool {
    let mut faults = 0;
    for_each_group(input, output, [0; 4], |input: &[[u8; 2]; 16], output: &mut [[u8; 4]; 16]| {
        // SAFETY: `input` is 32 readable bytes, and this load needs no alignment.
        let numbers = _mm512_cvtph_ps(unsafe { _mm256_loadu_si256(input.as_ptr().cast()) });
        faults |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(numbers, numbers);
        // SAFETY: `output` is 64 writable bytes, and this store needs no alignment.
        unsafe { _mm512_storeu_ps(output.as_mut_ptr().cast(), numbers) };
    });
    faults != 0
}
