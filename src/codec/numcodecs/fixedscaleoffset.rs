//! `numcodecs.fixedscaleoffset`: `(element - offset) * scale`, rounded to an integer, and back. The configuration is
//! written back as it was given.
//!
//! Specification:
//! [zarr-extensions, `numcodecs.fixedscaleoffset`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.fixedscaleoffset);
//! numcodecs 0.17, `fixedscaleoffset.py`, and NumPy's rules for an array and a Python number (NEP 50): a float type
//! computes in itself, each step rounded; an integer type computes in itself with a Python integer, wrapping, and in
//! `float64` with a Python float. Division is in `float64`, except for encoded floats, which divide in their own type.
//! So an array of `float32` that is stored as integers is encoded in `float32`, and decoded in `float64` and rounded
//! once.
//!
//! NumPy 2 refuses to encode with an integer that the array's type cannot hold, and so does this codec. NumPy 1 took a
//! larger type; what it wrote is decoded, because that needs no integers.
//!
//! A number that the last cast cannot represent, NaN among them, is `OUT_OF_RANGE`: in NumPy the result depends on the
//! processor. A fill value need not decode to itself.

use super::number_type::{BLOCK, Float, NumberType, half_of};
use super::{elementwise, optional};
use crate::error::{Error, Result};
use crate::interface::{Binding, Codec, Context, Elementwise, Kind};
use crate::json::{Configuration, exact_integer, shown};
use crate::number::{integer_range, low_bits, sign_extended};
use crate::representation::Representation;
use crate::simd::{Loop, vectorized};
use half::f16;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug)]
struct FixedScaleOffset {
    configuration: Map<String, Value>,
    offset: PythonNumber,
    scale: PythonNumber,
    /// None: that of the array.
    dtype: Option<NumberType>,
    astype: Option<NumberType>,
}

/// A JSON number as Python reads it.
#[derive(Debug, Clone, Copy)]
struct PythonNumber {
    /// None for a number with a fraction or an exponent.
    integer: Option<i128>,
    float: f64,
}

/// `{"offset", "scale", "dtype", "astype"}`; of the types both are optional, and may be null
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let mut required = |member: &str| {
        let value = configuration.required(member)?;
        members.insert(member.to_owned(), value.clone());
        PythonNumber::from_json(member, &value)
    };
    let (offset, scale) = (required("offset")?, required("scale")?);
    let mut member = |member: &str| optional(&mut configuration, &mut members, member);
    let dtype = member("dtype").map(|value| NumberType::from_json("dtype", &value)).transpose()?;
    let astype = member("astype").map(|value| NumberType::from_json_in_any_order("astype", &value)).transpose()?;
    configuration.finish()?;
    if scale.float == 0.0 {
        return Err(Error::metadata("scale is 0, so that nothing could be decoded"));
    }
    Ok(Arc::new(FixedScaleOffset { configuration: members, offset, scale, dtype, astype }))
}

impl PythonNumber {
    fn from_json(member: &str, json: &Value) -> Result<Self> {
        let number = json.as_number().and_then(|number| number.as_str().parse().ok());
        let float = number.filter(|number: &f64| number.is_finite());
        let float = float.ok_or_else(|| Error::metadata(format!("{member} is {}, expected a number", shown(json))))?;
        Ok(Self { integer: exact_integer(json), float })
    }

    /// The integer that NumPy computes with in an array of this type; none for a Python float.
    fn integer_of(self, member: &str, number: NumberType) -> Result<Option<u64>> {
        let Some(integer) = self.integer else { return Ok(None) };
        let (least, most) = integer_range(8 * number.size() as u32, number.is_signed());
        if (least..=most).contains(&integer) {
            return Ok(Some(integer as u64));
        }
        let name = number.name();
        Err(Error::unsupported(format!(
            "{member} is {integer}, which {name} cannot hold: such arrays are only decoded"
        )))
    }
}

