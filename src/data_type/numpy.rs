//! NumPy's names of data types, as Zarr v2 has them: a byte order, a kind and a size, or a list of named fields. NumPy
//! reference, "The array interface protocol".

use super::extended::UNITS;
use super::{Component, DataType, Endian};
use crate::error::{Error, Result};
use crate::json::{exact_integer, shown};
use serde_json::{Map, Number, Value, json};

/// A data type of NumPy, which includes a byte order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumpyType {
    /// The data type of its elements.
    pub data_type: DataType,
    /// The order of the bytes of their components; `None` if no component has one.
    pub endian: Option<Endian>,
}

impl NumpyType {
    /// The type that a `dtype` member names.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) for types that have no Zarr v3 data type here and for
    /// structs in both byte orders, [`Status::InvalidMetadata`](crate::Status::InvalidMetadata) for anything that is
    /// not a type.
    pub fn from_json(json: &Value) -> Result<Self> {
        if let Value::String(text) = json {
            return Self::from_text(text);
        }
        let (data_type, endian) = zarr_v3(json)?;
        Ok(Self { data_type: DataType::from_json(&data_type).map_err(|error| error.with_context("dtype: "))?, endian })
    }

    fn from_text(text: &str) -> Result<Self> {
        if let Some(data_type) = beyond_numpy(text) {
            let endian = data_type.component().has_byte_order().then_some(Endian::Little);
            return Ok(Self { data_type, endian });
        }
        let dtype = || shown(format_args!("{text:?}"));
        let (order, code) = match text.strip_prefix(['<', '>', '|']) {
            Some(code) => (text.chars().next(), code),
            None => (None, text),
        };
        let data_type = match data_type_of(code) {
            Some(json) => DataType::from_json(&json).map_err(|error| error.with_context("dtype: "))?,
            None if code.starts_with('O') => {
                return Err(Error::unsupported(format!(
                    "dtype is {}: objects have a variable size, but only types of a fixed size are supported",
                    dtype()
                )));
            }
            None => {
                let message = format!("dtype is {}, which is not known", dtype());
                return Err(Error::unsupported(message).with_code("data_type"));
            }
        };
        let has_byte_order = data_type.parts().iter().any(|part| part.component.has_byte_order());
        let endian = match order {
            _ if !has_byte_order => None,
            Some('<') => Some(Endian::Little),
            Some('>') => Some(Endian::Big),
            _ => return Err(Error::metadata(format!("dtype is {}, expected a byte order, < or >", dtype()))),
        };
        Ok(Self { data_type, endian })
    }

    /// The scalar of a `fill_value` of Zarr v2, which is not null: bytes are base64 texts, also those of a struct, and
    /// numbers may be written in other ways than in v3.
    ///
    /// # Errors
    /// [`Status::InvalidMetadata`](crate::Status::InvalidMetadata) if it is not a value of this type.
    pub fn scalar_from_json(&self, member: &str, json: &Value) -> Result<super::Scalar> {
        let is_zero = exact_integer(json) == Some(0);
        let is_struct = self.data_type.parts().len() > 1 || self.data_type.name() == "struct";
        match json {
            // zarr-python 2 writes this if no fill value was chosen.
            _ if is_zero && self.data_type.is_run_of_bytes() => {
                let zeros = vec![0; self.data_type.size()];
                self.data_type.scalar_from_bytes(member, &zeros, Endian::NATIVE)
            }
            // netCDF-C 4.8 wrote a list.
            Value::Array(list) if list.len() == 1 && self.data_type.is_real_number() => {
                self.data_type.scalar_from_json(member, &self.as_in_v3(&list[0]))
            }
            // GDAL writes the real part.
            Value::Number(_) if self.data_type.name().starts_with("complex") => {
                self.data_type.scalar_from_json(member, &json!([json, 0]))
            }
            Value::String(text) if is_struct => {
                let bytes = crate::json::from_base64(text)
                    .map_err(|_| Error::metadata(format!("{member} is {}, expected a base64 text", shown(json))))?;
                self.data_type.scalar_from_bytes(member, &bytes, self.endian.unwrap_or(Endian::NATIVE))
            }
            _ => self.data_type.scalar_from_json(member, &self.as_in_v3(json)),
        }
    }

