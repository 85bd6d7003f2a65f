//! Conversions with the arithmetic of `scale_offset` in the same loop.

use super::float::Float;
use super::lane::{Integer, Lane};
use super::loops::{Bits, Convert};
use crate::number::{Formula, Scaling};

/// Scaling, then a conversion. Where scaling to an infinity has to be a fault, the conversion must refuse infinities.
#[derive(Debug, Clone, Copy)]
pub(in crate::codec::cast_value) struct Scaled<C: Convert> {
    conversion: C,
    scaling: Scaling<C::Source>,
}

impl<C: Convert> Scaled<C> {
    pub(in crate::codec::cast_value) fn new(conversion: C, scaling: Scaling<u64>) -> Self {
        Self { conversion, scaling: scaling.map(operand) }
    }
}

impl<C: Convert<Source: Float>> Convert for Scaled<C> {
    type Source = C::Source;
    type Target = C::Target;

    #[inline(always)]
    fn convert(&self, element: C::Source) -> (C::Target, Bits<Self>) {
        self.conversion.convert(self.scaling.encode().apply(element))
    }
}

/// A conversion, then scaling back by a formula.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScaledBack<C, S> {
    pub(super) conversion: C,
    pub(super) formula: S,
}

impl<C: Convert<Target: Float>, S: Formula<C::Target>> Convert for ScaledBack<C, S> {
    type Source = C::Source;
    type Target = C::Target;

    #[inline(always)]
    fn convert(&self, element: C::Source) -> (C::Target, Bits<Self>) {
        let (number, fault) = self.conversion.convert(element);
        (self.formula.apply(number), fault)
    }
}

/// One number scaled back; `None` if that makes it infinite.
pub(in crate::codec::cast_value) fn scaled_back<F: Float>(number: F, scaling: Scaling<u64>) -> Option<F> {
    let is_finite = |number: F| number.not_finite() == F::Bits::truncate(0);
    let result = scaling.map(operand).decode().apply(number);
    (is_finite(result) || !is_finite(number)).then_some(result)
}

/// A number given by its bits.
pub(in crate::codec::cast_value) fn operand<L: Lane>(bits: u64) -> L {
    L::from_bits(L::Bits::truncate(bits))
}
