//! A shard: inner chunks, each through a chain of its own, and their index.

mod cells;
mod in_order;
pub(super) mod index;
pub(super) mod strips;

use crate::chain::Chain;
use crate::chain::boxes::cell_grid::{Cell, CellGrid};
use crate::chain::boxes::region::Region;
use crate::chain::input::{Decoded, Input};
use crate::chain::plan::Elements;
use crate::chain::workspace::Workspace;
use crate::error::{CodecPlace, Error, Result, Status};
use crate::interface::{BoundShard, Call, CallOptions, Direction, too_small};
use crate::memory::collect;
use crate::parallel::divides_by_items;
use crate::representation::position_of;
use crate::strided::{self, Source};
use in_order::{EncodedChunk, InOrder};
use index::{ShardIndex, push_entry};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// A bound shard and the chains that do its work.
#[derive(Debug, Clone)]
pub(super) struct Shard {
    bound: Arc<BoundShard>,
    pub(super) inner: Arc<Chain>,
    pub(super) index: Chain,
    /// Whether the codecs of the index cannot change its numbers, because the first of them is `bytes`.
    has_exact_index: bool,
    element_size: usize,
}

/// The array of a shard, or one that an elementwise pass makes it of. The pass runs on one inner chunk at a time, or on
/// a few small ones, so that what the shard gets is never all in memory.
struct ShardInput<'a> {
    array: &'a Input<'a>,
    pass: Option<&'a Elements>,
}

impl Shard {
    pub(super) fn new(bound: &Arc<BoundShard>, inner: Chain, index: Chain, element_size: usize) -> Self {
        let has_exact_index = bound.index.list().keeps_integers();
        Self { bound: Arc::clone(bound), inner: Arc::new(inner), index, has_exact_index, element_size }
    }

    /// The smallest box that is worth decoding alone: an innermost inner chunk.
    pub(super) fn granularity(&self) -> Vec<u64> {
        self.inner.innermost_chunk().unwrap_or_else(|| self.bound.chunk_shape.clone())
    }

    /// Whether a bound on the encoded size of an inner chunk is known in advance.
    pub(super) fn has_bound(&self) -> bool {
        self.inner.decoded_size().is_none_or(|size| self.inner.has_encoded_bound(size))
    }

    /// Encodes all inner chunks, in C order and without gaps, into the beginning of `encoded`. `memory` is for what a pass
    /// before the shard makes.
    pub(super) fn encode(
        &self,
        decoded: &Decoded<'_>,
        encoded: &mut [u8],
        codec: &CodecPlace,
        memory: &mut Vec<u8>,
        call: &mut Call<'_>,
    ) -> Result<usize> {
        let options = call.options;
        let blame = |error| codec.blame(error);
        let shape = self.shape();
        let whole;
        let (array, pass) = match decoded {
            Decoded::Input(input) => (input, None),
            Decoded::BeforePass(input, pass) => (input, Some(*pass)),
            Decoded::Slice(bytes) => {
                whole = Input::whole(Source::contiguous(bytes, self.element_size, &shape)?);
                (&whole, None)
            }
        };
        let input = &ShardInput { array, pass };
        let index_size = usize::try_from(self.bound.index_size).map_err(|_| too_small())?;
        // Without a bound, encoding all inner chunks tells what the shard needs.
        if encoded.len() < index_size && self.has_bound() {
            return Err(too_small());
        }
        let (index, end) = match self.encode_together(input, encoded, codec, options)? {
            Some(encoded) => encoded,
            None => {
                let room = self.chunk_room(encoded.len());
                let (mut index, mut end) = (Vec::new(), room.start);
                self.encode_cells(input, &mut encoded[..room.end], (&mut index, &mut end), memory, call)
                    .map_err(blame)?;
                (index, end)
            }
        };
        let index_range = if self.bound.is_index_first { 0..index_size } else { end..end + index_size };
        self.encode_index(&index, &mut encoded[index_range], options).map_err(blame)?;
        Ok(if self.bound.is_index_first { end } else { end + index_size })
    }

