//! A run of codecs bound to what enters it: plan, run.
//!
//! [`plan`] turns bound codecs into steps: consecutive elementwise codecs become one [`fused`] pass over tiles, and a
//! transpose becomes the strides of its input. [`run`] moves a chunk through the steps. A plan is data; only `run` and
//! what it calls touch a chunk.
//!
//! | task | modules |
//! | --- | --- |
//! | metadata documents of arrays | `document` |
//! | the steps of a chain | `plan`, and for elementwise steps `fused` and `elements` |
//! | one chunk through the steps | `run`, `encode`, `input`, `copy`, `summed`, `hooks`, `workspace` |
//! | boxes of a chunk: which step decodes them, by what way | `boxes` |
//! | where the elements of a box go | `place` |
//! | shards, and blocks of N5 | `shard`, `n5_block` |
//! | stored objects, read or written in parts | `object` |
//! | what a chain says about itself | `ask` |

mod ask;
mod boxes;
mod copy;
mod document;
mod elements;
mod encode;
mod fused;
mod hooks;
mod input;
mod n5_block;
mod object;
mod place;
mod plan;
mod run;
mod shard;
mod summed;
mod tile_shape;
mod workspace;

pub use crate::interface::{CallData, CallOptions, PaddingHook, Warning};
pub use crate::parallel::Executor;
pub use crate::representation::{ArrayRepresentation, ByteSize, Representation};
pub use object::pieces::{Piece, PieceBytes, ShardLayout};
pub use object::read_plan::ReadPlan;
pub use object::stage::ByteRange;
pub use object::writer::Writer;
pub use shard::index::ShardIndex;

use crate::codec;
use crate::error::{Error, Result, Status};
use crate::interface::{BoundCodecs, CodecList, Context, Hooks, Registry};
use crate::json;
use crate::representation::BytesRepresentation;
use crate::strided::{self, Source, Target};
use boxes::region::Region;
use input::{Decoded, Input};
use plan::{EncodedSize, Plan};
use run::{Output, Run};
use std::sync::Arc;
use workspace::Pool;

