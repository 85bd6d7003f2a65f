//! The definition of scaling: one element, in the arithmetic of its own type. Tests compare everything faster with it.

use crate::data_type::Component;
use crate::number::{
    FLOAT64, FloatFormat, FloatValue, Operation, Rounded, Rounding, integer_range, low_bits, sign_extended,
};

/// The bits of the result; `None` for an integer out of range, a division with a remainder, and a finite number that
/// becomes infinite or NaN.
pub(super) fn apply(component: Component, operation: Operation, element: u64, operand: u64) -> Option<u64> {
    match component {
        Component::Int { bits, signed } => {
            let value = |number| if signed { sign_extended(number, bits).into() } else { i128::from(number) };
            let result = integer(operation, value(element), value(operand))?;
            let (least, most) = integer_range(bits, signed);
            (least..=most).contains(&result).then(|| low_bits(result as u64, bits))
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
        let result = operation.apply(a, b);
        return (result.is_finite() || !a.is_finite()).then_some(result.to_bits().into());
    }
    let (a, b) = (format.to_f64(element), format.to_f64(operand));
    let result = operation.apply(a, b);
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
