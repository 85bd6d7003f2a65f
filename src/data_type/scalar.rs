//! One element's value, from and to the JSON of Zarr metadata.
//!
//! Zarr v3 core specification, "Fill value list". Numbers for floats are rounded once, from the decimal text straight
//! to the data type, ties to even; integers are exact.

use super::extended::Form;
use super::{Component, DataType};
use crate::error::{Error, Result};
use crate::json::{exact_integer, shown};
use crate::number::{
    FLOAT64, Finite, FloatFormat, FloatValue, Rounded, Rounding, integer_range, low_bits, sign_extended,
};
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::sync::Arc;

/// One element, as it lies in memory. All codecs of a chain share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar(pub Arc<[u8]>);

impl Component {
    /// The N bits of a component that lies in memory; nothing for raw bits.
    pub fn load(self, bytes: &[u8]) -> u64 {
        let bits = match *bytes {
            [a] => u64::from(a),
            [a, b] => u64::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        };
        match self {
            Self::Bool => u64::from(bits != 0),
            _ => bits & (u64::MAX >> 64_u32.saturating_sub(self.bits())),
        }
    }

    /// N bits, sign-extended if this is a signed integer.
    pub fn extended(self, bits: u64) -> u64 {
        match self {
            Self::Int { bits: width, signed: true } => sign_extended(bits, width).cast_unsigned(),
            _ => bits,
        }
    }

    /// Stores N bits in memory; integers of fewer than 8 bits are sign-extended to their byte.
    pub fn store(self, bits: u64, bytes: &mut [u8]) {
        let bits = self.extended(bits);
        match bytes.len() {
            1 => bytes.copy_from_slice(&(bits as u8).to_ne_bytes()),
            2 => bytes.copy_from_slice(&(bits as u16).to_ne_bytes()),
            4 => bytes.copy_from_slice(&(bits as u32).to_ne_bytes()),
            _ => bytes.copy_from_slice(&bits.to_ne_bytes()),
        }
    }

    /// Sets the unused bits of a component to the values that they have in memory.
    pub(super) fn normalize(self, bytes: &mut [u8]) {
        if !matches!(self, Self::Raw { .. }) {
            self.store(self.load(bytes), bytes);
        }
    }
}

impl DataType {
    /// Whether an element may have bits in memory that its type lacks: above a bool, or a number of fewer than 8 bits.
    pub fn is_narrow(&self) -> bool {
        self.parts().iter().any(|part| part.component.bits() < 8)
    }

    /// Sets the unused bits of elements back to back to the values that they have in memory.
    pub fn normalize(&self, elements: &mut [u8]) {
        self.for_each_component(elements, Component::normalize);
    }

    /// Calls `work` with each component of elements back to back, and with its bytes.
    pub(super) fn for_each_component(&self, elements: &mut [u8], mut work: impl FnMut(Component, &mut [u8])) {
        let parts = self.parts();
        for element in elements.chunks_exact_mut(self.size()) {
            let mut rest = element;
            for part in &parts {
                let (components, after) = rest.split_at_mut(part.size());
                rest = after;
                components.chunks_exact_mut(part.component.size()).for_each(|bytes| work(part.component, bytes));
            }
        }
    }

