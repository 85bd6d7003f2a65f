//! Scaling bound to a data type: both directions, with the errors.
//!
//! Loops only note whether any element of a block was refused; the reference then finds the first, if there is one.

use super::loops::Loops;
use super::reference::apply;
use crate::data_type::{Component, DataType};
use crate::error::{Error, Result};
use crate::interface::Elementwise;
use crate::number::{FloatId, Operation, Scaling};
use crate::simd::{Level, Tier, best};

/// An operation of one direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub(super) operation: Operation,
    /// As bits of the data type.
    pub(super) bits: u64,
}

/// Both directions.
#[derive(Debug)]
pub(in crate::codec) struct BoundScaling {
    encode: OneWay,
    decode: OneWay,
}

#[derive(Debug)]
struct OneWay {
    data_type: DataType,
    operands: Vec<Operand>,
    /// `None` for the reference alone.
    loops: Option<Loops>,
}

/// Makes the loops of a tier, given the operands of one direction and the reference.
type MakeLoops = fn(Component, &[Operand], &dyn Fn(&[u8], &mut [u8]) -> bool) -> Option<Loops>;

/// Fastest first. Portable loops are also compiled for AVX2 and AVX-512.
static TIERS: &[Tier<MakeLoops>] = &[
    Tier {
        level: Level::Portable,
        kernel: |component, operands, reference| Some(Loops::new(component, operands, reference)),
    },
    Tier { level: Level::Reference, kernel: |_, _, _| None },
];

impl BoundScaling {
    pub(super) fn new(data_type: &DataType, encode: Vec<Operand>, decode: Vec<Operand>) -> Self {
        Self { encode: OneWay::new(data_type, encode), decode: OneWay::new(data_type, decode) }
    }

    /// The operands for loops that scale floats and then convert them; `None` for other types.
    pub(in crate::codec) fn scaling(&self) -> Option<Scaling<u64>> {
        let Component::Float(format) = self.encode.data_type.component() else { return None };
        let operand = |operation: Operation, neutral: f64| match (
            self.encode.operands.iter().find(|operand| operand.operation == operation),
            format.id,
        ) {
            (Some(operand), FloatId::Float32 | FloatId::Float64) => Some(operand.bits),
            (None, FloatId::Float32) => Some((neutral as f32).to_bits().into()),
            (None, FloatId::Float64) => Some(neutral.to_bits()),
            _ => None,
        };
        // Adding -0 changes nothing, not even a zero. Subtracting it makes +0 of -0, which are the same integer.
        Some(Scaling { offset: operand(Operation::Subtract, -0.0)?, scale: operand(Operation::Multiply, 1.0)? })
    }
}

impl Elementwise for BoundScaling {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        self.encode.run(decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.decode.run(encoded, decoded)
    }

    fn is_copy(&self) -> bool {
        // Bits above a small type are not copied.
        self.encode.operands.is_empty() && self.encode.data_type.component().bits() >= 8
    }
}

impl OneWay {
    fn new(data_type: &DataType, operands: Vec<Operand>) -> Self {
        let mut one_way = Self { data_type: data_type.clone(), operands, loops: None };
        one_way.loops = best(TIERS).and_then(|tier| {
            let reference = |input: &[u8], output: &mut [u8]| one_way.reference(input, output).is_ok();
            (tier.kernel)(data_type.component(), &one_way.operands, &reference)
        });
        one_way
    }

    fn run(&self, input: &[u8], output: &mut [u8]) -> Result<()> {
        let Some(loops) = &self.loops else { return self.reference(input, output) };
        loops.run(input, output, |first, input, output| {
            self.reference(input, output).map_err(|error| error.after_elements(first as u64))
        })
    }