/// The member of the outer codec that holds a list of codecs (`None` for the chain's own list), and the index of a
/// codec in that list.
pub type PathStep = (Option<&'static str>, usize);

/// Options for making a chain.
#[derive(Debug, Clone)]
pub struct ChainOptions {
    /// The codecs by name.
    pub registry: Arc<Registry>,
    /// The most bytes that a chunk may decode to; `None`: no limit.
    pub max_decoded_size: Option<u64>,
}

impl Default for ChainOptions {
    fn default() -> Self {
        Self { registry: codec::built_in(), max_decoded_size: None }
    }
}

/// A contiguous run of codecs, bound to what enters it on encode.
///
/// Once its hooks are set it never changes, and any number of threads may use it at the same time.
#[derive(Debug, Clone)]
pub struct Chain {
    codecs: BoundCodecs,
    plan: Plan,
    /// The hooks, by codec.
    hooks: Vec<Hooks>,
    pool: Arc<Pool>,
    /// The most bytes that a chunk may decode to.
    max_decoded_size: Option<u64>,
    /// The size in bytes of an array that enters, and what is known about its encoded size; `None` if bytes enter.
    array_sizes: Option<(u64, EncodedSize)>,
}

impl Chain {
    /// Makes a chain from a JSON list of codecs. `input_json` describes the array that enters on encode; without it,
    /// bytes enter.
    ///
    /// # Errors
    /// [`Status::InvalidMetadata`] or [`Status::Unsupported`], with the codec and member at fault.
    pub fn new(codecs_json: &[u8], input_json: Option<&[u8]>) -> Result<Self> {
        Self::with_options(&ChainOptions::default(), codecs_json, input_json)
    }

    /// As [`new`](Self::new), with the codecs of a registry and a limit on the decoded size.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`Status::Unsupported`] for a chunk that is larger than the limit.
    pub fn with_options(options: &ChainOptions, codecs_json: &[u8], input_json: Option<&[u8]>) -> Result<Self> {
        let codecs = json::parse("codecs_json", codecs_json)?;
        let input = match input_json {
            Some(text) => Representation::Array(ArrayRepresentation::from_json(&json::parse("input_json", text)?)?),
            None => Representation::Bytes(BytesRepresentation { size: ByteSize::Unknown, element_size: None }),
        };
        check_decoded_size(options.max_decoded_size, &input)?;
        let list = CodecList::from_json("codecs", &codecs, &Context::new(Arc::clone(&options.registry)))?;
        Ok(Self::from_bound(list.bind(input)?, Arc::new(Pool::default()), options.max_decoded_size))
    }

    /// The chain of a whole array document of Zarr v3 or v2, for one chunk of its grid: the first, if they differ.
    ///
    /// # Errors
    /// As [`new`](Self::new), also for a document that does not describe an array.
    pub fn from_zarr_json(zarr_json: &[u8]) -> Result<Self> {
        Self::from_zarr_json_with(&ChainOptions::default(), zarr_json)
    }

    /// As [`from_zarr_json`](Self::from_zarr_json), with the codecs of a registry and a limit on the decoded size.
    ///
    /// # Errors
    /// As [`with_options`](Self::with_options), also for a document that does not describe an array.
    pub fn from_zarr_json_with(options: &ChainOptions, zarr_json: &[u8]) -> Result<Self> {
        let context = Context::new(Arc::clone(&options.registry));
        let document = document::ArrayDocument::from_json(&json::parse_python("zarr_json", zarr_json)?, &context)?;
        let chunk = Representation::Array(document.chunk);
        check_decoded_size(options.max_decoded_size, &chunk)?;
        let list = CodecList::from_json("codecs", &document.codecs, &context)?;
        let codecs = list.bind(chunk)?;
        if let Representation::Array(_) = codecs.output() {
            return Err(Error::metadata("codecs has no array->bytes codec: an array needs exactly one"));
        }
        Ok(Self::from_bound(codecs, Arc::new(Pool::default()), options.max_decoded_size))
    }

    /// A chain that shares what codecs keep from call to call with others. The limit holds for the chains inside, too.
    fn from_bound(codecs: BoundCodecs, pool: Arc<Pool>, max_decoded_size: Option<u64>) -> Self {
        let plan = Plan::new(&codecs, &pool, max_decoded_size);
        let hooks = vec![Hooks::default(); codecs.codecs().len()];
        let decoded_size = codecs.representation(0).size().size_when_written();
        let array_sizes = decoded_size.map(|size| (size, plan.encoded_size(size)));
        Self { codecs, plan, hooks, pool, max_decoded_size, array_sizes }
    }

    /// A chain with the same codecs, data type, fill value and hooks for a chunk of another shape.
    ///
    /// # Errors
    /// [`Status::Unsupported`] for a chain without an array; or the error of a codec that does not fit this shape.
    pub fn with_shape(&self, shape: &[u64]) -> Result<Self> {
        let Representation::Array(input) = self.input() else {
            return Err(Error::unsupported("a bytes->bytes chain has no shape"));
        };
        let input = input.with_shape(shape.to_vec())?;
        check_decoded_size(self.max_decoded_size, &Representation::Array(input.clone()))?;
        let codecs = self.codecs.with_input(input)?;
        let mut reshaped = Self::from_bound(codecs, Arc::clone(&self.pool), self.max_decoded_size);
        reshaped.take_over_hooks(self);
        Ok(reshaped)
    }

    /// Encodes one chunk into the beginning of `encoded`; returns the size of what was written.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] if `decoded` has the wrong size, [`Status::BufferTooSmall`] with the needed
    /// capacity, and the errors of the codecs.
    pub fn encode_into(&self, decoded: &[u8], encoded: &mut [u8], options: &CallOptions) -> Result<usize> {
        self.encode_decoded(Decoded::Slice(decoded), decoded.len() as u64, encoded, options)
    }

    fn encode_decoded(
        &self,
        decoded: Decoded<'_>,
        decoded_size: u64,
        encoded: &mut [u8],
        options: &CallOptions,
    ) -> Result<usize> {
        let Some(bound) = self.checked_bound(decoded_size)? else {
            return self.run(options, |run, workspace| run.encode(decoded, Output::Slice(encoded), workspace));
        };
        let is_fixed = self.has_fixed_size();
        let capacity = encoded.len();
        let too_small = || Error::buffer_too_small("encoded_capacity", capacity, bound as u64);
        if is_fixed && capacity < bound {
            return Err(too_small());
        }
        let encoded = &mut encoded[..capacity.min(bound)];
        self.run(options, |run, workspace| run.encode(decoded, Output::Slice(encoded), workspace))
            .map_err(|error| if error.status() == Status::BufferTooSmall { too_small() } else { error })
    }

    fn has_fixed_size(&self) -> bool {
        self.plan.steps.iter().all(plan::Step::has_fixed_size)
    }

    /// The size of every encoded chunk, if all have the same.
    fn fixed_size(&self) -> Option<u64> {
        self.decoded_size().filter(|_| self.has_fixed_size()).and_then(|size| self.encoded_bound(size))
    }

    /// Decodes one chunk into the beginning of `decoded`; returns the size of what was written.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`] with the needed capacity, [`Status::CorruptData`] if no encode of this chain can have
    /// made `encoded`, and the errors of the codecs.
    pub fn decode_into(&self, encoded: &[u8], decoded: &mut [u8], options: &CallOptions) -> Result<usize> {
        if let Some(needed) = self.decoded_size().filter(|needed| *needed > decoded.len() as u64) {
            return Err(Error::buffer_too_small("decoded_capacity", decoded.len(), needed));
        }
        self.run(options, |run, workspace| run.decode(encoded, Output::Slice(decoded), workspace))
    }

    /// Decodes a box of the chunk, which begins at `start` and has the shape of the target, to where the target lies.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] if the box is not within the chunk, [`Status::Unsupported`] for a bytes->bytes chain,
    /// and as [`decode_into`](Self::decode_into).
    pub fn decode_view(
        &self,
        encoded: &[u8],
        start: &[u64],
        mut target: Target<'_>,
        options: &CallOptions,
    ) -> Result<()> {
        let region = self.region(start, target.shape(), target.element_size())?;
        // A box without elements needs no bytes; an array without elements has encoded bytes that can be wrong.
        if region.is_empty() && !region.is_whole(self.shape()?) {
            return Ok(());
        }
        self.run(options, |run, workspace| run.decode_region(encoded, &region, &mut target, workspace))
    }

    /// Encodes a chunk of which the caller has the box that begins at `start` and has the shape of the source; the rest
    /// is the fill value. Returns the size of what was written.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] if the box is not within the chunk, [`Status::Unsupported`] for a bytes->bytes chain,
    /// or for a part of a chunk without a fill value, and as [`encode_into`](Self::encode_into).
    pub fn encode_view(
        &self,
        start: &[u64],
        source: Source<'_>,
        encoded: &mut [u8],
        options: &CallOptions,
    ) -> Result<usize> {
        let region = self.region(start, source.shape(), source.element_size())?;
        let array = self.input().array()?;
        let fill_value = array.fill_value().map(|fill_value| &*fill_value.0);
        let input = Input::new(array.shape(), &region.start, source, fill_value);
        input.check_rest()?;
        let decoded = input.as_slice().map_or(Decoded::Input(input), Decoded::Slice);
        self.encode_decoded(decoded, array.size(), encoded, options)
    }

    /// Fills a view of any shape with the fill value: a chunk that does not exist.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the chain has no fill value, or for a bytes->bytes chain.
    pub fn fill_view(&self, mut target: Target<'_>) -> Result<()> {
        self.check_element_size(target.element_size())?;
        strided::fill(&mut target, self.fill_value()?)
    }

    /// Fills a box of a chunk that does not exist; it begins at `start` and has the shape of the target.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] if the box is not within the chunk, and as [`fill_view`](Self::fill_view).
    pub fn fill_box(&self, start: &[u64], target: Target<'_>) -> Result<()> {
        self.region(start, target.shape(), target.element_size())?;
        self.fill_view(target)
    }

    /// Whether every element of a view equals the fill value in all bits that the data type has; such a chunk need not be
    /// stored.
    ///
    /// # Errors
    /// As [`fill_view`](Self::fill_view).
    pub fn is_fill_view(&self, source: &Source<'_>) -> Result<bool> {
        self.check_element_size(source.element_size())?;
        input::all_are(source, self.array("fill value")?.data_type(), self.fill_value()?)
    }

    fn fill_value(&self) -> Result<&[u8]> {
        let fill_value = self.array("fill value")?.fill_value();
        fill_value
            .map(|fill_value| &*fill_value.0)
            .ok_or_else(|| Error::unsupported("the chain has no fill value").with_code("no_fill_value"))
    }

    /// The array that enters on encode.
    fn array(&self, what: &str) -> Result<&ArrayRepresentation> {
        match self.input() {
            Representation::Array(array) => Ok(array),
            Representation::Bytes(_) => Err(Error::unsupported(format!("a bytes->bytes chain has no {what}"))),
        }
    }

    fn check_element_size(&self, element_size: usize) -> Result<()> {
        let data_type = self.array("elements")?.data_type();
        if element_size == data_type.size() {
            return Ok(());
        }
        let size = data_type.size();
        Err(Error::argument(format!(
            "an element of the view has {element_size} bytes, but one of {data_type} has {size}"
        )))
    }

    /// Checks that a box lies within the chunk.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if it does not; for chains of bytes->bytes codecs
    /// [`Status::Unsupported`](crate::Status::Unsupported).
    pub fn check_box(&self, start: &[u64], shape: &[u64]) -> Result<()> {
        Region::check(self.shape()?, start, shape)
    }

    /// A box of the chunk.
    fn region(&self, start: &[u64], shape: &[u64], element_size: usize) -> Result<Region> {
        self.check_element_size(element_size)?;
        Region::within(self.shape()?, start, shape)
    }

    /// Encodes one chunk into memory of its own.
    ///
    /// # Errors
    /// As [`encode_into`](Self::encode_into), and [`Status::OutOfMemory`].
    pub fn encode_to_vec(&self, decoded: &[u8], options: &CallOptions) -> Result<Vec<u8>> {
        self.encode_decoded_to_vec(Decoded::Slice(decoded), decoded.len() as u64, options)
    }

    fn encode_decoded_to_vec(&self, decoded: Decoded<'_>, decoded_size: u64, options: &CallOptions) -> Result<Vec<u8>> {
        let mut encoded = Vec::new();
        let size = match self.checked_bound(decoded_size)? {
            Some(bound) => {
                crate::memory::grow(&mut encoded, bound)?;
                self.encode_decoded(decoded, decoded_size, &mut encoded, options)?
            }
            None => {
                self.run(options, |run, workspace| run.encode(decoded, Output::Growing(&mut encoded), workspace))?
            }
        };
        encoded.truncate(size);
        encoded.shrink_to_fit();
        Ok(encoded)
    }

    /// Decodes one chunk into memory of its own.
    ///
    /// # Errors
    /// As [`decode_into`](Self::decode_into), and [`Status::OutOfMemory`].
    pub fn decode_to_vec(&self, encoded: &[u8], options: &CallOptions) -> Result<Vec<u8>> {
        let mut decoded = Vec::new();
        let size = self.run(options, |run, workspace| run.decode(encoded, Output::Growing(&mut decoded), workspace))?;
        decoded.truncate(size);
        decoded.shrink_to_fit();
        Ok(decoded)
    }

    /// Encodes a chunk of this chain's array, whose size is not checked again.
    fn encode_chunk(&self, decoded: Decoded<'_>, encoded: &mut [u8], options: &CallOptions) -> Result<usize> {
        let size = self.array("chunk")?.size();
        self.encode_decoded(decoded, size, encoded, options)
    }

    /// The same into memory that grows as needed; returns the size.
    fn encode_chunk_growing(
        &self,
        decoded: Decoded<'_>,
        encoded: &mut Vec<u8>,
        options: &CallOptions,
    ) -> Result<usize> {
        self.run(options, |run, workspace| run.encode(decoded, Output::Growing(encoded), workspace))
    }

    /// The same into memory of its own.
    fn encode_chunk_to_vec(&self, decoded: Decoded<'_>, options: &CallOptions) -> Result<Vec<u8>> {
        self.encode_decoded_to_vec(decoded, self.array("chunk")?.size(), options)
    }

    /// Decodes a box of a chunk. Unlike in [`decode_view`](Self::decode_view), the box has been checked.
    fn decode_region(
        &self,
        encoded: &[u8],
        region: &Region,
        target: &mut Target<'_>,
        options: &CallOptions,
    ) -> Result<()> {
        self.run(options, |run, workspace| run.decode_region(encoded, region, target, workspace))
    }

    /// The shape of the innermost inner chunks, if this chain makes shards.
    fn innermost_chunk(&self) -> Option<Vec<u64>> {
        self.plan.steps.iter().any(|step| step.shard().is_some()).then(|| self.granularity().ok()).flatten()
    }

    fn run<T>(
        &self,
        options: &CallOptions,
        work: impl FnOnce(&Run<'_>, &mut workspace::Workspace) -> Result<T>,
    ) -> Result<T> {
        let Self { plan, codecs, hooks, pool, max_decoded_size, .. } = self;
        let run = Run { plan, codecs, pool, hooks, options, max_decoded_size: *max_decoded_size };
        self.pool.with(|workspace| work(&run, workspace))
    }

    /// A capacity that suffices for encoding this many bytes; `None` if that is not known in advance.
    fn checked_bound(&self, decoded_size: u64) -> Result<Option<usize>> {
        if let Some(expected) = self.decoded_size().filter(|expected| *expected != decoded_size) {
            return Err(Error::argument(format!("decoded_size is {decoded_size}, expected {expected}")));
        }
        self.plan.check_decoded_size(decoded_size)?;
        let too_large = || {
            Error::new(Status::OutOfMemory, format!("{decoded_size} bytes may encode to more than fits into memory"))
        };
        match self.encoded_size(decoded_size) {
            EncodedSize::AtMost(bound) => usize::try_from(bound).map(Some).map_err(|_| too_large()),
            EncodedSize::Unknown => Ok(None),
            EncodedSize::TooLarge => Err(too_large()),
        }
    }

    fn encoded_size(&self, decoded_size: u64) -> EncodedSize {
        match self.array_sizes {
            Some((size, encoded)) if size == decoded_size => encoded,
            _ => self.plan.encoded_size(decoded_size),
        }
    }
}

/// Refuses a chunk that is larger than the limit.
fn check_decoded_size(limit: Option<u64>, input: &Representation) -> Result<()> {
    match (limit, input.size().size_when_written()) {
        (Some(limit), Some(size)) if size > limit => {
            Err(Error::unsupported(format!("a chunk has {size} bytes, but max_decoded_size is {limit}"))
                .with_code("max_decoded_size"))
        }
        _ => Ok(()),
    }
}
