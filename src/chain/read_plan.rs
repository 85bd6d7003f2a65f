//! One read of one stored object whose bytes the host fetches: the byte ranges that it needs, stage by stage.
//!
//! A [`Stage`] has ranges of the object, and what to decode from each. Decoding the index of a shard gives the inner
//! chunks of the next stage, which are objects within the first. Bytes are decoded straight to their place as soon as
//! they are supplied, on the thread that supplies them.

use super::Chain;
use super::elements::Packed;
use super::plan::{Elements, Operation, Step};
use super::region::Region;
use super::shard::{Cell, Shard, ShardIndex};
use super::stage::{ByteRange, Stage, Supplied, Use, lock};
use crate::error::{CodecPlace, Error, Result};
use crate::interface::{Call, CallOptions};
use crate::memory::grow;
use crate::strided::{self, Source, Target};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// A read of one stored object.
#[derive(Debug)]
pub struct ReadPlan {
    options: CallOptions,
    /// The objects of the next stage.
    next: Mutex<Vec<Object>>,
    stage: Stage<Action>,
    index: OnceLock<Arc<ShardIndex>>,
    /// Whether the chain has an index that its host may keep.
    has_index: bool,
    has_failed: AtomicBool,
}

/// A chunk within the stored object, and the boxes of it to decode.
#[derive(Debug)]
struct Object {
    chain: Arc<Chain>,
    /// Where it lies. Only the stored object itself may have an unknown size.
    offset: u64,
    size: Option<u64>,
    parts: Vec<Part>,
    index: Option<Arc<ShardIndex>>,
    origin: Option<Arc<Origin>>,
}

/// A box of a chunk and its place in the caller's memory.
#[derive(Debug)]
struct Part {
    region: Region,
    target: Target<'static>,
}

/// The inner chunk that an object is in its shard.
#[derive(Debug)]
struct Origin {
    chain: Arc<Chain>,
    cell: Cell,
    outer: Option<Arc<Origin>>,
}

/// A part of the box to decode from the bytes of a range.
#[derive(Debug)]
struct Action {
    object: Object,
    kind: ActionKind,
}

#[derive(Debug, Clone, Copy)]
enum ActionKind {
    /// The whole chunk.
    Decode,
    /// The output of the only step, from this element on.
    DecodeSpan { first: u64 },
    /// The index of a shard.
    Index,
}

/// How the encoded bytes of a chain can be read in part.
enum Access<'a> {
    Whole,
    /// Elements, after this many bytes of frames.
    Elements(&'a Elements, &'a Step),
    /// A shard, whose array may first be transposed.
    Shard(Option<&'a Elements>, &'a Shard, &'a CodecPlace, &'a Step),
}

