//! Lanes of `f64`: between them and integers, and from them to lanes of `f32`.

use super::integer_target::{Checked, Clamped, Range, Wrapped, store_short};
use super::{GROUP, Order, Quick, Run, blank};
use crate::codec::cast_value::kernel::{Kernel, optimistic};
use crate::codec::cast_value::portable::float::{NearestEven, RoundingMode, with_mode};
use crate::codec::cast_value::portable::lane::{Integer, Lane};
use crate::codec::cast_value::reference::{Cast, OutOfRange};
use crate::data_type::Component;
use crate::number::Rounding;
use crate::simd::for_each_group;
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// The digits of an `f64` that an `f32` lacks.
const REST: i64 = (1 << 29) - 1;

/// `f64` to `f32`.
pub(super) trait Narrow {
    /// # Safety
    /// The processor has AVX2.
    unsafe fn narrow(numbers: __m256d) -> __m128;
}

/// Rounded to odd. Numbers that are subnormal as `f32` become anything.
pub(super) struct Odd;

impl Narrow for Odd {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn narrow(numbers: __m256d) -> __m128 {
        _mm256_cvtpd_ps(_mm256_castsi256_pd(odd::<REST>(_mm256_castpd_si256(numbers))))
    }
}

/// Rounded in a mode, for numbers that are integers.
pub(super) struct Whole<M>(PhantomData<M>);

impl<M: RoundingMode> Narrow for Whole<M> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn narrow(numbers: __m256d) -> __m128 {
        let bits = _mm256_castpd_si256(numbers);
        let (rest, zero) = (_mm256_set1_epi64x(REST), _mm256_setzero_pd());
        let rest_number = _mm256_castsi256_pd(rest);
        let bits = match M::ROUNDING {
            Rounding::NearestEven => bits,
            // The last bit breaks ties, and changes nothing else.
            Rounding::NearestAway => _mm256_or_si256(bits, _mm256_set1_epi64x(1)),
            Rounding::TowardsZero => _mm256_andnot_si256(rest, bits),
            Rounding::TowardsPositive => {
                let addend = _mm256_castpd_si256(_mm256_blendv_pd(rest_number, zero, numbers));
                _mm256_andnot_si256(rest, _mm256_add_epi64(bits, addend))
            }
            Rounding::TowardsNegative => {
                let addend = _mm256_castpd_si256(_mm256_blendv_pd(zero, rest_number, numbers));
                _mm256_andnot_si256(rest, _mm256_add_epi64(bits, addend))
            }
        };
        _mm256_cvtpd_ps(_mm256_castsi256_pd(bits))
    }
}

/// The bits with those of `LOW` replaced by 0, and 1 in the bit above them if one of these was not 0.
#[inline]
#[target_feature(enable = "avx2")]
fn odd<const LOW: i64>(bits: __m256i) -> __m256i {
    let low = _mm256_set1_epi64x(LOW);
    let sticky = _mm256_add_epi64(_mm256_and_si256(bits, low), low);
    _mm256_andnot_si256(low, _mm256_or_si256(bits, sticky))
}

/// The bits of 2^52: with 32 bits of an integer in its last digits, it is the sum of both.
const UNIT: i64 = ((1_u64 << 52) as f64).to_bits() as i64;
/// The same with 2^84, whose last digit is 2^32.
const HIGH_UNIT: i64 = ((1_u128 << 84) as f64).to_bits() as i64;

