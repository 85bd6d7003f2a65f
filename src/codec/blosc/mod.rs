//! `blosc` and `numcodecs.blosc`: frames of Blosc 1. Specification:
//! [Zarr v3 core, `blosc`](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/index.html);
//! [zarr-extensions, `numcodecs.blosc`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.blosc).
//!
//! The container, its filters and BloscLZ are our own, so that every offset is checked, any part of a frame decodes by
//! itself, and a block is unfiltered straight to its destination. [`frame`] describes the format. Compressed bytes need
//! not be those of the C library 1.21; `docs/differences.md` lists what else differs.

mod blosclz;
#[cfg(all(test, feature = "blosc-src"))]
mod c_library;
#[cfg(test)]
mod chain_tests;
mod chunk;
mod compressor;
mod decode;
mod encode;
mod frame;
#[cfg(test)]
mod tests;

pub use compressor::Compressor;
pub use decode::Decoder;
pub use encode::{Encoder, Settings};
pub use frame::{Filter, Frame};

use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Direction, GetSlab, Kind, PutSlab, Slabs, Transform};
use crate::json::{Configuration, exact_integer, integer, one_of};
use crate::parallel::Workers;
use crate::representation::{ByteSize, Representation};
use chunk::Chunk;
use frame::HEADER_SIZE;
use serde_json::{Map, Value, json};
use std::num::NonZeroUsize;
use std::sync::Arc;

const FILTERS: [Filter; 3] = [Filter::None, Filter::Shuffle, Filter::Bitshuffle];
const FILTER_NAMES: [&str; 3] = ["noshuffle", "shuffle", "bitshuffle"];
/// numcodecs chooses by the size of an element.
const AUTOMATIC_FILTER: i128 = -1;

#[derive(Debug)]
struct Blosc {
    configuration: Map<String, Value>,
    compressor: Compressor,
    level: u8,
    filter: Filter,
    /// None: that of the array.
    element_size: Option<u8>,
    block_size: usize,
}

/// `{"cname", "clevel", "shuffle", "typesize", "blocksize"}`: `typesize` is ignored if `shuffle` is `noshuffle`, and
/// may be missing or null then, `blocksize` always. n5-zarr also writes `nthreads`, which says nothing of the frames.
pub(super) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let compressor = compressor("cname", &configuration.required("cname")?)?;
    let level = integer("clevel", &configuration.required("clevel")?, 0, 9)? as u8;
    let filter = one_of("shuffle", &configuration.required("shuffle")?, &FILTER_NAMES)?;
    let type_size = configuration.optional("typesize");
    let element_size = match &type_size {
        _ if filter == 0 => type_size.as_ref().and_then(|value| element_size(value).ok()),
        Some(value) => Some(element_size(value)?),
        None => {
            let filter = FILTER_NAMES[filter];
            return Err(Error::metadata(format!("typesize is missing, but shuffle is {filter:?}")));
        }
    };
    let block_size = block_size(configuration.optional("blocksize"))?;
    configuration.optional("nthreads").map(|value| integer("nthreads", &value, 0, i32::MAX.into())).transpose()?;
    configuration.finish()?;
    let mut members = Map::new();
    members.insert("cname".to_owned(), json!(compressor.name()));
    members.insert("clevel".to_owned(), json!(level));
    members.insert("shuffle".to_owned(), json!(FILTER_NAMES[filter]));
    members.extend(type_size.filter(|size| !size.is_null()).map(|size| ("typesize".to_owned(), size)));
    members.insert("blocksize".to_owned(), json!(block_size));
    let filter = FILTERS[filter];
    bytes_to_bytes(Blosc { configuration: members, compressor, level, filter, element_size, block_size })
}