impl ReadPlan {
    /// Plans a read of these boxes of a chunk, each given by its start and its target. `object_size` is the size of the
    /// stored object, if known. The targets borrow the caller's memory for as long as the plan lives.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): a box is not within the chunk, or the index belongs
    /// to another grid.
    pub fn new(
        chain: &Arc<Chain>,
        options: CallOptions,
        boxes: Vec<(Vec<u64>, Target<'static>)>,
        object_size: Option<u64>,
        index: Option<Arc<ShardIndex>>,
    ) -> Result<Self> {
        let mut parts = Vec::with_capacity(boxes.len());
        for (start, target) in boxes {
            let region = chain.region(&start, target.shape(), target.element_size())?;
            if !region.is_empty() {
                parts.push(Part { region, target });
            }
        }
        let has_index = chain.shard_alone().is_ok();
        if let Some(index) = &index {
            chain.shard_alone()?.0.check_grid(index)?;
        }
        let known = OnceLock::new();
        if let Some(index) = &index {
            let _ = known.set(Arc::clone(index));
        }
        let object = Object { chain: Arc::clone(chain), offset: 0, size: object_size, parts, index, origin: None };
        object.check_size()?;
        let next = if object.parts.is_empty() { Vec::new() } else { vec![object] };
        Ok(Self {
            options,
            next: Mutex::new(next),
            stage: Stage::new(Vec::new()),
            index: known,
            has_index,
            has_failed: AtomicBool::new(false),
        })
    }

    /// The ranges of the next stage, by offset; none when the read is complete.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) while a range of this stage is missing; otherwise
    /// the error that ended the plan.
    pub fn next_stage(&mut self) -> Result<impl Iterator<Item = ByteRange>> {
        self.check_alive()?;
        self.stage.check_supplied()?;
        let result = self.expand();
        self.stage = Stage::new(self.ending(result)?);
        Ok(self.stage.ranges())
    }

    /// Turns objects into actions until none is left.
    fn expand(&mut self) -> Result<Vec<(ByteRange, Use<Action>)>> {
        let mut actions = Vec::new();
        loop {
            let objects = std::mem::take(&mut *lock(&self.next));
            if objects.is_empty() {
                return Ok(actions);
            }
            for object in objects {
                let origin = object.origin.clone();
                self.expand_object(object, &mut actions).map_err(|error| locate(error, origin.as_deref()))?;
            }
        }
    }

    fn expand_object(&self, mut object: Object, actions: &mut Vec<(ByteRange, Use<Action>)>) -> Result<()> {
        let chain = Arc::clone(&object.chain);
        match chain.access() {
            Access::Elements(elements, step) => {
                let lead = step.leading_size().unwrap_or(0);
                for part in std::mem::take(&mut object.parts) {
                    let (first, span) = elements.span(&part.region);
                    let offset = add(object.offset, add(lead, span.start)?)?;
                    let range = ByteRange::At { offset, size: span.end - span.start };
                    let bytes = 0..span.end - span.start;
                    let kind = ActionKind::DecodeSpan { first };
                    actions.push((range, Use { bytes, work: Action { object: object.of_part(part), kind } }));
                }
            }
            Access::Shard(elements, shard, place, step) => match object.index.clone() {
                Some(index) => self.expand_cells(object, elements, shard, place, step, &index)?,
                None => actions.push(index_action(object, shard, step)?),
            },
            Access::Whole => match object.size {
                Some(0) => decode(&mut object, &[], &self.options)?,
                Some(size) => {
                    let range = ByteRange::At { offset: object.offset, size };
                    actions.push((range, Use { bytes: 0..size, work: Action { object, kind: ActionKind::Decode } }));
                }
                None => {
                    let range = ByteRange::From(object.offset);
                    actions
                        .push((range, Use { bytes: 0..u64::MAX, work: Action { object, kind: ActionKind::Decode } }));
                }
            },
        }
        Ok(())
    }

    /// The inner chunks that the boxes of a shard touch, as objects. Missing ones are filled here.
    fn expand_cells(
        &self,
        object: Object,
        elements: Option<&Elements>,
        shard: &Shard,
        place: &CodecPlace,
        step: &Step,
        index: &ShardIndex,
    ) -> Result<()> {
        let lead = step.leading_size().unwrap_or(0);
        let mut next = Vec::new();
        for part in object.parts {
            let (region, target) = match elements {
                Some(elements) => (elements.needed(&part.region), elements.permute(part.target)?),
                None => (part.region, part.target),
            };
            let targets = shard.split(target, &region)?;
            for (cell, mut target) in shard.cells(&region).zip(targets) {
                let entry = index.entry(cell.number).map_err(|error| place.blame(shard.at_cell(error, &cell)))?;
                let Some(entry) = entry else {
                    shard.fill(&cell, &mut target).map_err(|error| place.blame(error))?;
                    continue;
                };
                let region = cell.region.clone();
                let origin = Origin { chain: Arc::clone(&object.chain), cell, outer: object.origin.clone() };
                next.push(Object {
                    chain: Arc::clone(&shard.inner),
                    offset: add(object.offset, add(lead, entry.start)?)?,
                    size: Some(entry.end - entry.start),
                    parts: vec![Part { region, target }],
                    index: None,
                    origin: Some(Arc::new(origin)),
                });
            }
        }
        next.iter()
            .try_for_each(|object| object.check_size().map_err(|error| locate(error, object.origin.as_deref())))?;
        lock(&self.next).extend(next);
        Ok(())
    }

    /// Supplies the bytes of a range of this stage. Several threads may supply different ranges at once.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): there is no such range, or it has been supplied.
    /// Bytes of the wrong number, or that do not decode, end the plan.
    pub fn supply(&self, index: usize, bytes: &[u8]) -> Result<()> {
        self.check_alive()?;
        let supplied = self.stage.take(index)?;
        self.ending(self.run(supplied, bytes, &self.options))
    }

    /// Supplies all ranges of this stage, on as many workers as the options allow.
    ///
    /// # Errors
    /// As [`supply`](Self::supply); [`Status::InvalidArgument`](crate::Status::InvalidArgument) also after a `supply`
    /// of this stage, or if the number of ranges is wrong.
    pub fn supply_all(&self, bytes: &[&[u8]]) -> Result<()> {
        self.check_alive()?;
        self.stage.check_untouched(bytes.len())?;
        let size = bytes.iter().map(|bytes| bytes.len()).sum();
        let workers = self.options.workers().count_for(size);
        let single = if workers.get() > 1 { self.options.alone() } else { self.options.clone() };
        let parts = bytes.iter().enumerate();
        let results = self.options.workers().map(workers, parts, |(index, bytes)| {
            let supplied = self.stage.take(index)?;
            self.run(supplied, bytes, &single)
        });
        self.ending(results.and_then(|results| results.into_iter().try_for_each(|(_, result)| result)))
    }

    fn run(&self, supplied: Supplied<Action>, bytes: &[u8], options: &CallOptions) -> Result<()> {
        supplied.each(bytes, |Action { mut object, kind }, bytes| {
            let origin = object.origin.clone();
            let result = match kind {
                ActionKind::Decode => decode(&mut object, bytes, options),
                ActionKind::DecodeSpan { first } => decode_span(&mut object, bytes, first, options),
                ActionKind::Index => self.read_index(object, bytes, options),
            };
            result.map_err(|error| locate(error, origin.as_deref()))
        })
    }

    fn read_index(&self, mut object: Object, bytes: &[u8], options: &CallOptions) -> Result<()> {
        let chain = Arc::clone(&object.chain);
        let Access::Shard(_, shard, place, step) = chain.access() else {
            return Err(Error::internal("an index of a chain without a shard"));
        };
        let around =
            step.leading_size().zip(step.trailing_size()).map_or(0, |(lead, trail)| lead.saturating_add(trail));
        let shard_size = object.size.map(|size| size.saturating_sub(around));
        let index = shard.decode_index(bytes, shard_size, options).map_err(|error| place.blame(error))?;
        let index = Arc::new(index);
        if object.origin.is_none() {
            let _ = self.index.set(Arc::clone(&index));
        }
        object.index = Some(index);
        lock(&self.next).push(object);
        Ok(())
    }

    /// The index of the shard; `None` if the chain has no index of the stored object.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) before it is known.
    pub fn index(&self) -> Result<Option<Arc<ShardIndex>>> {
        match self.index.get() {
            _ if !self.has_index => Ok(None),
            Some(index) => Ok(Some(Arc::clone(index))),
            None => Err(Error::argument("the index of the shard is not known yet")),
        }
    }

    fn check_alive(&self) -> Result<()> {
        if self.has_failed.load(Ordering::Acquire) {
            return Err(Error::argument("the plan has ended with an error: it can only be freed"));
        }
        Ok(())
    }

    /// Any failure of the work itself ends the plan.
    fn ending<T>(&self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.has_failed.store(true, Ordering::Release);
        }
        result
    }
}