/// Four integers of 64 bits, or of `u32`; those of more than 53 digits rounded to odd, with 42 digits or more.
///
/// # Safety
/// Four elements can be read from there.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn odd_float64<T: Integer>(input: *const T::Bytes) -> __m256d {
    if T::BITS == 32 {
        // SAFETY: the caller lets four elements be read, and this load needs no alignment.
        let words = _mm256_cvtepu32_epi64(unsafe { _mm_loadu_si128(input.cast()) });
        let unit = _mm256_set1_epi64x(UNIT);
        return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(words, unit)), _mm256_castsi256_pd(unit));
    }
    // SAFETY: the caller lets four elements be read, and this load needs no alignment.
    let integers = unsafe { _mm256_loadu_si256(input.cast()) };
    let zero = _mm256_setzero_si256();
    let is_exact = if T::IS_SIGNED {
        // From 0 to 2^54 for magnitudes up to 2^53.
        let distance = _mm256_add_epi64(integers, _mm256_set1_epi64x(1 << 53));
        _mm256_cmpeq_epi64(_mm256_srli_epi64::<54>(distance), zero)
    } else {
        _mm256_cmpeq_epi64(_mm256_srli_epi64::<53>(integers), zero)
    };
    // Also of negative integers, in two's complement: of the two multiples around them the odd one.
    let digits = _mm256_blendv_epi8(odd::<2047>(integers), integers, is_exact);
    let (high, low) = halves::<T>(digits);
    _mm256_add_pd(high, low)
}

/// Two numbers whose sum is the integer: a multiple of 2^32, and its last 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn halves<T: Integer>(integers: __m256i) -> (__m256d, __m256d) {
    let unit = _mm256_set1_epi64x(UNIT);
    let low = _mm256_castsi256_pd(_mm256_blend_epi32::<0xAA>(integers, unit));
    let low = _mm256_sub_pd(low, _mm256_castsi256_pd(unit));
    // The upper half of a signed integer is counted from the least one.
    let least = if T::IS_SIGNED { 1 << 31 } else { 0 };
    let unit = _mm256_set1_epi64x(HIGH_UNIT + least);
    let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(integers), unit);
    (_mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_castsi256_pd(unit)), low)
}

/// 64-bit integers to `float64`.
pub(super) fn to_float64(signed: bool, rounding: Rounding) -> Box<dyn Kernel> {
    if signed { to_float64_from::<i64>(rounding) } else { to_float64_from::<u64>(rounding) }
}

fn to_float64_from<T: Integer>(rounding: Rounding) -> Box<dyn Kernel> {
    let boxed = |run| Box::new(Quick { run, output_size: 8 });
    if rounding == Rounding::NearestEven {
        return boxed(to_float64_all::<T, NearestEven, false>);
    }
    let rounded: Run = with_mode!(rounding, M => to_float64_all::<T, M, false>);
    optimistic(boxed(to_float64_all::<T, NearestEven, true>), boxed(rounded))
}

/// Refuses what no `f64` is if asked, or else nothing.
#[target_feature(enable = "avx2")]
fn to_float64_all<T: Integer, M: RoundingMode, const IS_EXACT: bool>(input: &[u8], output: &mut [u8]) -> bool {
    let mut rests = _mm256_setzero_pd();
    let (input, output) = (T::elements(input), f64::elements_mut(output));
    for_each_group(input, output, [0; 8], |input: &[T::Bytes; 8], output: &mut [[u8; 8]; 8]| {
        for half in [0, 4] {
            // SAFETY: the halves have four elements each, and neither load nor store needs alignment.
            unsafe {
                let (high, low) = halves::<T>(_mm256_loadu_si256(input[half..].as_ptr().cast()));
                let nearest = _mm256_add_pd(high, low);
                // Exact: what the integer is above the nearest float.
                let rest = _mm256_sub_pd(low, _mm256_sub_pd(nearest, high));
                if IS_EXACT {
                    rests = _mm256_or_pd(rests, rest);
                }
                _mm256_storeu_pd(output[half..].as_mut_ptr().cast(), stepped::<M>(nearest, rest));
            }
        }
    });
    let rests = _mm256_castpd_si256(rests);
    _mm256_testz_si256(rests, rests) == 0
}

