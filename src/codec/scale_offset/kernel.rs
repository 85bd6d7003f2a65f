//! Scaling many elements: in loops that the compiler vectorises; small types and floats of 8 bits by table.
//!
//! A loop only notes whether any element of its block has no image; the reference then finds the first.

use super::number::Number;
use super::reference::{Operation, apply};
use crate::codec::cast_value::Float32Lanes;
use crate::data_type::{Component, DataType, Scalar};
use crate::error::{Error, Result};
use crate::interface::Elementwise;
use crate::simd::{Level, Loop, limit, vectorized};

/// One step of a direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) operation: Operation,
    /// As bits of the data type.
    pub(super) operand: u64,
}

/// `(element - offset) * scale` on encode, `element / scale + offset` on decode, on `float32` or `float64`.
#[derive(Debug, Clone, Copy)]
pub(in crate::codec) struct Scaling {
    /// As bits of the data type.
    pub(in crate::codec) offset: u64,
    /// As bits of the data type.
    pub(in crate::codec) scale: u64,
}

/// Both directions, bound to a data type.
#[derive(Debug)]
pub(in crate::codec) struct Kernel {
    encode: Direction,
    decode: Direction,
}

#[derive(Debug)]
struct Direction {
    data_type: DataType,
    steps: Vec<Step>,
    /// The image of every byte and its fault, for small types and floats of 8 bits.
    table: Option<Box<[(u8, bool); 256]>>,
    /// Of floats of 16 bits.
    lanes: Option<Float32Lanes>,
}

/// Elements that are checked together: so many that beginning a block costs little.
const BLOCK_COUNT: usize = 8192;

/// The same where a block stands in between as `float32`: so few that it stays in the first-level cache.
const LANE_BLOCK_COUNT: usize = 1024;

/// Two blocks of `float32`.
type Floats = [[u8; 4 * LANE_BLOCK_COUNT]; 2];

impl Kernel {
    pub(super) fn new(data_type: &DataType, encode: Vec<Step>, decode: Vec<Step>) -> Self {
        Self { encode: Direction::new(data_type, encode), decode: Direction::new(data_type, decode) }
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
        // Bits above a small type are not copied.
        self.encode.steps.is_empty() && self.encode.data_type.component().bits() >= 8
    }
}

impl Kernel {
    /// What this kernel does, if it scales floats of 32 or 64 bits.
    pub(in crate::codec) fn scaling(&self) -> Option<Scaling> {
        let operand = |operation: Operation, neutral: f64| {
            let steps = &self.encode.steps;
            match (steps.iter().find(|step| step.operation == operation), self.encode.data_type.name()) {
                (Some(step), "float32" | "float64") => Some(step.operand),
                (None, "float32") => Some((neutral as f32).to_bits().into()),
                (None, "float64") => Some(neutral.to_bits()),
                _ => None,
            }
        };
        // Adding -0 changes nothing, not even a zero.
        Some(Scaling { offset: operand(Operation::Subtract, -0.0)?, scale: operand(Operation::Multiply, 1.0)? })
    }
}

impl Direction {
    fn new(data_type: &DataType, steps: Vec<Step>) -> Self {
        let lanes = Float32Lanes::new(data_type.component());
        let mut direction = Self { data_type: data_type.clone(), steps, table: None, lanes };
        if data_type.size() == 1 {
            let image = |byte: usize| {
                let mut image = [0];
                let has_image = direction.reference(&[byte as u8], &mut image).is_ok();
                (image[0], !has_image)
            };
            direction.table = Some(Box::new(std::array::from_fn(image)));
        }
        direction
    }

    fn run(&self, input: &[u8], output: &mut [u8]) -> Result<()> {
        if limit() == Some(Level::Reference) {
            return self.reference(input, output);
        }
        let mut floats: Floats;
        match &self.lanes {
            Some(lanes) => {
                floats = [[0; 4 * LANE_BLOCK_COUNT]; 2];
                self.run_blocks(LANE_BLOCK_COUNT, input, output, |input, output| {
                    self.run_lanes(lanes, input, output, &mut floats)
                })
            }
            None => self.run_blocks(BLOCK_COUNT, input, output, |input, output| self.run_block(input, output)),
        }
    }