    /// Encodes all inner chunks, one after the other, and adds their entries to the index.
    fn encode_cells(
        &self,
        input: &ShardInput<'_>,
        encoded: &mut [u8],
        (index, end): (&mut Vec<u64>, &mut usize),
        memory: &mut Vec<u8>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        let options = call.options;
        let whole = Region::whole(input.array.shape());
        let chunk = |cell: Cell| Ok((input.array.region(&cell.start, &self.bound.chunk_shape)?, cell));
        let mut chunks = self.cells(&whole).map(chunk).peekable();
        while let Some((mut chunk, cell)) = chunks.next().transpose()? {
            if let Some(Ok((next, _))) = chunks.peek() {
                next.prefetch(); // it is there after this one
            }
            if let Some(pass) = input.pass {
                self.convert(pass, &cell.start, &mut chunk, memory, call)?;
            }
            self.add_cell(&cell, chunk, encoded, (index, end), options)?;
        }
        Ok(())
    }

    /// Encodes all inner chunks by several threads, or strip by strip; returns the index, and where the last one ends.
    /// `None` if they are encoded one after the other.
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn encode_together(
        &self,
        input: &ShardInput<'_>,
        encoded: &mut [u8],
        codec: &CodecPlace,
        options: &CallOptions,
    ) -> Result<Option<(Vec<u64>, usize)>> {
        let whole = Region::whole(input.array.shape());
        let workers = options.workers().count_for(whole.element_count().saturating_mul(self.element_size));
        let is_serial = self.has_bound()
            && !divides_by_items(workers, self.chunk_count(), self.inner.part_count(Direction::Encode));
        let strip_shape = || self.strip_shape(&whole, if is_serial { NonZeroUsize::MIN } else { workers });
        let strip_shape = input.pass.and_then(|_| self.batch_shape()).or_else(strip_shape);
        if !is_serial {
            let strip_shape = strip_shape.as_ref().unwrap_or(&self.bound.chunk_shape);
            return self.encode_side_by_side(input, strip_shape, workers, encoded, codec, options).map(Some);
        }
        let strips = strip_shape.map(|strip_shape| self.encode_strips(input, &strip_shape, encoded, options));
        strips.transpose().map_err(|error| codec.blame(error))
    }

    /// Encodes all inner chunks strip by strip; returns the index, and where the last one ends.
    fn encode_strips(
        &self,
        input: &ShardInput<'_>,
        strip_shape: &[u64],
        encoded: &mut [u8],
        options: &CallOptions,
    ) -> Result<(Vec<u64>, usize)> {
        let room = self.chunk_room(encoded.len());
        let (encoded, mut index, mut end) = (&mut encoded[..room.end], Vec::new(), room.start);
        Region::whole(input.array.shape()).cut(strip_shape).try_for_each(|strip| {
            self.for_each_in_strip(input, &strip, options, &mut |cell, chunk| {
                self.add_cell(cell, chunk, encoded, (&mut index, &mut end), options)
            })
        })?;
        Ok((index, end))
    }

    /// Encodes all inner chunks strip by strip on several threads; returns the index, and where the last one ends.
    fn encode_side_by_side(
        &self,
        input: &ShardInput<'_>,
        strip_shape: &[u64],
        workers: NonZeroUsize,
        encoded: &mut [u8],
        codec: &CodecPlace,
        options: &CallOptions,
    ) -> Result<(Vec<u64>, usize)> {
        let (whole, single) = (Region::whole(input.array.shape()), options.single_threaded());
        let room = self.chunk_room(encoded.len());
        let parts = InOrder::new(&mut encoded[room.start.min(room.end)..room.end], room.start as u64);
        let encoding = options.workers().for_each(workers, whole.cut(strip_shape), |strip| {
            self.for_each_in_strip(input, &strip, &single, &mut |cell, chunk| {
                let part = self.encode_part(cell, chunk, &parts, &single).map_err(|error| codec.blame(error))?;
                parts.put(cell.number as usize, part)
            })
        });
        let (ranges, last) = parts.finish();
        let refused = match &encoding {
            Ok(()) => 0,
            Err(error) if error.is_of_no_codec() => return Err(error.clone()),
            // An inner chunk of a fixed size is refused for lack of room before its elements are looked at.
            Err(_) => self.inner.fixed_size().unwrap_or(0),
        };
        let after = if self.bound.is_index_first { 0 } else { self.bound.index_size };
        let needed = last.saturating_add(refused).saturating_add(after);
        if needed > encoded.len() as u64 {
            return Err(Error::buffer_too_small("encoded_capacity", encoded.len(), needed));
        }
        encoding?;
        let mut index = Vec::new();
        ranges.into_iter().try_for_each(|range| push_entry(&mut index, range))?;
        Ok((index, last as usize))
    }

