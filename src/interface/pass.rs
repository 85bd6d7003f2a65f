//! The ways in which a bound codec moves bytes.

use super::{BoundCodecs, BoundN5Block, BoundShard, Call};
use crate::error::{Error, Result, Status};
use std::any::Any;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// How a bound codec moves bytes.
#[derive(Debug, Clone)]
pub enum Pass {
    /// The same elements in the same order, in the shape of what leaves.
    Reshape,
    /// Dimension i of what leaves is dimension `order[i]` of what enters.
    Transpose(Arc<[usize]>),
    /// One or more kernels on each element, in encode order.
    Elementwise {
        /// The kernels. They do not depend on the shape.
        kernels: Vec<SizedKernel>,
        /// Bytes around the encoded elements.
        frame: Option<Arc<dyn Frame>>,
    },
    /// Bytes before and after.
    Frame(Arc<dyn Frame>),
    /// A pass over the whole chunk.
    Transform(Arc<dyn Transform>),
    /// Inner chunks, each through a chain of its own.
    Shard(Arc<BoundShard>),
    /// A header that states the shape, and elements through a chain of their own.
    N5Block(Arc<BoundN5Block>),
}

/// Encoding or decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the stored bytes.
    Encode,
    /// Towards the array.
    Decode,
}

/// One kernel of an elementwise pass.
#[derive(Debug, Clone)]
pub struct SizedKernel {
    /// The loop over the elements.
    pub kernel: Arc<dyn Elementwise>,
    /// Bits per element after encoding.
    pub encoded_bits: usize,
}

/// The size in bytes of `element_count` elements of `bits` bits, back to back.
pub fn packed_size(element_count: u64, bits: usize) -> u64 {
    element_count / 8 * bits as u64 + (element_count % 8 * bits as u64).div_ceil(8)
}

/// A kernel that maps each element independently.
///
/// Both functions get whole elements, back to back in the layout of the data type; the number of elements follows
/// from the size of the decoded elements. Where an encoded element is not a whole number of bytes, a tile begins at a byte:
/// the chain cuts at multiples of 8 elements. Buffers have any alignment.
///
/// On an error, it names the first element at fault by [`Error::out_of_range`], counted from the beginning of the
/// slice, and every element before it has been written.
pub trait Elementwise: Any + Debug + Send + Sync {
    /// Encodes each element.
    ///
    /// # Errors
    /// The first element that cannot be represented.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()>;
    /// Decodes each element.
    ///
    /// # Errors
    /// The first element that cannot be represented.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()>;
    /// Whether encode and decode copy the bytes unchanged; such a kernel costs nothing inside a chain.
    fn is_copy(&self) -> bool {
        false
    }
}

/// Bytes around a payload that does not move. The sizes of the slices in a call are those that the frame asked for.
pub trait Frame: Debug + Send + Sync {
    /// The number of bytes before the payload.
    fn leading_size(&self) -> u64 {
        0
    }
    /// The number of bytes after the payload.
    fn trailing_size(&self) -> u64 {
        0
    }
    /// Writes the bytes around a payload.
    ///
    /// # Errors
    /// The failure of a callback, for example.
    fn write(&self, payload: &[u8], leading: &mut [u8], trailing: &mut [u8], call: &Call<'_>) -> Result<()>;
    /// Checks the bytes around a payload that decoding is about to remove.
    ///
    /// # Errors
    /// Why these bytes are wrong there.
    fn check(&self, payload: &[u8], leading: &[u8], trailing: &[u8], call: &Call<'_>) -> Result<()>;
    /// Whether [`check`](Self::check) reads the payload. If so, no part of it can be checked alone.
    fn checks_payload(&self) -> bool;
    /// Whether the bytes may be computed by a [`PaddingHook`](super::PaddingHook).
    fn takes_hook(&self) -> bool {
        false
    }
    /// A checksum of no bytes yet, if the bytes of this frame are the checksum of its payload, after it. A payload that
    /// is copied anyway is then summed while it is in the cache.
    fn checksum(&self) -> Option<Box<dyn RunningChecksum>> {
        None
    }
}

/// The payload of a frame, whose other bytes are checked.
///
/// # Errors
/// [`Status::CorruptData`](crate::Status::CorruptData) if there are fewer bytes than the frame adds, or the error of
/// [`Frame::check`].
pub fn peel(frame: &dyn Frame, encoded: &[u8], call: &Call<'_>) -> Result<Range<usize>> {
    let (leading, trailing) = (frame.leading_size(), frame.trailing_size());
    let payload = usize::try_from(leading).ok().zip(usize::try_from(trailing).ok()).and_then(|(leading, trailing)| {
        let size = encoded.len().checked_sub(leading)?.checked_sub(trailing)?;
        Some(leading..leading + size)
    });
    let payload = payload.ok_or_else(|| {
        Error::corrupt(format!(
            "the chunk has {} bytes, fewer than the {} that this codec adds",
            encoded.len(),
            leading.saturating_add(trailing)
        ))
    })?;
    frame.check(&encoded[payload.clone()], &encoded[..payload.start], &encoded[payload.end..], call)?;
    Ok(payload)
}

/// A checksum of bytes that are copied, in parts.
pub trait RunningChecksum: Debug {
    /// Copies the next bytes, and adds them. Both sides have the same size.
    fn copy(&mut self, source: &[u8], target: &mut [u8]);
    /// The checksum of all bytes so far, as it is stored.
    fn stored(&self) -> [u8; 4];
}

/// A part of the encoded bytes of a chunk.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt<'a> {
    /// The bytes at hand.
    pub bytes: &'a [u8],
    /// Where they begin.
    pub start: usize,
    /// The size of the whole chunk.
    pub size: usize,
}

/// The cells of a box: the parts of it that decode alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxCells {
    /// The box is cut along each dimension at multiples of these sizes.
    pub cell: Vec<u64>,
    /// The encoded bytes that each cell needs, in C order of the cells.
    pub ranges: Vec<Range<usize>>,
}

