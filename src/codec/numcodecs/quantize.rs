//! `numcodecs.quantize`: floats rounded to a number of decimal digits, or rather to the power of two below. Decoding is
//! a cast. The configuration is written back as it was given.
//!
//! Specification:
//! [zarr-extensions, `numcodecs.quantize`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.quantize);
//! numcodecs 0.17, `quantize.py`: `around(scale * element) / scale` in the type of the array, where `scale` is the
//! power of two from `10^digits` on. A scale that overflows the type makes NaN of everything, as it does there.

use super::number_type::{self, BLOCK, Float, NumberType, half_of};
use super::{elementwise, optional};
use crate::error::{Error, Result};
use crate::interface::{Binding, Codec, Context, Elementwise, Kind};
use crate::json::{Configuration, integer};
use crate::representation::Representation;
use crate::simd::{Loop, vectorized};
use half::f16;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Past these the power of ten is no `float64`, and numcodecs fails.
const DIGITS: std::ops::RangeInclusive<i128> = -308..=307;

#[derive(Debug)]
struct Quantize {
    configuration: Map<String, Value>,
    digits: i32,
    /// None: that of the array.
    dtype: Option<NumberType>,
    astype: Option<NumberType>,
}

/// `{"digits", "dtype", "astype"}`; the types are optional, and may be null
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let digits = configuration.required("digits")?;
    members.insert("digits".to_owned(), digits.clone());
    let digits = integer("digits", &digits, *DIGITS.start(), *DIGITS.end())? as i32;
    let mut float = |member: &str, read: fn(&str, &Value) -> Result<NumberType>| {
        let value = optional(&mut configuration, &mut members, member);
        let number = value.as_ref().map(|value| read(member, value)).transpose()?;
        match number.filter(|number| !number.is_float()) {
            Some(number) => Err(Error::metadata(format!("{member} is {}, expected a float", number.name()))),
            None => Ok(number),
        }
    };
    let dtype = float("dtype", NumberType::from_json)?;
    let astype = float("astype", NumberType::from_json_in_any_order)?;
    configuration.finish()?;
    Ok(Arc::new(Quantize { configuration: members, digits, dtype, astype }))
}

impl Codec for Quantize {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let data_type = decoded.data_type();
        let array_type = NumberType::of_array(data_type)?;
        if let Some(dtype) = self.dtype {
            dtype.check("dtype", data_type)?;
        }
        if !array_type.is_float() {
            return Err(Error::unsupported(format!(
                "the data type of the array is {data_type}, but only floats are quantized"
            )));
        }
        let encoded = self.astype.unwrap_or(array_type);
        let kernel = Rounded { decoded: array_type, encoded, scale: scale(self.digits) };
        elementwise(kernel, (array_type, encoded), decoded)
    }
}

/// The power of two from `10^digits` on; a `float64` holds each.
fn scale(digits: i32) -> f64 {
    let exponent = (f64::from(digits) * std::f64::consts::LOG2_10).ceil() as i32;
    // `powi` promises no precision.
    match exponent {
        -1022.. => f64::from_bits(((exponent + 1023) as u64) << 52),
        _ => f64::from_bits(1 << (exponent + 1074)),
    }
}

#[derive(Debug)]
struct Rounded {
    decoded: NumberType,
    encoded: NumberType,
    scale: f64,
}

impl Elementwise for Rounded {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        let blocks = decoded.chunks(BLOCK * self.decoded.size()).zip(encoded.chunks_mut(BLOCK * self.encoded.size()));
        for (decoded, encoded) in blocks {
            let mut block = [0.0; BLOCK];
            let lanes = &mut block[..decoded.len() / self.decoded.size()];
            self.decoded.load_floats(decoded, lanes);
            vectorized(Round { kernel: self, lanes: &mut *lanes });
            // A type of floats refuses no number, so the error needs no index.
            self.encoded.store_floats(lanes, encoded)?;
        }
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        number_type::cast((self.encoded, encoded), (self.decoded, decoded))
    }
}

struct Round<'a> {
    kernel: &'a Rounded,
    lanes: &'a mut [f64],
}

impl Loop for Round<'_> {
    type Output = ();

    #[inline(always)] // so that it is compiled for the caller's instruction set
    fn run(self) {
        let Self { kernel, lanes } = self;
        match kernel.decoded {
            NumberType::F16 => {
                let scale = half_of(kernel.scale).to_f32();
                for lane in lanes {
                    let whole = f16::from_f32((*lane as f32).times(scale)).to_f32().round_ties_even();
                    *lane = f16::from_f32(whole.over(scale)).to_f64();
                }
            }
            NumberType::F32 => {
                let scale = kernel.scale as f32;
                lanes
                    .iter_mut()
                    .for_each(|lane| *lane = (*lane as f32).times(scale).round_ties_even().over(scale).into());
            }
            _ => {
                lanes.iter_mut().for_each(|lane| *lane = lane.times(kernel.scale).round_ties_even().over(kernel.scale))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// numcodecs takes logarithms of powers of ten; whether they come out whole must not matter.
    #[test]
    fn the_scale_is_the_first_power_of_two_from_the_power_of_ten_on() {
        for digits in 0..=307 {
            let ten: f64 = format!("1e{digits}").parse().unwrap();
            let found = scale(digits);
            assert!(found >= ten && found / 2.0 < ten, "{digits}: {found:e}");
        }
        for digits in -308..0 {
            let ten: f64 = format!("1e{digits}").parse().unwrap();
            let found = scale(digits);
            assert!(found >= ten && found / 2.0 < ten, "{digits}: {found:e}");
        }
    }
}
