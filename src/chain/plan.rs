//! What a chain does, in order: passes over the chunk, each with the frames around its output.

use super::Chain;
use super::boxes::route::BoxRoute;
use super::fused::Fused;
use super::n5_block::N5Block;
use super::shard::Shard;
use super::workspace::Pool;
use crate::error::{CodecPlace, Result};
use crate::interface::{Binding, BoundCodecs, BoundShard, Frame, Pass, RunningChecksum, Transform};
use crate::representation::{ArrayRepresentation, ByteSize, Representation};
use std::sync::Arc;

/// The steps in encode order; at least one. Those that take an array come first.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// How boxes come to the step that decodes them, if they do.
    pub(super) route: Option<Box<BoxRoute>>,
}

/// The size of an encoded chunk, as far as it is known in advance.
#[derive(Debug, Clone, Copy)]
pub(super) enum EncodedSize {
    /// It never exceeds this many bytes.
    AtMost(u64),
    /// It has no bound.
    Unknown,
    /// Its bound exceeds what memory can have.
    TooLarge,
}

/// One operation on the chunk and the frames around its output.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) operation: Operation,
    /// The codec that meets the encoded bytes first when this step decodes.
    pub(super) last_codec: CodecPlace,
    /// The representation that enters on encode.
    pub(super) decoded: Representation,
    /// The size of the output of the operation, without the frames.
    pub(super) encoded: ByteSize,
    /// Innermost first.
    pub(super) frames: Vec<(CodecPlace, Arc<dyn Frame>)>,
}

#[derive(Debug, Clone)]
pub(super) enum Operation {
    /// Bytes that do not change.
    Copy,
    /// Elements that are transposed, then go through elementwise kernels.
    Elements(Elements),
    Transform(CodecPlace, Arc<dyn Transform>),
    Shard(CodecPlace, Arc<Shard>),
    N5Block(CodecPlace, Box<N5Block>),
}

/// An elementwise pass over an array that may first be transposed.
#[derive(Debug, Clone)]
pub(super) struct Elements {
    /// Dimension i of the kernels' input is dimension `order[i]` of what enters; `None` if nothing is transposed.
    pub(super) order: Option<Arc<[usize]>>,
    /// The input of the kernels.
    pub(super) shape: Vec<u64>,
    pub(super) fused: Fused,
}

impl Plan {
    pub(super) fn new(codecs: &BoundCodecs, pool: &Arc<Pool>, max_decoded_size: Option<u64>) -> Self {
        let options = InnerChainOptions { pool, max_decoded_size };
        let mut plan = Self { steps: Vec::new(), route: None };
        for (index, bound) in codecs.codecs().iter().enumerate() {
            plan.add(codecs.list().codec(index), bound, codecs.representation(index), options);
        }
        if plan.steps.is_empty() {
            plan.copy(codecs.list().codec(0), codecs.representation(0));
        }
        plan.leave_out_copies();
        plan.route = BoxRoute::new(&plan.steps).map(Box::new);
        plan
    }

    /// The encoded size of this many bytes, as far as it is known.
    pub(super) fn encoded_size(&self, decoded_size: u64) -> EncodedSize {
        let mut size = decoded_size;
        for step in &self.steps {
            if !step.has_bound(size) {
                return EncodedSize::Unknown;
            }
            let Some(bound) = step.encoded_bound(size) else { return EncodedSize::TooLarge };
            size = bound;
        }
        EncodedSize::AtMost(size)
    }

    /// Refuses a chunk that the format of a codec cannot hold, as far as sizes are known before encoding.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported).
    pub(super) fn check_decoded_size(&self, decoded_size: u64) -> Result<()> {
        let mut known = Some(decoded_size);
        for step in &self.steps {
            let Some(size) = known else { break };
            if let Operation::Transform(codec, transform) = &step.operation {
                transform.check_decoded_size(size).map_err(|error| codec.blame(error))?;
            }
            known = step.has_fixed_size().then(|| step.encoded_bound(size)).flatten();
        }
        Ok(())
    }

