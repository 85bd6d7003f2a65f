//! Floats of 16 bits from integers of up to 32 bits and from other floats, 32 elements at a time.

use super::TOWARDS_ZERO;
use crate::codec::cast_value::avx2::TierLoop;
use crate::codec::cast_value::kernel::Kernel;
use crate::codec::cast_value::portable::float::{self, RoundingMode, with_mode};
use crate::codec::cast_value::reference::Cast;
use crate::data_type::Component;
use crate::number::{FloatId, Rounding};
use crate::simd::for_each_group;
use std::arch::x86_64::*;

/// Elements that are converted together.
const GROUP: usize = 32;

/// Elements of `SIZE` bytes as the bits of `f32`: exact, or rounded to odd, so that rounding them to 16 bits gives what
/// the element itself would.
trait Source<const SIZE: usize> {
    /// The bits of the largest magnitude that there may be. Compared as integers, the bits of floats order like their
    /// magnitudes; NaNs sort last.
    const LARGEST: i32 = i32::MAX;

    /// Sets a bit of `faults` if an element is refused.
    ///
    /// # Safety
    /// The processor has AVX-512 F, BW and VL, and sixteen elements can be read from there.
    unsafe fn load(input: *const [u8; SIZE], faults: &mut __mmask16) -> __m512i;
}

/// A format of 16 bits.
trait Target {
    /// The bits of its largest number as `f32`.
    const LARGEST: i32;

    /// The bits of 32 numbers, rounded. What is above the largest is anything.
    ///
    /// # Safety
    /// The processor has AVX-512 F and BW.
    unsafe fn narrowed<M: RoundingMode>(low: __m512i, high: __m512i) -> __m512i;
}

/// The loop of a cast to a float of 16 bits; `None` if there is none. It refuses NaN, what is above the largest number,
/// and numbers of `float64` that are subnormal as `f32`.
pub(in crate::codec::cast_value) fn whole_cast(cast: &Cast) -> Option<Box<dyn Kernel>> {
    match cast.target {
        _ if cast.source == cast.target => None,
        Component::Float(format) if format.id == FloatId::Float16 => narrow_to::<ToFloat16>(cast),
        Component::Float(format) if format.id == FloatId::Bfloat16 => narrow_to::<ToBfloat16>(cast),
        _ => None,
    }
}

/// `f32` to `float16`; refuses the same.
pub(in crate::codec::cast_value) fn narrow_float16(rounding: Rounding) -> Option<Box<dyn Kernel>> {
    Some(with_mode!(rounding, M => Box::new(TierLoop(narrow_all::<Float32, ToFloat16, M, 4>))))
}

fn narrow_to<T: Target>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    /// Integers of 8 bits are exact in every mode.
    type Exact = float::TowardsZero;
    // Integers that `f32` does not have are too large for the target.
    let are_words_exact = T::LARGEST < ((1 << f32::MANTISSA_DIGITS) as f32).to_bits().cast_signed();
    Some(match cast.source {
        Component::Int { bits: 8, signed: false } => Box::new(TierLoop(narrow_all::<Short<false>, T, Exact, 1>)),
        Component::Int { bits: 8, signed: true } => Box::new(TierLoop(narrow_all::<Short<true>, T, Exact, 1>)),
        source => with_mode!(cast.rounding, M => match source {
            Component::Int { bits: 16, signed: false } => Box::new(TierLoop(narrow_all::<Short<false>, T, M, 2>)),
            Component::Int { bits: 16, signed: true } => Box::new(TierLoop(narrow_all::<Short<true>, T, M, 2>)),
            Component::Int { bits: 32, signed: false } if are_words_exact => {
                Box::new(TierLoop(narrow_all::<ExactWord<false>, T, M, 4>))
            }
            Component::Int { bits: 32, signed: true } if are_words_exact => {
                Box::new(TierLoop(narrow_all::<ExactWord<true>, T, M, 4>))
            }
            Component::Int { bits: 32, signed: false } => Box::new(TierLoop(narrow_all::<Word<false>, T, M, 4>)),
            Component::Int { bits: 32, signed: true } => Box::new(TierLoop(narrow_all::<Word<true>, T, M, 4>)),
            Component::Float(format) => match format.id {
                FloatId::Float16 => Box::new(TierLoop(narrow_all::<Float16, T, M, 2>)),
                FloatId::Bfloat16 => Box::new(TierLoop(narrow_all::<Bfloat16, T, M, 2>)),
                FloatId::Float64 => Box::new(TierLoop(narrow_all::<Float64, T, M, 8>)),
                _ => return None,
            },
            _ => return None,
        }),
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn narrow_all<S: Source<SIZE>, T: Target, M: RoundingMode, const SIZE: usize>(
    input: &[[u8; SIZE]],
    output: &mut [[u8; 2]],
) -> bool {
    let mut faults = 0;
    for_each_group(input, output, [0; 2], |input: &[[u8; SIZE]; GROUP], output: &mut [[u8; 2]; GROUP]| {
        // SAFETY: there are 32 elements, and this loop runs where its instructions are enabled.
        let (low, high) = unsafe { (S::load(input.as_ptr(), &mut faults), S::load(input[16..].as_ptr(), &mut faults)) };
        if S::LARGEST > T::LARGEST {
            let magnitude = |bits| _mm512_and_si512(bits, _mm512_set1_epi32(i32::MAX));
            let larger = _mm512_max_epu32(magnitude(low), magnitude(high));
            faults |= _mm512_cmpgt_epi32_mask(larger, _mm512_set1_epi32(T::LARGEST));
        }
        // SAFETY: `output` is 64 writable bytes, this store needs no alignment, and the instructions are enabled.
        unsafe { _mm512_storeu_si512(output.as_mut_ptr().cast(), T::narrowed::<M>(low, high)) };
    });
    faults != 0
}

struct ToFloat16;

impl Target for ToFloat16 {
    const LARGEST: i32 = 65504_f32.to_bits().cast_signed();

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn narrowed<M: RoundingMode>(low: __m512i, high: __m512i) -> __m512i {
        let halves = |bits| {
            let numbers = _mm512_castsi512_ps(bits);
            match M::ROUNDING {
                Rounding::NearestEven => _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers),
                // The last bit breaks ties, and changes nothing else.
                Rounding::NearestAway => _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_castsi512_ps(
                    _mm512_or_si512(bits, _mm512_set1_epi32(1)),
                )),
                Rounding::TowardsZero => _mm512_cvtps_ph::<_MM_FROUND_TO_ZERO>(numbers),
                Rounding::TowardsPositive => _mm512_cvtps_ph::<_MM_FROUND_TO_POS_INF>(numbers),
                Rounding::TowardsNegative => _mm512_cvtps_ph::<_MM_FROUND_TO_NEG_INF>(numbers),
            }
        };
        // Together: storing straight from a conversion takes longer.
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(halves(low)), halves(high))
    }
}

