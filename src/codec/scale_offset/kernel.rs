//! Scaling many elements.

use super::reference::{Operation, apply};
use crate::codec::Elementwise;
use crate::data_type::{DataType, Scalar};
use crate::error::{Error, Result};

/// One step of a direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) operation: Operation,
    /// As bits of the data type.
    pub(super) operand: u64,
}

/// Both directions, bound to a data type.
#[derive(Debug)]
pub(super) struct Kernel {
    data_type: DataType,
    encode: Vec<Step>,
    decode: Vec<Step>,
}

impl Kernel {
    pub(super) fn new(data_type: &DataType, encode: Vec<Step>, decode: Vec<Step>) -> Self {
        Self { data_type: data_type.clone(), encode, decode }
    }

    fn run(&self, steps: &[Step], input: &[u8], output: &mut [u8]) -> Result<()> {
        let component = self.data_type.component();
        let size = component.size();
        for (index, (input, output)) in input.chunks_exact(size).zip(output.chunks_exact_mut(size)).enumerate() {
            let mut bits = component.load(input);
            for step in steps {
                bits = apply(component, step.operation, bits, step.operand)
                    .ok_or_else(|| self.fault(index, input, *step))?;
            }
            component.store(bits, output);
        }
        Ok(())
    }

    #[cold]
    fn fault(&self, index: usize, element: &[u8], step: Step) -> Error {
        let component = self.data_type.component();
        let show = |bits: u64| {
            let mut bytes = vec![0; component.size()];
            component.store(bits, &mut bytes);
            self.data_type.scalar_to_json(&Scalar(bytes.into()))
        };
        let step_name = match step.operation {
            Operation::Add => "adding offset",
            Operation::Subtract => "subtracting offset",
            Operation::Multiply => "multiplying by scale",
            Operation::Divide => "dividing by scale",
        };
        Error::out_of_range(
            index,
            format!(
                "is {}: {step_name} {} gives nothing that {} can hold",
                show(component.load(element)),
                show(step.operand),
                self.data_type
            ),
        )
    }
}

impl Elementwise for Kernel {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        self.run(&self.encode, decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.run(&self.decode, encoded, decoded)
    }

    fn is_copy(&self) -> bool {
        // Bits above a small type are not copied.
        self.encode.is_empty() && self.data_type.component().bits() >= 8
    }
}
