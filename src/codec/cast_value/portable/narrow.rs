//! Floats to narrower floats.

use super::float::{Float, RoundingMode, directed, with_mode};
use super::float64_to_float32;
use super::lane::Integer;
use super::loops::{Convert, each, fault};
use crate::codec::cast_value::kernel::{Kernel, optimistic};
use crate::codec::cast_value::reference::{Cast, OutOfRange};
use crate::codec::cast_value::tiers::Kernels;
use crate::data_type::Component;
use crate::number::{FloatFormat, FloatId, Rounding, Special, round_to_bfloat16};
use std::marker::PhantomData;

/// The properties of a format that the AVX2 kernel for floats of up to 8 bits needs.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only used on x86-64"))]
pub(in crate::codec::cast_value) struct SmallFloat {
    /// The largest number, as the bits of an `f32`.
    pub(in crate::codec::cast_value) largest: u32,
    /// The exponent field of the least normal number, in place in the bits of an `f32`.
    pub(in crate::codec::cast_value) least_field: u32,
    /// The digits of an `f32` that are rounded off.
    pub(in crate::codec::cast_value) lost_bits: u32,
    /// The bits of the format.
    pub(in crate::codec::cast_value) bits: u32,
}

/// The kernel from lanes of `f32`, whatever type they were widened from, to a format with a narrower range and fewer
/// digits. `None` for `float8_e8m0fnu`.
pub(in crate::codec::cast_value) fn from_f32(cast: &Cast, tier: &Kernels) -> Option<Box<dyn Kernel>> {
    let (format, is_clamped) = target(cast)?;
    Some(match format.id {
        FloatId::Bfloat16 => with_mode!(cast.rounding, M => {
            let mode = PhantomData::<M>;
            optimistic(each(QuickBfloat16(mode)), each(ToBfloat16 { is_clamped, mode }))
        }),
        FloatId::Float16 => with_mode!(cast.rounding, M => {
            let quick = (tier.narrow_float16)(cast.rounding);
            let quick = quick.unwrap_or_else(|| each(NarrowFloat::<f32, u16, M, true>::new(format, is_clamped)));
            optimistic(quick, each(NarrowFloat::<f32, u16, M, false>::new(format, is_clamped)))
        }),
        _ if format.special == Special::Fnuz => portable::<f32, u8>(format, is_clamped, cast.rounding),
        _ => with_mode!(cast.rounding, M => {
            let portable = NarrowFloat::<f32, u8, M, true>::new(format, is_clamped);
            let quick = (tier.narrow_small_float)(portable.small_float(format), cast.rounding);
            let thorough = each(NarrowFloat::<f32, u8, M, false>::new(format, is_clamped));
            optimistic(quick.unwrap_or_else(|| each(portable)), thorough)
        }),
    })
}

/// The same from lanes of `f64`.
pub(in crate::codec::cast_value) fn from_f64(cast: &Cast) -> Option<Box<dyn Kernel>> {
    let (format, is_clamped) = target(cast)?;
    Some(match (format.id, format.bits) {
        (FloatId::Float32, _) => float64_to_float32::kernel(cast.rounding, is_clamped),
        (_, 16) => portable::<f64, u16>(format, is_clamped, cast.rounding),
        _ => portable::<f64, u8>(format, is_clamped, cast.rounding),
    })
}

/// The format, and whether numbers above it become its largest.
fn target(cast: &Cast) -> Option<(&'static FloatFormat, bool)> {
    let Component::Float(format) = cast.target else { return None };
    (format.special != Special::Fnu).then_some((format, cast.out_of_range == OutOfRange::Clamp))
}

fn portable<F: Float, T: Integer>(format: &FloatFormat, is_clamped: bool, rounding: Rounding) -> Box<dyn Kernel> {
    with_mode!(rounding, M => {
        let thorough = each(NarrowFloat::<F, T, M, false>::new(format, is_clamped));
        match format.special {
            Special::Fnuz => thorough,
            _ => optimistic(each(NarrowFloat::<F, T, M, true>::new(format, is_clamped)), thorough),
        }
    })
}

/// The lane's own addition rounds: the last digit of `unit_sum` is the last digit of the format at this magnitude. The
/// quick variant refuses numbers above the largest of the format.
#[derive(Debug, Clone, Copy)]
struct NarrowFloat<F: Float, T, M, const IS_QUICK: bool> {
    /// The largest number of the format.
    limit: F::Bits,
    /// The least power of two above the format; larger magnitudes become it.
    cap: F::Bits,
    /// The lane's exponent field of the format's least normal number.
    least_field: F::Bits,
    field_shift: u32,
    largest: F::Bits,
    overflow: F::Bits,
    nan: F::Bits,
    sign_bit: F::Bits,
    sign_shift: u32,
    has_negative_zero: bool,
    /// The magnitudes, among those above the largest, that are faults.
    first_fault: F::Bits,
    last_fault: F::Bits,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

impl<F: Float, T, M, const IS_QUICK: bool> NarrowFloat<F, T, M, IS_QUICK> {
    const INFINITY: u64 = ((2 * F::BIAS + 1) as u64) << F::MANTISSA_BITS;
    const MAGNITUDE: u64 = Self::INFINITY | ((1 << F::MANTISSA_BITS) - 1);

