//! Shards made or changed by their inner chunks.
//!
//! Elements that are put are kept by inner chunk: encoded if the inner chunk is complete, otherwise as elements until
//! the rest comes. Several threads may put; no lock is held while a codec runs.

use super::partial_chunk::{self, PartialChunk};
use super::pieces::{Encoded, NewShard, OldShard, Piece, ShardLayout, appended, packed};
use super::put::Put;
use super::stage::{ByteRange, Consumer, Poison, Stage};
use crate::chain::Chain;
use crate::chain::boxes::cell_grid::Cell;
use crate::chain::boxes::region::Region;
use crate::chain::input::Input;
use crate::chain::shard::Shard;
use crate::chain::shard::index::ShardIndex;
use crate::chain::workspace::Workspace;
use crate::error::{CodecPlace, Error, Result};
use crate::interface::{CallOptions, Direction};
use crate::memory::{self, push};
use crate::parallel::{divides_by_items, lock};
use crate::strided::Source;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Makes or changes a shard by its inner chunks.
#[derive(Debug)]
pub struct Writer {
    chain: Arc<Chain>,
    /// The shard of the chain.
    shard: Arc<Shard>,
    /// The codec of the shard.
    codec: CodecPlace,
    options: CallOptions,
    old: Option<OldShard>,
    /// What the fill value of the chain becomes before the shard, if that is not the fill value there, or why it
    /// cannot be encoded. Then every inner chunk of a new shard is stored.
    unput_element: Result<Option<Vec<u8>>>,
    /// Whether a shard without any inner chunk has the same elements as a missing one.
    may_be_missing: bool,
    /// The elements that were put, by the numbers of the inner chunks.
    slots: Mutex<BTreeMap<u64, Arc<Slot>>>,
    phase: Phase,
    /// The old inner chunks that are needed, by their numbers.
    stage: Stage<u64>,
    pieces: Vec<Piece>,
    poison: Poison,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Putting,
    Reading,
    Finished,
}

type Slot = Mutex<Content>;

/// The known elements of an inner chunk that was put.
#[derive(Debug)]
enum Content {
    /// Nothing yet, or some elements. The others are those of the old inner chunk, or else the fill value.
    Partial(Option<PartialChunk>),
    /// All elements.
    Whole(Arc<Vec<u8>>),
    Encoded(Encoded),
}

impl Writer {
    /// A writer of a new shard, or of a shard whose object has this index and size.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): codecs other than `transpose` and elementwise ones precede
    /// the sharding codec, or any codec follows it. [`Status::InvalidArgument`](crate::Status::InvalidArgument): the
    /// index belongs to another grid, or to an object of another size.
    /// [`Status::CorruptData`](crate::Status::CorruptData): no object of this size has an index.
    pub fn new(chain: &Arc<Chain>, mut options: CallOptions, old: Option<(Arc<ShardIndex>, u64)>) -> Result<Self> {
        let (shard, codec) = chain.writable_shard()?;
        if let Some((index, size)) = &old {
            shard.check_grid(index)?;
            shard.check_size(*size).map_err(|error| codec.blame(error))?;
            if let Some(known) = index.shard_size.filter(|known| known != size) {
                return Err(Error::argument(format!(
                    "old_size is {size}, but the index was decoded for an object of {known} bytes"
                )));
            }
        }
        let unput_element = match chain.encoded_fill_value(shard, &options) {
            Err(error) if error.is_of_no_codec() => return Err(error),
            element => element,
        };
        let may_be_missing = chain.decodes_to_fill_value(shard, &options)?;
        options.stores_empty |= !matches!(unput_element, Ok(None));
        Ok(Self {
            chain: Arc::clone(chain),
            shard: Arc::clone(shard),
            codec: codec.clone(),
            options,
            old: old.map(|(index, size)| OldShard { index, size }),
            unput_element,
            may_be_missing,
            slots: Mutex::default(),
            phase: Phase::Putting,
            stage: Stage::empty(),
            pieces: Vec::new(),
            poison: Poison::new("writer"),
        })
    }

