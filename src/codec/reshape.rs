//! `reshape`: the same elements in the same order, in another shape. Specification:
//! [zarr-extensions, `reshape`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/reshape).
//!
//! The size of an encoded dimension is a number, the product of decoded dimensions, or, at most once, -1: whatever
//! remains. Decoded dimensions must be named in their own order, so that the codec is not mistaken for a transposition.

use crate::error::{Error, Result};
use crate::interface::{Binding, Codec, Context, Kind, Pass};
use crate::json::{Configuration, integer, shown, shown_list};
use crate::representation::Representation;
use serde_json::{Map, Value, json};
use std::sync::Arc;

#[derive(Debug)]
struct Reshape {
    shape: Vec<Dimension>,
}

/// The size of an encoded dimension.
#[derive(Debug)]
enum Dimension {
    Size(u64),
    /// The product of these decoded dimensions.
    Product(Vec<usize>),
    /// The size that keeps the number of elements.
    Rest,
}

/// `{"shape": [..]}`
pub(super) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let shape = configuration.required("shape")?;
    configuration.finish()?;
    let dimensions = shape.as_array().ok_or_else(|| {
        Error::metadata(format!("shape is {}, expected a list of sizes, lists of dimensions and -1", shown(&shape)))
    })?;
    let shape = dimensions
        .iter()
        .enumerate()
        .map(|(i, dimension)| parse_dimension(&format!("shape[{i}]"), dimension))
        .collect::<Result<Vec<_>>>()?;
    if shape.iter().filter(|dimension| matches!(dimension, Dimension::Rest)).count() > 1 {
        return Err(Error::metadata("shape has -1 more than once"));
    }
    let named: Vec<usize> = shape.iter().flat_map(Dimension::named).copied().collect();
    if let Some(pair) = named.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(Error::metadata(format!(
            "shape names dimension {} after dimension {}, expected them in increasing order",
            pair[1], pair[0]
        )));
    }
    Ok(Arc::new(Reshape { shape }))
}

fn parse_dimension(name: &str, json: &Value) -> Result<Dimension> {
    if let Some(dimensions) = json.as_array() {
        let dimension = |(i, dimension)| {
            integer(&format!("{name}[{i}]"), dimension, 0, u32::MAX.into()).map(|dimension| dimension as usize)
        };
        return Ok(Dimension::Product(dimensions.iter().enumerate().map(dimension).collect::<Result<_>>()?));
    }
    match integer(name, json, -1, u64::MAX.into()) {
        Ok(-1) => Ok(Dimension::Rest),
        Ok(size @ 1..) => Ok(Dimension::Size(size as u64)),
        _ => Err(Error::metadata(format!(
            "{name} is {}, expected a positive size, a list of dimensions, or -1",
            shown(json)
        ))),
    }
}

impl Dimension {
    fn named(&self) -> &[usize] {
        match self {
            Self::Product(dimensions) => dimensions,
            Self::Size(_) | Self::Rest => &[],
        }
    }
}

impl Codec for Reshape {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        let shape = self.shape.iter().map(|dimension| match dimension {
            Dimension::Size(size) => json!(size),
            Dimension::Product(dimensions) => json!(dimensions),
            Dimension::Rest => json!(-1),
        });
        Some(Map::from_iter([("shape".to_owned(), shape.collect())]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let shape = self.encoded_shape(decoded.shape())?;
        self.check_places(decoded.shape(), &shape)?;
        Ok(Binding::new(Representation::Array(decoded.with_shape(shape)?), Pass::Reshape))
    }
}

impl Reshape {
    fn encoded_shape(&self, decoded: &[u64]) -> Result<Vec<u64>> {
        let mut shape = Vec::with_capacity(self.shape.len());
        let mut rest = None;
        for (i, dimension) in self.shape.iter().enumerate() {
            shape.push(match dimension {
                Dimension::Size(size) => *size,
                Dimension::Product(dimensions) => product_of(i, dimensions, decoded)?,
                Dimension::Rest => {
                    rest = Some(i);
                    1
                }
            });
        }
        let (before, after) = (exact_count(decoded), exact_count(&shape));
        let wrong = || {
            Error::metadata(format!(
                "shape makes {} of {}, which has {} elements",
                shown(&self.configuration().unwrap_or_default()["shape"]),
                shown_list(decoded),
                before.map_or("too many".to_owned(), |count| count.to_string())
            ))
        };
        match (before, after, rest) {
            (Some(before), Some(after), Some(rest)) if after > 0 && before % after == 0 => {
                shape[rest] = u64::try_from(before / after).map_err(|_| wrong())?;
                Ok(shape)
            }
            (Some(before), Some(after), None) if before == after => Ok(shape),
            _ => Err(wrong()),
        }
    }

