//! The codecs: three traits, what binding makes of them, and the registry of names.
//!
//! A codec is metadata: what its JSON says, checked. [Binding](ArrayToArrayCodec::bind) it to what enters on encode
//! settles everything that does not depend on the data, and gives a *pass* that moves bytes. There are three kinds of
//! pass, from the cheapest:
//!
//! * [`Elementwise`]: element i of the output depends on element i of the input alone. The chain runs all that follow
//!   each other over one cache-sized tile after another.
//! * [`Frame`]: bytes before and behind a payload that stays where it is.
//! * [`Transform`]: a whole chunk into another buffer.
//!
//! `zfp` streams are those of LLNL's C library 1.0.1, but where that library loses values: lossy blocks whose largest
//! magnitude is below 2^-98 (float32) or 2^-962 (float64), reversible expert mode with `minbits` over 1 and blocks of
//! zeros, and expert mode with `maxbits` below the header of a block. Streams of either decode to the same values.
//! `src/codec/zfp/c_library.rs` has the details, and the tests that compare. With the feature `zfp-sys` that library
//! codes the blocks, and the first and the last of these are as it has them.
//!
//! To add a codec: one file here with a `parse` function, one line in [`registry`].

mod bytes;
mod cast_value;
pub(crate) mod configuration;
mod crc32c;
mod gzip;
mod numcodecs;
mod packbits;
mod padding;
pub(crate) mod registry;
mod reshape;
mod scale_offset;
mod simd;
mod squeeze;
mod transpose;
mod zfp;
mod zstd;

#[cfg(feature = "internals")]
#[doc(hidden)]
pub use packbits::kernels as packbits_kernels;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use simd::{Limit, set_limit};

pub use configuration::Configuration;

use crate::chain::{ArrayRepresentation, ByteSize};
use crate::data_type::{DataType, Scalar};
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::any::Any;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::os::raw::c_void;
use std::sync::Arc;

/// A codec of one of the three kinds.
#[derive(Debug, Clone)]
pub enum Codec {
    /// Array to array.
    ArrayToArray(Arc<dyn ArrayToArrayCodec>),
    /// Array to bytes.
    ArrayToBytes(Arc<dyn ArrayToBytesCodec>),
    /// Bytes to bytes.
    BytesToBytes(Arc<dyn BytesToBytesCodec>),
}

/// A codec that makes an array of an array.
pub trait ArrayToArrayCodec: Debug + Send + Sync {
    /// The canonical configuration; none if there is nothing to say.
    fn configuration(&self) -> Option<Map<String, Value>>;
    /// Binds the codec to the array that enters on encode.
    ///
    /// # Errors
    /// What is wrong with this combination; the message names the member of the configuration at fault.
    fn bind(&self, decoded: &ArrayRepresentation) -> Result<BoundArrayToArray>;
}

/// A codec that makes bytes of an array.
pub trait ArrayToBytesCodec: Debug + Send + Sync {
    /// The canonical configuration; none if there is nothing to say.
    fn configuration(&self) -> Option<Map<String, Value>>;
    /// Binds the codec to the array that enters on encode.
    ///
    /// # Errors
    /// What is wrong with this combination; the message names the member of the configuration at fault.
    fn bind(&self, decoded: &ArrayRepresentation) -> Result<BoundArrayToBytes>;
}

/// A codec that makes bytes of bytes.
pub trait BytesToBytesCodec: Debug + Send + Sync {
    /// The canonical configuration; none if there is nothing to say.
    fn configuration(&self) -> Option<Map<String, Value>>;
    /// Binds the codec to bytes of this size.
    ///
    /// # Errors
    /// What is wrong with this combination; the message names the member of the configuration at fault.
    fn bind(&self, decoded: ByteSize) -> Result<BoundBytesToBytes>;
}