    fn add(&mut self, codec: CodecPlace, bound: &Binding, decoded: &Representation, options: InnerChainOptions<'_>) {
        match (&bound.pass, decoded) {
            (Pass::Transform(transform), _) => {
                let operation = Operation::Transform(codec.clone(), Arc::clone(transform));
                self.push(codec, operation, decoded, bound.encoded.size());
            }
            (Pass::Shard(shard), Representation::Array(array)) => {
                let operation = Operation::Shard(codec.clone(), shard_of(shard, array, options));
                self.push(codec, operation, decoded, bound.encoded.size());
            }
            (Pass::N5Block(block), Representation::Array(_)) => {
                let inner = options.chain(&block.inner);
                let operation = Operation::N5Block(codec.clone(), Box::new(N5Block::new(block, inner)));
                self.push(codec, operation, decoded, bound.encoded.size());
            }
            (Pass::Frame(frame), _) => self.frame(codec, frame, decoded),
            (Pass::Reshape, Representation::Array(array)) => drop(self.elements(codec, array)),
            (Pass::Transpose(order), Representation::Array(array)) => self.transpose(codec, order, array),
            (Pass::Elementwise { kernels, frame }, Representation::Array(array)) => {
                let step = self.elements(codec.clone(), array);
                if let Operation::Elements(elements) = &mut step.operation {
                    for kernel in kernels {
                        elements.fused.push(codec.clone(), kernel);
                    }
                    step.encoded = ByteSize::Exact(elements.fused.encoded_size());
                }
                if let Some(frame) = frame {
                    step.frames.push((codec, Arc::clone(frame)));
                }
            }
            // Only an ignored codec can have bytes here; binding gives the others an array.
            (
                Pass::Reshape | Pass::Transpose(_) | Pass::Elementwise { .. } | Pass::Shard(_) | Pass::N5Block(_),
                Representation::Bytes(_),
            ) => {}
        }
    }

    fn frame(&mut self, codec: CodecPlace, frame: &Arc<dyn Frame>, decoded: &Representation) {
        if self.steps.is_empty() {
            self.copy(codec.clone(), decoded);
        }
        if let Some(step) = self.steps.last_mut() {
            step.frames.push((codec, Arc::clone(frame)));
        }
    }

    /// A step that changes nothing yet; elementwise codecs join it.
    fn copy(&mut self, codec: CodecPlace, decoded: &Representation) {
        let operation = match decoded {
            Representation::Bytes(_) => Operation::Copy,
            Representation::Array(array) => Operation::Elements(Elements::new(array)),
        };
        self.push(codec, operation, decoded, decoded.size());
    }

    fn push(&mut self, codec: CodecPlace, operation: Operation, decoded: &Representation, encoded: ByteSize) {
        self.steps.push(Step { operation, last_codec: codec, decoded: decoded.clone(), encoded, frames: Vec::new() });
    }

    /// The elementwise step that the next codec joins.
    fn elements(&mut self, codec: CodecPlace, decoded: &ArrayRepresentation) -> &mut Step {
        let is_open = self.steps.last().is_some_and(|step| matches!(step.operation, Operation::Elements(_)));
        if !is_open {
            self.copy(codec.clone(), &Representation::Array(decoded.clone()));
        }
        let last = self.steps.len() - 1;
        let step = &mut self.steps[last];
        step.last_codec = codec;
        step
    }

    /// A transposition; a step of its own unless nothing has changed the elements yet.
    fn transpose(&mut self, codec: CodecPlace, order: &[usize], decoded: &ArrayRepresentation) {
        // Where only dimensions of size 1 move, no element does; but what follows may see the shape.
        if order.is_sorted() {
            self.elements(codec, decoded);
            return;
        }
        let is_free = |elements: &Elements| elements.order.is_none() && elements.fused.is_copy();
        let is_new = !matches!(self.steps.last(), Some(Step { operation: Operation::Elements(elements), decoded: step, .. })
            if is_free(elements) && step.array().is_ok_and(|array| array.shape() == decoded.shape()));
        if is_new {
            self.copy(codec.clone(), &Representation::Array(decoded.clone()));
        }
        if let Operation::Elements(elements) = &mut self.elements(codec, decoded).operation {
            elements.order = Some(order.into());
            elements.shape = order.iter().map(|dimension| decoded.shape()[*dimension]).collect();
        }
    }

    /// Leaves out a pass that copies if it has no frames, or if the pass before it can take them.
    fn leave_out_copies(&mut self) {
        let mut index = 0;
        while index < self.steps.len() && self.steps.len() > 1 {
            let is_copy = matches!(&self.steps[index].operation, Operation::Elements(elements) if elements.is_copy());
            if is_copy && index > 0 && self.steps[index - 1].frames.is_empty() {
                let copy = self.steps.remove(index);
                let before = &mut self.steps[index - 1];
                before.frames = copy.frames;
                before.last_codec = copy.last_codec;
            } else if is_copy
                && index == 0
                && self.steps[0].frames.is_empty()
                && self.steps[1].takes_bytes_of(&self.steps[0])
            {
                // The next step now gets the array itself, which has the same bytes.
                let copy = self.steps.remove(index);
                self.steps[index].decoded = copy.decoded;
            } else {
                index += 1;
            }
        }
    }

