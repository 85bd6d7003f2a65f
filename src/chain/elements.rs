//! An elementwise pass between memory with any strides and packed elements.
//!
//! Packed elements are in C order. If the other side is in C order, too, the kernels run over all of it. Otherwise they
//! run over tiles: boxes that are copied from or to their place.

use super::boxes::region::{MIN_RUN_SIZE, Region, Tiles, index_steps};
use super::copy::{copy_strided, workers_for};
use super::input::{Decoded, Input, not_by_parts};
use super::plan::Elements;
use super::tile_shape::tile_shape;
use crate::error::{Error, Result};
use crate::interface::{Call, Contexts, packed_size, too_small};
use crate::memory::grow;
use crate::representation::{element_count, index_of};
use crate::strided::{self, Layout, Source, Target};
use std::ops::Range;

/// The size of a tile on its way to or from strides. It fits a second-level cache, and is large enough for many rows to
/// use each cache line of a transposed side.
const TILE_SIZE: usize = 256 << 10;

/// A tile in scratch memory. On encode it also keeps the last elements, which do not fill a byte yet.
#[derive(Debug, Default)]
struct Tile(Vec<u8>);

/// Encoded elements of a box, side by side.
#[derive(Debug, Default)]
struct Gathered(Vec<u8>);

/// Gathering one more run costs about as much as decoding this many bytes.
const GATHERED_RUN_COST: usize = 64;

impl Elements {
    /// Encodes all elements into the beginning of `encoded`.
    pub(super) fn encode(&self, decoded: &Decoded<'_>, encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let size = usize::try_from(self.fused.encoded_size()).map_err(|_| too_small())?;
        let encoded = encoded.get_mut(..size).ok_or_else(too_small)?;
        let input = match (decoded, &self.order) {
            (Decoded::Slice(decoded), None) => {
                self.fused.encode(decoded, encoded, call)?;
                return Ok(size);
            }
            (Decoded::Slice(decoded), Some(order)) => {
                let shape = unpermuted(&self.shape, order);
                Input::whole(Source::contiguous(decoded, self.fused.element_size(), &shape)?).permuted(order)?
            }
            (Decoded::Input(input), None) => input.clone(),
            (Decoded::Input(input), Some(order)) => input.permuted(order)?,
            (Decoded::BeforePass(..), _) => return Err(not_by_parts()),
        };
        self.encode_input(&input, encoded, call)?;
        Ok(size)
    }

    /// Encodes a box of the input, transposed for the kernels, wherever its elements lie, into the beginning of `encoded`;
    /// returns the size. `region` is the box of the output.
    pub(super) fn encode_box(
        &self,
        input: &Input<'_>,
        region: &Region,
        encoded: &mut Vec<u8>,
        call: &mut Call<'_>,
    ) -> Result<usize> {
        let size = packed_size(element_count(&region.shape), self.fused.encoded_bits());
        let size = usize::try_from(size).map_err(|_| Error::out_of_memory())?;
        grow(encoded, size)?;
        self.encode_input(input, &mut encoded[..size], call).map_err(|error| region.locate(error, &self.shape))?;
        Ok(size)
    }

    /// The size of an element of the output in bytes, if that is an array.
    pub(super) fn encoded_element_size(&self) -> usize {
        self.fused.encoded_bits() / 8
    }

