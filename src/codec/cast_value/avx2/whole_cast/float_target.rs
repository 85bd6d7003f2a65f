//! Targets that are floats, from lanes of `f32`.

use super::{Order, Target};
use crate::codec::cast_value::portable::float::RoundingMode;
use crate::number::Rounding;
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// The numbers as they are.
pub(super) struct ToFloat32;

impl Target for ToFloat32 {
    type Lane = f32;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store(numbers: [__m256; 2], order: Order, output: *mut [u8; 4], _: &mut __m256i) {
        let [low, high] = linear(numbers, order);
        // SAFETY: the caller lets sixteen elements be written, and these stores need no alignment.
        unsafe {
            _mm256_storeu_ps(output.cast(), low);
            _mm256_storeu_ps(output.add(8).cast(), high);
        }
    }
}

/// The numbers in linear order.
#[inline]
#[target_feature(enable = "avx2")]
fn linear([low, high]: [__m256; 2], order: Order) -> [__m256; 2] {
    match order {
        Order::Linear => [low, high],
        Order::Halved => [_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high)],
    }
}

/// Refuses what is above the largest number of the format, and NaN.
#[inline]
#[target_feature(enable = "avx2")]
fn check(low: __m256, high: __m256, largest: u32, faults: &mut __m256i) {
    // Compared as integers, the bits of floats order like their magnitudes; NaNs sort last.
    let bits = _mm256_set1_epi32(i32::MAX);
    let (low, high) = (_mm256_castps_si256(low), _mm256_castps_si256(high));
    let magnitude = _mm256_max_epi32(_mm256_and_si256(low, bits), _mm256_and_si256(high, bits));
    *faults = _mm256_or_si256(*faults, _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(largest as i32)));
}

/// Checked unless no number of the source is above the largest.
pub(super) struct ToBfloat16<M, const CHECKED: bool>(PhantomData<M>);

impl<M: RoundingMode, const CHECKED: bool> Target for ToBfloat16<M, CHECKED> {
    type Lane = u16;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store([low, high]: [__m256; 2], order: Order, output: *mut [u8; 2], faults: &mut __m256i) {
        const LARGEST: u32 = 0x7F7F_0000;
        if CHECKED {
            check(low, high, LARGEST, faults);
        }
        let halves = _mm256_packus_epi32(upper_half::<M>(low), upper_half::<M>(high));
        let halves = if order == Order::Linear { _mm256_permute4x64_epi64::<0xD8>(halves) } else { halves };
        // SAFETY: the caller lets sixteen elements be written, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(output.cast(), halves) };
    }
}

/// The upper halves, rounded: the exponents are the same, so that this is right for subnormal numbers, too.
#[inline]
#[target_feature(enable = "avx2")]
fn upper_half<M: RoundingMode>(numbers: __m256) -> __m256i {
    let bits = _mm256_castps_si256(numbers);
    let rest = _mm256_set1_epi32(0xFFFF);
    let is_negative = _mm256_srai_epi32::<31>(bits);
    let addend = match M::ROUNDING {
        Rounding::NearestEven => {
            let last = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
            _mm256_add_epi32(last, _mm256_set1_epi32(0x7FFF))
        }
        Rounding::NearestAway => _mm256_set1_epi32(0x8000),
        Rounding::TowardsZero => _mm256_setzero_si256(),
        Rounding::TowardsPositive => _mm256_andnot_si256(is_negative, rest),
        Rounding::TowardsNegative => _mm256_and_si256(is_negative, rest),
    };
    _mm256_srli_epi32::<16>(_mm256_add_epi32(bits, addend))
}

/// Checked unless no number of the source is above the largest.
pub(super) struct ToFloat16<M, const CHECKED: bool>(PhantomData<M>);

impl<M: RoundingMode, const CHECKED: bool> Target for ToFloat16<M, CHECKED> {
    type Lane = u16;

    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    unsafe fn store([low, high]: [__m256; 2], order: Order, output: *mut [u8; 2], faults: &mut __m256i) {
        if CHECKED {
            check(low, high, 65504_f32.to_bits(), faults);
        }
        // Together: storing straight from a conversion takes longer.
        let halves = _mm256_set_m128i(narrowed::<M>(high), narrowed::<M>(low));
        let halves = if order == Order::Halved { _mm256_permute4x64_epi64::<0xD8>(halves) } else { halves };
        // SAFETY: the caller lets sixteen elements be written, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(output.cast(), halves) };
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn narrowed<M: RoundingMode>(numbers: __m256) -> __m128i {
    match M::ROUNDING {
        Rounding::NearestEven => _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers),
        Rounding::TowardsZero => _mm256_cvtps_ph::<_MM_FROUND_TO_ZERO>(numbers),
        Rounding::TowardsPositive => _mm256_cvtps_ph::<_MM_FROUND_TO_POS_INF>(numbers),
        Rounding::TowardsNegative => _mm256_cvtps_ph::<_MM_FROUND_TO_NEG_INF>(numbers),
        Rounding::NearestAway => {
            // The last bit breaks ties, and changes nothing else.
            let last_bit = _mm256_castsi256_ps(_mm256_set1_epi32(1));
            _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_or_ps(numbers, last_bit))
        }
    }
}
