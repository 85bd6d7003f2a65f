//! Integers to floats of 32 and 64 bits.

use super::divisor::Divisor;
use super::float::{Float, RoundingMode, directed, with_mode};
use super::lane::{Integer, Lane};
use super::loops::{Bits, Convert, each, fault};
use super::scaled::{ScaledBack, operand, scaled_back};
use crate::codec::cast_value::kernel::Kernel;
use crate::data_type::Component;
use crate::number::{FloatId, Plus, Rounding, Scaling, Then, integer_range};
use std::fmt::Debug;
use std::marker::PhantomData;

/// Integers to floats that hold them, scaled back; `None` if they do not, or if scaling makes one infinite.
pub(in crate::codec::cast_value) fn scaled_back_kernel(
    source: Component,
    target: Component,
    scaling: Scaling<u64>,
) -> Option<Box<dyn Kernel>> {
    let (Component::Int { bits, signed }, Component::Float(format)) = (source, target) else { return None };
    match format.id {
        FloatId::Float32 if stays_finite::<f32>(bits, signed, scaling) => short::<f32>(bits, signed, Some(scaling)),
        FloatId::Float64 if stays_finite::<f64>(bits, signed, scaling) => long(bits, signed, Some(scaling)),
        _ => None,
    }
}

/// 64-bit integers to `float64`, in any mode.
pub(in crate::codec::cast_value) fn wide_to_f64(source: Component, rounding: Rounding) -> Option<Box<dyn Kernel>> {
    let Component::Int { bits: 64, signed } = source else { return None };
    Some(with_mode!(rounding, M => if signed {
        each(SumOfHalves { source: PhantomData::<i64>, mode: PhantomData::<M> })
    } else {
        each(SumOfHalves { source: PhantomData::<u64>, mode: PhantomData::<M> })
    }))
}

/// Whether every integer stays finite: the ends do, and rounding keeps the order.
fn stays_finite<F: Float>(bits: u32, signed: bool, scaling: Scaling<u64>) -> bool {
    let (least, most) = integer_range(bits, signed);
    [least, most].into_iter().all(|end| scaled_back(F::from_f64(end as f64), scaling).is_some())
}

/// Integers of up to 16 bits to lanes that hold them, scaled back if asked.
pub(in crate::codec::cast_value) fn short<F>(
    bits: u32,
    signed: bool,
    scaling: Option<Scaling<u64>>,
) -> Option<Box<dyn Kernel>>
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

/// The same for up to 32 bits.
pub(in crate::codec::cast_value) fn long(
    bits: u32,
    signed: bool,
    scaling: Option<Scaling<u64>>,
) -> Option<Box<dyn Kernel>> {
    match (bits, signed) {
        (32, false) => Some(to_float(Exact::<u32, f64>(PhantomData), scaling)),
        (32, true) => Some(to_float(Exact::<i32, f64>(PhantomData), scaling)),
        _ => short::<f64>(bits, signed, scaling),
    }
}

fn to_float<C>(conversion: C, scaling: Option<Scaling<u64>>) -> Box<dyn Kernel>
where
    C: Convert<Target: Float> + Debug + Send + Sync + 'static,
{
    let Some(scaling) = scaling.map(|scaling| scaling.map(operand)) else { return each(conversion) };
    match Divisor::new(scaling.scale) {
        Some(divisor) => each(ScaledBack { conversion, formula: Then(divisor, Plus(scaling.offset)) }),
        None => each(ScaledBack { conversion, formula: scaling.decode() }),
    }
}

#[derive(Debug, Clone, Copy)]
struct Exact<S, T>(PhantomData<(S, T)>);

impl<S: Lane + Into<T>, T: Lane> Convert for Exact<S, T> {
    type Source = S;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: S) -> (T, Bits<Self>) {
        (element.into(), fault(false))
    }
}

/// Integers of up to 8 bits; bits above them in the byte are ignored.
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
        (((element << self.shift) >> self.shift).into(), fault(false))
    }
}

/// Both halves are exact as `f64`, and so is the error of their sum.
#[derive(Debug, Clone, Copy)]
struct SumOfHalves<S, M> {
    source: PhantomData<S>,
    mode: PhantomData<M>,
}

impl<S: Integer, M: RoundingMode> Convert for SumOfHalves<S, M> {
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
        (nearest.to_bits().wrapping_add(step) | (u64::from(is_negative) << 63), fault(false))
    }
}