    fn new(format: &FloatFormat, is_clamped: bool) -> Self {
        let bits = F::Bits::truncate;
        let largest = format.largest_finite();
        let largest_exponent = (largest >> format.mantissa_bits) as i32 - format.bias;
        let field = |exponent: i32| bits(((exponent + F::BIAS) as u64) << F::MANTISSA_BITS);
        let last_fault = match (format.nan(), format.infinity(false)) {
            (None, _) => Self::MAGNITUDE,
            (_, None) => Self::INFINITY,
            _ => Self::INFINITY - 1,
        };
        Self {
            limit: F::from_f64(format.to_f64(largest)).bits(),
            cap: field(largest_exponent + 1),
            least_field: field(1 - format.bias),
            field_shift: F::MANTISSA_BITS - format.mantissa_bits,
            largest: bits(largest),
            overflow: bits(format.infinity(false).unwrap_or(largest)),
            nan: bits(format.nan().unwrap_or(0)),
            sign_bit: bits(format.sign_bit()),
            sign_shift: F::Bits::BITS - format.bits,
            has_negative_zero: format.special != Special::Fnuz,
            first_fault: bits(if is_clamped { Self::INFINITY } else { 0 }),
            last_fault: bits(last_fault),
            to: PhantomData,
            mode: PhantomData,
        }
    }
}

impl<F: Float, T, M> NarrowFloat<F, T, M, true> {
    fn small_float(&self, format: &FloatFormat) -> SmallFloat {
        SmallFloat {
            largest: self.limit.extend() as u32,
            least_field: self.least_field.extend() as u32,
            lost_bits: self.field_shift,
            bits: format.bits,
        }
    }
}

impl<F: Float, T: Integer, M: RoundingMode, const IS_QUICK: bool> Convert for NarrowFloat<F, T, M, IS_QUICK> {
    type Source = F;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: F) -> (T, F::Bits) {
        let (zero, infinity) = (F::Bits::truncate(0), F::Bits::truncate(Self::INFINITY));
        let bits = element.bits();
        let magnitude = bits & F::Bits::truncate(Self::MAGNITUDE);
        let capped = if IS_QUICK { magnitude } else { magnitude.min(self.cap) };
        let field = (capped & infinity).max(self.least_field);
        // The last bit breaks ties, and changes nothing else: far more than that is rounded off.
        let tie_bit = F::Bits::truncate(u64::from(M::ROUNDING == Rounding::NearestAway));
        let number = F::from_bits(capped | tie_bit);
        let unit_sum = F::from_bits(field.plus(F::Bits::truncate(u64::from(self.field_shift)) << F::MANTISSA_BITS));
        let sum = number + unit_sum;
        let nearest = sum - unit_sum;
        let step = directed::<M, F>(number, nearest, bits != magnitude);
        let units = sum.bits().minus(unit_sum.bits()).plus(F::Bits::truncate(step));
        let rounded = units.plus(field.minus(self.least_field) >> self.field_shift);
        let sign = (bits >> self.sign_shift) & self.sign_bit;
        if IS_QUICK {
            return (T::truncate((rounded | sign).extend()), fault(magnitude.is_above(self.limit)));
        }
        let is_over = rounded > self.largest;
        let unsigned = if is_over { self.overflow } else { rounded };
        let signed = if self.has_negative_zero | (unsigned != zero) { unsigned | sign } else { zero };
        let converted = if magnitude > infinity { self.nan } else { signed };
        let is_fault = is_over & (magnitude >= self.first_fault) & (magnitude <= self.last_fault);
        (T::truncate(converted.extend()), fault(is_fault))
    }
}

/// The upper half of an `f32`, rounded.
#[inline(always)]
fn upper_half<M: RoundingMode>(element: f32) -> u16 {
    (round_to_bfloat16(element.to_bits(), M::ROUNDING) >> 16) as u16
}

/// Refuses numbers above the largest `bfloat16`.
#[derive(Debug, Clone, Copy)]
struct QuickBfloat16<M>(PhantomData<M>);

impl<M: RoundingMode> Convert for QuickBfloat16<M> {
    type Source = f32;
    type Target = u16;

    #[inline(always)]
    fn convert(&self, element: f32) -> (u16, u32) {
        const LARGEST: u32 = 0x7F7F_0000;
        (upper_half::<M>(element), fault((element.to_bits() & 0x7FFF_FFFF).is_above(LARGEST)))
    }
}

#[derive(Debug, Clone, Copy)]
struct ToBfloat16<M> {
    is_clamped: bool,
    mode: PhantomData<M>,
}

impl<M: RoundingMode> Convert for ToBfloat16<M> {
    type Source = f32;
    type Target = u16;

    #[inline(always)]
    fn convert(&self, element: f32) -> (u16, u32) {
        const INFINITY: u16 = 0x7F80;
        let half = upper_half::<M>(element);
        let becomes_infinite = element.is_finite() & ((half & 0x7FFF) >= INFINITY);
        (if element.is_nan() { 0x7FC0 } else { half }, fault(becomes_infinite & !self.is_clamped))
    }
}
