//! `transpose`: another order of the dimensions. Specification:
//! [Zarr v3 core, `transpose`](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/transpose/index.html). Dimension i
//! of the encoded array is dimension `order[i]` of the decoded one.
//!
//! The codec moves no element itself: the chain reads or writes the neighbouring codec's array with other strides.

use crate::error::{Error, Result};
use crate::interface::{Binding, Codec, Context, Kind, Pass};
use crate::json::{Configuration, integer, shown};
use crate::representation::Representation;
use serde_json::{Map, Value, json};
use std::sync::Arc;

#[derive(Debug)]
struct Transpose {
    order: Arc<[usize]>,
}

/// `{"order": [..]}`
pub(super) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let order = configuration.required("order")?;
    configuration.finish()?;
    let dimensions = order.as_array().ok_or_else(|| {
        Error::metadata(format!("order is {}, expected a permutation of the dimensions, such as [1, 0]", shown(&order)))
    })?;
    let mut order = Vec::with_capacity(dimensions.len());
    let mut seen = vec![false; dimensions.len()];
    for (i, dimension) in dimensions.iter().enumerate() {
        let dimension = integer(&format!("order[{i}]"), dimension, 0, dimensions.len() as i128 - 1)? as usize;
        if std::mem::replace(&mut seen[dimension], true) {
            return Err(Error::metadata(format!("order[{i}] is {dimension}, which appears twice")));
        }
        order.push(dimension);
    }
    Ok(Arc::new(Transpose { order: order.into() }))
}

impl Codec for Transpose {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("order".to_owned(), json!(&*self.order))]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let shape = decoded.shape();
        if shape.len() != self.order.len() {
            return Err(Error::metadata(format!(
                "order has {} dimensions, but the array has {}",
                self.order.len(),
                shape.len()
            )));
        }
        let encoded = decoded.with_shape(self.order.iter().map(|dimension| shape[*dimension]).collect())?;
        Ok(Binding::new(Representation::Array(encoded), Pass::Transpose(Arc::clone(&self.order))))
    }
}