/// The neighbour of the nearest float that the mode asks for.
#[inline]
#[target_feature(enable = "avx2")]
fn stepped<M: RoundingMode>(nearest: __m256d, rest: __m256d) -> __m256d {
    let bits = _mm256_castpd_si256(nearest);
    let (zero, one, sign) = (_mm256_setzero_pd(), _mm256_set1_epi64x(1), _mm256_set1_pd(-0.0));
    // What the magnitude of the integer is above that of the nearest float.
    let outward_rest = _mm256_xor_pd(rest, _mm256_and_pd(nearest, sign));
    // Bits count magnitudes: one up is one away from zero.
    let outward = _mm256_or_si256(_mm256_cmpgt_epi64(_mm256_setzero_si256(), bits), one);
    let step = match M::ROUNDING {
        Rounding::NearestEven => return nearest,
        Rounding::NearestAway => {
            let next = _mm256_castsi256_pd(_mm256_add_epi64(bits, one));
            let unit = _mm256_andnot_pd(sign, _mm256_sub_pd(next, nearest));
            // Doubled, since half the unit of 0 is no `f64`.
            let is_tie = _mm256_cmp_pd::<_CMP_EQ_OQ>(_mm256_add_pd(outward_rest, outward_rest), unit);
            _mm256_and_si256(_mm256_castpd_si256(is_tie), one)
        }
        Rounding::TowardsZero => _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(outward_rest, zero)),
        Rounding::TowardsPositive => {
            _mm256_and_si256(outward, _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_GT_OQ>(rest, zero)))
        }
        Rounding::TowardsNegative => {
            let is_above = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(rest, zero));
            // The other way: -1 where outward is 1, and 1 where it is -1.
            _mm256_and_si256(_mm256_sub_epi64(_mm256_setzero_si256(), outward), is_above)
        }
    };
    _mm256_castsi256_pd(_mm256_add_epi64(bits, step))
}

/// `float64` to integers: of 32 and 64 bits, and of 8 and 16 that wrap.
pub(super) fn from_float64(cast: &Cast) -> Option<Box<dyn Kernel>> {
    match cast.out_of_range {
        OutOfRange::Error => from_float64_in::<Checked>(cast),
        OutOfRange::Clamp => from_float64_in::<Clamped>(cast),
        OutOfRange::Wrap => from_float64_in::<Wrapped>(cast),
    }
}

fn from_float64_in<R: Range>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    let Component::Int { bits, signed } = cast.target else { return None };
    let run: Run = with_mode!(cast.rounding, M => match (bits, signed) {
        (8, false) if cast.out_of_range == OutOfRange::Wrap => to_integers::<u8, M, R>,
        (8, true) if cast.out_of_range == OutOfRange::Wrap => to_integers::<i8, M, R>,
        (16, false) if cast.out_of_range == OutOfRange::Wrap => to_integers::<u16, M, R>,
        (16, true) if cast.out_of_range == OutOfRange::Wrap => to_integers::<i16, M, R>,
        (32, false) => to_integers::<u32, M, R>,
        (32, true) => to_integers::<i32, M, R>,
        (64, false) => to_long::<u64, M>(cast.out_of_range),
        (64, true) => to_long::<i64, M>(cast.out_of_range),
        _ => return None,
    });
    Some(Box::new(Quick { run, output_size: bits as usize / 8 }))
}

/// Integers of up to 32 bits, from numbers that are an `i32` as integers.
#[target_feature(enable = "avx2")]
fn to_integers<T: Integer, M: RoundingMode, R: Range>(input: &[u8], output: &mut [u8]) -> bool {
    let mut faults = _mm256_setzero_si256();
    let (input, output) = (f64::elements(input), T::elements_mut(output));
    for_each_group(input, output, blank::<T>(), |input: &[[u8; 8]; GROUP], output: &mut [T::Bytes; GROUP]| {
        let output = output.as_mut_ptr();
        // SAFETY: the group has sixteen elements, loads and stores need no alignment, and AVX2 is enabled here.
        unsafe {
            let low = R::limit::<T>(eight_words::<M>(input.as_ptr()), &mut faults);
            let high = R::limit::<T>(eight_words::<M>(input[8..].as_ptr()), &mut faults);
            if T::BITS < 32 {
                store_short::<T, R>(low, high, Order::Linear, output, &mut faults);
            } else {
                _mm256_storeu_si256(output.cast(), low);
                _mm256_storeu_si256(output.add(8).cast(), high);
            }
        }
    });
    _mm256_testz_si256(faults, faults) == 0
}