/// `{"cname", "clevel", "shuffle", "blocksize", "typesize"}`, all with numcodecs' defaults; `shuffle` is a number. What
/// enters are bytes, so that `typesize` is 1 if it is missing or null.
pub(super) fn parse_numcodecs(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let mut member = |name: &str, default: Value| {
        let value = configuration.optional(name).unwrap_or(default);
        members.insert(name.to_owned(), value.clone());
        value
    };
    let compressor = compressor("cname", &member("cname", json!("lz4")))?;
    let level = integer("clevel", &member("clevel", json!(5)), 0, 9)? as u8;
    let filter = integer("shuffle", &member("shuffle", json!(1)), AUTOMATIC_FILTER, 2)?;
    let block_size = block_size(Some(member("blocksize", json!(0))))?;
    let element_size = match configuration.optional("typesize") {
        None => 1,
        Some(value) => {
            members.insert("typesize".to_owned(), value.clone());
            if value.is_null() { 1 } else { integer("typesize", &value, 1, i32::MAX.into())? }
        }
    };
    configuration.finish()?;
    let filter = match filter {
        AUTOMATIC_FILTER if element_size == 1 => Filter::Bitshuffle,
        AUTOMATIC_FILTER => Filter::Shuffle,
        index => FILTERS[index as usize],
    };
    // As the C library: what does not fit its byte is shuffled as bytes.
    let element_size = Some(u8::try_from(element_size).unwrap_or(1));
    bytes_to_bytes(Blosc { configuration: members, compressor, level, filter, element_size, block_size })
}

fn bytes_to_bytes(blosc: Blosc) -> Result<Arc<dyn Codec>> {
    blosc.compressor.check_supported()?;
    Ok(Arc::new(blosc))
}

fn compressor(member: &str, value: &Value) -> Result<Compressor> {
    one_of(member, value, &Compressor::NAMES).map(|index| Compressor::ALL[index])
}

fn element_size(value: &Value) -> Result<u8> {
    integer("typesize", value, 1, 255).map(|size| size as u8)
}

fn block_size(value: Option<Value>) -> Result<usize> {
    value.map_or(Ok(0), |value| {
        // Null means the same as zero.
        if value.is_null() || exact_integer(&value) == Some(0) {
            return Ok(0);
        }
        integer("blocksize", &value, 0, i128::from(i32::MAX)).map(|size| size as usize)
    })
}

impl Blosc {
    /// How to make frames of bytes of elements of this size. The C library takes larger ones as bytes, too.
    fn settings(&self, array_element_size: Option<usize>) -> Settings {
        let of_array = || array_element_size.and_then(|size| u8::try_from(size).ok());
        let element_size = self.element_size.or_else(of_array).unwrap_or(1).max(1);
        Settings {
            compressor: self.compressor,
            level: self.level,
            filter: self.filter,
            element_size,
            block_size: self.block_size,
        }
    }
}

impl Codec for Blosc {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let bytes = decoded.bytes()?;
        if let ByteSize::Exact(size) = bytes.size {
            encode::check_size(size)?;
        }
        let settings = self.settings(bytes.element_size);
        let size = bytes.size.upper_bound().and_then(|size| usize::try_from(size).ok());
        let all = Workers::new(NonZeroUsize::MAX, None);
        let part_count = size.map_or(u64::MAX, |size| encode::worker_count(&settings, size, all).get() as u64);
        Ok(Binding::compressor(decoded, Arc::new(BoundBlosc { settings, part_count })))
    }
}

#[derive(Debug)]
struct BoundBlosc {
    settings: Settings,
    /// Into how many parts encoding is divided at most.
    part_count: u64,
}

#[derive(Debug, Default)]
struct State {
    encoder: Encoder,
    decoder: Decoder,
}

impl BoundBlosc {
    fn encode_chunk(&self, chunk: Chunk<'_>, encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let encoder = &mut call.contexts.get(|| Ok(State::default()))?.encoder;
        let workers = call.options.workers();
        let count = encode::worker_count(&self.settings, chunk.size(), workers);
        encoder.encode_by((workers, count), &self.settings, chunk, encoded)
    }
}

