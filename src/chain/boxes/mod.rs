//! A box of a chunk that some step can decode alone: of a shard, of the blocks of a transform, of a block of N5, of
//! elements. It comes to that step, and its elements come back, by the [`BoxRoute`] through the elementwise steps before
//! it.

pub(super) mod cell_grid;
mod ranges;
pub(super) mod region;
pub(super) mod reshaped;
pub(super) mod route;
mod slabs;

use crate::chain::elements::Packed;
use crate::chain::input::{Decoded, Input};
use crate::chain::place::BoxPlace;
use crate::chain::place::element_steps::{ElementSteps, PutDecoded, PutFault};
use crate::chain::plan::{Operation, Plan, Step};
use crate::chain::run::{LastDecode, Run};
use crate::chain::workspace::Workspace;
use crate::error::{Error, Result};
use crate::interface::{BoundCodecs, Contexts, Excerpt};
use crate::strided::{Source, Target};
use region::Region;
use reshaped::Reshaped;
use route::BoxRoute;

/// Decoding a run by itself, after a reshape, costs about as much as decoding this many elements of the chunk.
const ELEMENT_RUN_COST: u64 = 256;

/// The same where the blocks of each run must be found.
const BLOCK_RUN_COST: u64 = 512;

/// The elementwise steps at the beginning of a chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before<'a> {
    pub(super) plan: &'a Plan,
    pub(super) codecs: &'a BoundCodecs,
    pub(super) route: &'a BoxRoute,
}

/// The part of a step's output that is at hand, without frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepOutput<'a> {
    pub(super) bytes: &'a [u8],
    /// Where it begins: after this many elements, if the step is elementwise, or else bytes.
    pub(super) start: u64,
    /// The size of the whole output in bytes.
    pub(super) size: u64,
}

/// A step, and all of its output without frames.
#[derive(Clone, Copy)]
struct StepPayload<'a> {
    step: &'a Step,
    payload: &'a [u8],
}

impl Before<'_> {
    /// The element that a codec of these steps got, by the index of what became of it at the end of the route.
    pub(super) fn element_of(&self, codec: usize, element: u64) -> u64 {
        let before = self.plan.steps[..self.route.end].last();
        self.codecs.element_between(codec, before.map_or(0, |step| step.last_codec.index + 1), element)
    }

    /// The error of one of these steps about an element; `find` gives its index at the end of the route.
    pub(super) fn locate(&self, error: Error, find: impl FnOnce(u64) -> u64) -> Error {
        let element = error.element_index().zip(error.codec_index());
        let element = element.map(|(element, codec)| self.element_of(codec, find(element)));
        error.at_element(element)
    }
}

