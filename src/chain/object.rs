//! A chunk within a stored object that is read in part: which of its bytes its boxes need, and how they are decoded.
//!
//! A chunk that is a shard becomes the inner chunks that its boxes touch. Their elements go through the elementwise
//! steps before the shard, which an inner chunk finds by its [`Origin`].

use super::Chain;
use super::boxes::{Before, StepOutput};
use super::cell_grid::Cell;
use super::element_steps::{ElementSteps, PutDecoded, PutFault};
use super::place::BoxPlace;
use super::plan::{Operation, Step};
use super::region::{Region, index_of};
use super::route::{BoxRoute, Routed};
use super::shard::Shard;
use super::shard_index::ShardIndex;
use super::stage::{ByteRange, Consumer};
use crate::error::{CodecPlace, Error, Result};
use crate::interface::{CallOptions, Direction};
use crate::memory::{grow, push};
use crate::representation::element_count;
use crate::strided::{self, Source, Strip, Target};
use std::ops::Range;
use std::sync::Arc;

/// A chunk within the stored object, and the boxes of it to decode.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) chain: Arc<Chain>,
    /// Where it lies. Only the stored object itself may have an unknown size.
    pub(super) offset: u64,
    pub(super) size: Option<u64>,
    pub(super) boxes: Vec<PlacedBox>,
    pub(super) index: Option<Arc<ShardIndex>>,
    pub(super) origin: Option<Arc<Origin>>,
}

/// A box of a chunk, or of what enters the last step of its chain, and its place.
#[derive(Debug)]
pub(super) struct PlacedBox {
    pub(super) region: Region,
    pub(super) place: BoxPlace<'static>,
}

/// The inner chunk that an object is in its shard.
#[derive(Debug)]
pub(super) struct Origin {
    chain: Arc<Chain>,
    cell: Cell,
    outer: Option<Arc<Origin>>,
}

/// The use of the bytes of a range.
#[derive(Debug)]
pub(super) struct Action {
    object: Object,
    kind: ActionKind,
}

#[derive(Debug, Clone, Copy)]
enum ActionKind {
    /// The chunk.
    Decode,
    /// A box of what enters the last step, from a part of its output: see [`StepOutput`].
    DecodePart { start: u64, size: u64 },
    /// The index of a shard.
    Index,
}

/// Ranges of the stored object, and what their bytes are for.
pub(super) type Actions = Vec<(ByteRange, Consumer<Action>)>;

/// The last step of a chain that makes shards.
#[derive(Clone, Copy)]
struct ShardStep<'a> {
    step: &'a Step,
    shard: &'a Shard,
    place: &'a CodecPlace,
}