impl Transform for BoundBlosc {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        self.encode_chunk(Chunk::Memory(decoded), encoded, call)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let frame = Frame::new(encoded)?;
        let size = frame.decoded_size();
        let capacity = decoded.len();
        let too_small = || Error::buffer_too_small("decoded_capacity", capacity, size as u64);
        let decoded = decoded.get_mut(..size).ok_or_else(too_small)?;
        let workers = call.options.workers();
        let count = worker_count(&frame, workers);
        if count > NonZeroUsize::MIN {
            decode_in_parts(&frame, decoded, workers, count)?;
        } else {
            call.contexts.get(|| Ok(State::default()))?.decoder.decode(&frame, 0..size, decoded)?;
        }
        Ok(size)
    }

    fn slab_thickness(&self, _shape: &[u64]) -> Option<usize> {
        Some(1)
    }

    fn encode_slabs(
        &self,
        slabs: &Slabs,
        get: &GetSlab<'_>,
        encoded: &mut [u8],
        call: &mut Call<'_>,
    ) -> Result<Option<usize>> {
        if !encode::takes_slabs(&self.settings, slabs) {
            return Ok(None);
        }
        self.encode_chunk(Chunk::Slabs(slabs, get), encoded, call).map(Some)
    }

    fn decode_slabs(
        &self,
        encoded: &[u8],
        slabs: &Slabs,
        put: &PutSlab<'_>,
        call: &mut Call<'_>,
    ) -> Result<Option<()>> {
        let frame = Frame::new(encoded)?;
        if frame.decoded_size() != slabs.decoded_size {
            return Ok(None);
        }
        let workers = call.options.workers();
        let count = worker_count(&frame, workers);
        if count == NonZeroUsize::MIN {
            let decoder = &mut call.contexts.get(|| Ok(State::default()))?.decoder;
            return decoder.decode_slabs(&frame, slabs, slabs.numbers.clone(), put).map(Some);
        }
        let decode = |run| Decoder::default().decode_slabs(&frame, slabs, run, put);
        workers.for_each(count, slabs.runs(count), decode).map(Some)
    }

    fn decodes_ranges(&self) -> bool {
        true
    }

    fn part_count(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Encode => self.part_count,
            // The blocks are those of the frame.
            Direction::Decode => u64::MAX,
        }
    }

    fn decode_ranges(
        &self,
        encoded: &[u8],
        decoded_size: usize,
        parts: &mut dyn Iterator<Item = (usize, &mut [u8])>,
        call: &mut Call<'_>,
    ) -> Result<Option<()>> {
        let frame = Frame::new(encoded)?;
        if frame.decoded_size() != decoded_size {
            return Ok(None);
        }
        call.contexts.get(|| Ok(State::default()))?.decoder.decode_ranges(&frame, parts).map(Some)
    }

    fn check_decoded_size(&self, decoded_size: u64) -> Result<()> {
        encode::check_size(decoded_size)
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        // Also of more than a frame can hold: a codec before this one may make fewer bytes than its bound.
        decoded_size.checked_add(HEADER_SIZE as u64)
    }
}

fn worker_count(frame: &Frame<'_>, workers: Workers<'_>) -> NonZeroUsize {
    let block_count = if frame.stored().is_some() { 1 } else { frame.decoded_size() / frame.block_size() };
    let count = workers.count_for(frame.decoded_size());
    NonZeroUsize::new(block_count).map_or(NonZeroUsize::MIN, |block_count| block_count.min(count))
}

/// Divides the blocks evenly among the workers.
fn decode_in_parts(frame: &Frame<'_>, decoded: &mut [u8], workers: Workers<'_>, count: NonZeroUsize) -> Result<()> {
    let block_count = decoded.len().div_ceil(frame.block_size());
    let part_size = block_count.div_ceil(count.get()) * frame.block_size();
    let parts = decoded.chunks_mut(part_size).enumerate();
    workers.for_each(count, parts, |(index, part)| {
        let start = index * part_size;
        Decoder::default().decode(frame, start..start + part.len(), part)
    })
}