    /// Encodes an inner chunk to the end of what is encoded, and adds its entry to the index.
    #[inline(always)] // a frame less for each shard in a shard
    fn add_cell(
        &self,
        cell: &Cell,
        chunk: Input<'_>,
        encoded: &mut [u8],
        (index, end): (&mut Vec<u64>, &mut usize),
        options: &CallOptions,
    ) -> Result<()> {
        let Some(chunk) = self.chunk_to_store(chunk, options)? else { return push_entry(index, None) };
        let encoded = &mut encoded[*end..];
        // Neighbouring inner chunks often have about the same size.
        if let Some(probable) = index.last().and_then(|size| encoded.get(..*size as usize)) {
            self.request(probable);
        }
        let encoding = self.inner.encode_chunk(chunk, encoded, options);
        let size = encoding.map_err(|error| self.locate(error, cell))?;
        push_entry(index, Some(*end as u64..(*end + size) as u64))?;
        *end += size;
        Ok(())
    }

    /// Requests bytes that the codecs of an inner chunk are about to read or write: those of a large shard are in no
    /// cache. Codecs that keep bytes gain nothing by it.
    pub(super) fn request(&self, bytes: &[u8]) {
        if !self.inner.plan.keeps_bytes() {
            strided::prefetch_bytes(bytes);
        }
    }

