//! A run of codecs bound to what enters it: resolve, plan, run.
//!
//! [`resolve`] reads the codecs' JSON and binds one after the other; everything that can be wrong with metadata is
//! found there. [`plan`] makes passes of them: consecutive elementwise codecs become one [`fused`] pass over tiles.
//! [`run`] moves a chunk through the passes.

mod copy;
mod fused;
pub(crate) mod parallel;
mod plan;
mod representation;
mod resolve;
mod run;
mod workspace;
mod zarr_json;

pub use representation::{ArrayRepresentation, ByteSize, Representation};

use crate::codec::{BoundArrayToArray, BoundArrayToBytes, BoundBytesToBytes, CallData, Codec, PaddingHook, Warning};
use crate::error::{Error, Result, Status};
use plan::Plan;
use resolve::{Bound, Resolved, Role};
use run::{Output, Run};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::Arc;
use workspace::Pool;

/// The three shapes of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainKind {
    /// Array->array codecs only.
    ArrayToArray,
    /// An array enters, bytes leave.
    ArrayToBytes,
    /// Bytes->bytes codecs only.
    BytesToBytes,
}

/// What a call may do differently.
#[derive(Debug, Clone, Copy)]
pub struct CallOptions {
    /// Handed to the padding hooks.
    pub call_data: CallData,
    /// How many threads may work, the calling one included.
    pub max_threads: NonZeroUsize,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self { call_data: CallData::default(), max_threads: NonZeroUsize::MIN }
    }
}

/// A contiguous run of codecs, bound to what enters it on encode.
///
/// Immutable once its hooks are set, and then used by any number of threads at the same time.
#[derive(Debug)]
pub struct Chain {
    resolved: Resolved,
    plan: Plan,
    /// By codec.
    hooks: Vec<Option<Arc<dyn PaddingHook>>>,
    pool: Arc<Pool>,
}

impl Chain {
    /// A chain of a JSON list of codecs. `input_json` describes the array that enters on encode; without it, bytes do.
    ///
    /// # Errors
    /// [`Status::InvalidMetadata`] or [`Status::Unsupported`], with the codec and member at fault.
    pub fn new(codecs_json: &[u8], input_json: Option<&[u8]>) -> Result<Self> {
        let codecs = parse_json("codecs_json", codecs_json)?;
        let input = match input_json {
            Some(text) => Representation::Array(ArrayRepresentation::from_json(&parse_json("input_json", text)?)?),
            None => Representation::Bytes(ByteSize::Unknown),
        };
        Self::from_resolved(Resolved::from_json(&codecs, input)?)
    }

    /// The chain of a whole Zarr v3 array document, for one chunk of its regular grid.
    ///
    /// # Errors
    /// As [`new`](Self::new), also for a document that is no array's.
    pub fn from_zarr_json(zarr_json: &[u8]) -> Result<Self> {
        let document = zarr_json::ArrayDocument::from_json(&parse_json("zarr_json", zarr_json)?)?;
        let resolved = Resolved::from_json(&document.codecs, Representation::Array(document.chunk))?;
        if let Representation::Array(_) = resolved.output() {
            return Err(Error::metadata("codecs has no array->bytes codec: an array needs exactly one"));
        }
        Self::from_resolved(resolved)
    }

    fn from_resolved(resolved: Resolved) -> Result<Self> {
        let plan = Plan::new(&resolved);
        let hooks = vec![None; resolved.bound.len()];
        Ok(Self { resolved, plan, hooks, pool: Arc::new(Pool::new()) })
    }

    /// The same codecs, data type, fill value and hooks for a chunk of another shape.
    ///
    /// # Errors
    /// [`Status::Unsupported`] for a chain without an array; or what does not fit this shape.
    pub fn with_shape(&self, shape: &[u64]) -> Result<Self> {
        let Representation::Array(input) = self.input() else {
            return Err(Error::unsupported("a bytes->bytes chain has no shape"));
        };
        let resolved = self.resolved.with_input(input.with_shape(shape.to_vec())?)?;
        let plan = Plan::new(&resolved);
        Ok(Self { resolved, plan, hooks: self.hooks.clone(), pool: Arc::clone(&self.pool) })
    }