    /// Encodes elements whose dimensions have the order that the kernels get.
    pub(super) fn encode_input(&self, input: &Input<'_>, encoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        match input.as_slice() {
            Some(decoded) => self.fused.encode(decoded, encoded, call),
            None if self.fused.is_copy() => {
                input.copy_to(&mut Target::contiguous(encoded, self.fused.element_size(), input.shape())?, call.options)
            }
            None => self.encode_parts(input, encoded, call),
        }
    }

    /// Decodes all elements to the beginning of `decoded`, back to back in C order.
    pub(super) fn decode_all(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let count = usize::try_from(element_count(&self.shape)).ok();
        let size = count.and_then(|count| count.checked_mul(self.fused.element_size())).ok_or_else(too_small)?;
        let decoded = decoded.get_mut(..size).ok_or_else(too_small)?;
        match &self.order {
            None => self.fused.decode(encoded, decoded, call)?,
            Some(order) => {
                let shape = unpermuted(&self.shape, order);
                let mut target = Target::contiguous(decoded, self.fused.element_size(), &shape)?;
                let packed = Packed { bytes: encoded, region: Region::whole(&self.shape), first: 0 };
                self.decode(&packed, &Region::whole(&shape), &mut target, call)?;
            }
        }
        Ok(size)
    }

    /// Encodes parts of the input on as many threads as are worth it.
    fn encode_parts(&self, input: &Input<'_>, encoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        let whole = Region::whole(input.shape());
        let size = whole.element_count().saturating_mul(self.fused.element_size());
        let (workers, bits) = (workers_for(size, call.options), self.fused.encoded_bits());
        let parts: Vec<Region> = whole.slabs(workers.get() as u64).collect();
        let are_bytes = parts.iter().all(|part| (element_count(&part.shape) % 8 * bits as u64).is_multiple_of(8));
        if parts.len() < 2 || !are_bytes {
            return self.encode_tiles(input, encoded, call);
        }
        let (mut rest, mut work, mut first) = (encoded, Vec::with_capacity(parts.len()), 0);
        for part in parts {
            let count = element_count(&part.shape);
            let (output, after) = rest.split_at_mut(packed_size(count, bits) as usize);
            work.push((first, input.region(&part.start, &part.shape)?, output));
            rest = after;
            first += count;
        }
        let options = &call.options.single_threaded();
        call.options.workers().for_each(workers, work.into_iter(), |(first, input, encoded)| {
            let call = &mut Call { options, hooks: None, contexts: &mut Contexts::default() };
            self.encode_tiles(&input, encoded, call).map_err(|error| error.after_elements(first))
        })
    }

    fn encode_tiles(&self, input: &Input<'_>, encoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        let (element_size, bits) = (self.fused.element_size(), self.fused.encoded_bits());
        let (shape, strides) = (input.shape(), input.layout().strides());
        let tile = tile_shape(shape, strides, element_size, TILE_SIZE / element_size, shape);
        if let Some(tile) = tile {
            match self.encode_by_lines(input, &tile, encoded, call) {
                // Only in C order does the first element at fault come first.
                Err(error) if error.is_of_data() => {}
                result => return result,
            }
        }
        let Tile(mut pending) = std::mem::take(call.contexts.get(|| Ok(Tile::default()))?);
        let whole = Region::whole(input.shape());
        let (mut held, mut done) = (0, 0);
        for tile in Tiles::new(&whole, TILE_SIZE / element_size) {
            let count = tile.element_count();
            grow(&mut pending, (held + count) * element_size)?;
            let gathered = &mut pending[held * element_size..(held + count) * element_size];
            let part = input.region(&tile.start, &tile.shape)?;
            part.copy_to(&mut Target::contiguous(gathered, element_size, &tile.shape)?, call.options)?;
            let available = held + count;
            let is_last = done + available as u64 == element_count(&whole.shape);
            // A part ends with a whole byte: the elements after it wait for the next tile.
            let ready = if is_last || bits.is_multiple_of(8) { available } else { available / 8 * 8 };
            let first = packed_size(done, bits) as usize;
            let part = &mut encoded[first..first + packed_size(ready as u64, bits) as usize];
            let result = self.fused.encode(&pending[..ready * element_size], part, call);
            result.map_err(|error| error.after_elements(done))?;
            pending.copy_within(ready * element_size..available * element_size, 0);
            held = available - ready;
            done += ready as u64;
        }
        *call.contexts.get(|| Ok(Tile::default()))? = Tile(pending);
        Ok(())
    }

    /// Encodes tiles of this shape, which use whole cache lines of the input, run by run.
    fn encode_by_lines(&self, input: &Input<'_>, tile: &[u64], encoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        let element_size = self.fused.element_size();
        if !self.fused.encoded_bits().is_multiple_of(8) {
            // Runs that share a byte add their bits to it.
            encoded.fill(0);
        }
        let Tile(mut scratch) = std::mem::take(call.contexts.get(|| Ok(Tile::default()))?);
        for tile in Region::whole(input.shape()).cut(tile) {
            let size = tile.element_count() * element_size;
            grow(&mut scratch, size)?;
            let part = input.region(&tile.start, &tile.shape)?;
            part.copy_to(&mut Target::contiguous(&mut scratch[..size], element_size, &tile.shape)?, call.options)?;
            let (run_length, firsts) = tile.runs(input.shape());
            for (run, first) in scratch[..size].chunks_exact(run_length * element_size).zip(firsts) {
                self.fused.encode_to(run, encoded, first, call)?;
            }
        }
        *call.contexts.get(|| Ok(Tile::default()))? = Tile(scratch);
        Ok(())
    }

    /// Decodes a box of the array that enters on encode. `packed` is a box of the output that includes
    /// [`needed`](Self::needed).
    pub(super) fn decode(
        &self,
        packed: &Packed<'_>,
        region: &Region,
        target: &mut Target<'_>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        match &self.order {
            None => self.decode_region(packed, region, target, call),
            Some(order) => {
                let target = &mut target.reborrow().permuted(order)?;
                self.decode_region(packed, &region.permuted(order), target, call)
            }
        }
    }

    /// Whether the pass only changes the order of elements.
    pub(super) fn keeps_values(&self) -> bool {
        self.fused.is_copy()
    }

    /// The size of the output.
    pub(super) fn encoded_size(&self) -> u64 {
        self.fused.encoded_size()
    }

    /// The input of the pass, transposed for the kernels.
    pub(super) fn permute_source<'a>(&self, source: &Source<'a>) -> Result<Source<'a>> {
        match &self.order {
            Some(order) => source.permuted(order),
            None => Ok(source.clone()),
        }
    }

    /// The part of the output that spans a box of the input: its first element, which begins with a byte, and its
    /// bytes.
    pub(super) fn span(&self, region: &Region) -> (u64, Range<u64>) {
        let (needed, bits) = (self.needed(region), self.fused.encoded_bits());
        let (first, last) = needed.ends(&self.shape);
        let first = if bits.is_multiple_of(8) { first } else { first / 8 * 8 };
        (first, packed_size(first, bits)..packed_size(last + 1, bits))
    }

    /// The box of the output that is needed for a box of the input.
    pub(super) fn needed(&self, region: &Region) -> Region {
        self.order.as_ref().map_or_else(|| region.clone(), |order| region.permuted(order))
    }

    /// The box of the input that a box of the output comes from.
    pub(super) fn origin_of(&self, region: &Region) -> Region {
        let Some(order) = &self.order else { return region.clone() };
        let [start, shape] = [&region.start, &region.shape].map(|numbers| unpermuted(numbers, order));
        Region { start, shape }
    }

    /// As [`decode`](Self::decode), with the box and the target already in the order of the kernels.
    pub(super) fn decode_region(
        &self,
        packed: &Packed<'_>,
        region: &Region,
        target: &mut Target<'_>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        if region.is_empty() {
            return Ok(());
        }
        if self.fused.is_copy() {
            return copy_strided(&packed.source(region, self.fused.element_size())?, target, call.options);
        }
        match target.as_slice() {
            Some(decoded)
                if self.gathered_size(packed, region).is_none() && self.with_gaps(packed, region) == *region =>
            {
                self.decode_runs(packed, region, decoded, call)
            }
            _ => self.decode_parts(packed, region, target, call),
        }
    }

    /// Decodes parts of a box on as many threads as are worth it.
    fn decode_parts(
        &self,
        packed: &Packed<'_>,
        region: &Region,
        target: &mut Target<'_>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        let workers = workers_for(region.element_count() * self.fused.element_size(), call.options);
        if workers.get() == 1 {
            return self.decode_tiles(packed, region, target, call);
        }
        let parts = region.split(target.reborrow(), workers.get() as u64)?;
        let options = &call.options.single_threaded();
        call.options.workers().for_each(workers, parts.into_iter(), |(region, mut target)| {
            let call = &mut Call { options, hooks: None, contexts: &mut Contexts::default() };
            self.decode_tiles(packed, &region, &mut target, call)
        })
    }

    fn decode_tiles(
        &self,
        packed: &Packed<'_>,
        region: &Region,
        target: &mut Target<'_>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        let element_size = self.fused.element_size();
        let strides = target.layout().strides();
        let tile = tile_shape(&region.shape, strides, element_size, TILE_SIZE / element_size, &packed.region.shape);
        if let Some(tile) = tile {
            let tiles = Region::whole(&region.shape).cut(&tile).map(|tile| tile.moved(&region.start));
            match self.decode_each_tile(packed, region, tiles, target, call) {
                // Only in C order does the first element at fault come first.
                Err(error) if error.is_of_data() => {}
                result => return result,
            }
        }
        // The gaps take room in the scratch memory, too.
        let growth = self.with_gaps(packed, region).element_count().div_ceil(region.element_count());
        let tiles = Tiles::new(region, (TILE_SIZE / element_size / growth).max(1));
        self.decode_each_tile(packed, region, tiles, target, call)
    }

    fn decode_each_tile(
        &self,
        packed: &Packed<'_>,
        region: &Region,
        tiles: impl Iterator<Item = Region>,
        target: &mut Target<'_>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        let element_size = self.fused.element_size();
        let Tile(mut scratch) = std::mem::take(call.contexts.get(|| Ok(Tile::default()))?);
        for tile in tiles {
            let decoded = self.decode_tile(packed, &tile, &mut scratch, call)?;
            let size = decoded.element_count() * element_size;
            let source = Source::contiguous(&scratch[..size], element_size, &decoded.shape)?;
            let source = source.region(&tile.relative_to(&decoded), &tile.shape)?;
            strided::copy(&source, &mut target.region(&tile.relative_to(region), &tile.shape)?)?;
        }
        *call.contexts.get(|| Ok(Tile::default()))? = Tile(scratch);
        Ok(())
    }

    /// Decodes a tile with its short gaps. Returns the box that `scratch` then has.
    fn decode_tile(
        &self,
        packed: &Packed<'_>,
        tile: &Region,
        scratch: &mut Vec<u8>,
        call: &mut Call<'_>,
    ) -> Result<Region> {
        let mut decode = |region: &Region| {
            let size = region.element_count() * self.fused.element_size();
            grow(scratch, size)?;
            match self.gathered_size(packed, region) {
                Some(encoded_size) => self.decode_gathered(packed, region, encoded_size, &mut scratch[..size], call),
                None => self.decode_runs(packed, region, &mut scratch[..size], call),
            }
        };
        let joined = self.with_gaps(packed, tile);
        if joined != *tile {
            match decode(&joined) {
                // Elements in the gaps may have no decoded value, but nobody asked for them.
                Err(error) if error.is_of_data() => {}
                result => return result.map(|()| joined),
            }
        }
        decode(tile).map(|()| tile.clone())
    }

    /// A box with its short gaps.
    fn with_gaps(&self, packed: &Packed<'_>, region: &Region) -> Region {
        let outer = &packed.region;
        let run_cost = if self.encoded_size_of_one().is_some() { GATHERED_RUN_COST } else { MIN_RUN_SIZE };
        let inner = region.within_box(outer);
        inner.with_gaps_below(run_cost, &outer.shape, self.fused.element_size()).moved(&outer.start)
    }

    /// The bytes of an encoded element, if it has whole ones.
    fn encoded_size_of_one(&self) -> Option<usize> {
        let bits = self.fused.encoded_bits();
        (bits > 0 && bits.is_multiple_of(8)).then_some(bits / 8)
    }

    /// The size of the encoded elements of a box if it has several short runs, all of them at hand: decoding each by
    /// itself would take longer than first copying all of them side by side.
    fn gathered_size(&self, packed: &Packed<'_>, region: &Region) -> Option<usize> {
        let (inner, shape) = (region.within_box(&packed.region), &packed.region.shape);
        let run_length = inner.run_length(shape);
        let are_short = run_length < inner.element_count() && run_length * self.fused.element_size() < MIN_RUN_SIZE;
        let (first, last) = inner.ends(shape);
        let at_hand = packed.at_hand(self.fused.encoded_bits());
        let are_at_hand = at_hand.contains(&first) && at_hand.contains(&last);
        self.encoded_size_of_one().filter(|_| are_short && are_at_hand)
    }

    /// Decodes the elements of a box in C order and together, after copying them side by side. All must be at hand.
    fn decode_gathered(
        &self,
        packed: &Packed<'_>,
        region: &Region,
        encoded_size: usize,
        decoded: &mut [u8],
        call: &mut Call<'_>,
    ) -> Result<()> {
        let size = region.element_count() * encoded_size;
        let Gathered(mut gathered) = std::mem::take(call.contexts.get(|| Ok(Gathered::default()))?);
        grow(&mut gathered, size)?;
        let mut target = Target::contiguous(&mut gathered[..size], encoded_size, &region.shape)?;
        strided::copy(&packed.source(region, encoded_size)?, &mut target)?;
        let result = self.fused.decode(&gathered[..size], decoded, call);
        *call.contexts.get(|| Ok(Gathered::default()))? = Gathered(gathered);
        result.map_err(|error| region.locate(error, &self.shape))
    }

    /// Decodes the elements of a box that are at hand, in C order, run by run. The first or last ones of a box with its
    /// gaps may not be: those are left as they are.
    fn decode_runs(&self, packed: &Packed<'_>, region: &Region, decoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        let element_size = self.fused.element_size();
        let at_hand = packed.at_hand(self.fused.encoded_bits());
        let inner = region.within_box(&packed.region);
        let (run_length, runs) = inner.runs(&packed.region.shape);
        let run_size = run_length * element_size;
        for (index, (start, decoded)) in runs.zip(decoded.chunks_exact_mut(run_size.max(1))).enumerate() {
            let (first, end) = (start.max(at_hand.start), (start + run_length as u64).min(at_hand.end));
            if first >= end {
                return Err(Error::internal("none of the elements of a run is at hand"));
            }
            let part = (first - start) as usize..(end - start) as usize;
            let decoded = &mut decoded[part.start * element_size..part.end * element_size];
            self.fused.decode_from(packed.bytes, first - packed.first, decoded, call).map_err(|error| {
                region.locate(error.after_elements((index * run_length + part.start) as u64), &self.shape)
            })?;
        }
        Ok(())
    }
}

