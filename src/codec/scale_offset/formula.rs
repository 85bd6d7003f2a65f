//! The operations of one direction as one formula, known when its loop is compiled.

use super::bound::Operand;
use super::reference::apply;
use crate::data_type::Component;
use crate::number::{FloatFormat, FloatValue, Formula, Minus, Operation, Over, Plus, Then, Times};
use std::ops::{Add, Div, Mul, Sub};

/// A loop that applies a formula to every number.
pub(super) trait Scale<T> {
    /// Whether every number certainly has a result.
    fn run(self, formula: impl Formula<T>) -> bool;
}

/// Runs a loop with the formula of one or two operands, of which `number` makes numbers.
pub(super) fn with_formula<T>(operands: &[Operand], number: impl Fn(u64) -> T, scale: impl Scale<T>) -> bool
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T>,
{
    let operation = |index: usize| operands.get(index).map(|operand| operand.operation);
    let operand = |index: usize| number(operands[index].bits);
    match (operation(0), operation(1)) {
        (None, _) => false,
        (Some(Operation::Subtract), None) => scale.run(Minus(operand(0))),
        (Some(Operation::Add), None) => scale.run(Plus(operand(0))),
        (Some(Operation::Multiply), None) => scale.run(Times(operand(0))),
        (Some(Operation::Divide), None) => scale.run(Over(operand(0))),
        (Some(Operation::Subtract), Some(_)) => scale.run(Then(Minus(operand(0)), Times(operand(1)))),
        (Some(Operation::Divide), Some(_)) => scale.run(Then(Over(operand(0)), Plus(operand(1)))),
        (Some(_), Some(_)) => scale.run(Then(Times(operand(0)), Plus(operand(1)))),
    }
}

/// The operand itself, or for a division by a power of two the product that is the same.
pub(super) fn without_division(format: &'static FloatFormat, operand: Operand) -> Operand {
    let is_power_of_two = |bits: u64| match format.value(bits) {
        FloatValue::Finite(number) => number.significand.is_power_of_two(),
        _ => false,
    };
    let one = (format.bias as u64) << format.mantissa_bits;
    match apply(Component::Float(format), Operation::Divide, one, operand.bits) {
        Some(bits)
            if operand.operation == Operation::Divide && is_power_of_two(operand.bits) && is_power_of_two(bits) =>
        {
            Operand { operation: Operation::Multiply, bits }
        }
        _ => operand,
    }
}
