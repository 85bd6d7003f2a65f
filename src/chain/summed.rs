//! Payloads that are only copied, and summed by their innermost frame: in one pass.

use super::input::Decoded;
use super::plan::Step;
use super::run::Run;
use crate::error::Result;
use crate::interface::{Contexts, too_small};
use std::ops::Range;

/// Payloads up to this size are not worth the effort.
const SMALL_SIZE: usize = 8192;

impl Run<'_> {
    /// Copies the payload and writes its checksum after it, in one pass; returns the range of both. `None` if the
    /// innermost frame is no checksum, or the payload is small.
    pub(super) fn encode_summed(
        &self,
        step: &Step,
        input: &Decoded<'_>,
        output: &mut [u8],
        room: Range<usize>,
    ) -> Result<Option<Range<usize>>> {
        let bytes = match input {
            Decoded::Slice(bytes) => Some(*bytes),
            Decoded::Input(input) => input.as_slice(),
            Decoded::BeforePass(..) => None,
        };
        let Some(bytes) = bytes.filter(|bytes| bytes.len() > SMALL_SIZE) else { return Ok(None) };
        let Some((_, _, mut sum)) = step.summing_frame() else { return Ok(None) };
        let end = room.start + bytes.len();
        if end > room.end {
            return Err(too_small());
        }
        sum.copy(bytes, &mut output[room.start..end]);
        let stored = sum.stored();
        output[end..end + stored.len()].copy_from_slice(&stored);
        Ok(Some(room.start..end + stored.len()))
    }

    /// Copies the payload and checks its checksum, in one pass; returns the size. `None` as in
    /// [`encode_summed`](Self::encode_summed).
    pub(super) fn decode_summed(
        &self,
        step: &Step,
        input: &[u8],
        decoded: &mut [u8],
        contexts: &mut Contexts,
    ) -> Result<Option<usize>> {
        let has_size =
            || step.frames_size().and_then(|size| size.checked_add(decoded.len() as u64)) == Some(input.len() as u64);
        if decoded.len() <= SMALL_SIZE || !has_size() {
            return Ok(None);
        }
        let Some((codec, frame, mut sum)) = step.summing_frame() else { return Ok(None) };
        let framed = &input[self.peel_frames(&step.frames[1..], input, contexts)?];
        let (payload, stored) = framed.split_at(decoded.len());
        sum.copy(payload, decoded);
        if stored != sum.stored() {
            let call = self.call(Some(codec), contexts);
            frame.check(payload, &[], stored, &call).map_err(|error| codec.blame(error))?;
        }
        Ok(Some(decoded.len()))
    }
}
