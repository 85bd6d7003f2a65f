//! What passes between two codecs: an array, or bytes of a size that is more or less known.

use crate::data_type::{DataType, Scalar};
use crate::error::{Error, Result};
use crate::json::{exact_integer, integer, shown};
use serde_json::{Value, json};

/// An array in memory: `product(shape)` elements back to back in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayRepresentation {
    data_type: DataType,
    shape: Vec<u64>,
    fill_value: Option<Scalar>,
    element_count: u64,
}

impl ArrayRepresentation {
    /// An array of this data type, shape and fill value. Without dimensions there is one element. The fill value may be
    /// missing in a chain that wraps single codecs.
    ///
    /// # Errors
    /// [`Status::InvalidMetadata`](crate::Status::InvalidMetadata) if it has more than 2^63 - 1 bytes.
    pub fn new(data_type: DataType, shape: Vec<u64>, fill_value: Option<Scalar>) -> Result<Self> {
        let element_count = element_count(&shape);
        let size = element_count.checked_mul(data_type.size() as u64);
        if size.is_none_or(|size| i64::try_from(size).is_err()) {
            let shape = shown(format_args!("{shape:?}"));
            return Err(Error::metadata(format!(
                "shape is {shape}, but an array of {data_type} has at most 2^63 - 1 bytes"
            )));
        }
        Ok(Self { data_type, shape, fill_value, element_count })
    }

    /// The `input_json` of the C interface: an object with `data_type`, `shape` and, if there is one, `fill_value`.
    ///
    /// # Errors
    /// A member is missing, unknown or wrong.
    pub fn from_json(json: &Value) -> Result<Self> {
        let members =
            json.as_object().ok_or_else(|| Error::metadata(format!("input is {}, expected an object", shown(json))))?;
        if let Some(member) = members.keys().find(|key| !["data_type", "shape", "fill_value"].contains(&key.as_str())) {
            let member = shown(format_args!("{member:?}"));
            return Err(Error::metadata(format!("input has an unknown member {member}")));
        }
        let member =
            |name: &str| members.get(name).ok_or_else(|| Error::metadata(format!("{name} is missing from the input")));
        let data_type = DataType::from_json(member("data_type")?)?;
        let shape = shape_from_json("shape", member("shape")?, 0)?;
        let fill_value =
            members.get("fill_value").map(|json| data_type.scalar_from_json("fill_value", json)).transpose()?;
        Self::new(data_type, shape, fill_value)
    }

    /// The same members as JSON.
    pub fn to_json(&self) -> Value {
        let mut members = json!({ "data_type": self.data_type.to_json(), "shape": self.shape });
        if let Some(fill_value) = &self.fill_value {
            members["fill_value"] = self.data_type.scalar_to_json(fill_value);
        }
        members
    }

    /// The same data type and fill value in another shape.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_shape(&self, shape: Vec<u64>) -> Result<Self> {
        Self::new(self.data_type.clone(), shape, self.fill_value.clone())
    }

    /// The same shape with elements of another type.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_elements(&self, data_type: DataType, fill_value: Option<Scalar>) -> Result<Self> {
        Self::new(data_type, self.shape.clone(), fill_value)
    }

    /// The type of the elements.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The size along each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The fill value, if there is one.
    pub fn fill_value(&self) -> Option<&Scalar> {
        self.fill_value.as_ref()
    }

    /// The number of elements.
    pub fn element_count(&self) -> u64 {
        self.element_count
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.element_count * self.data_type.size() as u64
    }
}

/// The number of elements of an array of this shape; `u64::MAX` if there are more. Where a size is 0 there are none, so
/// the others may be of any size.
pub(crate) fn element_count(shape: &[u64]) -> u64 {
    if shape.contains(&0) {
        return 0;
    }
    shape.iter().fold(1, |count: u64, size| count.saturating_mul(*size))
}

/// The index in C order of the element at this position.
pub(crate) fn index_of(position: &[u64], shape: &[u64]) -> u64 {
    position.iter().zip(shape).fold(0, |index, (position, size)| index * size + position)
}

/// The position of the element with this index in C order.
pub(crate) fn position_of(mut index: u64, shape: &[u64]) -> Vec<u64> {
    let mut position = vec![0; shape.len()];
    for (position, size) in position.iter_mut().zip(shape).rev() {
        *position = index % (*size).max(1);
        index /= (*size).max(1);
    }
    position
}

