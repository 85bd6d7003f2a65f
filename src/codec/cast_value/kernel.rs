//! Casting many elements.

use super::plan::{BLOCK_COUNT, Plan};
use super::reference::Cast;
use crate::codec::Elementwise;
use crate::codec::simd::{Limit, limit};
use crate::data_type::{Component, DataType, Scalar};
use crate::error::{Error, Result};

/// Both directions of a bound cast.
#[derive(Debug)]
pub(super) struct Kernel {
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

impl Direction {
    fn new(cast: Cast, source: &DataType, target: &DataType) -> Self {
        let plan = Plan::new(&cast);
        Self { cast, source: source.clone(), target: target.clone(), plan }
    }

    fn run(&self, input: &[u8], output: &mut [u8]) -> Result<()> {
        let Some(plan) = self.plan.as_ref().filter(|_| limit() != Limit::Reference) else {
            return self.run_reference(input, output);
        };
        plan.run(input, output, |block, input, output| {
            self.run_reference(input, output).map_err(|error| error.after_elements(block * BLOCK_COUNT))
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
        let mut bytes = vec![0; element.len()];
        self.cast.source.store(self.cast.source.load(element), &mut bytes);
        let value = self.source.scalar_to_json(&Scalar(bytes.into()));
        Error::out_of_range(index, format!("is {value}, which has no image in {}{}", self.target, self.range()))
    }

    /// The range of an integer target, for people.
    fn range(&self) -> String {
        match self.cast.target {
            Component::Int { bits, signed } => {
                let (least, most) = crate::data_type::integer_range(bits, signed);
                format!(" ({least} to {most})")
            }
            _ => String::new(),
        }
    }
}
