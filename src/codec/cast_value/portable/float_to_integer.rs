//! Floats to integers.
#![expect(unsafe_code, reason = "converts numbers that are known to be in range")]

use super::float::{Float, RoundingMode, with_mode};
use super::integer::LowBits;
use super::lane::{Integer, Lane, Low};
use super::loops::{Bits, Convert, each, fault};
use super::scaled::Scaled;
use crate::codec::cast_value::kernel::{Kernel, optimistic, optimistic_with_maps};
use crate::codec::cast_value::reference::{Cast, OutOfRange};
use crate::data_type::Component;
use crate::number::{FloatId, Rounding, Scaling, integer_range};
use std::marker::PhantomData;

/// A conversion of lanes of floats, whatever type they were widened from, to integers.
#[derive(Debug, Clone, Copy)]
pub(in crate::codec::cast_value) struct ToInteger {
    /// `float32` or `float64`.
    pub(in crate::codec::cast_value) source: FloatId,
    pub(in crate::codec::cast_value) bits: u32,
    pub(in crate::codec::cast_value) signed: bool,
    pub(in crate::codec::cast_value) rounding: Rounding,
    pub(in crate::codec::cast_value) out_of_range: OutOfRange,
    /// Scaling before the conversion, as bits of the source.
    pub(in crate::codec::cast_value) scaling: Option<Scaling<u64>>,
    /// Whether all numbers are those of `float16`: their magnitude is less than [`HALF_END`], or they are not finite.
    pub(in crate::codec::cast_value) are_halves: bool,
}

/// A power of two above all finite numbers of `float16`, which lanes of `f32` hold with the first bits of a fraction.
const HALF_END: i128 = 1 << 20;

impl ToInteger {
    /// `None` if the cast's target is not an integer type.
    pub(in crate::codec::cast_value) fn new(
        source: FloatId,
        cast: &Cast,
        scaling: Option<Scaling<u64>>,
    ) -> Option<Self> {
        let Component::Int { bits, signed } = cast.target else { return None };
        let is_half = matches!(cast.source, Component::Float(format) if format.id == FloatId::Float16);
        let Cast { rounding, out_of_range, .. } = *cast;
        Some(Self { source, bits, signed, rounding, out_of_range, scaling, are_halves: is_half && scaling.is_none() })
    }

    /// Whether the lanes hold the bounds of the target, so that its range can be checked in them, or all numbers there
    /// are. A scaling needs this.
    pub(in crate::codec::cast_value) fn fits(&self) -> bool {
        if self.are_halves && self.bits <= 32 {
            return true;
        }
        self.bits <= if self.source == FloatId::Float32 { 16 } else { 32 } && self.out_of_range != OutOfRange::Wrap
    }

    /// The portable kernel. `None` for `float32` lanes that do not suffice.
    pub(in crate::codec::cast_value) fn kernel(&self) -> Option<Box<dyn Kernel>> {
        match (self.source, self.out_of_range, self.bits) {
            (FloatId::Float32, OutOfRange::Wrap, _) if self.fits() => {
                Some(with_mode!(self.rounding, M => self.wrap_halves::<M>()))
            }
            (FloatId::Float64, OutOfRange::Wrap, _) => Some(with_mode!(self.rounding, M => self.wrap::<M>())),
            _ if self.fits() => Some(with_mode!(self.rounding, M => self.in_range::<M>())),
            (FloatId::Float32, ..) => None,
            _ => Some(with_mode!(self.rounding, M => self.saturating::<M>())),
        }
    }

    fn in_range<M: RoundingMode>(&self) -> Box<dyn Kernel> {
        match (self.source, self.out_of_range) {
            (FloatId::Float32, OutOfRange::Clamp) => self.of_size::<f32, M, false>(),
            (FloatId::Float32, _) => self.of_size::<f32, M, true>(),
            (_, OutOfRange::Clamp) => self.of_size::<f64, M, false>(),
            _ => self.of_size::<f64, M, true>(),
        }
    }

