//! Floats to integers of up to 16 bits by AVX2's own conversions, after scaling if asked.

use crate::codec::cast_value::kernel::{Entry, Kernel};
use crate::codec::cast_value::portable::float::{Float, RoundingMode, with_mode};
use crate::codec::cast_value::portable::float_to_integer::ToInteger;
use crate::codec::cast_value::portable::lane::Integer;
use crate::codec::cast_value::portable::scaled::operand;
use crate::codec::cast_value::reference::OutOfRange;
use crate::number::{FloatId, Formula, Rounding, Scaling, integer_range};
use crate::simd::for_each_group;
use std::arch::x86_64::*;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{Mul, Sub};

/// Elements that are converted together.
const GROUP: usize = 32;

/// The kernel for integers of up to 16 bits that are checked or clamped; `portable` for all else, and for scalar maps
/// other than one entry for every NaN.
pub(in crate::codec::cast_value) fn kernel(to: &ToInteger, portable: Box<dyn Kernel>) -> Box<dyn Kernel> {
    if to.bits > 16 || to.out_of_range == OutOfRange::Wrap {
        return portable;
    }
    with_mode!(to.rounding, M => match (to.source, to.out_of_range) {
        (FloatId::Float32, OutOfRange::Clamp) => to_size::<f32, M, false>(to, portable),
        (FloatId::Float32, _) => to_size::<f32, M, true>(to, portable),
        (_, OutOfRange::Clamp) => to_size::<f64, M, false>(to, portable),
        _ => to_size::<f64, M, true>(to, portable),
    })
}

fn to_size<F: Eight, M: RoundingMode, const CHECKED: bool>(
    to: &ToInteger,
    portable: Box<dyn Kernel>,
) -> Box<dyn Kernel> {
    match (to.bits, to.signed) {
        (..=8, false) => FloatToInteger::<F, u8, M, CHECKED>::boxed(to, portable),
        (..=8, true) => FloatToInteger::<F, i8, M, CHECKED>::boxed(to, portable),
        (_, false) => FloatToInteger::<F, u16, M, CHECKED>::boxed(to, portable),
        (_, true) => FloatToInteger::<F, i16, M, CHECKED>::boxed(to, portable),
    }
}

/// `T` is as wide as the integers are stored, and signed if they are.
#[derive(Debug)]
struct FloatToInteger<F, T, M, const CHECKED: bool> {
    limits: IntegerLimits<F>,
    is_scaled: bool,
    maps_nan: bool,
    portable: Box<dyn Kernel>,
    is_portable: bool,
    types: PhantomData<(T, M)>,
}

#[derive(Debug, Clone, Copy)]
struct IntegerLimits<F> {
    least: i32,
    /// The bits that no distance from the least has.
    outside: i32,
    /// The largest.
    high: F,
    /// Zeros without scaling.
    scaling: Scaling<F>,
    /// The value that NaN is mapped to, if it is.
    nan: i32,
}

impl<F: Eight, T: Integer, M: RoundingMode, const CHECKED: bool> FloatToInteger<F, T, M, CHECKED> {
    fn boxed(to: &ToInteger, portable: Box<dyn Kernel>) -> Box<dyn Kernel> {
        let (least, most) = integer_range(to.bits, to.signed);
        let limits = IntegerLimits {
            least: least as i32,
            outside: !(most - least) as i32,
            high: F::from_f64(most as f64),
            scaling: to.scaling.unwrap_or(Scaling { offset: 0, scale: 0 }).map(operand),
            nan: 0,
        };
        let is_scaled = to.scaling.is_some();
        Box::new(Self { limits, is_scaled, maps_nan: false, portable, is_portable: false, types: PhantomData })
    }
}

impl<F: Eight, T: Integer, M: RoundingMode, const CHECKED: bool> Kernel for FloatToInteger<F, T, M, CHECKED> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        if self.is_portable {
            return self.portable.run(input, output);
        }
        let (input, output) = (F::elements(input), T::elements_mut(output));
        // SAFETY: the table of tiers gives this kernel only where the processor has AVX2.
        unsafe {
            match (self.is_scaled, self.maps_nan) {
                (false, false) => narrow_all::<F, T, M, CHECKED, false, false>(&self.limits, input, output),
                (false, true) => narrow_all::<F, T, M, CHECKED, false, true>(&self.limits, input, output),
                (true, false) => narrow_all::<F, T, M, CHECKED, true, false>(&self.limits, input, output),
                (true, true) => narrow_all::<F, T, M, CHECKED, true, true>(&self.limits, input, output),
            }
        }
    }

    fn output_size(&self) -> usize {
        size_of::<T>()
    }

    fn set_map(&mut self, map: &[Entry]) {
        match map {
            [entry] if entry.is_every_nan => {
                self.maps_nan = true;
                self.limits.nan = entry.mapped as i32;
            }
            _ => self.is_portable = true,
        }
        self.portable.set_map(map);
    }
}

#[target_feature(enable = "avx2")]
fn narrow_all<F: Eight, T: Integer, M: RoundingMode, const CHECKED: bool, const SCALED: bool, const NAN: bool>(
    limits: &IntegerLimits<F>,
    input: &[F::Bytes],
    output: &mut [T::Bytes],
) -> bool {
    let mut faults = _mm256_setzero_si256();
    let blank = T::truncate(0).store();
    for_each_group(input, output, blank, |input: &[F::Bytes; GROUP], output: &mut [T::Bytes; GROUP]| {
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
        // The packing instructions work on each half of a register; the permutations restore the order.
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
    });
    let tested = if CHECKED { _mm256_set1_epi32(limits.outside) } else { _mm256_set1_epi32(-1) };
    _mm256_testz_si256(faults, tested) == 0
}

