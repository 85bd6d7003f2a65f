//! Integers to integers.

use super::lane::{Integer, Lane};
use super::loops::{Bits, Convert, each, fault};
use crate::codec::cast_value::kernel::Kernel;
use crate::codec::cast_value::reference::{Cast, OutOfRange};
use crate::data_type::Component;
use crate::number::integer_range;
use std::marker::PhantomData;

/// The kernel between two integer types; `None` for sources of fewer than 8 bits, which have a table.
pub(in crate::codec::cast_value) fn kernel(cast: &Cast) -> Option<Box<dyn Kernel>> {
    match cast.source {
        Component::Int { bits: 8, signed: false } => to_size::<u8>(cast),
        Component::Int { bits: 8, signed: true } => to_size::<i8>(cast),
        Component::Int { bits: 16, signed: false } => to_size::<u16>(cast),
        Component::Int { bits: 16, signed: true } => to_size::<i16>(cast),
        Component::Int { bits: 32, signed: false } => to_size::<u32>(cast),
        Component::Int { bits: 32, signed: true } => to_size::<i32>(cast),
        Component::Int { bits: 64, signed: false } => to_size::<u64>(cast),
        Component::Int { bits: 64, signed: true } => to_size::<i64>(cast),
        _ => None,
    }
}

fn to_size<S: Integer>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    match cast.target.size() {
        1 => between::<S, u8>(cast),
        2 => between::<S, u16>(cast),
        4 => between::<S, u32>(cast),
        _ => between::<S, u64>(cast),
    }
}

fn between<S: Integer, T: Integer>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    let Component::Int { bits, signed } = cast.target else { return None };
    let (source, target) = (integer_range(S::BITS, S::IS_SIGNED), integer_range(bits, signed));
    let (least, most) = (source.0.max(target.0), source.1.min(target.1));
    let lane = |value: i128| S::truncate(value as u64);
    let to = PhantomData::<T>;
    Some(match cast.out_of_range {
        OutOfRange::Error => each(Check { least: lane(least), outside: lane(!(most - least)), to }),
        OutOfRange::Clamp => each(Clamp { least: lane(least), most: lane(most), to }),
        OutOfRange::Wrap if bits >= 8 => each(Truncate { from: PhantomData::<S>, to }),
        OutOfRange::Wrap => each(Wrap { low: LowBits::new(bits, signed), from: PhantomData::<S>, to }),
    })
}

/// Both types hold a range of `2^n` values: a distance from the least with a higher bit set is outside.
#[derive(Debug, Clone, Copy)]
struct Check<S, T> {
    least: S,
    outside: S,
    to: PhantomData<T>,
}

impl<S: Integer, T: Integer> Convert for Check<S, T> {
    type Source = S;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: S) -> (T, Bits<Self>) {
        let bits = element.extend();
        let outside = bits.wrapping_sub(self.least.extend()) & self.outside.extend();
        (T::truncate(bits), <S as Lane>::Bits::truncate(outside))
    }
}

#[derive(Debug, Clone, Copy)]
struct Clamp<S, T> {
    least: S,
    most: S,
    to: PhantomData<T>,
}

impl<S: Integer, T: Integer> Convert for Clamp<S, T> {
    type Source = S;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: S) -> (T, Bits<Self>) {
        (T::truncate(element.max(self.least).min(self.most).extend()), fault(false))
    }
}

/// Modulo `2^N`, for types that fill their bytes.
#[derive(Debug, Clone, Copy)]
struct Truncate<S, T> {
    from: PhantomData<S>,
    to: PhantomData<T>,
}

impl<S: Integer, T: Integer> Convert for Truncate<S, T> {
    type Source = S;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: S) -> (T, Bits<Self>) {
        (T::truncate(element.extend()), fault(false))
    }
}

/// The low N bits, sign-extended: a value modulo `2^N`, as an `intN` lies in memory.
#[derive(Debug, Clone, Copy)]
pub(in crate::codec::cast_value) struct LowBits {
    mask: u64,
    sign: u64,
}

impl LowBits {
    pub(in crate::codec::cast_value) fn new(bits: u32, signed: bool) -> Self {
        // The store cuts whole bytes.
        let mask = if bits < 8 { (1 << bits) - 1 } else { u64::MAX };
        Self { mask, sign: if signed && bits < 8 { 1 << (bits - 1) } else { 0 } }
    }

    #[inline(always)]
    pub(in crate::codec::cast_value) fn of(self, bits: u64) -> u64 {
        ((bits & self.mask) ^ self.sign).wrapping_sub(self.sign)
    }
}

#[derive(Debug, Clone, Copy)]
struct Wrap<S, T> {
    low: LowBits,
    from: PhantomData<S>,
    to: PhantomData<T>,
}

impl<S: Integer, T: Integer> Convert for Wrap<S, T> {
    type Source = S;
    type Target = T;

    #[inline(always)]
    fn convert(&self, element: S) -> (T, Bits<Self>) {
        (T::truncate(self.low.of(element.extend())), fault(false))
    }
}
