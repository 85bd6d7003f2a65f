//! Floats to narrower floats.

use super::float_lane::{Float, Mode, WithMode, correction, with_mode};
use super::lane::{Convert, Integer, Pass, each};
use super::reference::{Cast, OutOfRange};
use crate::data_type::{Component, FloatFormat, Rounding, Special};
use std::marker::PhantomData;

/// The pass from lanes of `F`, whatever type they were widened from, to a format that is narrower than them in range
/// and digits. None for `float8_e8m0fnu`.
pub(super) fn pass<F: Float>(cast: &Cast) -> Option<Box<dyn Pass>> {
    let Component::Float(format) = cast.target else { return None };
    if format.special == Special::Fnu {
        return None;
    }
    let is_clamped = cast.out_of_range == OutOfRange::Clamp;
    Some(with_mode(cast.rounding, Pick { format, is_clamped, from: PhantomData::<F> }))
}

struct Pick<F> {
    format: &'static FloatFormat,
    is_clamped: bool,
    from: PhantomData<F>,
}

impl<F: Float> WithMode for Pick<F> {
    type Output = Box<dyn Pass>;

    fn with<M: Mode>(self) -> Box<dyn Pass> {
        match (self.format.name, F::MANTISSA_BITS) {
            ("bfloat16", 23) => each(ToBfloat16 { is_clamped: self.is_clamped, mode: PhantomData::<M> }),
            ("float32", _) if M::ROUNDING == Rounding::NearestEven => each(ToF32 { is_clamped: self.is_clamped }),
            ("float32", _) => each(Narrow::<F, u32, M>::new(&self)),
            _ if self.format.bits == 16 => each(Narrow::<F, u16, M>::new(&self)),
            _ => each(Narrow::<F, u8, M>::new(&self)),
        }
    }
}

/// The lane's own addition does the rounding: `unit_sum` is so large that its last digit is the last digit of the
/// format at this magnitude.
#[derive(Debug, Clone, Copy)]
struct Narrow<F: Float, T, M> {
    /// The least power of two above the format; larger magnitudes become it.
    cap: F::Bits,
    /// The lane's exponent field of the format's least normal number.
    least_field: F::Bits,
    field_shift: u32,
    half_unit: F,
    largest: F::Bits,
    overflow: F::Bits,
    nan: F::Bits,
    sign_bit: F::Bits,
    sign_shift: u32,
    has_negative_zero: bool,
    /// The magnitudes without an image, of those over the largest.
    first_bad: F::Bits,
    last_bad: F::Bits,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

impl<F: Float, T, M> Narrow<F, T, M> {
    const INFINITY: u64 = ((2 * F::BIAS + 1) as u64) << F::MANTISSA_BITS;
    const MAGNITUDE: u64 = Self::INFINITY | ((1 << F::MANTISSA_BITS) - 1);

