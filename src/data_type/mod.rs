//! Zarr data types: names, layout in memory, and JSON scalars.
//!
//! The layout of an element is that of the C interface: types of fewer than 8 bits take one byte, complex types
//! two components, everything wider is in native byte order. Types that have a configuration are in `extended`.

mod bytes_scalar;
mod extended;
mod numpy;
mod scalar;

pub use extended::Part;
pub use numpy::NumpyType;
pub use scalar::Scalar;

use crate::error::{Error, Result};
use crate::json::{configuration_of, name_of, shown};
use crate::number::{FORMATS, FloatFormat};
use extended::Form;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// The order of the bytes of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endian {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

impl Endian {
    /// That of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// The kind of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// A truth value in a byte: 0, or anything else.
    Bool,
    /// An integer of 2, 4, 8, 16, 32 or 64 bits.
    Int {
        /// N, the number of bits that count.
        bits: u32,
        /// Whether it is two's complement.
        signed: bool,
    },
    /// A binary floating-point number.
    Float(&'static FloatFormat),
    /// Bytes without a meaning: a `r*` type's whole element is one component.
    Raw {
        /// Their number.
        size: usize,
    },
}

impl Component {
    /// N, the number of bits that count.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Int { bits, .. } => bits,
            Self::Float(format) => format.bits,
            Self::Raw { size } => 8 * size as u32,
        }
    }

    /// Bytes in memory.
    pub fn size(self) -> usize {
        match self {
            Self::Raw { size } => size,
            _ => self.bits().div_ceil(8) as usize,
        }
    }

    /// Whether the order of its bytes depends on the machine.
    pub fn has_byte_order(self) -> bool {
        !matches!(self, Self::Raw { .. }) && self.size() > 1
    }
}

/// A Zarr data type.
#[derive(Clone, PartialEq, Eq)]
pub struct DataType {
    name: String,
    /// As it was given.
    configuration: Option<Arc<Map<String, Value>>>,
    form: Form,
    component: Component,
    component_count: usize,
}

