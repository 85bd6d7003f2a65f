//! `scale_offset` of floats and a cast to or from integers in one loop.

use super::float_lane::Float;
use super::lane::{Bits, Convert, Integer, Lane};
use super::plan::Plan;
use super::reference::Cast;
use crate::codec::Joint;
use crate::codec::scale_offset::Scaling;
use crate::error::Error;
use crate::simd::{Level, limit};

/// Scaling and a cast, both directions.
#[derive(Debug)]
pub(super) struct ScaleAndCast {
    encode: Plan,
    decode: Plan,
}

impl ScaleAndCast {
    /// None if a direction has no such loop.
    pub(super) fn new(encode: &Cast, decode: &Cast, scaling: Scaling) -> Option<Self> {
        Some(Self { encode: Plan::scaled(encode, scaling)?, decode: Plan::scaled_back(decode, scaling)? })
    }
}

impl Joint for ScaleAndCast {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> bool {
        run(&self.encode, decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> bool {
        run(&self.decode, encoded, decoded)
    }
}

fn run(plan: &Plan, input: &[u8], output: &mut [u8]) -> bool {
    let give_up = |_, _: &[u8], _: &mut [u8]| Err(Error::internal("not for the loop that scales and casts"));
    limit() != Some(Level::Reference) && plan.run(input, output, give_up).is_ok()
}

/// A conversion of what scaling makes of a number. Whoever uses it sees to it that scaling to an infinity is a fault.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaled<C: Convert> {
    conversion: C,
    offset: C::Source,
    scale: C::Source,
}

impl<C: Convert> Scaled<C> {
    pub(super) fn new(conversion: C, scaling: Scaling) -> Self {
        let [offset, scale] = [scaling.offset, scaling.scale].map(operand);
        Self { conversion, offset, scale }
    }
}

impl<C: Convert<Source: Float>> Convert for Scaled<C> {
    type Source = C::Source;
    type Target = C::Target;

    #[inline(always)]
    fn convert(&self, element: C::Source) -> (C::Target, Bits<Self>) {
        self.conversion.convert((element - self.offset) * self.scale)
    }
}

/// What scaling back makes of the number that a conversion gives.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScaledBack<C: Convert> {
    conversion: C,
    offset: C::Target,
    scale: C::Target,
}

impl<C: Convert> ScaledBack<C> {
    pub(super) fn new(conversion: C, scaling: Scaling) -> Self {
        let [offset, scale] = [scaling.offset, scaling.scale].map(operand);
        Self { conversion, offset, scale }
    }
}

impl<C: Convert<Target: Float>> Convert for ScaledBack<C> {
    type Source = C::Source;
    type Target = C::Target;

    #[inline(always)]
    fn convert(&self, element: C::Source) -> (C::Target, Bits<Self>) {
        let (number, fault) = self.conversion.convert(element);
        (number / self.scale + self.offset, fault)
    }
}

/// One number scaled back; none if it becomes infinite.
pub(super) fn scaled_back<F: Float>(number: F, scaling: Scaling) -> Option<F> {
    let is_finite = |number: F| number.not_finite() == F::Bits::truncate(0);
    let result = number / operand(scaling.scale) + operand(scaling.offset);
    (is_finite(result) || !is_finite(number)).then_some(result)
}

fn operand<L: Lane>(bits: u64) -> L {
    L::from_bits(L::Bits::truncate(bits))
}
