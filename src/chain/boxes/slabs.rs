//! To strides and from them slab by slab: the elements of a few indices along the slowest dimension are decoded to memory
//! that stays in the caches, and go to their place from there, or come from there and are encoded, so that the chunk, or
//! the box, is not in memory twice.

use super::region::{Region, slowest};
use crate::chain::elements::Packed;
use crate::chain::input::Decoded;
use crate::chain::place::BoxPlace;
use crate::chain::plan::{Elements, Operation, Plan, Step};
use crate::chain::run::{LastDecode, Run};
use crate::chain::workspace::Workspace;
use crate::error::Result;
use crate::interface::{Call, Contexts, Slabs, Transform};
use crate::memory::collect;
use crate::parallel::lock;
use crate::representation::element_count;
use crate::strided::{self, Layout, Source, Target};
use std::sync::Mutex;

/// A smaller array stays in the caches by itself.
const MIN_SIZE: usize = if cfg!(fuzzing) { 1 << 10 } else { 1 << 20 };

/// The same if what a transform decodes to goes through an elementwise step: with less, slabs take up to 1.2 times as
/// long.
const MIN_SIZE_THROUGH_STEP: usize = if cfg!(fuzzing) { MIN_SIZE } else { 4 << 20 };

/// About the bytes of a slab.
const SLAB_SIZE: usize = if cfg!(fuzzing) { 256 } else { 256 << 10 };

/// A box of the array that a step decodes to, in the shape in which it is cut into slabs.
struct SlabbedBox<'a> {
    step: &'a Step,
    shape: &'a [u64],
    element_size: usize,
    region: &'a Region,
}

/// Puts the elements of a part of a slab to their place, given the slab, its bytes, the part, and the place.
type PutPart<'a> = dyn Fn(&Region, &[u8], &Region, &mut Target<'_>) -> Result<()> + Sync + 'a;

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
        let (shape, element_size) = (step.decoded.array()?.shape(), target.element_size());
        let put = |slab: &Region, elements: &[u8], part: &Region, target: &mut Target<'_>| {
            let source = Source::contiguous(elements, element_size, &slab.shape)?;
            strided::copy(&source.region(&part.relative_to(slab), &part.shape)?, target)
        };
        let boxed = SlabbedBox { step, shape, element_size, region };
        self.decode_slabs(&boxed, payload, target.reborrow(), contexts, &put)
    }

    /// Decodes a box of what enters an elementwise step before a transform, each slab through that step by itself.
    /// `None` if there are no such steps, slabs are of no use, or one of them is at fault: decoding the whole chunk finds
    /// the first fault in it.
    #[inline(never)] // else each shard in a shard takes more of the stack
    pub(in crate::chain) fn decode_elements_by_slabs(
        &self,
        encoded: &[u8],
        region: &Region,
        target: &mut Target<'_>,
        workspace: &mut Workspace,
    ) -> Result<Option<()>> {
        let Some(elements) = self.plan.elements_before_slabs() else { return Ok(None) };
        let LastDecode { step, payload, contexts, .. } = self.decode_to(1, encoded, workspace)?;
        let region = elements.needed(region);
        let mut target = match &elements.order {
            Some(order) => target.reborrow().permuted(order)?,
            None => target.reborrow(),
        };
        if elements.keeps_values()
            && region.is_whole(&elements.shape)
            && let Some(decoded) = target.as_slice()
        {
            return self.decode_exact(step, payload, decoded, contexts).map(|_| Some(()));
        }
        let options = &self.options.single_threaded();
        let put = |slab: &Region, bytes: &[u8], part: &Region, target: &mut Target<'_>| {
            let packed = Packed { bytes, region: slab.clone(), first: 0 };
            self.pool.with(|workspace| {
                let call = &mut Call { options, hooks: None, contexts: &mut workspace.contexts };
                elements.decode_region(&packed, part, target, call)
            })
        };
        let (shape, element_size) = (&elements.shape, elements.encoded_element_size());
        let boxed = SlabbedBox { step, shape, element_size, region: &region };
        match self.decode_slabs(&boxed, payload, target, contexts, &put) {
            Err(error) if !error.is_of_no_codec() => Ok(None),
            done => done,
        }
    }

    /// Decodes the slabs that a box touches, and puts the part of each that is in the box to its place in the target.
    fn decode_slabs(
        &self,
        SlabbedBox { step, shape, element_size, region }: &SlabbedBox<'_>,
        payload: &[u8],
        target: Target<'_>,
        contexts: &mut Contexts,
        put: &PutPart<'_>,
    ) -> Result<Option<()>> {
        let Operation::Transform(codec, transform) = &step.operation else { return Ok(None) };
        let unit = transform.slab_thickness(shape).filter(|_| !region.is_empty());
        let Some(cut) = unit.and_then(|unit| Cut::new(shape, *element_size, target.layout(), unit)) else {
            return Ok(None);
        };
        let slabs = cut.slabs(shape, region);
        let cell = cut.cell(shape.len());
        let places = BoxPlace::Memory(target).cut(region, &cell)?;
        let parts: Vec<_> = collect(region.cut(&cell).zip(places).map(|(part, place)| Ok((part, Mutex::new(place)))))?;
        let put = |number: usize, elements: &[u8]| {
            let slab = cut.slab(number, shape);
            let (part, place) = &parts[number - slabs.numbers.start];
            lock(place).for_each(&mut |_, target| put(&slab, elements, part, target))
        };
        let done = transform.decode_slabs(payload, &slabs, &put, &mut self.call(Some(codec), contexts));
        done.map_err(|error| codec.blame(error))
    }

    /// Encodes a chunk by this transform. `None` if it encodes no slabs, or they are of no use: its input is at hand, or
    /// those of all workers, and what they are encoded to, would take more memory than a copy of the chunk.
    pub(in crate::chain) fn encode_by_slabs(
        &self,
        transform: &dyn Transform,
        input: &Decoded<'_>,
        encoded: &mut [u8],
        call: &mut Call<'_>,
    ) -> Result<Option<usize>> {
        let (chunk, pass, element_size) = match input {
            Decoded::Input(chunk) if chunk.as_slice().is_none() => (chunk, None, chunk.element_size()),
            Decoded::BeforePass(chunk, pass) => (chunk, Some(pass), pass.encoded_element_size()),
            Decoded::Slice(_) | Decoded::Input(_) => return Ok(None),
        };
        let shape = chunk.shape();
        let unit = transform.slab_thickness(shape);
        let Some(cut) = unit.and_then(|unit| Cut::new(shape, element_size, chunk.layout(), unit)) else {
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
            let part = chunk.region(&slab.start, &slab.shape)?;
            match pass {
                None => part.copy_to(&mut Target::contiguous(elements, element_size, &slab.shape)?, &options),
                Some(pass) => self.pool.with(|workspace| {
                    let call = &mut Call { options: &options, hooks: None, contexts: &mut workspace.contexts };
                    pass.encode_input(&part, elements, call)
                }),
            }
        };
        transform.encode_slabs(&slabs, &get, encoded, call)
    }
}

