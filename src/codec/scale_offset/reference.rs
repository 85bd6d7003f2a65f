//! The definition of scaling: one element, in the arithmetic of its own type. Everything faster is compared with this.

use crate::data_type::{Component, FLOAT64, FloatFormat, FloatValue, Rounded, Rounding, integer_range};

/// One step of either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// The result's bits; none if the element has no image: an integer out of range or with a rest, a finite number that
/// becomes infinite or not a number.
pub(super) fn apply(component: Component, operation: Operation, element: u64, operand: u64) -> Option<u64> {
    match component {
        Component::Int { bits, signed } => {
            let value = |bits_: u64| {
                let shift = 64 - bits;
                if signed { i128::from(((bits_ << shift) as i64) >> shift) } else { i128::from(bits_) }
            };
            let result = integer(operation, value(element), value(operand))?;
            let (least, most) = integer_range(bits, signed);
            (least..=most).contains(&result).then_some(result as u64 & (u64::MAX >> (64 - bits)))
        }
        Component::Float(format) => float(format, operation, element, operand),
        Component::Bool | Component::Raw { .. } => None,
    }
}

fn integer(operation: Operation, a: i128, b: i128) -> Option<i128> {
    match operation {
        Operation::Add => Some(a + b),
        Operation::Subtract => Some(a - b),
        Operation::Multiply => a.checked_mul(b),
        Operation::Divide => (b != 0 && a % b == 0).then(|| a / b),
    }
}

fn float(format: &FloatFormat, operation: Operation, element: u64, operand: u64) -> Option<u64> {
    if format.bits == 32 {
        let [a, b] = [element, operand].map(|bits| f32::from_bits(bits as u32));
        let result = match operation {
            Operation::Add => a + b,
            Operation::Subtract => a - b,
            Operation::Multiply => a * b,
            Operation::Divide => a / b,
        };
        return (result.is_finite() || !a.is_finite()).then_some(result.to_bits().into());
    }
    let (a, b) = (format.to_f64(element), format.to_f64(operand));
    let result = match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Divide => a / b,
    };
    if a.is_finite() && !result.is_finite() {
        return None;
    }
    if format.bits == 64 {
        return Some(result.to_bits());
    }
    // A float64 has more than twice the digits of every narrower format: rounding one operation twice is innocuous
    // (Figueroa, "When is double rounding innocuous?", 1995).
    match FLOAT64.value(result.to_bits()) {
        FloatValue::Nan => format.nan(),
        FloatValue::Infinity { is_negative } => format.infinity(is_negative),
        FloatValue::Finite(number) => match format.round(&number, Rounding::NearestEven) {
            Rounded::Bits(bits) => Some(bits),
            Rounded::Overflow | Rounded::Underflow => None,
        },
    }
}
