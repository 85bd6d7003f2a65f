//! Sources as numbers in lanes of `f32`: exact, rounded to `float32` in a mode, or rounded to odd, so that rounding
//! them to 16 bits gives what the element itself would.

use super::wide::{Narrow, Odd, Whole, odd_float64};
use super::{Order, Source};
use crate::codec::cast_value::portable::float::RoundingMode;
use crate::codec::cast_value::portable::lane::{Integer, Lane};
use crate::number::Rounding;
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// Integers of 8 and 16 bits, exactly, in the order that suits the target.
pub(super) struct Short<T, const IS_LINEAR: bool>(PhantomData<T>);

impl<T: Integer, const IS_LINEAR: bool> Source for Short<T, IS_LINEAR> {
    type Lane = T;

    const ORDER: Order = if IS_LINEAR { Order::Linear } else { Order::Halved };

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(input: *const T::Bytes, _: &mut __m256i) -> [__m256; 2] {
        // SAFETY: the caller lets sixteen elements be read.
        let [low, high] = unsafe {
            if IS_LINEAR { [eight_words::<T>(input), eight_words::<T>(input.add(8))] } else { halved_words::<T>(input) }
        };
        [_mm256_cvtepi32_ps(low), _mm256_cvtepi32_ps(high)]
    }
}

/// Eight integers of 8 or 16 bits as integers of `i32`.
///
/// # Safety
/// Eight elements can be read from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn eight_words<T: Integer>(input: *const T::Bytes) -> __m256i {
    // SAFETY: the caller lets eight elements be read, and these loads need no alignment.
    unsafe {
        match (T::BITS, T::IS_SIGNED) {
            (8, false) => _mm256_cvtepu8_epi32(_mm_loadl_epi64(input.cast())),
            (8, true) => _mm256_cvtepi8_epi32(_mm_loadl_epi64(input.cast())),
            (_, false) => _mm256_cvtepu16_epi32(_mm_loadu_si128(input.cast())),
            (_, true) => _mm256_cvtepi16_epi32(_mm_loadu_si128(input.cast())),
        }
    }
}

/// Sixteen integers of 8 or 16 bits as integers of `i32`, in halved order.
///
/// # Safety
/// Sixteen elements can be read from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn halved_words<T: Integer>(input: *const T::Bytes) -> [__m256i; 2] {
    // SAFETY: the caller lets sixteen elements be read, and these loads need no alignment.
    let shorts = unsafe {
        match (T::BITS, T::IS_SIGNED) {
            (8, false) => _mm256_cvtepu8_epi16(_mm_loadu_si128(input.cast())),
            (8, true) => _mm256_cvtepi8_epi16(_mm_loadu_si128(input.cast())),
            _ => _mm256_loadu_si256(input.cast()),
        }
    };
    let zero = _mm256_setzero_si256();
    if T::IS_SIGNED {
        let (low, high) = (_mm256_unpacklo_epi16(zero, shorts), _mm256_unpackhi_epi16(zero, shorts));
        [_mm256_srai_epi32::<16>(low), _mm256_srai_epi32::<16>(high)]
    } else {
        [_mm256_unpacklo_epi16(shorts, zero), _mm256_unpackhi_epi16(shorts, zero)]
    }
}

/// With NaN, unless it is refused.
pub(super) struct Float16<const REFUSES_NAN: bool>;

impl<const REFUSES_NAN: bool> Source for Float16<REFUSES_NAN> {
    type Lane = u16;

    const ORDER: Order = Order::Linear;

    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    unsafe fn load(input: *const [u8; 2], faults: &mut __m256i) -> [__m256; 2] {
        // SAFETY: the caller lets sixteen elements be read, and these loads need no alignment.
        let (low, high) = unsafe { (_mm_loadu_si128(input.cast()), _mm_loadu_si128(input.add(8).cast())) };
        let (low, high) = (_mm256_cvtph_ps(low), _mm256_cvtph_ps(high));
        if REFUSES_NAN {
            let has_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(low, high);
            *faults = _mm256_or_si256(*faults, _mm256_castps_si256(has_nan));
        }
        [low, high]
    }
}

pub(super) struct Bfloat16;

impl Source for Bfloat16 {
    type Lane = u16;

    const ORDER: Order = Order::Halved;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(input: *const [u8; 2], _: &mut __m256i) -> [__m256; 2] {
        let zero = _mm256_setzero_si256();
        // SAFETY: the caller lets sixteen elements be read, and this load needs no alignment.
        let halves = unsafe { _mm256_loadu_si256(input.cast()) };
        let (low, high) = (_mm256_unpacklo_epi16(zero, halves), _mm256_unpackhi_epi16(zero, halves));
        [_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)]
    }
}

pub(super) struct Float32;

impl Source for Float32 {
    type Lane = f32;