    /// Block by block; the reference knows what is wrong with one, if anything.
    fn run_blocks(
        &self,
        count: usize,
        input: &[u8],
        output: &mut [u8],
        mut run: impl FnMut(&[u8], &mut [u8]) -> bool,
    ) -> Result<()> {
        let size = count * self.data_type.size();
        for (index, (input, output)) in input.chunks(size).zip(output.chunks_mut(size)).enumerate() {
            if !run(input, output) {
                self.reference(input, output).map_err(|error| error.after_elements((index * count) as u64))?;
            }
        }
        Ok(())
    }

    /// Whether every element has an image; if not, the output is of no use.
    fn run_block(&self, input: &[u8], output: &mut [u8]) -> bool {
        match self.data_type.component() {
            Component::Int { bits: 8, signed: true } => self.run_numbers::<i8, 1>(input, output),
            Component::Int { bits: 8, signed: false } => self.run_numbers::<u8, 1>(input, output),
            Component::Int { bits: 16, signed: true } => self.run_numbers::<i16, 2>(input, output),
            Component::Int { bits: 16, signed: false } => self.run_numbers::<u16, 2>(input, output),
            Component::Int { bits: 32, signed: true } => self.run_numbers::<i32, 4>(input, output),
            Component::Int { bits: 32, signed: false } => self.run_numbers::<u32, 4>(input, output),
            Component::Int { bits: 64, signed: true } => self.run_numbers::<i64, 8>(input, output),
            Component::Int { bits: 64, signed: false } => self.run_numbers::<u64, 8>(input, output),
            Component::Float(format) => match format.name {
                "float32" => self.run_numbers::<f32, 4>(input, output),
                "float64" => self.run_numbers::<f64, 8>(input, output),
                _ => self.run_table(input, output),
            },
            _ => self.run_table(input, output),
        }
    }

    fn run_table(&self, input: &[u8], output: &mut [u8]) -> bool {
        let Some(table) = &self.table else { return false };
        let mut is_faulty = false;
        for (input, output) in input.iter().zip(output) {
            let (image, fault) = table[usize::from(*input)];
            is_faulty |= fault;
            *output = image;
        }
        !is_faulty
    }

    fn run_numbers<T: Number<Bytes = [u8; SIZE]>, const SIZE: usize>(&self, input: &[u8], output: &mut [u8]) -> bool {
        let (input, output) = (input.as_chunks::<SIZE>().0, output.as_chunks_mut::<SIZE>().0);
        let operand = |index: usize| T::from_bits(self.steps[index].operand);
        let operation = |index: usize| self.steps.get(index).map(|step| step.operation);
        let is_fine = match (operation(0), operation(1)) {
            (None, _) => {
                output.copy_from_slice(input);
                true
            }
            (Some(Operation::Subtract), None) => vectorized(Map::<T, _> { input, output, steps: Subtract(operand(0)) }),
            (Some(Operation::Add), None) => vectorized(Map::<T, _> { input, output, steps: Add(operand(0)) }),
            (Some(Operation::Multiply), None) => vectorized(Map::<T, _> { input, output, steps: Multiply(operand(0)) }),
            (Some(Operation::Divide), None) => {
                vectorized(Map::<T, _> { input, output, steps: Divide(operand(0).divisor()) })
            }
            (Some(Operation::Subtract), Some(_)) => {
                vectorized(Map::<T, _> { input, output, steps: Then(Subtract(operand(0)), Multiply(operand(1))) })
            }
            (Some(_), Some(_)) => {
                vectorized(Map::<T, _> { input, output, steps: Then(Divide(operand(0).divisor()), Add(operand(1))) })
            }
        };
        is_fine || !vectorized(Faults::<T> { before: input, after: output })
    }

