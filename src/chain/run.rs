//! One chunk through the steps of a plan.
//!
//! Encoding writes each pass behind the headroom that its frames need, so that pad, offset and checksums never move a
//! chunk; decoding peels them off as sub-slices. The last pass writes into the caller's buffer.

use super::CallOptions;
use super::fused::Place;
use super::plan::{Pass, Plan, Step};
use super::representation::ByteSize;
use super::workspace::{Workspace, grow};
use crate::codec::{FrameCall, PaddingHook, TransformCall, too_small};
use crate::error::{Error, Result, Status};
use std::ops::Range;
use std::sync::Arc;

/// What foreign writers may make larger than we would: an intermediate result is refused past twice our own bound and
/// this many bytes.
const INTERMEDIATE_SLACK: usize = 64 << 10;

/// What the steps of one call share.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) hooks: &'a [Option<Arc<dyn PaddingHook>>],
    pub(super) options: &'a CallOptions,
}

/// Where decoded bytes go.
pub(super) enum Output<'a> {
    /// Memory of the caller.
    Slice(&'a mut [u8]),
    /// Memory that grows as far as it must.
    Growing(&'a mut Vec<u8>),
}

/// What the last step of a decode needs.
struct LastDecode<'a> {
    step: &'a Step,
    payload: &'a [u8],
    back: &'a mut Vec<u8>,
    state: &'a mut State,
}