impl Object {
    /// The same object for one of its boxes.
    fn of_part(&self, part: Part) -> Self {
        Self {
            chain: Arc::clone(&self.chain),
            offset: self.offset,
            size: self.size,
            parts: vec![part],
            index: None,
            origin: self.origin.clone(),
        }
    }

    /// Refuses a size that no encoded chunk of the chain can have.
    fn check_size(&self) -> Result<()> {
        let Some(size) = self.size else { return Ok(()) };
        let (least, step) = match self.chain.access() {
            Access::Whole => return Ok(()),
            Access::Elements(elements, step) => (elements.encoded_size(), step),
            Access::Shard(_, shard, _, step) => (shard.index_size().0, step),
        };
        let is_exact = matches!(self.chain.access(), Access::Elements(..));
        let around = step.leading_size().zip(step.trailing_size()).and_then(|(lead, trail)| lead.checked_add(trail));
        let expected = around.and_then(|around| around.checked_add(least));
        let is_possible = expected.is_some_and(|expected| if is_exact { size == expected } else { size >= expected });
        if is_possible {
            return Ok(());
        }
        let expected = expected.map_or("more than any object has".to_owned(), |expected| expected.to_string());
        let at_least = if is_exact { "" } else { "at least " };
        let error = Error::corrupt(format!("the chunk has {size} bytes, expected {at_least}{expected}"));
        Err(step.last_place.blame(error))
    }
}

