//! `float16` and `bfloat16` to integers of 8 and 16 bits, 32 elements at a time.

use super::{TO_NEAREST, TOWARDS_NEGATIVE, TOWARDS_POSITIVE};
use crate::codec::cast_value::avx2::{Convert, TierLoop};
use crate::codec::cast_value::kernel::Kernel;
use crate::codec::cast_value::portable::float::{RoundingMode, with_mode};
use crate::codec::cast_value::reference::{Cast, OutOfRange};
use crate::data_type::Component;
use crate::number::{FloatId, Rounding};
use crate::simd::for_each_group;
use std::arch::x86_64::*;

/// Elements that are converted together.
const GROUP: usize = 32;

/// The loop of a cast that refuses or clamps numbers out of range; `None` for all others. It refuses NaN, and if it
/// clamps, infinities and what no `i32` holds.
pub(in crate::codec::cast_value) fn to_integer(cast: &Cast) -> Option<Box<dyn Kernel>> {
    let Component::Float(format) = cast.source else { return None };
    match format.id {
        FloatId::Float16 => to_integer_from::<false>(cast),
        FloatId::Bfloat16 => to_integer_from::<true>(cast),
        _ => None,
    }
}

fn to_integer_from<const IS_BFLOAT16: bool>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    match cast.out_of_range {
        OutOfRange::Error => to_integer_in::<IS_BFLOAT16, false>(cast),
        OutOfRange::Clamp => to_integer_in::<IS_BFLOAT16, true>(cast),
        OutOfRange::Wrap => None,
    }
}

fn to_integer_in<const IS_BFLOAT16: bool, const IS_CLAMPED: bool>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    let Component::Int { bits, signed } = cast.target else { return None };
    Some(with_mode!(cast.rounding, M => match (bits, signed) {
        (8, false) => boxed(convert_all::<IS_BFLOAT16, IS_CLAMPED, M, 1, false>),
        (8, true) => boxed(convert_all::<IS_BFLOAT16, IS_CLAMPED, M, 1, true>),
        (16, false) => boxed(convert_all::<IS_BFLOAT16, IS_CLAMPED, M, 2, false>),
        (16, true) => boxed(convert_all::<IS_BFLOAT16, IS_CLAMPED, M, 2, true>),
        _ => return None,
    }))
}

fn boxed<const SIZE: usize>(convert: Convert<2, SIZE>) -> Box<dyn Kernel> {
    Box::new(TierLoop(convert))
}

#[target_feature(enable = "avx512f,avx512bw")]
fn convert_all<
    const IS_BFLOAT16: bool,
    const IS_CLAMPED: bool,
    M: RoundingMode,
    const SIZE: usize,
    const IS_SIGNED: bool,
>(
    input: &[[u8; 2]],
    output: &mut [[u8; SIZE]],
) -> bool {
    let bits = 8 * SIZE as u32;
    let least = if IS_SIGNED { -1 << (bits - 1) } else { 0 };
    // Distances from the least integer of the target, and which integers are the least `i32`.
    let (mut distances, mut are_least) = (_mm512_setzero_si512(), 0);
    for_each_group(input, output, [0; SIZE], |input: &[[u8; 2]; GROUP], output: &mut [[u8; SIZE]; GROUP]| {
        // SAFETY: each half has sixteen elements.
        let [low, high] = [input.as_ptr(), input[GROUP / 2..].as_ptr()]
            .map(|input| rounded::<M>(unsafe { load::<IS_BFLOAT16>(input) }));
        if IS_CLAMPED {
            let beyond = _mm512_set1_epi32(i32::MIN);
            are_least |= _mm512_cmpeq_epi32_mask(low, beyond) | _mm512_cmpeq_epi32_mask(high, beyond);
        } else {
            let distance = |integers| _mm512_sub_epi32(integers, _mm512_set1_epi32(least));
            distances = _mm512_or_si512(distances, _mm512_or_si512(distance(low), distance(high)));
        }
        // SAFETY: there are 32 elements.
        unsafe { store::<SIZE, IS_SIGNED, IS_CLAMPED>(low, high, output.as_mut_ptr()) };
    });
    are_least != 0 || _mm512_test_epi32_mask(distances, _mm512_set1_epi32(-1 << bits)) != 0
}

/// Sixteen elements as `f32`, exactly.
///
/// # Safety
/// They can be read from there.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load<const IS_BFLOAT16: bool>(input: *const [u8; 2]) -> __m512 {
    // SAFETY: the caller lets sixteen elements be read, and this load needs no alignment.
    let elements = unsafe { _mm256_loadu_si256(input.cast()) };
    if IS_BFLOAT16 {
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(elements)))
    } else {
        _mm512_cvtph_ps(elements)
    }
}

/// Sixteen numbers as integers; the least `i32` for what no `i32` is.
#[inline]
#[target_feature(enable = "avx512f")]
fn rounded<M: RoundingMode>(numbers: __m512) -> __m512i {
    match M::ROUNDING {
        Rounding::NearestEven => _mm512_cvt_roundps_epi32::<TO_NEAREST>(numbers),
        // The last bit breaks ties, and changes nothing else within 16 bits.
        Rounding::NearestAway => {
            let bits = _mm512_or_si512(_mm512_castps_si512(numbers), _mm512_set1_epi32(1));
            let numbers = _mm512_castsi512_ps(bits);
            _mm512_cvt_roundps_epi32::<TO_NEAREST>(numbers)
        }
        Rounding::TowardsZero => _mm512_cvttps_epi32(numbers),
        Rounding::TowardsPositive => _mm512_cvt_roundps_epi32::<TOWARDS_POSITIVE>(numbers),
        Rounding::TowardsNegative => _mm512_cvt_roundps_epi32::<TOWARDS_NEGATIVE>(numbers),
    }
}

/// Integers, limited to the range of `SIZE` bytes; negative ones without a sign only if `IS_CLAMPED`.
///
/// # Safety
/// 32 elements can be written to there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn store<const SIZE: usize, const IS_SIGNED: bool, const IS_CLAMPED: bool>(
    low: __m512i,
    high: __m512i,
    output: *mut [u8; SIZE],
) {
    if SIZE == 1 {
        let bytes = |integers| match (IS_SIGNED, IS_CLAMPED) {
            (true, _) => _mm512_cvtsepi32_epi8(integers),
            (false, true) => _mm512_cvtusepi32_epi8(_mm512_max_epi32(integers, _mm512_setzero_si512())),
            (false, false) => _mm512_cvtusepi32_epi8(integers),
        };
        // SAFETY: the caller lets 32 bytes be written, and these stores need no alignment.
        unsafe {
            _mm_storeu_si128(output.cast(), bytes(low));
            _mm_storeu_si128(output.add(GROUP / 2).cast(), bytes(high));
        }
        return;
    }
    // Packing works on each 16 bytes of a register; the permutation restores the order.
    let shorts = if IS_SIGNED { _mm512_packs_epi32(low, high) } else { _mm512_packus_epi32(low, high) };
    let shorts = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), shorts);
    // SAFETY: the caller lets 64 bytes be written, and this store needs no alignment.
    unsafe { _mm512_storeu_si512(output.cast(), shorts) };
}