    /// Element by element; the first that is refused is the error.
    fn reference(&self, input: &[u8], output: &mut [u8]) -> Result<()> {
        let component = self.data_type.component();
        let size = component.size();
        for (index, (input, output)) in input.chunks_exact(size).zip(output.chunks_exact_mut(size)).enumerate() {
            let mut bits = component.load(input);
            for operand in &self.operands {
                bits = apply(component, operand.operation, bits, operand.bits)
                    .ok_or_else(|| self.fault(index, input, *operand))?;
            }
            component.store(bits, output);
        }
        Ok(())
    }

    #[cold]
    fn fault(&self, index: usize, element: &[u8], operand: Operand) -> Error {
        let component = self.data_type.component();
        let show = |bits: u64| self.data_type.scalar_to_json(&self.data_type.scalar(bits));
        let operation = match operand.operation {
            Operation::Add => "adding offset",
            Operation::Subtract => "subtracting offset",
            Operation::Multiply => "multiplying by scale",
            Operation::Divide => "dividing by scale",
        };
        Error::out_of_range(
            index,
            format!(
                "is {}: {operation} {} gives a value that {} cannot represent",
                show(component.load(element)),
                show(operand.bits),
                self.data_type
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{available, with_limit};
    use proptest::prelude::*;

    /// The levels that portable loops are also compiled for.
    const LOOP_LEVELS: &[Level] = &[
        #[cfg(target_arch = "x86_64")]
        Level::Avx2,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512,
    ];

    /// One direction within every limit; loops of a tier are compiled for more than one.
    fn in_every_tier(name: &str, operands: &[Operand]) -> Vec<(Level, OneWay)> {
        let levels: Vec<Level> = available(TIERS).map(|tier| tier.level).collect();
        let higher = LOOP_LEVELS.iter().filter(|level| level.is_available()).map(|level| (*level, Some(*level)));
        let limits = levels.into_iter().map(|level| (level, Some(level))).chain(higher);
        let ways = limits.map(|(level, limit)| {
            let data_type = DataType::from_name(name).unwrap();
            (level, with_limit(limit, || OneWay::new(&data_type, operands.to_vec())))
        });
        ways.collect()
    }

    /// Every tier gives the same bytes as the reference, or the same error after the same bytes.
    fn compare(ways: &[(Level, OneWay)], input: &[u8]) {
        for (level, one_way) in ways {
            let (mut fast, mut exact) = (vec![0xA5; input.len()], vec![0x5A; input.len()]);
            let run = || one_way.run(input, &mut fast);
            let results = (with_limit(Some(*level), run), one_way.reference(input, &mut exact));
            let size = one_way.data_type.size();
            let length = input.len() / size;
            let place = || format!("tier {level:?}, {:?}, length {length}: {:?}", one_way.data_type, one_way.operands);
            assert_eq!(results.0, results.1, "{}", place());
            let fault = results.0.err().and_then(|error| error.element_index());
            let written = fault.map_or(input.len(), |index| index as usize * size);
            assert_eq!(fast[..written], exact[..written], "{}", place());
        }
    }

    fn directions(operands: [u64; 2]) -> Vec<Vec<Operand>> {
        let operand = |operation, index: usize| Operand { operation, bits: operands[index] };
        let (subtract, multiply) = (operand(Operation::Subtract, 0), operand(Operation::Multiply, 1));
        let (divide, add) = (operand(Operation::Divide, 1), operand(Operation::Add, 0));
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
    fn every_tier_scales_every_element_of_16_bits_like_the_reference() {
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
            for operands in directions(operands) {
                let ways = in_every_tier(name, &operands);
                // In pieces of one, so that one that is refused does not hide the rest.
                for element in &all {
                    compare(&ways, element);
                }
                compare(&ways, all.as_flattened());
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
        fn every_tier_scales_wide_elements_like_the_reference(
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
            for operands in directions([offset, scale]) {
                let ways = in_every_tier(name, &operands);
                compare(&ways, &input);
                for element in input.chunks_exact(data_type.size()) {
                    compare(&ways, element);
                }
            }
        }
    }
}
