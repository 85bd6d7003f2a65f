//! `n5_default`: blocks of N5 in the mode "default". Specification:
//! [zarr-extensions, `n5_default`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/n5_default).
//!
//! A block states its own shape. A block that is smaller than the chunk is padded with the fill value; a block that is
//! larger than a border chunk is cropped, if it is no larger than the largest chunk that the codec was bound to. Blocks
//! are written in the shape of the chunk, so a chain for a border chunk writes a truncated block.

use crate::data_type::{Component, DataType};
use crate::error::{Error, Result};
use crate::interface::{Binding, BoundCodecs, BoundN5Block, Codec, CodecList, Context, Kind, Pass};
use crate::json::{Configuration, shown};
use crate::number::FloatId;
use crate::representation::{ByteSize, Representation};
use serde_json::{Map, Value, json};
use std::sync::Arc;

#[derive(Debug)]
struct N5Default {
    inner: CodecList,
}

/// `{"codecs"}`: a full transposition, `bytes` in big-endian order, and at most one bytes->bytes codec
pub(super) fn parse(mut configuration: Configuration, context: &Context) -> Result<Arc<dyn Codec>> {
    let codecs = configuration.required("codecs")?;
    configuration.finish()?;
    Ok(Arc::new(N5Default { inner: CodecList::from_json("codecs", &codecs, &context.inside()?)? }))
}

impl Codec for N5Default {
    fn kind(&self) -> Kind {
        Kind::ArrayToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("codecs".to_owned(), self.inner.to_json())]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let array = decoded.array()?;
        check_data_type(array.data_type())?;
        check_shape(array.shape())?;
        let inner = self.inner.bind(decoded.clone()).map_err(|error| error.in_list(BoundN5Block::INNER_LIST))?;
        self.check_list(array.shape().len())?;
        Ok(bind(decoded, inner, array.shape().to_vec(), array.element_count()))
    }

    fn rebind(&self, bound_before: &Binding, decoded: &Representation) -> Result<Binding> {
        let (Pass::N5Block(before), array) = (&bound_before.pass, decoded.array()?) else { return self.bind(decoded) };
        if before.largest_shape.len() != array.shape().len() {
            return self.bind(decoded);
        }
        check_shape(array.shape())?;
        let inner = before.inner.with_input(array.clone()).map_err(|error| error.in_list(BoundN5Block::INNER_LIST))?;
        let sizes = before.largest_shape.iter().zip(array.shape());
        let largest_shape = sizes.map(|(before, size)| *before.max(size)).collect();
        Ok(bind(decoded, inner, largest_shape, array.element_count().max(before.largest_count)))
    }
}

impl N5Default {
    /// Checks what the specification demands of the list, in its canonical form.
    fn check_list(&self, rank: usize) -> Result<()> {
        let list = self.inner.to_json();
        let order: Vec<usize> = (0..rank).rev().collect();
        let wrong = |expected: &str| Err(Error::metadata(format!("codecs is {}, expected {expected}", shown(&list))));
        if list[0]["name"] != "transpose" || list[0]["configuration"]["order"] != json!(order) {
            return wrong(&format!("transpose with the order {order:?} first"));
        }
        if list[1]["name"] != "bytes" || list[1]["configuration"]["endian"] == "little" {
            return wrong("bytes in big-endian order after transpose");
        }
        if list.as_array().is_some_and(|list| list.len() > 3) {
            return wrong("at most one codec after bytes");
        }
        Ok(())
    }
}

fn bind(decoded: &Representation, inner: BoundCodecs, largest_shape: Vec<u64>, largest_count: u64) -> Binding {
    let warnings = inner.warnings_within(BoundN5Block::INNER_LIST).collect();
    let block = BoundN5Block { inner: Arc::new(inner), largest_shape, largest_count };
    // Not exact: others may have written a truncated block.
    let size = block.inner.output().size().plus(block.header_size() as u64);
    let size = size.upper_bound().map_or(ByteSize::Unknown, ByteSize::AtMost);
    Binding { warnings, ..Binding::serializer(decoded, size, Pass::N5Block(Arc::new(block))) }
}

fn check_data_type(data_type: &DataType) -> Result<()> {
    let is_of_n5 = match data_type.component() {
        Component::Int { bits, .. } => bits >= 8,
        Component::Float(format) => matches!(format.id, FloatId::Float32 | FloatId::Float64),
        Component::Bool | Component::Raw { .. } => false,
    };
    if is_of_n5 && data_type.is_real_number() {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "N5 does not have data_type {data_type}, expected an integer of 8 to 64 bits, float32 or float64"
    )))
}

fn check_shape(shape: &[u64]) -> Result<()> {
    if u16::try_from(shape.len()).is_ok() && shape.iter().all(|size| u32::try_from(*size).is_ok()) {
        return Ok(());
    }
    let shape = shown(json!(shape));
    Err(Error::unsupported(format!(
        "the shape is {shape}, but a block of N5 has sizes of 32 bits and a rank of 16 bits"
    )))
}
