//! Elements to `f32` or `f64` lanes: exactly, but for 64-bit integers, of which [`Odd`] keeps what rounding needs.

use super::float_lane::{Float, Mode, WithMode, directed, with_mode};
use super::half;
use super::lane::{Bits, Convert, Integer, Lane, Pass, each, flag};
use super::scaled::{ScaledBack, scaled_back};
use super::to_float::hopeful;
use crate::codec::scale_offset::Scaling;
use crate::data_type::{Component, Rounding, integer_range};
use std::fmt::Debug;
use std::marker::PhantomData;

/// A pass, and the size of the elements that it writes.
pub(super) type Step = (Box<dyn Pass>, usize);

/// The steps to `f32` lanes; none if they do not hold every value.
pub(super) fn to_f32(source: Component) -> Option<Vec<Step>> {
    let pass = match source {
        Component::Int { bits, signed } => short::<f32>(bits, signed, None)?,
        Component::Float(format) => match format.name {
            "float16" => match half::widen() {
                Some(quick) => hopeful(quick, each(Half)),
                None => each(Half),
            },
            "bfloat16" => each(Bfloat16),
            "float32" => return Some(Vec::new()),
            _ => return None,
        },
        _ => return None,
    };
    Some(vec![(pass, 4)])
}

/// The steps to `f64` lanes.
pub(super) fn to_f64(source: Component) -> Option<Vec<Step>> {
    let pass = match source {
        Component::Int { bits: 64, signed: false } => each(Odd(PhantomData::<u64>)),
        Component::Int { bits: 64, signed: true } => each(Odd(PhantomData::<i64>)),
        Component::Int { bits, signed } => long(bits, signed, None)?,
        Component::Float(format) if format.name == "float64" => return Some(Vec::new()),
        _ => {
            let mut steps = to_f32(source)?;
            steps.push((each(Double), 8));
            return Some(steps);
        }
    };
    Some(vec![(pass, 8)])
}

/// Integers to floats that hold them, scaled back; none if they do not, or a number is scaled to an infinity.
pub(super) fn from_integer(source: Component, target: Component, scaling: Scaling) -> Option<Box<dyn Pass>> {
    let (Component::Int { bits, signed }, Component::Float(format)) = (source, target) else { return None };
    match format.name {
        "float32" if stays_finite::<f32>(bits, signed, scaling) => short::<f32>(bits, signed, Some(scaling)),
        "float64" if stays_finite::<f64>(bits, signed, scaling) => long(bits, signed, Some(scaling)),
        _ => None,
    }
}

/// Whether every integer does: both ends, for rounding keeps the order.
fn stays_finite<F: Float>(bits: u32, signed: bool, scaling: Scaling) -> bool {
    let (least, most) = integer_range(bits, signed);
    [least, most].into_iter().all(|end| scaled_back(F::from_f64(end as f64), scaling).is_some())
}

/// Integers of up to 16 bits to lanes that hold them, scaled back if that is wanted.
fn short<F>(bits: u32, signed: bool, scaling: Option<Scaling>) -> Option<Box<dyn Pass>>
where
    F: Float + From<u8> + From<i8> + From<u16> + From<i16>,
{
    let shift = 8_u32.saturating_sub(bits);
    match (bits, signed) {
        (..=8, false) => Some(to_float(Small::<u8, F> { shift, types: PhantomData }, scaling)),
        (..=8, true) => Some(to_float(Small::<i8, F> { shift, types: PhantomData }, scaling)),
        (16, false) => Some(to_float(Exact::<u16, F>(PhantomData), scaling)),
        (16, true) => Some(to_float(Exact::<i16, F>(PhantomData), scaling)),
        _ => None,
    }
}

/// The same of up to 32 bits.
fn long(bits: u32, signed: bool, scaling: Option<Scaling>) -> Option<Box<dyn Pass>> {
    match (bits, signed) {
        (32, false) => Some(to_float(Exact::<u32, f64>(PhantomData), scaling)),
        (32, true) => Some(to_float(Exact::<i32, f64>(PhantomData), scaling)),
        _ => short::<f64>(bits, signed, scaling),
    }
}

fn to_float<C>(conversion: C, scaling: Option<Scaling>) -> Box<dyn Pass>
where
    C: Convert<Target: Float> + Debug + Send + Sync + 'static,
{
    match scaling {
        Some(scaling) => each(ScaledBack::new(conversion, scaling)),
        None => each(conversion),
    }
}

/// 64-bit integers to `float64`, in any mode.
pub(super) fn wide_to_f64(source: Component, rounding: Rounding) -> Option<Box<dyn Pass>> {
    match source {
        Component::Int { bits: 64, signed: true } => Some(with_mode(rounding, Halves(PhantomData::<i64>))),
        Component::Int { bits: 64, signed: false } => Some(with_mode(rounding, Halves(PhantomData::<u64>))),
        _ => None,
    }
}

/// Elements as they are, for laying a scalar map over them.
pub(super) fn identity(size: usize) -> Box<dyn Pass> {
    match size {
        2 => exact::<u16, u16>(),
        4 => exact::<u32, u32>(),
        _ => exact::<u64, u64>(),
    }
}

