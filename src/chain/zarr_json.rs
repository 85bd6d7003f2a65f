//! The metadata document of a Zarr v3 array. Zarr v3 core specification, "Array metadata".

use crate::data_type::DataType;
use crate::error::{Error, Result};
use crate::representation::{ArrayRepresentation, shape_from_json};
use serde_json::{Map, Value};

/// The parts of a `zarr.json` that say what a chunk is.
pub(super) struct ArrayDocument {
    /// One chunk of the regular grid.
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
    pub(super) fn from_json(document: &Value) -> Result<Self> {
        let members = document.as_object().ok_or_else(|| Error::metadata("zarr_json is not an object"))?;
        expect(members, "zarr_format", &Value::from(3))?;
        expect(members, "node_type", &Value::from("array"))?;
        refuse_unknown_members(members)?;
        let shape = shape_from_json("shape", required(members, "shape")?, 0)?;
        let chunk_shape = chunk_shape(required(members, "chunk_grid")?)?;
        if shape.len() != chunk_shape.len() {
            return Err(Error::metadata(format!(
                "chunk_shape has {} dimensions, shape has {}",
                chunk_shape.len(),
                shape.len()
            )));
        }
        let data_type = DataType::from_json(required(members, "data_type")?)?;
        let fill_value = data_type.scalar_from_json("fill_value", required(members, "fill_value")?)?;
        let chunk = ArrayRepresentation::new(data_type, chunk_shape, Some(fill_value))?;
        Ok(Self { chunk, codecs: required(members, "codecs")?.clone() })
    }
}

fn required<'a>(members: &'a Map<String, Value>, member: &str) -> Result<&'a Value> {
    members.get(member).ok_or_else(|| Error::metadata(format!("{member} is missing from zarr_json")))
}

fn expect(members: &Map<String, Value>, member: &str, expected: &Value) -> Result<()> {
    let value = required(members, member)?;
    if value == expected {
        return Ok(());
    }
    Err(Error::metadata(format!("{member} is {value}, expected {expected}")))
}

/// "Implementations MUST fail to open Zarr arrays with unknown metadata fields, with the exception of objects with
/// `"must_understand": false`."
fn refuse_unknown_members(members: &Map<String, Value>) -> Result<()> {
    for (member, value) in members {
        if !KNOWN_MEMBERS.contains(&member.as_str()) && value.get("must_understand") != Some(&Value::Bool(false)) {
            return Err(Error::unsupported(format!("zarr_json has an unknown member {member:?}")));
        }
    }
    match members.get("storage_transformers") {
        None => Ok(()),
        Some(Value::Array(list)) if list.is_empty() => Ok(()),
        Some(other) => Err(Error::unsupported(format!("storage_transformers is {other}: none is supported"))),
    }
}

fn chunk_shape(grid: &Value) -> Result<Vec<u64>> {
    match grid.get("name") {
        Some(Value::String(name)) if name == "regular" => {}
        Some(Value::String(name)) => {
            return Err(Error::unsupported(format!("chunk_grid has the name {name:?}: only \"regular\" is supported")));
        }
        _ => return Err(Error::metadata("chunk_grid has no name")),
    }
    let shape = grid
        .get("configuration")
        .and_then(|configuration| configuration.get("chunk_shape"))
        .ok_or_else(|| Error::metadata("chunk_shape is missing from chunk_grid"))?;
    shape_from_json("chunk_shape", shape, 1)
}
