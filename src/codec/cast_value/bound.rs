//! A cast bound to its data types: both directions, with the errors.

use super::map_index::MapIndex;
use super::pipeline::Pipeline;
use super::reference::{Cast, OutOfRange, value};
use super::tiers::{Kernels, TIERS};
use crate::codec::joint::Joint;
use crate::data_type::{Component, DataType};
use crate::error::{Error, Result};
use crate::interface::Elementwise;
use crate::number::{FloatValue, Scaling, integer_range};
use crate::simd::best;
use serde_json::Value;
use std::sync::Arc;

/// Both directions of a cast.
#[derive(Debug)]
pub(in crate::codec) struct BoundCast {
    encode: OneWay,
    decode: OneWay,
}

#[derive(Debug)]
struct OneWay {
    cast: Cast,
    map: MapIndex,
    source: DataType,
    target: DataType,
    /// `None` for the reference alone.
    pipeline: Option<Pipeline>,
}

impl BoundCast {
    /// By the fastest tier of this processor.
    pub(super) fn new(encode: Cast, decode: Cast, source: &DataType, target: &DataType) -> Self {
        Self::in_tier(fastest(), encode, decode, source, target)
    }

    pub(super) fn in_tier(
        tier: Option<&Kernels>,
        encode: Cast,
        decode: Cast,
        source: &DataType,
        target: &DataType,
    ) -> Self {
        Self { encode: OneWay::new(tier, encode, source, target), decode: OneWay::new(tier, decode, target, source) }
    }

    /// One loop for scaling floats and this cast to integers, if there is one.
    pub(in crate::codec) fn after_scaling(&self, scaling: Scaling<u64>) -> Option<Arc<dyn Joint>> {
        Some(Arc::new(ScaledCast::new(fastest()?, &self.encode.cast, &self.decode.cast, scaling)?))
    }
}

fn fastest() -> Option<&'static Kernels> {
    best(TIERS)?.kernel.as_ref()
}

impl Elementwise for BoundCast {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        self.encode.run(decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.decode.run(encoded, decoded)
    }

    fn is_copy(&self) -> bool {
        [&self.encode, &self.decode].iter().all(|one_way| one_way.pipeline.as_ref().is_some_and(Pipeline::is_copy))
    }
}

/// `scale_offset` and a cast, each direction in one loop.
#[derive(Debug)]
pub(super) struct ScaledCast {
    encode: Pipeline,
    decode: Pipeline,
}

impl ScaledCast {
    /// `None` if a direction has no such loop.
    pub(super) fn new(tier: &Kernels, encode: &Cast, decode: &Cast, scaling: Scaling<u64>) -> Option<Self> {
        let encode = Pipeline::scaled(encode, scaling, tier)?;
        Some(Self { encode, decode: Pipeline::scaled_back(decode, scaling)? })
    }
}

impl Joint for ScaledCast {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> bool {
        self.encode.run(decoded, encoded, |_, _, _| Err(())).is_ok()
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> bool {
        self.decode.run(encoded, decoded, |_, _, _| Err(())).is_ok()
    }
}

impl OneWay {
    fn new(tier: Option<&Kernels>, cast: Cast, source: &DataType, target: &DataType) -> Self {
        let pipeline = tier.and_then(|tier| Pipeline::new(&cast, tier));
        Self { map: MapIndex::new(&cast), cast, source: source.clone(), target: target.clone(), pipeline }
    }

    fn run(&self, input: &[u8], output: &mut [u8]) -> Result<()> {
        let Some(pipeline) = &self.pipeline else { return self.run_reference(input, output) };
        pipeline.run(input, output, |first, input, output| {
            self.run_reference(input, output).map_err(|error| error.after_elements(first as u64))
        })
    }

    fn run_reference(&self, input: &[u8], output: &mut [u8]) -> Result<()> {
        let (source, target) = (self.cast.source, self.cast.target);
        let elements = input.chunks_exact(source.size()).zip(output.chunks_exact_mut(target.size()));
        for (index, (input, output)) in elements.enumerate() {
            let bits = source.load(input);
            let cast = self.map.find(bits).or_else(|| self.cast.convert(bits));
            target.store(cast.ok_or_else(|| self.fault(index, input))?, output);
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
    data_type.scalar_to_json(&data_type.scalar(bits))
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
