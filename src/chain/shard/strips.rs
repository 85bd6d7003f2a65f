//! Neighbouring inner chunks of a large box, which are read together or written to their places together: see
//! [`Gathered`] and [`Strip`].

use super::Shard;
use crate::chain::Chain;
use crate::chain::boxes::region::Region;
use crate::chain::plan::{Operation, Plan, Step};
use crate::chain::run::Run;
use crate::chain::workspace::Workspace;
use crate::error::Result;
use crate::interface::CallOptions;
use crate::representation::element_count;
use crate::strided::{self, Gathered, Source, Strip, Target};
use std::num::NonZeroUsize;

/// Strips for each worker, or more: enough that none waits long for the others at the end.
pub(in crate::chain) const STRIPS_PER_WORKER: usize = 4;

/// With codecs that keep bytes, longer rows are copied as fast one inner chunk at a time, and checksums are computed on
/// the way.
const MAX_KEPT_ROW_SIZE: usize = 128;

/// Longer rows of inner chunks are read as fast without those beside them.
const MAX_READ_ROW_SIZE: usize = 512;

/// Small inner chunks go through the codecs before the shard together, as many as have this many bytes: for each by
/// itself, calling the kernels takes as long as they do.
const BATCH_SIZE: u64 = 64 << 10;

impl Shard {
    /// The shape of inner chunks that go through the codecs before the shard together, one after the other in C order;
    /// `None` if they are not small.
    pub(super) fn batch_shape(&self) -> Option<Vec<u64>> {
        let mut shape = self.chunk_shape().to_vec();
        let chunk_size = element_count(&shape).saturating_mul(self.element_size() as u64);
        let mut count = BATCH_SIZE / chunk_size.max(1);
        // Shards take longer, and in shards there is little stack.
        if count < 2 || self.inner.innermost_chunk().is_some() {
            return None;
        }
        for (size, most) in shape.iter_mut().zip(self.grid().counts).rev() {
            let taken = count.min(*most).max(1);
            *size *= taken;
            if taken < *most {
                break;
            }
            count /= taken;
        }
        Some(shape)
    }

    /// The shape of as many inner chunks side by side as are read or written together; `None` if they gain nothing by
    /// that: the box fits into caches, or an inner chunk is large or has no rows.
    pub(in crate::chain) fn strip_shape(&self, region: &Region, workers: NonZeroUsize) -> Option<Vec<u64>> {
        let chunk_shape = self.chunk_shape();
        let [size, chunk_size] =
            [&region.shape, chunk_shape].map(|shape| element_count(shape).saturating_mul(self.element_size() as u64));
        let (width, outer) = chunk_shape.split_last()?;
        let chunk_count = region.element_count() as u64 / element_count(chunk_shape).max(1);
        let strips = STRIPS_PER_WORKER.saturating_mul(workers.get()) as u64;
        let count = (strided::max_boxes(chunk_size) as u64).min(chunk_count / strips);
        let has_rows = outer.iter().any(|size| *size > 1);
        (size >= strided::LARGE_SIZE && has_rows && count > 1).then(|| {
            let mut shape = outer.to_vec();
            shape.push(width.saturating_mul(count));
            shape
        })
    }

    /// The inner chunks of a box whose elements lie there, copied together; `None` if it has others than whole ones side
    /// by side, or they gain nothing by that.
    pub(in crate::chain) fn gather<'m>(
        &self,
        region: &Region,
        source: &Source<'_>,
        memory: &'m mut Vec<u8>,
    ) -> Result<Option<Gathered<'m>>> {
        let (Some((width, outer)), Some((extent, rest))) = (self.chunk_shape().split_last(), region.shape.split_last())
        else {
            return Ok(None);
        };
        let mut edges = region.start.iter().chain([extent]).zip(self.chunk_shape().iter().chain([width]));
        if rest != outer || !edges.all(|(edge, size)| edge.is_multiple_of(*size)) {
            return Ok(None);
        }
        let max_row_size = if self.inner.plan.keeps_bytes() { MAX_KEPT_ROW_SIZE } else { MAX_READ_ROW_SIZE };
        Gathered::new(source, *width, max_row_size, memory)
    }
}

impl Chain {
    /// Decodes a box of an inner chunk to its place, or to a strip that takes it there.
    pub(in crate::chain) fn decode_region_in_strip<'e, 't>(
        &self,
        encoded: &'e [u8],
        region: &Region,
        target: Target<'t>,
        strip: &mut Strip<'_, 'e, 't>,
        options: &CallOptions,
    ) -> Result<()> {
        let element_size = target.element_size();
        if self.plan.keeps_bytes() && region.is_whole(self.shape()?) {
            let elements = self.run(options, |run, workspace| run.elements(encoded, workspace))?;
            return match strip.add_elements(elements, target)? {
                None => Ok(()),
                Some(mut target) => {
                    strided::copy(&Source::contiguous(elements, element_size, &region.shape)?, &mut target)
                }
            };
        }
        match strip.add(target)? {
            Ok(memory) => {
                let mut target = Target::contiguous(memory, element_size, &region.shape)?;
                self.decode_region(encoded, region, &mut target, options)
            }
            Err(mut target) => self.decode_region(encoded, region, &mut target, options),
        }
    }
}

impl Plan {
    /// Whether encoding adds no more than frames to the elements.
    pub(super) fn keeps_bytes(&self) -> bool {
        matches!(self.steps.as_slice(), [Step { operation: Operation::Elements(elements), .. }]
            if elements.keeps_values() && elements.order.is_none())
    }
}

impl Run<'_> {
    /// The elements of a chunk of a plan that keeps bytes.
    fn elements<'a>(&self, encoded: &'a [u8], workspace: &mut Workspace) -> Result<&'a [u8]> {
        let payload = self.peel(&self.plan.steps[0], encoded, &mut workspace.contexts)?;
        Ok(&encoded[payload])
    }
}
