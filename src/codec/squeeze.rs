//! `zarrs.squeeze`: leaves out the dimensions of size 1; if none remains, one does. The elements stay where they are.
//!
//! Specification: [zarrs, `zarrs.squeeze`](https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_array/squeeze/),
//! after `numpy.squeeze`, which may leave no dimension. It has no configuration.

use crate::error::Result;
use crate::interface::{Binding, Codec, Context, Kind, Pass};
use crate::json::Configuration;
use crate::representation::Representation;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug)]
struct Squeeze;

/// No members.
pub(super) fn parse(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    configuration.finish()?;
    Ok(Arc::new(Squeeze))
}

impl Codec for Squeeze {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        None
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let mut shape: Vec<u64> = decoded.shape().iter().copied().filter(|size| *size != 1).collect();
        if shape.is_empty() {
            shape.push(1);
        }
        Ok(Binding::new(Representation::Array(decoded.with_shape(shape)?), Pass::Reshape))
    }
}