    /// The scalar that a JSON value denotes; `member` names it in errors.
    ///
    /// # Errors
    /// [`Status::InvalidMetadata`](crate::Status::InvalidMetadata) if it is not a value of this type.
    pub fn scalar_from_json(&self, member: &str, json: &Value) -> Result<Scalar> {
        if let Some(scalar) = self.bytes_from_json(member, json) {
            return scalar;
        }
        if self.form == Form::Time && json.as_str() == Some("NaT") {
            return Ok(self.scalar(i64::MIN.cast_unsigned()));
        }
        let wrong = |expected: &str| Error::metadata(format!("{member} is {}, expected {expected}", shown(json)));
        if let Component::Raw { size } = self.component {
            // The allocation depends on the text, not on the size that the type's name claims.
            let list = json.as_array().filter(|list| list.len() == size);
            let list = list.ok_or_else(|| wrong(&format!("a list of {size} bytes")))?;
            let byte = |value| exact_integer(value).and_then(|value| u8::try_from(value).ok());
            let bytes = list.iter().map(byte).collect::<Option<_>>();
            return bytes.map(Scalar).ok_or_else(|| wrong("a list of bytes, 0 to 255"));
        }
        let mut bytes = vec![0; self.size()];
        match (self.component, json) {
            (component, Value::Array(parts)) if self.component_count == 2 && parts.len() == 2 => {
                let (real, imaginary) = bytes.split_at_mut(component.size());
                for (name, part, bytes) in [("real", &parts[0], real), ("imaginary", &parts[1], imaginary)] {
                    let bits = component_from_json(component, self, part);
                    component.store(bits.map_err(|e| wrong(&format!("the {name} part to be {e}")))?, bytes);
                }
            }
            _ if self.component_count == 2 => return Err(wrong("a list of a real and an imaginary part")),
            (component, value) => {
                component.store(component_from_json(component, self, value).map_err(|e| wrong(&e))?, &mut bytes);
            }
        }
        Ok(Scalar(bytes.into()))
    }

    /// The scalar of N bits, of a data type with one component that is not raw.
    pub fn scalar(&self, bits: u64) -> Scalar {
        let mut bytes = vec![0; self.size()];
        self.component.store(bits, &mut bytes);
        Scalar(bytes.into())
    }

    /// The JSON value of a scalar: reading it again gives the same bits.
    pub fn scalar_to_json(&self, scalar: &Scalar) -> Value {
        if let Some(value) = self.bytes_to_json(&scalar.0) {
            return value;
        }
        if let Component::Raw { .. } = self.component {
            return json!(*scalar.0);
        }
        let mut parts =
            scalar.0.chunks_exact(self.component.size()).map(|bytes| component_to_json(self.component, bytes));
        if self.component_count == 2 { parts.collect() } else { parts.next().unwrap_or(Value::Null) }
    }
}

/// The bits of one component; the error says what was expected.
fn component_from_json(component: Component, data_type: &DataType, json: &Value) -> std::result::Result<u64, String> {
    match component {
        Component::Bool => json.as_bool().map(u64::from).ok_or_else(|| "true or false".to_owned()),
        Component::Int { bits, signed } => {
            let (least, most) = integer_range(bits, signed);
            exact_integer(json)
                .filter(|value| (least..=most).contains(value))
                .map(|value| low_bits(value as u64, bits))
                .ok_or_else(|| format!("an integer from {least} to {most}, the range of {data_type}"))
        }
        Component::Float(format) => match json {
            Value::Number(number) => {
                float_from_decimal(format, number.as_str()).ok_or_else(|| format!("a number that {data_type} can hold"))
            }
            Value::String(text) => float_from_text(format, text)
                .ok_or_else(|| format!("a number, or a string that stands for a {data_type}")),
            _ => Err(format!("a number or a string that {data_type} can hold")),
        },
        Component::Raw { .. } => Err("bytes".to_owned()),
    }
}

/// "NaN", the infinities, and bit patterns.
fn float_from_text(format: &FloatFormat, text: &str) -> Option<u64> {
    match text {
        "NaN" => format.nan(),
        "Infinity" | "+Infinity" => format.infinity(false),
        "-Infinity" => format.infinity(true),
        _ => {
            let digits = text.strip_prefix("0x")?;
            let digit_count = 2 * format.bits.div_ceil(8) as usize;
            if digits.len() != digit_count || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            u64::from_str_radix(digits, 16).ok().filter(|bits| bits.checked_shr(format.bits).unwrap_or(0) == 0)
        }
    }
}