    /// The smallest box that is worth decoding alone; `None` if the whole chunk must be decoded.
    pub(super) fn granularity(&self) -> Option<Vec<u64>> {
        let route = self.route.as_deref()?;
        let [before @ .., step] = &self.steps[..] else { return None };
        if route.end != before.len() || step.frames.iter().any(|(_, frame)| frame.checks_payload()) {
            return None;
        }
        let dimensions = self.steps[0].decoded.array().ok()?.shape().len();
        let by_element = || route.are_few(1).then(|| vec![1; dimensions]);
        match &step.operation {
            Operation::Elements(_) => by_element(),
            Operation::N5Block(_, block) if block.decodes_parts() => by_element(),
            operation => route.origin_shape(&operation.granularity()?, dimensions),
        }
    }
}

impl Operation {
    /// The smallest box of the input that is worth decoding alone; `None` if only the whole of it can be decoded.
    pub(super) fn granularity(&self) -> Option<Vec<u64>> {
        match self {
            Self::Transform(_, transform) => transform.granularity(),
            Self::Shard(_, shard) => Some(shard.granularity()),
            Self::Copy | Self::Elements(_) | Self::N5Block(..) => None,
        }
    }

    /// Whether it decodes boxes straight to any strides.
    pub(super) fn decodes_to_strides(&self) -> bool {
        !matches!(self, Self::Transform(..))
    }
}

/// What inner chains take over from the outer one.
#[derive(Clone, Copy)]
struct InnerChainOptions<'a> {
    pool: &'a Arc<Pool>,
    max_decoded_size: Option<u64>,
}

impl InnerChainOptions<'_> {
    fn chain(self, codecs: &BoundCodecs) -> Chain {
        // The limit is for the chunk; the codecs before may have made its elements larger.
        let size = codecs.representation(0).size().size_when_written().unwrap_or(0);
        Chain::from_bound(codecs.clone(), Arc::clone(self.pool), self.max_decoded_size.map(|most| most.max(size)))
    }
}

/// The shard with the chains of its own. A function of its own, so that making shards in shards takes less stack.
#[inline(never)]
fn shard_of(bound: &Arc<BoundShard>, array: &ArrayRepresentation, options: InnerChainOptions<'_>) -> Arc<Shard> {
    let inner = options.chain(&bound.inner);
    let index = Chain::from_bound((*bound.index).clone(), Arc::clone(options.pool), None);
    Arc::new(Shard::new(bound, inner, index, array.data_type().size()))
}

impl Elements {
    fn new(decoded: &ArrayRepresentation) -> Self {
        let fused = Fused::new(decoded.element_count(), 8 * decoded.data_type().size());
        Self { order: None, shape: decoded.shape().to_vec(), fused }
    }

    /// Whether the step leaves the elements unchanged.
    pub(super) fn is_copy(&self) -> bool {
        self.order.is_none() && self.fused.is_copy()
    }
}

impl Step {
    /// The codec that makes what this step decodes to.
    pub(super) fn decoding_codec(&self) -> &CodecPlace {
        match &self.operation {
            Operation::Transform(codec, _) | Operation::Shard(codec, _) | Operation::N5Block(codec, _) => codec,
            Operation::Copy | Operation::Elements(_) => &self.last_codec,
        }
    }

    /// Whether this step may get the array of the one before it, which has the same bytes, perhaps in another shape.
    fn takes_bytes_of(&self, before: &Self) -> bool {
        let has_shape = match &self.operation {
            Operation::Copy => false,
            Operation::Elements(elements) => elements.order.is_some(),
            Operation::Shard(..) | Operation::N5Block(..) => true,
            Operation::Transform(_, transform) => transform.granularity().is_some(),
        };
        let shapes = [before, self].map(|step| step.decoded.array().map(|array| array.shape()));
        !has_shape || matches!(shapes, [Ok(before), Ok(here)] if before == here)
    }

    /// Whether bytes leave as they enter.
    pub(super) fn is_copy(&self) -> bool {
        self.frames.is_empty() && matches!(&self.operation, Operation::Elements(elements) if elements.is_copy())
    }