/// A list of sizes, each at least `least`.
///
/// # Errors
/// It is something else.
pub(crate) fn shape_from_json(member: &str, json: &Value, least: i128) -> Result<Vec<u64>> {
    let sizes = json
        .as_array()
        .ok_or_else(|| Error::metadata(format!("{member} is {}, expected a list of sizes", shown(json))))?;
    sizes
        .iter()
        .enumerate()
        .map(|(i, size)| {
            let name = format!("{member}[{i}]");
            match exact_integer(size)
                .and_then(|size| u64::try_from(size).ok())
                .filter(|size| i128::from(*size) >= least)
            {
                Some(size) => Ok(size),
                None => integer(&name, size, least, i128::from(u64::MAX)).map(|size| size as u64),
            }
        })
        .collect()
}

/// The size of bytes, as far as it is known before they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteSize {
    /// Always exactly this many.
    Exact(u64),
    /// Exactly this many when this library writes them; others may write another number.
    Written(u64),
    /// At most this many when this library writes them.
    AtMost(u64),
    /// Nothing: it is the size of whatever the caller passes.
    Unknown,
}

impl ByteSize {
    /// This many bytes more. A size over 2^64 - 1 becomes unknown, which fails when it is used.
    #[must_use]
    pub fn plus(self, size: u64) -> Self {
        self.map(|before| before.checked_add(size))
    }

    /// Applies a function to the size; the result is unknown if the function returns `None`.
    #[must_use]
    pub fn map(self, f: impl FnOnce(u64) -> Option<u64>) -> Self {
        match self {
            Self::Exact(size) => f(size).map_or(Self::Unknown, Self::Exact),
            Self::Written(size) => f(size).map_or(Self::Unknown, Self::Written),
            Self::AtMost(size) => f(size).map_or(Self::Unknown, Self::AtMost),
            Self::Unknown => Self::Unknown,
        }
    }

    /// The largest size that a compressor encodes this size to.
    #[must_use]
    pub fn bound_by(self, bound: impl FnOnce(u64) -> Option<u64>) -> Self {
        self.upper_bound().and_then(bound).map_or(Self::Unknown, Self::AtMost)
    }

    /// The size, if it is always the same when this library writes it.
    pub fn size_when_written(self) -> Option<u64> {
        match self {
            Self::Exact(size) | Self::Written(size) => Some(size),
            Self::AtMost(_) | Self::Unknown => None,
        }
    }

    /// The largest size, if there is one.
    pub fn upper_bound(self) -> Option<u64> {
        match self {
            Self::Exact(size) | Self::Written(size) | Self::AtMost(size) => Some(size),
            Self::Unknown => None,
        }
    }
}

/// Bytes between two codecs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BytesRepresentation {
    /// Their size, as far as it is known.
    pub size: ByteSize,
    /// Bytes per element of the array that these bytes encode, if they encode one: a hint for shuffles.
    pub element_size: Option<usize>,
}

/// An array or bytes, as they pass between two codecs.
#[derive(Debug, Clone)]
pub enum Representation {
    /// An array.
    Array(ArrayRepresentation),
    /// Bytes.
    Bytes(BytesRepresentation),
}

impl Representation {
    /// Its size in bytes, as far as it is known.
    pub fn size(&self) -> ByteSize {
        match self {
            Self::Array(array) => ByteSize::Exact(array.size()),
            Self::Bytes(bytes) => bytes.size,
        }
    }

    /// Bytes of this size that a codec encodes this representation to.
    #[must_use]
    pub fn to_bytes(&self, size: ByteSize) -> Self {
        let element_size = match self {
            Self::Array(array) => Some(array.data_type().size()),
            Self::Bytes(bytes) => bytes.element_size,
        };
        Self::Bytes(BytesRepresentation { size, element_size })
    }

    /// The array, for a codec that takes one.
    ///
    /// # Errors
    /// These are bytes.
    pub fn array(&self) -> Result<&ArrayRepresentation> {
        match self {
            Self::Array(array) => Ok(array),
            Self::Bytes(_) => Err(Error::metadata(
                "an array codec cannot take bytes: it must stand before the one array->bytes codec, in a chain with an input",
            )),
        }
    }

    /// The bytes, for a codec that takes them.
    ///
    /// # Errors
    /// This is an array.
    pub fn bytes(&self) -> Result<&BytesRepresentation> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Array(_) => Err(Error::metadata(
                "a bytes->bytes codec cannot take an array: an array->bytes codec must stand before it",
            )),
        }
    }

    /// As `zcodec_chain_output_json` of the C interface gives it.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Array(array) => array.to_json(),
            Self::Bytes(bytes) => match bytes.size.size_when_written() {
                Some(size) => json!({ "size": size }),
                None => json!({ "size": null, "bound": bytes.size.upper_bound() }),
            },
        }
    }
}
