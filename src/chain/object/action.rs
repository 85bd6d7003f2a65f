//! What is done with the bytes of a range once they are here: a chunk, a part of it or its index is decoded.

use super::origin::{locate, put, through};
use super::stage::{ByteRange, Consumer};
use super::{Object, PlacedBox};
use crate::chain::Chain;
use crate::chain::boxes::StepOutput;
use crate::chain::boxes::region::Region;
use crate::chain::place::BoxPlace;
use crate::chain::plan::{Operation, Step};
use crate::error::{Error, Result};
use crate::interface::{CallOptions, Direction, Hooks};
use crate::memory::grow;
use crate::representation::element_count;
use crate::strided::{self, Source, Strip, Target};
use std::sync::Arc;

/// The use of the bytes of a range.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) object: Object,
    pub(super) kind: ActionKind,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ActionKind {
    /// The chunk.
    Decode,
    /// A box of what enters the last step, from a part of its output: see [`StepOutput`].
    DecodePart { start: u64, size: u64 },
    /// The index of a shard.
    Index,
    /// The header of a block of N5.
    BlockHeader,
}

/// Ranges of the stored object, and what their bytes are for.
pub(super) type Actions = Vec<(ByteRange, Consumer<Action>)>;

impl Object {
    /// Decodes the boxes from all bytes of the chunk; a single one to a strip, if there is one.
    pub(super) fn decode<'e>(
        mut self,
        bytes: &'e [u8],
        strip: Option<&mut Strip<'_, 'e, 'static>>,
        options: &CallOptions,
    ) -> Result<()> {
        if let Some(strip) = strip
            && let Some((region, target)) = self.single_target()
        {
            let decoded = self.chain.decode_region_in_strip(bytes, &region, target, strip, options);
            return decoded.map_err(|error| locate(error, self.origin.as_deref()));
        }
        let (chain, element_size) = (Arc::clone(&self.chain), self.chain.element_size()?);
        let around = match self.boxes.as_slice() {
            [_] => None,
            parts => Region::around(parts.iter().map(|placed| &placed.region)),
        };
        let are_far = around.as_ref().is_some_and(|around| element_count(&around.shape) / 4 > self.wanted());
        let (origin, parts) = (self.origin.as_deref(), &mut self.boxes);
        let mut each = |decode: &dyn Fn(&Region, &mut Target<'_>) -> Result<()>| {
            parts.iter_mut().try_for_each(|PlacedBox { region, place }| {
                let decode = |target: &mut Target<'_>| decode(region, target);
                put(None, (&chain, origin), (region, element_size, place), options, decode)
            })
        };
        let Some(around) = around.filter(|_| !(are_far && chain.decodes_far_boxes())) else {
            return each(&|region, target| chain.decode_region(bytes, region, target, options));
        };
        // What lies between far boxes of a shard may be more than memory has.
        if are_far {
            let done = chain.run(options, |run, workspace| run.with_shard(bytes, workspace, &mut each));
            if let Some(done) = done.map_err(|error| locate(error, origin))? {
                return done;
            }
        }
        // One decode for all: what several boxes need may be decoded only once then.
        let mut decoded = Vec::new();
        grow(&mut decoded, around.byte_size(element_size)?)?;
        let mut target = Target::contiguous(&mut decoded, element_size, &around.shape)?;
        match chain.decode_region(bytes, &around, &mut target, options) {
            Ok(()) => {}
            // The fault may be one of what lies between them.
            Err(error) if error.is_of_data() && !chain.is_refused(&error) => {
                return each(&|region, target| chain.decode_region(bytes, region, target, options));
            }
            Err(error) => return Err(locate(error, origin)),
        }
        let source = Source::contiguous(&decoded, element_size, &around.shape)?;
        self.boxes.iter_mut().try_for_each(|PlacedBox { region, place }| {
            let source = source.region(&region.relative_to(&around), &region.shape)?;
            let copy = |target: &mut Target<'_>| strided::copy(&source, target);
            put(None, (&chain, self.origin.as_deref()), (region, element_size, place), options, copy)
        })
    }

    /// Takes the box, if there is only one, whose elements go to memory unchanged.
    fn single_target(&mut self) -> Option<(Region, Target<'static>)> {
        if !through(None, self.origin.as_deref()).keeps_values() {
            return None;
        }
        match self.boxes.pop() {
            Some(PlacedBox { region, place: BoxPlace::Memory(target) }) if self.boxes.is_empty() => {
                Some((region, target))
            }
            part => {
                self.boxes.extend(part);
                None
            }
        }
    }

    /// Decodes the boxes of what enters the last step from a part of its output.
    pub(super) fn decode_part(mut self, output: StepOutput<'_>, options: &CallOptions) -> Result<()> {
        let chain = Arc::clone(&self.chain);
        let Some((step, _)) = chain.readable_step() else { return Err(Error::internal("a step decodes no boxes")) };
        let element_size = step.decoded.array()?.data_type().size();
        self.boxes.iter_mut().try_for_each(|PlacedBox { region, place }| {
            let decode = |target: &mut Target<'_>| {
                if let (Operation::N5Block(codec, n5), Some(block)) = (&step.operation, &self.block) {
                    let decoded = n5.decode_part(block, output, region, target, options);
                    return decoded.map_err(|error| codec.blame(error));
                }
                chain.run(options, |run, workspace| {
                    run.decode_box(step, output, region, target, &mut workspace.contexts)
                })
            };
            put(Some(step), (&chain, self.origin.as_deref()), (region, element_size, place), options, decode)
        })
    }

    /// Decodes the index of the shard; returns the object with it.
    fn decode_index(mut self, bytes: &[u8], options: &CallOptions) -> Result<Self> {
        let Some((step @ Step { operation: Operation::Shard(codec, shard), .. }, _)) = self.chain.readable_step()
        else {
            return Err(Error::internal("an index of a chain without a shard"));
        };
        let around = step.frames_size().unwrap_or(0);
        let shard_size = self.size.map(|size| size.saturating_sub(around));
        let index = shard.decode_index(bytes, shard_size, options);
        let index = index.map_err(|error| locate(codec.blame(error), self.origin.as_deref()))?;
        self.index = Some(Arc::new(index));
        Ok(self)
    }

    /// Decodes the header of the block; returns the object with it.
    fn decode_header(mut self, bytes: &[u8]) -> Result<Self> {
        let Some((Step { operation: Operation::N5Block(codec, n5), .. }, _)) = self.chain.readable_step() else {
            return Err(Error::internal("a header of a chain without a block"));
        };
        let block = n5.elements_chain(bytes);
        let block = block.map_err(|error| locate(codec.blame(error), self.origin.as_deref()))?;
        self.block = Some(Arc::new(block));
        Ok(self)
    }
}