    /// Has the bytes of a `pad` or `offset` codec computed or looked at by a hook; none takes the hook away.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] if there is no such codec at this index.
    pub fn set_padding_hook(&mut self, codec_index: usize, hook: Option<Arc<dyn PaddingHook>>) -> Result<()> {
        self.check_padding_index(codec_index)?;
        self.hooks[codec_index] = hook;
        Ok(())
    }

    /// Whether there is a `pad` or `offset` codec at this index.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] if not.
    pub fn check_padding_index(&self, codec_index: usize) -> Result<()> {
        match self.resolved.bound.get(codec_index) {
            Some(Bound::BytesToBytes(BoundBytesToBytes::Frame(frame))) if frame.takes_hook() => Ok(()),
            Some(_) => Err(Error::argument("this codec has no padding: only pad and offset do")
                .in_codec(codec_index, &self.resolved.codecs[codec_index].name)),
            None => Err(Error::argument(format!(
                "codec_index is {codec_index}, but the chain has {} codecs",
                self.codec_count()
            ))),
        }
    }

    /// Encodes one chunk into the beginning of `encoded`; returns the size of what was written.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] if `decoded` has the wrong size, [`Status::BufferTooSmall`] with the capacity that
    /// would do, and what a codec says of the data.
    pub fn encode_into(&self, decoded: &[u8], encoded: &mut [u8], options: &CallOptions) -> Result<usize> {
        let bound = self.checked_bound(decoded.len())?;
        let is_fixed = self.plan.steps.iter().all(plan::Step::has_fixed_size);
        let capacity = encoded.len();
        let too_small = || Error::buffer_too_small("encoded_capacity", capacity, bound);
        if is_fixed && capacity < bound {
            return Err(too_small());
        }
        let encoded = &mut encoded[..capacity.min(bound)];
        self.run(options, |run, workspace| run.encode(decoded, encoded, workspace))
            .map_err(|error| if error.status() == Status::BufferTooSmall { too_small() } else { error })
    }

    /// Decodes one chunk into the beginning of `decoded`; returns the size of what was written.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`] with the capacity that would do, [`Status::CorruptData`] if no encode of this chain
    /// can have made `encoded`, and what a codec says of the data.
    pub fn decode_into(&self, encoded: &[u8], decoded: &mut [u8], options: &CallOptions) -> Result<usize> {
        if let Some(needed) = self.decoded_size().filter(|needed| *needed > decoded.len()) {
            return Err(Error::buffer_too_small("decoded_capacity", decoded.len(), needed));
        }
        self.run(options, |run, workspace| run.decode(encoded, Output::Slice(decoded), workspace))
    }

    /// Encodes one chunk into memory of its own.
    ///
    /// # Errors
    /// As [`encode_into`](Self::encode_into), and [`Status::OutOfMemory`].
    pub fn encode_to_vec(&self, decoded: &[u8], options: &CallOptions) -> Result<Vec<u8>> {
        let mut encoded = Vec::new();
        workspace::grow(&mut encoded, self.checked_bound(decoded.len())?)?;
        let size = self.encode_into(decoded, &mut encoded, options)?;
        encoded.truncate(size);
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
        Ok(decoded)
    }

    /// Decodes the elements from `start` on, in C order, that `decoded` has room for. Of a pass of elementwise codecs,
    /// such as `cast_value` and `packbits`, only what these elements need is looked at.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] if they are not all within the chunk, [`Status::Unsupported`] if the first codec that
    /// does something is not elementwise, and as [`decode_into`](Self::decode_into).
    pub fn decode_elements(
        &self,
        encoded: &[u8],
        start: usize,
        decoded: &mut [u8],
        options: &CallOptions,
    ) -> Result<()> {
        self.run(options, |run, workspace| run.decode_elements(encoded, start, decoded, workspace))
    }

