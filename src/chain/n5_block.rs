//! A block of N5: a header that states its shape, and elements, which a chain of their own codes. N5 specification
//! 4.0.0, "Chunks": mode and rank (16 bits), then each size (32 bits), all in big-endian order.

use super::Chain;
use super::boxes::StepOutput;
use super::boxes::region::Region;
use super::encode::with_frames;
use super::input::Decoded;
use super::plan::{Elements, Operation, Step};
use crate::error::{Error, Result, Status};
use crate::interface::{BoundN5Block, CallOptions, too_small};
use crate::strided::{self, Target};
use std::ops::Range;
use std::sync::Arc;

/// A bound block and the chain that does its work.
#[derive(Debug, Clone)]
pub(super) struct N5Block {
    bound: Arc<BoundN5Block>,
    pub(super) inner: Chain,
}

impl N5Block {
    pub(super) fn new(bound: &Arc<BoundN5Block>, inner: Chain) -> Self {
        Self { bound: Arc::clone(bound), inner }
    }

    /// Encodes a block of the shape of the chunk into the beginning of `encoded`.
    pub(super) fn encode(&self, decoded: &Decoded<'_>, encoded: &mut [u8], options: &CallOptions) -> Result<usize> {
        let (header_size, capacity) = (self.bound.header_size(), encoded.len());
        let has_room = header_size <= capacity;
        if !has_room && self.inner.decoded_size().is_none_or(|size| self.inner.has_encoded_bound(size)) {
            return Err(too_small());
        }
        // Without room and without a bound, encoding the elements tells what they need.
        let (header, payload) = if has_room { encoded.split_at_mut(header_size) } else { Default::default() };
        let shape = self.inner.shape()?;
        let numbers = std::iter::once(shape.len() as u32).chain(shape.iter().map(|size| *size as u32));
        header.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(bytes, number)| *bytes = number.to_be_bytes());
        let result = self.inner.encode_chunk(decoded.clone(), payload, options);
        match result {
            Ok(size) if has_room => Ok(header_size + size),
            Ok(size) => Err(Error::buffer_too_small("encoded_capacity", capacity, (header_size + size) as u64)),
            Err(error) if error.needed_capacity().is_some() => Err(with_frames(error, capacity, header_size as u64)),
            Err(error) => Err(in_codecs(error)),
        }
    }

    /// Decodes a box of the chunk; elements outside the block are the fill value.
    pub(super) fn decode(
        &self,
        encoded: &[u8],
        region: &Region,
        target: &mut Target<'_>,
        options: &CallOptions,
    ) -> Result<()> {
        let (shape, payload) = self.read_header(encoded)?;
        let Some((common, mut target)) = self.fill_outside(&shape, region, target)? else {
            return if shape.contains(&0) { self.check_empty(&shape, payload, options) } else { Ok(()) };
        };
        let decode = |chain: &Chain, target| chain.decode_region(payload, &common, target, options).map_err(in_codecs);
        if self.inner.shape()? == shape {
            return decode(&self.inner, &mut target);
        }
        decode(&self.inner.with_shape(&shape).map_err(refused)?, &mut target)
    }

    /// Checks the payload of a block without elements, as if it were decoded.
    fn check_empty(&self, shape: &[u64], payload: &[u8], options: &CallOptions) -> Result<()> {
        let block = self.inner.with_shape(shape).map_err(refused)?;
        block.decode_into(payload, &mut [], options).map(drop).map_err(in_codecs)
    }

    /// The size of the header in bytes.
    pub(super) fn header_size(&self) -> u64 {
        self.bound.header_size() as u64
    }

    /// Whether a part of the elements decodes by itself.
    pub(super) fn decodes_parts(&self) -> bool {
        elements_of(&self.inner).is_some()
    }

    /// The chain of the elements of the block that has this header.
    pub(super) fn elements_chain(&self, header: &[u8]) -> Result<Chain> {
        let (shape, _) = self.read_header(header)?;
        if self.inner.shape()? == shape {
            return Ok(self.inner.clone());
        }
        self.inner.with_shape(&shape).map_err(refused)
    }

    /// What a box of the chunk needs of the bytes after the header, of which there are `size` if that is known:
    /// the number of elements before, and the bytes. `None` if it is outside the block. `block` is the chain of the
    /// elements.
    pub(super) fn span(&self, block: &Chain, region: &Region, size: Option<u64>) -> Result<Option<(u64, Range<u64>)>> {
        let common = common(block.shape()?, region);
        if !common.is_empty() || block.shape()?.contains(&0) {
            block.check_object_size(size).map_err(in_codecs)?;
        }
        if common.is_empty() {
            return Ok(None);
        }
        let (step, elements) = elements_of(block).ok_or_else(no_elements)?;
        let ((first, span), lead) = (elements.span(&common), step.leading_size().unwrap_or(0));
        Ok(Some((first, span.start + lead..span.end + lead)))
    }

    /// The same as [`decode`](Self::decode) from what [`span`](Self::span) says.
    pub(super) fn decode_part(
        &self,
        block: &Chain,
        output: StepOutput<'_>,
        region: &Region,
        target: &mut Target<'_>,
        options: &CallOptions,
    ) -> Result<()> {
        let Some((common, mut target)) = self.fill_outside(block.shape()?, region, target)? else { return Ok(()) };
        let (step, _) = elements_of(block).ok_or_else(no_elements)?;
        let decoded = block
            .run(options, |run, workspace| run.decode_box(step, output, &common, &mut target, &mut workspace.contexts));
        decoded.map_err(in_codecs)
    }

    /// Fills the target of a box if some of it is outside a block of this shape. Returns what is inside, and its target;
    /// `None` if there is nothing.
    fn fill_outside<'t>(
        &self,
        shape: &[u64],
        region: &Region,
        target: &'t mut Target<'_>,
    ) -> Result<Option<(Region, Target<'t>)>> {
        let common = common(shape, region);
        if common.shape != region.shape {
            let Ok(fill_value) = self.inner.fill_value() else {
                let message = format!(
                    "the block has the shape {shape:?}, but the chain has no fill value for the rest of the chunk"
                );
                return Err(Error::unsupported(message).with_code("no_fill_value"));
            };
            strided::fill(target, fill_value)?;
        }
        if common.is_empty() {
            return Ok(None);
        }
        let inside = target.region(&vec![0; shape.len()], &common.shape)?;
        Ok(Some((common, inside)))
    }

    /// The shape of a block, and its bytes after the header.
    fn read_header<'a>(&self, encoded: &'a [u8]) -> Result<(Vec<u64>, &'a [u8])> {
        let size = self.bound.header_size();
        let short = || Error::corrupt(format!("the block has {} bytes, but its header takes {size}", encoded.len()));
        let [mode_high, mode_low, rank_high, rank_low, ..] = *encoded else { return Err(short()) };
        let mode = u16::from_be_bytes([mode_high, mode_low]);
        if mode != 0 {
            return Err(Error::unsupported(format!("the block has the mode {mode}: only 0, default, is supported")));
        }
        let rank = u16::from_be_bytes([rank_high, rank_low]);
        let largest = &self.bound.largest_shape;
        if usize::from(rank) != largest.len() {
            return Err(Error::corrupt(format!(
                "the block has {rank} dimensions, but the chunk has {}",
                largest.len()
            )));
        }
        let (header, payload) = encoded.split_at_checked(size).ok_or_else(short)?;
        let sizes = header[4..].as_chunks().0;
        let shape: Vec<u64> = sizes.iter().map(|bytes| u32::from_be_bytes(*bytes).into()).collect();
        if shape.iter().zip(largest).any(|(size, largest)| size > largest) {
            return Err(Error::corrupt(format!(
                "the block has the shape {shape:?}, but chunks have at most {largest:?}"
            )));
        }
        let (count, most) = (shape.iter().fold(1, |count, size| size.saturating_mul(count)), self.bound.largest_count);
        if count > most {
            return Err(Error::corrupt(format!(
                "the block has the shape {shape:?}, but chunks have at most {most} elements"
            )));
        }
        Ok((shape, payload))
    }
}

