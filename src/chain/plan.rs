//! What has to be done, and in which order: passes over the chunk, each with the frames around its output.

use super::fused::{Fused, Place};
use super::representation::{ByteSize, Representation};
use super::resolve::{Bound, Resolved};
use crate::codec::{BoundArrayToArray, BoundArrayToBytes, BoundBytesToBytes, Frame, Transform, TransformCall};
use crate::error::Result;
use std::sync::Arc;

/// The steps in encode order; at least one.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
}

/// One pass over the chunk and the frames around its output.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) pass: Pass,
    /// The codec that meets the encoded bytes first when this step decodes.
    pub(super) last_place: Place,
    /// What enters on encode.
    pub(super) decoded: ByteSize,
    /// What the pass makes of it, without the frames.
    pub(super) encoded: ByteSize,
    /// Innermost first.
    pub(super) frames: Vec<(Place, Arc<dyn Frame>)>,
}

#[derive(Debug)]
pub(super) enum Pass {
    Copy,
    Fused(Fused),
    Transform(Place, Arc<dyn Transform>),
}

impl Plan {
    pub(super) fn new(resolved: &Resolved) -> Self {
        let mut plan = Self { steps: Vec::new() };
        for (index, bound) in resolved.bound.iter().enumerate() {
            let place = Place { index, name: Arc::clone(&resolved.codecs[index].name) };
            plan.add(place, bound, &resolved.representations[index], resolved.representations[index + 1].size());
        }
        if plan.steps.is_empty() {
            let place = Place { index: 0, name: Arc::clone(&resolved.codecs[0].name) };
            plan.copy(place, resolved.representations[0].size());
        }
        plan.leave_out_copies();
        plan
    }

    fn add(&mut self, place: Place, bound: &Bound, decoded: &Representation, encoded: ByteSize) {
        match (bound, decoded) {
            (Bound::Ignored, _) => {}
            (Bound::ArrayToArray(BoundArrayToArray::View { .. }), Representation::Array(_)) => {
                self.fused(place, decoded);
            }
            (Bound::ArrayToArray(BoundArrayToArray::Elementwise { stages, .. }), Representation::Array(_)) => {
                let fused = self.fused(place.clone(), decoded);
                for (stage, data_type) in stages {
                    fused.push(place.clone(), Arc::clone(stage), 8 * data_type.size());
                }
                self.update_encoded();
            }
            (Bound::ArrayToBytes(BoundArrayToBytes::Elementwise { stage, encoded_bits, padding_count }), _) => {
                let fused = self.fused(place.clone(), decoded);
                fused.push(place, Arc::clone(stage), *encoded_bits);
                fused.set_padding_count(*padding_count);
                self.update_encoded();
            }
            (Bound::BytesToBytes(BoundBytesToBytes::Frame(frame)), _) => {
                if self.steps.is_empty() {
                    self.copy(place.clone(), decoded.size());
                }
                if let Some(step) = self.steps.last_mut() {
                    step.frames.push((place, Arc::clone(frame)));
                }
            }
            (Bound::ArrayToArray(BoundArrayToArray::Transform { transform, .. }), _)
            | (Bound::ArrayToBytes(BoundArrayToBytes::Transform { transform, .. }), _)
            | (Bound::BytesToBytes(BoundBytesToBytes::Transform { transform, .. }), _) => self.steps.push(Step {
                pass: Pass::Transform(place.clone(), Arc::clone(transform)),
                last_place: place,
                decoded: decoded.size(),
                encoded,
                frames: Vec::new(),
            }),
            // Binding gives an array codec an array.
            (Bound::ArrayToArray(_), Representation::Bytes(_)) => {}
        }
    }

    fn copy(&mut self, place: Place, size: ByteSize) {
        self.steps.push(Step { pass: Pass::Copy, last_place: place, decoded: size, encoded: size, frames: Vec::new() });
    }

