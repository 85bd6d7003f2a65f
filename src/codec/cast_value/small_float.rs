//! `f32` to floats of up to 8 bits, rounded to nearest, by AVX2: as the loop of [`to_float`](super::to_float) does it, but
//! 32 numbers are packed together, and so are their signs.

use super::float_lane::Mode;
use super::lane::Pass;
#[cfg(target_arch = "x86_64")]
pub(super) use avx2::narrow;

/// What the loop has to know of a format.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "nothing is done with it"))]
pub(super) struct SmallFloat {
    /// The largest number, as all bits of an `f32`.
    pub(super) largest: u32,
    /// The exponent field of an `f32` that is the least normal number.
    pub(super) least_field: u32,
    /// The digits of an `f32` that are rounded off.
    pub(super) lost_bits: u32,
    /// The bits of the format.
    pub(super) bits: u32,
}

/// No pass without the instructions.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn narrow<M: Mode>(_: SmallFloat) -> Option<Box<dyn Pass>> {
    None
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    #![expect(unsafe_code, reason = "instructions that the processor was asked for")]

    use super::{Mode, Pass, SmallFloat};
    use crate::codec::cast_value::lane::Entry;
    use crate::data_type::Rounding;
    use crate::simd::Level;
    use std::arch::x86_64::*;
    use std::marker::PhantomData;

    /// Numbers that are packed together.
    const GROUP: usize = 32;

    /// For numbers up to the largest of the format; refuses others. None for directed modes.
    pub(in crate::codec::cast_value) fn narrow<M: Mode>(format: SmallFloat) -> Option<Box<dyn Pass>> {
        let is_nearest = matches!(M::ROUNDING, Rounding::NearestEven | Rounding::NearestAway);
        (is_nearest && Level::Avx2.is_available())
            .then(|| -> Box<dyn Pass> { Box::new(Narrow(format, PhantomData::<M>)) })
    }

    #[derive(Debug)]
    struct Narrow<M>(SmallFloat, PhantomData<M>);

    impl<M: Mode> Pass for Narrow<M> {
        fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
            // SAFETY: this exists only where the processor has AVX2.
            unsafe { narrow_all::<M>(&self.0, input, output) }
        }

        /// Never under a map.
        fn set_map(&mut self, _: &[Entry]) {}
    }

    #[target_feature(enable = "avx2")]
    fn narrow_all<M: Mode>(format: &SmallFloat, input: &[u8], output: &mut [u8]) -> bool {
        let to_sign = _mm_cvtsi32_si128(8 - format.bits as i32);
        let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        let mut largest = _mm256_setzero_si256();
        let mut narrow = |input: &[[u8; 4]; GROUP], output: &mut [u8; GROUP]| {
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
            let low = _mm256_packs_epi32(rounded::<M>(format, a), rounded::<M>(format, b));
            let high = _mm256_packs_epi32(rounded::<M>(format, c), rounded::<M>(format, d));
            let bytes = _mm256_or_si256(_mm256_packus_epi16(low, high), signs);
            // The packing instructions work on halves; the quarters are put in order behind them.
            let bytes = _mm256_permutevar8x32_epi32(bytes, order);
            // SAFETY: the group has 32 bytes, and this store needs no alignment.
            unsafe { _mm256_storeu_si256(output.as_mut_ptr().cast(), bytes) };
        };
        let ((inputs, last_input), (outputs, last_output)) = (input.as_chunks().0.as_chunks(), output.as_chunks_mut());
        for (input, output) in inputs.iter().zip(outputs) {
            narrow(input, output);
        }
        let (mut padded_input, mut padded_output) = ([[0; 4]; GROUP], [0; GROUP]);
        padded_input[..last_input.len()].copy_from_slice(last_input);
        narrow(&padded_input, &mut padded_output);
        last_output.copy_from_slice(&padded_output[..last_output.len()]);
        let is_over = _mm256_cmpgt_epi32(largest, _mm256_set1_epi32(format.largest as i32));
        _mm256_movemask_epi8(is_over) != 0
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn magnitude(number: __m256i) -> __m256i {
        _mm256_and_si256(number, _mm256_set1_epi32(i32::MAX))
    }

    /// The format's bits of eight numbers of which none is over the largest.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn rounded<M: Mode>(format: &SmallFloat, magnitude: __m256i) -> __m256i {
        let least = _mm256_set1_epi32(format.least_field as i32);
        // The number whose last digit is the last digit of the format, beside the least normal number.
        let unit_sum = _mm256_set1_epi32((format.least_field + (format.lost_bits << 23)) as i32);
        let field = _mm256_and_si256(magnitude, _mm256_set1_epi32(f32::INFINITY.to_bits() as i32));
        let above_least = _mm256_sub_epi32(_mm256_max_epu32(field, least), least);
        let unit_sum = _mm256_add_epi32(above_least, unit_sum);
        // The last bit breaks ties, and changes nothing else: far more than that is rounded off.
        let tie_bit = i32::from(M::ROUNDING == Rounding::NearestAway);
        let number = _mm256_or_si256(magnitude, _mm256_set1_epi32(tie_bit));
        let sum = _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(number), _mm256_castsi256_ps(unit_sum)));
        let units = _mm256_sub_epi32(sum, unit_sum);
        _mm256_add_epi32(units, _mm256_srl_epi32(above_least, _mm_cvtsi32_si128(format.lost_bits as i32)))
    }
}