    /// Calls `work` with each inner chunk of a strip of whole ones, in C order.
    fn for_each_in_strip(
        &self,
        input: &ShardInput<'_>,
        strip: &Region,
        options: &CallOptions,
        work: &mut dyn FnMut(&Cell, Input<'_>) -> Result<()>,
    ) -> Result<()> {
        let shape = &self.bound.chunk_shape;
        let ShardInput { array, pass } = *input;
        let all = array.region(&strip.start, &strip.shape)?;
        if pass.is_some() && self.batch_shape().is_some() {
            return self.with_values(pass, &strip.start, all, options, |all| {
                let chunk = |cell: &Cell| all.region(&cell.in_array().relative_to(strip), shape);
                self.cells(strip).try_for_each(|cell| work(&cell, chunk(&cell)?))
            });
        }
        self.inner.pool.with_strip(|memory| {
            let gathered = match all.whole_source() {
                Some(source) => self.gather(strip, source, memory)?,
                None => None,
            };
            self.cells(strip).enumerate().try_for_each(|(number, cell)| {
                let chunk = match &gathered {
                    Some(chunks) => Input::whole(Source::contiguous(chunks.get(number), array.element_size(), shape)?),
                    None => array.region(&cell.start, shape)?,
                };
                self.with_values(pass, &cell.start, chunk, options, |chunk| work(&cell, chunk))
            })
        })
    }

    /// Passes on a part of the input, which begins at `start`, as it enters the shard.
    fn with_values<T>(
        &self,
        pass: Option<&Elements>,
        start: &[u64],
        part: Input<'_>,
        options: &CallOptions,
        work: impl FnOnce(Input<'_>) -> Result<T>,
    ) -> Result<T> {
        let Some(pass) = pass else { return work(part) };
        self.inner.pool.with(|Workspace { back, contexts, .. }| {
            let mut part = part;
            self.convert(pass, start, &mut part, back, &mut Call { options, hooks: None, contexts })?;
            work(part)
        })
    }

    /// Makes of a part of the input, which begins at `start`, what enters the shard.
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn convert<'m>(
        &self,
        pass: &Elements,
        start: &[u64],
        part: &mut Input<'m>,
        memory: &'m mut Vec<u8>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        let region = Region { start: start.to_vec(), shape: part.shape().to_vec() };
        let size = pass.encode_box(part, &region, memory, call)?;
        *part = Input::whole(Source::contiguous(&memory[..size], self.element_size, &region.shape)?);
        Ok(())
    }

    /// Encodes an inner chunk into memory that an earlier one had; `None` if it need not be stored.
    fn encode_part(
        &self,
        cell: &Cell,
        chunk: Input<'_>,
        parts: &InOrder<'_>,
        options: &CallOptions,
    ) -> Result<Option<EncodedChunk>> {
        let Some(chunk) = self.chunk_to_store(chunk, options)? else { return Ok(None) };
        let mut memory = parts.memory();
        let size = self.inner.encode_chunk_growing(chunk, &mut memory, options);
        size.map(|size| Some(EncodedChunk { memory, size })).map_err(|error| self.locate(error, cell))
    }

    /// Encodes an inner chunk; `None` if it need not be stored.
    pub(super) fn encode_cell_to_vec(
        &self,
        cell: &Cell,
        chunk: Input<'_>,
        options: &CallOptions,
    ) -> Result<Option<Vec<u8>>> {
        let Some(chunk) = self.chunk_to_store(chunk, options)? else { return Ok(None) };
        self.inner.encode_chunk_to_vec(chunk, options).map(Some).map_err(|error| self.locate(error, cell))
    }

    fn chunk_to_store<'a>(&self, chunk: Input<'a>, options: &CallOptions) -> Result<Option<Decoded<'a>>> {
        if !options.stores_empty && chunk.is_fill(self.inner.input().array()?)? {
            return Ok(None);
        }
        Ok(Some(chunk.as_slice().map_or(Decoded::Input(chunk), Decoded::Slice)))
    }

    /// Encodes the entries of an index into memory of its own.
    pub(super) fn encode_index_to_vec(&self, entries: &[u64], options: &CallOptions) -> Result<Vec<u8>> {
        let mut encoded = Vec::new();
        crate::memory::grow(&mut encoded, usize::try_from(self.bound.index_size).map_err(|_| Error::out_of_memory())?)?;
        self.encode_index(entries, &mut encoded, options)?;
        Ok(encoded)
    }

    fn encode_index(&self, index: &[u64], encoded: &mut [u8], options: &CallOptions) -> Result<()> {
        let mut decoded = Vec::new();
        crate::memory::grow(&mut decoded, 8 * index.len())?;
        let (entries, _) = decoded.as_chunks_mut();
        entries.iter_mut().zip(index).for_each(|(bytes, number)| *bytes = number.to_ne_bytes());
        let size = self.index.encode_into(&decoded, encoded, options).map_err(in_index)?;
        if size != encoded.len() {
            return Err(Error::internal("an index has another size than its bound"));
        }
        if self.has_exact_index { Ok(()) } else { self.check_index(index, encoded, options) }
    }

    /// Refuses an index that its own codecs have changed.
    fn check_index(&self, index: &[u64], encoded: &[u8], options: &CallOptions) -> Result<()> {
        let again = self.decode_index_by(&self.index.without_hooks(), encoded, None, options)?.entries;
        let changed = index.iter().zip(&again).enumerate().find(|(_, (number, again))| number != again);
        changed.map_or(Ok(()), |(element, (number, again))| {
            let message = format!("is {number}, but index_codecs give back {again}");
            Err(in_index(Error::out_of_range(element, message)))
        })
    }

    /// Decodes the index of a whole shard.
    pub(super) fn read_index(&self, encoded: &[u8], options: &CallOptions) -> Result<ShardIndex> {
        let size = encoded.len() as u64;
        self.check_size(size)?;
        let range = self.index_range(size);
        self.decode_index(&encoded[range.start as usize..range.end as usize], Some(size), options)
    }

    /// A shard has at least its index.
    pub(super) fn check_size(&self, size: u64) -> Result<()> {
        let index_size = self.bound.index_size;
        if size >= index_size {
            return Ok(());
        }
        Err(Error::corrupt(format!("the shard has {size} bytes, but its index takes {index_size}")))
    }

    /// Where the index lies in a shard of this size.
    pub(super) fn index_range(&self, size: u64) -> Range<u64> {
        let index_size = self.bound.index_size;
        if self.bound.is_index_first { 0..index_size } else { size - index_size..size }
    }

    /// Where inner chunks go in a shard of at most this size; the end comes before the start if there is no room.
    fn chunk_room(&self, capacity: usize) -> Range<usize> {
        // An index that exceeds a `usize` leaves no room.
        let index_size = usize::try_from(self.bound.index_size).unwrap_or(usize::MAX);
        if self.bound.is_index_first { index_size..capacity } else { 0..capacity.saturating_sub(index_size) }
    }

    /// The size of the index, and whether it comes before the inner chunks.
    pub(super) fn index_size(&self) -> (u64, bool) {
        (self.bound.index_size, self.bound.is_index_first)
    }

    /// Decodes the index of a shard of this size, if it is known.
    pub(super) fn decode_index(
        &self,
        bytes: &[u8],
        shard_size: Option<u64>,
        options: &CallOptions,
    ) -> Result<ShardIndex> {
        self.decode_index_by(&self.index, bytes, shard_size, options)
    }

    fn decode_index_by(
        &self,
        chain: &Chain,
        bytes: &[u8],
        shard_size: Option<u64>,
        options: &CallOptions,
    ) -> Result<ShardIndex> {
        let decoded = chain.decode_to_vec(bytes, options).map_err(in_index)?;
        let entries = collect(decoded.as_chunks().0.iter().map(|number| Ok(u64::from_ne_bytes(*number))))?;
        Ok(ShardIndex { entries, grid: self.bound.grid.clone(), shard_size })
    }

    /// Refuses the index of another grid.
    pub(super) fn check_grid(&self, index: &ShardIndex) -> Result<()> {
        let (found, expected) = (&index.grid, &self.bound.grid);
        if found == expected {
            return Ok(());
        }
        Err(Error::argument(format!(
            "the index belongs to a grid of {found:?}, but the chain has a grid of {expected:?}"
        )))
    }

    /// The number of inner chunks.
    pub(super) fn chunk_count(&self) -> u64 {
        self.bound.chunk_count()
    }

    /// The shape of each inner chunk.
    pub(super) fn chunk_shape(&self) -> &[u64] {
        &self.bound.chunk_shape
    }

    /// The size of an element of the input in bytes.
    pub(super) fn element_size(&self) -> usize {
        self.element_size
    }

    /// The shape of the array that it is made of.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.bound.grid.iter().zip(&self.bound.chunk_shape).map(|(count, size)| count * size).collect()
    }

    /// The inner chunks as cells of the array.
    pub(super) fn grid(&self) -> CellGrid<'_> {
        CellGrid { counts: &self.bound.grid, size: &self.bound.chunk_shape }
    }

    /// All of the inner chunk with this number.
    pub(super) fn cell(&self, number: u64) -> Cell {
        self.grid().cell(number)
    }

    /// The number of inner chunks that a box touches.
    pub(super) fn cells_in(&self, region: &Region) -> u64 {
        self.grid().counts(region).iter().product()
    }

    /// The inner chunks that a box touches, in C order of the grid.
    pub(super) fn cells<'a>(&'a self, region: &'a Region) -> impl Iterator<Item = Cell> + Send + 'a {
        self.grid().cells(region)
    }

    /// Converts the error of an inner chunk to one of the shard, with the index of the element in the shard's array, or
    /// else with the inner chunk's place in the grid.
    pub(super) fn locate(&self, error: Error, cell: &Cell) -> Error {
        let element = error
            .element_index()
            .zip(error.codec_index())
            .map(|(element, codec)| self.element_of(cell, self.bound.inner.element_of_input(codec, element)));
        if error.status() == Status::BufferTooSmall {
            return error;
        }
        if element.is_some() || error.status() == Status::OutOfMemory {
            return error.in_list(BoundShard::INNER_LIST).at_element(element);
        }
        let cell = position_of(cell.number, &self.bound.grid);
        error.in_list(BoundShard::INNER_LIST).with_context(&format!("in inner chunk {cell:?}, "))
    }

    /// The index in the shard's array of an element of an inner chunk.
    pub(super) fn element_of(&self, cell: &Cell, element: u64) -> u64 {
        let whole = Region { start: cell.start.clone(), shape: self.bound.chunk_shape.clone() };
        whole.index_within(element, &self.shape())
    }

    pub(super) fn at_cell(&self, error: Error, cell: &Cell) -> Error {
        error.with_context(&format!("inner chunk {:?} ", position_of(cell.number, &self.bound.grid)))
    }
}

fn in_index(error: Error) -> Error {
    let error = match error.element_index() {
        Some(element) => error.with_context(&format!("element {element} of the index ")),
        None => error,
    };
    error.in_list(BoundShard::INDEX_LIST)
}
