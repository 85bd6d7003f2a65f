//! A chunk within a stored object that is read in part: which of its bytes its boxes need. A chunk that
//! is a shard becomes the inner chunks that its boxes touch. Where the elements of a block of N5 lie depends on the
//! shape in its header.

mod action;
mod origin;
mod partial_chunk;
pub(super) mod pieces;
mod put;
pub(super) mod read_plan;
pub(super) mod stage;
pub(super) mod writer;

use crate::chain::Chain;
use crate::chain::boxes::StepOutput;
use crate::chain::boxes::cell_grid::Cell;
use crate::chain::boxes::region::Region;
use crate::chain::boxes::route::{BoxRoute, Routed};
use crate::chain::n5_block::N5Block;
use crate::chain::place::BoxPlace;
use crate::chain::plan::{Operation, Step};
use crate::chain::shard::Shard;
use crate::chain::shard::index::ShardIndex;
use crate::error::{CodecPlace, Error, Result};
use crate::interface::CallOptions;
use crate::memory::push;
use action::{Action, ActionKind, Actions};
use origin::{Origin, locate};
use stage::{ByteRange, Consumer};
use std::ops::Range;
use std::sync::Arc;

/// A chunk within the stored object, and the boxes of it to decode.
#[derive(Debug)]
struct Object {
    chain: Arc<Chain>,
    /// Where it lies. Only the stored object itself may have an unknown size.
    offset: u64,
    size: Option<u64>,
    boxes: Vec<PlacedBox>,
    index: Option<Arc<ShardIndex>>,
    /// The chain of the elements of a block of N5, once its header is known.
    block: Option<Arc<Chain>>,
    origin: Option<Arc<Origin>>,
}

/// A box of a chunk, or of what enters the last step of its chain, and its place.
#[derive(Debug)]
struct PlacedBox {
    region: Region,
    place: BoxPlace<'static>,
}

/// The last step of a chain that makes shards.
#[derive(Clone, Copy)]
struct ShardStep<'a> {
    step: &'a Step,
    shard: &'a Shard,
    codec: &'a CodecPlace,
}

/// The last step of a chain that makes blocks of N5.
#[derive(Clone, Copy)]
struct BlockStep<'a> {
    step: &'a Step,
    n5: &'a N5Block,
    codec: &'a CodecPlace,
}

impl Object {
    /// Finds the ranges that the boxes need, or the inner chunks that they touch, which are objects of their own.
    fn expand(self, options: &CallOptions, actions: &mut Actions, inner: &mut Vec<Self>) -> Result<()> {
        let chain = Arc::clone(&self.chain);
        let Some((step, route)) = chain.readable_step().filter(|_| self.is_read_in_parts()) else {
            return self.expand_whole(options, actions);
        };
        match &step.operation {
            Operation::Shard(codec, shard) => {
                let shard = ShardStep { step, shard, codec };
                match self.index.clone() {
                    Some(index) => self.expand_cells(shard, route, &index, options, inner),
                    None => self.expand_index(shard, actions),
                }
            }
            Operation::Elements(_) if self.boxes.iter().any(|placed| route.are_far(&placed.region)) => {
                self.expand_whole(options, actions)
            }
            Operation::Elements(_) => self.expand_elements(step, route, actions),
            Operation::N5Block(codec, n5) => match self.block.clone() {
                Some(block) => self.expand_block(BlockStep { step, n5, codec }, route, &block, options, actions),
                None if self.is_small_part(BlockStep { step, n5, codec }, route)? => {
                    self.expand_header(step, n5, actions)
                }
                None => self.expand_whole(options, actions),
            },
            _ => self.expand_boxes(step, route, options, actions),
        }
    }

    /// Whether boxes of it are read, and not the whole object.
    fn is_read_in_parts(&self) -> bool {
        self.chain.readable_step().is_some_and(|(_, route)| route.are_few(self.wanted()))
    }

    /// The number of elements of the boxes.
    fn wanted(&self) -> u64 {
        self.boxes.iter().map(|placed| placed.region.element_count() as u64).sum()
    }