    const ORDER: Order = Order::Linear;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(input: *const [u8; 4], _: &mut __m256i) -> [__m256; 2] {
        // SAFETY: the caller lets sixteen elements be read, and these loads need no alignment.
        unsafe { [_mm256_loadu_ps(input.cast()), _mm256_loadu_ps(input.add(8).cast())] }
    }
}

/// Rounded to odd. Refuses numbers other than 0 that are subnormal as `f32`.
pub(super) struct Float64;

impl Source for Float64 {
    type Lane = f64;

    const ORDER: Order = Order::Halved;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(input: *const [u8; 8], faults: &mut __m256i) -> [__m256; 2] {
        // SAFETY: the caller lets sixteen elements be read.
        unsafe {
            let (a, b) = (odd_four(input, faults), odd_four(input.add(4), faults));
            let (c, d) = (odd_four(input.add(8), faults), odd_four(input.add(12), faults));
            [_mm256_set_m128(c, a), _mm256_set_m128(d, b)]
        }
    }
}

/// # Safety
/// Four elements can be read from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn odd_four(input: *const [u8; 8], faults: &mut __m256i) -> __m128 {
    // SAFETY: the caller lets four elements be read, this load needs no alignment, and AVX2 is enabled here.
    unsafe {
        let numbers = _mm256_loadu_pd(input.cast());
        *faults = _mm256_or_si256(*faults, is_subnormal(numbers));
        Odd::narrow(numbers)
    }
}

/// The numbers that are less than the normal ones of `f32`, but not 0.
#[inline]
#[target_feature(enable = "avx2")]
fn is_subnormal(number: __m256d) -> __m256i {
    let magnitude = _mm256_and_si256(_mm256_castpd_si256(number), _mm256_set1_epi64x(i64::MAX));
    let least = _mm256_set1_epi64x(f64::from(f32::MIN_POSITIVE).to_bits() as i64);
    let is_zero = _mm256_cmpeq_epi64(magnitude, _mm256_setzero_si256());
    _mm256_andnot_si256(is_zero, _mm256_cmpgt_epi64(least, magnitude))
}

/// Sixteen integers of `i32`, in linear order.
pub(super) trait Words {
    type Lane: Lane;

    /// Sets a bit of `faults` if one of them is no `i32`.
    ///
    /// # Safety
    /// The processor has AVX2, and sixteen elements can be read from there.
    unsafe fn load(input: *const <Self::Lane as Lane>::Bytes, faults: &mut __m256i) -> [__m256i; 2];
}

/// Integers of 32 and 64 bits that are an `i32`.
pub(super) struct Low<T>(PhantomData<T>);

impl<T: Integer> Words for Low<T> {
    type Lane = T;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(input: *const T::Bytes, faults: &mut __m256i) -> [__m256i; 2] {
        // SAFETY: the caller lets sixteen elements be read, and these loads need no alignment.
        unsafe {
            if T::BITS == 64 {
                return [low_words::<T>(input, faults), low_words::<T>(input.add(8), faults)];
            }
            let words = [_mm256_loadu_si256(input.cast()), _mm256_loadu_si256(input.add(8).cast())];
            if !T::IS_SIGNED {
                let fault = _mm256_srli_epi32::<31>(_mm256_or_si256(words[0], words[1]));
                *faults = _mm256_or_si256(*faults, fault);
            }
            words
        }
    }
}

/// The lower halves of eight integers of 64 bits.
///
/// # Safety
/// Eight elements can be read from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn low_words<T: Integer>(input: *const T::Bytes, faults: &mut __m256i) -> __m256i {
    // SAFETY: the caller lets eight elements be read, and these loads need no alignment.
    let (a, b) = unsafe { (_mm256_loadu_ps(input.cast()), _mm256_loadu_ps(input.add(4).cast())) };
    let low = _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(a, b));
    let high = _mm256_castps_si256(_mm256_shuffle_ps::<0xDD>(a, b));
    let sign = _mm256_srai_epi32::<31>(low);
    let fault = if T::IS_SIGNED { _mm256_xor_si256(high, sign) } else { _mm256_or_si256(high, sign) };
    *faults = _mm256_or_si256(*faults, fault);
    // The shuffles work on each half of a register.
    _mm256_permute4x64_epi64::<0xD8>(low)
}

/// Integers of `i32`, rounded in a mode.
pub(super) struct Rounded<W, M>(PhantomData<(W, M)>);

impl<W: Words, M: RoundingMode> Source for Rounded<W, M> {
    type Lane = W::Lane;

