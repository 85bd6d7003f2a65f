//! Targets that are integers, from lanes of `f32`.

use super::{Order, Target};
use crate::codec::cast_value::portable::float::RoundingMode;
use crate::codec::cast_value::portable::lane::Integer;
use crate::number::Rounding;
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// What happens to numbers out of range: [`Checked`], [`Clamped`], [`Wrapped`].
pub(super) trait Range {
    /// Whether numbers beyond the target are converted, too.
    const IS_WRAPPED: bool;

    /// Checks eight integers of `i32`, the least of which stands for numbers outside `i32`, and changes them by the
    /// rule, for a target of `bits` bits.
    ///
    /// # Safety
    /// The processor has AVX2.
    unsafe fn limit<T: Integer>(integers: __m256i, faults: &mut __m256i) -> __m256i;

    /// Checks sixteen integers of `i16`, saturated, for a target of 8 bits.
    ///
    /// # Safety
    /// The processor has AVX2.
    unsafe fn check_shorts<T: Integer>(_: __m256i, _: &mut __m256i) {}
}

/// Refused.
pub(super) struct Checked;

impl Range for Checked {
    const IS_WRAPPED: bool = false;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn limit<T: Integer>(integers: __m256i, faults: &mut __m256i) -> __m256i {
        let fault = match (T::BITS, T::IS_SIGNED) {
            (8, _) => return integers, // as shorts
            (16, true) => _mm256_srli_epi32::<16>(_mm256_add_epi32(integers, _mm256_set1_epi32(1 << 15))),
            (16, false) => _mm256_srli_epi32::<16>(integers),
            (_, true) => is_least(integers),
            (_, false) => _mm256_srli_epi32::<31>(integers),
        };
        *faults = _mm256_or_si256(*faults, fault);
        integers
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn check_shorts<T: Integer>(shorts: __m256i, faults: &mut __m256i) {
        let distance = if T::IS_SIGNED { _mm256_add_epi16(shorts, _mm256_set1_epi16(1 << 7)) } else { shorts };
        *faults = _mm256_or_si256(*faults, _mm256_srli_epi16::<8>(distance));
    }
}

/// Limited to the ends of the range.
pub(super) struct Clamped;

impl Range for Clamped {
    const IS_WRAPPED: bool = false;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn limit<T: Integer>(integers: __m256i, faults: &mut __m256i) -> __m256i {
        *faults = _mm256_or_si256(*faults, is_least(integers));
        // The packing instructions saturate.
        if T::BITS >= 32 && !T::IS_SIGNED { _mm256_max_epi32(integers, _mm256_setzero_si256()) } else { integers }
    }
}

/// Modulo `2^N`.
pub(super) struct Wrapped;

impl Range for Wrapped {
    const IS_WRAPPED: bool = true;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn limit<T: Integer>(integers: __m256i, faults: &mut __m256i) -> __m256i {
        *faults = _mm256_or_si256(*faults, is_least(integers));
        match T::BITS {
            8 => _mm256_and_si256(integers, _mm256_set1_epi32(0xFF)),
            16 => _mm256_and_si256(integers, _mm256_set1_epi32(0xFFFF)),
            _ => integers,
        }
    }
}

/// The least `i32`, which stands for numbers outside `i32`, and for NaN.
#[inline]
#[target_feature(enable = "avx2")]
fn is_least(integers: __m256i) -> __m256i {
    _mm256_cmpeq_epi32(integers, _mm256_set1_epi32(i32::MIN))
}

/// Eight numbers, rounded; the least `i32` for what no `i32` is. With `IS_SHORT`, only up to 2^22 to nearest.
#[inline]
#[target_feature(enable = "avx2")]
fn rounded<M: RoundingMode, const IS_SHORT: bool>(numbers: __m256) -> __m256i {
    match M::ROUNDING {
        Rounding::NearestEven => _mm256_cvtps_epi32(numbers),
        Rounding::TowardsZero => _mm256_cvttps_epi32(numbers),
        // Not `ceil` and `floor`, which the compiler moves before the conversion of `float16` to `f32`.
        Rounding::TowardsPositive => {
            _mm256_cvttps_epi32(_mm256_round_ps::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(numbers))
        }
        Rounding::TowardsNegative => {
            _mm256_cvttps_epi32(_mm256_round_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(numbers))
        }
        Rounding::NearestAway if IS_SHORT => {
            // The last bit breaks ties, and changes nothing else.
            _mm256_cvtps_epi32(_mm256_or_ps(numbers, _mm256_castsi256_ps(_mm256_set1_epi32(1))))
        }
        Rounding::NearestAway => {
            // The largest number below a half: with a half itself, its own sum with the half would round to 1.
            let sign = _mm256_and_ps(numbers, _mm256_set1_ps(-0.0));
            let half = _mm256_or_ps(sign, _mm256_set1_ps(0.5_f32.next_down()));
            _mm256_cvttps_epi32(_mm256_add_ps(numbers, half))
        }
    }
}

/// Sixteen numbers as integers of `i32` that are checked and limited.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn integers<T: Integer, M: RoundingMode, R: Range>(
    [low, high]: [__m256; 2],
    faults: &mut __m256i,
) -> (__m256i, __m256i) {
    let (low, high) = if T::BITS <= 16 && !R::IS_WRAPPED {
        (rounded::<M, true>(low), rounded::<M, true>(high))
    } else {
        (rounded::<M, false>(low), rounded::<M, false>(high))
    };
    // SAFETY: AVX2 is enabled here.
    unsafe { (R::limit::<T>(low, faults), R::limit::<T>(high, faults)) }
}