impl Action {
    /// The size in bytes of the elements that come from the range; 0 for an index or a header.
    pub(super) fn decoded_size(&self) -> usize {
        if matches!(self.kind, ActionKind::Index | ActionKind::BlockHeader) {
            return 0;
        }
        let count: usize = self.object.boxes.iter().map(|placed| placed.region.element_count()).sum();
        count.saturating_mul(self.object.chain.element_size().unwrap_or(1))
    }

    /// Into how many parts decoding the range is divided. See [`Chain::part_count`].
    pub(super) fn part_count(&self) -> u64 {
        match (self.kind, self.object.chain.readable_step()) {
            (ActionKind::Decode, _) => self.object.chain.part_count(Direction::Decode),
            (ActionKind::DecodePart { .. }, Some((step, _))) if !matches!(step.operation, Operation::Transform(..)) => {
                u64::MAX
            }
            (ActionKind::DecodePart { .. } | ActionKind::Index | ActionKind::BlockHeader, _) => 1,
        }
    }

    /// The numbers of the inner chunk in its shard and of the shards around it, outermost first.
    pub(super) fn cell_numbers(&self) -> Vec<u64> {
        let origins = std::iter::successors(self.object.origin.as_deref(), |origin| origin.outer.as_deref());
        let mut numbers: Vec<u64> = origins.map(|origin| origin.cell.number).collect();
        numbers.reverse();
        numbers
    }

    /// An error about the bytes of the range, as one of the outermost chain.
    pub(super) fn locate(&self, error: Error) -> Error {
        locate(error, self.object.origin.as_deref())
    }

    /// Decodes what the bytes of the range are for, to a strip where that is possible; returns the shard or block if
    /// that was its index or header.
    pub(super) fn run<'e>(
        self,
        bytes: &'e [u8],
        strip: Option<&mut Strip<'_, 'e, 'static>>,
        options: &CallOptions,
    ) -> Result<Option<Object>> {
        match self.kind {
            ActionKind::Decode => self.object.decode(bytes, strip, options).map(|()| None),
            ActionKind::DecodePart { start, size } => {
                self.object.decode_part(StepOutput { bytes, start, size }, options).map(|()| None)
            }
            ActionKind::Index => self.object.decode_index(bytes, options).map(Some),
            ActionKind::BlockHeader => self.object.decode_header(bytes).map(Some),
        }
    }
}

impl Chain {
    /// Whether boxes that are far from each other take less time one by one than with what lies between them.
    fn decodes_far_boxes(&self) -> bool {
        self.readable_step().is_some_and(|(step, route)| route.reshaped.is_none() || step.shard().is_some())
    }

    /// Whether a callback of the chain's own codecs may have refused the chunk.
    fn is_refused(&self, error: &Error) -> bool {
        error.codec_index().and_then(|index| self.hooks.get(index)).is_some_and(Hooks::checks)
    }
}