impl Codec for FixedScaleOffset {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let array_type = NumberType::of_array(decoded.data_type())?;
        if let Some(dtype) = self.dtype {
            dtype.check("dtype", decoded.data_type())?;
        }
        let encoded = self.astype.unwrap_or(array_type);
        if array_type == NumberType::Bool || encoded == NumberType::Bool {
            return Err(Error::unsupported("the data type is bool, but only numbers can be scaled"));
        }
        let (offset, scale) = (self.offset.float, self.scale.float);
        let arithmetic = self.integers(array_type).map(|integers| Arithmetic::new(array_type, integers, offset, scale));
        let kernel = Scaled { decoded: array_type, encoded, arithmetic, offset, scale };
        elementwise(kernel, (array_type, encoded), decoded)
    }
}

impl FixedScaleOffset {
    /// The offset and the scale as far as NumPy computes with integers in an array of this type.
    fn integers(&self, array_type: NumberType) -> Result<(Option<u64>, Option<u64>)> {
        let offset = if array_type.is_float() { None } else { self.offset.integer_of("offset", array_type)? };
        // What is left after a float offset is a float, which any scale fits.
        let scale = if offset.is_some() { self.scale.integer_of("scale", array_type)? } else { None };
        Ok((offset, scale))
    }
}

/// The type in which the steps of an encode are computed.
#[derive(Debug, Clone, Copy)]
enum Arithmetic {
    F16 {
        offset: f16,
        scale: f16,
    },
    F32 {
        offset: f32,
        scale: f32,
    },
    F64,
    Integers {
        offset: u64,
        scale: u64,
    },
    /// Subtracts integers, then multiplies floats.
    IntegerOffset {
        offset: u64,
    },
}

impl Arithmetic {
    fn new(number: NumberType, integers: (Option<u64>, Option<u64>), offset: f64, scale: f64) -> Self {
        match (number, integers) {
            (NumberType::F16, _) => Self::F16 { offset: half_of(offset), scale: half_of(scale) },
            (NumberType::F32, _) => Self::F32 { offset: offset as f32, scale: scale as f32 },
            (_, (Some(offset), Some(scale))) => Self::Integers { offset, scale },
            (_, (Some(offset), None)) => Self::IntegerOffset { offset },
            _ => Self::F64,
        }
    }
}

#[derive(Debug)]
struct Scaled {
    decoded: NumberType,
    encoded: NumberType,
    /// That of encode, or the error if NumPy 2 refuses these operands.
    arithmetic: Result<Arithmetic>,
    offset: f64,
    scale: f64,
}

impl Elementwise for Scaled {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        let arithmetic = self.arithmetic.clone()?;
        vectorized(Encode { scaled: self, arithmetic, decoded, encoded })
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        vectorized(Decode { scaled: self, encoded, decoded })
    }
}

struct Encode<'a> {
    scaled: &'a Scaled,
    arithmetic: Arithmetic,
    decoded: &'a [u8],
    encoded: &'a mut [u8],
}

impl Loop for Encode<'_> {
    type Output = Result<()>;

    #[inline(always)] // so that it is compiled for the caller's instruction set
    fn run(self) -> Result<()> {
        let Self { scaled, arithmetic, decoded, encoded } = self;
        let blocks =
            decoded.chunks(BLOCK * scaled.decoded.size()).zip(encoded.chunks_mut(BLOCK * scaled.encoded.size()));
        for (index, (decoded, encoded)) in blocks.enumerate() {
            let done = scaled.encode_block(arithmetic, decoded, encoded);
            done.map_err(|error| error.after_elements((index * BLOCK) as u64))?;
        }
        Ok(())
    }
}

struct Decode<'a> {
    scaled: &'a Scaled,
    encoded: &'a [u8],
    decoded: &'a mut [u8],
}