/// What an array->array codec makes of its input.
#[derive(Debug, Clone)]
pub enum BoundArrayToArray {
    /// Same elements, same order, another shape: nothing to do at run time.
    View {
        /// The shape after encoding.
        shape: Vec<u64>,
    },
    /// One or more elementwise stages, in encode order. They do not depend on the shape.
    Elementwise {
        /// Each with the data type that it encodes to.
        stages: Vec<(Arc<dyn Elementwise>, DataType)>,
        /// The fill value after encoding.
        fill_value: Scalar,
        /// What is likely to hurt.
        warnings: Vec<Warning>,
    },
    /// A pass over the whole chunk.
    Transform {
        /// The pass.
        transform: Arc<dyn Transform>,
        /// What it encodes to.
        encoded: ArrayRepresentation,
    },
}

/// What an array->bytes codec makes of its input.
#[derive(Debug, Clone)]
pub enum BoundArrayToBytes {
    /// An elementwise stage. It does not depend on the shape.
    Elementwise {
        /// The stage.
        stage: Arc<dyn Elementwise>,
        /// How many bits an element takes, after encoding.
        encoded_bits: usize,
        /// Where a byte with the number of padding bits stands, if anywhere.
        padding_count: PaddingCount,
    },
    /// A pass over the whole chunk.
    Transform {
        /// The pass.
        transform: Arc<dyn Transform>,
        /// What is known of its size.
        encoded: ByteSize,
        /// What is likely to hurt.
        warnings: Vec<Warning>,
    },
}

/// What a bytes->bytes codec makes of its input.
#[derive(Debug, Clone)]
pub enum BoundBytesToBytes {
    /// Bytes before and behind.
    Frame(Arc<dyn Frame>),
    /// A pass over the whole chunk.
    Transform {
        /// The pass.
        transform: Arc<dyn Transform>,
        /// What is known of its size.
        encoded: ByteSize,
    },
}

/// Where the byte that counts the padding bits of packed elements stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaddingCount {
    /// Nowhere.
    None,
    /// Before the packed elements.
    FirstByte,
    /// Behind the packed elements.
    LastByte,
}

/// Valid metadata that is likely to hurt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// For programs, such as `lossy_int_to_float`.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// A kernel that maps each element by itself.
///
/// Both functions get whole elements, back to back in the layout of the data type; the number of elements follows
/// from the size of the decoded side. Where an encoded element is no whole number of bytes, a tile begins at a byte:
/// the chain cuts at multiples of 8 elements. Buffers have any alignment.
///
/// On an error, it names the first element at fault by [`Error::out_of_range`], counted from the beginning of the
/// slice, and every element before it has been written.
pub trait Elementwise: Debug + Send + Sync {
    /// Encodes each element.
    ///
    /// # Errors
    /// The first element without an image.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()>;
    /// Decodes each element.
    ///
    /// # Errors
    /// The first element without an image.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()>;
    /// Whether encode and decode copy the bytes unchanged; such a stage costs nothing inside a chain.
    fn is_copy(&self) -> bool {
        false
    }
    /// What this kernel does, if it scales floats.
    fn scaling(&self) -> Option<Scaling> {
        None
    }
    /// This kernel behind one that scales, both in one loop; none if there is no such loop. It may refuse elements that
    /// have an image; its errors mean nothing but that.
    fn behind(&self, _scaling: Scaling) -> Option<Arc<dyn Elementwise>> {
        None
    }
}

/// `(element - offset) * scale` on encode, `element / scale + offset` on decode, on `float32` or `float64`.
#[derive(Debug, Clone, Copy)]
pub struct Scaling {
    /// As bits of the data type.
    pub offset: u64,
    /// As bits of the data type.
    pub scale: u64,
}

