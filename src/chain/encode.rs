//! Encoding: one chunk through the steps of a plan, in their order.

use super::boxes::region::Region;
use super::input::{Decoded, not_by_parts};
use super::plan::{Operation, Step};
use super::run::{Output, Run, more_than};
use super::workspace::Workspace;
use crate::error::{CodecPlace, Error, Result, Status};
use crate::interface::{Call, Contexts, Frame, Transform, too_small};
use crate::memory::{grow, grow_until};
use std::ops::Range;
use std::sync::Arc;

/// If no bound is known, the first try has 9/8 of the input's size and this many bytes more.
const UNKNOWN_SLACK: u64 = 1 << 10;

impl Run<'_> {
    /// Encodes; returns the size. [`Status::BufferTooSmall`] has a capacity that suffices, or twice the capacity if the
    /// codec does not know one.
    pub(super) fn encode(&self, decoded: Decoded<'_>, encoded: Output<'_>, workspace: &mut Workspace) -> Result<usize> {
        let arranged = self.plan.arranged(&decoded)?;
        let (first, input) = arranged.as_ref().map_or((0, &decoded), |(first, input)| (*first, input));
        match self.encode_steps(&self.plan.steps[first..], input, encoded, workspace) {
            Err(error) if matches!(input, Decoded::BeforePass(..)) => {
                Err(self.fault_before(first, &decoded, error, workspace))
            }
            result => result,
        }
    }

    /// The error of a chunk whose elements go through the first steps by inner chunks or slabs, as of one step after the
    /// other: that of the first element at fault, if there is one, whatever has failed first.
    #[cold]
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn fault_before(&self, end: usize, decoded: &Decoded<'_>, error: Error, workspace: &mut Workspace) -> Error {
        if error.is_of_no_codec() {
            return error;
        }
        let output = Output::Growing(&mut Vec::new());
        self.encode_steps(&self.plan.steps[..end], decoded, output, workspace).err().unwrap_or(error)
    }

    #[inline(always)] // a frame less for each shard in a shard
    fn encode_steps(
        &self,
        steps: &[Step],
        input: &Decoded<'_>,
        encoded: Output<'_>,
        workspace: &mut Workspace,
    ) -> Result<usize> {
        let Workspace { front, back, gathered, contexts } = workspace;
        let (mut front, mut back) = (front, back);
        let [steps @ .., last] = steps else {
            return Err(Error::internal("a plan has no steps"));
        };
        let mut between;
        let mut input = input;
        for step in steps {
            if step.is_copy() && matches!(input, Decoded::Slice(_)) {
                continue;
            }
            let size = self.encode_growing(step, input, back, gathered, contexts)?;
            std::mem::swap(&mut front, &mut back);
            between = Decoded::Slice(&front[..size]);
            input = &between;
        }
        let encoded = match encoded {
            Output::Growing(encoded) => return self.encode_growing(last, input, encoded, gathered, contexts),
            Output::Slice(encoded) => encoded,
        };
        // The output of a compressor must not depend on the capacity.
        let (capacity, bound) = (encoded.len(), self.bound_of(last, input)?);
        let room = bound.map_or(capacity, |bound| bound.min(capacity));
        match self.encode_step(last, input, &mut encoded[..room], gathered, contexts) {
            Err(error) if error.status() == Status::BufferTooSmall => {
                let needed = error.needed_capacity().or(bound).unwrap_or_else(|| more_than(capacity));
                Err(Error::buffer_too_small("encoded_capacity", capacity, needed as u64))
            }
            result => result,
        }
    }

    /// Encodes into memory of the size of the bound; if there is none, the memory grows as needed.
    fn encode_growing(
        &self,
        step: &Step,
        input: &Decoded<'_>,
        output: &mut Vec<u8>,
        gathered: &mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<usize> {
        if let Some(bound) = self.bound_of(step, input)? {
            grow(output, bound)?;
            return self.encode_step(step, input, &mut output[..bound], gathered, contexts);
        }
        let size = self.size_of(step, input);
        let frames_size = step.frames_size().ok_or_else(Error::out_of_memory)?;
        let guess = size.saturating_add(size / 8).saturating_add(UNKNOWN_SLACK);
        let capacity = guess.saturating_add(frames_size);
        grow_until(output, capacity, u64::MAX, |output| self.encode_step(step, input, output, gathered, contexts))
    }

    /// A bound on the output of this step; `None` if none is known in advance.
    fn bound_of(&self, step: &Step, input: &Decoded<'_>) -> Result<Option<usize>> {
        let size = self.size_of(step, input);
        match step.encoded_bound(size) {
            None if !step.has_bound(size) => Ok(None),
            bound => bound.and_then(|bound| usize::try_from(bound).ok()).map(Some).ok_or_else(Error::out_of_memory),
        }
    }

    fn size_of(&self, step: &Step, decoded: &Decoded<'_>) -> u64 {
        match decoded {
            Decoded::Slice(bytes) => bytes.len() as u64,
            Decoded::Input(_) | Decoded::BeforePass(..) => step.decoded.size().size_when_written().unwrap_or(0),
        }
    }

    fn encode_step(
        &self,
        step: &Step,
        input: &Decoded<'_>,
        output: &mut [u8],
        gathered: &mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<usize> {
        let (leading, trailing) = step.frame_sizes().ok_or_else(too_small)?;
        let (Ok(leading), Ok(trailing)) = (usize::try_from(leading), usize::try_from(trailing)) else {
            return Err(too_small());
        };
        let Some(room) = output.len().checked_sub(trailing).filter(|end| *end >= leading) else {
            return Err(self.lacks_room_for_frames(step, input, output.len(), gathered, contexts)?);
        };
        if let Some(summed) = self.encode_summed(step, input, output, leading..room)? {
            return self.write_frames(&step.frames[1..], output, summed, contexts);
        }
        let result = self.encode_pass(step, input, &mut output[leading..room], gathered, contexts);
        let size = result.map_err(|error| with_frames(error, output.len(), (leading + trailing) as u64))?;
        self.write_frames(&step.frames, output, leading..leading + size, contexts)
    }

    /// The error where not even the frames of a step fit: with the capacity that is needed, if the pass alone knows it.
    fn lacks_room_for_frames(
        &self,
        step: &Step,
        input: &Decoded<'_>,
        capacity: usize,
        gathered: &mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<Error> {
        if self.bound_of(step, input)?.is_some() {
            return Ok(too_small());
        }
        let frames_size = step.frames_size().ok_or_else(too_small)?;
        let error = match self.encode_pass(step, input, &mut [], gathered, contexts) {
            Ok(size) => Error::buffer_too_small("encoded_capacity", capacity, size as u64),
            Err(error) => error,
        };
        Ok(with_frames(error, capacity, frames_size))
    }

    /// Writes frames around a payload, innermost first. Returns the end of the outermost one.
    fn write_frames(
        &self,
        frames: &[(CodecPlace, Arc<dyn Frame>)],
        output: &mut [u8],
        mut payload: Range<usize>,
        contexts: &mut Contexts,
    ) -> Result<usize> {
        for (codec, frame) in frames {
            let (before, after) = (frame.leading_size() as usize, frame.trailing_size() as usize);
            let outer = payload.start - before..payload.end + after;
            let (before, rest) = output[outer.clone()].split_at_mut(before);
            let (chunk, after) = rest.split_at_mut(payload.len());
            let call = self.call(Some(codec), contexts);
            frame.write(chunk, before, after, &call).map_err(|error| codec.blame(error))?;
            payload = outer;
        }
        Ok(payload.end)
    }

    fn encode_pass(
        &self,
        step: &Step,
        input: &Decoded<'_>,
        output: &mut [u8],
        gathered: &mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<usize> {
        let call = &mut self.call(Some(step.decoding_codec()), contexts);
        match &step.operation {
            Operation::Copy => {
                let bytes = match input {
                    Decoded::Slice(bytes) => bytes,
                    Decoded::Input(input) => input.to_slice(gathered, self.options)?,
                    Decoded::BeforePass(..) => return Err(not_by_parts()),
                };
                crate::memory::copy(bytes, output.get_mut(..bytes.len()).ok_or_else(too_small)?);
                Ok(bytes.len())
            }
            Operation::Elements(elements) => elements.encode(input, output, call),
            Operation::N5Block(codec, block) => {
                block.encode(input, output, self.options).map_err(|error| codec.blame(error))
            }
            Operation::Shard(codec, shard) => shard.encode(input, output, codec, gathered, call),
            Operation::Transform(codec, transform) => {
                self.encode_by_transform(codec, &**transform, input, output, gathered, call)
            }
        }
    }

    #[inline(never)] // else each shard in a shard takes more of the stack
    fn encode_by_transform(
        &self,
        codec: &CodecPlace,
        transform: &dyn Transform,
        input: &Decoded<'_>,
        output: &mut [u8],
        gathered: &mut Vec<u8>,
        call: &mut Call<'_>,
    ) -> Result<usize> {
        let blame = |error| codec.blame(error);
        if let Some(size) = self.encode_by_slabs(transform, input, output, call).map_err(blame)? {
            return Ok(size);
        }
        let slice = match input {
            Decoded::Slice(bytes) => bytes,
            Decoded::Input(input) => input.to_slice(gathered, self.options)?,
            Decoded::BeforePass(input, pass) => {
                let size = pass.encode_box(input, &Region::whole(&pass.shape), gathered, call)?;
                &gathered[..size]
            }
        };
        transform.encode(slice, output, call).map_err(blame)
    }
}

/// The same error, with this many bytes more in the capacity that is needed.
pub(super) fn with_frames(error: Error, capacity: usize, frames_size: u64) -> Error {
    match error.needed_capacity() {
        Some(needed) => {
            Error::buffer_too_small("encoded_capacity", capacity, (needed as u64).saturating_add(frames_size))
        }
        None => error,
    }
}