/// Integers of 8 and 16 bits.
pub(super) struct ToShort<T, M, R>(PhantomData<(T, M, R)>);

impl<T: Integer, M: RoundingMode, R: Range> Target for ToShort<T, M, R> {
    type Lane = T;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store(numbers: [__m256; 2], order: Order, output: *mut T::Bytes, faults: &mut __m256i) {
        // SAFETY: AVX2 is enabled here.
        let (low, high) = unsafe { integers::<T, M, R>(numbers, faults) };
        // SAFETY: the caller lets sixteen elements be written.
        unsafe { store_short::<T, R>(low, high, order, output, faults) };
    }
}

/// Integers of 8 and 16 bits from sixteen of `i32` that are limited; saturated unless they wrap.
///
/// # Safety
/// Sixteen elements can be written to there.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn store_short<T: Integer, R: Range>(
    low: __m256i,
    high: __m256i,
    order: Order,
    output: *mut T::Bytes,
    faults: &mut __m256i,
) {
    // What wraps has no sign any more, whatever the type.
    let is_signed = T::IS_SIGNED && !R::IS_WRAPPED;
    if T::BITS == 16 {
        let shorts = if is_signed { _mm256_packs_epi32(low, high) } else { _mm256_packus_epi32(low, high) };
        let shorts = if order == Order::Linear { _mm256_permute4x64_epi64::<0xD8>(shorts) } else { shorts };
        // SAFETY: the caller lets 32 bytes be written, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(output.cast(), shorts) };
        return;
    }
    let shorts = _mm256_packs_epi32(low, high);
    // SAFETY: AVX2 is enabled here.
    unsafe { R::check_shorts::<T>(shorts, faults) };
    let bytes = if is_signed { _mm256_packs_epi16(shorts, shorts) } else { _mm256_packus_epi16(shorts, shorts) };
    // Each half has its bytes twice.
    let bytes = match order {
        Order::Linear => _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5)),
        Order::Halved => _mm256_permute4x64_epi64::<0x88>(bytes),
    };
    // SAFETY: the caller lets 16 bytes be written, and this store needs no alignment.
    unsafe { _mm_storeu_si128(output.cast(), _mm256_castsi256_si128(bytes)) };
}

/// Integers of 32 bits, from numbers that are an `i32` as integers.
pub(super) struct ToWord<T, M, R>(PhantomData<(T, M, R)>);

impl<T: Integer, M: RoundingMode, R: Range> Target for ToWord<T, M, R> {
    type Lane = T;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store(numbers: [__m256; 2], order: Order, output: *mut T::Bytes, faults: &mut __m256i) {
        // SAFETY: AVX2 is enabled here, the caller lets sixteen elements be written, and these stores need no alignment.
        unsafe {
            let (low, high) = integers::<T, M, R>(numbers, faults);
            let (low, high) = match order {
                Order::Linear => (low, high),
                Order::Halved => {
                    (_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high))
                }
            };
            _mm256_storeu_si256(output.cast(), low);
            _mm256_storeu_si256(output.add(8).cast(), high);
        }
    }
}

/// Integers of 64 bits, from numbers that are an `i32` as integers.
pub(super) struct ToLong<T, M, R>(PhantomData<(T, M, R)>);

impl<T: Integer, M: RoundingMode, R: Range> Target for ToLong<T, M, R> {
    type Lane = T;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store(numbers: [__m256; 2], order: Order, output: *mut T::Bytes, faults: &mut __m256i) {
        // SAFETY: AVX2 is enabled here, the caller lets sixteen elements be written, and these stores need no alignment.
        unsafe {
            let (low, high) = integers::<T, M, R>(numbers, faults);
            let (low_end, high_end) = (_mm256_extracti128_si256::<1>(low), _mm256_extracti128_si256::<1>(high));
            let (low, high) = (_mm256_castsi256_si128(low), _mm256_castsi256_si128(high));
            let (second, third) = if order == Order::Linear { (low_end, high) } else { (high, low_end) };
            _mm256_storeu_si256(output.cast(), _mm256_cvtepi32_epi64(low));
            _mm256_storeu_si256(output.add(4).cast(), _mm256_cvtepi32_epi64(second));
            _mm256_storeu_si256(output.add(8).cast(), _mm256_cvtepi32_epi64(third));
            _mm256_storeu_si256(output.add(12).cast(), _mm256_cvtepi32_epi64(high_end));
        }
    }
}
