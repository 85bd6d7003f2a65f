//! `squeeze`: leaves out the dimensions of size 1. The elements stay where they are.
//!
//! Known as `zarrs.squeeze`, and inspired by the function of this name in NumPy. It has no configuration.

use super::{ArrayToArrayCodec, BoundArrayToArray, Codec, Configuration};
use crate::chain::ArrayRepresentation;
use crate::error::Result;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug)]
struct Squeeze;

/// No members.
pub(super) fn parse(configuration: Configuration) -> Result<Codec> {
    configuration.finish()?;
    Ok(Codec::ArrayToArray(Arc::new(Squeeze)))
}

impl ArrayToArrayCodec for Squeeze {
    fn configuration(&self) -> Option<Map<String, Value>> {
        None
    }

    fn bind(&self, decoded: &ArrayRepresentation) -> Result<BoundArrayToArray> {
        Ok(BoundArrayToArray::View { shape: decoded.shape().iter().copied().filter(|size| *size != 1).collect() })
    }
}