    fn of_size<F: Float, M: RoundingMode, const CHECKED: bool>(&self) -> Box<dyn Kernel> {
        match self.bits {
            ..=8 => self.narrow::<F, u8, M, CHECKED>(),
            16 => self.narrow::<F, u16, M, CHECKED>(),
            _ => self.narrow::<F, u32, M, CHECKED>(),
        }
    }

    fn narrow<F: Float, T: Integer, M: RoundingMode, const CHECKED: bool>(&self) -> Box<dyn Kernel> {
        let (mut least, mut most) = integer_range(self.bits, self.signed);
        if self.are_halves {
            (least, most) = (least.max(-HALF_END), most.min(HALF_END - 1));
        }
        let conversion = FloatToInteger::<F, T, M, CHECKED>::new(least, most);
        match self.scaling {
            Some(scaling) => each(Scaled::new(conversion, scaling)),
            None => each(conversion),
        }
    }

    fn wrap<M: RoundingMode>(&self) -> Box<dyn Kernel> {
        match self.bits {
            ..=8 => self.wrap_to::<u8, M>(),
            16 => self.wrap_to::<u16, M>(),
            32 => self.wrap_to::<u32, M>(),
            _ => self.wrap_to::<u64, M>(),
        }
    }

    fn wrap_to<T: Integer, M: RoundingMode>(&self) -> Box<dyn Kernel> {
        let thorough =
            WrapLarge::<T, M> { low: LowBits::new(self.bits, self.signed), to: PhantomData, mode: PhantomData };
        optimistic_with_maps(each(Wrap::<f64, T, M>::new(self)), each(thorough))
    }

    fn wrap_halves<M: RoundingMode>(&self) -> Box<dyn Kernel> {
        match self.bits {
            ..=8 => each(Wrap::<f32, u8, M>::new(self)),
            16 => each(Wrap::<f32, u16, M>::new(self)),
            _ => each(Wrap::<f32, u32, M>::new(self)),
        }
    }

    fn saturating<M: RoundingMode>(&self) -> Box<dyn Kernel> {
        let is_clamped = self.out_of_range == OutOfRange::Clamp;
        if self.signed { wide::<i64, M>(is_clamped) } else { wide::<u64, M>(is_clamped) }
    }
}

fn wide<T: Saturating + Lane, M: RoundingMode>(is_clamped: bool) -> Box<dyn Kernel> {
    let thorough = Wide::<T, M> { is_clamped, to: PhantomData, mode: PhantomData };
    optimistic(each(QuickWide::<T, M> { to: PhantomData, mode: PhantomData }), each(thorough))
}

/// The number rounded to an integer.
///
/// # Safety
/// Its magnitude is at most [`Float::LIMIT`].
#[inline(always)]
unsafe fn rounded<F: Float, M: RoundingMode>(number: F) -> F::Bits {
    if M::ROUNDING == Rounding::TowardsZero {
        // SAFETY: the caller promises the same.
        return unsafe { number.truncate() };
    }
    // The last bit breaks ties, and changes nothing else: it is at most a quarter.
    let tie_bit = F::Bits::truncate(u64::from(M::ROUNDING == Rounding::NearestAway));
    let number = F::from_bits(number.bits() | tie_bit);
    let sum = number + F::MAGIC;
    let nearest = sum - F::MAGIC;
    let step = match M::ROUNDING {
        Rounding::TowardsPositive => u64::from(nearest < number),
        Rounding::TowardsNegative => u64::from(nearest > number).wrapping_neg(),
        _ => 0,
    };
    sum.bits().minus(F::MAGIC.bits()).plus(F::Bits::truncate(step))
}

