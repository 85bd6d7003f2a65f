//! To strides and from them slab by slab: the elements of a few indices along the slowest dimension are decoded to memory
//! that stays in the caches, and go to their place from there, or come from there and are encoded, so that the chunk, or
//! the box, is not in memory twice.

use super::region::Region;
use crate::chain::input::Input;
use crate::chain::place::BoxPlace;
use crate::chain::plan::{Operation, Step};
use crate::chain::run::Run;
use crate::error::Result;
use crate::interface::{Call, Contexts, Slabs, Transform};
use crate::memory::collect;
use crate::parallel::lock;
use crate::representation::element_count;
use crate::strided::{self, Layout, Source, Target};
use std::sync::Mutex;

/// A smaller array stays in the caches by itself.
const MIN_SIZE: usize = if cfg!(fuzzing) { 1 << 10 } else { 1 << 20 };

/// About the bytes of a slab.
const SLAB_SIZE: usize = if cfg!(fuzzing) { 256 } else { 256 << 10 };

/// How an array is cut into slabs.
struct Cut {
    /// The slowest dimension, in C order.
    dimension: usize,
    /// How many of its indices a slab has.
    thickness: u64,
    /// The bytes of one of them.
    plane_size: usize,
}

impl Run<'_> {
    /// Decodes a box of what a step decodes to. `None` if its codec decodes no slabs, or they are of no use.
    #[inline(never)] // else each shard in a shard takes more of the stack
    pub(in crate::chain) fn decode_by_slabs(
        &self,
        step: &Step,
        payload: &[u8],
        region: &Region,
        target: &mut Target<'_>,
        contexts: &mut Contexts,
    ) -> Result<Option<()>> {
        let Operation::Transform(codec, transform) = &step.operation else { return Ok(None) };
        let (shape, element_size) = (step.decoded.array()?.shape(), target.element_size());
        let unit = transform.slab_thickness(shape).filter(|_| !region.is_empty());
        let Some(cut) = unit.and_then(|unit| Cut::new(shape, target.layout(), element_size, unit)) else {
            return Ok(None);
        };
        let slabs = cut.slabs(shape, region);
        let cell = cut.cell(shape.len());
        let places = BoxPlace::Memory(target.reborrow()).cut(region, &cell)?;
        let parts: Vec<_> = collect(region.cut(&cell).zip(places).map(|(part, place)| Ok((part, Mutex::new(place)))))?;
        let put = |number: usize, elements: &[u8]| {
            let slab = cut.slab(number, shape);
            let (part, place) = &parts[number - slabs.numbers.start];
            let source = Source::contiguous(elements, element_size, &slab.shape)?;
            let source = source.region(&part.relative_to(&slab), &part.shape)?;
            lock(place).for_each(&mut |_, target| strided::copy(&source, target))
        };
        let done = transform.decode_slabs(payload, &slabs, &put, &mut self.call(Some(codec), contexts));
        done.map_err(|error| codec.blame(error))
    }

    /// Encodes a chunk by this transform. `None` if it encodes no slabs, or they are of no use: those of all workers, and
    /// what they are encoded to, would take more memory than a copy of the chunk.
    pub(in crate::chain) fn encode_by_slabs(
        &self,
        transform: &dyn Transform,
        chunk: &Input<'_>,
        encoded: &mut [u8],
        call: &mut Call<'_>,
    ) -> Result<Option<usize>> {
        let (shape, element_size) = (chunk.shape(), chunk.element_size());
        let unit = transform.slab_thickness(shape).filter(|_| chunk.as_slice().is_none());
        let Some(cut) = unit.and_then(|unit| Cut::new(shape, chunk.layout(), element_size, unit)) else {
            return Ok(None);
        };
        let (slabs, options) = (cut.slabs(shape, &Region::whole(shape)), self.options.single_threaded());
        let bound = transform.encoded_bound(slabs.decoded_size as u64).unwrap_or(u64::MAX);
        let of_one = (slabs.size as u64).saturating_add(bound / slabs.numbers.len() as u64);
        let workers = self.options.workers().count_for(slabs.decoded_size).get() as u64;
        if of_one.saturating_mul(workers) > slabs.decoded_size as u64 {
            return Ok(None);
        }
        let get = |number: usize, elements: &mut [u8]| {
            let slab = cut.slab(number, shape);
            let mut target = Target::contiguous(elements, element_size, &slab.shape)?;
            chunk.region(&slab.start, &slab.shape)?.copy_to(&mut target, &options)
        };
        transform.encode_slabs(&slabs, &get, encoded, call)
    }
}