    /// Truth values as numbers, integers written as floats (`7.0`, `1e+18`), and numbers in texts, as n5-zarr wrote
    /// them before 2024.
    fn as_in_v3(&self, json: &Value) -> Value {
        let in_text = json.as_str().filter(|_| self.data_type.is_real_number());
        let number = match in_text.and_then(|text| serde_json::from_str::<Number>(text).ok()) {
            Some(number) => number,
            None => match json {
                Value::Number(number) => number.clone(),
                _ => return json.clone(),
            },
        };
        let digits = number.as_str();
        match self.data_type.name() {
            "bool" if digits == "0" || digits == "1" => json!(digits == "1"),
            name if name.contains("int") && digits.contains(['.', 'e', 'E']) => {
                let whole = whole(digits).and_then(Number::from_i128);
                Value::Number(whole.unwrap_or(number))
            }
            _ => Value::Number(number),
        }
    }
}

/// The `data_type` of Zarr v3, and its byte order.
fn zarr_v3(json: &Value) -> Result<(Value, Option<Endian>)> {
    match json {
        Value::String(text) => NumpyType::from_text(text).map(|numpy| (numpy.data_type.to_json(), numpy.endian)),
        Value::Array(fields) => structure(fields),
        other => Err(Error::metadata(format!("dtype is {}, expected a NumPy data type", shown(other)))),
    }
}

/// A list of pairs of a name and a type.
fn structure(fields: &[Value]) -> Result<(Value, Option<Endian>)> {
    let mut types = Vec::with_capacity(fields.len());
    let mut endian = None;
    for (index, field) in fields.iter().enumerate() {
        let (name, data_type, field_endian) = match field.as_array().map(Vec::as_slice) {
            Some([Value::String(name), field_type]) => {
                let in_field = |error: Error| error.with_context(&format!("in the field {}, ", shown(field)));
                let (data_type, endian) = zarr_v3(field_type).map_err(in_field)?;
                (name, data_type, endian)
            }
            Some([Value::String(_), _, _]) => {
                let field = shown(field);
                return Err(Error::unsupported(format!(
                    "dtype has the field {field}: arrays in structs are not supported"
                )));
            }
            _ => {
                return Err(Error::metadata(format!(
                    "dtype has the field {}, expected a name and a type",
                    shown(field)
                )));
            }
        };
        if endian.is_some() && field_endian.is_some() && endian != field_endian {
            return Err(Error::unsupported("dtype has fields in both byte orders, but the codec bytes has one"));
        }
        endian = endian.or(field_endian);
        // As NumPy names fields without a name, such as the padding between others.
        let name = if name.is_empty() { format!("f{index}") } else { name.clone() };
        // The macro `json!` would copy the values.
        types.push(Value::Object(Map::from_iter([
            ("name".to_owned(), Value::String(name)),
            ("data_type".to_owned(), data_type),
        ])));
    }
    let configuration = Map::from_iter([("fields".to_owned(), Value::Array(types))]);
    let members = [("name".to_owned(), json!("struct")), ("configuration".to_owned(), Value::Object(configuration))];
    Ok((Value::Object(Map::from_iter(members)), endian))
}

/// The integer that a number of JSON with a fraction or an exponent is to its readers, which take it for a `float64`.
/// `None` if that is no integer, or no type holds it, or it is 0 only by underflow.
fn whole(number: &str) -> Option<i128> {
    let value: f64 = number.parse().ok()?;
    let (digits, _) = number.split_once(['e', 'E']).unwrap_or((number, ""));
    let is_zero = digits.bytes().all(|digit| !matches!(digit, b'1'..=b'9'));
    (value.fract() == 0.0 && value.abs() <= u64::MAX as f64 && (value == 0.0) == is_zero).then_some(value as i128)
}

/// A type that NumPy lacks, by its name in Zarr v3: tensorstore writes these, always little-endian.
fn beyond_numpy(name: &str) -> Option<DataType> {
    let data_type = DataType::from_name(name).ok().filter(DataType::is_real_number)?;
    match data_type.component() {
        Component::Int { bits, .. } => bits < 8,
        _ => !matches!(name, "float16" | "float32" | "float64"),
    }
    .then_some(data_type)
}

