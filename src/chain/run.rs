//! One chunk through the steps of a plan: what both directions share, and decoding; `encode` has the other direction.
//!
//! On encode, each pass writes after the headroom that its frames need, so that pad, offset and checksums never move a
//! chunk; on decode they are peeled off as sub-slices. The last pass writes into the caller's memory, with its strides.

use super::boxes::region::Region;
use super::copy::copy_strided;
use super::elements::Packed;
use super::plan::{Operation, Plan, Step};
use super::workspace::{Pool, Workspace};
use crate::error::{CodecPlace, Error, Result, Status};
use crate::interface::{
    ASKS_FOR_MORE, BoundCodecs, Call, CallOptions, Contexts, Frame, Hooks, decoded_guess, intermediate_limit, peel,
    too_small,
};
use crate::memory::{grow, grow_until};
use crate::representation::ByteSize;
use crate::strided::{Source, Target};
use std::ops::Range;
use std::sync::Arc;

/// The state that the steps of one call share.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) codecs: &'a BoundCodecs,
    pub(super) pool: &'a Pool,
    /// The hooks, by codec.
    pub(super) hooks: &'a [Hooks],
    pub(super) options: &'a CallOptions,
    /// The most bytes that a chunk may decode to.
    pub(super) max_decoded_size: Option<u64>,
}

/// The destination of the last pass.
pub(super) enum Output<'a> {
    /// The caller's memory.
    Slice(&'a mut [u8]),
    /// Memory that grows as needed.
    Growing(&'a mut Vec<u8>),
}

/// How to treat decoded bytes that do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overflow {
    /// They are counted, for a caller who wants to know the capacity that suffices.
    Counted,
    /// They are not used.
    Refused,
}

/// The encoded side of the step that decodes last, without its frames.
pub(super) struct LastDecode<'a> {
    pub(super) step: &'a Step,
    pub(super) payload: &'a [u8],
    pub(super) back: &'a mut Vec<u8>,
    pub(super) contexts: &'a mut Contexts,
}

