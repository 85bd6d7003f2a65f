//! `float16` by the instructions for it, F16C.

use super::float_lane::Mode;
use super::lane::Pass;
#[cfg(target_arch = "x86_64")]
pub(super) use f16c::{narrow, widen};

/// No pass without the instructions.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn narrow<M: Mode>() -> Option<Box<dyn Pass>> {
    None
}

/// No pass without the instructions.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn widen() -> Option<Box<dyn Pass>> {
    None
}

#[cfg(target_arch = "x86_64")]
mod f16c {
    #![expect(unsafe_code, reason = "instructions that the processor was asked for")]

    use super::{Mode, Pass};
    use crate::codec::cast_value::lane::Entry;
    use crate::data_type::Rounding;
    use crate::simd::Level;
    use std::arch::x86_64::*;
    use std::marker::PhantomData;

    /// `f32` to `float16`, for numbers up to the largest of them; refuses others.
    pub(in crate::codec::cast_value) fn narrow<M: Mode>() -> Option<Box<dyn Pass>> {
        Level::Avx2.is_available().then(|| -> Box<dyn Pass> { Box::new(Narrow(PhantomData::<M>)) })
    }

    /// `float16` to `f32`; refuses NaN.
    pub(in crate::codec::cast_value) fn widen() -> Option<Box<dyn Pass>> {
        Level::Avx2.is_available().then(|| -> Box<dyn Pass> { Box::new(Widen) })
    }

    #[derive(Debug)]
    struct Narrow<M>(PhantomData<M>);

    impl<M: Mode> Pass for Narrow<M> {
        fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
            // SAFETY: this exists only where the processor has AVX2 and F16C.
            unsafe {
                match M::ROUNDING {
                    Rounding::NearestEven => narrow_all::<_MM_FROUND_TO_NEAREST_INT, false>(input, output),
                    // The last bit breaks ties, and changes nothing else.
                    Rounding::NearestAway => narrow_all::<_MM_FROUND_TO_NEAREST_INT, true>(input, output),
                    Rounding::TowardsZero => narrow_all::<_MM_FROUND_TO_ZERO, false>(input, output),
                    Rounding::TowardsPositive => narrow_all::<_MM_FROUND_TO_POS_INF, false>(input, output),
                    Rounding::TowardsNegative => narrow_all::<_MM_FROUND_TO_NEG_INF, false>(input, output),
                }
            }
        }

        /// Never under a map.
        fn set_map(&mut self, _: &[Entry]) {}
    }

    #[target_feature(enable = "avx2,f16c")]
    fn narrow_all<const ROUNDING: i32, const SETS_LAST_BIT: bool>(input: &[u8], output: &mut [u8]) -> bool {
        let last_bit = _mm256_castsi256_ps(_mm256_set1_epi32(i32::from(SETS_LAST_BIT)));
        let mut largest = _mm256_setzero_si256();
        let mut narrow = |input: &[u8; 32], output: &mut [u8; 16]| {
            // SAFETY: `input` is 32 readable bytes, and this load needs no alignment.
            let numbers = unsafe { _mm256_loadu_ps(input.as_ptr().cast()) };
            // Integers are in the order of the magnitudes that they are the bits of, and NaN is above all.
            let magnitudes = _mm256_and_si256(_mm256_castps_si256(numbers), _mm256_set1_epi32(i32::MAX));
            largest = _mm256_max_epu32(largest, magnitudes);
            let halves = _mm256_cvtps_ph::<ROUNDING>(_mm256_or_ps(numbers, last_bit));
            // SAFETY: `output` is 16 writable bytes, and this store needs no alignment.
            unsafe { _mm_storeu_si128(output.as_mut_ptr().cast(), halves) };
        };
        let ((inputs, last_input), (outputs, last_output)) = (input.as_chunks(), output.as_chunks_mut());
        for (input, output) in inputs.iter().zip(outputs) {
            narrow(input, output);
        }
        let (mut padded_input, mut padded_output) = ([0; 32], [0; 16]);
        padded_input[..last_input.len()].copy_from_slice(last_input);
        narrow(&padded_input, &mut padded_output);
        last_output.copy_from_slice(&padded_output[..last_output.len()]);
        let is_over = _mm256_cmpgt_epi32(largest, _mm256_set1_epi32(65504_f32.to_bits() as i32));
        _mm256_movemask_epi8(is_over) != 0
    }

    #[derive(Debug)]
    struct Widen;

    impl Pass for Widen {
        fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
            // SAFETY: this exists only where the processor has AVX2 and F16C.
            unsafe { widen_all(input, output) }
        }

        /// Never under a map.
        fn set_map(&mut self, _: &[Entry]) {}
    }

    #[target_feature(enable = "avx2,f16c")]
    fn widen_all(input: &[u8], output: &mut [u8]) -> bool {
        let mut faults = _mm256_setzero_ps();
        let mut widen = |input: &[u8; 16], output: &mut [u8; 32]| {
            // SAFETY: `input` is 16 readable bytes, and this load needs no alignment.
            let numbers = _mm256_cvtph_ps(unsafe { _mm_loadu_si128(input.as_ptr().cast()) });
            faults = _mm256_or_ps(faults, _mm256_cmp_ps::<_CMP_UNORD_Q>(numbers, numbers));
            // SAFETY: `output` is 32 writable bytes, and this store needs no alignment.
            unsafe { _mm256_storeu_ps(output.as_mut_ptr().cast(), numbers) };
        };
        let ((inputs, last_input), (outputs, last_output)) = (input.as_chunks(), output.as_chunks_mut());
        for (input, output) in inputs.iter().zip(outputs) {
            widen(input, output);
        }
        let (mut padded_input, mut padded_output) = ([0; 16], [0; 32]);
        padded_input[..last_input.len()].copy_from_slice(last_input);
        widen(&padded_input, &mut padded_output);
        last_output.copy_from_slice(&padded_output[..last_output.len()]);
        _mm256_movemask_ps(faults) != 0
    }
}