    /// The elementwise pass that the next stage joins.
    fn fused(&mut self, place: Place, decoded: &Representation) -> &mut Fused {
        let is_open = self.steps.last().is_some_and(|step| matches!(step.pass, Pass::Fused(_)));
        if !is_open {
            let (element_count, bits) = match decoded {
                Representation::Array(array) => (array.element_count(), 8 * array.data_type().size()),
                Representation::Bytes(_) => (0, 8),
            };
            self.steps.push(Step {
                pass: Pass::Fused(Fused::new(element_count, bits)),
                last_place: place.clone(),
                decoded: decoded.size(),
                encoded: decoded.size(),
                frames: Vec::new(),
            });
        }
        let last = self.steps.len() - 1;
        self.steps[last].last_place = place;
        match &mut self.steps[last].pass {
            Pass::Fused(fused) => fused,
            Pass::Copy | Pass::Transform(..) => unreachable!("an elementwise pass is open"),
        }
    }

    fn update_encoded(&mut self) {
        if let Some(Step { pass: Pass::Fused(fused), encoded, .. }) = self.steps.last_mut() {
            *encoded = ByteSize::Exact(fused.encoded_size());
        }
    }

    /// A pass that copies is left out where another pass can take its frames, or it has none.
    fn leave_out_copies(&mut self) {
        let mut index = 0;
        while index < self.steps.len() && self.steps.len() > 1 {
            let is_copy = matches!(&self.steps[index].pass, Pass::Fused(fused) if fused.is_copy());
            if is_copy && index > 0 && self.steps[index - 1].frames.is_empty() {
                let copy = self.steps.remove(index);
                let before = &mut self.steps[index - 1];
                before.frames = copy.frames;
                before.last_place = copy.last_place;
            } else if is_copy && index == 0 && self.steps[index].frames.is_empty() {
                self.steps.remove(index);
            } else {
                index += 1;
            }
        }
    }
}

impl Step {
    pub(super) fn leading_size(&self) -> Option<usize> {
        self.frames.iter().try_fold(0_usize, |size, (_, frame)| size.checked_add(frame.leading_size()))
    }

    pub(super) fn trailing_size(&self) -> Option<usize> {
        self.frames.iter().try_fold(0_usize, |size, (_, frame)| size.checked_add(frame.trailing_size()))
    }

    /// A capacity that is enough to encode this many bytes, frames included; none if no memory can hold it.
    pub(super) fn encoded_bound(&self, decoded_size: usize) -> Option<usize> {
        self.pass_bound(decoded_size)?
            .checked_add(self.leading_size()?)?
            .checked_add(self.trailing_size()?)
            .filter(|bound| isize::try_from(*bound).is_ok())
    }

    fn pass_bound(&self, decoded_size: usize) -> Option<usize> {
        match &self.pass {
            Pass::Copy => Some(decoded_size),
            Pass::Fused(fused) => Some(fused.encoded_size()),
            Pass::Transform(_, transform) => match self.encoded {
                ByteSize::Exact(size) | ByteSize::Written(size) => Some(size),
                ByteSize::Bound(_) | ByteSize::Unknown => transform.encoded_bound(decoded_size),
            },
        }
    }

    /// Whether the size of the output follows from the size of the input.
    pub(super) fn has_fixed_size(&self) -> bool {
        match &self.pass {
            Pass::Copy | Pass::Fused(_) => true,
            Pass::Transform(..) => self.encoded.exact().is_some(),
        }
    }
}

impl Pass {
    pub(super) fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize> {
        match self {
            Self::Copy => copy(decoded, encoded),
            Self::Fused(fused) => fused.encode(decoded, encoded, call),
            Self::Transform(place, transform) => {
                transform.encode(decoded, encoded, call).map_err(|error| place.blame(error))
            }
        }
    }

    pub(super) fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize> {
        match self {
            Self::Copy => copy(encoded, decoded),
            Self::Fused(fused) => fused.decode(encoded, decoded, call),
            Self::Transform(place, transform) => {
                transform.decode(encoded, decoded, call).map_err(|error| place.blame(error))
            }
        }
    }
}

fn copy(input: &[u8], output: &mut [u8]) -> Result<usize> {
    super::copy::copy(input, output.get_mut(..input.len()).ok_or_else(crate::codec::too_small)?);
    Ok(input.len())
}
