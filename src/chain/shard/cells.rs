//! A box of a shard, inner chunk by inner chunk: each is decoded to its place, through the elementwise steps before the
//! shard. Elements that change on the way are at no time all in memory.

use super::Shard;
use super::index::ShardIndex;
use crate::chain::boxes::Before;
use crate::chain::boxes::cell_grid::Cell;
use crate::chain::boxes::region::Region;
use crate::chain::boxes::route::Routed;
use crate::chain::place::BoxPlace;
use crate::chain::place::element_steps::{ElementSteps, PutDecoded, PutFault};
use crate::error::{CodecPlace, Error, Result};
use crate::interface::{CallOptions, Direction};
use crate::memory::collect;
use crate::parallel::{divides_by_items, into_inner, lock};
use crate::strided::{Strip, Target};
use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// The fault of a step before a shard that counts, by the step and the element.
type FirstFault = Option<((Reverse<u32>, u64), Error)>;

/// A shard that is being decoded.
struct ShardDecode<'a> {
    shard: &'a Shard,
    codec: &'a CodecPlace,
    encoded: &'a [u8],
    index: ShardIndex,
    /// The steps before it, and what they do to elements; `None` if the box is one of the shard's own array.
    before: Option<Before<'a>>,
    through: ElementSteps<'a>,
}

impl Shard {
    /// Decodes a box to its place: one of the array that enters the steps before the shard, or else of its own.
    pub(in crate::chain) fn decode(
        &self,
        encoded: &[u8],
        (region, target): (&Region, &mut Target<'_>),
        before: Option<Before<'_>>,
        codec: &CodecPlace,
        options: &CallOptions,
    ) -> Result<()> {
        let index = self.read_index(encoded, options).map_err(|error| codec.blame(error))?;
        if region.is_empty() {
            return Ok(());
        }
        let before = before.filter(|before| before.route.end > 0);
        let through = before.map_or_else(ElementSteps::default, |before| ElementSteps::new(vec![before.plan]));
        let work = ShardDecode { shard: self, codec, encoded, index, before, through };
        match before {
            Some(Before { route, .. }) => {
                work.run_routed(route.pass(region, BoxPlace::Memory(target.reborrow()))?, options)
            }
            None => work.run(region, target.reborrow(), options),
        }
    }

    /// The value of all elements of an inner chunk that is missing.
    pub(in crate::chain) fn missing(&self, cell: &Cell) -> Result<&[u8]> {
        self.inner.fill_value().map_err(|_| {
            let error = Error::corrupt("is missing, but the chain has no fill value for it");
            self.at_cell(error, cell)
        })
    }
}

impl ShardDecode<'_> {
    /// Decodes a box that has come through the steps before the shard.
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn run_routed(&self, routed: Routed<'_, '_>, options: &CallOptions) -> Result<()> {
        match routed {
            Routed::Box(region, BoxPlace::Memory(target)) => self.run(&region, target, options),
            Routed::Box(_, BoxPlace::Scattered(_)) => Err(Error::internal("a box whose place is no memory")),
            Routed::Runs(reshaped, region, place) => {
                let (cells, places) = reshaped.parts(self.shard.grid(), &region, place)?;
                self.all(places.len(), cells.into_iter().zip(places), self.workers_for(&region, options), options)
            }
        }
    }

    fn workers_for(&self, region: &Region, options: &CallOptions) -> NonZeroUsize {
        options.workers().count_for(region.element_count().saturating_mul(self.shard.element_size()))
    }

    fn run(&self, region: &Region, target: Target<'_>, options: &CallOptions) -> Result<()> {
        if self.are_missing(region) {
            return self.fill_together(region, target, options);
        }
        let workers = self.workers_for(region, options);
        if !divides_by_items(workers, self.shard.cells_in(region), self.shard.inner.part_count(Direction::Decode)) {
            return self.one_by_one(region, target, options);
        }
        self.by_list(region, target, workers, options)
    }

    /// Whether all inner chunks that a box touches are missing.
    fn are_missing(&self, region: &Region) -> bool {
        self.index.are_missing(&self.shard.grid().touched(region))
    }