/// Bytes around a payload that does not move.
pub trait Frame: Debug + Send + Sync {
    /// How many bytes stand before the payload.
    fn leading_size(&self) -> usize {
        0
    }
    /// How many bytes stand behind the payload.
    fn trailing_size(&self) -> usize {
        0
    }
    /// Writes the bytes around a payload.
    ///
    /// # Errors
    /// What the callback said, for example.
    fn write(&self, payload: &[u8], leading: &mut [u8], trailing: &mut [u8], call: FrameCall<'_>) -> Result<()>;
    /// Looks at the bytes around a payload that decoding is about to remove.
    ///
    /// # Errors
    /// Why these bytes cannot stand there.
    fn check(&self, payload: &[u8], leading: &[u8], trailing: &[u8], call: FrameCall<'_>) -> Result<()>;
    /// Whether the bytes may be computed by a [`PaddingHook`].
    fn takes_hook(&self) -> bool {
        false
    }
}

/// A pass over a whole chunk, from one buffer to another.
pub trait Transform: Debug + Send + Sync {
    /// Encodes `decoded` into the beginning of `encoded`; returns the size of what was written.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`](crate::Status::BufferTooSmall) by [`too_small`] if `encoded` cannot hold it, or
    /// what is wrong with the data.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize>;
    /// Decodes `encoded` into the beginning of `decoded`; returns the size of what was written.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`](crate::Status::BufferTooSmall) by [`too_small`] if `decoded` cannot hold it, or
    /// why `encoded` is corrupt.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize>;
    /// A capacity that is enough to encode this many bytes; none if no size can be.
    fn encoded_bound(&self, decoded_size: usize) -> Option<usize>;
}

/// The error of a transform whose output does not fit; the chain knows the sizes for the message.
pub fn too_small() -> Error {
    Error::new(crate::error::Status::BufferTooSmall, "the output does not fit")
}

/// What a [`Transform`] gets of the call it works for.
#[derive(Debug)]
pub struct TransformCall<'a> {
    /// How many threads may work, the calling one included.
    pub max_threads: NonZeroUsize,
    /// Whatever the codec wants to find again at its next call: contexts of a compressor, scratch memory.
    pub state: &'a mut Option<Box<dyn Any + Send>>,
}

impl TransformCall<'_> {
    /// The state that the last call left, or a new one.
    ///
    /// # Errors
    /// What `make` says.
    pub fn state<T: Send + 'static>(&mut self, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
        if !self.state.as_ref().is_some_and(|state| state.is::<T>()) {
            *self.state = Some(Box::new(make()?));
        }
        self.state
            .as_mut()
            .and_then(|state| state.downcast_mut())
            .ok_or_else(|| Error::internal("a codec's state has another type"))
    }
}

/// Computes or looks at the bytes of a padding, chunk by chunk. Called on the thread of the call.
pub trait PaddingHook: Debug + Send + Sync {
    /// Whether [`generate`](Self::generate) is to be asked, and not the configured bytes taken.
    fn generates(&self) -> bool;
    /// Fills `padding`, which is all zeros, for this chunk.
    ///
    /// # Errors
    /// The number that the callback returned.
    fn generate(&self, call_data: CallData, chunk: &[u8], padding: &mut [u8]) -> std::result::Result<(), i32>;
    /// Looks at a padding that is about to be removed.
    ///
    /// # Errors
    /// The number that the callback returned.
    fn check(&self, call_data: CallData, chunk: &[u8], padding: &[u8]) -> std::result::Result<(), i32>;
}

/// What a [`Frame`] gets of the call it works for.
#[derive(Debug, Clone, Copy)]
pub struct FrameCall<'a> {
    /// The hook that was set for this codec.
    pub hook: Option<&'a dyn PaddingHook>,
    /// What the caller handed over for its hooks.
    pub call_data: CallData,
}

/// A pointer of the caller, handed to the hooks of a call and never followed.
#[derive(Debug, Clone, Copy)]
pub struct CallData(pub *mut c_void);

impl Default for CallData {
    fn default() -> Self {
        Self(std::ptr::null_mut())
    }
}