/// The number rounded to an integer, as a float; towards zero, the conversion does it.
#[inline(always)]
fn whole<F: Float, M: RoundingMode>(number: F) -> F {
    let nearest = (number + F::MAGIC) - F::MAGIC;
    match M::ROUNDING {
        Rounding::NearestEven => nearest,
        Rounding::NearestAway => (F::from_bits(number.bits() | F::Bits::truncate(1)) + F::MAGIC) - F::MAGIC,
        Rounding::TowardsZero => number,
        Rounding::TowardsPositive if nearest < number => nearest + F::ONE,
        Rounding::TowardsNegative if nearest > number => nearest - F::ONE,
        _ => nearest,
    }
}

/// Any number rounded to an integer, as a float.
#[inline(always)]
fn whole_f64<M: RoundingMode>(number: f64) -> f64 {
    match M::ROUNDING {
        Rounding::NearestEven => number.round_ties_even(),
        Rounding::TowardsZero => number.trunc(),
        Rounding::TowardsPositive => number.ceil(),
        Rounding::TowardsNegative => number.floor(),
        // Not `round`: in the Windows C library (mingw-w64) it adds 0.5, which rounds 0.5.next_down() to 1.
        Rounding::NearestAway => (number + 0.5_f64.next_down().copysign(number)).trunc(),
    }
}

/// Integers of up to 32 bits. The number is first limited to just outside the range (checked) or to its ends (clamped).
/// Both are integers, so this does not change what it rounds to.
#[derive(Debug, Clone, Copy)]
struct FloatToInteger<F: Float, T, M, const CHECKED: bool> {
    low: F,
    high: F,
    least: F::Bits,
    outside: F::Bits,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

impl<F: Float, T, M, const CHECKED: bool> FloatToInteger<F, T, M, CHECKED> {
    fn new(least: i128, most: i128) -> Self {
        let margin = i128::from(CHECKED);
        let bound = |value: i128| {
            let bound = F::from_f64(value as f64);
            assert!(-F::LIMIT <= bound && bound <= F::LIMIT, "{value} is too much for the lanes");
            bound
        };
        Self {
            low: bound(least - margin),
            high: bound(most + margin),
            least: F::Bits::truncate(least as u64),
            outside: F::Bits::truncate(!(most - least) as u64),
            to: PhantomData,
            mode: PhantomData,
        }
    }
}

impl<F: Float, T: Integer, M: RoundingMode, const CHECKED: bool> Convert for FloatToInteger<F, T, M, CHECKED> {
    type Source = F;
    type Target = Low<T>;

