//! Scaling many elements: in loops that the compiler vectorises; types of fewer than 8 bits, and floats of 8, by table.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls code compiled for instructions that the processor was found to have")
)]

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::bound::Operand;
use super::integer::IntegerScaling;
use super::number::{Bfloat16, Number};
use crate::codec::cast_value::AsFloat32;
use crate::data_type::Component;
use crate::number::{FloatFormat, FloatId, Formula, Minus, Operation, Over, Plus, Then, Times};
#[cfg(target_arch = "x86_64")]
use crate::simd::Level;
use crate::simd::{Loop, vectorized};

/// The loop of one direction.
#[derive(Debug)]
pub(super) struct Loops {
    component: Component,
    operands: Vec<Operand>,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Integer(IntegerScaling),
    /// Floats in a loop of the type.
    Native,
    /// `float16` in `float32`, by loops that convert.
    Float32(AsFloat32),
    #[cfg(target_arch = "x86_64")]
    /// `float16` in vectors of `float32`.
    Float16,
    /// The result and the fault of every byte, for small types and floats of 8 bits.
    Table(Box<[(u8, bool); 256]>),
}

/// Elements that are checked together: enough that starting a block costs little.
const BLOCK_COUNT: usize = 8192;

/// The same for blocks that become `float32` in between: few enough to stay in the first-level cache.
const FLOAT32_BLOCK_COUNT: usize = 1024;

/// Two blocks of `float32`.
type Floats = [[u8; 4 * FLOAT32_BLOCK_COUNT]; 2];

impl Loops {
    /// `reference` scales a slice, and says whether every element has a result.
    pub(super) fn new(
        component: Component,
        operands: &[Operand],
        reference: &dyn Fn(&[u8], &mut [u8]) -> bool,
    ) -> Self {
        let by_table = || {
            Way::Table(Box::new(std::array::from_fn(|byte| {
                let mut result = [0];
                let is_fine = reference(&[byte as u8], &mut result);
                (result[0], !is_fine)
            })))
        };
        let way = match component {
            Component::Int { bits: bits @ (8 | 16 | 32 | 64), signed } => {
                Way::Integer(IntegerScaling::new(bits, signed, operands))
            }
            Component::Float(FloatFormat { id: FloatId::Float32 | FloatId::Float64 | FloatId::Bfloat16, .. }) => {
                Way::Native
            }
            #[cfg(target_arch = "x86_64")]
            Component::Float(FloatFormat { id: FloatId::Float16, .. }) if Level::Avx2.is_available() => Way::Float16,
            _ => AsFloat32::new(component).map_or_else(by_table, Way::Float32),
        };
        Self { component, operands: operands.to_vec(), way }
    }

