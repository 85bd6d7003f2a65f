//! Elements to lanes of `f32` or `f64`, exactly; of 64-bit integers, what rounding needs.

use super::integer_to_float;
use super::lane::{Integer, Lane};
use super::loops::{Bits, Convert, each, fault};
use crate::codec::cast_value::kernel::{Kernel, optimistic};
use crate::codec::cast_value::tiers::Kernels;
use crate::data_type::Component;
use crate::number::{FloatId, bfloat16_to_float32, float16_to_float32};
use std::marker::PhantomData;

/// The kernels to lanes of `f32`; `None` if these do not hold every value.
pub(in crate::codec::cast_value) fn to_f32(source: Component, tier: &Kernels) -> Option<Vec<Box<dyn Kernel>>> {
    let kernel = match source {
        Component::Int { bits, signed } => integer_to_float::short::<f32>(bits, signed, None)?,
        Component::Float(format) => match format.id {
            FloatId::Float16 => match (tier.widen_float16)() {
                Some(quick) => optimistic(quick, each(Float16)),
                None => each(Float16),
            },
            FloatId::Bfloat16 => each(Bfloat16),
            FloatId::Float32 => return Some(Vec::new()),
            _ => return None,
        },
        _ => return None,
    };
    Some(vec![kernel])
}

/// The kernels to lanes of `f64`.
pub(in crate::codec::cast_value) fn to_f64(source: Component, tier: &Kernels) -> Option<Vec<Box<dyn Kernel>>> {
    let kernel = match source {
        Component::Int { bits: 64, signed: false } => each(Odd(PhantomData::<u64>)),
        Component::Int { bits: 64, signed: true } => each(Odd(PhantomData::<i64>)),
        Component::Int { bits, signed } => integer_to_float::long(bits, signed, None)?,
        Component::Float(format) if format.id == FloatId::Float64 => return Some(Vec::new()),
        _ => {
            let mut kernels = to_f32(source, tier)?;
            kernels.push(each(Double));
            return Some(kernels);
        }
    };
    Some(vec![kernel])
}

/// Integers of 32 and 64 bits to lanes of `f32` that round to a format of 16 bits as the integers themselves would;
/// `None` if there is no shorter way than by `f64`. A scalar map would not find its keys again.
pub(in crate::codec::cast_value) fn to_f32_for(source: Component, target: FloatId) -> Option<Box<dyn Kernel>> {
    let Component::Int { bits, signed } = source else { return None };
    Some(match (target, bits, signed) {
        (FloatId::Float16, 32, false) => each(Capped(PhantomData::<u32>)),
        (FloatId::Float16, 32, true) => each(Capped(PhantomData::<i32>)),
        (FloatId::Float16, 64, false) => each(Capped(PhantomData::<u64>)),
        (FloatId::Float16, 64, true) => each(Capped(PhantomData::<i64>)),
        (FloatId::Bfloat16, 32, false) => each(ShortOdd(PhantomData::<u32>)),
        (FloatId::Bfloat16, 32, true) => each(ShortOdd(PhantomData::<i32>)),
        _ => return None,
    })
}

/// Elements unchanged, for a scalar map to be applied.
pub(in crate::codec::cast_value) fn identity(size: usize) -> Box<dyn Kernel> {
    match size {
        2 => each(Unchanged(PhantomData::<u16>)),
        4 => each(Unchanged(PhantomData::<u32>)),
        _ => each(Unchanged(PhantomData::<u64>)),
    }
}

#[derive(Debug, Clone, Copy)]
struct Unchanged<T>(PhantomData<T>);

impl<T: Lane> Convert for Unchanged<T> {
    type Source = T;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: T) -> (T, Bits<Self>) {
        (element, fault(false))
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
        (if is_nan { NAN } else { bfloat16_to_float32(element).to_bits() }, fault(false))
    }
}

#[derive(Debug, Clone, Copy)]
struct Float16;

impl Convert for Float16 {
    type Source = u16;
    type Target = u32;

    #[inline(always)]
    fn convert(&self, element: u16) -> (u32, Bits<Self>) {
        let is_nan = element & 0x7FFF > 0x7C00;
        (if is_nan { NAN } else { float16_to_float32(element).to_bits() }, fault(false))
    }
}

#[derive(Debug, Clone, Copy)]
struct Double;

impl Convert for Double {
    type Source = f32;
    type Target = f64;

    #[inline(always)]
    fn convert(&self, element: f32) -> (f64, Bits<Self>) {
        (if element.is_nan() { f64::from_bits(0x7FF8 << 48) } else { element.into() }, fault(false))
    }
}

/// Rounded to odd: at least 42 digits are left, so that rounding to 24 or fewer gives what the integer itself would.
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
        (if is_negative { -magnitude } else { magnitude }, fault(false))
    }
}

/// A value beyond `float16` in every mode stays beyond it; everything else is exact.
#[derive(Debug, Clone, Copy)]
struct Capped<S>(PhantomData<S>);

impl<S: Integer> Convert for Capped<S> {
    type Source = S;
    type Target = f32;

    #[inline(always)]
    fn convert(&self, element: S) -> (f32, Bits<Self>) {
        let capped = element.min(S::truncate(EXACT));
        let capped = if S::IS_SIGNED { capped.max(S::truncate(EXACT.wrapping_neg())) } else { capped };
        ((capped.extend() as i32) as f32, fault(false))
    }
}

/// Up to this magnitude an `f32` holds every integer.
const EXACT: u64 = 1 << 24;

/// 32-bit integers that `f32` does not hold rounded to odd: 16 digits or more are left, so that rounding to fewer than
/// 15 gives what the integer itself would.
#[derive(Debug, Clone, Copy)]
struct ShortOdd<S>(PhantomData<S>);

impl<S: Integer> Convert for ShortOdd<S> {
    type Source = S;
    type Target = f32;

    #[inline(always)]
    fn convert(&self, element: S) -> (f32, Bits<Self>) {
        const LOW: u32 = 0xFF;
        let bits = element.extend() as u32;
        // Also of negative integers, in two's complement: of the two multiples around them the odd one.
        let odd = (bits | ((bits & LOW) + LOW)) & !LOW;
        let least = if S::IS_SIGNED { (EXACT as u32).wrapping_neg() } else { 0 };
        let is_exact = bits.wrapping_sub(least) <= (EXACT as u32).wrapping_sub(least);
        let digits = if is_exact { bits } else { odd };
        (if S::IS_SIGNED { digits.cast_signed() as f32 } else { digits as f32 }, fault(false))
    }
}