impl Run<'_> {
    /// The size of a decoded chunk, if the whole of it is decoded like a box: then what enters a shard, or a transform
    /// after an elementwise step, is never all in memory.
    pub(super) fn boxed_size(&self) -> Option<u64> {
        let [first, .., last] = self.plan.steps.as_slice() else { return None };
        let has_route = |route: &BoxRoute| route.axes().is_some() && route.end + 1 == self.plan.steps.len();
        let is_shard = matches!(last.operation, Operation::Shard(..));
        let is_boxed = is_shard && self.plan.route.as_deref().is_some_and(has_route)
            || self.plan.elements_before_slabs().is_some();
        first.decoded.size().size_when_written().filter(|size| is_boxed && *size > 0)
    }

    /// Decodes a box from what it needs alone. `None` if no step can do that.
    pub(super) fn decode_region_by_route(
        &self,
        encoded: &[u8],
        region: &Region,
        target: &mut Target<'_>,
        workspace: &mut Workspace,
    ) -> Result<Option<()>> {
        let Some(route) = self.plan.route.as_deref().filter(|route| self.takes(route, region)) else { return Ok(None) };
        let LastDecode { step, payload, contexts, .. } = self.decode_to(route.end, encoded, workspace)?;
        let before = Before { plan: self.plan, codecs: self.codecs, route };
        if let Operation::Shard(codec, shard) = &step.operation {
            return shard.decode(payload, (region, target), Some(before), codec, self.options).map(Some);
        }
        let place = BoxPlace::Memory(target.reborrow());
        let boxes = match (&step.operation, step.operation.granularity()) {
            (Operation::Transform(..), Some(cell)) => route.rows(&cell, region, place)?,
            _ => vec![route.part(region, place)?],
        };
        let output = StepPayload { step, payload };
        let unit = step.operation.granularity().filter(|_| route.keeps_values());
        for (region, place) in boxes {
            match &unit {
                Some(unit) => {
                    let slabs = slabs::of_box(region, place, unit)?;
                    slabs.into_iter().try_for_each(|slab| self.put_box(before, output, slab, contexts))?;
                }
                None => self.put_box(before, output, (region, place), contexts)?,
            }
        }
        Ok(Some(()))
    }

    /// Decodes up to a shard, and calls `work` with a function that decodes boxes of the chunk from it. `None` if boxes
    /// do not come to a shard.
    pub(super) fn with_shard<T>(
        &self,
        encoded: &[u8],
        workspace: &mut Workspace,
        work: impl FnOnce(&dyn Fn(&Region, &mut Target<'_>) -> Result<()>) -> T,
    ) -> Result<Option<T>> {
        let Some(route) = self.plan.route.as_deref() else { return Ok(None) };
        let Operation::Shard(codec, shard) = &self.plan.steps[route.end].operation else { return Ok(None) };
        let LastDecode { payload, .. } = self.decode_to(route.end, encoded, workspace)?;
        let before = Before { plan: self.plan, codecs: self.codecs, route };
        Ok(Some(work(&|region, target| shard.decode(payload, (region, target), Some(before), codec, self.options))))
    }

    /// Decodes a box of what enters the step at the end of the route, which is no shard, to its place.
    #[inline(never)] // else each shard in a shard takes more of the stack
    fn put_box(
        &self,
        before: Before<'_>,
        StepPayload { step, payload }: StepPayload<'_>,
        (region, mut place): (Region, BoxPlace<'_>),
        contexts: &mut Contexts,
    ) -> Result<()> {
        let element_size = step.decoded.array()?.data_type().size();
        let through = ElementSteps::new(vec![self.plan]);
        let output = StepOutput { bytes: payload, start: 0, size: payload.len() as u64 };
        let work = PutDecoded { region: &region, element_size, pool: self.pool, options: self.options };
        let shape = step.decoded.array()?.shape();
        let element_of =
            |_: u32, codec: usize, element: u64| before.element_of(codec, region.index_within(element, shape));
        let result = work.run(step.operation.decodes_to_strides(), &mut place, &through, &element_of, |target| {
            self.decode_box(step, output, &region, target, contexts)
        });
        result.map_err(|fault| match fault {
            PutFault { error, step: None } => error,
            PutFault { error, step: Some(_) } => before.locate(error, |element| region.index_within(element, shape)),
        })
    }

    /// Whether a box can be decoded by way of the last step that it comes to.
    fn takes(&self, route: &BoxRoute, region: &Region) -> bool {
        let are_few = route.are_few(region.element_count() as u64);
        // As for a shard, and what a larger part needs is most of the chunk.
        let is_small = |reshaped: &Reshaped| region.element_count() as u64 <= reshaped.element_count() / 4;
        let can_decode = match &self.plan.steps[route.end].operation {
            // All of a chunk takes less time without looking for its parts. So would a box of many runs, but then it
            // would need inner chunks that it does not touch.
            Operation::Shard(..) => route.reshaped.is_none() || !self.is_whole(region) && are_few,
            Operation::Elements(_) => {
                let is_near = |reshaped| is_small(reshaped) && !route.are_far(region);
                route.end > 0
                    && are_few
                    && route.has_few_runs(region, ELEMENT_RUN_COST)
                    && route.reshaped.as_ref().is_none_or(is_near)
            }
            Operation::Transform(_, transform) => {
                let is_part = route.reshaped.as_ref().map_or_else(|| !self.is_whole(region), is_small);
                transform.granularity().is_some() && is_part && are_few && route.has_few_runs(region, BLOCK_RUN_COST)
            }
            // The block may lack elements of the chunk, but have those of the box, and then all of a box around them.
            Operation::N5Block(_, block) => {
                let lacks_elements = block.inner.fill_value().is_err();
                route.end > 0 && (route.reshaped.is_none() || lacks_elements) && !self.is_whole(region)
            }
            Operation::Copy => false,
        };
        // Of a shard without a place for its elements, nothing is decoded.
        can_decode && (!region.is_empty() || matches!(self.plan.steps[route.end].operation, Operation::Shard(..)))
    }

    fn is_whole(&self, region: &Region) -> bool {
        self.plan.steps[0].decoded.array().is_ok_and(|array| region.is_whole(array.shape()))
    }

    /// Decodes a box of what enters a step, if that has no cells, from what is at hand of its output.
    pub(super) fn decode_box(
        &self,
        step: &Step,
        output: StepOutput<'_>,
        region: &Region,
        target: &mut Target<'_>,
        contexts: &mut Contexts,
    ) -> Result<()> {
        let call = &mut self.call(Some(step.decoding_codec()), contexts);
        match &step.operation {
            Operation::Elements(elements) => {
                let packed =
                    Packed { bytes: output.bytes, region: Region::whole(&elements.shape), first: output.start };
                elements.decode(&packed, region, target, call)
            }
            Operation::Transform(codec, transform) => {
                let decoded = target.as_slice().ok_or_else(|| Error::internal("a box in strides"))?;
                // The caller has these bytes, so a `usize` counts them.
                let (start, size) = (output.start as usize, output.size as usize);
                let encoded = Excerpt { bytes: output.bytes, start, size };
                let done = transform.decode_box(encoded, &region.start, &region.shape, decoded, call);
                done.map_err(|error| codec.blame(error))
            }
            Operation::N5Block(codec, block) => {
                block.decode(output.bytes, region, target, self.options).map_err(|error| codec.blame(error))
            }
            Operation::Copy | Operation::Shard(..) => Err(Error::internal("a step that decodes no boxes")),
        }
    }
}

impl Plan {
    /// The input of a step that reads the array which enters the chain where it lies, inner chunk by inner chunk or slab
    /// by slab, and the number of steps before it.
    #[inline(never)] // else each shard in a shard takes more of the stack
    pub(super) fn arranged<'a>(&'a self, decoded: &Decoded<'a>) -> Result<Option<(usize, Decoded<'a>)>> {
        match self.arranged_for_shard(decoded)? {
            None => self.arranged_for_slabs(decoded),
            arranged => Ok(arranged),
        }
    }

    /// The input of a shard whose inner chunks read the array that enters the chain where it lies: nothing but its
    /// dimensions and the values of single elements change before the shard.
    fn arranged_for_shard<'a>(&'a self, decoded: &Decoded<'a>) -> Result<Option<(usize, Decoded<'a>)>> {
        let Some(route) = self.route.as_deref().filter(|route| route.end > 0) else { return Ok(None) };
        let (Operation::Shard(..), Some(axes)) = (&self.steps[route.end].operation, route.axes()) else {
            return Ok(None);
        };
        let whole;
        let input = match decoded {
            Decoded::Input(input) => input,
            Decoded::Slice(bytes) => {
                whole = self.whole_input(bytes)?;
                &whole
            }
            Decoded::BeforePass(..) => return Ok(None),
        };
        let arranged = input.arranged(axes)?.map(|input| match &route.pass {
            Some(pass) => Decoded::BeforePass(input, pass),
            None => Decoded::Input(input),
        });
        Ok(arranged.map(|input| (route.end, input)))
    }

    /// A chunk whose elements lie back to back in C order.
    fn whole_input<'a>(&self, bytes: &'a [u8]) -> Result<Input<'a>> {
        let array = self.steps[0].decoded.array()?;
        Source::contiguous(bytes, array.data_type().size(), array.shape()).map(Input::whole)
    }
}
