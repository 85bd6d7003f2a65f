//! What stands between two codecs: an array, or bytes of a size that is more or less known.

use crate::codec::configuration::{exact_integer, integer};
use crate::data_type::{DataType, Scalar};
use crate::error::{Error, Result};
use serde_json::{Value, json};

/// An array in memory: `product(shape)` elements back to back in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayRepresentation {
    data_type: DataType,
    shape: Vec<u64>,
    fill_value: Scalar,
    element_count: usize,
}

impl ArrayRepresentation {
    /// An array of this data type, shape and fill value. No dimensions are one element.
    ///
    /// # Errors
    /// [`Status::InvalidMetadata`](crate::Status::InvalidMetadata) if its size in bytes passes `isize::MAX`.
    pub fn new(data_type: DataType, shape: Vec<u64>, fill_value: Scalar) -> Result<Self> {
        let element_count = element_count(&shape)
            .filter(|count| count.checked_mul(data_type.size().max(8)).is_some_and(|size| size <= isize::MAX as usize))
            .ok_or_else(|| {
                Error::metadata(format!("shape is {shape:?}: so many elements of {data_type} fit no address space"))
            })?;
        Ok(Self { data_type, shape, fill_value, element_count })
    }

    /// The `input_json` of the C interface: an object of `data_type`, `shape` and `fill_value`.
    ///
    /// # Errors
    /// What is missing, unknown or wrong.
    pub fn from_json(json: &Value) -> Result<Self> {
        let members = json.as_object().ok_or_else(|| Error::metadata(format!("input is {json}, not an object")))?;
        if let Some(member) = members.keys().find(|key| !["data_type", "shape", "fill_value"].contains(&key.as_str())) {
            return Err(Error::metadata(format!("input has an unknown member {member:?}")));
        }
        let member =
            |name: &str| members.get(name).ok_or_else(|| Error::metadata(format!("{name} is missing from the input")));
        let data_type = DataType::from_json(member("data_type")?)?;
        let shape = shape_from_json("shape", member("shape")?, 0)?;
        let fill_value = data_type.scalar_from_json("fill_value", member("fill_value")?)?;
        Self::new(data_type, shape, fill_value)
    }

    /// The same members as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "data_type": self.data_type.name(),
            "shape": self.shape,
            "fill_value": self.data_type.scalar_to_json(&self.fill_value),
        })
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
    pub fn with_elements(&self, data_type: DataType, fill_value: Scalar) -> Result<Self> {
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

    /// The fill value.
    pub fn fill_value(&self) -> &Scalar {
        &self.fill_value
    }

    /// The number of elements.
    pub fn element_count(&self) -> usize {
        self.element_count
    }

    /// The size in bytes.
    pub fn size(&self) -> usize {
        self.element_count * self.data_type.size()
    }
}

/// The product of the sizes; none if it overflows, also where a 0 hides that.
fn element_count(shape: &[u64]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |count, size| count.checked_mul(usize::try_from(*size).ok()?))
}

/// A list of sizes, each at least `least`.
///
/// # Errors
/// It is something else.
pub(crate) fn shape_from_json(member: &str, json: &Value, least: i128) -> Result<Vec<u64>> {
    let sizes = json.as_array().ok_or_else(|| Error::metadata(format!("{member} is {json}, not a list of sizes")))?;
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

/// What is known of a number of bytes before they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteSize {
    /// Always just so many.
    Exact(usize),
    /// Always just so many when this library writes them; others may write another number.
    Written(usize),
    /// At most so many when this library writes them.
    Bound(usize),
    /// Nothing: whatever the caller hands in.
    Unknown,
}

impl ByteSize {
    /// So many bytes more. A size that no memory can hold is unknown: it fails when it is used.
    #[must_use]
    pub fn plus(self, size: usize) -> Self {
        self.map(|before| before.checked_add(size))
    }

    /// The size that a function makes of this one; none makes it unknown.
    #[must_use]
    pub fn map(self, f: impl FnOnce(usize) -> Option<usize>) -> Self {
        match self {
            Self::Exact(size) => f(size).map_or(Self::Unknown, Self::Exact),
            Self::Written(size) => f(size).map_or(Self::Unknown, Self::Written),
            Self::Bound(size) => f(size).map_or(Self::Unknown, Self::Bound),
            Self::Unknown => Self::Unknown,
        }
    }

    /// The size, if it is always the same when this library writes it.
    pub fn exact(self) -> Option<usize> {
        match self {
            Self::Exact(size) | Self::Written(size) => Some(size),
            Self::Bound(_) | Self::Unknown => None,
        }
    }

    /// The largest size, if there is one.
    pub fn bound(self) -> Option<usize> {
        match self {
            Self::Exact(size) | Self::Written(size) | Self::Bound(size) => Some(size),
            Self::Unknown => None,
        }
    }
}

/// What stands between two codecs.
#[derive(Debug, Clone)]
pub enum Representation {
    /// An array.
    Array(ArrayRepresentation),
    /// Bytes.
    Bytes(ByteSize),
}

impl Representation {
    /// What is known of its size in bytes.
    pub fn size(&self) -> ByteSize {
        match self {
            Self::Array(array) => ByteSize::Exact(array.size()),
            Self::Bytes(size) => *size,
        }
    }

    /// As `zcodec_chain_output_json` of the C interface gives it.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Array(array) => array.to_json(),
            Self::Bytes(size) => match size.exact() {
                Some(size) => json!({ "size": size }),
                None => json!({ "size": null, "bound": size.bound() }),
            },
        }
    }
}