/// A decimal number, rounded once to nearest, ties to even. `None` if it is too large, or too small for the format.
fn float_from_decimal(format: &FloatFormat, text: &str) -> Option<u64> {
    match format.bits {
        64 => text.parse().ok().filter(|value: &f64| value.is_finite()).map(f64::to_bits),
        32 => text.parse().ok().filter(|value: &f32| value.is_finite()).map(|value| value.to_bits().into()),
        _ => match format.round(&truncated(text)?, Rounding::NearestEven) {
            Rounded::Bits(bits) => Some(bits),
            Rounded::Overflow | Rounded::Underflow => None,
        },
    }
}

/// The largest `float64` that is not above the number's magnitude, and whether the number is more. `None` if it
/// is past the largest `float64`.
fn truncated(text: &str) -> Option<Finite> {
    let nearest = text.parse::<f64>().ok().filter(|value| value.is_finite())?;
    let given = Decimal::new(text);
    let compared = Decimal::new(&format!("{:.*e}", MAX_DIGITS_OF_FLOAT64, nearest.abs())).cmp(&given);
    let below = if compared == Ordering::Greater { nearest.abs().next_down() } else { nearest.abs() };
    let FloatValue::Finite(mut number) = FLOAT64.value(below.to_bits()) else { return None };
    number.is_negative = text.starts_with('-');
    number.is_more = compared != Ordering::Equal;
    if number.significand == 0 && number.is_more {
        // Too small for a float64, but not 0: any tiny number stands for it.
        number = Finite { significand: 1, exponent: -2000, ..number };
    }
    Some(number)
}

/// No float64 has more significant decimal digits.
const MAX_DIGITS_OF_FLOAT64: usize = 767;

/// The magnitude of a decimal number as `0.digits * 10^point`, with neither leading nor trailing zeros.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Decimal {
    is_nonzero: bool,
    point: i64,
    digits: Vec<u8>,
}

impl Decimal {
    fn new(text: &str) -> Self {
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.trim_start_matches('-').split_once('.').unwrap_or((digits, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit).collect();
        let whole_count = digits.len() - fraction.len();
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..zeros);
        while digits.pop_if(|digit| *digit == b'0').is_some() {}
        if digits.is_empty() {
            return Self { is_nonzero: false, point: 0, digits };
        }
        let is_negative = exponent.starts_with('-');
        let exponent = exponent.parse().unwrap_or(if is_negative { i64::MIN } else { i64::MAX });
        Self { is_nonzero: true, point: exponent.saturating_add(whole_count as i64 - zeros as i64), digits }
    }
}

fn component_to_json(component: Component, bytes: &[u8]) -> Value {
    let bits = component.load(bytes);
    match component {
        Component::Bool => json!(bits != 0),
        Component::Int { bits: width, signed: true } => json!(sign_extended(bits, width)),
        Component::Int { .. } => json!(bits),
        Component::Float(format) => float_to_json(format, bits),
        Component::Raw { .. } => Value::Null,
    }
}

