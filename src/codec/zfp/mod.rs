//! `zfp`: lossy and lossless compression of numeric fields of 1 to 4 dimensions.
//!
//! Specification: [zarr-extensions, `zfp`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zfp):
//! the stream of LLNL's C library in its default build, without a header. The crate `zfp-rs`, a Rust implementation
//! that gives the same bytes, codes the blocks; our own kernels do so if the processor has BMI2 and AVX2 or AVX-512, or
//! in three dimensions NEON; with the feature `zfp-sys`, the C library does. This module converts elements of every
//! type to blocks and back, checks sizes, and divides a chunk among threads.
//!
//! * [`mode`]: the configuration, and what it means for a field.
//! * [`element`], [`small_float`]: data types, by promotion to one of zfp's four.
//! * [`grid`]: a field as blocks of 4^d values.
//! * [`bits`]: bit streams from pieces; [`backend`], `own_blocks`, `c_blocks`: the coders of the blocks in them.
//! * [`encode`], [`decode`]: one chunk; [`whole`]: the same where a chunk need not be divided; [`region`]: a box of it.
//! * [`zfpy`]: a stream after a header, under its name in numcodecs.
//! * `c_library`: LLNL's library, which the tests compare with. `docs/differences.md` lists where the streams differ.
//!
//! Every block ends where the next one begins, to the bit; words are 64 bits, little-endian. A block that crosses the
//! border of the field is padded by repeating values, as in the C library.

mod backend;
mod bits;
#[cfg(feature = "zfp-sys")]
mod c_blocks;
#[cfg(all(test, feature = "zfp-sys"))]
mod c_library;
mod decode;
mod element;
mod encode;
mod grid;
mod mode;
mod own_blocks;
mod region;
mod small_float;
#[cfg(test)]
mod tests;
mod whole;
pub(super) mod zfpy;

use crate::data_type::{Component, DataType};
use crate::error::{Error, Result};
use crate::interface::{
    Binding, BoxCells, Call, Codec, Context, Direction, Excerpt, GetSlab, Kind, Pass, PutSlab, Slabs, Transform,
};
use crate::json::Configuration;
use crate::number::FloatId;
use crate::representation::{ArrayRepresentation, ByteSize, Representation};
use backend::Backend;
use element::{Bfloat16, Element, Float16, Native, Promoted, Unsigned};
use grid::Grid;
use mode::{Mode, Parameters};
use serde_json::{Map, Value};
use small_float::SmallFloat;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use zfp_rs::ZfpScalar;
use zfpy::Header;

#[derive(Debug, Clone)]
struct Zfp {
    mode: Mode,
    backend: Backend,
    /// What an encode writes before the blocks; a decode gets the blocks alone.
    header: Option<Header>,
}

/// `{"mode": ..}` and the parameters of this mode.
pub(super) fn parse(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    Ok(Arc::new(Zfp { mode: Mode::parse(configuration)?, backend: Backend::chosen(), header: None }))
}

impl Codec for Zfp {
    fn kind(&self) -> Kind {
        Kind::ArrayToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.mode.to_json())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let data_type = decoded.data_type();
        let unsupported = || Error::unsupported(format!("zfp does not support data_type {data_type}"));
        if data_type.component_count() != 1 {
            return Err(unsupported());
        }
        match data_type.component() {
            Component::Bool | Component::Raw { .. } => Err(unsupported()),
            Component::Int { bits: 64, signed: true } => self.bind_element(Native::<i64>::new(), decoded),
            Component::Int { bits: 64, signed: false } => self.bind_element(Unsigned::<i64>::new(), decoded),
            Component::Int { bits: 32, signed: true } => self.bind_element(Native::<i32>::new(), decoded),
            Component::Int { bits: 32, signed: false } => self.bind_element(Unsigned::<i32>::new(), decoded),
            Component::Int { bits: 16, signed } => self.bind_element(Promoted::<[u8; 2]>::new(16, signed), decoded),
            Component::Int { bits, signed } => self.bind_element(Promoted::<[u8; 1]>::new(bits, signed), decoded),
            Component::Float(format) => match format.id {
                FloatId::Float64 => self.bind_element(Native::<f64>::new(), decoded),
                FloatId::Float32 => self.bind_element(Native::<f32>::new(), decoded),
                FloatId::Float16 => self.bind_element(Float16, decoded),
                FloatId::Bfloat16 => self.bind_element(Bfloat16, decoded),
                _ => self.bind_element(SmallFloat::new(format), decoded),
            },
        }
    }
}