    /// The chain of the shard.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Puts a box of the chunk, which begins at `start` and has the shape of the source. Later elements replace earlier
    /// ones. Several threads may put at once. An error is that of the first inner chunk at fault in C order.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): the box is not within the chunk, or
    /// [`next_stage`](Self::next_stage) has been called; the writer is unchanged. Any other error ends the writer.
    pub fn put(&self, start: &[u64], source: Source<'_>) -> Result<()> {
        self.poison.check()?;
        match self.phase {
            Phase::Putting => {}
            Phase::Reading => {
                return Err(Error::argument("nothing can be put once the old inner chunks have been asked for"));
            }
            Phase::Finished => return Err(is_finished()),
        }
        let region = self.chain.region(start, source.shape(), source.element_size())?;
        if region.is_empty() {
            return Ok(());
        }
        self.poison.end_on_failure(|| self.put_cells(&Put { region, source }))
    }

    fn put_cells(&self, put: &Put<'_>) -> Result<()> {
        let shard = &self.shard;
        let region = self.chain.elements_before().fold(put.region.clone(), |region, elements| elements.needed(&region));
        let size = region.element_count().saturating_mul(self.chain.element_size()?.max(shard.element_size()));
        let strip_shape = match self.chain.elements_before().next() {
            None => shard.strip_shape(&region, self.options.workers().count_for(size)),
            Some(_) => None,
        };
        if let Some(shape) = strip_shape {
            return self.for_each(size, shard.cells_in(&region), region.cut(&shape), |strip, options| {
                self.chain.pool.with_strip(|memory| self.put_strip(&strip, put, memory, options))
            });
        }
        self.for_each(size, shard.cells_in(&region), shard.cells(&region), |cell, options| {
            self.chain.pool.with(|workspace| self.put_cell(&cell, put, workspace, options))
        })
    }

    /// Puts inner chunks side by side that get the elements as they are.
    fn put_strip(&self, strip: &Region, put: &Put<'_>, memory: &mut Vec<u8>, options: &CallOptions) -> Result<()> {
        let shard = &self.shard;
        let source = put.source.region(&strip.relative_to(&put.region), &strip.shape)?;
        let gathered = shard.gather(strip, &source, memory)?;
        for (number, cell) in shard.cells(strip).enumerate() {
            let (region, source) = match &gathered {
                Some(chunks) => {
                    let chunk = Source::contiguous(chunks.get(number), shard.element_size(), shard.chunk_shape())?;
                    (cell.in_array(), chunk)
                }
                None => (strip.clone(), source.clone()),
            };
            let put = Put { region, source };
            self.chain.pool.with(|workspace| self.put_cell(&cell, &put, workspace, options))?;
        }
        Ok(())
    }

    /// Does work on `count` inner chunks, on as many workers as pay off for this many bytes.
    fn for_each<T>(
        &self,
        size: usize,
        count: u64,
        mut items: impl Iterator<Item = T> + Send,
        work: impl Fn(T, &CallOptions) -> Result<()> + Sync,
    ) -> Result<()> {
        let workers = self.options.workers().count_for(size);
        if !divides_by_items(workers, count, self.shard.inner.part_count(Direction::Encode)) {
            return items.try_for_each(|item| work(item, &self.options));
        }
        let single = self.options.single_threaded();
        self.options.workers().for_each(workers, items, |item| work(item, &single))
    }

    fn put_cell(&self, cell: &Cell, put: &Put<'_>, workspace: &mut Workspace, options: &CallOptions) -> Result<()> {
        let slot = self.slot(cell.number);
        let is_whole = cell.region.is_whole(self.shard.chunk_shape());
        self.chain.with_values(put, &cell.in_array(), workspace, options, |values| {
            if !is_whole {
                return self.put_part(cell, &values, &slot, options);
            }
            let encoded = self.encode(cell, values, options)?;
            *lock(&slot) = Content::Encoded(encoded);
            Ok(())
        })
    }