struct ToBfloat16;

impl Target for ToBfloat16 {
    const LARGEST: i32 = 0x7F7F_0000;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn narrowed<M: RoundingMode>(low: __m512i, high: __m512i) -> __m512i {
        upper_halves(rounded::<M>(low), rounded::<M>(high))
    }
}

/// Bits whose upper halves are those of the rounded numbers: the exponents are the same, so that this is right for
/// subnormal numbers, too.
#[inline]
#[target_feature(enable = "avx512f")]
fn rounded<M: RoundingMode>(bits: __m512i) -> __m512i {
    let rest = _mm512_set1_epi32(0xFFFF);
    let is_negative = _mm512_srai_epi32::<31>(bits);
    let addend = match M::ROUNDING {
        Rounding::NearestEven => {
            let is_odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x1_0000));
            let below_half = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF));
            return _mm512_mask_add_epi32(below_half, is_odd, bits, _mm512_set1_epi32(0x8000));
        }
        Rounding::NearestAway => _mm512_set1_epi32(0x8000),
        Rounding::TowardsZero => return bits,
        Rounding::TowardsPositive => _mm512_andnot_si512(is_negative, rest),
        Rounding::TowardsNegative => _mm512_and_si512(is_negative, rest),
    };
    _mm512_add_epi32(bits, addend)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn upper_halves(low: __m512i, high: __m512i) -> __m512i {
    const PLACES: [u16; 32] = {
        let mut places = [0; 32];
        let mut i = 0;
        while i < 32 {
            places[i] = 2 * i as u16 + 1;
            i += 1;
        }
        places
    };
    _mm512_permutex2var_epi16(low, bytemuck::cast(PLACES), high)
}

/// Numbers that were rounded towards zero, rounded to odd: sets the last bit of those that were cut.
#[inline]
#[target_feature(enable = "avx512f")]
fn odd(numbers: __m512, are_cut: __mmask16) -> __m512i {
    let bits = _mm512_castps_si512(numbers);
    _mm512_mask_or_epi32(bits, are_cut, bits, _mm512_set1_epi32(1))
}

/// Integers of 8 and 16 bits.
struct Short<const IS_SIGNED: bool>;

impl<const IS_SIGNED: bool> Source<1> for Short<IS_SIGNED> {
    const LARGEST: i32 = 255_f32.to_bits().cast_signed();

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(input: *const [u8; 1], _: &mut __mmask16) -> __m512i {
        // SAFETY: the caller lets sixteen elements be read, and this load needs no alignment.
        let shorts = unsafe { _mm_loadu_si128(input.cast()) };
        let words = if IS_SIGNED { _mm512_cvtepi8_epi32(shorts) } else { _mm512_cvtepu8_epi32(shorts) };
        _mm512_castps_si512(_mm512_cvtepi32_ps(words))
    }
}

impl<const IS_SIGNED: bool> Source<2> for Short<IS_SIGNED> {
    const LARGEST: i32 = (if IS_SIGNED { 32768_f32 } else { 65535_f32 }).to_bits().cast_signed();

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(input: *const [u8; 2], _: &mut __mmask16) -> __m512i {
        // SAFETY: the caller lets sixteen elements be read, and this load needs no alignment.
        let shorts = unsafe { _mm256_loadu_si256(input.cast()) };
        let words = if IS_SIGNED { _mm512_cvtepi16_epi32(shorts) } else { _mm512_cvtepu16_epi32(shorts) };
        _mm512_castps_si512(_mm512_cvtepi32_ps(words))
    }
}