    /// Through `float32`, rounded back after each step: it has more than twice the digits, so that this is the same as
    /// rounding once (Figueroa, "When is double rounding innocuous?", 1995; tests compare subnormal results).
    fn run_lanes(&self, lanes: &Float32Lanes, input: &[u8], output: &mut [u8], [before, after]: &mut Floats) -> bool {
        let size = 2 * input.len();
        let (before, after) = (&mut before[..size], &mut after[..size]);
        output.copy_from_slice(input);
        for step in &self.steps {
            lanes.widen(output, before);
            let mut operand = [0; 4];
            lanes.widen(&(step.operand as u16).to_ne_bytes(), &mut operand);
            let operand = f32::from_ne_bytes(operand);
            let (before, after) = (before.as_chunks().0, after.as_chunks_mut().0);
            match step.operation {
                Operation::Add => vectorized(Map::<f32, _> { input: before, output: after, steps: Add(operand) }),
                Operation::Subtract => {
                    vectorized(Map::<f32, _> { input: before, output: after, steps: Subtract(operand) })
                }
                Operation::Multiply => {
                    vectorized(Map::<f32, _> { input: before, output: after, steps: Multiply(operand) })
                }
                Operation::Divide => vectorized(Map::<f32, _> { input: before, output: after, steps: Divide(operand) }),
            };
            if !lanes.narrow(after.as_flattened(), output) {
                return false;
            }
        }
        !lanes.lose(input, output)
    }

    /// Element by element; the first without an image is the error.
    fn reference(&self, input: &[u8], output: &mut [u8]) -> Result<()> {
        let component = self.data_type.component();
        let size = component.size();
        for (index, (input, output)) in input.chunks_exact(size).zip(output.chunks_exact_mut(size)).enumerate() {
            let mut bits = component.load(input);
            for step in &self.steps {
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

/// One or two steps on a number.
trait Steps<T: Number>: Copy {
    fn apply(self, number: T) -> (T, T::Fault);
}

#[derive(Clone, Copy)]
struct Add<T>(T);
#[derive(Clone, Copy)]
struct Subtract<T>(T);
#[derive(Clone, Copy)]
struct Multiply<T>(T);
/// By a [`Number::Divisor`].
#[derive(Clone, Copy)]
struct Divide<D>(D);
#[derive(Clone, Copy)]
struct Then<A, B>(A, B);

impl<T: Number> Steps<T> for Add<T> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, number: T) -> (T, T::Fault) {
        number.add(self.0)
    }
}

impl<T: Number> Steps<T> for Subtract<T> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, number: T) -> (T, T::Fault) {
        number.subtract(self.0)
    }
}

impl<T: Number> Steps<T> for Multiply<T> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, number: T) -> (T, T::Fault) {
        number.multiply(self.0)
    }
}

impl<T: Number> Steps<T> for Divide<T::Divisor> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, number: T) -> (T, T::Fault) {
        number.divide(self.0)
    }
}

impl<T: Number, A: Steps<T>, B: Steps<T>> Steps<T> for Then<A, B> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, number: T) -> (T, T::Fault) {
        let (number, first) = self.0.apply(number);
        let (number, second) = self.1.apply(number);
        (number, first | second)
    }
}

/// Whether any number has lost its image.
struct Faults<'a, T: Number> {
    before: &'a [T::Bytes],
    after: &'a [T::Bytes],
}

impl<T: Number> Loop for Faults<'_, T> {
    type Output = bool;

    #[inline(always)] // compiled for the instruction set of the caller
    fn run(self) -> bool {
        let mut faults = T::Fault::default();
        for (before, after) in self.before.iter().zip(self.after) {
            faults = faults | T::fault(T::from_ne_bytes(*before), T::from_ne_bytes(*after));
        }
        faults & T::TESTED != T::Fault::default()
    }
}

/// The same steps on every number; whether all have images for sure.
struct Map<'a, T: Number, F> {
    input: &'a [T::Bytes],
    output: &'a mut [T::Bytes],
    steps: F,
}