    fn expand_whole(self, options: &CallOptions, actions: &mut Actions) -> Result<()> {
        let (range, bytes) = match self.size {
            Some(0) => return self.decode(&[], None, options),
            Some(size) => (ByteRange::At { offset: self.offset, size }, 0..size),
            None => (ByteRange::From(self.offset), 0..u64::MAX),
        };
        push(actions, (range, Consumer { bytes, work: Action { object: self, kind: ActionKind::Decode } }))?;
        Ok(())
    }

    fn expand_index(self, ShardStep { step, shard, .. }: ShardStep<'_>, actions: &mut Actions) -> Result<()> {
        let (index_size, is_first) = shard.index_size();
        let (lead, trail) = step.frame_sizes().unwrap_or_default();
        let range = match self.size {
            _ if is_first => ByteRange::At { offset: add(self.offset, lead)?, size: index_size },
            Some(size) => {
                let offset = add(add(self.offset, lead)?, shard.index_range(size - lead - trail).start)?;
                ByteRange::At { offset, size: index_size }
            }
            None => ByteRange::Last(add(index_size, trail)?),
        };
        push(
            actions,
            (range, Consumer { bytes: 0..index_size, work: Action { object: self, kind: ActionKind::Index } }),
        )?;
        Ok(())
    }

    fn expand_elements(self, step: &Step, route: &BoxRoute, actions: &mut Actions) -> Result<()> {
        let Operation::Elements(elements) = &step.operation else {
            return Err(Error::internal("a step without elements"));
        };
        let (output, empty) = self.into_parts(|region, place| Ok(vec![route.part(region, place)?]))?;
        for part in output {
            let (first, span) = elements.span(&part.region);
            push(actions, empty.action(step, part, span, (first, elements.encoded_size()))?)?;
        }
        Ok(())
    }

    /// Whether the boxes need so little of a block that its header is worth a stage of its own: less than half, if the
    /// block has the shape of the chunk.
    fn is_small_part(&self, BlockStep { step, n5, codec }: BlockStep<'_>, route: &BoxRoute) -> Result<bool> {
        let Some(axes) = route.axes() else { return Ok(false) };
        let mut needed = 0_u64;
        for PlacedBox { region, .. } in &self.boxes {
            let span = n5.span(&n5.inner, &region.arranged(axes), None).map_err(|error| codec.blame(error))?;
            needed = needed.saturating_add(span.map_or(0, |(_, span)| span.end - span.start));
        }
        let is_small = |size: u64| size.checked_sub(n5.header_size()).is_some_and(|size| needed < size / 2);
        let size = self.size.zip(step.frames_size()).map(|(size, around)| size.saturating_sub(around));
        Ok(step.encoded.upper_bound().is_some_and(is_small) && size.is_none_or(is_small))
    }

    fn expand_header(self, step: &Step, n5: &N5Block, actions: &mut Actions) -> Result<()> {
        let (lead, size) = (step.leading_size().unwrap_or(0), n5.header_size());
        let range = ByteRange::At { offset: add(self.offset, lead)?, size };
        let work = Action { object: self, kind: ActionKind::BlockHeader };
        push(actions, (range, Consumer { bytes: 0..size, work }))
    }

    /// The elements of a block that the boxes need. What is outside the block is filled here.
    fn expand_block(
        self,
        BlockStep { step, n5, codec }: BlockStep<'_>,
        route: &BoxRoute,
        block: &Chain,
        options: &CallOptions,
        actions: &mut Actions,
    ) -> Result<()> {
        let header = n5.header_size();
        let size =
            self.size.zip(step.frames_size()).map(|(size, around)| size.saturating_sub(around).saturating_sub(header));
        let origin = self.origin.clone();
        let (boxes, empty) = self.into_parts(|region, place| Ok(vec![route.part(region, place)?]))?;
        for part in boxes {
            let span = n5.span(block, &part.region, size);
            match span.map_err(|error| locate(codec.blame(error), origin.as_deref()))? {
                Some((first, span)) => {
                    let span = add(header, span.start)?..add(header, span.end)?;
                    push(actions, empty.action(step, part, span, (first, size.unwrap_or(0)))?)?;
                }
                None => empty.with_box(part).decode_part(StepOutput { bytes: &[], start: 0, size: 0 }, options)?,
            }
        }
        Ok(())
    }

