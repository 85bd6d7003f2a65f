//! `scale_offset` of floats and a cast to or from integers in one loop.

use super::float_lane::Float;
use super::lane::{Bits, Convert, Integer, Lane};
use super::plan::Plan;
use super::reference::Cast;
use crate::codec::simd::{Limit, limit};
use crate::codec::{Elementwise, Scaling};
use crate::error::{Error, Result};

/// Scaling and a cast, both directions.
#[derive(Debug)]
pub(super) struct Joint {
    encode: Plan,
    decode: Plan,
}

impl Joint {
    /// None if a direction has no such loop.
    pub(super) fn new(encode: &Cast, decode: &Cast, scaling: Scaling) -> Option<Self> {
        Some(Self { encode: Plan::scaled(encode, scaling)?, decode: Plan::scaled_back(decode, scaling)? })
    }
}

impl Elementwise for Joint {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        run(&self.encode, decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        run(&self.decode, encoded, decoded)
    }
}

fn run(plan: &Plan, input: &[u8], output: &mut [u8]) -> Result<()> {
    if limit() == Limit::Reference {
        return Err(refusal());
    }
    plan.run(input, output, |_, _, _| Err(refusal()))
}

#[cold]
fn refusal() -> Error {
    Error::out_of_range(0, "is not for the loop that scales and casts at once".to_owned())
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
