//! Floats to integers of up to 16 bits by AVX2's own conversions, behind scaling if that is wanted.

use super::float_lane::Mode;
use super::lane::{Integer, Pass};
use crate::codec::scale_offset::Scaling;
#[cfg(target_arch = "x86_64")]
pub(super) use avx2::{Eight, narrow};

/// Floats of which eight can be converted.
#[cfg(not(target_arch = "x86_64"))]
pub(super) trait Eight {}
#[cfg(not(target_arch = "x86_64"))]
impl Eight for f32 {}
#[cfg(not(target_arch = "x86_64"))]
impl Eight for f64 {}

/// The pass as it is, without the instructions.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn narrow<F: Eight, T: Integer, M: Mode, const CHECKED: bool>(
    _: (i128, i128),
    _: Option<Scaling>,
    general: Box<dyn Pass>,
) -> Box<dyn Pass> {
    general
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    #![expect(unsafe_code, reason = "instructions that the processor was asked for")]

    use super::{Integer, Mode, Pass, Scaling};
    use crate::codec::cast_value::float_lane::Float;
    use crate::codec::cast_value::lane::Entry;
    use crate::data_type::Rounding;
    use crate::simd::Level;
    use std::arch::x86_64::*;
    use std::fmt::Debug;
    use std::marker::PhantomData;

    /// Elements that are narrowed together.
    const GROUP: usize = 32;

    /// A pass to integers of this range, a power of two of them; `T` is as wide as they are stored, and has a sign if
    /// they have. Of maps it does those of every NaN alone, and leaves the others to `general`.
    pub(in crate::codec::cast_value) fn narrow<F: Eight, T: Integer, M: Mode, const CHECKED: bool>(
        (least, most): (i128, i128),
        scaling: Option<Scaling>,
        general: Box<dyn Pass>,
    ) -> Box<dyn Pass> {
        if !Level::Avx2.is_available() || size_of::<T>() > 2 {
            return general;
        }
        let operand = |bits: u64| F::from_bits(F::Bits::truncate(bits));
        Box::new(Narrow::<F, T, M, CHECKED> {
            limits: Limits {
                least: least as i32,
                outside: !(most - least) as i32,
                high: F::from_f64(most as f64),
                offset: operand(scaling.map_or(0, |scaling| scaling.offset)),
                scale: operand(scaling.map_or(0, |scaling| scaling.scale)),
                nan: 0,
            },
            is_scaled: scaling.is_some(),
            maps_nan: false,
            general,
            is_general: false,
            types: PhantomData,
        })
    }

    #[derive(Debug)]
    struct Narrow<F, T, M, const CHECKED: bool> {
        limits: Limits<F>,
        is_scaled: bool,
        maps_nan: bool,
        general: Box<dyn Pass>,
        is_general: bool,
        types: PhantomData<(T, M)>,
    }

    #[derive(Debug, Clone, Copy)]
    pub(in crate::codec::cast_value) struct Limits<F> {
        least: i32,
        /// The bits that no distance from the least has.
        outside: i32,
        /// The largest.
        high: F,
        /// If there is scaling, as the next.
        offset: F,
        scale: F,
        /// What NaN is mapped to, if it is.
        nan: i32,
    }

    impl<F: Eight, T: Integer, M: Mode, const CHECKED: bool> Pass for Narrow<F, T, M, CHECKED> {
        fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
            if self.is_general {
                return self.general.run(input, output);
            }
            // SAFETY: this exists only where the processor has AVX2.
            unsafe {
                match (self.is_scaled, self.maps_nan) {
                    (false, false) => narrow_all::<F, T, M, CHECKED, false, false>(&self.limits, input, output),
                    (false, true) => narrow_all::<F, T, M, CHECKED, false, true>(&self.limits, input, output),
                    (true, false) => narrow_all::<F, T, M, CHECKED, true, false>(&self.limits, input, output),
                    (true, true) => narrow_all::<F, T, M, CHECKED, true, true>(&self.limits, input, output),
                }
            }
        }

        fn set_map(&mut self, map: &[Entry]) {
            match map {
                [entry] if entry.is_every_nan => {
                    self.maps_nan = true;
                    self.limits.nan = entry.mapped as i32;
                }
                _ => self.is_general = true,
            }
            self.general.set_map(map);
        }
    }

    #[target_feature(enable = "avx2")]
    fn narrow_all<F: Eight, T: Integer, M: Mode, const CHECKED: bool, const SCALED: bool, const NAN: bool>(
        limits: &Limits<F>,
        input: &[u8],
        output: &mut [u8],
    ) -> bool {
        let mut faults = _mm256_setzero_si256();
        let mut narrow = |input: &[F::Bytes; GROUP], output: &mut [T::Bytes; GROUP]| {
            let input = input.as_ptr().cast::<F>();
            // SAFETY: eight elements from each place on are inside the group, and the processor has AVX2.
            let (a, b, c, d) = unsafe {
                (
                    F::convert::<M, CHECKED, SCALED, NAN>(limits, input),
                    F::convert::<M, CHECKED, SCALED, NAN>(limits, input.add(8)),
                    F::convert::<M, CHECKED, SCALED, NAN>(limits, input.add(16)),
                    F::convert::<M, CHECKED, SCALED, NAN>(limits, input.add(24)),
                )
            };
            let fault = _mm256_or_si256(_mm256_or_si256(a.1, b.1), _mm256_or_si256(c.1, d.1));
            faults = _mm256_or_si256(faults, fault);
            let (a, b, c, d) = (a.0, b.0, c.0, d.0);
            let output = output.as_mut_ptr().cast::<__m256i>();
            // The packing instructions work on halves; the quarters are put in order behind them.
            if size_of::<T>() == 1 {
                let (ab, cd) = (_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
                let bytes = if T::IS_SIGNED { _mm256_packs_epi16(ab, cd) } else { _mm256_packus_epi16(ab, cd) };
                let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
                // SAFETY: the group has 32 bytes.
                unsafe { _mm256_storeu_si256(output, _mm256_permutevar8x32_epi32(bytes, order)) };
            } else {
                let (ab, cd) = if T::IS_SIGNED {
                    (_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d))
                } else {
                    (_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d))
                };
                // SAFETY: the group has 64 bytes.
                unsafe {
                    _mm256_storeu_si256(output, _mm256_permute4x64_epi64::<0xD8>(ab));
                    _mm256_storeu_si256(output.add(1), _mm256_permute4x64_epi64::<0xD8>(cd));
                }
            }
        };
        let (input, output) = (F::elements(input), T::elements_mut(output));
        let ((inputs, last_input), (outputs, last_output)) =
            (input.as_chunks::<GROUP>(), output.as_chunks_mut::<GROUP>());
        for (input, output) in inputs.iter().zip(outputs) {
            narrow(input, output);
        }
        if let Some(last) = last_input.last() {
            let (mut padded_input, mut padded_output) = ([*last; GROUP], [T::truncate(0).store(); GROUP]);
            padded_input[..last_input.len()].copy_from_slice(last_input);
            narrow(&padded_input, &mut padded_output);
            last_output.copy_from_slice(&padded_output[..last_output.len()]);
        }
        let tested = if CHECKED { _mm256_set1_epi32(limits.outside) } else { _mm256_set1_epi32(-1) };
        _mm256_testz_si256(faults, tested) == 0
    }

    /// Floats of which eight can be converted.
    pub(in crate::codec::cast_value) trait Eight: Float {
        /// Eight integers, and their faults: bits outside the range if they are checked, any bit if they are clamped.
        ///
        /// # Safety
        /// The processor has AVX2, and eight floats can be read from there.
        unsafe fn convert<M: Mode, const CHECKED: bool, const SCALED: bool, const NAN: bool>(
            limits: &Limits<Self>,
            input: *const Self,
        ) -> (__m256i, __m256i);
    }

    impl Eight for f32 {
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn convert<M: Mode, const CHECKED: bool, const SCALED: bool, const NAN: bool>(
            limits: &Limits<f32>,
            input: *const f32,
        ) -> (__m256i, __m256i) {
            // SAFETY: the caller lets eight floats be read, and this load needs no alignment.
            let mut number = unsafe { _mm256_loadu_ps(input) };
            if SCALED {
                let distance = _mm256_sub_ps(number, _mm256_set1_ps(limits.offset));
                number = _mm256_mul_ps(distance, _mm256_set1_ps(limits.scale));
            }
            let finite = if CHECKED { number } else { _mm256_min_ps(number, _mm256_set1_ps(limits.high)) };
            let integers = match M::ROUNDING {
                Rounding::NearestEven => _mm256_cvtps_epi32(finite),
                Rounding::TowardsZero => _mm256_cvttps_epi32(finite),
                Rounding::TowardsPositive => _mm256_cvtps_epi32(_mm256_ceil_ps(finite)),
                Rounding::TowardsNegative => _mm256_cvtps_epi32(_mm256_floor_ps(finite)),
                // The last bit breaks ties, and changes nothing else within 16 bits.
                Rounding::NearestAway => {
                    _mm256_cvtps_epi32(_mm256_or_ps(finite, _mm256_castsi256_ps(_mm256_set1_epi32(1))))
                }
            };
            let not_finite = _mm256_castps_si256(_mm256_sub_ps(number, number));
            let (integers, fault) = checked::<CHECKED, f32>(limits, integers, not_finite);
            if !NAN {
                return (integers, fault);
            }
            let is_nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(number, number));
            mapped(limits, is_nan, integers, fault)
        }
    }

    impl Eight for f64 {
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn convert<M: Mode, const CHECKED: bool, const SCALED: bool, const NAN: bool>(
            limits: &Limits<f64>,
            input: *const f64,
        ) -> (__m256i, __m256i) {
            // SAFETY: the caller lets eight floats be read.
            let (low, high) = unsafe { (scaled::<SCALED>(limits, input), scaled::<SCALED>(limits, input.add(4))) };
            let integers = _mm256_set_m128i(to_i32::<M, CHECKED>(limits, high), to_i32::<M, CHECKED>(limits, low));
            let (low_rest, high_rest) = (_mm256_sub_pd(low, low), _mm256_sub_pd(high, high));
            if NAN {
                let not_finite = upper_halves(low_rest, high_rest);
                let is_low_nan = _mm256_cmp_pd::<_CMP_UNORD_Q>(low, low);
                let is_high_nan = _mm256_cmp_pd::<_CMP_UNORD_Q>(high, high);
                let (integers, fault) = checked::<CHECKED, f64>(limits, integers, not_finite);
                return mapped(limits, upper_halves(is_low_nan, is_high_nan), integers, fault);
            }
            let not_finite = _mm256_castpd_si256(_mm256_or_pd(low_rest, high_rest));
            checked::<CHECKED, f64>(limits, integers, not_finite)
        }
    }

    /// Four numbers, scaled if that is wanted.
    ///
    /// # Safety
    /// Four can be read from there.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn scaled<const SCALED: bool>(limits: &Limits<f64>, input: *const f64) -> __m256d {
        // SAFETY: the caller lets four be read, and this load needs no alignment.
        let number = unsafe { _mm256_loadu_pd(input) };
        if !SCALED {
            return number;
        }
        let distance = _mm256_sub_pd(number, _mm256_set1_pd(limits.offset));
        _mm256_mul_pd(distance, _mm256_set1_pd(limits.scale))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn to_i32<M: Mode, const CHECKED: bool>(limits: &Limits<f64>, number: __m256d) -> __m128i {
        let number = if CHECKED { number } else { _mm256_min_pd(number, _mm256_set1_pd(limits.high)) };
        match M::ROUNDING {
            Rounding::NearestEven => _mm256_cvtpd_epi32(number),
            Rounding::TowardsZero => _mm256_cvttpd_epi32(number),
            Rounding::TowardsPositive => _mm256_cvtpd_epi32(_mm256_ceil_pd(number)),
            Rounding::TowardsNegative => _mm256_cvtpd_epi32(_mm256_floor_pd(number)),
            // The last bit breaks ties, and changes nothing else within 16 bits.
            Rounding::NearestAway => {
                _mm256_cvtpd_epi32(_mm256_or_pd(number, _mm256_castsi256_pd(_mm256_set1_epi64x(1))))
            }
        }
    }

    /// The upper 32 bits of each.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn upper_halves(low: __m256d, high: __m256d) -> __m256i {
        let mixed = _mm256_shuffle_ps::<0xDD>(_mm256_castpd_ps(low), _mm256_castpd_ps(high));
        _mm256_permute4x64_epi64::<0xD8>(_mm256_castps_si256(mixed))
    }

    /// Integers within the range, and their faults. What no `i32` holds has become the least one.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn checked<const CHECKED: bool, F>(
        limits: &Limits<F>,
        integers: __m256i,
        not_finite: __m256i,
    ) -> (__m256i, __m256i) {
        let least = _mm256_set1_epi32(limits.least);
        if CHECKED {
            (integers, _mm256_sub_epi32(integers, least))
        } else {
            (_mm256_max_epi32(integers, least), not_finite)
        }
    }

    /// The integers, and what NaN is mapped to where there is one.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mapped<F>(limits: &Limits<F>, is_nan: __m256i, integers: __m256i, fault: __m256i) -> (__m256i, __m256i) {
        (_mm256_blendv_epi8(integers, _mm256_set1_epi32(limits.nan), is_nan), _mm256_andnot_si256(is_nan, fault))
    }
}