    fn put_part(&self, cell: &Cell, values: &Source<'_>, slot: &Slot, options: &CallOptions) -> Result<()> {
        let shard = &self.shard;
        let shape = shard.chunk_shape();
        loop {
            let mut content = lock(slot);
            match &mut *content {
                Content::Partial(partial) => {
                    let known = match partial {
                        Some(chunk) => chunk,
                        None => partial.insert(PartialChunk::new(shape, shard.element_size())?),
                    };
                    known.put(shape, &cell.region, values)?;
                    if let Some(whole) = partial.take_if(|chunk| chunk.is_complete()) {
                        let whole = Arc::new(whole.into_complete());
                        *content = Content::Whole(Arc::clone(&whole));
                        drop(content);
                        return self.encode_whole(cell, slot, &whole, options);
                    }
                    return Ok(());
                }
                Content::Whole(decoded) => {
                    return partial_chunk::patch(exclusive(decoded)?, shape, &cell.region, values);
                }
                Content::Encoded(encoded) => {
                    let encoded = encoded.clone();
                    drop(content);
                    if !self.decode_again(cell, slot, encoded, options)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Decodes an inner chunk that was encoded, unless another thread, or a callback, has changed it meanwhile. Returns
    /// false if all of it was put meanwhile: what is put in part then counts as put before that, as either may win.
    fn decode_again(&self, cell: &Cell, slot: &Slot, encoded: Encoded, options: &CallOptions) -> Result<bool> {
        let decoded = Arc::new(match &encoded {
            Some(encoded) => self.decode(cell, encoded, options)?,
            None => self.filled(cell)?,
        });
        let mut content = lock(slot);
        if let Content::Encoded(now) = &*content {
            if !is_same(now.as_ref(), encoded.as_ref()) {
                return Ok(false);
            }
            *content = Content::Whole(decoded);
        }
        Ok(true)
    }

    /// Encodes an inner chunk of which all elements are known, unless another thread has changed it meanwhile.
    fn encode_whole(&self, cell: &Cell, slot: &Slot, whole: &Arc<Vec<u8>>, options: &CallOptions) -> Result<()> {
        let shard = &self.shard;
        let values = Source::contiguous(whole, shard.element_size(), shard.chunk_shape())?;
        let encoded = self.encode(cell, values, options)?;
        let mut content = lock(slot);
        if matches!(&*content, Content::Whole(now) if Arc::ptr_eq(now, whole)) {
            *content = Content::Encoded(encoded);
        }
        Ok(())
    }

    /// The old inner chunks that are needed because only parts of them were put; none once all have been supplied.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) while a range is missing; the writer is unchanged.
    /// [`Status::Unsupported`](crate::Status::Unsupported): only a part of a new inner chunk was put, and the chain has
    /// no fill value. Any other error ends the writer.
    pub fn next_stage(&mut self) -> Result<impl Iterator<Item = ByteRange>> {
        self.poison.check()?;
        match self.phase {
            Phase::Putting => {
                self.stage = self.poison.end_on_failure(|| self.begin_reading())?;
                self.phase = Phase::Reading;
            }
            Phase::Reading => {
                self.stage.check_supplied()?;
                self.stage = Stage::empty();
            }
            Phase::Finished => return Err(is_finished()),
        }
        Ok(self.stage.ranges())
    }

    /// Ends the writer because its caller cannot go on.
    pub(crate) fn end(&self) {
        self.poison.set();
    }

    /// Encodes the inner chunks that need no old bytes; returns the ranges of the others.
    fn begin_reading(&self) -> Result<Stage<u64>> {
        let (mut consumers, mut ready) = (Vec::new(), Vec::new());
        for (number, slot) in lock(&self.slots).iter() {
            match self.old_bytes(*number, slot)? {
                Some(Range { start, end }) if start < end => {
                    let range = ByteRange::At { offset: start, size: end - start };
                    push(&mut consumers, (range, Consumer { bytes: 0..end - start, work: *number }))?;
                }
                old => push(&mut ready, (*number, old.map(|_| [].as_slice())))?,
            }
        }
        let chunk_size = self.shard.inner.decoded_size().unwrap_or(0);
        let size = chunk_size.saturating_mul(ready.len() as u64);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.for_each(size, ready.len() as u64, ready.into_iter(), |(number, old), options| {
            self.complete(number, old, options)
        })?;
        Stage::new(consumers)
    }

    /// The range of the old inner chunk, if it is needed.
    fn old_bytes(&self, number: u64, slot: &Slot) -> Result<Option<Range<u64>>> {
        let (shard, codec) = (&self.shard, &self.codec);
        match (&*lock(slot), &self.old) {
            (Content::Partial(Some(_)), Some(old)) => old.entry(shard, number).map_err(|error| codec.blame(error)),
            _ => Ok(None),
        }
    }

    /// Encodes an inner chunk. `old` has the bytes of the old one, if it is needed and exists.
    fn complete(&self, number: u64, old: Option<&[u8]>, options: &CallOptions) -> Result<()> {
        let (cell, slot) = (self.shard.cell(number), self.slot(number));
        let content = std::mem::replace(&mut *lock(&slot), Content::Partial(None));
        let whole = match content {
            Content::Partial(None) => return Err(Error::internal("a part of an inner chunk is lost")),
            Content::Partial(Some(chunk)) => Arc::new(chunk.into_whole(match old {
                Some(old) => self.decode(&cell, old, options)?,
                None => self.filled(&cell)?,
            })),
            Content::Whole(whole) => whole,
            Content::Encoded(encoded) => {
                *lock(&slot) = Content::Encoded(encoded);
                return Ok(());
            }
        };
        *lock(&slot) = Content::Whole(Arc::clone(&whole));
        self.encode_whole(&cell, &slot, &whole, options)
    }

    /// Supplies the bytes of a range of this stage. Several threads may supply different ranges at once.
    ///
    /// # Errors
    /// As for [`ReadPlan::supply`](crate::chain::ReadPlan::supply).
    pub fn supply(&self, index: usize, bytes: &[u8]) -> Result<()> {
        self.poison.check()?;
        let supplied = self.stage.take(index)?;
        let (shard, codec) = (&self.shard, &self.codec);
        let locate = |number: &u64, error| codec.blame(shard.locate(error, &shard.cell(*number)));
        let complete = |number, bytes: &_| self.complete(number, Some(bytes), &self.options);
        self.poison.end_on_failure(|| supplied.each(bytes, locate, complete))
    }

    /// The pieces of the new object, in the order in which to write them, and its size.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) while old inner chunks are missing; the writer is
    /// unchanged. [`Status::CorruptData`](crate::Status::CorruptData): the index has an inner chunk outside the old
    /// object.
    pub fn finish(&mut self, layout: ShardLayout) -> Result<(&[Piece], u64)> {
        self.poison.check()?;
        match self.phase {
            Phase::Putting => {
                if self.needs_old()? {
                    return Err(Error::argument("old inner chunks are needed, and have not been asked for"));
                }
                self.poison.end_on_failure(|| self.begin_reading())?;
            }
            Phase::Reading => self.stage.check_supplied()?,
            Phase::Finished => return Err(is_finished()),
        }
        let NewShard { pieces, size } = self.poison.end_on_failure(|| self.assemble(layout))?;
        self.phase = Phase::Finished;
        self.stage = Stage::empty();
        self.pieces = pieces;
        Ok((&self.pieces, size))
    }

    fn needs_old(&self) -> Result<bool> {
        for (number, slot) in lock(&self.slots).iter() {
            if self.poison.end_on_failure(|| self.old_bytes(*number, slot))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn assemble(&self, layout: ShardLayout) -> Result<NewShard> {
        let (shard, codec) = (&self.shard, &self.codec);
        let mut changes = BTreeMap::new();
        for (number, slot) in lock(&self.slots).iter() {
            let Content::Encoded(encoded) = &*lock(slot) else {
                return Err(Error::internal("an inner chunk has not been encoded"));
            };
            changes.insert(*number, encoded.clone());
        }
        let is_complete = changes.len() as u64 == shard.chunk_count();
        let unput = if is_complete { None } else { self.unput_cell()? };
        let object = match (layout, &self.old) {
            (ShardLayout::Append, Some(old)) => appended(shard, old, &changes, &self.options),
            _ => packed(shard, self.old.as_ref(), &changes, &unput, || self.missing_cell(), &self.options),
        };
        object.map_err(|error| codec.blame(error))
    }

    fn slot(&self, number: u64) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        Arc::clone(slots.entry(number).or_insert_with(|| Arc::new(Mutex::new(Content::Partial(None)))))
    }

    fn encode(&self, cell: &Cell, values: Source<'_>, options: &CallOptions) -> Result<Encoded> {
        let (shard, codec) = (&self.shard, &self.codec);
        let encoded = shard.encode_cell_to_vec(cell, Input::whole(values), options);
        encoded.map(|encoded| encoded.map(Arc::new)).map_err(|error| codec.blame(error))
    }

    fn decode(&self, cell: &Cell, encoded: &[u8], options: &CallOptions) -> Result<Vec<u8>> {
        let (shard, codec) = (&self.shard, &self.codec);
        let decoded = shard.inner.decode_to_vec(encoded, options);
        decoded.map_err(|error| codec.blame(shard.locate(error, cell)))
    }

    /// An inner chunk of the new shard that nobody has put.
    fn unput_cell(&self) -> Result<Encoded> {
        let shard = &self.shard;
        if matches!(self.unput_element, Ok(None)) || self.old.is_some() {
            return Ok(None);
        }
        let cell = shard.cell(0);
        let whole = self.filled(&cell)?;
        self.encode(&cell, Source::contiguous(&whole, shard.element_size(), shard.chunk_shape())?, &self.options)
    }

    /// The inner chunk that a shard without any must store, so that the host does not delete it.
    fn missing_cell(&self) -> Result<Encoded> {
        if self.may_be_missing || self.shard.chunk_count() == 0 {
            return Ok(None);
        }
        let (shard, options) = (&self.shard, CallOptions { stores_empty: true, ..self.options.clone() });
        let whole = partial_chunk::filled(shard.chunk_shape(), shard.inner.fill_value()?)?;
        let values = Source::contiguous(&whole, shard.element_size(), shard.chunk_shape())?;
        Ok(shard.encode_cell_to_vec(&shard.cell(0), Input::whole(values), &options)?.map(Arc::new))
    }

    /// An inner chunk that does not exist.
    fn filled(&self, cell: &Cell) -> Result<Vec<u8>> {
        let (shard, codec) = (&self.shard, &self.codec);
        if self.old.is_none()
            && let Some(element) = self.unput_element.as_ref().map_err(Error::clone)?
        {
            return partial_chunk::filled(shard.chunk_shape(), element);
        }
        let value = shard.inner.fill_value().map_err(|error| codec.blame(shard.locate(error, cell)))?;
        partial_chunk::filled(shard.chunk_shape(), value)
    }
}

/// The decoded elements, which one thread at a time may change.
fn exclusive(decoded: &mut Arc<Vec<u8>>) -> Result<&mut [u8]> {
    if Arc::get_mut(decoded).is_none() {
        *decoded = Arc::new(memory::to_vec(decoded)?);
    }
    let decoded = Arc::get_mut(decoded).ok_or_else(|| Error::internal("a new copy is shared"))?;
    Ok(decoded)
}

fn is_same(left: Option<&Arc<Vec<u8>>>, right: Option<&Arc<Vec<u8>>>) -> bool {
    left.zip(right).map_or(left.is_none() && right.is_none(), |(left, right)| Arc::ptr_eq(left, right))
}

fn is_finished() -> Error {
    Error::argument("the writer is finished: it can only be freed")
}
