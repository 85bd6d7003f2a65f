//! Data types that have a configuration: times, texts and bytes of a fixed size, and structs of other types.
//! zarr-extensions, data types of these names.
//!
//! Times are int64 numbers. The others are runs of bytes of a fixed size; the code points of a text and the members of
//! a struct are nevertheless numbers with a byte order, which [`parts`](DataType::parts) names.

use super::{Component, DataType};
use crate::error::{Error, Result};
use crate::json::{Configuration, integer, one_of, shown};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// The meaning of an element, which decides the JSON of its fill value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// The kind of its components.
    Plain,
    /// A number of units of time; the least is "not a time".
    Time,
    /// Code points, and NULs after the last.
    Utf32,
    /// Bytes, and NULs after the last.
    NullTerminatedBytes,
    /// Bytes that may be anything.
    RawBytes,
    /// Elements of other types, without gaps.
    Struct(Arc<[Field]>),
}

/// A member of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) data_type: DataType,
}

/// A part of an element: components of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The type of each.
    pub component: Component,
    /// Their number.
    pub count: usize,
}

/// The largest element of these types in bytes: even a short fill value takes that many.
const MAX_SIZE: usize = 1 << 20;

pub(super) const UNITS: [&str; 15] =
    ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "\u{3bc}s", "ns", "ps", "fs", "as", "generic"];

const VARIABLE_SIZE: [&str; 3] = ["string", "bytes", "variable_length_bytes"];

/// Their names. zarr-python calls structs "structured".
pub(super) const NAMES: [&str; 7] = [
    "numpy.datetime64",
    "numpy.timedelta64",
    "fixed_length_utf32",
    "null_terminated_bytes",
    "raw_bytes",
    "struct",
    "structured",
];

/// Whether [`DataType::extended`] handles this name.
pub(super) fn has_name(name: &str) -> bool {
    NAMES.contains(&name) || VARIABLE_SIZE.contains(&name)
}

impl Part {
    /// Its size in bytes.
    pub fn size(self) -> usize {
        self.component.size() * self.count
    }
}

impl DataType {
    /// The type of a name that [`has_name`] knows.
    pub(super) fn extended(name: &str, configuration: Option<Map<String, Value>>) -> Result<Self> {
        if VARIABLE_SIZE.contains(&name) {
            return Err(Error::unsupported(format!(
                "data_type {name:?} has elements of a variable size: only types of a fixed size are supported"
            ))
            .with_code("data_type"));
        }
        let of_type = |error: Error| error.with_context(&format!("data_type {name:?}: "));
        let mut members = Configuration::new(configuration);
        let (form, component) = match name {
            "numpy.datetime64" | "numpy.timedelta64" => time(&mut members),
            "fixed_length_utf32" => length(&mut members, 4).map(|size| (Form::Utf32, Component::Raw { size })),
            "null_terminated_bytes" => {
                length(&mut members, 1).map(|size| (Form::NullTerminatedBytes, Component::Raw { size }))
            }
            "raw_bytes" => length(&mut members, 1).map(|size| (Form::RawBytes, Component::Raw { size })),
            _ => structure(&mut members),
        }
        .map_err(of_type)?;
        members.finish().map_err(of_type)?;
        Ok(Self { name: name.to_owned(), configuration: None, form, component, component_count: 1 })
    }

    /// Whether an element is a time or a span of time of NumPy.
    pub(crate) fn is_time(&self) -> bool {
        self.form == Form::Time
    }

    /// Whether an element is a run of bytes, which may contain numbers, but is not a number.
    pub fn is_run_of_bytes(&self) -> bool {
        !matches!(self.form, Form::Plain | Form::Time)
    }

    /// The parts of an element, in order and without gaps.
    pub fn parts(&self) -> Vec<Part> {
        match &self.form {
            Form::Utf32 => vec![Part { component: CODE_POINT, count: self.size() / CODE_POINT.size() }],
            Form::Struct(fields) => fields.iter().flat_map(|field| field.data_type.parts()).collect(),
            _ => vec![Part { component: self.component, count: self.component_count }],
        }
    }
}

/// A code point of UTF-32.
pub(super) const CODE_POINT: Component = Component::Int { bits: 32, signed: false };

/// `{"unit", "scale_factor"}`
fn time(configuration: &mut Configuration) -> Result<(Form, Component)> {
    one_of("unit", &configuration.required("unit")?, &UNITS)?;
    integer("scale_factor", &configuration.required("scale_factor")?, 1, i32::MAX.into())?;
    Ok((Form::Time, Component::Int { bits: 64, signed: true }))
}

/// `{"length_bytes"}`, a multiple of `unit`
fn length(configuration: &mut Configuration, unit: usize) -> Result<usize> {
    let length = integer("length_bytes", &configuration.required("length_bytes")?, 0, i32::MAX.into())?;
    let length = length as usize;
    if !length.is_multiple_of(unit) {
        return Err(Error::metadata(format!("length_bytes is {length}, expected a multiple of {unit}")));
    }
    supported_size(length)
}

fn supported_size(size: usize) -> Result<usize> {
    match size {
        1..=MAX_SIZE => Ok(size),
        _ => Err(Error::unsupported(format!(
            "an element has {size} bytes, but only sizes from 1 to {MAX_SIZE} bytes are supported"
        ))),
    }
}

