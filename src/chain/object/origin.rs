//! Inner chunks as objects: the elements of one go through the elementwise steps before its shard and before the shards
//! around that, and an error about them counts in the outermost chunk.

use crate::chain::Chain;
use crate::chain::boxes::Before;
use crate::chain::boxes::cell_grid::Cell;
use crate::chain::boxes::region::Region;
use crate::chain::place::BoxPlace;
use crate::chain::place::element_steps::{ElementSteps, PutDecoded, PutFault};
use crate::chain::plan::{Operation, Step};
use crate::chain::shard::Shard;
use crate::error::{CodecPlace, Error, Result};
use crate::interface::CallOptions;
use crate::representation::index_of;
use crate::strided::Target;
use std::sync::Arc;

/// The inner chunk that an object is in its shard.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) chain: Arc<Chain>,
    pub(super) cell: Cell,
    pub(super) outer: Option<Arc<Origin>>,
}

impl Origin {
    fn shard(&self) -> Option<(&Shard, &CodecPlace)> {
        match &self.chain.plan.steps.last()?.operation {
            Operation::Shard(codec, shard) => Some((shard, codec)),
            _ => None,
        }
    }

    /// Fills the part of an inner chunk that is missing.
    pub(super) fn fill(
        &self,
        shard: &Shard,
        codec: &CodecPlace,
        place: &mut BoxPlace<'_>,
        options: &CallOptions,
    ) -> Result<()> {
        let element = shard.missing(&self.cell);
        let element = element.map_err(|error| locate(codec.blame(error), self.outer.as_deref()))?;
        let through = through(None, Some(self));
        let result = shard.inner.pool.with(|workspace| through.fill(element, place, workspace, options));
        let first = index_of(&self.cell.region.start, shard.chunk_shape());
        result.map_err(|fault| located(fault, None, Some(self), |_| first))
    }
}

/// The elementwise steps that elements go through: those of the chain itself, if they come from its last step, and
/// those before the shards around it.
pub(super) fn through<'a>(own: Option<&'a Chain>, origin: Option<&'a Origin>) -> ElementSteps<'a> {
    let origins = std::iter::successors(origin, |origin| origin.outer.as_deref());
    ElementSteps::new(own.into_iter().chain(origins.map(|origin| &*origin.chain)).map(|chain| &chain.plan).collect())
}

/// Decodes a box to its place: of the chunk, or of what enters this step of its chain.
pub(super) fn put(
    step: Option<&Step>,
    (chain, origin): (&Arc<Chain>, Option<&Origin>),
    (region, element_size, place): (&Region, usize, &mut BoxPlace<'_>),
    options: &CallOptions,
    decode: impl FnOnce(&mut Target<'_>) -> Result<()>,
) -> Result<()> {
    let own = step.map(|_| &**chain);
    let put = PutDecoded { region, element_size, pool: &chain.pool, options };
    let is_strided = step.is_none_or(|step| step.operation.decodes_to_strides());
    let shape = step.map_or(Some(chain.shape()?), |step| step.decoded.array().ok().map(|array| array.shape()));
    let find = |element| region.index_within(element, shape.unwrap_or_default());
    let element_of =
        |number: u32, codec: usize, element: u64| element_of(own, origin, (number, codec), find(element)).0;
    let result = put.run(is_strided, place, &through(own, origin), &element_of, decode);
    result.map_err(|fault| located(fault, own, origin, find))
}

/// The error of an object, as one of the outermost chain. `find` gives the index of an element that an elementwise step
/// refused, in the array that its object decodes.
fn located(
    PutFault { error, step }: PutFault,
    own: Option<&Chain>,
    origin: Option<&Origin>,
    find: impl FnOnce(u64) -> u64,
) -> Error {
    let (Some((number, _)), Some(codec)) = (step, error.codec_index()) else { return locate(error, origin) };
    let element = error.element_index();
    let (found, outer) = element_of(own, origin, (number, codec), element.map_or(0, find));
    locate(error.at_element(element.map(|_| found)), outer)
}

/// The index of an element in the array that a codec got, by its index in the array that an object decodes; and the
/// inner chunk whose chain has the codec. The codec is one of the plan with this number among those of [`through`].
fn element_of<'a>(
    mut chain: Option<&'a Chain>,
    mut origin: Option<&'a Origin>,
    (mut number, codec): (u32, usize),
    mut element: u64,
) -> (u64, Option<&'a Origin>) {
    loop {
        if let Some(before) = chain.and_then(Chain::before) {
            if number == 0 {
                return (before.element_of(codec, element), origin);
            }
            number -= 1;
            element = before.element_of(0, element);
        }
        let Some(inner) = origin else { return (element, None) };
        if let Some((shard, _)) = inner.shard() {
            element = shard.element_of(&inner.cell, element);
        }
        (chain, origin) = (Some(&*inner.chain), inner.outer.as_deref());
    }
}

/// Converts the error of an inner chunk to one of the outermost chain.
pub(super) fn locate(error: Error, origin: Option<&Origin>) -> Error {
    let Some(origin) = origin else { return error };
    let Some((shard, codec)) = origin.shard() else { return error };
    locate(codec.blame(shard.locate(error, &origin.cell)), origin.outer.as_deref())
}

impl Chain {
    fn before(&self) -> Option<Before<'_>> {
        self.plan.route.as_deref().map(|route| Before { plan: &self.plan, codecs: &self.codecs, route })
    }
}