/// The part of a box that is inside a block of this shape.
fn common(shape: &[u64], region: &Region) -> Region {
    let ends = region.start.iter().zip(&region.shape).map(|(start, size)| start + size);
    let sizes = ends.zip(&region.start).zip(shape);
    Region {
        start: region.start.clone(),
        shape: sizes.map(|((end, start), size)| end.min(*size).saturating_sub(*start)).collect(),
    }
}

/// The only step of a chain of elements, if a part of its output decodes by itself.
fn elements_of(chain: &Chain) -> Option<(&Step, &Elements)> {
    match chain.plan.steps.as_slice() {
        [step @ Step { operation: Operation::Elements(elements), .. }] if !chain.checks_frames(step) => {
            Some((step, elements))
        }
        _ => None,
    }
}

fn no_elements() -> Error {
    Error::internal("a block whose elements do not decode in part")
}

/// A codec of the host may refuse the shape of a block: the metadata of the chunk is valid.
fn refused(error: Error) -> Error {
    let error = in_codecs(error);
    if error.status() == Status::InvalidMetadata { error.with_status(Status::CorruptData) } else { error }
}

fn in_codecs(error: Error) -> Error {
    if error.status() == Status::BufferTooSmall {
        return error;
    }
    error.in_list(BoundN5Block::INNER_LIST).at_element(None)
}