/// Eight numbers, rounded; the least `i32` for what no `i32` is.
///
/// # Safety
/// Eight elements can be read from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn eight_words<M: RoundingMode>(input: *const [u8; 8]) -> __m256i {
    // SAFETY: the caller lets eight elements be read, and these loads need no alignment.
    let (low, high) = unsafe { (_mm256_loadu_pd(input.cast()), _mm256_loadu_pd(input.add(4).cast())) };
    if M::ROUNDING == Rounding::TowardsZero {
        return _mm256_set_m128i(_mm256_cvttpd_epi32(high), _mm256_cvttpd_epi32(low));
    }
    _mm256_set_m128i(_mm256_cvtpd_epi32(whole::<M>(high)), _mm256_cvtpd_epi32(whole::<M>(low)))
}

/// The number rounded to an integer, if its magnitude is at most 2^51.
#[inline]
#[target_feature(enable = "avx2")]
fn whole<M: RoundingMode>(numbers: __m256d) -> __m256d {
    match M::ROUNDING {
        Rounding::NearestEven => _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(numbers),
        Rounding::TowardsZero => _mm256_round_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(numbers),
        Rounding::TowardsPositive => _mm256_round_pd::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(numbers),
        Rounding::TowardsNegative => _mm256_round_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(numbers),
        Rounding::NearestAway => {
            // The last bit breaks ties, and changes nothing else: it is at most a quarter.
            let last_bit = _mm256_castsi256_pd(_mm256_set1_epi64x(1));
            let numbers = _mm256_or_pd(numbers, last_bit);
            _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(numbers)
        }
    }
}

fn to_long<T: Integer, M: RoundingMode>(out_of_range: OutOfRange) -> Run {
    match out_of_range {
        OutOfRange::Error if !T::IS_SIGNED => to_long_all::<T, M, true, false>,
        OutOfRange::Clamp if !T::IS_SIGNED => to_long_all::<T, M, false, true>,
        _ => to_long_all::<T, M, false, false>,
    }
}

/// Integers of 64 bits, from numbers of up to 51 digits before the point.
#[target_feature(enable = "avx2")]
fn to_long_all<T: Integer, M: RoundingMode, const REFUSES_NEGATIVE: bool, const CLAMPS_NEGATIVE: bool>(
    input: &[u8],
    output: &mut [u8],
) -> bool {
    let zero = _mm256_setzero_pd();
    let mut faults = zero;
    let (input, output) = (f64::elements(input), T::elements_mut(output));
    for_each_group(input, output, blank::<T>(), |input: &[[u8; 8]; 8], output: &mut [T::Bytes; 8]| {
        for half in [0, 4] {
            // SAFETY: the halves have four elements each, and this load needs no alignment.
            let numbers = unsafe { _mm256_loadu_pd(input[half..].as_ptr().cast()) };
            let mut whole = whole::<M>(numbers);
            let magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), whole);
            // True for NaN.
            let is_large = _mm256_cmp_pd::<_CMP_NLT_UQ>(magnitude, _mm256_set1_pd(2_f64.powi(51)));
            faults = _mm256_or_pd(faults, is_large);
            if REFUSES_NEGATIVE {
                faults = _mm256_or_pd(faults, _mm256_cmp_pd::<_CMP_LT_OQ>(whole, zero));
            }
            if CLAMPS_NEGATIVE {
                whole = _mm256_max_pd(whole, zero);
            }
            // The last digit of this number is 1, so that the last digits of the sum are those of the integer.
            let magic = _mm256_set1_pd(1.5 * 2_f64.powi(52));
            let bits = _mm256_castpd_si256(_mm256_add_pd(whole, magic));
            let integers = _mm256_sub_epi64(bits, _mm256_castpd_si256(magic));
            // SAFETY: the halves have four elements each, and this store needs no alignment.
            unsafe { _mm256_storeu_si256(output[half..].as_mut_ptr().cast(), integers) };
        }
    });
    _mm256_movemask_pd(faults) != 0
}
