//! `sharding_indexed`: a chunk stored as many inner chunks, each encoded on its own, and an index that says where they
//! lie.
//!
//! Specification: [Zarr v3 core,
//! `sharding_indexed`](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html), version 1.0.
//! Offsets count from the beginning of the shard, even if the index is there. An inner chunk whose elements are all the
//! fill value is not stored; decoding accepts it either way.

use crate::data_type::DataType;
use crate::error::{Error, Result};
use crate::interface::{Binding, BoundCodecs, BoundShard, Codec, CodecList, Context, Kind, Pass};
use crate::json::{Configuration, one_of, shown_list};
use crate::representation::{ArrayRepresentation, ByteSize, Representation, element_count, shape_from_json};
use serde_json::{Map, Value, json};
use std::sync::Arc;

#[derive(Debug)]
struct Sharding {
    chunk_shape: Vec<u64>,
    inner: CodecList,
    index: CodecList,
    is_index_first: bool,
}

/// `{"chunk_shape", "codecs", "index_codecs", "index_location"}`, the last optional
pub(super) fn parse(mut configuration: Configuration, context: &Context) -> Result<Arc<dyn Codec>> {
    let chunk_shape = shape_from_json("chunk_shape", &configuration.required("chunk_shape")?, 1)?;
    let (codecs, index_codecs) = (configuration.required("codecs")?, configuration.required("index_codecs")?);
    let is_index_first = match configuration.optional("index_location") {
        None => false,
        Some(value) => one_of("index_location", &value, &["start", "end"])? == 0,
    };
    configuration.finish()?;
    let context = context.inside()?;
    let inner = CodecList::from_json("codecs", &codecs, &context)?;
    let index = CodecList::from_json("index_codecs", &index_codecs, &context)?;
    Ok(Arc::new(Sharding { chunk_shape, inner, index, is_index_first }))
}

impl Codec for Sharding {
    fn kind(&self) -> Kind {
        Kind::ArrayToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        let members = [
            ("chunk_shape", json!(self.chunk_shape)),
            ("codecs", self.inner.to_json()),
            ("index_codecs", self.index.to_json()),
            ("index_location", json!(if self.is_index_first { "start" } else { "end" })),
        ];
        Some(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let array = decoded.array()?;
        let grid = self.grid(array.shape())?;
        let inner = Representation::Array(array.with_shape(self.chunk_shape.clone())?);
        let inner = self.inner.bind(inner).map_err(|error| error.in_list(BoundShard::INNER_LIST))?;
        if let Representation::Array(_) = inner.output() {
            return Err(Error::metadata("codecs has no array->bytes codec: an inner chunk needs exactly one"));
        }
        self.bind_inner(decoded, grid, Arc::new(inner))
    }

    fn rebind(&self, bound: &Binding, decoded: &Representation) -> Result<Binding> {
        match &bound.pass {
            Pass::Shard(shard) => {
                let grid = self.grid(decoded.array()?.shape())?;
                self.bind_inner(decoded, grid, Arc::clone(&shard.inner))
            }
            _ => self.bind(decoded),
        }
    }
}

impl Sharding {
    /// The number of inner chunks along each dimension.
    fn grid(&self, shape: &[u64]) -> Result<Vec<u64>> {
        if shape.len() != self.chunk_shape.len() {
            return Err(Error::metadata(format!(
                "chunk_shape has {} dimensions, but the array has {}",
                self.chunk_shape.len(),
                shape.len()
            )));
        }
        let sizes = shape.iter().zip(&self.chunk_shape);
        let grid = sizes.map(|(size, chunk_size)| size.is_multiple_of(*chunk_size).then_some(size / chunk_size));
        grid.collect::<Option<_>>().ok_or_else(|| {
            let (chunk_shape, shape) = (shown_list(&self.chunk_shape), shown_list(shape));
            Error::metadata(format!("chunk_shape is {chunk_shape}, which does not divide the shape {shape}"))
        })
    }

    fn bind_inner(&self, decoded: &Representation, grid: Vec<u64>, inner: Arc<BoundCodecs>) -> Result<Binding> {
        let (index, index_size) = self.bind_index(&grid)?;
        let chunk_count = element_count(&grid);
        let bound = inner.output().size().upper_bound();
        let size = bound
            .and_then(|bound| bound.checked_mul(chunk_count)?.checked_add(index_size))
            .map_or(ByteSize::Unknown, ByteSize::AtMost);
        let of_inner = inner.warnings_within(BoundShard::INNER_LIST);
        let warnings = of_inner.chain(index.warnings_within(BoundShard::INDEX_LIST)).collect();
        let shard = BoundShard {
            grid,
            chunk_shape: self.chunk_shape.clone(),
            inner,
            index: Arc::new(index),
            index_size,
            is_index_first: self.is_index_first,
        };
        Ok(Binding { warnings, ..Binding::serializer(decoded, size, Pass::Shard(Arc::new(shard))) })
    }

    /// The codecs of the index and its size, which is the same for every shard.
    fn bind_index(&self, grid: &[u64]) -> Result<(BoundCodecs, u64)> {
        let data_type = DataType::from_name("uint64")?;
        let fill_value = data_type.scalar(u64::MAX);
        let shape = grid.iter().copied().chain([2]).collect();
        let input = Representation::Array(ArrayRepresentation::new(data_type, shape, Some(fill_value))?);
        let index = self.index.bind(input).map_err(|error| error.in_list(BoundShard::INDEX_LIST))?;
        match index.output() {
            Representation::Array(_) => {
                Err(Error::metadata("index_codecs has no array->bytes codec: the index needs exactly one"))
            }
            Representation::Bytes(bytes) => match bytes.size {
                ByteSize::Exact(size) | ByteSize::Written(size) => Ok((index, size)),
                ByteSize::AtMost(_) | ByteSize::Unknown => Err(varying(&index).in_list(BoundShard::INDEX_LIST)),
            },
        }
    }
}

/// The error for an index whose encoded size varies, which names the first codec that makes it vary.
fn varying(index: &BoundCodecs) -> Error {
    let varies = |bound: &Binding| matches!(bound.encoded.size(), ByteSize::AtMost(_) | ByteSize::Unknown);
    let codec = index.codecs().iter().position(varies).unwrap_or(0);
    index.list().codec(codec).blame(Error::metadata(
        "encodes to a variable size, but the index of a shard is found by its size, which must be fixed",
    ))
}