impl Object {
    /// Finds the ranges that the boxes need, or the inner chunks that they touch, which are objects of their own.
    pub(super) fn expand(self, options: &CallOptions, actions: &mut Actions, inner: &mut Vec<Self>) -> Result<()> {
        let chain = Arc::clone(&self.chain);
        let Some((step, route)) = chain.readable_step().filter(|(_, route)| route.are_few(self.wanted())) else {
            return self.expand_whole(options, actions);
        };
        match &step.operation {
            Operation::Shard(place, shard) => {
                let shard = ShardStep { step, shard, place };
                match self.index.clone() {
                    Some(index) => self.expand_cells(shard, route, &index, options, inner),
                    None => self.expand_index(shard, actions),
                }
            }
            Operation::Elements(_) if self.boxes.iter().any(|placed| route.are_far(&placed.region)) => {
                self.expand_whole(options, actions)
            }
            Operation::Elements(_) => self.expand_elements(step, route, actions),
            _ => self.expand_boxes(step, route, options, actions),
        }
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
                let offset = add(add(self.offset, lead)?, shard.index_place(size - lead - trail).start)?;
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

    /// The parts of the boxes that decode by themselves. All bytes, if their size is not known: what they are may
    /// depend on it.
    fn expand_boxes(self, step: &Step, route: &BoxRoute, options: &CallOptions, actions: &mut Actions) -> Result<()> {
        let Operation::Transform(place, transform) = &step.operation else {
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
            cells.map_err(|error| locate(place.blame(error), origin.as_deref()))
        };
        // A chunk that cannot be read in part, or that has a wrong size, is so whatever the box.
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
        let object = Self {
            chain: Arc::clone(&self.chain),
            boxes: vec![part],
            index: None,
            origin: self.origin.clone(),
            ..*self
        };
        let length = span.end - span.start;
        let work = Action { object, kind: ActionKind::DecodePart { start, size } };
        Ok((ByteRange::At { offset, size: length }, Consumer { bytes: 0..length, work }))
    }

    /// The inner chunks that the boxes of a shard touch, as objects, each with the parts of all boxes. Missing ones are
    /// filled here.
    fn expand_cells(
        self,
        ShardStep { step, shard, place: codec }: ShardStep<'_>,
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
                origin: Some(Arc::new(origin)),
            };
            object.check_size().map_err(|error| locate(error, object.origin.as_deref()))?;
            push(inner, object)?;
            last = Some(number);
        }
        Ok(())
    }

    /// Refuses a size that no encoded chunk of the chain can have.
    pub(super) fn check_size(&self) -> Result<()> {
        let (Some(size), Some((step, _))) = (self.size, self.chain.readable_step()) else { return Ok(()) };
        let (least, is_exact) = match &step.operation {
            Operation::Elements(elements) => (elements.encoded_size(), true),
            Operation::Shard(_, shard) => (shard.index_size().0, false),
            _ => return Ok(()),
        };
        let expected = step.frames_size().and_then(|around| around.checked_add(least));
        let is_possible = expected.is_some_and(|expected| if is_exact { size == expected } else { size >= expected });
        if is_possible {
            return Ok(());
        }
        let expected = expected.map_or("more than any object has".to_owned(), |expected| expected.to_string());
        let at_least = if is_exact { "" } else { "at least " };
        let error = Error::corrupt(format!("the chunk has {size} bytes, expected {at_least}{expected}"));
        Err(step.last_place.blame(error))
    }

    /// Decodes the boxes from all bytes of the chunk; a single one to a strip, if there is one.
    fn decode<'e>(
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
    fn decode_part(mut self, output: StepOutput<'_>, options: &CallOptions) -> Result<()> {
        let chain = Arc::clone(&self.chain);
        let Some((step, _)) = chain.readable_step() else { return Err(Error::internal("a step decodes no boxes")) };
        let element_size = step.decoded.array()?.data_type().size();
        self.boxes.iter_mut().try_for_each(|PlacedBox { region, place }| {
            let decode = |target: &mut Target<'_>| {
                chain.run(options, |run, workspace| {
                    run.decode_box(step, output, region, target, &mut workspace.contexts)
                })
            };
            put(Some(step), (&chain, self.origin.as_deref()), (region, element_size, place), options, decode)
        })
    }

    /// Decodes the index of the shard; returns the object with it.
    fn decode_index(mut self, bytes: &[u8], options: &CallOptions) -> Result<Self> {
        let Some((step @ Step { operation: Operation::Shard(place, shard), .. }, _)) = self.chain.readable_step()
        else {
            return Err(Error::internal("an index of a chain without a shard"));
        };
        let around = step.frames_size().unwrap_or(0);
        let shard_size = self.size.map(|size| size.saturating_sub(around));
        let index = shard.decode_index(bytes, shard_size, options);
        let index = index.map_err(|error| locate(place.blame(error), self.origin.as_deref()))?;
        self.index = Some(Arc::new(index));
        Ok(self)
    }
}

impl Action {
    /// The size in bytes of the elements that come from the range; 0 for an index.
    pub(super) fn decoded_size(&self) -> usize {
        if matches!(self.kind, ActionKind::Index) {
            return 0;
        }
        let count: usize = self.object.boxes.iter().map(|placed| placed.region.element_count()).sum();
        count.saturating_mul(self.object.chain.element_size().unwrap_or(1))
    }

    /// Into how many parts decoding the range is divided. See [`Chain::part_count`].
    pub(super) fn part_count(&self) -> u64 {
        match (self.kind, self.object.chain.readable_step()) {
            (ActionKind::Decode, _) => self.object.chain.part_count(Direction::Decode),
            (ActionKind::DecodePart { .. }, Some((Step { operation: Operation::Elements(_), .. }, _))) => u64::MAX,
            (ActionKind::DecodePart { .. } | ActionKind::Index, _) => 1,
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

    /// Decodes what the bytes of the range are for, to a strip where that is possible; returns the shard if that was its
    /// index.
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
        }
    }
}

impl Origin {
    fn shard(&self) -> Option<(&Shard, &CodecPlace)> {
        match &self.chain.plan.steps.last()?.operation {
            Operation::Shard(place, shard) => Some((shard, place)),
            _ => None,
        }
    }

    /// Fills the part of an inner chunk that is missing.
    fn fill(&self, shard: &Shard, codec: &CodecPlace, place: &mut BoxPlace<'_>, options: &CallOptions) -> Result<()> {
        let element = shard.missing(&self.cell);
        let element = element.map_err(|error| locate(codec.blame(error), self.outer.as_deref()))?;
        let through = through(None, Some(self));
        let result = shard.inner.pool.with(|workspace| through.fill(element, place, workspace, options));
        let first = index_of(&self.cell.region.start, shard.chunk_shape());
        result.map_err(|fault| located(fault, None, Some(self), |_| first))
    }
}

impl Chain {
    /// The last step, if it can decode boxes from a part of the encoded bytes, and the route to it.
    pub(super) fn readable_step(&self) -> Option<(&Step, &BoxRoute)> {
        let (route, step) = (self.plan.route.as_deref()?, self.plan.steps.last()?);
        let has_boxes = match &step.operation {
            Operation::Shard(..) => true,
            Operation::Elements(_) => true,
            Operation::Transform(_, transform) => transform.granularity().is_some(),
            Operation::Copy | Operation::N5Block(..) => false,
        };
        (has_boxes && !self.checks_frames(step) && route.end + 1 == self.plan.steps.len()).then_some((step, route))
    }