    /// The parts of the boxes that decode by themselves. All bytes, if their size is not known: what they are may
    /// depend on it.
    fn expand_boxes(self, step: &Step, route: &BoxRoute, options: &CallOptions, actions: &mut Actions) -> Result<()> {
        let Operation::Transform(codec, transform) = &step.operation else {
            return Err(Error::internal("a step without boxes"));
        };
        let size = self.size.zip(step.frames_size()).and_then(|(size, around)| size.checked_sub(around));
        let size = size.and_then(|size| usize::try_from(size).ok());
        let (Some(size), Some(cell_size)) = (size, transform.granularity()) else {
            return self.expand_whole(options, actions);
        };
        let origin = self.origin.clone();
        let box_cells = |region: &Region| {
            let cells = transform.box_cells(size, &region.start, &region.shape);
            cells.map_err(|error| locate(codec.blame(error), origin.as_deref()))
        };
        // Neither depends on the box: whether a chunk can be read in part, and whether its size is wrong.
        if box_cells(&Region::whole(step.decoded.array()?.shape()))?.is_none() {
            return self.expand_whole(options, actions);
        }
        let (boxes, empty) = self.into_parts(|region, place| route.rows(&cell_size, region, place))?;
        for PlacedBox { region, place } in boxes {
            let cells = box_cells(&region)?.ok_or_else(|| Error::internal("a chunk that has no cells any more"))?;
            let places = place.cut(&region, &cells.cell)?;
            for ((region, place), bytes) in region.cut(&cells.cell).zip(places).zip(cells.ranges) {
                let span = bytes.start as u64..bytes.end as u64;
                let output = (span.start, size as u64);
                push(actions, empty.action(step, PlacedBox { region, place }, span, output)?)?;
            }
        }
        Ok(())
    }

    /// The boxes at the end of the route, each by `pass`, and the object without them.
    fn into_parts(
        mut self,
        pass: impl Fn(&Region, BoxPlace<'static>) -> Result<Vec<(Region, BoxPlace<'static>)>>,
    ) -> Result<(Vec<PlacedBox>, Self)> {
        let mut boxes = Vec::new();
        for PlacedBox { region, place } in std::mem::take(&mut self.boxes) {
            let routed = pass(&region, place)?.into_iter();
            routed.map(|(region, place)| PlacedBox { region, place }).try_for_each(|part| push(&mut boxes, part))?;
        }
        Ok((boxes, self))
    }

    /// Decodes a box from these bytes of the output of the last step.
    fn action(
        &self,
        step: &Step,
        part: PlacedBox,
        span: Range<u64>,
        (start, size): (u64, u64),
    ) -> Result<(ByteRange, Consumer<Action>)> {
        let offset = add(self.offset, add(step.leading_size().unwrap_or(0), span.start)?)?;
        let length = span.end - span.start;
        let work = Action { object: self.with_box(part), kind: ActionKind::DecodePart { start, size } };
        Ok((ByteRange::At { offset, size: length }, Consumer { bytes: 0..length, work }))
    }

    /// The object with only this box.
    fn with_box(&self, part: PlacedBox) -> Self {
        Self {
            chain: Arc::clone(&self.chain),
            boxes: vec![part],
            index: None,
            block: self.block.clone(),
            origin: self.origin.clone(),
            ..*self
        }
    }

