//! One read of one stored object whose bytes the host fetches: the byte ranges that it needs, stage by stage.
//!
//! A [`Stage`] has ranges of the object, and what to decode from each. Decoding the index of a shard gives the inner
//! chunks of the next stage, which are objects within the first; decoding the header of a block of N5 tells where its
//! elements lie. Bytes are decoded straight to their place as soon as they are supplied, on the thread that supplies
//! them.

use super::action::{Action, Actions};
use super::stage::{ByteRange, Poison, Stage, Supplied};
use super::{Object, PlacedBox};
use crate::chain::Chain;
use crate::chain::place::BoxPlace;
use crate::chain::shard::index::ShardIndex;
use crate::chain::shard::strips::STRIPS_PER_WORKER;
use crate::error::{Error, Result};
use crate::interface::CallOptions;
use crate::memory::{collect, push};
use crate::parallel::{divides_by_items, lock, worth_using};
use crate::strided::{self, Strip, Target};
use std::sync::{Arc, Mutex, OnceLock};

/// A read of one stored object.
#[derive(Debug)]
pub struct ReadPlan {
    chain: Arc<Chain>,
    options: CallOptions,
    /// Whether its boxes are so large together that they go past the caches.
    is_large: bool,
    /// The objects of the next stage.
    next: Mutex<Vec<Object>>,
    stage: Stage<Action>,
    index: OnceLock<Arc<ShardIndex>>,
    /// Whether the chain has an index that its host may keep.
    has_index: bool,
    poison: Poison,
}