/// The `data_type` of Zarr v3 for a kind and a size; `None` if there is none.
fn data_type_of(code: &str) -> Option<Value> {
    let kind = code.chars().next()?;
    let rest = &code[kind.len_utf8()..];
    let bytes = |name: &str, unit: u64| {
        let length: u32 = rest.parse().ok().filter(|_| !rest.starts_with('+'))?;
        Some(json!({"name": name, "configuration": {"length_bytes": u64::from(length) * unit}}))
    };
    let name = match (kind, rest) {
        ('b', "1") => "bool",
        ('i', "1") => "int8",
        ('i', "2") => "int16",
        ('i', "4") => "int32",
        ('i', "8") => "int64",
        ('u', "1") => "uint8",
        ('u', "2") => "uint16",
        ('u', "4") => "uint32",
        ('u', "8") => "uint64",
        ('f', "2") => "float16",
        ('f', "4") => "float32",
        ('f', "8") => "float64",
        ('c', "8") => "complex64",
        ('c', "16") => "complex128",
        ('M', _) => return time("numpy.datetime64", rest),
        ('m', _) => return time("numpy.timedelta64", rest),
        ('U', _) => return bytes("fixed_length_utf32", 4),
        ('S', _) => return bytes("null_terminated_bytes", 1),
        ('V', _) => return bytes("raw_bytes", 1),
        _ => return None,
    };
    Some(json!(name))
}