/// Floats, eight of which are converted at a time.
trait Eight: Float {
    /// Eight integers and their faults: bits outside the range if they are checked, any bit if they are clamped.
    ///
    /// # Safety
    /// The processor has AVX2, and eight floats can be read from there.
    unsafe fn convert<M: RoundingMode, const CHECKED: bool, const SCALED: bool, const NAN: bool>(
        limits: &IntegerLimits<Self>,
        input: *const Self,
    ) -> (__m256i, __m256i);
}

impl Eight for f32 {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn convert<M: RoundingMode, const CHECKED: bool, const SCALED: bool, const NAN: bool>(
        limits: &IntegerLimits<f32>,
        input: *const f32,
    ) -> (__m256i, __m256i) {
        // SAFETY: the caller lets eight floats be read, and this load needs no alignment.
        let mut number = unsafe { _mm256_loadu_ps(input) };
        if SCALED {
            number = limits.scaling.map(|operand| F32x8(_mm256_set1_ps(operand))).encode().apply(F32x8(number)).0;
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
    unsafe fn convert<M: RoundingMode, const CHECKED: bool, const SCALED: bool, const NAN: bool>(
        limits: &IntegerLimits<f64>,
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

/// Four numbers, scaled if asked.
///
/// # Safety
/// Four can be read from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn scaled<const SCALED: bool>(limits: &IntegerLimits<f64>, input: *const f64) -> __m256d {
    // SAFETY: the caller lets four be read, and this load needs no alignment.
    let number = unsafe { _mm256_loadu_pd(input) };
    if !SCALED {
        return number;
    }
    limits.scaling.map(|operand| F64x4(_mm256_set1_pd(operand))).encode().apply(F64x4(number)).0
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_i32<M: RoundingMode, const CHECKED: bool>(limits: &IntegerLimits<f64>, number: __m256d) -> __m128i {
    let number = if CHECKED { number } else { _mm256_min_pd(number, _mm256_set1_pd(limits.high)) };
    match M::ROUNDING {
        Rounding::NearestEven => _mm256_cvtpd_epi32(number),
        Rounding::TowardsZero => _mm256_cvttpd_epi32(number),
        Rounding::TowardsPositive => _mm256_cvtpd_epi32(_mm256_ceil_pd(number)),
        Rounding::TowardsNegative => _mm256_cvtpd_epi32(_mm256_floor_pd(number)),
        // The last bit breaks ties, and changes nothing else within 16 bits.
        Rounding::NearestAway => _mm256_cvtpd_epi32(_mm256_or_pd(number, _mm256_castsi256_pd(_mm256_set1_epi64x(1)))),
    }
}

/// The upper 32 bits of each.
#[inline]
#[target_feature(enable = "avx2")]
fn upper_halves(low: __m256d, high: __m256d) -> __m256i {
    let mixed = _mm256_shuffle_ps::<0xDD>(_mm256_castpd_ps(low), _mm256_castpd_ps(high));
    _mm256_permute4x64_epi64::<0xD8>(_mm256_castps_si256(mixed))
}

/// Integers within the range, and their faults. Numbers that no `i32` holds have become the least `i32`.
#[inline]
#[target_feature(enable = "avx2")]
fn checked<const CHECKED: bool, F>(
    limits: &IntegerLimits<F>,
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

/// The integers, with NaNs replaced by what they are mapped to.
#[inline]
#[target_feature(enable = "avx2")]
fn mapped<F>(limits: &IntegerLimits<F>, is_nan: __m256i, integers: __m256i, fault: __m256i) -> (__m256i, __m256i) {
    (_mm256_blendv_epi8(integers, _mm256_set1_epi32(limits.nan), is_nan), _mm256_andnot_si256(is_nan, fault))
}

/// Eight numbers for the formulas of [`Scaling`]. Used only where AVX2 is enabled.
#[derive(Clone, Copy)]
struct F32x8(__m256);

impl Sub for F32x8 {
    type Output = Self;

    #[inline(always)] // where AVX2 is enabled
    fn sub(self, other: Self) -> Self {
        // SAFETY: a value of this type exists only where AVX2 is enabled.
        Self(unsafe { _mm256_sub_ps(self.0, other.0) })
    }
}

impl Mul for F32x8 {
    type Output = Self;

    #[inline(always)] // where AVX2 is enabled
    fn mul(self, other: Self) -> Self {
        // SAFETY: a value of this type exists only where AVX2 is enabled.
        Self(unsafe { _mm256_mul_ps(self.0, other.0) })
    }
}

/// Four numbers for the formulas of [`Scaling`]. Used only where AVX2 is enabled.
#[derive(Clone, Copy)]
struct F64x4(__m256d);

impl Sub for F64x4 {
    type Output = Self;

    #[inline(always)] // where AVX2 is enabled
    fn sub(self, other: Self) -> Self {
        // SAFETY: a value of this type exists only where AVX2 is enabled.
        Self(unsafe { _mm256_sub_pd(self.0, other.0) })
    }
}

impl Mul for F64x4 {
    type Output = Self;

    #[inline(always)] // where AVX2 is enabled
    fn mul(self, other: Self) -> Self {
        // SAFETY: a value of this type exists only where AVX2 is enabled.
        Self(unsafe { _mm256_mul_pd(self.0, other.0) })
    }
}
