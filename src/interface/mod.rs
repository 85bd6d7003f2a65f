//! What a codec is, what binding returns, and what a call gives to a codec.
//!
//! A [`Codec`] is metadata: its JSON, read and checked. [Binding](Codec::bind) it to what enters on encode decides
//! everything that does not depend on the data, and gives a [`Pass`] that moves bytes. From the cheapest:
//!
//! * [`Pass::Reshape`] and [`Pass::Transpose`]: the same elements, seen in another way. The chain moves no element for
//!   them where it can choose strides.
//! * [`Pass::Elementwise`]: element i of the output depends only on element i of the input. The chain runs consecutive
//!   ones together, over one cache-sized tile after another.
//! * [`Pass::Frame`]: bytes before and after a payload that stays where it is.
//! * [`Pass::Transform`]: a whole chunk into another buffer.
//! * [`Pass::Shard`]: inner chunks, each through a chain of its own.
//! * [`Pass::N5Block`]: a block that states its shape, through a chain of its own.
//!
//! A [`Registry`] maps names to codecs; a [`CodecList`] is a `codecs` list that has been read, and [`BoundCodecs`] is
//! such a list bound to what enters it. Codecs that hold chains read their lists by the same functions.

mod call;
mod list;
mod n5_block;
mod pass;
mod registry;
mod shard;

pub use call::{Call, CallData, CallOptions, Contexts, Hooks, PaddingHook};
pub use list::{BoundCodecs, CodecList};
pub use n5_block::BoundN5Block;
pub use pass::{
    ASKS_FOR_MORE, BoxCells, Direction, Elementwise, Excerpt, Frame, GetSlab, Pass, PutSlab, RunningChecksum,
    SizedKernel, Slabs, Transform, decoded_guess, intermediate_limit, packed_size, peel, too_small,
};
pub use registry::{Context, Registry};
pub use shard::BoundShard;

use crate::data_type::{DataType, Scalar};
use crate::error::Result;
use crate::representation::{ArrayRepresentation, ByteSize, Representation};
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::sync::Arc;

/// The kinds of codecs, by what they take and what they make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Array to array.
    ArrayToArray,
    /// Array to bytes.
    ArrayToBytes,
    /// Bytes to bytes.
    BytesToBytes,
}

/// A codec as its metadata describes it.
pub trait Codec: Debug + Send + Sync {
    /// The kind of the codec.
    fn kind(&self) -> Kind;

    /// Whether every integer that is encoded decodes to itself.
    fn keeps_integers(&self) -> bool {
        false
    }

    /// The canonical configuration; `None` if there are no members.
    fn configuration(&self) -> Option<Map<String, Value>>;

    /// Binds the codec to what enters on encode: an array or bytes, as its kind demands.
    ///
    /// # Errors
    /// The fault of this combination; the message names the member of the configuration at fault.
    fn bind(&self, decoded: &Representation) -> Result<Binding>;

    /// Binds the codec again for another shape of the same data type and fill value. What does not depend on the shape
    /// is kept.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    fn rebind(&self, bound: &Binding, decoded: &Representation) -> Result<Binding> {
        match (&bound.pass, &bound.encoded) {
            (Pass::Elementwise { .. }, Representation::Array(encoded)) => {
                let encoded = encoded.with_shape(decoded.array()?.shape().to_vec())?;
                Ok(Binding { encoded: Representation::Array(encoded), ..bound.clone() })
            }
            _ => self.bind(decoded),
        }
    }
}

/// The result of binding a codec.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The representation that leaves on encode.
    pub encoded: Representation,
    /// How bytes get there, and back.
    pub pass: Pass,
    /// Warnings about valid metadata.
    pub warnings: Vec<Warning>,
}

impl Binding {
    /// A binding without a warning.
    pub fn new(encoded: Representation, pass: Pass) -> Self {
        Self { encoded, pass, warnings: Vec::new() }
    }

    /// One kernel on each element of an array, whose results have this data type and fill value.
    ///
    /// # Errors
    /// The output would be too large.
    pub fn elementwise(
        decoded: &ArrayRepresentation,
        data_type: &DataType,
        fill_value: Option<Scalar>,
        kernel: Arc<dyn Elementwise>,
    ) -> Result<Self> {
        let encoded = decoded.with_elements(data_type.clone(), fill_value)?;
        let kernels = vec![SizedKernel { kernel, encoded_bits: 8 * data_type.size() }];
        Ok(Self::new(Representation::Array(encoded), Pass::Elementwise { kernels, frame: None }))
    }

    /// Bytes around what enters.
    pub fn frame(decoded: &Representation, frame: Arc<dyn Frame>) -> Self {
        let size = decoded.size().plus(frame.leading_size()).plus(frame.trailing_size());
        Self::new(decoded.to_bytes(size), Pass::Frame(frame))
    }

    /// A compressor: at most a bound on the size of its output is known.
    pub fn compressor(decoded: &Representation, transform: Arc<dyn Transform>) -> Self {
        let size = decoded.size().bound_by(|size| transform.encoded_bound(size));
        Self::new(decoded.to_bytes(size), Pass::Transform(transform))
    }

    /// A pass that turns an array into bytes of this size.
    pub fn serializer(decoded: &Representation, size: ByteSize, pass: Pass) -> Self {
        Self::new(decoded.to_bytes(size), pass)
    }
}

/// A warning: metadata that is valid, but likely to cause trouble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// For programs, such as `lossy_int_to_float`.
    pub code: &'static str,
    /// For people.
    pub message: String,
    /// The codec inside the one that warns, as a JSON Pointer (RFC 6901) from there, such as
    /// `/configuration/codecs/1`; empty: that codec itself.
    pub path: String,
}

impl Warning {
    /// A warning of the codec itself.
    pub fn new(code: &'static str, message: String) -> Self {
        Self { code, message, path: String::new() }
    }
}