/// Packed elements of a box, in C order, from one of them on.
pub(super) struct Packed<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) region: Region,
    /// The index in the box of the first element of `bytes`.
    pub(super) first: u64,
}

impl<'a> Packed<'a> {
    /// The indices in the box of the elements in `bytes`, each of which takes this many bits. The last byte may have
    /// room for more of them than there are.
    fn at_hand(&self, bits: usize) -> Range<u64> {
        let count = (8 * self.bytes.len() as u64).checked_div(bits as u64).unwrap_or(u64::MAX);
        self.first..self.first.saturating_add(count)
    }

    /// The elements of a box within this one, which each take whole bytes.
    fn source(&self, region: &Region, element_size: usize) -> Result<Source<'a>> {
        let start = region.relative_to(&self.region);
        let index = index_of(&start, &self.region.shape).checked_sub(self.first);
        let index = index.ok_or_else(|| Error::internal("a box begins before the elements at hand"))?;
        let strides: Vec<i64> =
            index_steps(&self.region.shape).iter().map(|step| *step as i64 * element_size as i64).collect();
        let (offset, size) = (index as usize * element_size, self.bytes.len());
        Source::new(self.bytes, Layout::new(element_size, &region.shape, Some(&strides), offset, size)?)
    }
}

/// Undoes a permutation: number `i` belongs to dimension `order[i]`.
fn unpermuted(numbers: &[u64], order: &[usize]) -> Vec<u64> {
    let mut decoded = vec![0; numbers.len()];
    order.iter().zip(numbers).for_each(|(dimension, number)| decoded[*dimension] = *number);
    decoded
}