    const ORDER: Order = Order::Linear;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(input: *const <W::Lane as Lane>::Bytes, faults: &mut __m256i) -> [__m256; 2] {
        // SAFETY: the caller lets sixteen elements be read, and AVX2 is enabled here.
        let [low, high] = unsafe { W::load(input, faults) };
        [rounded::<M>(low), rounded::<M>(high)]
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn rounded<M: RoundingMode>(integers: __m256i) -> __m256 {
    let nearest = _mm256_cvtepi32_ps(integers);
    if M::ROUNDING == Rounding::NearestEven {
        return nearest;
    }
    if M::ROUNDING == Rounding::NearestAway {
        let low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(integers));
        let high = _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(integers));
        // SAFETY: AVX2 is enabled here.
        return unsafe { _mm256_set_m128(Whole::<M>::narrow(high), Whole::<M>::narrow(low)) };
    }
    let (zero, bits) = (_mm256_setzero_si256(), _mm256_castps_si256(nearest));
    // What the integer is above the nearest float; right also where that is 2^31, which wraps to -2^31.
    let rest = _mm256_sub_epi32(integers, _mm256_cvtps_epi32(nearest));
    // Bits count magnitudes: one up is one away from zero.
    let outward = _mm256_or_si256(_mm256_srai_epi32::<31>(integers), _mm256_set1_epi32(1));
    _mm256_castsi256_ps(match M::ROUNDING {
        Rounding::TowardsPositive => _mm256_add_epi32(bits, _mm256_and_si256(outward, _mm256_cmpgt_epi32(rest, zero))),
        Rounding::TowardsNegative => _mm256_sub_epi32(bits, _mm256_and_si256(outward, _mm256_cmpgt_epi32(zero, rest))),
        _ => _mm256_add_epi32(bits, _mm256_cmpgt_epi32(zero, _mm256_sign_epi32(rest, integers))),
    })
}

/// Integers of `i32`; those of more than 24 digits rounded to odd, with 16 digits or more.
pub(super) struct OddWords<W>(PhantomData<W>);

impl<W: Words> Source for OddWords<W> {
    type Lane = W::Lane;

    const ORDER: Order = Order::Linear;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(input: *const <W::Lane as Lane>::Bytes, faults: &mut __m256i) -> [__m256; 2] {
        // SAFETY: the caller lets sixteen elements be read, and AVX2 is enabled here.
        let [low, high] = unsafe { W::load(input, faults) };
        [odd_word(low), odd_word(high)]
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn odd_word(integers: __m256i) -> __m256 {
    // From 0 to 2^25 for magnitudes up to 2^24.
    let distance = _mm256_add_epi32(integers, _mm256_set1_epi32(1 << 24));
    let is_exact = _mm256_cmpeq_epi32(_mm256_srli_epi32::<25>(distance), _mm256_setzero_si256());
    // The last 8 digits are replaced by 0, and the one before them by 1 if one of these was not 0. Also of negative
    // integers, in two's complement, this is the odd one of the two multiples around them.
    let low = _mm256_set1_epi32(0xFF);
    let sticky = _mm256_add_epi32(_mm256_and_si256(integers, low), low);
    let odd = _mm256_andnot_si256(low, _mm256_or_si256(integers, sticky));
    _mm256_cvtepi32_ps(_mm256_blendv_epi8(odd, integers, is_exact))
}

/// 64-bit integers, rounded in a mode.
pub(super) struct Long<T, M>(PhantomData<(T, M)>);

impl<T: Integer, M: RoundingMode> Source for Long<T, M> {
    type Lane = T;

    const ORDER: Order = Order::Linear;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(input: *const T::Bytes, _: &mut __m256i) -> [__m256; 2] {
        // SAFETY: the caller lets sixteen elements be read.
        unsafe {
            let [a, b, c, d] = load_long::<T, Whole<M>>(input);
            [_mm256_set_m128(b, a), _mm256_set_m128(d, c)]
        }
    }
}

/// 64-bit integers, rounded to odd.
pub(super) struct OddLong<T>(PhantomData<T>);

impl<T: Integer> Source for OddLong<T> {
    type Lane = T;

    const ORDER: Order = Order::Halved;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(input: *const T::Bytes, _: &mut __m256i) -> [__m256; 2] {
        // SAFETY: the caller lets sixteen elements be read.
        unsafe {
            let [a, b, c, d] = load_long::<T, Odd>(input);
            [_mm256_set_m128(c, a), _mm256_set_m128(d, b)]
        }
    }
}

/// Integers of 32 and 64 bits.
///
/// # Safety
/// Sixteen elements can be read from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_long<T: Integer, N: Narrow>(input: *const T::Bytes) -> [__m128; 4] {
    // SAFETY: the caller lets sixteen elements be read, and AVX2 is enabled here.
    unsafe {
        [
            N::narrow(odd_float64::<T>(input)),
            N::narrow(odd_float64::<T>(input.add(4))),
            N::narrow(odd_float64::<T>(input.add(8))),
            N::narrow(odd_float64::<T>(input.add(12))),
        ]
    }
}