fn float_to_json(format: &FloatFormat, bits: u64) -> Value {
    match format.value(bits) {
        FloatValue::Nan if format.nan() == Some(bits) => json!("NaN"),
        FloatValue::Nan => json!(format!("{bits:#0width$x}", width = 2 + 2 * format.bits.div_ceil(8) as usize)),
        FloatValue::Infinity { is_negative: false } => json!("Infinity"),
        FloatValue::Infinity { is_negative: true } => json!("-Infinity"),
        FloatValue::Finite(_) => {
            let text = match format.bits {
                32 => format!("{:?}", f32::from_bits(bits as u32)),
                _ => format!("{:?}", format.to_f64(bits)),
            };
            text.parse().map_or(Value::Null, Value::Number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type;

    fn data_type(name: &str) -> DataType {
        DataType::from_name(name).unwrap()
    }

    fn bits(name: &str, text: &str) -> Option<u64> {
        let data_type = data_type(name);
        let json: Value = serde_json::from_str(text).unwrap();
        data_type.scalar_from_json("fill_value", &json).ok().map(|scalar| data_type.component().load(&scalar.0))
    }

    #[test]
    fn every_pattern_of_up_to_16_bits_comes_back_from_its_json() {
        for name in data_type::names_alone() {
            let data_type = data_type(&name);
            let component = data_type.component();
            if component.bits() > 16 || data_type.component_count() > 1 {
                continue;
            }
            for pattern in 0..1_u64 << component.bits() {
                let scalar = data_type.scalar(pattern);
                let json = data_type.scalar_to_json(&scalar);
                assert_eq!(data_type.scalar_from_json("x", &json), Ok(scalar), "{name} {json}");
            }
        }
    }

    #[test]
    fn decimal_text_is_rounded_once() {
        // Just above a tie of float16, and so close that a float64 cannot tell: 1 + 2^-11 + 1e-40.
        let above = format!("1.00048828125{}1", "0".repeat(30));
        assert_eq!(bits("float16", "1.00048828125"), Some(0x3C00));
        assert_eq!(bits("float16", &above), Some(0x3C01));
        assert_eq!(bits("float16", "1.00048828124999999999999999999999999"), Some(0x3C00));
        // The tie between 0x3C01 and 0x3C02 goes to the even one, a little less does not.
        assert_eq!(bits("float16", "1.00146484375"), Some(0x3C02));
        assert_eq!(bits("float16", "1.00146484374999999999999999999999999"), Some(0x3C01));
        assert_eq!(bits("float32", "16777217"), Some(0x4B80_0000));
        assert_eq!(bits("float32", "16777217.0000000000000000000000000001"), Some(0x4B80_0001));
    }

    #[test]
    fn what_is_too_large_or_too_small_for_a_float_is_said() {
        assert_eq!(bits("float16", "65519.999"), Some(0x7BFF));
        assert_eq!(bits("float16", "65520"), None);
        assert_eq!(bits("float16", "1e999999999999999999999"), None);
        assert_eq!(bits("float16", "1e-999999999999999999999"), Some(0));
        assert_eq!(bits("float16", "-1e-400"), Some(0x8000));
        assert_eq!(bits("float64", "1e309"), None);
        assert_eq!(bits("float8_e8m0fnu", "0"), None);
        assert_eq!(bits("float8_e8m0fnu", "1e-400"), None);
        assert_eq!(bits("float8_e8m0fnu", "-1"), None);
        assert_eq!(bits("float4_e2m1fn", "\"NaN\""), None);
        assert_eq!(bits("float8_e4m3fn", "\"Infinity\""), None);
    }

    #[test]
    fn bit_patterns_have_exactly_the_digits_of_the_type() {
        assert_eq!(bits("float32", "\"0x7fC00001\""), Some(0x7FC0_0001));
        assert_eq!(bits("float32", "\"0x7fc0000\""), None);
        assert_eq!(bits("float32", "\"0X7fc00001\""), None);
        assert_eq!(bits("float32", "\"0x+fc00001\""), None);
        assert_eq!(bits("float6_e2m3fn", "\"0x3f\""), Some(0x3F));
        assert_eq!(bits("float6_e2m3fn", "\"0x40\""), None);
    }

    #[test]
    fn integers_are_exact_and_written_as_integers() {
        assert_eq!(bits("uint64", "18446744073709551615"), Some(u64::MAX));
        assert_eq!(bits("int64", "-9223372036854775808"), Some(1 << 63));
        assert_eq!(bits("int64", "9223372036854775808"), None);
        for text in ["1.0", "1e0", "\"1\"", "true", "256", "-1", "null"] {
            assert_eq!(bits("uint8", text), None, "{text}");
        }
        assert_eq!(bits("int4", "-8"), Some(8));
        assert_eq!(bits("int4", "8"), None);
    }
}