    /// Whether boxes that are far from each other take less time one by one than with what lies between them.
    fn decodes_far_boxes(&self) -> bool {
        self.readable_step().is_some_and(|(step, route)| route.reshaped.is_none() || step.shard().is_some())
    }

    /// Whether a callback of the chain's own codecs may have refused the chunk.
    fn is_refused(&self, error: &Error) -> bool {
        let hook = error.codec_index().and_then(|index| self.hooks.get(index)?.as_ref());
        hook.is_some_and(|hook| hook.checks())
    }

    /// Whether something looks at all bytes that the frames of a step are around.
    pub(super) fn checks_frames(&self, step: &Step) -> bool {
        step.frames.iter().any(|(place, frame)| {
            frame.checks_payload() || self.hooks[place.index].as_ref().is_some_and(|hook| hook.checks())
        })
    }

    fn before(&self) -> Option<Before<'_>> {
        self.plan.route.as_deref().map(|route| Before { plan: &self.plan, codecs: &self.codecs, route })
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

/// The elementwise steps that elements go through: those of the chain itself, if they come from its last step, and
/// those before the shards around it.
fn through<'a>(own: Option<&'a Chain>, origin: Option<&'a Origin>) -> ElementSteps<'a> {
    let origins = std::iter::successors(origin, |origin| origin.outer.as_deref());
    ElementSteps::new(own.into_iter().chain(origins.map(|origin| &*origin.chain)).map(|chain| &chain.plan).collect())
}

/// Decodes a box to its place: of the chunk, or of what enters this step of its chain.
fn put(
    step: Option<&Step>,
    (chain, origin): (&Arc<Chain>, Option<&Origin>),
    (region, element_size, place): (&Region, usize, &mut BoxPlace<'_>),
    options: &CallOptions,
    decode: impl FnOnce(&mut Target<'_>) -> Result<()>,
) -> Result<()> {
    let own = step.map(|_| &**chain);
    let put = PutDecoded { region, element_size, pool: &chain.pool, options };
    let is_strided = step.is_none_or(|step| step.operation.decodes_to_strides());
    let shape = step.map_or(Some(chain.shape()?), |step| step.decoded.array().ok().map(|array| array.shape()));
    let find = |element| region.index_within(element, shape.unwrap_or_default());
    let element_of =
        |number: u32, codec: usize, element: u64| element_of(own, origin, (number, codec), find(element)).0;
    let result = put.run(is_strided, place, &through(own, origin), &element_of, decode);
    result.map_err(|fault| located(fault, own, origin, find))
}

/// The error of an object, as one of the outermost chain. `find` gives the index of an element that an elementwise step
/// refused, in the array that its object decodes.
fn located(
    PutFault { error, step }: PutFault,
    own: Option<&Chain>,
    origin: Option<&Origin>,
    find: impl FnOnce(u64) -> u64,
) -> Error {
    let (Some((number, _)), Some(codec)) = (step, error.codec_index()) else { return locate(error, origin) };
    let element = error.element_index();
    let (found, outer) = element_of(own, origin, (number, codec), element.map_or(0, find));
    locate(error.at_element(element.map(|_| found)), outer)
}

/// The index of an element in the array that a codec got, by its index in the array that an object decodes; and the
/// inner chunk whose chain has the codec. The codec is one of the plan with this number among those of [`through`].
fn element_of<'a>(
    mut chain: Option<&'a Chain>,
    mut origin: Option<&'a Origin>,
    (mut number, codec): (u32, usize),
    mut element: u64,
) -> (u64, Option<&'a Origin>) {
    loop {
        if let Some(before) = chain.and_then(Chain::before) {
            if number == 0 {
                return (before.element_of(codec, element), origin);
            }
            number -= 1;
            element = before.element_of(0, element);
        }
        let Some(inner) = origin else { return (element, None) };
        if let Some((shard, _)) = inner.shard() {
            element = shard.element_of(&inner.cell, element);
        }
        (chain, origin) = (Some(&*inner.chain), inner.outer.as_deref());
    }
}

/// Converts the error of an inner chunk to one of the outermost chain.
fn locate(error: Error, origin: Option<&Origin>) -> Error {
    let Some(origin) = origin else { return error };
    let Some((shard, place)) = origin.shard() else { return error };
    locate(place.blame(shard.locate(error, &origin.cell)), origin.outer.as_deref())
}

/// An offset in the object; that of all bits set means something else in a range.
fn add(offset: u64, size: u64) -> Result<u64> {
    let sum = offset.checked_add(size).filter(|sum| *sum != u64::MAX);
    sum.ok_or_else(|| Error::corrupt("an offset passes 2^64 - 2"))
}