    /// The innermost frame, if it sums what the operation only copies.
    pub(super) fn summing_frame(&self) -> Option<(&CodecPlace, &dyn Frame, Box<dyn RunningChecksum>)> {
        let is_copy = match &self.operation {
            Operation::Copy => true,
            Operation::Elements(elements) => elements.is_copy(),
            _ => false,
        };
        let (codec, frame) = self.frames.first().filter(|_| is_copy)?;
        frame.checksum().map(|sum| (codec, frame.as_ref(), sum))
    }

    /// The shard of this step, if it has one.
    pub(super) fn shard(&self) -> Option<&Shard> {
        if let Operation::Shard(_, shard) = &self.operation { Some(shard) } else { None }
    }

    /// The chain of the elements of an inner chunk or of a block.
    pub(super) fn inner(&self) -> Option<&Chain> {
        match &self.operation {
            Operation::Shard(_, shard) => Some(&shard.inner),
            Operation::N5Block(_, block) => Some(&block.inner),
            Operation::Copy | Operation::Elements(_) | Operation::Transform(..) => None,
        }
    }

    /// See [`inner`](Self::inner).
    pub(super) fn inner_mut(&mut self) -> Option<&mut Chain> {
        match &mut self.operation {
            Operation::Shard(_, shard) => Some(Arc::make_mut(&mut Arc::make_mut(shard).inner)),
            Operation::N5Block(_, block) => Some(&mut block.inner),
            Operation::Copy | Operation::Elements(_) | Operation::Transform(..) => None,
        }
    }

    /// The chain of the index, if the step is a shard.
    pub(super) fn index(&self) -> Option<&Chain> {
        self.shard().map(|shard| &shard.index)
    }

    /// See [`index`](Self::index).
    pub(super) fn index_mut(&mut self) -> Option<&mut Chain> {
        match &mut self.operation {
            Operation::Shard(_, shard) => Some(&mut Arc::make_mut(shard).index),
            _ => None,
        }
    }

    pub(super) fn leading_size(&self) -> Option<u64> {
        self.frames.iter().try_fold(0_u64, |size, (_, frame)| size.checked_add(frame.leading_size()))
    }

    pub(super) fn trailing_size(&self) -> Option<u64> {
        self.frames.iter().try_fold(0_u64, |size, (_, frame)| size.checked_add(frame.trailing_size()))
    }

    /// The bytes of all frames before and after the operation's own; `None` if they exceed 64 bits together.
    pub(super) fn frame_sizes(&self) -> Option<(u64, u64)> {
        let (leading, trailing) = (self.leading_size()?, self.trailing_size()?);
        leading.checked_add(trailing).map(|_| (leading, trailing))
    }

    /// The bytes of all frames; `None` if they exceed 64 bits.
    pub(super) fn frames_size(&self) -> Option<u64> {
        self.frame_sizes().map(|(leading, trailing)| leading + trailing)
    }

    /// A capacity that suffices for encoding this many bytes, frames included; `None` if it exceeds 64 bits.
    pub(super) fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        self.operation_bound(decoded_size)?
            .checked_add(self.frames_size()?)
            .filter(|bound| isize::try_from(*bound).is_ok())
    }

    fn operation_bound(&self, decoded_size: u64) -> Option<u64> {
        match &self.operation {
            Operation::Copy => Some(decoded_size),
            Operation::Elements(elements) => Some(elements.fused.encoded_size()),
            Operation::Shard(..) | Operation::N5Block(..) => self.encoded.upper_bound(),
            Operation::Transform(_, transform) => match self.encoded {
                ByteSize::Exact(size) | ByteSize::Written(size) => Some(size),
                ByteSize::AtMost(_) | ByteSize::Unknown => transform.encoded_bound(decoded_size),
            },
        }
    }

    /// Whether a bound on the encoded size of this many bytes is known in advance.
    pub(super) fn has_bound(&self, decoded_size: u64) -> bool {
        match &self.operation {
            Operation::Copy | Operation::Elements(_) => true,
            Operation::Shard(_, shard) => shard.has_bound(),
            Operation::N5Block(_, block) => block.inner.has_encoded_bound(decoded_size),
            Operation::Transform(_, transform) => {
                self.encoded.size_when_written().is_some() || transform.has_encoded_bound(decoded_size)
            }
        }
    }

    /// Whether the size of the output follows from the size of the input.
    pub(super) fn has_fixed_size(&self) -> bool {
        match &self.operation {
            Operation::Copy | Operation::Elements(_) => true,
            Operation::Transform(..) | Operation::Shard(..) | Operation::N5Block(..) => {
                self.encoded.size_when_written().is_some()
            }
        }
    }
}
