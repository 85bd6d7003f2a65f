//! To strides slab by slab: the elements of a few indices along the slowest dimension are decoded to memory that stays in
//! the caches, and go to their place from there, so that the chunk, or the box, is not in memory twice.

use super::region::Region;
use crate::chain::place::BoxPlace;
use crate::chain::plan::{Operation, Step};
use crate::chain::run::Run;
use crate::error::Result;
use crate::interface::{Contexts, Slabs};
use crate::memory::{collect, push};
use crate::parallel::lock;
use crate::representation::element_count;
use crate::strided::{self, Source, Target};
use std::sync::Mutex;

/// A smaller chunk stays in the caches by itself.
const MIN_CHUNK_SIZE: usize = 1 << 20;

/// About the bytes of a slab.
const SLAB_SIZE: usize = 256 << 10;

/// If the elements of the slowest dimension lie side by side in the view, a slab has whole cache lines of them.
const MIN_RUN_SIZE: usize = 128;

impl Run<'_> {
    /// Decodes a whole chunk to strides. `None` if the codec decodes no slabs, or the chunk is small.
    #[inline(never)] // else each shard in a shard takes more of the stack
    pub(in crate::chain) fn decode_by_slabs(
        &self,
        step: &Step,
        payload: &[u8],
        target: &mut Target<'_>,
        contexts: &mut Contexts,
    ) -> Result<Option<()>> {
        let Operation::Transform(codec, transform) = &step.operation else { return Ok(None) };
        let Some(unit) = transform.slab_thickness() else { return Ok(None) };
        let Some((thickness, slabs)) = slabs_of(target, unit) else { return Ok(None) };
        let places = places(target.reborrow(), thickness)?;
        let put = |number: usize, elements: &[u8]| {
            let mut place = lock(&places[number]);
            strided::copy(&Source::contiguous(elements, place.element_size(), place.shape())?, &mut place)
        };
        let done = transform.decode_slabs(payload, slabs, &put, &mut self.call(None, contexts));
        done.map_err(|error| codec.blame(error))
    }
}

/// A box whose elements go to strides, as slabs that begin at multiples of `unit`, with their places.
pub(super) fn of_box<'t>(region: Region, place: BoxPlace<'t>, unit: &[u64]) -> Result<Vec<(Region, BoxPlace<'t>)>> {
    let slabs = match &place {
        BoxPlace::Memory(target) if !target.is_contiguous() => slowest(&region.shape)
            .and_then(|dimension| Some((dimension, slabs_of(target, unit[dimension] as usize)?.0))),
        _ => None,
    };
    let Some((dimension, thickness)) = slabs else { return Ok(vec![(region, place)]) };
    let mut cell = vec![u64::MAX; region.shape.len()];
    cell[dimension] = thickness;
    let places = place.cut(&region, &cell)?;
    collect(region.cut(&cell).zip(places).map(Ok))
}

/// The slowest dimension of an array of this shape, in C order.
fn slowest(shape: &[u64]) -> Option<usize> {
    shape.iter().position(|size| *size > 1)
}

/// How many indices of the slowest dimension the slabs of a view have, a multiple of `unit`. `None` if slabs are of no
/// use.
fn slabs_of(target: &Target<'_>, unit: usize) -> Option<(u64, Slabs)> {
    let (shape, element_size) = (target.shape(), target.element_size());
    let decoded_size = usize::try_from(element_count(shape)).ok()?.checked_mul(element_size)?;
    let dimension = slowest(shape).filter(|_| decoded_size >= MIN_CHUNK_SIZE)?;
    let plane_size = decoded_size / usize::try_from(shape[dimension]).ok()?;
    let is_side_by_side = target.layout().strides()[dimension].unsigned_abs() == element_size;
    let least = if is_side_by_side { MIN_RUN_SIZE / element_size } else { 1 };
    let thickness = SLAB_SIZE.div_ceil(plane_size).max(least).next_multiple_of(unit);
    let slabs = Slabs { size: thickness.checked_mul(plane_size)?, decoded_size };
    (slabs.count() > 1).then_some((thickness as u64, slabs))
}

/// The place of each slab.
fn places(target: Target<'_>, thickness: u64) -> Result<Vec<Mutex<Target<'_>>>> {
    let (mut places, mut rest) = (Vec::new(), target);
    let dimension = slowest(rest.shape()).unwrap_or(0);
    while rest.shape()[dimension] > thickness {
        let (place, after) = rest.split(dimension, thickness)?;
        push(&mut places, Mutex::new(place))?;
        rest = after;
    }
    push(&mut places, Mutex::new(rest))?;
    Ok(places)
}