/// Whether decoding the slabs that a box touches does little more than decoding these bytes of it.
pub(super) fn are_worth_it(
    shape: &[u64],
    region: &Region,
    needed_size: usize,
    target: &Target<'_>,
    transform: &dyn Transform,
) -> bool {
    let unit = transform.slab_thickness(shape);
    let cut = unit.and_then(|unit| Cut::new(shape, target.layout(), target.element_size(), unit));
    cut.is_some_and(|cut| {
        let touched = (region.shape[cut.dimension] + cut.thickness).saturating_mul(cut.plane_size as u64);
        touched / 4 * 3 <= needed_size as u64
    })
}

/// A box whose elements go to strides, as slabs that begin at multiples of `unit`, with their places.
pub(super) fn of_box<'t>(region: Region, place: BoxPlace<'t>, unit: &[u64]) -> Result<Vec<(Region, BoxPlace<'t>)>> {
    let cut = match &place {
        BoxPlace::Memory(target) if !target.is_contiguous() => {
            let unit = slowest(&region.shape).map(|dimension| unit[dimension] as usize);
            unit.and_then(|unit| Cut::new(&region.shape, target.layout(), target.element_size(), unit))
        }
        _ => None,
    };
    let Some(cut) = cut else { return Ok(vec![(region, place)]) };
    let cell = cut.cell(region.shape.len());
    let places = place.cut(&region, &cell)?;
    collect(region.cut(&cell).zip(places).map(Ok))
}

/// The slowest dimension of an array of this shape, in C order.
fn slowest(shape: &[u64]) -> Option<usize> {
    shape.iter().position(|size| *size > 1)
}

impl Cut {
    /// Slabs whose thickness is a multiple of `unit`. `None` if they are of no use for a view: the array is small or flat,
    /// or the elements of the slowest dimension lie side by side in the view, where each slab would be a short piece of
    /// every line.
    fn new(shape: &[u64], view: &Layout, element_size: usize, unit: usize) -> Option<Self> {
        let dimension = slowest(shape)?;
        let size = usize::try_from(element_count(shape)).ok()?.checked_mul(element_size)?;
        if size < MIN_SIZE || view.strides()[dimension].unsigned_abs() == element_size {
            return None;
        }
        let plane_size = size / usize::try_from(shape[dimension]).ok()?;
        let thickness = SLAB_SIZE.div_ceil(plane_size).next_multiple_of(unit) as u64;
        (thickness < shape[dimension]).then_some(Self { dimension, thickness, plane_size })
    }

    /// The slabs of an array of this shape that a box touches.
    fn slabs(&self, shape: &[u64], region: &Region) -> Slabs {
        let (start, size) = (region.start[self.dimension], region.shape[self.dimension]);
        Slabs {
            size: self.thickness as usize * self.plane_size,
            decoded_size: shape[self.dimension] as usize * self.plane_size,
            numbers: (start / self.thickness) as usize..(start + size).div_ceil(self.thickness) as usize,
        }
    }

    /// A slab as a box of the array.
    fn slab(&self, number: usize, shape: &[u64]) -> Region {
        let mut slab = Region::whole(shape);
        let start = number as u64 * self.thickness;
        slab.start[self.dimension] = start;
        slab.shape[self.dimension] = self.thickness.min(shape[self.dimension] - start);
        slab
    }

    /// What boxes are cut at multiples of.
    fn cell(&self, rank: usize) -> Vec<u64> {
        let mut cell = vec![u64::MAX; rank];
        cell[self.dimension] = self.thickness;
        cell
    }
}