impl Run<'_> {
    /// Decodes; returns the size.
    pub(super) fn decode(&self, encoded: &[u8], output: Output<'_>, workspace: &mut Workspace) -> Result<usize> {
        if let Some(size) = self.boxed_size() {
            let decoded = match output {
                Output::Slice(decoded) => decoded,
                Output::Growing(decoded) => {
                    if let Some(last) = self.plan.steps.last() {
                        self.check_framed_shard_size(last, encoded, &mut workspace.contexts)?;
                    }
                    grow(decoded, usize::try_from(size).map_err(|_| Error::out_of_memory())?)?;
                    decoded
                }
            };
            return decode_whole(&self.plan.steps[0], decoded, |region, target| {
                self.decode_region(encoded, region, target, workspace)
            });
        }
        let last = self.plan.steps.len() - 1;
        let first = self.plan.steps[..last].iter().take_while(|step| step.is_copy()).count();
        let LastDecode { step, payload, back, contexts } = self.decode_after(first, encoded, workspace)?;
        let mut output = output;
        if let (Output::Slice(decoded), ByteSize::Exact(size)) = (&mut output, step.decoded.size())
            && let Some(size) = self.decode_summed(step, payload, &mut decoded[..size as usize], contexts)?
        {
            return Ok(size);
        }
        let payload = &payload[self.peel(step, payload, contexts)?];
        match (output, step.decoded.size()) {
            (Output::Growing(decoded), _) => self.decode_growing(step, payload, decoded, contexts),
            (Output::Slice(decoded), ByteSize::Exact(size)) => {
                self.decode_exact(step, payload, &mut decoded[..size as usize], contexts)
            }
            (Output::Slice(decoded), _) => {
                let (capacity, limit) = (decoded.len(), self.decoded_limit(step));
                let room = usize::try_from(limit).map_or(capacity, |limit| limit.min(capacity));
                match self.decode_pass(step, payload, &mut decoded[..room], Overflow::Counted, contexts) {
                    Err(error) if error.status() == Status::BufferTooSmall => {
                        let needed = match error.needed_capacity() {
                            Some(needed) if needed as u64 > limit => return Err(self.over_limit(step, limit)),
                            Some(needed) => needed,
                            // More room tells, except where a codec of the host never has enough.
                            None => match self.decode_growing(step, payload, back, contexts) {
                                Err(error) if error.code() == ASKS_FOR_MORE => {
                                    usize::try_from(limit).map_or(usize::MAX, |limit| limit.min(more_than(capacity)))
                                }
                                needed => needed?,
                            },
                        };
                        Err(Error::buffer_too_small("decoded_capacity", capacity, needed as u64))
                    }
                    result => result,
                }
            }
        }
    }

    /// Decodes a box of the array that enters on encode.
    pub(super) fn decode_region(
        &self,
        encoded: &[u8],
        region: &Region,
        target: &mut Target<'_>,
        workspace: &mut Workspace,
    ) -> Result<()> {
        if let Some(done) = self.decode_region_by_route(encoded, region, target, workspace)? {
            return Ok(done);
        }
        self.decode_region_without_route(encoded, region, target, workspace)
    }

    /// The same where no step decodes boxes.
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn decode_region_without_route(
        &self,
        encoded: &[u8],
        region: &Region,
        target: &mut Target<'_>,
        workspace: &mut Workspace,
    ) -> Result<()> {
        if let Some(done) = self.decode_region_by_ranges(encoded, region, target, workspace)? {
            return Ok(done);
        }
        if let Some(done) = self.decode_elements_by_slabs(encoded, region, target, workspace)? {
            return Ok(done);
        }
        let LastDecode { step, payload, back, contexts } = self.decode_to(0, encoded, workspace)?;
        let array = step.decoded.array()?;
        match &step.operation {
            Operation::Elements(elements) => {
                let packed = Packed { bytes: payload, region: Region::whole(&elements.shape), first: 0 };
                elements.decode(&packed, region, target, &mut self.call(None, contexts))
            }
            Operation::N5Block(codec, block) => {
                block.decode(payload, region, target, self.options).map_err(|error| codec.blame(error))
            }
            _ if region.is_whole(array.shape()) && target.is_contiguous() => {
                let decoded = target.as_slice().ok_or_else(|| Error::internal("a contiguous view has no slice"))?;
                self.decode_exact(step, payload, decoded, contexts).map(drop)
            }
            _ => {
                if self.decode_by_slabs(step, payload, region, target, contexts)?.is_some() {
                    return Ok(());
                }
                target.prefetch(); // the lines are there when the decoded elements are
                let size = self.decode_growing(step, payload, back, contexts)?;
                let whole = Source::contiguous(&back[..size], array.data_type().size(), array.shape())?;
                copy_strided(&whole.region(&region.start, &region.shape)?, target, self.options)
            }
        }
    }

    /// Decodes all steps after this one, and removes the frames from the result.
    pub(super) fn decode_to<'a>(
        &'a self,
        index: usize,
        encoded: &'a [u8],
        workspace: &'a mut Workspace,
    ) -> Result<LastDecode<'a>> {
        let last = self.decode_after(index, encoded, workspace)?;
        let payload = &last.payload[self.peel(last.step, last.payload, last.contexts)?];
        Ok(LastDecode { payload, ..last })
    }

    /// Decodes all steps after this one. The result still has its frames.
    fn decode_after<'a>(
        &'a self,
        index: usize,
        encoded: &'a [u8],
        workspace: &'a mut Workspace,
    ) -> Result<LastDecode<'a>> {
        let Workspace { front, back, contexts, .. } = workspace;
        let (mut front, mut back) = (front, back);
        let mut front_size = None;
        for step in self.plan.steps[index + 1..].iter().rev() {
            let input = front_size.map_or(encoded, |size| &front[..size]);
            let payload = &input[self.peel(step, input, contexts)?];
            front_size = Some(self.decode_growing(step, payload, back, contexts)?);
            std::mem::swap(&mut front, &mut back);
        }
        let payload = front_size.map_or(encoded, |size| &front[..size]);
        Ok(LastDecode { step: &self.plan.steps[index], payload, back, contexts })
    }

    /// The bytes without the frames.
    pub(super) fn peel(&self, step: &Step, input: &[u8], contexts: &mut Contexts) -> Result<Range<usize>> {
        let payload = self.peel_frames(&step.frames, input, contexts)?;
        if let ByteSize::Exact(expected) = step.encoded
            && expected != payload.len() as u64
        {
            return Err(step.last_codec.blame(wrong_size(payload.len(), expected)));
        }
        Ok(payload)
    }

    /// Removes frames, outermost first.
    pub(super) fn peel_frames(
        &self,
        frames: &[(CodecPlace, Arc<dyn Frame>)],
        input: &[u8],
        contexts: &mut Contexts,
    ) -> Result<Range<usize>> {
        let mut payload = 0..input.len();
        for (codec, frame) in frames.iter().rev() {
            let call = self.call(Some(codec), contexts);
            let inner = peel(&**frame, &input[payload.clone()], &call).map_err(|error| codec.blame(error))?;
            payload = payload.start + inner.start..payload.start + inner.end;
        }
        Ok(payload)
    }

    fn decode_pass(
        &self,
        step: &Step,
        input: &[u8],
        output: &mut [u8],
        overflow: Overflow,
        contexts: &mut Contexts,
    ) -> Result<usize> {
        let call = &mut self.call(Some(step.decoding_codec()), contexts);
        match &step.operation {
            Operation::Copy => {
                crate::memory::copy(input, output.get_mut(..input.len()).ok_or_else(too_small)?);
                Ok(input.len())
            }
            Operation::Elements(elements) => elements.decode_all(input, output, call),
            Operation::Shard(codec, shard) => decode_whole(step, output, |region, target| {
                shard.decode(input, (region, target), None, codec, self.options)
            }),
            Operation::N5Block(codec, block) => decode_whole(step, output, |region, target| {
                block.decode(input, region, target, self.options).map_err(|error| codec.blame(error))
            }),
            Operation::Transform(codec, transform) => match overflow {
                Overflow::Counted => transform.decode(input, output, call),
                Overflow::Refused => transform.decode_fitting(input, output, call),
            }
            .map_err(|error| codec.blame(error)),
        }
    }

    pub(super) fn decode_exact(
        &self,
        step: &Step,
        input: &[u8],
        output: &mut [u8],
        contexts: &mut Contexts,
    ) -> Result<usize> {
        let expected = output.len();
        let size = match self.decode_pass(step, input, output, Overflow::Refused, contexts) {
            Err(error) if error.status() == Status::BufferTooSmall => {
                return Err(step.decoding_codec().blame(Error::corrupt(format!(
                    "the chunk decodes to more than the {expected} bytes that the metadata gives, or is damaged"
                ))));
            }
            decoded => decoded?,
        };
        if size == expected {
            Ok(size)
        } else {
            Err(step.decoding_codec().blame(wrong_decoded_size(size, expected as u64)))
        }
    }

    /// Decodes into memory that grows with the output, up to what the metadata allows.
    fn decode_growing(
        &self,
        step: &Step,
        input: &[u8],
        output: &mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<usize> {
        if let ByteSize::Exact(expected) = step.decoded.size() {
            self.check_shard_size(step, input.len() as u64)?;
            let size = usize::try_from(expected).map_err(|_| Error::out_of_memory());
            return match size.and_then(|size| grow(output, size).map(|()| size)) {
                Ok(size) => self.decode_exact(step, input, &mut output[..size], contexts),
                Err(_) => self.decode_without_room(step, input, expected, output, contexts),
            };
        }
        let limit = self.decoded_limit(step);
        let guess = match step.operation {
            Operation::Copy => limit.min(input.len() as u64),
            _ => decoded_guess(input.len(), limit),
        };
        grow_until(output, guess, limit, |output| self.decode_pass(step, input, output, Overflow::Refused, contexts))
            .map_err(|error| match error.status() {
                Status::BufferTooSmall => self.over_limit(step, limit),
                _ => error,
            })
    }

    /// Decodes where there is no memory for `expected` bytes: a stream that is damaged, or has fewer bytes, needs less.
    ///
    /// # Errors
    /// What is wrong with the stream, or [`Status::OutOfMemory`].
    fn decode_without_room(
        &self,
        step: &Step,
        input: &[u8],
        expected: u64,
        output: &mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<usize> {
        let size = grow_until(output, decoded_guess(input.len(), expected), expected, |output| {
            self.decode_pass(step, input, output, Overflow::Refused, contexts)
        });
        match size {
            Err(error) if error.status() == Status::BufferTooSmall => Err(Error::out_of_memory()),
            Ok(size) if size as u64 != expected => Err(step.decoding_codec().blame(wrong_decoded_size(size, expected))),
            size => size,
        }
    }

    /// Checks, before there is memory for the array, that a shard of this size can have one.
    fn check_shard_size(&self, step: &Step, size: u64) -> Result<()> {
        let Operation::Shard(codec, shard) = &step.operation else { return Ok(()) };
        shard.check_size(size).map_err(|error| codec.blame(error))
    }

    /// The same for a shard with its frames. Where it is too small, the frames are judged first, as in any other way to
    /// decode it.
    fn check_framed_shard_size(&self, step: &Step, encoded: &[u8], contexts: &mut Contexts) -> Result<()> {
        let payload_size = step.frames_size().map_or(0, |size| (encoded.len() as u64).saturating_sub(size));
        if self.check_shard_size(step, payload_size).is_ok() {
            return Ok(());
        }
        let payload = self.peel(step, encoded, contexts)?;
        self.check_shard_size(step, payload.len() as u64)
    }

    /// The most bytes that a step may decode to.
    fn decoded_limit(&self, step: &Step) -> u64 {
        if let Some(bound) = step.decoded.size().upper_bound() {
            return intermediate_limit(bound);
        }
        let mut before = self.plan.steps.iter().take_while(|other| !std::ptr::eq(*other, step)).peekable();
        let limit = match self.max_decoded_size {
            Some(most) if before.peek().is_none() => Some(most),
            // A codec of the host may have no bound.
            Some(most) => {
                let bound = before.try_fold(most, |size, step| step.encoded_bound(size));
                Some(intermediate_limit(bound.unwrap_or(most)))
            }
            None => None,
        };
        limit.unwrap_or(isize::MAX as u64)
    }

    fn over_limit(&self, step: &Step, limit: u64) -> Error {
        let most = self.max_decoded_size.filter(|_| step.decoded.size().upper_bound().is_none());
        let allowed = match most {
            Some(most) if most == limit => "which is max_decoded_size".to_owned(),
            Some(most) => format!("far more than max_decoded_size, {most}, allows"),
            None => "far more than the metadata allows".to_owned(),
        };
        let error = Error::corrupt(format!("the chunk decodes to more than {limit} bytes, {allowed}"));
        step.decoding_codec().blame(if most.is_some() { error.with_code("max_decoded_size") } else { error })
    }

    /// The call as the pass or the frames of this codec see it.
    pub(super) fn call<'a>(&'a self, codec: Option<&CodecPlace>, contexts: &'a mut Contexts) -> Call<'a> {
        Call { options: self.options, hooks: codec.map(|codec| &self.hooks[codec.index]), contexts }
    }
}

/// Decodes the whole array of a step to the beginning of `output`; returns its size.
fn decode_whole(
    step: &Step,
    output: &mut [u8],
    decode: impl FnOnce(&Region, &mut Target<'_>) -> Result<()>,
) -> Result<usize> {
    let array = step.decoded.array()?;
    let size = usize::try_from(array.size()).map_err(|_| Error::out_of_memory())?;
    let decoded = output.get_mut(..size).ok_or_else(too_small)?;
    let mut target = Target::contiguous(decoded, array.data_type().size(), array.shape())?;
    decode(&Region::whole(array.shape()), &mut target).map(|()| size)
}

/// The capacity to try next if the codec does not say what it needs.
pub(super) fn more_than(capacity: usize) -> usize {
    capacity.saturating_mul(2).max(64)
}

fn wrong_size(size: usize, expected: u64) -> Error {
    Error::corrupt(format!("the chunk has {size} bytes, expected {expected}"))
}

fn wrong_decoded_size(size: usize, expected: u64) -> Error {
    Error::corrupt(format!("the chunk decodes to {size} bytes, expected {expected}"))
}

#[cfg(all(test, target_pointer_width = "32"))]
mod tests {
    use super::*;
    use crate::chain::Chain;
    use serde_json::json;

    /// Its size, 2^32 bytes, would wrap to 0.
    #[test]
    fn a_chunk_of_the_size_of_the_address_space_is_out_of_memory() {
        let (bits, rate) = (json!({"first_bit": 0, "last_bit": 0}), json!({"mode": "fixed_rate", "rate": 1}));
        let packbits = json!({"name": "packbits", "configuration": bits});
        let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
        let one_bit = |codecs| (codecs, json!({"data_type": "uint64", "shape": [2, 1 << 28], "fill_value": 0}));
        for (codecs, input) in [
            one_bit(json!([packbits])),
            one_bit(json!([transpose, packbits])),
            (
                json!([{"name": "zfp", "configuration": rate}]),
                json!({"data_type": "float64", "shape": [1024, 1024, 512], "fill_value": 0}),
            ),
        ] {
            let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
            let error = chain.decode_to_vec(&vec![0; 64 << 20], &CallOptions::default()).unwrap_err();
            assert_eq!(error.status(), Status::OutOfMemory, "{codecs}: {error}");
        }
    }
}