/// Integers of 32 bits.
struct Word<const IS_SIGNED: bool>;

impl<const IS_SIGNED: bool> Source<4> for Word<IS_SIGNED> {
    const LARGEST: i32 = 4_294_967_296_f32.to_bits().cast_signed();

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(input: *const [u8; 4], _: &mut __mmask16) -> __m512i {
        // SAFETY: the caller lets sixteen elements be read, and this load needs no alignment.
        let words = unsafe { _mm512_loadu_si512(input.cast()) };
        let (numbers, back) = if IS_SIGNED {
            let numbers = _mm512_cvt_roundepi32_ps::<TOWARDS_ZERO>(words);
            (numbers, _mm512_cvttps_epi32(numbers))
        } else {
            let numbers = _mm512_cvt_roundepu32_ps::<TOWARDS_ZERO>(words);
            (numbers, _mm512_cvttps_epu32(numbers))
        };
        odd(numbers, _mm512_cmpneq_epi32_mask(words, back))
    }
}

/// Integers of 32 bits, for a target that is too small for those that `f32` does not have.
struct ExactWord<const IS_SIGNED: bool>;

impl<const IS_SIGNED: bool> Source<4> for ExactWord<IS_SIGNED> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(input: *const [u8; 4], _: &mut __mmask16) -> __m512i {
        // SAFETY: the caller lets sixteen elements be read, and this load needs no alignment.
        let words = unsafe { _mm512_loadu_si512(input.cast()) };
        _mm512_castps_si512(if IS_SIGNED { _mm512_cvtepi32_ps(words) } else { _mm512_cvtepu32_ps(words) })
    }
}

/// Refuses infinities and NaN itself, by their own bits.
struct Float16;

impl Source<2> for Float16 {
    const LARGEST: i32 = 65504_f32.to_bits().cast_signed();

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    unsafe fn load(input: *const [u8; 2], faults: &mut __mmask16) -> __m512i {
        // SAFETY: the caller lets sixteen elements be read, and this load needs no alignment.
        let halves = unsafe { _mm256_loadu_si256(input.cast()) };
        let magnitudes = _mm256_and_si256(halves, _mm256_set1_epi16(i16::MAX));
        *faults |= _mm256_cmpgt_epi16_mask(magnitudes, _mm256_set1_epi16(0x7BFF));
        _mm512_castps_si512(_mm512_cvtph_ps(halves))
    }
}

struct Bfloat16;

impl Source<2> for Bfloat16 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(input: *const [u8; 2], _: &mut __mmask16) -> __m512i {
        // SAFETY: the caller lets sixteen elements be read, and this load needs no alignment.
        _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(unsafe { _mm256_loadu_si256(input.cast()) }))
    }
}

struct Float32;

impl Source<4> for Float32 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(input: *const [u8; 4], _: &mut __mmask16) -> __m512i {
        // SAFETY: the caller lets sixteen elements be read, and this load needs no alignment.
        unsafe { _mm512_loadu_si512(input.cast()) }
    }
}

struct Float64;

impl Source<8> for Float64 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(input: *const [u8; 8], faults: &mut __mmask16) -> __m512i {
        // SAFETY: the caller lets sixteen elements be read, and these loads need no alignment.
        let (low, high) = unsafe { (_mm512_loadu_pd(input.cast()), _mm512_loadu_pd(input.add(8).cast())) };
        *faults |= __mmask16::from(is_subnormal(low) | is_subnormal(high));
        let (low_odd, high_odd) =
            (_mm512_cvt_roundpd_ps::<TOWARDS_ZERO>(low), _mm512_cvt_roundpd_ps::<TOWARDS_ZERO>(high));
        let is_cut = |number, odd| _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(number, _mm512_cvtps_pd(odd));
        let are_cut = u16::from(is_cut(low, low_odd)) | u16::from(is_cut(high, high_odd)) << 8;
        let both = _mm512_castpd_ps(_mm512_insertf64x4::<1>(
            _mm512_castps_pd(_mm512_castps256_ps512(low_odd)),
            _mm256_castps_pd(high_odd),
        ));
        odd(both, are_cut)
    }
}

/// The numbers that are less than the normal ones of `f32`, but not 0.
#[inline]
#[target_feature(enable = "avx512f")]
fn is_subnormal(numbers: __m512d) -> __mmask8 {
    let magnitude = _mm512_and_si512(_mm512_castpd_si512(numbers), _mm512_set1_epi64(i64::MAX));
    let is_number = _mm512_test_epi64_mask(magnitude, magnitude);
    let least = _mm512_set1_epi64(f64::from(f32::MIN_POSITIVE).to_bits().cast_signed());
    _mm512_mask_cmplt_epi64_mask(is_number, magnitude, least)
}