/// `8`, `8[ns]` or `8[10s]`
fn time(name: &str, rest: &str) -> Option<Value> {
    let unit = rest.strip_prefix('8')?;
    let (scale_factor, unit) = match unit.strip_prefix('[') {
        None if unit.is_empty() => (1, "generic"),
        None => return None,
        Some(unit) => {
            let unit = unit.strip_suffix(']')?;
            let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
            let scale_factor: u32 = if digits == 0 { 1 } else { unit[..digits].parse().ok()? };
            (scale_factor, &unit[digits..])
        }
    };
    UNITS.contains(&unit).then(|| json!({"name": name, "configuration": {"unit": unit, "scale_factor": scale_factor}}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    #[test]
    fn a_field_at_fault_is_named() {
        let error = NumpyType::from_json(&json!([["a", "<i4"], ["b", "|O"]])).unwrap_err();
        assert_eq!(error.status(), Status::Unsupported);
        assert!(error.to_string().contains("in the field [\"b\",\"|O\"], dtype is \"|O\""), "{error}");
    }

    #[test]
    fn types_of_numpy_are_those_of_zarr() {
        let bytes = |name: &str, length: u64| json!({"name": name, "configuration": {"length_bytes": length}});
        let time = |unit: &str, scale_factor: u64| {
            let configuration = json!({"unit": unit, "scale_factor": scale_factor});
            json!({"name": "numpy.datetime64", "configuration": configuration})
        };
        for (text, data_type, endian) in [
            ("|b1", json!("bool"), None),
            ("<i8", json!("int64"), Some(Endian::Little)),
            (">c16", json!("complex128"), Some(Endian::Big)),
            (">u1", json!("uint8"), None),
            (">M8[ns]", time("ns", 1), Some(Endian::Big)),
            ("<M8[10s]", time("s", 10), Some(Endian::Little)),
            ("<M8", time("generic", 1), Some(Endian::Little)),
            (">U5", bytes("fixed_length_utf32", 20), Some(Endian::Big)),
            ("|S4", bytes("null_terminated_bytes", 4), None),
            ("|V7", bytes("raw_bytes", 7), None),
            ("bfloat16", json!("bfloat16"), Some(Endian::Little)),
            ("float8_e4m3fn", json!("float8_e4m3fn"), None),
            ("int4", json!("int4"), None),
        ] {
            let numpy = NumpyType::from_json(&json!(text)).unwrap();
            assert_eq!((numpy.data_type.to_json(), numpy.endian), (data_type, endian), "{text}");
        }
    }

    #[test]
    fn structs_have_one_byte_order() {
        let numpy = NumpyType::from_json(&json!([["a", ">i2"], ["b", [["c", "|S3"], ["d", ">f8"]]]])).unwrap();
        assert_eq!((numpy.data_type.size(), numpy.endian), (13, Some(Endian::Big)));
        let fill_value = numpy.scalar_from_json("x", &json!("AAF4AABABAAAAAAAAA==")).unwrap();
        let json = json!({"a": 1, "b": {"c": "eA==", "d": 2.5}});
        assert_eq!(numpy.data_type.scalar_to_json(&fill_value), json);
        let padded = NumpyType::from_json(&json!([["a", "|u1"], ["", "|V3"], ["b", "<i4"]])).unwrap();
        assert_eq!(padded.data_type.to_json()["configuration"]["fields"][1]["name"], "f1");
        let both = NumpyType::from_json(&json!([["a", "<i2"], ["b", ">i2"]]));
        assert_eq!(both.unwrap_err().status(), Status::Unsupported);
    }

    #[test]
    fn fill_values_may_be_written_as_v2_has_them() {
        for (dtype, json, expected) in [
            ("<i4", json!(7.0), json!(7)),
            (">i4", json!([-32767]), json!(-32767)),
            ("<i8", serde_json::from_str("1e+18").unwrap(), json!(1_000_000_000_000_000_000_i64)),
            ("<i2", serde_json::from_str("-1.25E2").unwrap(), json!(-125)),
            ("<i2", serde_json::from_str("1200e-2").unwrap(), json!(12)),
            ("<i2", serde_json::from_str("0.7e1").unwrap(), json!(7)),
            ("<i2", serde_json::from_str("-0e30").unwrap(), json!(0)),
            ("<i8", serde_json::from_str("1.2345678901234567e+18").unwrap(), json!(1_234_567_890_123_456_768_i64)),
            ("<i8", serde_json::from_str("-9.223372036854776e+18").unwrap(), json!(i64::MIN)),
            ("<u8", serde_json::from_str("9.223372036854776e+18").unwrap(), json!(1_u64 << 63)),
            ("<i8", serde_json::from_str("1234567890123456789").unwrap(), json!(1_234_567_890_123_456_789_i64)),
            ("<f8", serde_json::from_str("1e+18").unwrap(), json!(1e18)),
            ("|b1", json!(1), json!(true)),
            ("<U2", json!(0), json!("")),
            ("<U2", json!("ab"), json!("ab")),
            ("|S2", json!(0), json!("")),
            ("|S2", json!("YQ=="), json!("YQ==")),
            ("<M8[s]", json!("NaT"), json!(i64::MIN)),
            ("<f4", json!("NaN"), json!("NaN")),
            (">u2", json!("0"), json!(0)),
            ("<i8", json!("-9223372036854775808"), json!(i64::MIN)),
            ("<f8", json!("1.5"), json!(1.5)),
            ("<U2", json!("7"), json!("7")),
            (">c16", json!(-1.5), json!([-1.5, 0.0])),
            ("<c8", json!(0), json!([0.0, 0.0])),
        ] {
            let numpy = NumpyType::from_json(&json!(dtype)).unwrap();
            let scalar = numpy.scalar_from_json("x", &json).unwrap();
            assert_eq!(numpy.data_type.scalar_to_json(&scalar), expected, "{dtype} {json}");
        }
        for text in [
            "7.5",
            "\"7.5\"",
            "\"7x\"",
            "\"\"",
            "75e-1",
            "[7, 7]",
            "[[7]]",
            "1e10",
            "2e19",
            "1e99999999999",
            "1e-99999",
            "1.e1",
        ] {
            let Ok(json) = serde_json::from_str(text) else { continue };
            assert!(NumpyType::from_json(&json!("<i4")).unwrap().scalar_from_json("x", &json).is_err(), "{json}");
        }
    }

    #[test]
    fn other_types_are_refused() {
        for (json, status) in [
            (json!("|O"), Status::Unsupported),
            (json!("<f16"), Status::Unsupported),
            (json!("<U0"), Status::Unsupported),
            (json!("<U+3"), Status::Unsupported),
            (json!("|V+3"), Status::Unsupported),
            (json!("\u{3bc}"), Status::Unsupported),
            (json!(""), Status::Unsupported),
            (json!("i4"), Status::InvalidMetadata),
            (json!("float32"), Status::Unsupported),
            (json!("|i4"), Status::InvalidMetadata),
            (json!(4), Status::InvalidMetadata),
            (json!([]), Status::InvalidMetadata),
            (json!([["a", "<i4", [2]]]), Status::Unsupported),
            (json!([["a"]]), Status::InvalidMetadata),
            (json!([["a", "<i4"], ["a", "<i4"]]), Status::InvalidMetadata),
            (json!([["f1", "<i4"], ["", "|V4"]]), Status::InvalidMetadata),
        ] {
            assert_eq!(NumpyType::from_json(&json).unwrap_err().status(), status, "{json}");
        }
    }
}
