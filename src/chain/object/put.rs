//! Elements that are put into a shard: through the steps before it.

use crate::chain::Chain;
use crate::chain::boxes::region::Region;
use crate::chain::elements::Packed;
use crate::chain::input::Input;
use crate::chain::plan::{Elements, Operation, Step};
use crate::chain::shard::Shard;
use crate::chain::workspace::Workspace;
use crate::error::{CodecPlace, Error, Result};
use crate::interface::{Call, CallOptions, Pass};
use crate::strided::{self, Source, Target};
use std::sync::Arc;

/// The arguments of a put.
pub(super) struct Put<'a> {
    pub(super) region: Region,
    pub(super) source: Source<'a>,
}

impl Chain {
    /// The shard of this chain, if only `transpose` and elementwise codecs precede it and nothing follows it.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): another chain.
    pub(super) fn writable_shard(&self) -> Result<(&Arc<Shard>, &CodecPlace)> {
        let (shard, codec) = self.shard_alone()?;
        let is_through = |step: &Step, shape: &[u64]| step.decoded.array().is_ok_and(|array| array.shape() == shape);
        let other = self.plan.steps.windows(2).find(|steps| match &steps[0].operation {
            Operation::Elements(elements) => !steps[0].frames.is_empty() || !is_through(&steps[1], &elements.shape),
            _ => true,
        });
        if other.is_none() && self.plan.steps.last().is_some_and(|step| is_through(step, &shard.shape())) {
            return Ok((shard, codec));
        }
        let why =
            "precedes sharding_indexed, and is neither transpose nor elementwise: the shard cannot be changed in parts";
        let reshape = || self.codecs.codecs().iter().position(|bound| matches!(bound.pass, Pass::Reshape));
        Err(match other.map(|steps| &steps[0]) {
            Some(Step { operation: Operation::Transform(codec, _), .. }) => codec.blame(Error::unsupported(why)),
            _ => match reshape() {
                Some(index) => self.codecs.list().codec(index).blame(Error::unsupported(why)),
                None => Error::unsupported(format!("a codec {why}")),
            },
        })
    }

    /// The steps before the shard of a chain that has a [`writable_shard`](Self::writable_shard).
    pub(super) fn elements_before(&self) -> impl DoubleEndedIterator<Item = &Elements> {
        self.plan.steps.iter().filter_map(|step| match &step.operation {
            Operation::Elements(elements) => Some(elements),
            _ => None,
        })
    }

    /// What the codecs before the shard make of the fill value, if that is not the fill value there: those of numcodecs
    /// pass the fill value on unencoded, as in zarr-python.
    ///
    /// # Errors
    /// As [`encode_into`](Self::encode_into), if they cannot encode it.
    pub(super) fn encoded_fill_value(&self, shard: &Shard, options: &CallOptions) -> Result<Option<Vec<u8>>> {
        let (Ok(from), Ok(to)) = (self.fill_value(), shard.inner.fill_value()) else { return Ok(None) };
        let one = Region::whole(&vec![1; shard.chunk_shape().len()]);
        let put = Put { source: Source::contiguous(from, from.len(), &one.shape)?, region: one.clone() };
        let mut element = vec![0; to.len()];
        let encoded = self.pool.with(|workspace| {
            self.with_values(&put, &one, workspace, options, |values| {
                strided::copy(&values, &mut Target::contiguous(&mut element, to.len(), &one.shape)?)
            })
        });
        encoded
            .map_err(|error| error.at_element(None).with_context("the fill value of elements that were not put "))?;
        Ok(Some(element).filter(|element| element != to))
    }

    /// Whether the elements of a missing inner chunk are the fill value, as those of a missing shard are. Codecs before
    /// the shard may change the fill value, such as one that rounds it.
    pub(super) fn decodes_to_fill_value(&self, shard: &Shard, options: &CallOptions) -> Result<bool> {
        let (Ok(expected), Ok(missing)) = (self.fill_value(), shard.inner.fill_value()) else { return Ok(true) };
        let one = Region::whole(&vec![1; shard.chunk_shape().len()]);
        let mut element = missing.to_vec();
        let decoded: Result<bool> = self.pool.with(|workspace| {
            for elements in self.elements_before().rev().filter(|elements| !elements.keeps_values()) {
                let size = elements.fused.element_size();
                let mut decoded = vec![0; size];
                let mut target = Target::contiguous(&mut decoded, size, &one.shape)?;
                let packed = Packed { bytes: &element, region: one.clone(), first: 0 };
                let call = &mut Call { options, hooks: None, contexts: &mut workspace.contexts };
                elements.decode(&packed, &one, &mut target, call)?;
                element = decoded;
            }
            Ok(element == expected)
        });
        match decoded {
            Err(error) if !error.is_of_no_codec() => Ok(false),
            decoded => decoded,
        }
    }

    /// Passes on a part of a put as it enters the shard; `in_shard` is its box there.
    pub(super) fn with_values<T>(
        &self,
        put: &Put<'_>,
        in_shard: &Region,
        workspace: &mut Workspace,
        options: &CallOptions,
        work: impl FnOnce(Source<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut regions = vec![in_shard.clone()];
        for elements in self.elements_before().rev() {
            regions.extend(regions.last().map(|region| elements.origin_of(region)));
        }
        let mut regions = regions.into_iter().rev();
        let first = regions.next().ok_or_else(|| Error::internal("a box is lost"))?;
        let mut values = put.source.region(&first.relative_to(&put.region), &first.shape)?;
        let Workspace { front, back, contexts, .. } = workspace;
        let (mut front, mut back) = (front, back);
        for (elements, region) in self.elements_before().zip(regions) {
            values = elements.permute_source(&values)?;
            if elements.keeps_values() {
                continue;
            }
            let call = &mut Call { options, hooks: None, contexts: &mut *contexts };
            let size = elements.encode_box(&Input::whole(values), &region, back, call)?;
            std::mem::swap(&mut front, &mut back);
            values = Source::contiguous(&front[..size], elements.encoded_element_size(), &region.shape)?;
        }
        work(values)
    }
}