impl Run<'_> {
    /// Encodes into the beginning of `encoded`; returns the size.
    pub(super) fn encode(&self, decoded: &[u8], encoded: &mut [u8], workspace: &mut Workspace) -> Result<usize> {
        let Workspace { front, back, states } = workspace;
        let (mut front, mut back) = (front, back);
        let mut front_size = None;
        let last = self.plan.steps.len() - 1;
        for (step, state) in self.plan.steps[..last].iter().zip(states.iter_mut()) {
            let input = front_size.map_or(decoded, |size| &front[..size]);
            let bound = step.encoded_bound(input.len()).ok_or_else(Error::out_of_memory)?;
            grow(back, bound)?;
            front_size = Some(self.encode_step(step, input, &mut back[..bound], state)?);
            std::mem::swap(&mut front, &mut back);
        }
        let input = front_size.map_or(decoded, |size| &front[..size]);
        self.encode_step(&self.plan.steps[last], input, encoded, &mut states[last])
    }

    fn encode_step(&self, step: &Step, input: &[u8], output: &mut [u8], state: &mut State) -> Result<usize> {
        let (leading, trailing) = step.leading_size().zip(step.trailing_size()).ok_or_else(too_small)?;
        let room = output.len().checked_sub(trailing).filter(|end| *end >= leading).ok_or_else(too_small)?;
        let size = step.pass.encode(input, &mut output[leading..room], &mut self.call(state))?;
        let mut payload = leading..leading + size;
        for (place, frame) in &step.frames {
            let outer = payload.start - frame.leading_size()..payload.end + frame.trailing_size();
            let (before, rest) = output[outer.clone()].split_at_mut(frame.leading_size());
            let (chunk, behind) = rest.split_at_mut(payload.len());
            frame.write(chunk, before, behind, self.frame_call(place)).map_err(|error| place.blame(error))?;
            payload = outer;
        }
        Ok(payload.end)
    }

    /// Decodes; returns the size.
    pub(super) fn decode(&self, encoded: &[u8], output: Output<'_>, workspace: &mut Workspace) -> Result<usize> {
        let LastDecode { step, payload, back, state } = self.decode_to_last(encoded, workspace)?;
        match (output, step.decoded) {
            (Output::Growing(decoded), _) => self.decode_growing(step, payload, decoded, state),
            (Output::Slice(decoded), ByteSize::Exact(size)) => {
                self.decode_exact(step, payload, &mut decoded[..size], state)
            }
            (Output::Slice(decoded), _) => match step.pass.decode(payload, decoded, &mut self.call(state)) {
                Err(error) if error.status() == Status::BufferTooSmall => {
                    let needed = self.decode_growing(step, payload, back, state)?;
                    Err(Error::buffer_too_small("decoded_capacity", decoded.len(), needed))
                }
                result => result,
            },
        }
    }

    /// Decodes the elements from `start` on that `decoded` has room for.
    pub(super) fn decode_elements(
        &self,
        encoded: &[u8],
        start: usize,
        decoded: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<()> {
        let LastDecode { step, payload, state, .. } = self.decode_to_last(encoded, workspace)?;
        match &step.pass {
            Pass::Fused(fused) => fused.decode_elements(payload, start, decoded, &mut self.call(state)),
            Pass::Copy | Pass::Transform(..) => {
                Err(step.last_place.blame(Error::unsupported("this codec decodes only whole chunks")))
            }
        }
    }

    /// Decodes all steps but the last to do, and takes the frames off its input.
    fn decode_to_last<'a>(&'a self, encoded: &'a [u8], workspace: &'a mut Workspace) -> Result<LastDecode<'a>> {
        let Workspace { front, back, states } = workspace;
        let (mut front, mut back) = (front, back);
        let mut front_size = None;
        for (step, state) in self.plan.steps.iter().zip(states.iter_mut()).skip(1).rev() {
            let input = front_size.map_or(encoded, |size| &front[..size]);
            let payload = &input[self.peel(step, input)?];
            front_size = Some(self.decode_growing(step, payload, back, state)?);
            std::mem::swap(&mut front, &mut back);
        }
        let (step, state) = (&self.plan.steps[0], &mut states[0]);
        let input = front_size.map_or(encoded, |size| &front[..size]);
        let payload = &input[self.peel(step, input)?];
        Ok(LastDecode { step, payload, back, state })
    }

    /// What is left when the frames are taken off, outermost first.
    fn peel(&self, step: &Step, input: &[u8]) -> Result<Range<usize>> {
        let mut payload = 0..input.len();
        for (place, frame) in step.frames.iter().rev() {
            let (leading, trailing) = (frame.leading_size(), frame.trailing_size());
            let inner = payload
                .len()
                .checked_sub(leading)
                .and_then(|rest| rest.checked_sub(trailing))
                .map(|size| payload.start + leading..payload.start + leading + size)
                .ok_or_else(|| {
                    place.blame(Error::corrupt(format!(
                        "the chunk has {} bytes, fewer than the {} that this codec has added",
                        payload.len(),
                        leading.saturating_add(trailing)
                    )))
                })?;
            let (before, behind) = (&input[payload.start..inner.start], &input[inner.end..payload.end]);
            frame
                .check(&input[inner.clone()], before, behind, self.frame_call(place))
                .map_err(|error| place.blame(error))?;
            payload = inner;
        }
        if let ByteSize::Exact(expected) = step.encoded
            && expected != payload.len()
        {
            return Err(step.last_place.blame(wrong_size(payload.len(), expected)));
        }
        Ok(payload)
    }

    fn decode_exact(&self, step: &Step, input: &[u8], output: &mut [u8], state: &mut State) -> Result<usize> {
        let expected = output.len();
        let decoded = step.pass.decode(input, output, &mut self.call(state));
        let size = match decoded {
            Err(error) if error.status() == Status::BufferTooSmall => {
                return Err(step.last_place.blame(Error::corrupt(format!(
                    "the chunk decodes to more than the {expected} bytes that the metadata says"
                ))));
            }
            decoded => decoded?,
        };
        if size == expected { Ok(size) } else { Err(step.last_place.blame(wrong_decoded_size(size, expected))) }
    }

    /// Decodes into memory that grows with what really comes out, up to what the metadata allows.
    fn decode_growing(&self, step: &Step, input: &[u8], output: &mut Vec<u8>, state: &mut State) -> Result<usize> {
        let limit = match step.decoded {
            ByteSize::Exact(size) => {
                grow(output, size)?;
                return self.decode_exact(step, input, &mut output[..size], state);
            }
            ByteSize::Written(size) | ByteSize::Bound(size) => {
                size.saturating_mul(2).saturating_add(INTERMEDIATE_SLACK)
            }
            ByteSize::Unknown => isize::MAX as usize,
        };
        let mut capacity = input.len().saturating_mul(4).saturating_add(INTERMEDIATE_SLACK).min(limit);
        loop {
            grow(output, capacity)?;
            match step.pass.decode(input, &mut output[..capacity], &mut self.call(state)) {
                Err(error) if error.status() == Status::BufferTooSmall && capacity < limit => {
                    capacity = capacity.saturating_mul(2).min(limit);
                }
                Err(error) if error.status() == Status::BufferTooSmall => {
                    return Err(step.last_place.blame(Error::corrupt(format!(
                        "the chunk decodes to more than {limit} bytes, far more than the metadata allows"
                    ))));
                }
                result => return result,
            }
        }
    }

    fn call<'a>(&self, state: &'a mut State) -> TransformCall<'a> {
        TransformCall { max_threads: self.options.max_threads, state }
    }

    fn frame_call(&self, place: &Place) -> FrameCall<'_> {
        FrameCall { hook: self.hooks[place.index].as_deref(), call_data: self.options.call_data }
    }
}

type State = Option<Box<dyn std::any::Any + Send>>;

fn wrong_size(size: usize, expected: usize) -> Error {
    Error::corrupt(format!("the chunk has {size} bytes, expected {expected}"))
}

fn wrong_decoded_size(size: usize, expected: usize) -> Error {
    Error::corrupt(format!("the chunk decodes to {size} bytes, expected {expected}"))
}