    fn new(pick: &Pick<F>) -> Self {
        let format = pick.format;
        let bits = F::Bits::truncate;
        let largest = format.largest_finite();
        let largest_exponent = (largest >> format.mantissa_bits) as i32 - format.bias;
        let field = |exponent: i32| bits(((exponent + F::BIAS) as u64) << F::MANTISSA_BITS);
        let last_bad = match (format.nan(), format.infinity(false)) {
            (None, _) => Self::MAGNITUDE,
            (_, None) => Self::INFINITY,
            _ => Self::INFINITY - 1,
        };
        Self {
            cap: field(largest_exponent + 1),
            least_field: field(1 - format.bias),
            field_shift: F::MANTISSA_BITS - format.mantissa_bits,
            half_unit: F::from_bits(field(-(F::MANTISSA_BITS as i32) - 1)),
            largest: bits(largest),
            overflow: bits(format.infinity(false).unwrap_or(largest)),
            nan: bits(format.nan().unwrap_or(0)),
            sign_bit: bits(format.sign_bit()),
            sign_shift: F::Bits::BITS - format.bits,
            has_negative_zero: format.special != Special::Fnuz,
            first_bad: bits(if pick.is_clamped { Self::INFINITY } else { 0 }),
            last_bad: bits(last_bad),
            to: PhantomData,
            mode: PhantomData,
        }
    }
}

impl<F: Float, T: Integer, M: Mode> Convert for Narrow<F, T, M> {
    type Source = F;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: F) -> (T, bool) {
        let (zero, infinity) = (F::Bits::truncate(0), F::Bits::truncate(Self::INFINITY));
        let bits = element.bits();
        let magnitude = bits & F::Bits::truncate(Self::MAGNITUDE);
        let capped = magnitude.min(self.cap);
        let field = (capped & infinity).max(self.least_field);
        let number = F::from_bits(capped);
        let unit_sum = F::from_bits(field.plus(F::Bits::truncate(u64::from(self.field_shift)) << F::MANTISSA_BITS));
        let sum = number + unit_sum;
        let nearest = sum - unit_sum;
        let step = correction::<M, F>(number, nearest, unit_sum * self.half_unit, bits != magnitude);
        let units = sum.bits().minus(unit_sum.bits()).plus(F::Bits::truncate(step));
        let rounded = units.plus(field.minus(self.least_field) >> self.field_shift);
        let is_over = rounded > self.largest;
        let image = if is_over { self.overflow } else { rounded };
        let sign = (bits >> self.sign_shift) & self.sign_bit;
        let signed = if self.has_negative_zero | (image != zero) { image | sign } else { zero };
        let image = if magnitude > infinity { self.nan } else { signed };
        let is_bad = is_over & (magnitude >= self.first_bad) & (magnitude <= self.last_bad);
        (T::truncate(image.extend()), is_bad)
    }
}

/// `f32` cut in half: the exponents are the same, so that one shift does for subnormal numbers as well.
#[derive(Debug, Clone, Copy)]
struct ToBfloat16<M> {
    is_clamped: bool,
    mode: PhantomData<M>,
}

impl<M: Mode> Convert for ToBfloat16<M> {
    type Source = f32;
    type Target = u16;

    #[inline(always)]
    fn convert(&self, element: f32) -> (u16, bool) {
        const INFINITY: u32 = 0x7F80_0000;
        let bits = element.to_bits();
        let magnitude = bits & 0x7FFF_FFFF;
        let is_negative = bits != magnitude;
        let addend = match M::ROUNDING {
            Rounding::NearestEven => 0x7FFF + ((bits >> 16) & 1),
            Rounding::NearestAway => 0x8000,
            Rounding::TowardsZero => 0,
            Rounding::TowardsPositive => {
                if is_negative {
                    0
                } else {
                    0xFFFF
                }
            }
            Rounding::TowardsNegative => {
                if is_negative {
                    0xFFFF
                } else {
                    0
                }
            }
        };
        let rounded = bits.wrapping_add(addend) >> 16;
        let is_finite = magnitude < INFINITY;
        let is_bad = is_finite & ((rounded & 0x7FFF) >= 0x7F80) & !self.is_clamped;
        let image = if magnitude > INFINITY { 0x7FC0 } else { rounded };
        (image as u16, is_bad)
    }
}

/// `f64` to `f32` as the processor rounds.
#[derive(Debug, Clone, Copy)]
struct ToF32 {
    is_clamped: bool,
}

impl Convert for ToF32 {
    type Source = f64;
    type Target = f32;

    #[inline(always)]
    fn convert(&self, element: f64) -> (f32, bool) {
        /// From here on numbers are rounded past the largest `f32`.
        const OVERFLOW: f64 = 3.402_823_567_797_336_6e38;
        let magnitude = element.abs();
        let image = if element.is_nan() { f32::from_bits(0x7FC0_0000) } else { element as f32 };
        (image, (OVERFLOW..f64::INFINITY).contains(&magnitude) & !self.is_clamped)
    }
}
