//! Values of the types whose elements are runs of bytes: texts, bytes and structs. zarr-extensions, "Fill value
//! representation" of these types; zarr-python reads the base64 text of a whole struct as well.

use super::extended::{CODE_POINT, Field, Form};
use super::{DataType, Endian, Scalar};
use crate::error::{Error, Result};
use crate::json::{from_base64, shown, to_base64};
use crate::memory::grow;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

impl DataType {
    /// The scalar of a JSON value; none for types that are not runs of bytes with a configuration.
    pub(super) fn bytes_from_json(&self, member: &str, json: &Value) -> Option<Result<Scalar>> {
        let wrong = |expected: &str| Error::metadata(format!("{member} is {}, expected {expected}", shown(json)));
        let base64 = || json.as_str().and_then(|text| from_base64(text).ok()).ok_or_else(|| wrong("a base64 text"));
        let sized = |bytes: Vec<u8>| match bytes.len() == self.size() {
            true => Ok(Scalar(bytes.into())),
            false => Err(wrong(&format!("a base64 text of {} bytes", self.size()))),
        };
        let padded = |bytes: Vec<u8>, unit: usize, units: &str| {
            let wrong = || wrong(&format!("at most the {} {units} of an element", self.size() / unit));
            self.padded(bytes).ok_or_else(wrong)?
        };
        match &self.form {
            Form::Plain | Form::Time => None,
            Form::RawBytes => Some(base64().and_then(sized)),
            Form::NullTerminatedBytes => Some(base64().and_then(|bytes| padded(bytes, 1, "bytes"))),
            Form::Utf32 => {
                let text = json.as_str().ok_or_else(|| wrong("a text"));
                let code_points = |text: &str| text.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect();
                Some(text.map(code_points).and_then(|bytes| padded(bytes, size_of::<char>(), "code points")))
            }
            Form::Struct(fields) => Some(match json {
                Value::Object(values) => self.struct_from_json(member, fields, values),
                Value::String(_) => base64().and_then(|bytes| self.scalar_from_bytes(member, &bytes, Endian::Little)),
                _ => Err(wrong("an object with a value of each field")),
            }),
        }
    }

    /// With zeros at the end; `None` if it has more bytes than an element.
    fn padded(&self, mut bytes: Vec<u8>) -> Option<Result<Scalar>> {
        (bytes.len() <= self.size()).then(|| {
            grow(&mut bytes, self.size())?;
            Ok(Scalar(bytes.into()))
        })
    }

    fn struct_from_json(&self, member: &str, fields: &[Field], values: &Map<String, Value>) -> Result<Scalar> {
        let names: HashSet<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        if let Some(name) = values.keys().find(|name| !names.contains(name.as_str())) {
            let name = shown(format_args!("{name:?}"));
            return Err(Error::metadata(format!("{member} has a member {name}, which is not a field of the struct")));
        }
        let mut bytes = Vec::new();
        for Field { name, data_type } in fields {
            let value = values.get(name).ok_or_else(|| {
                let name = shown(format_args!("{name:?}"));
                Error::metadata(format!("{member} has no member {name}, which is a field of the struct"))
            })?;
            let Scalar(value) = data_type.scalar_from_json(&format!("{member}.{}", shown(name)), value)?;
            bytes.try_reserve(value.len()).map_err(|_| Error::out_of_memory())?;
            bytes.extend_from_slice(&value);
        }
        Ok(Scalar(bytes.into()))
    }

    /// The scalar whose components are in this byte order; `member` names it in errors.
    ///
    /// # Errors
    /// [`Status::InvalidMetadata`](crate::Status::InvalidMetadata) if these bytes are not a value of this type.
    pub fn scalar_from_bytes(&self, member: &str, bytes: &[u8], endian: Endian) -> Result<Scalar> {
        if bytes.len() != self.size() {
            let (count, size) = (bytes.len(), self.size());
            return Err(Error::metadata(format!("{member} has {count} bytes, but an element of {self} has {size}")));
        }
        let mut native = bytes.to_vec();
        self.for_each_component(&mut native, |component, bytes| {
            if endian != Endian::NATIVE && component.has_byte_order() {
                bytes.reverse();
            }
            component.normalize(bytes);
        });
        let scalar = Scalar(native.into());
        // A value without JSON cannot be a fill value.
        let again = self.scalar_from_json(member, &self.scalar_to_json(&scalar))?;
        if again == scalar { Ok(scalar) } else { Err(Error::metadata(format!("{member} is not a value of {self}"))) }
    }