    /// Fills a box of missing inner chunks, which takes much less time than filling one after the other. Where they have
    /// no value, the first one is at fault: it has the first element, in any order of dimensions.
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn fill_together(&self, region: &Region, target: Target<'_>, options: &CallOptions) -> Result<()> {
        let Some(cell) = self.shard.cells(region).next() else { return Ok(()) };
        let workers = self.workers_for(region, options);
        let parts = region.split(target, workers.get() as u64)?;
        options.workers().for_each(workers, parts.into_iter(), |(_, target)| {
            let filled = self.fill(&cell, &mut BoxPlace::Memory(target), options);
            filled.map_err(|fault| self.located(fault, &cell).1)
        })
    }

    /// From a list of all inner chunks and their places.
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn by_list(&self, region: &Region, target: Target<'_>, workers: NonZeroUsize, options: &CallOptions) -> Result<()> {
        let place = BoxPlace::Memory(target);
        if let Some(shape) = self.strip_shape(region, workers) {
            let parts = collect(region.cut(&shape).zip(place.cut(region, &shape)?).map(Ok))?;
            return self.all_strips(parts, workers, options);
        }
        let places = place.cut(region, self.shard.chunk_shape())?;
        self.all(places.len(), self.shard.cells(region).zip(places), workers, options)
    }

    /// The shape of the inner chunks that go to their place together.
    fn strip_shape(&self, region: &Region, workers: NonZeroUsize) -> Option<Vec<u64>> {
        let shape = || self.shard.strip_shape(region, workers);
        self.through.keeps_values().then(shape).flatten()
    }

