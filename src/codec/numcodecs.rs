//! `numcodecs.fixedscaleoffset` and `numcodecs.astype`: each a sequence of `scale_offset` and `cast_value`.
//!
//! Specification: zarr-extensions, `scale_offset`, "Legacy numcodecs.fixedscaleoffset codec", and what the Python
//! package numcodecs does with NumPy arrays. The metadata keep their name and members.
//!
//! `fixedscaleoffset` is the published sequence: `scale_offset`, then `cast_value` to an integer type with `wrap`. It
//! differs from numcodecs in this:
//!
//! * A `float16` or `float32` is decoded in its own arithmetic, each step rounded; numcodecs divides and adds in `float64`
//!   and rounds once. Values differ by what the steps round, which is more than the last bit where the offset cancels.
//!   Encoding, and decoding `float64`, are the same to the bit.
//! * NaN, infinities and what overflows the float type are `OUT_OF_RANGE`; numcodecs stores what the processor makes of
//!   them. So is a fill value that does not come back `INVALID_METADATA`, as the sequence demands.
//! * An `astype` that is a float, also by default, is refused: numcodecs rounds to an integer first, no cast does. So is
//!   an integer `dtype`, which numcodecs divides in `float64`.
//!
//! `astype` is one `cast_value`, whose options are those of NumPy's cast between the two types: integers wrap, floats
//! overflow to infinity, a float becomes an integer towards zero. What NumPy leaves to the processor is `OUT_OF_RANGE`.
//! Where an integer type does not fit a float type exactly, NumPy rounds one direction to nearest and the other towards
//! zero, which no `cast_value` does: refused.

use super::{cast_value, scale_offset};
use crate::data_type::{Component, DataType};
use crate::error::{Error, Result};
use crate::interface::{Bound, Codec, Context, Kind, Pass};
use crate::json::Configuration;
use crate::number::{FLOAT64, FloatId, FloatValue, Rounded, Rounding};
use crate::representation::Representation;
use serde_json::{Map, Value, json};
use std::sync::Arc;

#[derive(Debug)]
struct FixedScaleOffset {
    configuration: Map<String, Value>,
    context: Context,
    /// Before rounding to the array's type, as Python has them.
    offset: f64,
    scale: f64,
    dtype: DataType,
    astype: DataType,
}

/// `{"offset", "scale", "dtype", "astype"}`
pub(super) fn parse_fixedscaleoffset(mut configuration: Configuration, context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let mut required = |member: &str| {
        let value = configuration.required(member)?;
        members.insert(member.to_owned(), value.clone());
        Ok::<_, Error>(value)
    };
    let offset = number("offset", &required("offset")?)?;
    let scale = number("scale", &required("scale")?)?;
    let dtype = numpy_type("dtype", &required("dtype")?)?;
    let astype = match configuration.optional("astype") {
        None => dtype.clone(),
        Some(value) => {
            members.insert("astype".to_owned(), value.clone());
            numpy_type("astype", &value)?
        }
    };
    configuration.finish()?;
    if !matches!(dtype.component(), Component::Float(_)) {
        return Err(Error::unsupported(format!(
            "dtype is {dtype}: numcodecs computes with integers in float64, which scale_offset does not; floats are \
             supported"
        )));
    }
    if !matches!(astype.component(), Component::Int { .. }) {
        return Err(Error::unsupported(format!(
            "astype is {astype}: numcodecs rounds to an integer before the cast, which cast_value does not; integers \
             are supported"
        )));
    }
    Ok(Arc::new(FixedScaleOffset { configuration: members, context: context.clone(), offset, scale, dtype, astype }))
}

impl Codec for FixedScaleOffset {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Bound> {
        check_type("dtype", &self.dtype, decoded.array()?.data_type())?;
        let scale_offset = json!({
            "offset": as_scalar("offset", self.offset, &self.dtype)?,
            "scale": as_scalar("scale", self.scale, &self.dtype)?,
        });
        let cast_value = json!({"data_type": self.astype.name(), "out_of_range": "wrap"});
        let scale_offset = codec(scale_offset::parse, scale_offset, &self.context)?;
        bind_sequence(&[scale_offset, codec(cast_value::parse, cast_value, &self.context)?], decoded)
    }
}

#[derive(Debug)]
struct AsType {
    configuration: Map<String, Value>,
    context: Context,
    encode_type: DataType,
    /// None: that of the array.
    decode_type: Option<DataType>,
}

