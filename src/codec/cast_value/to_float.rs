//! Floats to narrower floats.
//!
//! Most data has only numbers that are well inside the target. A quick pass does those, and notes whether there was
//! anything else; only then the thorough one does the block again.

use super::float_lane::{Float, Mode, WithMode, directed, with_mode};
use super::half;
use super::lane::{Convert, Entry, Integer, Pass, each, flag};
use super::reference::{Cast, OutOfRange};
use super::small_float::{self, SmallFloat};
use super::to_f32;
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
            ("float32", _) => to_f32::pass::<M>(self.is_clamped),
            ("bfloat16", 23) => hopeful(
                each(QuickBfloat16(PhantomData::<M>)),
                each(ToBfloat16 { is_clamped: self.is_clamped, mode: PhantomData::<M> }),
            ),
            ("float16", 23) => {
                let thorough = each(Narrow::<F, u16, M, false>::new(&self));
                let quick = half::narrow::<M>();
                hopeful(quick.unwrap_or_else(|| each(Narrow::<F, u16, M, true>::new(&self))), thorough)
            }
            _ if self.format.bits == 16 => self.narrow::<u16, M>(),
            (_, 23) if self.format.special != Special::Fnuz => {
                let quick = Narrow::<F, u8, M, true>::new(&self);
                let thorough = each(Narrow::<F, u8, M, false>::new(&self));
                hopeful(small_float::narrow::<M>(quick.small_float(&self)).unwrap_or_else(|| each(quick)), thorough)
            }
            _ => self.narrow::<u8, M>(),
        }
    }
}

impl<F: Float> Pick<F> {
    fn narrow<T: Integer, M: Mode>(&self) -> Box<dyn Pass> {
        let thorough = each(Narrow::<F, T, M, false>::new(self));
        if self.format.special == Special::Fnuz {
            return thorough;
        }
        hopeful(each(Narrow::<F, T, M, true>::new(self)), thorough)
    }
}

/// A pass that may refuse elements that have an image, and one that knows better.
#[derive(Debug)]
struct Hopeful {
    quick: Box<dyn Pass>,
    thorough: Box<dyn Pass>,
    is_mapped: bool,
}

pub(super) fn hopeful(quick: Box<dyn Pass>, thorough: Box<dyn Pass>) -> Box<dyn Pass> {
    Box::new(Hopeful { quick, thorough, is_mapped: false })
}

impl Pass for Hopeful {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        (self.is_mapped || self.quick.run(input, output)) && self.thorough.run(input, output)
    }

    fn set_map(&mut self, map: &[Entry]) {
        self.is_mapped = !map.is_empty();
        self.thorough.set_map(map);
    }
}

/// The lane's own addition does the rounding: `unit_sum` is so large that its last digit is the last digit of the
/// format at this magnitude. The quick one refuses what is over the largest number of the format.
#[derive(Debug, Clone, Copy)]
struct Narrow<F: Float, T, M, const IS_QUICK: bool> {
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
    /// The magnitudes without an image, of those over the largest.
    first_bad: F::Bits,
    last_bad: F::Bits,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

impl<F: Float, T, M, const IS_QUICK: bool> Narrow<F, T, M, IS_QUICK> {
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
            first_bad: bits(if pick.is_clamped { Self::INFINITY } else { 0 }),
            last_bad: bits(last_bad),
            to: PhantomData,
            mode: PhantomData,
        }
    }
}

impl<F: Float, T, M> Narrow<F, T, M, true> {
    fn small_float(&self, pick: &Pick<F>) -> SmallFloat {
        SmallFloat {
            largest: self.limit.extend() as u32,
            least_field: self.least_field.extend() as u32,
            lost_bits: self.field_shift,
            bits: pick.format.bits,
        }
    }
}

impl<F: Float, T: Integer, M: Mode, const IS_QUICK: bool> Convert for Narrow<F, T, M, IS_QUICK> {
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
            return (T::truncate((rounded | sign).extend()), flag(magnitude.is_above(self.limit)));
        }
        let is_over = rounded > self.largest;
        let image = if is_over { self.overflow } else { rounded };
        let signed = if self.has_negative_zero | (image != zero) { image | sign } else { zero };
        let image = if magnitude > infinity { self.nan } else { signed };
        let is_bad = is_over & (magnitude >= self.first_bad) & (magnitude <= self.last_bad);
        (T::truncate(image.extend()), flag(is_bad))
    }
}

/// `f32` cut in half: the exponents are the same, so that one shift does for subnormal numbers as well.
#[inline(always)]
fn cut_in_half<M: Mode>(element: f32) -> u16 {
    let bits = element.to_bits();
    // All ones if it is negative.
    let sign = (bits.cast_signed() >> 31).cast_unsigned();
    let addend = match M::ROUNDING {
        Rounding::NearestEven => 0x7FFF + ((bits >> 16) & 1),
        Rounding::NearestAway => 0x8000,
        Rounding::TowardsZero => 0,
        Rounding::TowardsPositive => !sign & 0xFFFF,
        Rounding::TowardsNegative => sign & 0xFFFF,
    };
    (bits.wrapping_add(addend) >> 16) as u16
}

/// Refuses what is over the largest `bfloat16`.
#[derive(Debug, Clone, Copy)]
struct QuickBfloat16<M>(PhantomData<M>);

impl<M: Mode> Convert for QuickBfloat16<M> {
    type Source = f32;
    type Target = u16;

    #[inline(always)]
    fn convert(&self, element: f32) -> (u16, u32) {
        const LARGEST: u32 = 0x7F7F_0000;
        (cut_in_half::<M>(element), flag((element.to_bits() & 0x7FFF_FFFF).is_above(LARGEST)))
    }
}

#[derive(Debug, Clone, Copy)]
struct ToBfloat16<M> {
    is_clamped: bool,
    mode: PhantomData<M>,
}

impl<M: Mode> Convert for ToBfloat16<M> {
    type Source = f32;
    type Target = u16;

    #[inline(always)]
    fn convert(&self, element: f32) -> (u16, u32) {
        const INFINITY: u16 = 0x7F80;
        let image = cut_in_half::<M>(element);
        let becomes_infinite = element.is_finite() & ((image & 0x7FFF) >= INFINITY);
        (if element.is_nan() { 0x7FC0 } else { image }, flag(becomes_infinite & !self.is_clamped))
    }
}
