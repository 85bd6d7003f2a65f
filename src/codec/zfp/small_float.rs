//! Floats of 8 bits and fewer, in float32.
//!
//! Every value of these formats is one of float32. Back, values are rounded to nearest, ties to even. What is over the
//! largest finite value becomes infinity, or this value in formats without infinity; what is under the smallest value
//! of `float8_e8m0fnu`, which has neither 0 nor a sign, becomes this one.

use super::element::{Element, Native};
use crate::data_type::{FloatFormat, Special};

/// One of the formats.
#[derive(Debug)]
pub(super) struct SmallFloat {
    format: &'static FloatFormat,
    /// The value of each byte; bits above the type are not looked at.
    values: Box<[f32; 256]>,
}

impl SmallFloat {
    pub(super) fn new(format: &'static FloatFormat) -> Self {
        let mask = u8::MAX >> (8 - format.bits);
        Self { format, values: Box::new(std::array::from_fn(|byte| value(format, byte as u8 & mask))) }
    }
}

impl Element for SmallFloat {
    type Memory = [u8; 1];
    type Scalar = f32;

    fn promote(&self, [byte]: [u8; 1]) -> f32 {
        self.values[usize::from(byte)]
    }

    fn demote(&self, value: f32) -> [u8; 1] {
        [nearest(self.format, value)]
    }

    fn any_outside(values: &[f32], is_lossless: bool) -> bool {
        Native::any_outside(values, is_lossless)
    }

    fn range(is_lossless: bool) -> String {
        Native::<f32>::range(is_lossless)
    }
}

/// The bits without the sign.
fn magnitude_mask(format: &FloatFormat) -> u8 {
    match format.special {
        Special::Fnu => u8::MAX,
        _ => u8::MAX >> (9 - format.bits),
    }
}

/// The largest magnitude that is a finite value.
fn largest(format: &FloatFormat) -> u8 {
    match format.special {
        Special::Ieee => (magnitude_mask(format) >> format.mantissa_bits << format.mantissa_bits) - 1,
        Special::FiniteNan | Special::Fnu => magnitude_mask(format) - 1,
        Special::Finite | Special::Fnuz => magnitude_mask(format),
    }
}

/// The value of a bit pattern.
fn value(format: &FloatFormat, bits: u8) -> f32 {
    let magnitude = bits & magnitude_mask(format);
    let sign = if magnitude == bits { 0 } else { 1 << 31 };
    let is_nan = magnitude > largest(format) || (format.special == Special::Fnuz && magnitude == 0 && sign != 0);
    if is_nan {
        let payload = match format.special {
            Special::Ieee => u32::from(magnitude) << (23 - format.mantissa_bits) & 0x007F_FFFF, // 0 is infinity
            _ => 0x0040_0000,
        };
        return f32::from_bits(sign | 0x7F80_0000 | payload);
    }
    let mantissa = f64::from(magnitude & ((1 << format.mantissa_bits) - 1));
    let exponent = i32::from(magnitude >> format.mantissa_bits);
    let implicit = f64::from(1 << format.mantissa_bits);
    let (significand, exponent) = match exponent {
        0 if format.special != Special::Fnu => (mantissa, 1),
        exponent => (mantissa + implicit, exponent),
    };
    let value = significand / implicit * power_of_two(exponent - format.bias);
    f32::from_bits((value as f32).to_bits() | sign)
}

/// The bit pattern of the nearest value.
fn nearest(format: &FloatFormat, value: f32) -> u8 {
    let sign = if value.is_sign_negative() && format.special != Special::Fnu { magnitude_mask(format) + 1 } else { 0 };
    if value.is_nan() {
        return nan(format, value, sign);
    }
    if value < 0.0 && format.special == Special::Fnu {
        return 0;
    }
    let value = f64::from(value.abs());
    let mantissa_bits = format.mantissa_bits as i32;
    let least_exponent = if format.special == Special::Fnu { -format.bias } else { 1 - format.bias };
    let exponent = ((value.to_bits() >> 52) as i32 - 1023).max(least_exponent);
    let significand = (value / power_of_two(exponent - mantissa_bits)).round_ties_even();
    // A significand that is rounded up to the next power of two carries into the exponent.
    let magnitude = f64::from((exponent + format.bias - 1) << mantissa_bits) + significand;
    let magnitude = if magnitude <= f64::from(largest(format)) {
        magnitude.max(0.0) as u8
    } else {
        largest(format) + u8::from(format.special == Special::Ieee)
    };
    if format.special == Special::Fnuz && magnitude == 0 { 0 } else { sign | magnitude }
}

fn nan(format: &FloatFormat, value: f32, sign: u8) -> u8 {
    match format.special {
        Special::Ieee => {
            let mantissa_mask = (1 << format.mantissa_bits) - 1;
            let payload = (value.to_bits() >> (23 - format.mantissa_bits)) as u8 & mantissa_mask;
            let quiet = if payload == 0 { 1 << (format.mantissa_bits - 1) } else { 0 };
            sign | (largest(format) + 1) | payload | quiet
        }
        Special::FiniteNan => sign | magnitude_mask(format),
        Special::Fnuz => magnitude_mask(format) + 1,
        Special::Fnu => u8::MAX,
        Special::Finite => 0, // no encode of ours leads here
    }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
