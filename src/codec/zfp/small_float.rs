//! Floats of 8 bits and fewer, in float32.
//!
//! Every value of these formats is one of float32. On decode, values are rounded to nearest, ties to even. Values over
//! the largest finite one become infinity, or that value in formats without infinity; values that `float8_e8m0fnu`,
//! which has neither 0 nor a sign, cannot hold become its smallest value. The bits of a NaN move along where there are
//! several.

use super::element::{Element, Native};
use crate::number::{FLOAT64, FloatFormat, FloatValue, Rounded, Rounding, Special};

/// One of the formats.
#[derive(Debug)]
pub(super) struct SmallFloat {
    format: &'static FloatFormat,
    /// The value of each byte; bits above the type are not looked at.
    values: Box<[f32; 256]>,
}

impl SmallFloat {
    pub(super) fn new(format: &'static FloatFormat) -> Self {
        Self { format, values: Box::new(std::array::from_fn(|byte| promote(format, byte as u64))) }
    }
}

impl Element for SmallFloat {
    type Memory = [u8; 1];
    type Scalar = f32;

    fn promote(&self, [byte]: [u8; 1]) -> f32 {
        self.values[usize::from(byte)]
    }

    fn demote(&self, value: f32) -> [u8; 1] {
        [demote(self.format, value) as u8]
    }

    fn any_outside(values: &[f32], is_lossless: bool) -> bool {
        Native::any_outside(values, is_lossless)
    }

    fn range(is_lossless: bool) -> String {
        Native::<f32>::range(is_lossless)
    }
}

const QUIET_NAN: u32 = 0x7FC0_0000;

fn promote(format: &FloatFormat, bits: u64) -> f32 {
    if format.value(bits) != FloatValue::Nan {
        return format.to_f64(bits) as f32;
    }
    let sign = u32::from(bits & format.sign_bit() != 0) << 31;
    let magnitude = match format.special {
        Special::Ieee => {
            let mantissa = bits as u32 & ((1 << format.mantissa_bits) - 1);
            f32::INFINITY.to_bits() | mantissa << (23 - format.mantissa_bits)
        }
        _ => QUIET_NAN,
    };
    f32::from_bits(sign | magnitude)
}

fn demote(format: &FloatFormat, value: f32) -> u64 {
    let sign = if value.is_sign_negative() { format.sign_bit() } else { 0 };
    let overflow = || format.infinity(value < 0.0).unwrap_or(sign | format.largest_finite());
    match FLOAT64.value(f64::from(value).to_bits()) {
        FloatValue::Nan => nan(format, value, sign),
        FloatValue::Infinity { .. } if format.is_signed() || value > 0.0 => overflow(),
        FloatValue::Infinity { .. } => 0,
        FloatValue::Finite(number) => match format.round(&number, Rounding::NearestEven) {
            Rounded::Bits(bits) => bits,
            Rounded::Overflow => overflow(),
            Rounded::Underflow => 0,
        },
    }
}

fn nan(format: &FloatFormat, value: f32, sign: u64) -> u64 {
    match format.special {
        Special::Ieee => {
            let mantissa =
                u64::from(value.to_bits() >> (23 - format.mantissa_bits)) & ((1 << format.mantissa_bits) - 1);
            let quiet = if mantissa == 0 { 1 << (format.mantissa_bits - 1) } else { 0 };
            sign | (format.largest_finite() + 1) | mantissa | quiet
        }
        Special::FiniteNan => sign | format.nan().unwrap_or(0),
        // Of the types without a NaN no encode of ours leads here.
        Special::Fnuz | Special::Fnu | Special::Finite => format.nan().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::FORMATS;

    fn formats() -> impl Iterator<Item = &'static FloatFormat> {
        FORMATS.iter().filter(|format| format.bits <= 8)
    }

    #[test]
    fn every_value_comes_back_to_the_bit() {
        for format in formats() {
            let element = SmallFloat::new(format);
            for byte in 0..=u8::MAX {
                let expected = byte & u8::MAX >> (8 - format.bits);
                assert_eq!(element.demote(element.promote([byte])), [expected], "{} {byte:#x}", format.name);
            }
        }
    }

    #[test]
    fn the_nearest_value_is_taken_and_the_even_one_of_two() {
        for format in formats() {
            let element = SmallFloat::new(format);
            let bits = (0..=u8::MAX >> (8 - format.bits)).filter(|byte| element.promote([*byte]).is_finite());
            let mut values: Vec<(f32, u8)> = bits.map(|byte| (element.promote([byte]), byte)).collect();
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            for pair in values.windows(2).filter(|pair| pair[0].0 != pair[1].0) {
                let [(below, below_bits), (above, above_bits)] = [pair[0], pair[1]];
                let middle = below + (above - below) / 2.0;
                let near = |value: f32| element.promote(element.demote(value));
                assert_eq!(near(middle.next_down()), below, "{} under {middle}", format.name);
                assert_eq!(near(middle.next_up()), above, "{} over {middle}", format.name);
                let even = match format.special {
                    Special::Fnu => above, // with one digit there is no even one: the larger
                    _ if below_bits % 2 == 0 && above_bits % 2 == 1 => below,
                    _ => above,
                };
                if format.mantissa_bits > 0 && above_bits % 2 != below_bits % 2 {
                    assert_eq!(near(middle), even, "{} at {middle}", format.name);
                }
            }
        }
    }

    #[test]
    fn what_is_beyond_becomes_infinity_or_the_last_value() {
        for format in formats() {
            let element = SmallFloat::new(format);
            let largest = element.promote([format.largest_finite() as u8]);
            let expected = if format.special == Special::Ieee { f32::INFINITY } else { largest };
            for value in [f32::INFINITY, f32::MAX] {
                assert_eq!(element.promote(element.demote(value)), expected, "{} {value}", format.name);
                let below = element.promote(element.demote(-value));
                assert_eq!(below, if format.is_signed() { -expected } else { 2.0_f32.powi(-127) }, "{}", format.name);
            }
            assert_eq!(element.promote(element.demote(largest)), largest, "{}", format.name);
        }
    }
}