    fn run<T>(
        &self,
        options: &CallOptions,
        work: impl FnOnce(&Run<'_>, &mut workspace::Workspace) -> Result<T>,
    ) -> Result<T> {
        let run = Run { plan: &self.plan, hooks: &self.hooks, options };
        self.pool.with(self.plan.steps.len(), |workspace| work(&run, workspace))
    }

    fn checked_bound(&self, decoded_size: usize) -> Result<usize> {
        if let Some(expected) = self.decoded_size().filter(|expected| *expected != decoded_size) {
            return Err(Error::argument(format!("decoded_size is {decoded_size}, expected {expected}")));
        }
        self.encoded_bound(decoded_size).ok_or_else(|| {
            Error::new(Status::OutOfMemory, format!("{decoded_size} bytes encode to more than any memory can hold"))
        })
    }

    /// The size of the decoded side in bytes; none for a chain of bytes->bytes codecs.
    pub fn decoded_size(&self) -> Option<usize> {
        self.input().size().exact()
    }

    /// A capacity that is always enough to encode this many bytes; none if no memory can hold it.
    pub fn encoded_bound(&self, decoded_size: usize) -> Option<usize> {
        self.plan.steps.iter().try_fold(decoded_size, |size, step| step.encoded_bound(size))
    }

    /// What enters on encode.
    pub fn input(&self) -> &Representation {
        &self.resolved.representations[0]
    }

    /// What leaves on encode.
    pub fn output(&self) -> &Representation {
        self.resolved.output()
    }

    /// What stands before, between and after the codecs: one more than there are codecs.
    pub fn representations(&self) -> &[Representation] {
        &self.resolved.representations
    }

    /// The number of codecs.
    pub fn codec_count(&self) -> usize {
        self.resolved.bound.len()
    }

    /// The codecs in canonical form.
    pub fn codecs_json(&self) -> Value {
        self.resolved.codecs.iter().map(resolve::ListedCodec::to_json).collect()
    }

    /// Which of the three shapes the chain has.
    pub fn kind(&self) -> ChainKind {
        match (self.input(), self.output()) {
            (Representation::Array(_), Representation::Array(_)) => ChainKind::ArrayToArray,
            (Representation::Array(_), Representation::Bytes(_)) => ChainKind::ArrayToBytes,
            (Representation::Bytes(_), _) => ChainKind::BytesToBytes,
        }
    }

    /// What is valid but likely to hurt, each with the index of its codec.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &Warning)> {
        self.resolved.bound.iter().enumerate().flat_map(|(index, bound)| {
            let warnings: &[Warning] = match bound {
                Bound::ArrayToArray(BoundArrayToArray::Elementwise { warnings, .. }) => warnings,
                Bound::ArrayToBytes(BoundArrayToBytes::Transform { warnings, .. }) => warnings,
                _ => &[],
            };
            warnings.iter().map(move |warning| (index, warning))
        })
    }

    /// The same as a JSON list.
    pub fn warnings_json(&self) -> Value {
        self.warnings()
            .map(|(index, warning)| json!({"codec_index": index, "code": warning.code, "message": warning.message}))
            .chain(self.ignored_codecs())
            .collect()
    }

    fn ignored_codecs(&self) -> impl Iterator<Item = Value> {
        self.resolved.codecs.iter().enumerate().filter(|(_, codec)| matches!(codec.role, Role::Ignored(_))).map(
            |(index, codec)| {
                let message = format!("{:?} is unknown and need not be understood: it is left out", codec.name);
                json!({"codec_index": index, "code": "ignored_codec", "message": message})
            },
        )
    }

    /// The codec at this index, unless it is an ignored one.
    pub fn codec(&self, index: usize) -> Option<&Codec> {
        match &self.resolved.codecs.get(index)?.role {
            Role::Known(codec) => Some(codec),
            Role::Ignored(_) => None,
        }
    }
}

fn parse_json(what: &str, text: &[u8]) -> Result<Value> {
    serde_json::from_slice(text).map_err(|error| Error::metadata(format!("{what} is not valid JSON: {error}")))
}