/// Slabs of a chunk: the elements of a few indices along the slowest dimension that has more than one.
#[derive(Debug, Clone)]
pub struct Slabs {
    /// The bytes of a slab. The last one of the chunk may have fewer.
    pub size: usize,
    /// The bytes of the whole chunk.
    pub decoded_size: usize,
    /// Those that are wanted, counted from the beginning of the chunk.
    pub numbers: Range<usize>,
}

impl Slabs {
    /// The bytes of one of them in the decoded chunk.
    pub fn range(&self, number: usize) -> Range<usize> {
        let start = number * self.size;
        start..self.decoded_size.min(start.saturating_add(self.size))
    }

    /// The numbers of the wanted slabs, in at most `count` runs.
    pub fn runs(&self, count: NonZeroUsize) -> impl Iterator<Item = Range<usize>> + use<> {
        let end = self.numbers.end;
        let run_size = self.numbers.len().div_ceil(count.get()).max(1);
        self.numbers.clone().step_by(run_size).map(move |first| first..end.min(first + run_size))
    }
}

/// Fills memory with the bytes of the slab of this number. Several threads may call it at once.
pub type GetSlab<'a> = dyn Fn(usize, &mut [u8]) -> Result<()> + Sync + 'a;

/// Takes the number of a slab and its bytes. Several threads may call it at once, with different slabs.
pub type PutSlab<'a> = dyn Fn(usize, &[u8]) -> Result<()> + Sync + 'a;