impl ReadPlan {
    /// Plans a read of these boxes of a chunk, each given by its start and its target. `object_size` is the size of the
    /// stored object, if known. The targets borrow the caller's memory for as long as the plan lives.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): a box is not within the chunk, or the index belongs
    /// to another grid. [`Status::Unsupported`](crate::Status::Unsupported): no array enters the chain, or there is an
    /// index, but not at the end of the chain. [`Status::CorruptData`](crate::Status::CorruptData): no chunk of the chain
    /// has this size.
    pub fn new(
        chain: &Arc<Chain>,
        options: CallOptions,
        boxes: Vec<(Vec<u64>, Target<'static>)>,
        object_size: Option<u64>,
        index: Option<Arc<ShardIndex>>,
    ) -> Result<Self> {
        let (mut placed, mut size) = (Vec::new(), 0_u64);
        for (position, (start, target)) in boxes.into_iter().enumerate() {
            let region = chain
                .region(&start, target.shape(), target.element_size())
                .map_err(|error| error.with_context(&format!("boxes[{position}]: ")))?;
            size = size.saturating_add(target.layout().size());
            if !region.is_empty() {
                push(&mut placed, PlacedBox { region, place: BoxPlace::Memory(target) })?;
            }
        }
        if let Some(index) = &index {
            chain.shard_alone()?.0.check_grid(index)?;
        }
        let object = Object {
            chain: Arc::clone(chain),
            offset: 0,
            size: object_size,
            boxes: placed,
            index,
            block: None,
            origin: None,
        };
        object.check_size()?;
        let has_index = chain.shard_alone().is_ok() && object.is_read_in_parts();
        let known = OnceLock::new();
        if let Some(index) = object.index.as_ref().filter(|_| has_index) {
            let _ = known.set(Arc::clone(index));
        }
        let next = if object.boxes.is_empty() { Vec::new() } else { vec![object] };
        Ok(Self {
            chain: Arc::clone(chain),
            options,
            is_large: size >= strided::LARGE_SIZE,
            next: Mutex::new(next),
            stage: Stage::empty(),
            index: known,
            has_index,
            poison: Poison::new("plan"),
        })
    }

    /// The ranges of the next stage, by offset; none when the read is complete.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) while a range of this stage is missing; otherwise
    /// the error that ended the plan.
    pub fn next_stage(&mut self) -> Result<impl Iterator<Item = ByteRange>> {
        self.poison.check()?;
        self.stage.check_supplied()?;
        self.stage = self.poison.end_on_failure(|| Stage::new(self.expand()?))?;
        Ok(self.stage.ranges())
    }

    /// Ends the plan because its caller cannot go on.
    pub(crate) fn end(&self) {
        self.poison.set();
    }

    /// Turns objects into actions until none is left.
    fn expand(&self) -> Result<Actions> {
        let mut actions = Vec::new();
        loop {
            let objects = std::mem::take(&mut *lock(&self.next));
            if objects.is_empty() {
                return Ok(actions);
            }
            let mut inner = Vec::new();
            objects.into_iter().try_for_each(|object| object.expand(&self.options, &mut actions, &mut inner))?;
            *lock(&self.next) = inner;
        }
    }

    /// Supplies the bytes of a range of this stage. Several threads may supply different ranges at once.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): there is no such range, or it has been supplied.
    /// Bytes of the wrong number, or that do not decode, end the plan.
    pub fn supply(&self, index: usize, bytes: &[u8]) -> Result<()> {
        self.poison.check()?;
        let supplied = self.stage.take(index)?;
        self.poison.end_on_failure(|| self.run(supplied, bytes, None, &self.options))
    }

    /// Supplies all ranges of this stage, on as many workers as the options allow.
    ///
    /// # Errors
    /// As [`supply`](Self::supply); [`Status::InvalidArgument`](crate::Status::InvalidArgument) also after a `supply`
    /// of this stage, or if the number of ranges is wrong.
    pub fn supply_all(&self, bytes: &[&[u8]]) -> Result<()> {
        self.poison.check()?;
        self.stage.check_untouched(bytes.len())?;
        let encoded_size: usize = bytes.iter().map(|bytes| bytes.len()).sum();
        let (mut decoded_size, mut part_count) = (0_usize, None);
        self.stage.look(|action: &Action| {
            let size = action.decoded_size();
            decoded_size = decoded_size.saturating_add(size);
            if worth_using(size).get() > 1 {
                let count = action.part_count();
                part_count = Some(part_count.map_or(count, |least: u64| least.min(count)));
            }
        });
        let workers = self.options.workers().count_for(encoded_size.max(decoded_size));
        // Inner chunks that lie side by side, one after the other; a shard may have them in any order.
        let order = self.poison.end_on_failure(|| match self.is_large {
            true => self.stage.sorted_by_key(Action::cell_numbers),
            false => collect((0..bytes.len()).map(Ok)),
        })?;
        if !divides_by_items(workers, bytes.len() as u64, part_count.unwrap_or(1)) {
            // Threads share the parts of each range.
            return self.poison.end_on_failure(|| self.supply_part(&order, bytes, &self.options));
        }
        let single = self.options.single_threaded();
        let most = if self.is_large { strided::MAX_BOXES } else { 1 };
        let size = (bytes.len() / STRIPS_PER_WORKER.saturating_mul(workers.get())).clamp(1, most);
        let supply = |part: &[usize]| self.supply_part(part, bytes, &single);
        let (workers_of_call, count) = (self.options.workers(), order.len().div_ceil(size));
        self.poison.end_on_failure(|| workers_of_call.for_each_neighbour(workers, count, order.chunks(size), supply))
    }

    /// Whether the plan goes on.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): an error has ended it.
    pub fn check(&self) -> Result<()> {
        self.poison.check()
    }

    /// Supplies the ranges with these numbers.
    fn supply_part(&self, numbers: &[usize], bytes: &[&[u8]], options: &CallOptions) -> Result<()> {
        let mut numbers = numbers.iter().copied();
        if !self.is_large {
            return numbers.try_for_each(|index| self.run(self.stage.take(index)?, bytes[index], None, options));
        }
        self.chain.pool.with_strip(|memory| {
            let mut strip = Strip::new(memory);
            numbers.try_for_each(|index| self.run(self.stage.take(index)?, bytes[index], Some(&mut strip), options))?;
            strip.finish();
            Ok(())
        })
    }

    fn run<'e>(
        &self,
        supplied: Supplied<Action>,
        bytes: &'e [u8],
        mut strip: Option<&mut Strip<'_, 'e, 'static>>,
        options: &CallOptions,
    ) -> Result<()> {
        supplied.each(bytes, Action::locate, |action, bytes| {
            let Some(shard) = action.run(bytes, strip.as_deref_mut(), options)? else { return Ok(()) };
            match &shard.index {
                // Of a shard within a shard only the inner chunks are kept: there may be many such indices.
                Some(_) if shard.origin.is_some() => {
                    let (mut actions, mut inner) = (Vec::new(), Vec::new());
                    shard.expand(options, &mut actions, &mut inner)?;
                    let mut next = lock(&self.next);
                    return inner.into_iter().try_for_each(|object| push(&mut next, object));
                }
                Some(index) if self.has_index => _ = self.index.set(Arc::clone(index)),
                _ => {}
            }
            push(&mut lock(&self.next), shard)
        })
    }

    /// The index of the shard; `None` if the chain has no index of the stored object.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) before it is known, and after an error.
    pub fn index(&self) -> Result<Option<Arc<ShardIndex>>> {
        self.poison.check()?;
        match self.index.get() {
            Some(index) => Ok(Some(Arc::clone(index))),
            None if !self.has_index => Ok(None),
            None => Err(Error::argument("the index of the shard is not known yet")),
        }
    }
}