/// `{"fields": [{"name", "data_type"}, ..]}`, or, as "structured" has them, pairs of a name and a data type
fn structure(configuration: &mut Configuration) -> Result<(Form, Component)> {
    let fields = match configuration.required("fields")? {
        Value::Array(fields) if !fields.is_empty() => fields,
        other => {
            let message = format!("fields is {}, expected a list of at least one field", shown(&other));
            return Err(Error::metadata(message));
        }
    };
    let fields: Vec<Field> =
        fields.into_iter().enumerate().map(|(i, field)| parse_field(i, field)).collect::<Result<_>>()?;
    let mut names = HashSet::new();
    if let Some(field) = fields.iter().find(|field| !names.insert(field.name.as_str())) {
        return Err(Error::metadata(format!("two fields have the name {}", shown(format_args!("{:?}", field.name)))));
    }
    let size = fields.iter().try_fold(0_usize, |size, field| size.checked_add(field.data_type.size()));
    let size = supported_size(size.unwrap_or(usize::MAX))?;
    Ok((Form::Struct(fields.into()), Component::Raw { size }))
}

fn parse_field(index: usize, json: Value) -> Result<Field> {
    let name = match &json {
        Value::Object(members) if members.len() == 2 && members.contains_key("data_type") => members.get("name"),
        Value::Array(pair) if pair.len() == 2 => pair.first(),
        _ => None,
    };
    let Some(name) = name.and_then(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned) else {
        let field = shown(&json);
        return Err(Error::metadata(format!("fields[{index}] is {field}, expected a name and a data_type")));
    };
    let data_type = match json {
        Value::Object(mut members) => members.shift_remove("data_type"),
        Value::Array(mut pair) => pair.pop(),
        _ => None,
    };
    let of_field = |error: Error| error.with_context(&format!("fields[{index}]: "));
    Ok(Field { name, data_type: DataType::from_owned(data_type.unwrap_or_default()).map_err(of_field)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;
    use serde_json::json;

    #[test]
    fn a_type_comes_back_as_it_was_given() {
        for (json, size) in [
            (json!({"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}), 8),
            (json!({"name": "numpy.timedelta64", "configuration": {"unit": "generic", "scale_factor": 10}}), 8),
            (json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 20}}), 20),
            (json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}), 3),
            (json!({"name": "raw_bytes", "configuration": {"length_bytes": 7}}), 7),
            (
                json!({"name": "struct", "configuration": {"fields": [
                    {"name": "a", "data_type": "int16"},
                    {"name": "b", "data_type": {"name": "raw_bytes", "configuration": {"length_bytes": 3}}}
                ]}}),
                5,
            ),
            (json!({"name": "structured", "configuration": {"fields": [["a", "uint8"], ["b", "complex64"]]}}), 9),
        ] {
            let data_type = DataType::from_json(&json).unwrap();
            assert_eq!((data_type.size(), data_type.to_json()), (size, json));
            assert!(!data_type.is_real_number());
        }
    }

    #[test]
    fn what_is_wrong_is_invalid_and_what_is_missing_here_unsupported() {
        let length = |length: i64| json!({ "length_bytes": length });
        let field = json!({"name": "a", "data_type": "int8"});
        for (name, configuration, status) in [
            ("numpy.datetime64", json!({"unit": "ns"}), Status::InvalidMetadata),
            ("numpy.datetime64", json!({"unit": "minutes", "scale_factor": 1}), Status::InvalidMetadata),
            ("numpy.datetime64", json!({"unit": "ns", "scale_factor": 0}), Status::InvalidMetadata),
            ("numpy.datetime64", json!({"unit": "ns", "scale_factor": 1, "x": 1}), Status::InvalidMetadata),
            ("fixed_length_utf32", length(6), Status::InvalidMetadata),
            ("fixed_length_utf32", length(-4), Status::InvalidMetadata),
            ("fixed_length_utf32", length(0), Status::Unsupported),
            ("raw_bytes", length(1 << 30), Status::Unsupported),
            ("raw_bytes", json!({}), Status::InvalidMetadata),
            ("struct", json!({"fields": []}), Status::InvalidMetadata),
            ("struct", json!({"fields": [field, field]}), Status::InvalidMetadata),
            ("struct", json!({"fields": [{"name": "", "data_type": "int8"}]}), Status::InvalidMetadata),
            ("struct", json!({"fields": [{"name": "a", "data_type": "string"}]}), Status::Unsupported),
            ("string", json!({}), Status::Unsupported),
            ("bytes", json!({}), Status::Unsupported),
            ("int8", json!({"length_bytes": 1}), Status::InvalidMetadata),
        ] {
            let json = json!({"name": name, "configuration": configuration});
            assert_eq!(DataType::from_json(&json).unwrap_err().status(), status, "{json}");
        }
        assert_eq!(DataType::from_name("raw_bytes").unwrap_err().status(), Status::InvalidMetadata);
        let message = DataType::from_name("string").unwrap_err().to_string();
        assert_eq!(
            message,
            "data_type \"string\" has elements of a variable size: only types of a fixed size are supported"
        );
    }
}