/// `{"encode_dtype", "decode_dtype"}`, the second optional
pub(super) fn parse_astype(mut configuration: Configuration, context: &Context) -> Result<Arc<dyn Codec>> {
    let encode = configuration.required("encode_dtype")?;
    let decode = configuration.optional("decode_dtype");
    configuration.finish()?;
    let encode_type = numpy_type("encode_dtype", &encode)?;
    let decode_type = decode.as_ref().map(|value| numpy_type("decode_dtype", value)).transpose()?;
    let decode = decode.map(|value| ("decode_dtype".to_owned(), value));
    let configuration = std::iter::once(("encode_dtype".to_owned(), encode)).chain(decode).collect();
    Ok(Arc::new(AsType { configuration, context: context.clone(), encode_type, decode_type }))
}

impl Codec for AsType {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Bound> {
        let data_type = decoded.array()?.data_type();
        if let Some(decode_type) = &self.decode_type {
            check_type("decode_dtype", decode_type, data_type)?;
        }
        let mut members = json!({"data_type": self.encode_type.name()});
        match (data_type.component(), self.encode_type.component()) {
            (Component::Int { .. }, Component::Int { .. }) => members["out_of_range"] = json!("wrap"),
            (Component::Float(_), Component::Float(_)) => members["out_of_range"] = json!("clamp"),
            (Component::Int { bits, signed }, Component::Float(float))
            | (Component::Float(float), Component::Int { bits, signed }) => {
                if bits - u32::from(signed) > float.mantissa_bits + 1 {
                    return Err(Error::unsupported(format!(
                        "encode_dtype is {} for an array of {data_type}: {} does not hold every integer, and NumPy \
                         rounds the two directions differently, which cast_value does not",
                        self.encode_type, float.name
                    )));
                }
                members["rounding"] = json!("towards-zero");
            }
            _ => {}
        }
        bind_sequence(&[codec(cast_value::parse, members, &self.context)?], decoded)
    }
}

type Parse = fn(Configuration, &Context) -> Result<Arc<dyn Codec>>;

fn codec(parse: Parse, members: Value, context: &Context) -> Result<Arc<dyn Codec>> {
    match members {
        Value::Object(members) => parse(Configuration::new(Some(members)), context),
        _ => Err(Error::internal("a part of a numcodecs codec has no configuration")),
    }
}

/// Elementwise codecs one after the other, as one.
fn bind_sequence(codecs: &[Arc<dyn Codec>], decoded: &Representation) -> Result<Bound> {
    let (mut encoded, mut all_stages, mut all_warnings) = (decoded.clone(), Vec::new(), Vec::new());
    for codec in codecs {
        let bound = codec.bind(&encoded)?;
        let Pass::Elementwise { stages, .. } = bound.pass else {
            return Err(Error::internal("a part of a numcodecs codec is not elementwise"));
        };
        encoded = bound.encoded;
        all_stages.extend(stages);
        all_warnings.extend(bound.warnings);
    }
    let pass = Pass::Elementwise { stages: all_stages, frame: None };
    Ok(Bound { encoded, pass, warnings: all_warnings })
}

fn check_type(member: &str, found: &DataType, array: &DataType) -> Result<()> {
    if found == array {
        return Ok(());
    }
    Err(Error::metadata(format!("{member} is {found}, but the array that this codec gets is of {array}")))
}

/// NumPy's name or code of a data type: `float32`, `f4`, `<f4`, `|u1`.
fn numpy_type(member: &str, json: &Value) -> Result<DataType> {
    let text =
        json.as_str().ok_or_else(|| Error::metadata(format!("{member} is {json}, expected a NumPy data type")))?;
    let unsupported = |why: &str| Error::unsupported(format!("{member} is {json}, {why}"));
    let code = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
    let name = match code {
        "f2" => "float16",
        "f4" => "float32",
        "f8" => "float64",
        "i1" => "int8",
        "i2" => "int16",
        "i4" => "int32",
        "i8" => "int64",
        "u1" => "uint8",
        "u2" => "uint16",
        "u4" => "uint32",
        "u8" => "uint64",
        name if name == text => name,
        _ => return Err(unsupported("which is no integer or float of NumPy")),
    };
    let data_type = DataType::from_name(name)
        .ok()
        .filter(|data_type| data_type.is_real_number() && is_of_numpy(data_type.component()))
        .ok_or_else(|| unsupported("which is no integer or float of NumPy"))?;
    if text.starts_with('>') && data_type.size() > 1 {
        return Err(unsupported("but an array in memory is not in big-endian order; the codec bytes writes that"));
    }
    Ok(data_type)
}

fn is_of_numpy(component: Component) -> bool {
    match component {
        Component::Float(format) => matches!(format.id, FloatId::Float16 | FloatId::Float32 | FloatId::Float64),
        component => component.bits() >= 8,
    }
}