impl<T: Number, F: Steps<T>> Loop for Map<'_, T, F> {
    type Output = bool;

    #[inline(always)] // compiled for the instruction set of the caller
    fn run(self) -> bool {
        let mut faults = T::Fault::default();
        for (input, output) in self.input.iter().zip(self.output) {
            let number = T::from_ne_bytes(*input);
            let (image, fault) = self.steps.apply(number);
            faults = faults | fault | T::suspicion(image);
            *output = image.to_ne_bytes();
        }
        faults & T::TESTED == T::Fault::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::set_limit;
    use proptest::prelude::*;

    fn direction(name: &str, steps: &[Step]) -> Direction {
        Direction::new(&DataType::from_name(name).unwrap(), steps.to_vec())
    }

    /// Both ways of doing one direction give the same bytes, or the same error after the same bytes.
    fn compare(direction: &Direction, input: &[u8]) {
        for limit in [None, Some(Level::Portable)] {
            set_limit(limit);
            compare_within_limit(direction, input);
        }
        set_limit(None);
    }

    fn compare_within_limit(direction: &Direction, input: &[u8]) {
        let (mut fast, mut exact) = (vec![0xA5; input.len()], vec![0x5A; input.len()]);
        let results = (direction.run(input, &mut fast), direction.reference(input, &mut exact));
        assert_eq!(results.0, results.1, "{direction:?}");
        let written = results
            .0
            .err()
            .and_then(|error| error.element_index())
            .map_or(input.len(), |index| index as usize * direction.data_type.size());
        assert_eq!(fast[..written], exact[..written], "{:?} {:?}", direction.data_type, direction.steps);
    }

    fn directions(operands: [u64; 2]) -> Vec<Vec<Step>> {
        let step = |operation, index: usize| Step { operation, operand: operands[index] };
        let (subtract, multiply) = (step(Operation::Subtract, 0), step(Operation::Multiply, 1));
        let (divide, add) = (step(Operation::Divide, 1), step(Operation::Add, 0));
        vec![
            vec![],
            vec![subtract],
            vec![multiply],
            vec![subtract, multiply],
            vec![divide],
            vec![add],
            vec![divide, add],
        ]
    }

    #[test]
    fn every_element_of_16_bits_has_the_image_of_the_reference() {
        let all: Vec<[u8; 2]> = (0..=u16::MAX).map(u16::to_ne_bytes).collect();
        let operands = [
            ("int16", [3, 2]),
            ("int16", [0x8000, 0xFFFF]),
            ("uint16", [100, 7]),
            ("uint16", [0xFFFF, 0xFFFF]),
            ("float16", [0x3C01, 0x4248]),
            ("float16", [0x0001, 0x0401]),
            ("float16", [0x7BFF, 0xD640]),
            ("bfloat16", [0x3F81, 0x4049]),
            ("bfloat16", [0x0001, 0x0081]),
            ("bfloat16", [0x7F7F, 0x0003]),
        ];
        for (name, operands) in operands {
            for steps in directions(operands) {
                let direction = direction(name, &steps);
                // In pieces of one, so that one without an image does not hide the rest.
                for element in &all {
                    compare(&direction, element);
                }
                compare(&direction, all.as_flattened());
            }
        }
    }

    fn special_bits() -> impl Strategy<Value = u64> {
        let special = [0, 1, 2, 1 << 31, 1 << 63, 0x7F7F_FFFF, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, 0x0080_0000];
        let wide = [f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN, 1.0, -3.0, 0.1].map(f64::to_bits);
        prop_oneof![
            any::<u64>(),
            (-100..100_i64).prop_map(|value| value as u64),
            prop::sample::select([special.to_vec(), wide.to_vec()].concat())
        ]
    }

    proptest! {
        #[test]
        fn wide_elements_have_the_image_of_the_reference(
            type_index in 0..6_usize,
            elements in prop::collection::vec(special_bits(), 0..40),
            offset in special_bits(),
            scale in special_bits(),
        ) {
            let name = ["int32", "uint32", "int64", "uint64", "float32", "float64"][type_index];
            let data_type = DataType::from_name(name).unwrap();
            let component = data_type.component();
            let is_fit = |bits: u64| match component {
                Component::Float(format) => format.to_f64(bits).is_finite(),
                _ => true,
            };
            let [offset, scale] = [offset, scale].map(|bits| bits & (u64::MAX >> (64 - component.bits())));
            prop_assume!(is_fit(offset) && is_fit(scale));
            prop_assume!(!crate::codec::scale_offset::is_zero(component, scale));
            let mut input = vec![0; elements.len() * data_type.size()];
            for (bytes, bits) in input.chunks_exact_mut(data_type.size()).zip(&elements) {
                component.store(*bits, bytes);
            }
            for steps in directions([offset, scale]) {
                compare(&direction(name, &steps), &input);
                for element in input.chunks_exact(data_type.size()) {
                    compare(&direction(name, &steps), element);
                }
            }
        }
    }
}