/// A pass over a whole chunk, from one buffer to another.
pub trait Transform: Debug + Send + Sync {
    /// Encodes `decoded` into the beginning of `encoded`; returns the size of what was written.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`] by [`too_small`] if `encoded` cannot hold it, or what is wrong with the data.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize>;
    /// Decodes `encoded` into the beginning of `decoded`; returns the size of what was written.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`] by [`too_small`] if `decoded` cannot hold it, or why `encoded` is corrupt.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize>;
    /// The same for callers that do not need to know how much does not fit: decoding ends where `decoded` is full, and
    /// the rest takes no time or memory. The error may still have the capacity that is needed, if the bytes state it.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_fitting(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        self.decode(encoded, decoded, call)
    }
    /// Refuses more bytes than the format can hold.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported).
    fn check_decoded_size(&self, _decoded_size: u64) -> Result<()> {
        Ok(())
    }
    /// A capacity that suffices for encoding this many bytes; `None` if it exceeds 64 bits, or if no bound is
    /// [known](Self::has_encoded_bound).
    fn encoded_bound(&self, decoded_size: u64) -> Option<u64>;
    /// Whether a bound on the encoded size is known. If not, encoding is tried with larger and larger buffers.
    fn has_encoded_bound(&self, _decoded_size: u64) -> bool {
        true
    }
    /// The codecs that it applies itself, each in [the call inside](Call::inside) its own, and the member of the
    /// configuration that holds them.
    fn inner_codecs(&self) -> Option<(&'static str, &BoundCodecs)> {
        None
    }
    /// Into how many parts the work on a chunk is divided at most, if there are as many workers.
    fn part_count(&self, _direction: Direction) -> u64 {
        1
    }
    /// The smallest box of the decoded array that is worth decoding alone with [`decode_box`](Self::decode_box); `None`
    /// if only whole chunks can be decoded.
    fn granularity(&self) -> Option<Vec<u64>> {
        None
    }
    /// Decodes the box that begins at `start` and has this shape: its elements in C order, back to back, fill
    /// `decoded`. Only for a transform with a [`granularity`](Self::granularity).
    ///
    /// # Errors
    /// Why `encoded` is corrupt, as far as it was looked at.
    fn decode_box(
        &self,
        _encoded: Excerpt<'_>,
        _start: &[u64],
        _shape: &[u64],
        _decoded: &mut [u8],
        _call: &mut Call<'_>,
    ) -> Result<()> {
        Err(Error::internal("a transform that decodes no boxes"))
    }
    /// How a box of a chunk of this encoded size can be read in part. `None` if only whole chunks can be read.
    ///
    /// # Errors
    /// Why no encoded chunk has this size.
    fn box_cells(&self, _encoded_size: usize, _start: &[u64], _shape: &[u64]) -> Result<Option<BoxCells>> {
        Ok(None)
    }
    /// Slabs of a chunk of this shape, which has the same elements as the one that it is bound to, have this many indices
    /// along the slowest dimension, or a multiple of that; `None` if it takes no slabs of it.
    fn slab_thickness(&self, _shape: &[u64]) -> Option<usize> {
        None
    }
    /// Encodes a whole chunk, all slabs of it, as [`encode`](Self::encode) does, on the workers of the call. None, before
    /// the first slab, if it encodes no slabs.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), and those of `get`.
    fn encode_slabs(
        &self,
        _slabs: &Slabs,
        _get: &GetSlab<'_>,
        _encoded: &mut [u8],
        _call: &mut Call<'_>,
    ) -> Result<Option<usize>> {
        Ok(None)
    }
    /// Decodes the wanted slabs of a chunk, in any order, on the workers of the call. None, before the first slab, if the
    /// chunk decodes to another size, about which [`decode`](Self::decode) has the message.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), after some of the slabs, and those of `put`.
    fn decode_slabs(
        &self,
        _encoded: &[u8],
        _slabs: &Slabs,
        _put: &PutSlab<'_>,
        _call: &mut Call<'_>,
    ) -> Result<Option<()>> {
        Ok(None)
    }
    /// Whether [`decode_ranges`](Self::decode_ranges) does less than [`decode`](Self::decode).
    fn decodes_ranges(&self) -> bool {
        false
    }
    /// Decodes parts of a chunk that decodes to this many bytes: each part is where it begins among them, and its
    /// place. They come in the order of where they begin. None, before the first is taken, if the chunk must be decoded
    /// whole: also if it has another size, about which [`decode`](Self::decode) has the message.
    ///
    /// # Errors
    /// Why `encoded` is corrupt, as far as it was looked at.
    fn decode_ranges(
        &self,
        _encoded: &[u8],
        _decoded_size: usize,
        _parts: &mut dyn Iterator<Item = (usize, &mut [u8])>,
        _call: &mut Call<'_>,
    ) -> Result<Option<()>> {
        Ok(None)
    }
}

/// The error of a transform whose output does not fit; the chain knows the sizes for the message.
pub fn too_small() -> Error {
    Error::new(Status::BufferTooSmall, "the output does not fit")
}

/// The code of the error of a codec of the host that asks for more room again and again.
pub const ASKS_FOR_MORE: &str = "asks_for_more";

/// The slack of sizes that are not known exactly.
const SLACK: u64 = 64 << 10;

/// The most bytes that a stream between two codecs may decode to, if ours would have this bound. Other writers may
/// compress worse than we do.
pub fn intermediate_limit(bound: u64) -> u64 {
    bound.saturating_mul(2).saturating_add(SLACK)
}

/// A capacity to try first for what a stream of this size decodes to, if that is at most `limit`.
pub fn decoded_guess(encoded_size: usize, limit: u64) -> u64 {
    (encoded_size as u64).saturating_mul(4).saturating_add(SLACK).min(limit)
}