#[derive(Debug, Clone, Copy)]
struct Exact<S, T>(PhantomData<(S, T)>);

fn exact<S: Lane + Into<T>, T: Lane>() -> Box<dyn Pass> {
    each(Exact::<S, T>(PhantomData))
}

impl<S: Lane + Into<T>, T: Lane> Convert for Exact<S, T> {
    type Source = S;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: S) -> (T, Bits<Self>) {
        (element.into(), flag(false))
    }
}

/// Integers of up to 8 bits; what lies above them in the byte is not read.
#[derive(Debug, Clone, Copy)]
struct Small<S, T> {
    shift: u32,
    types: PhantomData<(S, T)>,
}

impl<S: Integer + Into<T>, T: Lane> Convert for Small<S, T> {
    type Source = S;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: S) -> (T, Bits<Self>) {
        (((element << self.shift) >> self.shift).into(), flag(false))
    }
}

const NAN: u32 = 0x7FC0_0000;

#[derive(Debug, Clone, Copy)]
struct Bfloat16;

impl Convert for Bfloat16 {
    type Source = u16;
    type Target = u32;

    #[inline(always)]
    fn convert(&self, element: u16) -> (u32, Bits<Self>) {
        let is_nan = element & 0x7FFF > 0x7F80;
        (if is_nan { NAN } else { u32::from(element) << 16 }, flag(false))
    }
}

/// The fields are moved to their places in an `f32`, and the bias is corrected by a product, which is exact and makes
/// subnormal numbers normal.
#[derive(Debug, Clone, Copy)]
struct Half;

impl Convert for Half {
    type Source = u16;
    type Target = u32;

    #[inline(always)]
    fn convert(&self, element: u16) -> (u32, Bits<Self>) {
        const BIAS: f32 = f32::from_bits((127 + 127 - 15) << 23);
        let bits = u32::from(element);
        let magnitude = bits & 0x7FFF;
        let number = (f32::from_bits(magnitude << 13) * BIAS).to_bits();
        let number = if magnitude >= 0x7C00 { 0x7F80_0000 } else { number };
        let signed = number | ((bits & 0x8000) << 16);
        (if magnitude > 0x7C00 { NAN } else { signed }, flag(false))
    }
}

#[derive(Debug, Clone, Copy)]
struct Double;

impl Convert for Double {
    type Source = f32;
    type Target = f64;

    #[inline(always)]
    fn convert(&self, element: f32) -> (f64, Bits<Self>) {
        (if element.is_nan() { f64::from_bits(0x7FF8 << 48) } else { element.into() }, flag(false))
    }
}

/// Rounded to odd: with at least 42 digits left, it then rounds to 24 digits and fewer as the integer itself does.
#[derive(Debug, Clone, Copy)]
struct Odd<S>(PhantomData<S>);

impl<S: Integer> Convert for Odd<S> {
    type Source = S;
    type Target = f64;

    #[inline(always)]
    fn convert(&self, element: S) -> (f64, Bits<Self>) {
        const LOW: u64 = (1 << 11) - 1;
        let bits = element.extend();
        let is_negative = S::IS_SIGNED & (bits >> 63 != 0);
        let magnitude = if is_negative { bits.wrapping_neg() } else { bits };
        let odd = (magnitude | ((magnitude & LOW) + LOW)) & !LOW;
        let magnitude = if magnitude >> 53 == 0 { magnitude } else { odd } as f64;
        (if is_negative { -magnitude } else { magnitude }, flag(false))
    }
}

/// The high and the low half are exact as `f64`, and so is the error of their sum.
#[derive(Debug, Clone, Copy)]
struct Halves<S>(PhantomData<S>);

#[derive(Debug, Clone, Copy)]
struct SumOfHalves<S, M> {
    source: PhantomData<S>,
    mode: PhantomData<M>,
}

impl<S: Integer> WithMode for Halves<S> {
    type Output = Box<dyn Pass>;

    fn with<M: Mode>(self) -> Box<dyn Pass> {
        each(SumOfHalves { source: self.0, mode: PhantomData::<M> })
    }
}

impl<S: Integer, M: Mode> Convert for SumOfHalves<S, M> {
    type Source = S;
    type Target = u64;

    #[inline(always)]
    fn convert(&self, element: S) -> (u64, Bits<Self>) {
        const HIGH_UNIT: f64 = 4_294_967_296.0;
        let bits = element.extend();
        let is_negative = S::IS_SIGNED & (bits >> 63 != 0);
        let magnitude = if is_negative { bits.wrapping_neg() } else { bits };
        let high = f64::from((magnitude >> 32) as u32) * HIGH_UNIT;
        let low = f64::from(magnitude as u32);
        let nearest = high + low;
        let rest = low - (nearest - high);
        let unit = f64::from_bits(nearest.to_bits() + 1) - nearest;
        // Relative to `nearest`, the magnitude is `rest`; doubled, since half the unit of 0 is no `f64`.
        let is_tie_down = M::ROUNDING == Rounding::NearestAway && rest + rest == unit;
        let step = u64::from(is_tie_down).wrapping_add(directed::<M, f64>(rest, 0.0, is_negative));
        (nearest.to_bits().wrapping_add(step) | (u64::from(is_negative) << 63), flag(false))
    }
}