    /// Strip by strip, on several threads.
    fn all_strips(
        &self,
        parts: Vec<(Region, BoxPlace<'_>)>,
        workers: NonZeroUsize,
        options: &CallOptions,
    ) -> Result<()> {
        let single = options.single_threaded();
        let strip = |(region, place): (Region, BoxPlace<'_>)| self.strip(&region, place, &single);
        options.workers().for_each_neighbour(workers, parts.len(), parts.into_iter(), strip)
    }

    /// Decodes inner chunks side by side, and writes them to their place together.
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn strip(&self, region: &Region, place: BoxPlace<'_>, options: &CallOptions) -> Result<()> {
        let place = match place {
            BoxPlace::Memory(target) if self.are_missing(region) => {
                return self.fill_together(region, target, options);
            }
            place => place,
        };
        let places = place.cut(region, self.shard.chunk_shape())?;
        self.shard.inner.pool.with_strip(|memory| {
            let mut strip = Strip::new(memory);
            for (cell, place) in self.shard.cells(region).zip(places) {
                self.cell(&cell, place, Some(&mut strip), options).map_err(|fault| fault.error)?;
            }
            strip.finish();
            Ok(())
        })
    }

    /// On the calling thread, without a list of all places.
    fn one_by_one(&self, region: &Region, mut target: Target<'_>, options: &CallOptions) -> Result<()> {
        if let Some(shape) = self.strip_shape(region, NonZeroUsize::MIN) {
            return region.cut(&shape).try_for_each(|part| {
                let target = target.region(&part.relative_to(region), &part.shape)?;
                self.strip(&part, BoxPlace::Memory(target), options)
            });
        }
        let mut first = None;
        for cell in self.shard.cells(region) {
            let target = target.region(&cell.in_array().relative_to(region), &cell.region.shape)?;
            if let Err(fault) = self.cell(&cell, BoxPlace::Memory(target), None, options) {
                self.keep(fault, &cell, &mut first)?;
            }
        }
        first.map_or(Ok(()), |(_, error)| Err(error))
    }

    fn all<'t>(
        &self,
        count: usize,
        parts: impl Iterator<Item = (Cell, BoxPlace<'t>)> + Send,
        workers: NonZeroUsize,
        options: &CallOptions,
    ) -> Result<()> {
        let single = if workers.get() > 1 { options.single_threaded() } else { options.clone() };
        let first = Mutex::new(None);
        options.workers().for_each_neighbour(workers, count, parts, |(cell, place)| {
            match self.cell(&cell, place, None, &single) {
                Ok(()) => Ok(()),
                Err(fault) => self.keep(fault, &cell, &mut lock(&first)),
            }
        })?;
        into_inner(first).map_or(Ok(()), |(_, error)| Err(error))
    }

    /// A fault of a step before the shard waits until all inner chunks are decoded: the shard is decoded first. Of
    /// several faults, the first element of the last such step counts.
    #[cold]
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn keep(&self, fault: PutFault, cell: &Cell, first: &mut FirstFault) -> Result<()> {
        let (step, error) = self.located(fault, cell);
        let Some(step) = step else { return Err(error) };
        let key = (Reverse(step), error.element_index().unwrap_or(0));
        if first.as_ref().is_none_or(|(known, _)| key < *known) {
            *first = Some((key, error));
        }
        Ok(())
    }

    /// The error of an inner chunk, and the step before the shard that could not convert an element, if that is why.
    #[cold]
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn located(&self, PutFault { error, step }: PutFault, cell: &Cell) -> (Option<u32>, Error) {
        match (step, self.before, error.element_index()) {
            (Some((_, step)), Some(before), Some(_)) => {
                (Some(step), before.locate(error, |element| self.element_in_shard(cell, element)))
            }
            _ => (None, error),
        }
    }

    /// The index in the shard's array of an element of the box of an inner chunk.
    fn element_in_shard(&self, cell: &Cell, element: u64) -> u64 {
        self.shard.element_of(cell, cell.region.index_within(element, self.shard.chunk_shape()))
    }

    fn cell<'e, 't>(
        &'e self,
        cell: &Cell,
        mut place: BoxPlace<'t>,
        strip: Option<&mut Strip<'_, 'e, 't>>,
        options: &CallOptions,
    ) -> std::result::Result<(), PutFault> {
        let bytes = match self.index.entry(cell.number) {
            Ok(Some(bytes)) => &self.encoded[bytes.start as usize..bytes.end as usize],
            Ok(None) => return self.fill(cell, &mut place, options),
            Err(error) => return Err(self.codec.blame(self.shard.at_cell(error, cell)).into()),
        };
        let inner = &self.shard.inner;
        let decoded = match (place, strip) {
            (BoxPlace::Memory(target), Some(strip)) => {
                self.request(cell.number + 1);
                inner.decode_region_in_strip(bytes, &cell.region, target, strip, options)
            }
            (BoxPlace::Memory(mut target), None) if self.through.keeps_values() => {
                inner.decode_region(bytes, &cell.region, &mut target, options)
            }
            (mut place, _) => return self.send(cell, bytes, &mut place, options),
        };
        decoded.map_err(|error| self.at_fault(error, cell).into())
    }

    /// Requests the bytes of an inner chunk.
    fn request(&self, number: u64) {
        if let Ok(Some(bytes)) = self.index.entry(number) {
            self.shard.request(&self.encoded[bytes.start as usize..bytes.end as usize]);
        }
    }

    #[cold]
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn at_fault(&self, error: Error, cell: &Cell) -> Error {
        self.codec.blame(self.shard.locate(error, cell))
    }

    #[inline(never)] // else each shard in a shard takes more of the stack
    fn fill(&self, cell: &Cell, place: &mut BoxPlace<'_>, options: &CallOptions) -> std::result::Result<(), PutFault> {
        let element = self.shard.missing(cell).map_err(|error| self.codec.blame(error))?;
        self.shard.inner.pool.with(|workspace| self.through.fill(element, place, workspace, options))
    }

    /// Decodes an inner chunk to where its elements go on from.
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn send(
        &self,
        cell: &Cell,
        bytes: &[u8],
        place: &mut BoxPlace<'_>,
        options: &CallOptions,
    ) -> std::result::Result<(), PutFault> {
        let inner = &self.shard.inner;
        let put = PutDecoded { region: &cell.region, element_size: inner.element_size()?, pool: &inner.pool, options };
        let element_of = |_: u32, codec: usize, element: u64| {
            let element = self.element_in_shard(cell, element);
            self.before.map_or(element, |before| before.element_of(codec, element))
        };
        put.run(true, place, &self.through, &element_of, |target| {
            let decoded = inner.decode_region(bytes, &cell.region, target, options);
            decoded.map_err(|error| self.at_fault(error, cell))
        })
    }
}
