//! The shape of a chunk in the `chunk_grid` of a Zarr v3 array. Zarr v3 core specification, "Regular grids";
//! zarr-extensions, chunk grid `rectilinear`, of which it takes the first chunk.

use crate::error::{Error, Result};
use crate::json::{Configuration, configuration_of, name_of, one_of, shown};
use crate::representation::shape_from_json;
use serde_json::Value;

/// `{"name": "regular" | "rectilinear", "configuration": {..}}`
pub(in crate::chain) fn chunk_shape(grid: &Value, array_shape: &[u64]) -> Result<Vec<u64>> {
    let in_grid = |error: Error| error.with_context("chunk_grid: ");
    let (name, members) = match grid {
        // "Short-hand names": an object with this name alone.
        Value::String(name) => (name.as_str(), None),
        Value::Object(members) => (name_of(members).map_err(in_grid)?, Some(members)),
        _ => return Err(Error::metadata(format!("chunk_grid is {}, expected an object", shown(grid)))),
    };
    let read = match name {
        "regular" => regular,
        "rectilinear" => rectilinear,
        _ => {
            let name = shown(format_args!("{name:?}"));
            return Err(Error::unsupported(format!(
                "chunk_grid has the name {name}: only \"regular\" and \"rectilinear\" are supported"
            )));
        }
    };
    let (configuration, _) = members.map_or(Ok((None, true)), configuration_of).map_err(in_grid)?;
    let mut configuration = Configuration::new(configuration.cloned());
    let shape = read(&mut configuration, array_shape).map_err(in_grid)?;
    configuration.finish().map_err(in_grid)?;
    Ok(shape)
}

fn regular(configuration: &mut Configuration, _array_shape: &[u64]) -> Result<Vec<u64>> {
    shape_from_json("chunk_shape", &configuration.required("chunk_shape")?, 1)
}

/// The first chunk: `{"kind": "inline", "chunk_shapes": [..]}` has for each dimension one size, or a list of sizes and
/// of pairs of a size and a count, which together are at least as long as the array.
fn rectilinear(configuration: &mut Configuration, array_shape: &[u64]) -> Result<Vec<u64>> {
    one_of("kind", &configuration.required("kind")?, &["inline"])?;
    let shapes = configuration.required("chunk_shapes")?;
    let dimensions = shapes
        .as_array()
        .ok_or_else(|| Error::metadata(format!("chunk_shapes is {}, expected a list", shown(&shapes))))?;
    let first = |(i, sizes): (usize, &Value)| {
        let wrong = || Error::metadata(format!("chunk_shapes[{i}] is {}, expected sizes of chunks", shown(sizes)));
        let Some(list) = sizes.as_array() else { return Ok(sizes.clone()) };
        let size = list.first().ok_or_else(wrong)?;
        let sum = list.iter().try_fold(0_u64, |sum, size| Ok(sum.saturating_add(length(i, size)?)))?;
        if let Some(needed) = array_shape.get(i).filter(|needed| **needed > sum) {
            return Err(Error::metadata(format!(
                "the sizes in chunk_shapes[{i}] make {sum}, but the shape of the array is {needed} there"
            )));
        }
        Ok(size.as_array().and_then(|pair| pair.first()).unwrap_or(size).clone())
    };
    let sizes: Vec<Value> = dimensions.iter().enumerate().map(first).collect::<Result<_>>()?;
    shape_from_json("chunk_shapes", &Value::Array(sizes), 1)
}

/// How long the chunks of a size, or of a pair of a size and a count, are together.
fn length(dimension: usize, size: &Value) -> Result<u64> {
    let name = format!("chunk_shapes[{dimension}]");
    let product = |numbers: Vec<u64>| numbers.into_iter().fold(1, u64::saturating_mul);
    match size.as_array() {
        None => shape_from_json(&name, &Value::Array(vec![size.clone()]), 1).map(product),
        Some(pair) if pair.len() == 2 => shape_from_json(&name, size, 1).map(product),
        Some(_) => Err(Error::metadata(format!("{name} has {}, expected a size and a count", shown(size)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;
    use serde_json::json;

    #[test]
    fn the_first_chunk_of_a_rectilinear_grid_is_taken() {
        // The example of the specification, and a dimension of one size.
        let shapes = json!([[[2, 3]], [[1, 6]], [1, [2, 1], 3], [[1, 3], 3], [6], 4]);
        let grid = json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}});
        assert_eq!(chunk_shape(&grid, &[]), Ok(vec![2, 1, 1, 1, 6, 4]));
    }

    #[test]
    fn the_chunks_of_a_rectilinear_grid_are_as_long_as_the_array() {
        for (sizes, size, is_enough) in [
            (json!([2, 3]), 5, true),
            (json!([2, 3]), 6, false),
            (json!([[2, 3]]), 6, true),
            (json!([[2, 3], 4]), 11, false),
            (json!([[u64::MAX, 2]]), u64::MAX, true),
            (json!(2), 100, true),
        ] {
            let grid = json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [sizes]}});
            let found = chunk_shape(&grid, &[size]);
            assert_eq!(found.map_err(|error| error.status()).err(), (!is_enough).then_some(Status::InvalidMetadata));
        }
    }

    #[test]
    fn other_grids_are_refused() {
        let inline = |shapes: Value| json!({"kind": "inline", "chunk_shapes": shapes});
        for (name, configuration, status) in [
            ("rectilinear", inline(json!([[]])), Status::InvalidMetadata),
            ("rectilinear", inline(json!([[0]])), Status::InvalidMetadata),
            ("rectilinear", inline(json!([[2, [3]]])), Status::InvalidMetadata),
            ("rectilinear", inline(json!([[[2, 0]]])), Status::InvalidMetadata),
            ("rectilinear", inline(json!([-1])), Status::InvalidMetadata),
            ("rectilinear", inline(json!(4)), Status::InvalidMetadata),
            ("rectilinear", json!({"kind": "file", "chunk_shapes": [4]}), Status::InvalidMetadata),
            ("rectilinear", json!({"chunk_shapes": [4]}), Status::InvalidMetadata),
            ("regular", inline(json!([4])), Status::InvalidMetadata),
            ("hexagonal", json!({}), Status::Unsupported),
        ] {
            let grid = json!({"name": name, "configuration": configuration});
            assert_eq!(chunk_shape(&grid, &[]).unwrap_err().status(), status, "{grid}");
        }
        assert_eq!(chunk_shape(&json!("hexagonal"), &[]).unwrap_err().status(), Status::Unsupported);
        for grid in [json!("regular"), json!(3), json!(null)] {
            assert_eq!(chunk_shape(&grid, &[]).unwrap_err().status(), Status::InvalidMetadata, "{grid}");
        }
        let mut grid = json!({"name": "regular", "configuration": {"chunk_shape": [4]}, "must_understand": true});
        assert_eq!(chunk_shape(&grid, &[]), Ok(vec![4]));
        grid["must_understand"] = json!(3);
        assert_eq!(chunk_shape(&grid, &[]).unwrap_err().status(), Status::InvalidMetadata);
    }
}