impl Zfp {
    fn bind_element<E: Element>(&self, element: E, decoded: &ArrayRepresentation) -> Result<Binding> {
        let grid = Grid::new(decoded.shape())?;
        let scalar_type = E::Scalar::SCALAR_TYPE;
        let parameters = self.mode.parameters(scalar_type, grid.dimensionality())?;
        let header = self.header;
        // A header says how large blocks are.
        let foreign = match header {
            None => self.mode.foreign_parameters(scalar_type, grid.dimensionality()),
            Some(_) => None,
        };
        let (data_type, backend) = (decoded.data_type().clone(), self.backend.for_blocks_of(grid.dimensionality()));
        let transform = Arc::new(Field { element, data_type, grid, header, parameters, foreign, backend });
        let size = transform.stream_bound()?;
        let encoded = if transform.parameters.has_fixed_size() {
            ByteSize::Written(size as u64)
        } else {
            ByteSize::AtMost(size as u64)
        };
        Ok(Binding::serializer(&Representation::Array(decoded.clone()), encoded, Pass::Transform(transform)))
    }
}

/// A chunk as zfp sees it.
#[derive(Debug)]
struct Field<E> {
    element: E,
    data_type: DataType,
    grid: Grid,
    header: Option<Header>,
    parameters: Parameters,
    /// The parameters that another writer uses for the same configuration, if they differ.
    foreign: Option<Parameters>,
    backend: Backend,
}

/// Memory that is kept from call to call: one type for both directions, so that calls which alternate keep all of it.
#[derive(Debug, Default)]
struct Scratch {
    /// For parts of a stream that is being written.
    parts: Vec<Vec<u64>>,
    /// The words of a stream that does not lie at a multiple of 8 bytes.
    words: Vec<u64>,
    /// For the elements of slabs, on the way from or to their places.
    slabs: Vec<Vec<u8>>,
}

impl<E: Element> Field<E> {
    /// The largest size of a stream, with its header.
    fn stream_bound(&self) -> Result<usize> {
        let header_bits = self.header.map_or(0, Header::bit_count);
        self.parameters.encoded_bound_after(header_bits, self.grid.block_count())
    }
}

impl<E: Element> Transform for Field<E> {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        encode::encode(self, decoded, encoded, call)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        decode::decode(self, encoded, decoded, call)
    }

    fn slab_thickness(&self, shape: &[u64]) -> Option<usize> {
        self.grid.has_sizes_of(shape).then_some(grid::SIDE)
    }

    fn decode_slabs(
        &self,
        encoded: &[u8],
        slabs: &Slabs,
        put: &PutSlab<'_>,
        call: &mut Call<'_>,
    ) -> Result<Option<()>> {
        decode::decode_slabs(self, encoded, slabs, put, call).map(Some)
    }

    fn encode_slabs(
        &self,
        slabs: &Slabs,
        get: &GetSlab<'_>,
        encoded: &mut [u8],
        call: &mut Call<'_>,
    ) -> Result<Option<usize>> {
        encode::encode_slabs(self, slabs, get, encoded, call).map(Some)
    }

    fn part_count(&self, direction: Direction) -> u64 {
        if direction == Direction::Encode || self.parameters.has_fixed_size() { u64::MAX } else { 1 }
    }

    fn encoded_bound(&self, _: u64) -> Option<u64> {
        self.stream_bound().ok().map(|bound| bound as u64)
    }

    fn granularity(&self) -> Option<Vec<u64>> {
        let sizes = self.grid.sizes();
        let axes = usize::from(self.grid.dimensionality());
        let block = sizes[..axes].iter().rev().map(|size| grid::SIDE.min(*size) as u64);
        self.parameters.has_fixed_size().then(|| block.collect())
    }

    fn decode_box(
        &self,
        encoded: Excerpt<'_>,
        start: &[u64],
        shape: &[u64],
        decoded: &mut [u8],
        _call: &mut Call<'_>,
    ) -> Result<()> {
        let mut read = |bytes: Range<usize>| {
            let part = bytes.start.checked_sub(encoded.start).zip(bytes.end.checked_sub(encoded.start));
            let part = part.and_then(|(start, end)| encoded.bytes.get(start..end));
            part.map(Cow::Borrowed).ok_or_else(|| Error::corrupt("the stream ends before its blocks"))
        };
        region::decode_box(self, encoded.size, (start, shape), decoded, &mut read)
    }

    fn box_cells(&self, encoded_size: usize, start: &[u64], shape: &[u64]) -> Result<Option<BoxCells>> {
        region::parts(self, encoded_size, (start, shape))
    }
}
