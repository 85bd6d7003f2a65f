//! Casting many elements.

use super::plan::Plan;
use super::reference::{Cast, OutOfRange, value};
use super::scaled::ScaleAndCast;
use crate::codec::Joint;
use crate::codec::scale_offset::Scaling;
use crate::data_type::{Component, DataType, FloatValue, Scalar, integer_range};
use crate::error::{Error, Result};
use crate::interface::Elementwise;
use crate::simd::{Level, limit};
use serde_json::Value;
use std::sync::Arc;

/// Both directions of a bound cast.
#[derive(Debug)]
pub(in crate::codec) struct Kernel {
    encode: Direction,
    decode: Direction,
}

#[derive(Debug)]
struct Direction {
    cast: Cast,
    source: DataType,
    target: DataType,
    plan: Option<Plan>,
}

impl Kernel {
    pub(super) fn new(encode: Cast, decode: Cast, source: &DataType, target: &DataType) -> Self {
        Self { encode: Direction::new(encode, source, target), decode: Direction::new(decode, target, source) }
    }
}

impl Elementwise for Kernel {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        self.encode.run(decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.decode.run(encoded, decoded)
    }

    fn is_copy(&self) -> bool {
        [&self.encode, &self.decode].iter().all(|direction| direction.plan.as_ref().is_some_and(Plan::is_copy))
    }
}

impl Kernel {
    /// The loop that scales and then casts, if there is one.
    pub(in crate::codec) fn after(&self, scaling: Scaling) -> Option<Arc<dyn Joint>> {
        Some(Arc::new(ScaleAndCast::new(&self.encode.cast, &self.decode.cast, scaling)?))
    }
}

impl Direction {
    fn new(cast: Cast, source: &DataType, target: &DataType) -> Self {
        let plan = Plan::new(&cast);
        Self { cast, source: source.clone(), target: target.clone(), plan }
    }

    fn run(&self, input: &[u8], output: &mut [u8]) -> Result<()> {
        let Some(plan) = self.plan.as_ref().filter(|_| limit() != Some(Level::Reference)) else {
            return self.run_reference(input, output);
        };
        plan.run(input, output, |first, input, output| {
            self.run_reference(input, output).map_err(|error| error.after_elements(first as u64))
        })
    }

    fn run_reference(&self, input: &[u8], output: &mut [u8]) -> Result<()> {
        let (source, target) = (self.cast.source, self.cast.target);
        let elements = input.chunks_exact(source.size()).zip(output.chunks_exact_mut(target.size()));
        for (index, (input, output)) in elements.enumerate() {
            let image = self.cast.cast(source.load(input));
            target.store(image.ok_or_else(|| self.fault(index, input))?, output);
        }
        Ok(())
    }

    #[cold]
    fn fault(&self, index: usize, element: &[u8]) -> Error {
        let target = &self.target;
        let absent = |name| format!("is {name}, which {target} does not have, and scalar_map does not map it");
        let bits = self.cast.source.load(element);
        let message = match value(self.cast.source, bits) {
            FloatValue::Nan => absent("NaN"),
            FloatValue::Infinity { is_negative: false } => absent("Infinity"),
            FloatValue::Infinity { is_negative: true } => absent("-Infinity"),
            FloatValue::Finite(_) => {
                let reason = match self.cast.out_of_range {
                    OutOfRange::Wrap => "out_of_range is \"wrap\", which is for integers",
                    OutOfRange::Error | OutOfRange::Clamp => "out_of_range is not set",
                };
                let [least, most] = ends(self.cast.target).map(|bits| json(target, bits));
                format!("is {}, outside {target} ({least} to {most}), and {reason}", json(&self.source, bits))
            }
        };
        Error::out_of_range(index, message)
    }
}

fn json(data_type: &DataType, bits: u64) -> Value {
    let mut bytes = vec![0; data_type.size()];
    data_type.component().store(bits, &mut bytes);
    data_type.scalar_to_json(&Scalar(bytes.into()))
}

/// The least and the largest finite value.
fn ends(component: Component) -> [u64; 2] {
    match component {
        Component::Float(format) if !format.is_signed() => [0, format.largest_finite()],
        Component::Float(format) => [format.sign_bit() | format.largest_finite(), format.largest_finite()],
        Component::Int { bits, signed } => {
            let (least, most) = integer_range(bits, signed);
            [least as u64, most as u64]
        }
        Component::Bool | Component::Raw { .. } => [0, 0],
    }
}