    /// The inner chunks that the boxes of a shard touch, as objects, each with the parts of all boxes. Missing ones are
    /// filled here.
    fn expand_cells(
        self,
        ShardStep { step, shard, codec }: ShardStep<'_>,
        route: &BoxRoute,
        index: &ShardIndex,
        options: &CallOptions,
        inner: &mut Vec<Self>,
    ) -> Result<()> {
        let (lead, trail) = step.frame_sizes().unwrap_or_default();
        let shard_size = self.size.and_then(|size| size.checked_sub(lead + trail));
        let mut parts = Vec::new();
        for part in self.boxes {
            parts_of(shard, route, part, &mut parts)?;
        }
        parts.sort_unstable_by_key(|(cell, _)| cell.number); // in place: there may be no memory
        let mut last = None;
        for (cell, mut place) in parts {
            if last == Some(cell.number)
                && let Some(object) = inner.last_mut()
            {
                push(&mut object.boxes, PlacedBox { region: cell.region, place })?;
                continue;
            }
            let entry = index
                .entry_in(cell.number, shard_size)
                .map_err(|error| locate(codec.blame(shard.at_cell(error, &cell)), self.origin.as_deref()))?;
            let (number, region) = (cell.number, cell.region.clone());
            let origin = Origin { chain: Arc::clone(&self.chain), cell, outer: self.origin.clone() };
            let Some(entry) = entry else {
                origin.fill(shard, codec, &mut place, options)?;
                continue;
            };
            let offset = add(self.offset, add(lead, entry.start)?)?;
            add(offset, entry.end - entry.start)?;
            let object = Self {
                chain: Arc::clone(&shard.inner),
                offset,
                size: Some(entry.end - entry.start),
                boxes: vec![PlacedBox { region, place }],
                index: None,
                block: None,
                origin: Some(Arc::new(origin)),
            };
            object.check_size().map_err(|error| locate(error, object.origin.as_deref()))?;
            push(inner, object)?;
            last = Some(number);
        }
        Ok(())
    }

    /// Refuses a size that no encoded chunk of the chain can have.
    fn check_size(&self) -> Result<()> {
        self.chain.check_object_size(self.size)
    }
}

impl Chain {
    /// Refuses a size that no encoded chunk can have, and every size if there are more bytes around the chunk than any
    /// object has.
    pub(super) fn check_object_size(&self, size: Option<u64>) -> Result<()> {
        let Some((step, _)) = self.readable_step() else { return Ok(()) };
        let (least, is_exact) = match &step.operation {
            Operation::Elements(elements) => (elements.encoded_size(), true),
            Operation::Shard(_, shard) => (shard.index_size().0, false),
            _ => (0, false),
        };
        let expected = step.frames_size().and_then(|around| around.checked_add(least));
        let error = match (size, expected) {
            (_, None) => "the chunk has more bytes than any object".to_owned(),
            (Some(size), Some(expected)) if is_exact && size != expected => {
                format!("the chunk has {size} bytes, expected {expected}")
            }
            (Some(size), Some(expected)) if size < expected => {
                format!("the chunk has {size} bytes, expected at least {expected}")
            }
            _ => return Ok(()),
        };
        Err(step.last_codec.blame(Error::corrupt(error)))
    }

    /// The last step, if it can decode boxes from a part of the encoded bytes, and the route to it.
    pub(super) fn readable_step(&self) -> Option<(&Step, &BoxRoute)> {
        let (route, step) = (self.plan.route.as_deref()?, self.plan.steps.last()?);
        let has_boxes = match &step.operation {
            Operation::Shard(..) | Operation::Elements(_) => true,
            Operation::Transform(_, transform) => transform.granularity().is_some(),
            Operation::N5Block(_, block) => block.decodes_parts(),
            Operation::Copy => false,
        };
        (has_boxes && !self.checks_frames(step) && route.end + 1 == self.plan.steps.len()).then_some((step, route))
    }

    /// Whether something looks at all bytes that the frames of a step are around.
    pub(super) fn checks_frames(&self, step: &Step) -> bool {
        step.frames.iter().any(|(codec, frame)| frame.checks_payload() || self.hooks[codec.index].checks())
    }
}

/// Adds the inner chunks that a box touches, and where their parts go.
fn parts_of(
    shard: &Shard,
    route: &BoxRoute,
    part: PlacedBox,
    parts: &mut Vec<(Cell, BoxPlace<'static>)>,
) -> Result<()> {
    match route.pass(&part.region, part.place)? {
        Routed::Box(region, place) => {
            let places = place.cut(&region, shard.chunk_shape())?;
            shard.cells(&region).zip(places).try_for_each(|part| push(parts, part))
        }
        Routed::Runs(reshaped, region, place) => {
            let (cells, places) = reshaped.parts(shard.grid(), &region, place)?;
            cells.into_iter().zip(places).try_for_each(|part| push(parts, part))
        }
    }
}

/// An offset in the object; that of all bits set means something else in a range.
fn add(offset: u64, size: u64) -> Result<u64> {
    let sum = offset.checked_add(size).filter(|sum| *sum != u64::MAX);
    sum.ok_or_else(|| Error::corrupt("an offset passes 2^64 - 2"))
}
