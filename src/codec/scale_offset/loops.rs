//! Scaling many elements: in loops that the compiler vectorises; types of fewer than 8 bits, and floats of 8, by table.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls code compiled for instructions that the processor was found to have")
)]

use super::bound::Operand;
#[cfg(target_arch = "x86_64")]
use super::float16;
use super::formula::{Scale, with_formula, without_division};
use super::integer::IntegerScaling;
use super::scaled_float::{Bfloat16Pair, Native, ScaledFloat};
use crate::codec::cast_value::AsFloat32;
use crate::data_type::Component;
use crate::number::{FloatFormat, FloatId, Formula};
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
    /// Floats without an operation.
    Copy,
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
            Component::Float(format) if format.bits >= 16 && operands.is_empty() => Way::Copy,
            Component::Float(FloatFormat { id: FloatId::Float32 | FloatId::Float64 | FloatId::Bfloat16, .. }) => {
                Way::Native
            }
            #[cfg(target_arch = "x86_64")]
            Component::Float(FloatFormat { id: FloatId::Float16, .. }) if Level::Avx2.is_available() => Way::Float16,
            _ => AsFloat32::new(component).map_or_else(by_table, Way::Float32),
        };
        let operand = |operand: &Operand| match component {
            Component::Float(format) => without_division(format, *operand),
            _ => *operand,
        };
        Self { component, operands: operands.iter().map(operand).collect(), way }
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
            Way::Copy => {
                output.copy_from_slice(input);
                Ok(())
            }
            Way::Native => self.run_blocks(BLOCK_COUNT, input, output, mend, |i, o| self.run_native(i, o)),
            #[cfg(target_arch = "x86_64")]
            Way::Float16 => self.run_blocks(BLOCK_COUNT, input, output, mend, |i, o| {
                // SAFETY: this way is only taken where the processor has AVX2 and F16C.
                let is_fine = unsafe { float16::run(&self.operands, i, o) };
                is_fine || settle(FloatId::Float16.format(), i, o)
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
            Component::Float(format @ FloatFormat { id: FloatId::Bfloat16, .. }) => {
                self.run_pairs(input, output) || settle(format, input, output)
            }
            Component::Float(FloatFormat { id: FloatId::Float32, .. }) => self.run_floats::<f32, 4>(input, output),
            Component::Float(FloatFormat { id: FloatId::Float64, .. }) => self.run_floats::<f64, 8>(input, output),
            _ => false,
        }
    }

    fn run_pairs(&self, input: &[u8], output: &mut [u8]) -> bool {
        let pairs = output.len() / 4 * 4;
        let mut is_fine = self.run_numbers::<Bfloat16Pair, 4>(&input[..pairs], &mut output[..pairs]);
        if let [first, second] = input[pairs..] {
            let mut pair = [0; 4];
            is_fine &= self.run_numbers::<Bfloat16Pair, 4>(&[first, second, first, second], &mut pair);
            output[pairs..].copy_from_slice(&pair[..2]);
        }
        is_fine
    }

    fn run_floats<T: Native<Bytes = [u8; SIZE]>, const SIZE: usize>(&self, input: &[u8], output: &mut [u8]) -> bool {
        self.run_numbers::<T, SIZE>(input, output)
            || !vectorized(Faults::<T> { before: input.as_chunks().0, after: output.as_chunks().0 })
    }

    /// Whether every element certainly has a result.
    fn run_numbers<T: ScaledFloat<Bytes = [u8; SIZE]>, const SIZE: usize>(
        &self,
        input: &[u8],
        output: &mut [u8],
    ) -> bool {
        let (input, output) = (input.as_chunks().0, output.as_chunks_mut().0);
        with_formula(&self.operands, T::from_bits, ScaleLoop { input, output })
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
            let floats = ScaleLoop::<f32> { input: before.as_chunks().0, output: after.as_chunks_mut().0 };
            with_formula(std::slice::from_ref(operand), |_| wide, floats);
            if !lanes.narrow(after, output) {
                return false;
            }
        }
        let Component::Float(format) = self.component else { return false };
        settle(format, input, output)
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

/// Numbers before and after a formula.
struct ScaleLoop<'a, T: ScaledFloat> {
    input: &'a [T::Bytes],
    output: &'a mut [T::Bytes],
}

impl<T: ScaledFloat> Scale<T> for ScaleLoop<'_, T> {
    fn run(self, formula: impl Formula<T>) -> bool {
        vectorized(Map { input: self.input, output: self.output, formula })
    }
}

struct Map<'a, T: ScaledFloat, F> {
    input: &'a [T::Bytes],
    output: &'a mut [T::Bytes],
    formula: F,
}

impl<T: ScaledFloat, F: Formula<T>> Loop for Map<'_, T, F> {
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
struct Faults<'a, T: Native> {
    before: &'a [T::Bytes],
    after: &'a [T::Bytes],
}

impl<T: Native> Loop for Faults<'_, T> {
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

/// Gives every NaN of a format of 16 bits the pattern of the default. Whether no number was finite before and is not
/// now.
fn settle(format: &FloatFormat, before: &[u8], after: &mut [u8]) -> bool {
    let [nan, infinity] = [format.nan(), format.infinity(false)].map(|bits| bits.unwrap_or(0) as u16);
    let (before, after) = (before.as_chunks().0, after.as_chunks_mut().0);
    vectorized(Settle { before, after, nan, infinity })
}

struct Settle<'a> {
    before: &'a [[u8; 2]],
    after: &'a mut [[u8; 2]],
    nan: u16,
    infinity: u16,
}

impl Loop for Settle<'_> {
    type Output = bool;

    #[inline(always)] // compiled for the instruction set of the caller
    fn run(self) -> bool {
        // The sign bit is set if the number is finite.
        let is_finite = |bits: u16| (bits & 0x7FFF).wrapping_sub(self.infinity);
        let mut losses = 0;
        for (before, after) in self.before.iter().zip(self.after) {
            let bits = u16::from_ne_bytes(*after);
            losses |= is_finite(u16::from_ne_bytes(*before)) & !is_finite(bits);
            let settled = if bits & 0x7FFF > self.infinity { self.nan } else { bits };
            *after = settled.to_ne_bytes();
        }
        losses & 0x8000 == 0
    }
}
