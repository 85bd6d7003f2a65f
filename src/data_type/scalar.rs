//! One element's value, from and to the JSON of Zarr metadata.

use super::DataType;
use crate::error::Result;
use serde_json::Value;

/// One element, as it lies in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar(pub Box<[u8]>);

impl DataType {
    /// The scalar that a JSON value stands for; `member` names it in errors.
    ///
    /// # Errors
    /// [`Status::InvalidMetadata`](crate::Status::InvalidMetadata) if it is no value of this type.
    pub fn scalar_from_json(&self, member: &str, json: &Value) -> Result<Scalar> {
        todo!("{member} {json}")
    }

    /// The JSON value of a scalar: reading it again gives the same bits.
    pub fn scalar_to_json(&self, scalar: &Scalar) -> Value {
        todo!("{scalar:?}")
    }
}