impl Chain {
    /// How the encoded bytes of this chain can be read in part.
    fn access(&self) -> Access<'_> {
        let (before, last) = match self.plan.steps.as_slice() {
            [last] => (None, last),
            [Step { operation: Operation::Elements(elements), .. }, last]
                if elements.is_order() && last.decoded.array().is_ok_and(|array| array.shape() == elements.shape) =>
            {
                (Some(elements), last)
            }
            _ => return Access::Whole,
        };
        let is_checked = last.frames.iter().any(|(place, frame)| {
            frame.checks_payload() || self.hooks[place.index].as_ref().is_some_and(|hook| hook.checks())
        });
        match (&last.operation, before) {
            _ if is_checked => Access::Whole,
            (Operation::Elements(elements), None) => Access::Elements(elements, last),
            (Operation::Shard(place, shard), before) => Access::Shard(before, shard, place, last),
            _ => Access::Whole,
        }
    }

    /// The shard of this chain, if nothing follows it.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): there is none, or a bytes->bytes codec follows it.
    pub(super) fn shard_alone(&self) -> Result<(&Shard, &CodecPlace)> {
        match self.plan.steps.last() {
            Some(Step { operation: Operation::Shard(place, shard), frames, .. }) if frames.is_empty() => {
                Ok((shard, place))
            }
            _ => Err(Error::unsupported("the last codec of the chain is not sharding_indexed: there is no index")),
        }
    }

    /// The chain of the inner chunks of a shard.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): the last codec is not `sharding_indexed`.
    pub fn inner(&self) -> Result<Arc<Self>> {
        self.shard_alone().map(|(shard, _)| Arc::clone(&shard.inner))
    }

    /// Where the index of a shard lies in its object.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): the last codec is not `sharding_indexed`.
    pub fn index_range(&self) -> Result<ByteRange> {
        let (size, is_first) = self.shard_alone()?.0.index_size();
        Ok(if is_first { ByteRange::At { offset: 0, size } } else { ByteRange::Last(size) })
    }

    /// Decodes the index of a shard whose object has this size, if it is known.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): the last codec is not `sharding_indexed`.
    /// [`Status::CorruptData`](crate::Status::CorruptData): the bytes are not an index of this chain.
    pub fn decode_index(&self, bytes: &[u8], object_size: Option<u64>) -> Result<ShardIndex> {
        let (shard, place) = self.shard_alone()?;
        let size = shard.index_size().0;
        if bytes.len() as u64 != size {
            let error = Error::corrupt(format!("the index has {} bytes, expected {size}", bytes.len()));
            return Err(place.blame(error));
        }
        let checked = object_size.map_or(Ok(()), |size| shard.check_size(size));
        let index = checked.and_then(|()| shard.decode_index(bytes, object_size, &CallOptions::default()));
        index.map_err(|error| place.blame(error))
    }
}

fn index_action(object: Object, shard: &Shard, step: &Step) -> Result<(ByteRange, Use<Action>)> {
    let (index_size, is_first) = shard.index_size();
    let (lead, trail) = (step.leading_size().unwrap_or(0), step.trailing_size().unwrap_or(0));
    let range = match object.size {
        _ if is_first => ByteRange::At { offset: add(object.offset, lead)?, size: index_size },
        Some(size) => {
            let offset = add(object.offset, lead)? + shard.index_place(size - lead - trail).start;
            ByteRange::At { offset, size: index_size }
        }
        None => ByteRange::Last(add(index_size, trail)?),
    };
    Ok((range, Use { bytes: 0..index_size, work: Action { object, kind: ActionKind::Index } }))
}

/// Decodes the boxes of an object from all of its bytes.
fn decode(object: &mut Object, bytes: &[u8], options: &CallOptions) -> Result<()> {
    if let [part] = object.parts.as_mut_slice() {
        return object.chain.decode_region(bytes, &part.region, &mut part.target, options);
    }
    // One decode for all: what several boxes need may be decoded only once then.
    let Some(around) = Region::around(object.parts.iter().map(|part| &part.region)) else { return Ok(()) };
    let element_size = object.chain.element_size()?;
    let mut decoded = Vec::new();
    grow(&mut decoded, around.element_count() * element_size)?;
    let mut target = Target::contiguous(&mut decoded, element_size, &around.shape)?;
    object.chain.decode_region(bytes, &around, &mut target, options)?;
    let source = Source::contiguous(&decoded, element_size, &around.shape)?;
    object.parts.iter_mut().try_for_each(|part| {
        strided::copy(&source.region(&part.region.relative_to(&around), &part.region.shape)?, &mut part.target)
    })
}

fn decode_span(object: &mut Object, bytes: &[u8], first: u64, options: &CallOptions) -> Result<()> {
    let chain = Arc::clone(&object.chain);
    let Access::Elements(elements, _) = chain.access() else {
        return Err(Error::internal("a span of a chain without elements"));
    };
    chain.pool.with(|workspace| {
        let mut call = Call { options, hook: None, contexts: &mut workspace.contexts };
        object.parts.iter_mut().try_for_each(|part| {
            let packed = Packed { bytes, region: Region::whole(&elements.shape), first };
            elements.decode(&packed, &part.region, &mut part.target, &mut call)
        })
    })
}

/// Converts the error of an inner chunk to one of the outermost chain.
fn locate(error: Error, origin: Option<&Origin>) -> Error {
    let Some(origin) = origin else { return error };
    let Some(step) = origin.chain.plan.steps.last() else { return error };
    let Operation::Shard(place, shard) = &step.operation else { return error };
    locate(place.blame(shard.locate(error, &origin.cell)), origin.outer.as_deref())
}

fn add(offset: u64, size: u64) -> Result<u64> {
    offset.checked_add(size).ok_or_else(|| Error::corrupt("an offset passes 2^64"))
}