/// Whether decoding the slabs that a box touches, on their way to a view, does little more than decoding the box.
pub(super) fn are_worth_it(
    shape: &[u64],
    element_size: usize,
    region: &Region,
    view: &Layout,
    transform: &dyn Transform,
) -> bool {
    let unit = transform.slab_thickness(shape);
    let cut = unit.and_then(|unit| Cut::new(shape, element_size, view, unit));
    cut.is_some_and(|cut| {
        let touched = (region.shape[cut.dimension] + cut.thickness).saturating_mul(cut.plane_size as u64);
        touched / 4 * 3 <= (region.element_count() as u64).saturating_mul(element_size as u64)
    })
}

/// A box whose elements go to strides, as slabs that begin at multiples of `unit`, with their places.
pub(super) fn of_box<'t>(region: Region, place: BoxPlace<'t>, unit: &[u64]) -> Result<Vec<(Region, BoxPlace<'t>)>> {
    let cut = match &place {
        BoxPlace::Memory(target) if !target.is_contiguous() => {
            let unit = slowest(&region.shape).map(|dimension| unit[dimension] as usize);
            unit.and_then(|unit| Cut::new(&region.shape, target.element_size(), target.layout(), unit))
        }
        _ => None,
    };
    let Some(cut) = cut else { return Ok(vec![(region, place)]) };
    let cell = cut.cell(region.shape.len());
    let places = place.cut(&region, &cell)?;
    collect(region.cut(&cell).zip(places).map(Ok))
}

impl Plan {
    /// The input of a transform that takes the array which enters the chain slab by slab, each through the elementwise
    /// step before it; or all of it, if it lies there in the order that the step gives it.
    pub(super) fn arranged_for_slabs<'a>(&'a self, decoded: &Decoded<'a>) -> Result<Option<(usize, Decoded<'a>)>> {
        let Some(elements) = self.elements_before_slabs() else { return Ok(None) };
        let input = match decoded {
            Decoded::Input(input) => input.clone(),
            Decoded::Slice(bytes) => self.whole_input(bytes)?,
            Decoded::BeforePass(..) => return Ok(None),
        };
        let input = match &elements.order {
            Some(order) => input.permuted(order)?,
            None => input,
        };
        if elements.keeps_values() {
            return Ok(input.as_slice().map(|bytes| (1, Decoded::Slice(bytes))));
        }
        let Operation::Transform(_, transform) = &self.steps[1].operation else { return Ok(None) };
        let unit = transform.slab_thickness(&elements.shape);
        let size = elements.encoded_element_size();
        let cut = unit.and_then(|unit| Cut::new(&elements.shape, size, input.layout(), unit));
        Ok(cut.map(|_| (1, Decoded::BeforePass(input, elements))))
    }

    /// The elementwise step at the beginning of the plan, if the next one is a transform that may take its output, which
    /// is whole elements and no bytes around them, slab by slab.
    pub(in crate::chain) fn elements_before_slabs(&self) -> Option<&Elements> {
        let [Step { operation: Operation::Elements(elements), frames, .. }, next, ..] = self.steps.as_slice() else {
            return None;
        };
        let Operation::Transform(_, transform) = &next.operation else { return None };
        let is_whole = frames.is_empty() && elements.fused.encoded_bits().is_multiple_of(8);
        let is_large = || elements.encoded_size() >= MIN_SIZE_THROUGH_STEP as u64;
        (is_whole && is_large() && transform.slab_thickness(&elements.shape).is_some()).then_some(elements)
    }
}

impl Cut {
    /// Slabs whose thickness is a multiple of `unit`. `None` if they are of no use for a view: the array is small or flat,
    /// or the elements of the slowest dimension lie side by side in the view, where each slab would be a short piece of
    /// every line.
    fn new(shape: &[u64], element_size: usize, view: &Layout, unit: usize) -> Option<Self> {
        let dimension = slowest(shape)?;
        let size = usize::try_from(element_count(shape)).ok()?.checked_mul(element_size)?;
        let is_row = shape[dimension + 1..].iter().all(|size| *size == 1);
        if size < MIN_SIZE || !is_row && view.strides()[dimension].unsigned_abs() == view.element_size() {
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