    #[inline(always)]
    fn convert(&self, element: F) -> (Low<T>, F::Bits) {
        // NaN becomes `low`: outside, if checked.
        let number = if element > self.low { element } else { self.low };
        let number = if number < self.high { number } else { self.high };
        if size_of::<T>() < size_of::<i32>() && size_of::<i32>() < size_of::<F>() {
            // Vectors of `f64` become vectors of 32-bit integers, halfway to the target.
            let whole = whole::<F, M>(number);
            // SAFETY: the number is between the two, which 32 bits hold.
            let integer = unsafe { whole.to_i32() };
            let fault = if CHECKED {
                let distance = (integer as u32).wrapping_sub(self.least.extend() as u32);
                F::Bits::truncate(u64::from(distance & self.outside.extend() as u32))
            } else {
                element.not_finite()
            };
            return (Low::new(integer as u32), fault);
        }
        // SAFETY: the number is between the two, which are no further from 0 than the limit.
        let integer = unsafe { rounded::<F, M>(number) };
        // Neither NaN nor infinities are clamped.
        let fault = if CHECKED { integer.minus(self.least) & self.outside } else { element.not_finite() };
        (Low::new(integer.extend() as u32), fault)
    }
}

/// Modulo `2^N`, for numbers that a lane holds with the first bit of their fraction; larger ones are refused.
#[derive(Debug, Clone, Copy)]
struct Wrap<F, T, M> {
    low: LowBits,
    from: PhantomData<F>,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

impl<F, T, M> Wrap<F, T, M> {
    fn new(to: &ToInteger) -> Self {
        let low = LowBits::new(to.bits, to.signed);
        Self { low, from: PhantomData, to: PhantomData, mode: PhantomData }
    }
}

impl<F: Float, T: Integer, M: RoundingMode> Convert for Wrap<F, T, M> {
    type Source = F;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: F) -> (T, Bits<Self>) {
        let number = if element > -F::LIMIT { element } else { -F::LIMIT };
        let number = if number < F::LIMIT { number } else { F::LIMIT };
        // SAFETY: the number is between the two.
        let integer = unsafe { rounded::<F, M>(number) };
        (T::truncate(self.low.of(integer.extend())), fault(number != element))
    }
}

/// Modulo `2^N`, for all numbers.
#[derive(Debug, Clone, Copy)]
struct WrapLarge<T, M> {
    low: LowBits,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

impl<T: Integer, M: RoundingMode> Convert for WrapLarge<T, M> {
    type Source = f64;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: f64) -> (T, Bits<Self>) {
        const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
        const BIAS: u32 = f64::MAX_EXP as u32 - 1;
        let bits = whole_f64::<M>(element).to_bits();
        let significand = (bits & ((1 << FRACTION_BITS) - 1)) | (1 << FRACTION_BITS);
        // Where the lowest bit of the significand is, plus 64. The exponent of an integer is 0 or more, except for 0.
        let exponent = (bits >> FRACTION_BITS) as u32 & 0x7FF;
        let shift = (exponent + 64).saturating_sub(BIAS + FRACTION_BITS);
        let magnitude = match shift {
            64..128 => significand << (shift - 64),
            1..64 => significand >> (64 - shift),
            _ => 0,
        };
        let integer = if bits >> 63 == 1 { magnitude.wrapping_neg() } else { magnitude };
        (T::truncate(self.low.of(integer)), fault(element.not_finite() != 0))
    }
}

/// 64-bit integers, from numbers that an `f64` holds with the first bit of their fraction; refuses others.
#[derive(Debug, Clone, Copy)]
struct QuickWide<T, M> {
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

impl<T: Saturating + Lane, M: RoundingMode> Convert for QuickWide<T, M> {
    type Source = f64;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: f64) -> (T, Bits<Self>) {
        let least = T::LEAST.max(-f64::LIMIT);
        let number = if element > least { element } else { least };
        let number = if number < f64::LIMIT { number } else { f64::LIMIT };
        // SAFETY: the number is between the two, which are no further from 0 than the limit.
        let integer = unsafe { rounded::<f64, M>(number) };
        (T::truncate(integer), fault(number != element))
    }
}

/// 64-bit integers, whose bounds no float holds: the conversion saturates.
#[derive(Debug, Clone, Copy)]
struct Wide<T, M> {
    is_clamped: bool,
    to: PhantomData<T>,
    mode: PhantomData<M>,
}

trait Saturating: Integer {
    /// The range is `LEAST <= x < END`.
    const LEAST: f64;
    const END: f64;
    fn saturate(number: f64) -> Self;
}

impl Saturating for i64 {
    const LEAST: f64 = i64::MIN as f64;
    const END: f64 = -Self::LEAST;
    #[inline(always)]
    fn saturate(number: f64) -> Self {
        number as Self
    }
}

impl Saturating for u64 {
    const LEAST: f64 = 0.0;
    const END: f64 = 2.0 * <i64 as Saturating>::END;
    #[inline(always)]
    fn saturate(number: f64) -> Self {
        number as Self
    }
}

impl<T: Saturating + Lane, M: RoundingMode> Convert for Wide<T, M> {
    type Source = f64;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: f64) -> (T, Bits<Self>) {
        let number = whole_f64::<M>(element);
        let is_inside = (number >= T::LEAST) & (number < T::END);
        let is_finite = element.not_finite() == 0;
        (T::saturate(number), fault(!is_inside & !(self.is_clamped & is_finite)))
    }
}