impl DataType {
    /// The data type of this name, which has no configuration.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) if no data type of this name is known, or its raw bits are
    /// not a whole number of bytes; [`Status::InvalidMetadata`](crate::Status::InvalidMetadata) if a configuration is
    /// missing.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::from_parts(name, None)
    }

    fn from_parts(name: &str, configuration: Option<Map<String, Value>>) -> Result<Self> {
        if extended::has_name(name) {
            return Self::extended(name, configuration);
        }
        let (component, component_count) = match name {
            "complex64" => (real_component("float32"), 2),
            "complex128" => (real_component("float64"), 2),
            _ => match name.strip_prefix("complex_") {
                Some(real) => (real_component(real).filter(|real| matches!(real, Component::Float(_))), 2),
                None => (real_component(name).or(raw_component(name)), 1),
            },
        };
        let unknown = || {
            let rule = if is_raw(name) { ": raw bits are a multiple of 8, up to 4294967288" } else { "" };
            Error::unsupported(format!("data_type {} is not known{rule}", shown(format_args!("{name:?}"))))
        };
        let component = component.ok_or_else(|| unknown().with_code("data_type"))?;
        if let Some(configuration) = configuration.filter(|members| !members.is_empty()) {
            let configuration = shown(Value::Object(configuration));
            return Err(Error::metadata(format!("data_type takes no configuration, but has {configuration}")));
        }
        Ok(Self { name: name.to_owned(), configuration: None, form: Form::Plain, component, component_count })
    }

    /// The data type that a `data_type` member names: a string, or an object with a name.
    ///
    /// # Errors
    /// As [`from_name`](Self::from_name), and
    /// [`Status::InvalidMetadata`](crate::Status::InvalidMetadata) for anything but a name and its configuration.
    pub fn from_json(json: &Value) -> Result<Self> {
        let mut data_type = Self::from_owned(json.clone())?;
        if data_type.form != Form::Plain {
            data_type.configuration = json["configuration"].as_object().cloned().map(Arc::new);
        }
        Ok(data_type)
    }

    /// The same without what [`to_json`](Self::to_json) needs: the fields of a struct, which may have fields in turn,
    /// do not keep parts of its configuration.
    fn from_owned(json: Value) -> Result<Self> {
        let mut members = match json {
            Value::String(name) => return Self::from_name(&name),
            Value::Object(members) => members,
            other => return Err(Error::metadata(format!("data_type is {}, expected a name", shown(&other)))),
        };
        let of_type = |error: Error| error.with_context("data_type: ");
        let name = name_of(&members).map_err(of_type)?.to_owned();
        configuration_of(&members).or_else(|error| {
            // Not knowing the name is the better message.
            if !extended::has_name(&name) {
                Self::from_name(&name)?;
            }
            Err(of_type(error))
        })?;
        let configuration = members.shift_remove("configuration").and_then(|json| match json {
            Value::Object(members) => Some(members),
            _ => None,
        });
        Self::from_parts(&name, configuration)
    }

    /// The `data_type` member that names this type.
    pub fn to_json(&self) -> Value {
        match &self.configuration {
            None => json!(self.name),
            Some(configuration) => json!({ "name": self.name, "configuration": **configuration }),
        }
    }

    /// The name as it was given, even if it is an alias.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of each component; of a text or a struct, raw bytes: see [`parts`](Self::parts).
    pub fn component(&self) -> Component {
        self.component
    }

    /// 2 for complex types, otherwise 1.
    pub fn component_count(&self) -> usize {
        self.component_count
    }

    /// Bytes per element in memory.
    pub fn size(&self) -> usize {
        self.component.size() * self.component_count
    }

    /// Whether this is one of the real numbers: an integer or a float, neither complex, bool, raw nor a time.
    pub fn is_real_number(&self) -> bool {
        self.form == Form::Plain
            && self.component_count == 1
            && matches!(self.component, Component::Int { .. } | Component::Float(_))
    }
}

impl fmt::Debug for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The integer types, by name.
pub const INTEGERS: [(&str, u32, bool); 12] = [
    ("int2", 2, true),
    ("int4", 4, true),
    ("int8", 8, true),
    ("int16", 16, true),
    ("int32", 32, true),
    ("int64", 64, true),
    ("uint2", 2, false),
    ("uint4", 4, false),
    ("uint8", 8, false),
    ("uint16", 16, false),
    ("uint32", 32, false),
    ("uint64", 64, false),
];

/// The names of all data types except the raw ones, `r8`, `r16` and so on.
pub fn names() -> impl Iterator<Item = String> {
    names_alone().chain(extended::NAMES.map(str::to_owned))
}

/// The names of those that have no configuration.
fn names_alone() -> impl Iterator<Item = String> {
    let floats = || FORMATS.iter().map(|format| format.name);
    std::iter::once("bool")
        .chain(INTEGERS.iter().map(|integer| integer.0))
        .chain(floats())
        .map(str::to_owned)
        .chain(floats().map(|name| format!("complex_{name}")))
        .chain(["complex64", "complex128"].map(str::to_owned))
}

fn real_component(name: &str) -> Option<Component> {
    if name == "bool" {
        return Some(Component::Bool);
    }
    if let Some(&(_, bits, signed)) = INTEGERS.iter().find(|integer| integer.0 == name) {
        return Some(Component::Int { bits, signed });
    }
    FORMATS.iter().find(|format| format.name == name).map(Component::Float)
}

/// Whether this is the letter `r` and a number.
fn is_raw(name: &str) -> bool {
    let digits = name.strip_prefix('r').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

fn raw_component(name: &str) -> Option<Component> {
    let digits = name.strip_prefix('r').filter(|digits| is_raw(name) && !digits.starts_with('0'))?;
    let bits: u32 = digits.parse().ok()?;
    bits.is_multiple_of(8).then_some(Component::Raw { size: bits as usize / 8 })
}