/// A JSON number as Python reads it; the library's rule for `float64` is the same.
fn number(member: &str, json: &Value) -> Result<f64> {
    if !json.is_number() {
        return Err(Error::metadata(format!("{member} is {json}, expected a number")));
    }
    let scalar = DataType::from_name("float64")?.scalar_from_json(member, json)?;
    Ok(f64::from_bits(Component::Float(FLOAT64).load(&scalar.0)))
}

/// The JSON scalar that a `float64` rounds to: NumPy has the number before the array has its type.
fn as_scalar(member: &str, value: f64, data_type: &DataType) -> Result<Value> {
    let too_large = || Error::metadata(format!("{member} is {value:?}, too large for {data_type}"));
    let (Component::Float(format), FloatValue::Finite(number)) =
        (data_type.component(), FLOAT64.value(value.to_bits()))
    else {
        return Err(too_large());
    };
    let bits = match format.round(&number, Rounding::NearestEven) {
        Rounded::Bits(bits) => bits,
        Rounded::Overflow | Rounded::Underflow => return Err(too_large()),
    };
    Ok(data_type.scalar_to_json(&data_type.scalar(bits)))
}

#[cfg(test)]
mod tests {
    use crate::Status;
    use crate::chain::{CallOptions, Chain};
    use serde_json::{Value, json};