    /// Decoded dimensions that make an encoded one must lie where it lies: with as many elements before and after.
    fn check_places(&self, decoded: &[u64], encoded: &[u64]) -> Result<()> {
        let (decoded_before, encoded_before) = (counts_before(decoded.iter()), counts_before(encoded.iter()));
        let (decoded_after, encoded_after) = (counts_before(decoded.iter().rev()), counts_before(encoded.iter().rev()));
        for (i, dimension) in self.shape.iter().enumerate() {
            let (Some(first), Some(last)) = (dimension.named().first(), dimension.named().last()) else { continue };
            let is_after = decoded_after[decoded.len() - 1 - last] == encoded_after[encoded.len() - 1 - i];
            if !is_after || decoded_before[*first] != encoded_before[i] {
                return Err(Error::metadata(format!(
                    "shape[{i}] names dimensions {} of {}, which are not where dimension {i} of {} is",
                    shown_list(dimension.named()),
                    shown_list(decoded),
                    shown_list(encoded)
                )));
            }
        }
        Ok(())
    }
}

/// How many elements the dimensions before each one make, as [`exact_count`] counts them.
fn counts_before<'a>(shape: impl Iterator<Item = &'a u64>) -> Vec<Option<u128>> {
    let next = |count: &mut Option<u128>, size: &u64| {
        let after = times(*count, size);
        Some(std::mem::replace(count, after))
    };
    shape.scan(Some(1), next).collect()
}

fn product_of(i: usize, dimensions: &[usize], decoded: &[u64]) -> Result<u64> {
    let size = |dimension: &usize| {
        decoded.get(*dimension).copied().ok_or_else(|| {
            Error::metadata(format!("shape[{i}] names dimension {dimension}, but the array has {}", decoded.len()))
        })
    };
    let sizes: Vec<u64> = dimensions.iter().map(size).collect::<Result<_>>()?;
    exact_count(&sizes).and_then(|product| u64::try_from(product).ok()).ok_or_else(|| {
        let decoded = shown_list(decoded);
        Error::metadata(format!("shape[{i}] is a product of dimensions of {decoded} that exceeds 64 bits"))
    })
}

/// The product of the sizes, which are parts of a shape; `None` if it exceeds 128 bits, unless a size is 0.
fn exact_count(shape: &[u64]) -> Option<u128> {
    shape.iter().fold(Some(1), times)
}

fn times(count: Option<u128>, size: &u64) -> Option<u128> {
    if *size == 0 { Some(0) } else { count?.checked_mul((*size).into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::{DataType, Scalar};
    use crate::error::Status;
    use crate::representation::ArrayRepresentation;

    fn reshape(shape: &Value, decoded: &[u64]) -> Result<Vec<u64>> {
        let members = Map::from_iter([("shape".to_owned(), shape.clone())]);
        let context = Context::new(crate::codec::built_in());
        let codec = parse(Configuration::new(Some(members.clone())), &context)?;
        assert_eq!(codec.configuration(), Some(members));
        let data_type = DataType::from_name("uint8")?;
        let decoded = ArrayRepresentation::new(data_type, decoded.to_vec(), Some(Scalar([0].into())))?;
        let encoded = codec.bind(&Representation::Array(decoded))?.encoded;
        Ok(encoded.array()?.shape().to_vec())
    }

    #[test]
    fn sizes_products_and_the_rest_make_a_shape() {
        for (shape, decoded, encoded) in [
            (json!([[0, 1], [2], 3]), &[100_u64, 50, 64, 3][..], &[5000_u64, 64, 3][..]),
            (json!([[0, 1], -1, [3], 10]), &[4, 5, 6, 7, 10], &[20, 6, 7, 10]),
            (json!([-1]), &[2, 3, 4], &[24]),
            (json!([1, 1]), &[], &[1, 1]),
            (json!([]), &[1, 1], &[]),
            (json!([[], [0]]), &[5], &[1, 5]),
        ] {
            assert_eq!(reshape(&shape, decoded).as_deref(), Ok(encoded), "{shape} of {decoded:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (shape, decoded, message) in [
            (json!([5]), &[2_u64, 3][..], "shape makes [5] of [2, 3], which has 6 elements"),
            (json!([4, -1]), &[2, 3], "shape makes"),
            (json!([-1, -1]), &[2, 3], "-1 more than once"),
            (json!([0, -1]), &[2, 3], "shape[0] is 0"),
            (json!([-2]), &[2, 3], "shape[0] is -2"),
            (json!([[1], [0]]), &[2, 3], "names dimension 0 after dimension 1"),
            (json!([[0, 0]]), &[2, 3], "names dimension 0 after dimension 0"),
            (json!([[0, 2]]), &[2, 3], "shape[0] names dimension 2, but the array has 2"),
            (json!([4, [1], 2]), &[2, 3, 4], "not where dimension 1"),
            (json!([6, [1], 2]), &[3, 2, 4, 1], "not where dimension 1"),
            (json!("C"), &[2, 3], "shape is \"C\""),
        ] {
            let error = reshape(&shape, decoded).unwrap_err();
            assert_eq!(error.status(), Status::InvalidMetadata, "{shape}");
            assert!(error.to_string().contains(message), "{shape}: {error}");
        }
    }
}