    /// The JSON value of a scalar; none for types that are not runs of bytes with a configuration.
    pub(super) fn bytes_to_json(&self, scalar: &[u8]) -> Option<Value> {
        let end = |unit: usize| {
            let units = scalar.chunks_exact(unit);
            units
                .rev()
                .position(|unit| unit.iter().any(|byte| *byte != 0))
                .map_or(0, |zeros| scalar.len() - zeros * unit)
        };
        match &self.form {
            Form::Plain | Form::Time => None,
            Form::RawBytes => Some(json!(to_base64(scalar))),
            Form::NullTerminatedBytes => Some(json!(to_base64(&scalar[..end(1)]))),
            Form::Utf32 => {
                let code_points = scalar[..end(4)].chunks_exact(4).map(|bytes| CODE_POINT.load(bytes) as u32);
                let chars = code_points.map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
                Some(Value::String(chars.collect()))
            }
            Form::Struct(fields) => {
                let mut rest = scalar;
                let values = fields.iter().map(|Field { name, data_type }| {
                    let (value, after) = rest.split_at(data_type.size());
                    rest = after;
                    (name.clone(), data_type.scalar_to_json(&Scalar(value.into())))
                });
                Some(Value::Object(values.collect()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data_type(name: &str, configuration: &Value) -> DataType {
        DataType::from_json(&json!({"name": name, "configuration": configuration})).unwrap()
    }

    fn record() -> DataType {
        let fields = json!([
            {"name": "a", "data_type": "int16"},
            {"name": "b", "data_type": "float64"},
            {"name": "c", "data_type": {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}},
            {"name": "d", "data_type": {"name": "struct", "configuration": {"fields": [
                {"name": "e", "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}},
                {"name": "f", "data_type": "bool"}
            ]}}}
        ]);
        data_type("struct", &json!({ "fields": fields }))
    }

    /// The texts are what zarr-python 3.4.2 writes.
    #[test]
    fn fill_values_are_those_of_zarr_python() {
        let utf32 = data_type("fixed_length_utf32", &json!({"length_bytes": 16}));
        let Scalar(bytes) = utf32.scalar_from_json("x", &json!("ab\u{20ac}")).unwrap();
        assert_eq!(*bytes, [0x61_u32, 0x62, 0x20ac, 0].map(u32::to_ne_bytes).concat());
        let bytes = data_type("null_terminated_bytes", &json!({"length_bytes": 3}));
        assert_eq!(bytes.scalar_from_json("x", &json!("YWI=")), Ok(Scalar((*b"ab\0").into())));
        let raw = data_type("raw_bytes", &json!({"length_bytes": 3}));
        assert_eq!(raw.scalar_from_json("x", &json!("YWIA")), Ok(Scalar((*b"ab\0").into())));
        for (data_type, json) in [
            (&utf32, json!("ab\u{20ac}")),
            (&utf32, json!("")),
            (&bytes, json!("YWI=")),
            (&raw, json!("YWIA")),
            (&record(), json!({"a": 1, "b": 2.5, "c": "eA==", "d": {"e": "\u{1f600}", "f": true}})),
        ] {
            assert_eq!(data_type.scalar_to_json(&data_type.scalar_from_json("x", &json).unwrap()), json);
        }
    }

    #[test]
    fn times_are_integers_or_not_a_time() {
        let time = data_type("numpy.datetime64", &json!({"unit": "ns", "scale_factor": 1}));
        assert_eq!(time.scalar_from_json("x", &json!("NaT")), time.scalar_from_json("x", &json!(i64::MIN)));
        assert_eq!(time.scalar_to_json(&time.scalar(1 << 63)), json!(i64::MIN));
        assert!(time.scalar_from_json("x", &json!("NaN")).is_err());
        assert!(DataType::from_name("int64").unwrap().scalar_from_json("x", &json!("NaT")).is_err());
    }

    #[test]
    fn a_struct_of_either_byte_order_is_read_from_its_bytes() {
        let record = record();
        let json = json!({"a": 258, "b": 2.5, "c": "eA==", "d": {"e": "y", "f": true}});
        let (mut little, mut big) = (vec![2, 1], vec![1, 2]);
        little.extend(2.5_f64.to_le_bytes());
        big.extend(2.5_f64.to_be_bytes());
        little.extend([b'x', 0, 0, b'y', 0, 0, 0, 0, 0, 0, 0, 1]);
        big.extend([b'x', 0, 0, 0, 0, 0, b'y', 0, 0, 0, 0, 1]);
        let expected = record.scalar_from_json("x", &json);
        assert!(expected.is_ok());
        assert_eq!(record.scalar_from_bytes("x", &little, Endian::Little), expected);
        assert_eq!(record.scalar_from_bytes("x", &big, Endian::Big), expected);
        assert_eq!(record.scalar_from_json("x", &json!(to_base64(&little))), expected);
        assert!(record.scalar_from_bytes("x", &little, Endian::Big).is_err(), "no code point");
        assert!(record.scalar_from_bytes("x", &little[1..], Endian::Little).is_err());
    }

    #[test]
    fn other_values_are_refused() {
        let utf32 = data_type("fixed_length_utf32", &json!({"length_bytes": 4}));
        let bytes = data_type("null_terminated_bytes", &json!({"length_bytes": 2}));
        let raw = data_type("raw_bytes", &json!({"length_bytes": 2}));
        let record = record();
        for (data_type, json) in [
            (&utf32, json!("ab")),
            (&utf32, json!(0)),
            (&bytes, json!("YWJj")),
            (&bytes, json!([97])),
            (&raw, json!("YQ==")),
            (&raw, json!("a")),
            (&record, json!({"a": 1, "b": 2.5, "c": ""})),
            (&record, json!({"a": 1, "b": 2.5, "c": "", "d": {"e": "", "f": true}, "g": 1})),
            (&record, json!([1, 2.5, "", {}])),
        ] {
            assert!(data_type.scalar_from_json("x", &json).is_err(), "{data_type} {json}");
        }
    }
}
