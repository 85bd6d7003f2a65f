//! `float16` from and to `f32` by F16C.

use super::TierLoop;
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

#[target_feature(enable = "avx2,f16c")]
fn narrow_all<const ROUNDING: i32, const SETS_LAST_BIT: bool>(input: &[[u8; 4]], output: &mut [[u8; 2]]) -> bool {
    let last_bit = _mm256_castsi256_ps(_mm256_set1_epi32(i32::from(SETS_LAST_BIT)));
    let mut largest = _mm256_setzero_si256();
    for_each_group(input, output, [0; 2], |input: &[[u8; 4]; 16], output: &mut [[u8; 2]; 16]| {
        // SAFETY: `input` is 64 readable bytes, and these loads need no alignment.
        let (low, high) =
            unsafe { (_mm256_loadu_ps(input.as_ptr().cast()), _mm256_loadu_ps(input[8..].as_ptr().cast())) };
        // Compared as integers, the bits of floats order like their magnitudes; NaNs sort last.
        let magnitude = |numbers| _mm256_and_si256(_mm256_castps_si256(numbers), _mm256_set1_epi32(i32::MAX));
        largest = _mm256_max_epu32(largest, _mm256_max_epu32(magnitude(low), magnitude(high)));
        let halves = |numbers| _mm256_cvtps_ph::<ROUNDING>(_mm256_or_ps(numbers, last_bit));
        // Together: storing straight from a conversion takes longer.
        let halves = _mm256_set_m128i(halves(high), halves(low));
        // SAFETY: `output` is 32 writable bytes, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(output.as_mut_ptr().cast(), halves) };
    });
    let is_over = _mm256_cmpgt_epi32(largest, _mm256_set1_epi32(65504_f32.to_bits() as i32));
    _mm256_movemask_epi8(is_over) != 0
}

#[target_feature(enable = "avx2,f16c")]
fn widen_all(input: &[[u8; 2]], output: &mut [[u8; 4]]) -> bool {
    let mut faults = _mm256_setzero_ps();
    for_each_group(input, output, [0; 4], |input: &[[u8; 2]; 8], output: &mut [[u8; 4]; 8]| {
        // SAFETY: `input` is 16 readable bytes, and this load needs no alignment.
        let numbers = _mm256_cvtph_ps(unsafe { _mm_loadu_si128(input.as_ptr().cast()) });
        faults = _mm256_or_ps(faults, _mm256_cmp_ps::<_CMP_UNORD_Q>(numbers, numbers));
        // SAFETY: `output` is 32 writable bytes, and this store needs no alignment.
        unsafe { _mm256_storeu_ps(output.as_mut_ptr().cast(), numbers) };
    });
    _mm256_movemask_ps(faults) != 0
}
