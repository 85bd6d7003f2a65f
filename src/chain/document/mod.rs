//! The metadata document of a Zarr v3 array. Zarr v3 core specification, "Array metadata". [`zarr_v2`] has those of
//! Zarr v2.

mod chunk_grid;
mod zarr_v2;

use crate::data_type::DataType;
use crate::error::{Error, Result};
use crate::interface::Context;
use crate::json::{or_close_names, shown};
use crate::representation::{ArrayRepresentation, shape_from_json};
use chunk_grid::chunk_shape;
use serde_json::{Map, Value};

/// The parts of a document that describe a chunk.
pub(super) struct ArrayDocument {
    /// One chunk of the grid; the first, if they differ.
    pub(super) chunk: ArrayRepresentation,
    /// The `codecs` list.
    pub(super) codecs: Value,
}

const KNOWN_MEMBERS: [&str; 11] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "dimension_names",
    "storage_transformers",
];

impl ArrayDocument {
    pub(super) fn from_json(document: &Value, context: &Context) -> Result<Self> {
        let members = document.as_object().ok_or_else(|| Error::metadata("the metadata document is not an object"))?;
        if members.get("zarr_format") == Some(&Value::from(2)) {
            return zarr_v2::document(members, context);
        }
        let format = required(members, "zarr_format")?;
        if format != &Value::from(3) {
            return Err(Error::metadata(format!("zarr_format is {}, expected 2 or 3", shown(format))));
        }
        expect(members, "node_type", &Value::from("array"))?;
        refuse_unknown_members(members)?;
        members.get("storage_transformers").map_or(Ok(()), refuse_storage_transformers)?;
        let shape = shape_from_json("shape", required(members, "shape")?, 0)?;
        let chunk_shape = chunk_shape(required(members, "chunk_grid")?, &shape)?;
        check_rank("chunk_grid", &chunk_shape, &shape)?;
        let data_type = DataType::from_json(required(members, "data_type")?)?;
        let fill_value = match required(members, "fill_value")? {
            // The specification asks for a value, but GDAL and zarrita.js write null for an array without one.
            Value::Null => None,
            json => Some(data_type.scalar_from_json("fill_value", json)?),
        };
        let chunk = ArrayRepresentation::new(data_type, chunk_shape, fill_value);
        let chunk = chunk.map_err(|error| error.with_context("chunk_grid: "))?;
        Ok(Self { chunk, codecs: required(members, "codecs")?.clone() })
    }
}

pub(super) fn check_rank(member: &str, chunk_shape: &[u64], shape: &[u64]) -> Result<()> {
    if chunk_shape.len() == shape.len() {
        return Ok(());
    }
    let counts = (chunk_shape.len(), shape.len());
    Err(Error::metadata(format!("{member} has {} dimensions, but shape has {}", counts.0, counts.1)))
}

pub(super) fn required<'a>(members: &'a Map<String, Value>, member: &str) -> Result<&'a Value> {
    members.get(member).ok_or_else(|| Error::metadata(format!("{member} is missing from the metadata document")))
}

fn expect(members: &Map<String, Value>, member: &str, expected: &Value) -> Result<()> {
    let value = required(members, member)?;
    if value == expected {
        return Ok(());
    }
    Err(Error::metadata(format!("{member} is {}, expected {expected}", shown(value))))
}

/// "Implementations MUST fail to open Zarr arrays with unknown metadata fields, with the exception of objects with
/// `"must_understand": false`."
fn refuse_unknown_members(members: &Map<String, Value>) -> Result<()> {
    for (member, value) in members {
        if !KNOWN_MEMBERS.contains(&member.as_str()) && must_be_understood(value) {
            let close = or_close_names(member, KNOWN_MEMBERS.into_iter());
            let member = shown(format_args!("{member:?}"));
            return Err(Error::unsupported(format!("the metadata document has an unknown member {member}{close}")));
        }
    }
    Ok(())
}

/// There are none in the specification yet. zarr-python takes null for an empty list.
fn refuse_storage_transformers(value: &Value) -> Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::Array(list) if !list.iter().any(must_be_understood) => Ok(()),
        other => Err(Error::unsupported(format!("storage_transformers is {}: none is supported", shown(other)))),
    }
}

fn must_be_understood(extension: &Value) -> bool {
    extension.get("must_understand") != Some(&Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;
    use serde_json::json;

    #[test]
    fn no_storage_transformer_that_must_be_understood_is_accepted() {
        for none in [json!(null), json!([]), json!([{"name": "x", "must_understand": false}])] {
            assert_eq!(refuse_storage_transformers(&none), Ok(()), "{none}");
        }
        for some in [json!(["x"]), json!([{"name": "x"}]), json!({}), json!(3)] {
            assert_eq!(refuse_storage_transformers(&some).unwrap_err().status(), Status::Unsupported, "{some}");
        }
    }
}
