//! `f32` to floats of up to 8 bits, rounded to nearest: the portable loop of
//! [`narrow`](crate::codec::cast_value::portable::narrow), with 32 numbers packed together, and their signs apart.

use crate::codec::cast_value::kernel::{Entry, Kernel};
use crate::codec::cast_value::portable::narrow::SmallFloat;
use crate::number::Rounding;
use crate::simd::for_each_group;
use std::arch::x86_64::*;

/// Numbers that are packed together.
const GROUP: usize = 32;

/// For numbers up to the largest of the format; refuses others. `None` for directed rounding.
pub(in crate::codec::cast_value) fn narrow(format: SmallFloat, rounding: Rounding) -> Option<Box<dyn Kernel>> {
    match rounding {
        Rounding::NearestEven => Some(Box::new(ToSmallFloat::<false>(format))),
        Rounding::NearestAway => Some(Box::new(ToSmallFloat::<true>(format))),
        _ => None,
    }
}

#[derive(Debug)]
struct ToSmallFloat<const IS_AWAY: bool>(SmallFloat);

impl<const IS_AWAY: bool> Kernel for ToSmallFloat<IS_AWAY> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        // SAFETY: the table of tiers gives this kernel only where the processor has AVX2.
        unsafe { narrow_all::<IS_AWAY>(&self.0, input.as_chunks().0, output) }
    }

    fn output_size(&self) -> usize {
        1
    }

    /// Never mapped: the thorough kernel is.
    fn set_map(&mut self, _: &[Entry]) {}
}

#[target_feature(enable = "avx2")]
fn narrow_all<const IS_AWAY: bool>(format: &SmallFloat, input: &[[u8; 4]], output: &mut [u8]) -> bool {
    let to_sign = _mm_cvtsi32_si128(8 - format.bits as i32);
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let mut largest = _mm256_setzero_si256();
    for_each_group(input, output, 0, |input: &[[u8; 4]; GROUP], output: &mut [u8; GROUP]| {
        let input = input.as_ptr().cast::<__m256i>();
        // SAFETY: the group has four times 32 bytes, and these loads need no alignment.
        let (a, b, c, d) = unsafe {
            (
                _mm256_loadu_si256(input),
                _mm256_loadu_si256(input.add(1)),
                _mm256_loadu_si256(input.add(2)),
                _mm256_loadu_si256(input.add(3)),
            )
        };
        // Saturation keeps the sign.
        let signs = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        let signs = _mm256_srl_epi16(_mm256_and_si256(signs, _mm256_set1_epi8(i8::MIN)), to_sign);
        let (a, b, c, d) = (magnitude(a), magnitude(b), magnitude(c), magnitude(d));
        let group_largest = _mm256_max_epu32(_mm256_max_epu32(a, b), _mm256_max_epu32(c, d));
        largest = _mm256_max_epu32(largest, group_largest);
        let low = _mm256_packs_epi32(rounded::<IS_AWAY>(format, a), rounded::<IS_AWAY>(format, b));
        let high = _mm256_packs_epi32(rounded::<IS_AWAY>(format, c), rounded::<IS_AWAY>(format, d));
        let bytes = _mm256_or_si256(_mm256_packus_epi16(low, high), signs);
        // The packing instructions work on each half of a register; this restores the order.
        let bytes = _mm256_permutevar8x32_epi32(bytes, order);
        // SAFETY: the group has 32 bytes, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(output.as_mut_ptr().cast(), bytes) };
    });
    let is_over = _mm256_cmpgt_epi32(largest, _mm256_set1_epi32(format.largest as i32));
    _mm256_movemask_epi8(is_over) != 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn magnitude(number: __m256i) -> __m256i {
    _mm256_and_si256(number, _mm256_set1_epi32(i32::MAX))
}

/// The bits, in the format, of eight magnitudes none of which is above the largest.
#[inline]
#[target_feature(enable = "avx2")]
fn rounded<const IS_AWAY: bool>(format: &SmallFloat, magnitude: __m256i) -> __m256i {
    let least = _mm256_set1_epi32(format.least_field as i32);
    // Added to a magnitude near the least normal number, this leaves it rounded to the format's last digit.
    let unit_sum = _mm256_set1_epi32((format.least_field + (format.lost_bits << 23)) as i32);
    let field = _mm256_and_si256(magnitude, _mm256_set1_epi32(f32::INFINITY.to_bits() as i32));
    let above_least = _mm256_sub_epi32(_mm256_max_epu32(field, least), least);
    let unit_sum = _mm256_add_epi32(above_least, unit_sum);
    // The last bit breaks ties, and changes nothing else: far more than that is rounded off.
    let tie_bit = i32::from(IS_AWAY);
    let number = _mm256_or_si256(magnitude, _mm256_set1_epi32(tie_bit));
    let sum = _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(number), _mm256_castsi256_ps(unit_sum)));
    let units = _mm256_sub_epi32(sum, unit_sum);
    _mm256_add_epi32(units, _mm256_srl_epi32(above_least, _mm_cvtsi32_si128(format.lost_bits as i32)))
}