    fn chain(codecs: &Value, data_type: &str, count: usize, fill_value: &Value) -> crate::Result<Chain> {
        let input = json!({"data_type": data_type, "shape": [count], "fill_value": fill_value});
        Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes()))
    }

    fn bytes<const SIZE: usize>(elements: impl IntoIterator<Item = [u8; SIZE]>) -> Vec<u8> {
        elements.into_iter().flatten().collect()
    }

    #[test]
    fn fixedscaleoffset_is_the_sequence_of_its_specification() {
        let legacy = json!([{"name": "numcodecs.fixedscaleoffset", "configuration":
            {"offset": 10, "scale": 0.1, "dtype": "float32", "astype": "uint8"}}]);
        let sequence = json!([
            {"name": "scale_offset", "configuration": {"offset": 10, "scale": 0.1}},
            {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "wrap"}},
        ]);
        let decoded = bytes((-2000..8000).map(|i| (i as f32 * 0.83).to_ne_bytes()));
        let options = CallOptions::default();
        let [legacy, sequence] =
            [legacy, sequence].map(|codecs| chain(&codecs, "float32", 10_000, &json!(10)).unwrap());
        let encoded = legacy.encode_to_vec(&decoded, &options).unwrap();
        assert_eq!(Ok(&encoded), sequence.encode_to_vec(&decoded, &options).as_ref());
        assert_eq!(legacy.decode_to_vec(&encoded, &options), sequence.decode_to_vec(&encoded, &options));
        assert_eq!(legacy.output().to_json(), sequence.output().to_json());
        assert_eq!(legacy.codecs_json()[0]["name"], "numcodecs.fixedscaleoffset");
    }

    #[test]
    fn python_reads_numbers_as_float64_before_they_become_float32() {
        // Just above the tie between 1 and the next float32, but nearest to the tie in float64.
        let json: Value = serde_json::from_str("1.000000059604644775390625000000000001").unwrap();
        let codec = |offset: &Value| {
            json!([{"name": "numcodecs.fixedscaleoffset", "configuration":
                {"offset": offset, "scale": 8_388_608, "dtype": "<f4", "astype": "<i4"}}])
        };
        let chain = chain(&codec(&json), "float32", 1, &json!(1)).unwrap();
        let encoded = chain.encode_to_vec(&2_f32.to_ne_bytes(), &CallOptions::default());
        assert_eq!(encoded, Ok(8_388_608_i32.to_ne_bytes().to_vec()));
    }

    /// Rust's `as` is NumPy's cast wherever NumPy's is defined.
    #[test]
    fn astype_casts_as_numpy_does() {
        let integers: Vec<i32> = (-70_000..70_000).step_by(37).chain([i32::MIN, i32::MAX]).collect();
        let floats: Vec<f64> =
            vec![0.0, -0.0, 0.1, -0.9, 126.99, -127.99, 1e-300, 3.5e38, -1e300, f64::INFINITY, f64::MIN_POSITIVE];
        let small = &floats[..7];
        let cases = [
            (
                "int32",
                "|u1",
                bytes(integers.iter().map(|i| i.to_ne_bytes())),
                bytes(integers.iter().map(|i| [*i as u8])),
            ),
            (
                "int32",
                "int16",
                bytes(integers.iter().map(|i| i.to_ne_bytes())),
                bytes(integers.iter().map(|i| (*i as i16).to_ne_bytes())),
            ),
            (
                "int32",
                "<f8",
                bytes(integers.iter().map(|i| i.to_ne_bytes())),
                bytes(integers.iter().map(|i| f64::from(*i).to_ne_bytes())),
            ),
            (
                "float64",
                "=f4",
                bytes(floats.iter().map(|f| f.to_ne_bytes())),
                bytes(floats.iter().map(|f| (*f as f32).to_ne_bytes())),
            ),
            (
                "float64",
                "i1",
                bytes(small.iter().map(|f| f.to_ne_bytes())),
                bytes(small.iter().map(|f| [*f as i8 as u8])),
            ),
        ];
        for (decode_type, encode_type, decoded, encoded) in cases {
            let codecs = json!([{"name": "numcodecs.astype", "configuration":
                {"encode_dtype": encode_type, "decode_dtype": decode_type}}]);
            let size = if decode_type == "float64" { 8 } else { 4 };
            let chain = chain(&codecs, decode_type, decoded.len() / size, &json!(0)).unwrap();
            let found = chain.encode_to_vec(&decoded, &CallOptions::default());
            assert_eq!(found, Ok(encoded), "{decode_type} to {encode_type}");
        }
    }

    #[test]
    fn astype_decodes_floats_to_integers_towards_zero() {
        let codecs = json!([{"name": "numcodecs.astype", "configuration": {"encode_dtype": "float32"}}]);
        let chain = chain(&codecs, "int16", 4, &json!(0)).unwrap();
        let encoded = bytes([1.9_f32, -1.9, 0.5, -32768.9].map(f32::to_ne_bytes));
        let decoded = bytes([1_i16, -1, 0, -32768].map(i16::to_ne_bytes));
        assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()), Ok(decoded));
    }

    #[test]
    fn what_no_sequence_reproduces_is_refused() {
        let scale = |members: Value| ("numcodecs.fixedscaleoffset", members);
        let cast = |members: Value| ("numcodecs.astype", members);
        let cases = [
            (scale(json!({"offset": 0, "scale": 1, "dtype": "f8"})), "float64", Status::Unsupported),
            (scale(json!({"offset": 0, "scale": 1, "dtype": "f8", "astype": "f4"})), "float64", Status::Unsupported),
            (scale(json!({"offset": 0, "scale": 1, "dtype": "i4", "astype": "i2"})), "int32", Status::Unsupported),
            (scale(json!({"offset": 0, "scale": 1, "dtype": "f8", "astype": ">i2"})), "float64", Status::Unsupported),
            (scale(json!({"offset": 0, "scale": 1, "dtype": "f8", "astype": "c8"})), "float64", Status::Unsupported),
            (scale(json!({"offset": 0, "scale": 1, "dtype": "f8", "astype": "int4"})), "float64", Status::Unsupported),
            (
                scale(json!({"offset": 0, "scale": 1, "dtype": "f8", "astype": "i2"})),
                "float32",
                Status::InvalidMetadata,
            ),
            (
                scale(json!({"offset": "0", "scale": 1, "dtype": "f8", "astype": "i2"})),
                "float64",
                Status::InvalidMetadata,
            ),
            (
                scale(json!({"offset": 0, "scale": 0, "dtype": "f8", "astype": "i2"})),
                "float64",
                Status::InvalidMetadata,
            ),
            (
                scale(json!({"offset": 0, "scale": 1e39, "dtype": "f4", "astype": "i2"})),
                "float32",
                Status::InvalidMetadata,
            ),
            (scale(json!({"scale": 1, "dtype": "f4", "astype": "i2"})), "float32", Status::InvalidMetadata),
            (
                scale(json!({"offset": 0, "scale": 1, "dtype": "f4", "astype": "i2", "x": 1})),
                "float32",
                Status::InvalidMetadata,
            ),
            (cast(json!({"encode_dtype": "f4"})), "int32", Status::Unsupported),
            (cast(json!({"encode_dtype": "i8"})), "float64", Status::Unsupported),
            (cast(json!({"encode_dtype": "f4"})), "bool", Status::Unsupported),
            (cast(json!({"encode_dtype": "f4", "decode_dtype": "f8"})), "float16", Status::InvalidMetadata),
            (cast(json!({"decode_dtype": "f8"})), "float64", Status::InvalidMetadata),
            (cast(json!({"encode_dtype": 4})), "float64", Status::InvalidMetadata),
        ];
        for ((name, members), data_type, status) in cases {
            let fill_value = if data_type == "bool" { json!(false) } else { json!(0) };
            let codecs = json!([{"name": name, "configuration": members}]);
            let found = chain(&codecs, data_type, 1, &fill_value).map(|_| ()).map_err(|error| error.status());
            assert_eq!(found, Err(status), "{codecs} of {data_type}");
        }
    }
}