impl Loop for Decode<'_> {
    type Output = Result<()>;

    #[inline(always)] // so that it is compiled for the caller's instruction set
    fn run(self) -> Result<()> {
        let Self { scaled, encoded, decoded } = self;
        let blocks =
            encoded.chunks(BLOCK * scaled.encoded.size()).zip(decoded.chunks_mut(BLOCK * scaled.decoded.size()));
        for (index, (encoded, decoded)) in blocks.enumerate() {
            scaled.decode_block(encoded, decoded).map_err(|error| error.after_elements((index * BLOCK) as u64))?;
        }
        Ok(())
    }
}

impl Scaled {
    #[inline(always)] // as `run`
    fn encode_block(&self, arithmetic: Arithmetic, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        let count = decoded.len() / self.decoded.size();
        let (mut block, mut integers) = ([0.0_f64; BLOCK], [0_u64; BLOCK]);
        let (lanes, integers) = (&mut block[..count], &mut integers[..count]);
        match arithmetic {
            Arithmetic::F16 { offset, scale } => {
                self.decoded.load_floats(decoded, lanes);
                let (offset, scale) = (offset.to_f32(), scale.to_f32());
                each(lanes, |lane| {
                    let moved = f16::from_f32((lane as f32).minus(offset)).to_f32();
                    f16::from_f32(moved.times(scale)).to_f64().round_ties_even()
                });
            }
            Arithmetic::F32 { offset, scale } => {
                self.decoded.load_floats(decoded, lanes);
                each(lanes, |lane| (lane as f32).minus(offset).times(scale).round_ties_even().into());
            }
            Arithmetic::F64 => {
                self.decoded.load_floats(decoded, lanes);
                each(lanes, |lane| lane.minus(self.offset).times(self.scale).round_ties_even());
            }
            Arithmetic::Integers { offset, scale } => {
                self.decoded.load_integers(decoded, integers);
                each(integers, |lane| self.wrapped(lane.wrapping_sub(offset).wrapping_mul(scale)));
                self.encoded.store_integers(integers, self.decoded.is_signed(), encoded);
                return Ok(());
            }
            Arithmetic::IntegerOffset { offset } => {
                self.decoded.load_integers(decoded, integers);
                for (integer, lane) in integers.iter().zip(lanes.iter_mut()) {
                    let moved = self.wrapped(integer.wrapping_sub(offset));
                    let moved = if self.decoded.is_signed() { moved as i64 as f64 } else { moved as f64 };
                    *lane = (moved * self.scale).round_ties_even();
                }
            }
        }
        self.encoded.store_floats(lanes, encoded)
    }

    /// The value of 64 bits in the decoded type.
    #[inline(always)] // as `run`
    fn wrapped(&self, lane: u64) -> u64 {
        let bits = 8 * self.decoded.size() as u32;
        if self.decoded.is_signed() { sign_extended(lane, bits).cast_unsigned() } else { low_bits(lane, bits) }
    }

    #[inline(always)] // as `run`
    fn decode_block(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        let mut block = [0.0; BLOCK];
        let lanes = &mut block[..encoded.len() / self.encoded.size()];
        self.encoded.load_floats(encoded, lanes);
        match Arithmetic::new(self.encoded, (None, None), self.offset, self.scale) {
            Arithmetic::F16 { offset, scale } => {
                let (offset, scale) = (offset.to_f32(), scale.to_f32());
                each(lanes, |lane| {
                    let divided = f16::from_f32((lane as f32).over(scale)).to_f32();
                    f16::from_f32(divided.plus(offset)).to_f64()
                });
            }
            Arithmetic::F32 { offset, scale } => each(lanes, |lane| (lane as f32).over(scale).plus(offset).into()),
            _ => each(lanes, |lane| lane.over(self.scale).plus(self.offset)),
        }
        self.decoded.store_floats(lanes, decoded)
    }
}

#[inline(always)] // so that the compiler sees the function inside the loop
fn each<T: Copy>(lanes: &mut [T], f: impl Fn(T) -> T) {
    for lane in lanes {
        *lane = f(*lane);
    }
}