    /// Scales every element. A block with a refused element goes to `mend`, with the index of its first element.
    pub(super) fn run<E>(
        &self,
        input: &[u8],
        output: &mut [u8],
        mend: impl FnMut(usize, &[u8], &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.way {
            Way::Integer(scaling) => self.run_blocks(BLOCK_COUNT, input, output, mend, |i, o| scaling.run(i, o)),
            Way::Native => self.run_blocks(BLOCK_COUNT, input, output, mend, |i, o| self.run_native(i, o)),
            #[cfg(target_arch = "x86_64")]
            Way::Float16 => self.run_blocks(BLOCK_COUNT, input, output, mend, |i, o| {
                // SAFETY: this way is only taken where the processor has AVX2 and F16C.
                unsafe { avx2::run(&self.operands, i, o) }
            }),
            Way::Table(table) => self.run_blocks(BLOCK_COUNT, input, output, mend, |i, o| run_table(table, i, o)),
            Way::Float32(lanes) => {
                let mut floats: Floats = [[0; 4 * FLOAT32_BLOCK_COUNT]; 2];
                self.run_blocks(FLOAT32_BLOCK_COUNT, input, output, mend, |i, o| {
                    self.run_float32(lanes, i, o, &mut floats)
                })
            }
        }
    }

    fn run_blocks<E>(
        &self,
        count: usize,
        input: &[u8],
        output: &mut [u8],
        mut mend: impl FnMut(usize, &[u8], &mut [u8]) -> Result<(), E>,
        mut run: impl FnMut(&[u8], &mut [u8]) -> bool,
    ) -> Result<(), E> {
        let size = count * self.component.size();
        for (index, (input, output)) in input.chunks(size).zip(output.chunks_mut(size)).enumerate() {
            if !run(input, output) {
                mend(index * count, input, output)?;
            }
        }
        Ok(())
    }

    /// Whether every element has a result; if not, the output is not to be used.
    fn run_native(&self, input: &[u8], output: &mut [u8]) -> bool {
        match self.component {
            Component::Float(FloatFormat { id: FloatId::Bfloat16, .. }) => {
                self.run_numbers::<Bfloat16, 2>(input, output)
            }
            Component::Float(FloatFormat { id: FloatId::Float32, .. }) => self.run_numbers::<f32, 4>(input, output),
            Component::Float(FloatFormat { id: FloatId::Float64, .. }) => self.run_numbers::<f64, 8>(input, output),
            _ => false,
        }
    }

    fn run_numbers<T: Number<Bytes = [u8; SIZE]>, const SIZE: usize>(&self, input: &[u8], output: &mut [u8]) -> bool {
        let (input, output) = (input.as_chunks::<SIZE>().0, output.as_chunks_mut::<SIZE>().0);
        let operand = |index: usize| T::from_bits(self.operands[index].bits);
        let operation = |index: usize| self.operands.get(index).map(|operand| operand.operation);
        let is_fine = match (operation(0), operation(1)) {
            (None, _) => {
                output.copy_from_slice(input);
                true
            }
            (Some(Operation::Subtract), None) => map::<T>(input, output, Minus(operand(0))),
            (Some(Operation::Add), None) => map::<T>(input, output, Plus(operand(0))),
            (Some(Operation::Multiply), None) => map::<T>(input, output, Times(operand(0))),
            (Some(Operation::Divide), None) => match operand(0).reciprocal() {
                Some(reciprocal) => map::<T>(input, output, Times(reciprocal)),
                None => map::<T>(input, output, Over(operand(0))),
            },
            (Some(Operation::Subtract), Some(_)) => map::<T>(input, output, Then(Minus(operand(0)), Times(operand(1)))),
            (Some(_), Some(_)) => match operand(0).reciprocal() {
                Some(reciprocal) => map::<T>(input, output, Then(Times(reciprocal), Plus(operand(1)))),
                None => map::<T>(input, output, Then(Over(operand(0)), Plus(operand(1)))),
            },
        };
        is_fine || !vectorized(Faults::<T> { before: input, after: output })
    }

    /// Through `float32`, rounded back after each operation: it has more than twice the digits, so that this is the
    /// same as rounding once (Figueroa, "When is double rounding innocuous?", 1995; tests compare subnormal results).
    fn run_float32(&self, lanes: &AsFloat32, input: &[u8], output: &mut [u8], [before, after]: &mut Floats) -> bool {
        let size = 2 * input.len();
        let (before, after) = (&mut before[..size], &mut after[..size]);
        output.copy_from_slice(input);
        for operand in &self.operands {
            lanes.widen(output, before);
            let mut wide = [0; 4];
            lanes.widen(&(operand.bits as u16).to_ne_bytes(), &mut wide);
            let wide = f32::from_ne_bytes(wide);
            let (before, after) = (before.as_chunks().0, after.as_chunks_mut().0);
            match operand.operation {
                Operation::Add => map::<f32>(before, after, Plus(wide)),
                Operation::Subtract => map::<f32>(before, after, Minus(wide)),
                Operation::Multiply => map::<f32>(before, after, Times(wide)),
                Operation::Divide => map::<f32>(before, after, Over(wide)),
            };
            if !lanes.narrow(after.as_flattened(), output) {
                return false;
            }
        }
        !lanes.lose(input, output)
    }
}

fn run_table(table: &[(u8, bool); 256], input: &[u8], output: &mut [u8]) -> bool {
    let mut is_faulty = false;
    for (input, output) in input.iter().zip(output) {
        let (result, fault) = table[usize::from(*input)];
        is_faulty |= fault;
        *output = result;
    }
    !is_faulty
}

/// Applies a formula to every number. Whether all certainly have results.
fn map<T: Number>(input: &[T::Bytes], output: &mut [T::Bytes], formula: impl Formula<T>) -> bool {
    vectorized(Map::<T, _> { input, output, formula })
}

struct Map<'a, T: Number, F> {
    input: &'a [T::Bytes],
    output: &'a mut [T::Bytes],
    formula: F,
}

impl<T: Number, F: Formula<T>> Loop for Map<'_, T, F> {
    type Output = bool;

    #[inline(always)] // compiled for the instruction set of the caller
    fn run(self) -> bool {
        let mut faults = T::Fault::default();
        for (input, output) in self.input.iter().zip(self.output) {
            let result = self.formula.apply(T::load(*input));
            faults = faults | result.suspicion();
            *output = result.store();
        }
        faults & T::TESTED == T::Fault::default()
    }
}

/// Whether any number has become a fault.
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
            faults = faults | T::fault(T::load(*before), T::load(*after));
        }
        faults & T::TESTED != T::Fault::default()
    }
}
