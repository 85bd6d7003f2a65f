//! A box of a chunk whose codec decodes parts of it, such as the blocks of a compressor that touch them.
//!
//! The bytes that the codec was given are the elements of an array in C order, perhaps after elementwise kernels. The
//! rows of a box are parts of those bytes, which go straight to their place if the elements of a row lie back to back
//! there; else they are gathered first.

use super::region::Region;
use super::slabs;
use crate::chain::copy::copy_strided;
use crate::chain::elements::Packed;
use crate::chain::plan::{Elements, Operation, Step};
use crate::chain::run::{LastDecode, Run};
use crate::chain::workspace::Workspace;
use crate::error::{CodecPlace, Result};
use crate::interface::{CallOptions, Contexts, Transform};
use crate::memory::grow;
use crate::representation::ByteSize;
use crate::strided::{Source, Target};

/// Shorter rows are gathered before they go to their strides: a part of its own costs about as much as such a copy.
const MIN_ROW_SIZE: usize = 64;

/// Shorter rows of a whole chunk do not go to their place by themselves: decoding all of the chunk, and then copying it
/// there, takes less time. Nor do those of a box whose parts are longer than they are: it is gathered.
const MIN_DIRECT_ROW_SIZE: usize = 1024;

/// But a larger box is not gathered for that: it would need as much memory again, and leave the caches.
const MAX_GATHERED_SIZE: usize = 1 << 20;

/// The data that all parts of a box share.
#[derive(Clone, Copy)]
struct Ranges<'a> {
    codec: &'a CodecPlace,
    transform: &'a dyn Transform,
    payload: &'a [u8],
    decoded_size: usize,
    /// The shape of the array whose elements the decoded bytes are.
    shape: &'a [u64],
    options: &'a CallOptions,
}

impl Run<'_> {
    /// Decodes a box from the parts of a chunk that it needs. None if no codec can do that, or the box is the whole
    /// chunk and other ways are as good.
    pub(in crate::chain) fn decode_region_by_ranges(
        &self,
        encoded: &[u8],
        region: &Region,
        target: &mut Target<'_>,
        workspace: &mut Workspace,
    ) -> Result<Option<()>> {
        let (elements, index) = match self.plan.steps.as_slice() {
            [Step { operation: Operation::Elements(elements), frames, .. }, _, ..] if frames.is_empty() => {
                (Some(elements), 1)
            }
            _ => (None, 0),
        };
        let Step { operation: Operation::Transform(codec, transform), decoded, .. } = &self.plan.steps[index] else {
            return Ok(None);
        };
        let ByteSize::Exact(decoded_size) = decoded.size() else { return Ok(None) };
        let Ok(decoded_size) = usize::try_from(decoded_size) else { return Ok(None) };
        let input = self.plan.steps[0].decoded.array()?;
        let is_whole = region.is_whole(input.shape())
            && (elements.is_some() || target.is_contiguous() || target.row_size() < MIN_DIRECT_ROW_SIZE);
        if !transform.decodes_ranges() || is_whole || region.is_empty() {
            return Ok(None);
        }
        let LastDecode { payload, back, contexts, .. } = self.decode_to(index, encoded, workspace)?;
        let shape = elements.map_or(input.shape(), |elements| &elements.shape);
        let transform = &**transform;
        let parts = Ranges { codec, transform, payload, decoded_size, shape, options: self.options };
        match elements {
            Some(elements) => {
                let Some(packed) = parts.packed(elements, region, target, back, contexts)? else { return Ok(None) };
                elements.decode(&packed, region, target, &mut self.call(None, contexts)).map(Some)
            }
            None => parts.decode_to_target(region, target, back, contexts),
        }
    }
}

impl Ranges<'_> {
    /// The packed elements that a box needs on the way to its place.
    fn packed<'b>(
        &self,
        elements: &Elements,
        region: &Region,
        target: &Target<'_>,
        back: &'b mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<Option<Packed<'b>>> {
        let bits = elements.fused.encoded_bits();
        if bits.is_multiple_of(8) {
            let needed = elements.needed(region).with_short_gaps(self.shape, bits / 8);
            let size = needed.byte_size(bits / 8)?;
            if size > MAX_GATHERED_SIZE {
                let permuted = elements.order.as_ref().map(|order| target.layout().permuted(order)).transpose()?;
                let view = permuted.as_ref().unwrap_or_else(|| target.layout());
                if slabs::are_worth_it(self.shape, bits / 8, &needed, view, self.transform) {
                    return Ok(None); // by slabs, which takes less memory
                }
            }
            grow(back, size)?;
            let mut target = Target::contiguous(&mut back[..size], bits / 8, &needed.shape)?;
            let done = self.decode(&needed, &mut target, contexts)?;
            return Ok(done.map(|()| Packed { bytes: &back[..size], region: needed, first: 0 }));
        }
        let (first, span) = elements.span(region);
        let size = (span.end - span.start) as usize;
        grow(back, size)?;
        let done = self.decode_rows(&mut std::iter::once((span.start as usize, &mut back[..size])), contexts)?;
        Ok(done.map(|()| Packed { bytes: &back[..size], region: Region::whole(self.shape), first }))
    }

    /// A box to its place, which may have any strides.
    fn decode_to_target(
        &self,
        region: &Region,
        target: &mut Target<'_>,
        back: &mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<Option<()>> {
        let element_size = target.element_size();
        let needed = region.with_short_gaps(self.shape, element_size);
        let size = needed.byte_size(element_size)?;
        let has_longer_parts = region.run_length(self.shape) * element_size > target.row_size();
        let min_row_size =
            if has_longer_parts && size <= MAX_GATHERED_SIZE { MIN_DIRECT_ROW_SIZE } else { MIN_ROW_SIZE };
        if needed == *region && (target.row_size() >= min_row_size || target.is_contiguous()) {
            return self.decode(region, target, contexts);
        }
        if size > MAX_GATHERED_SIZE
            && slabs::are_worth_it(self.shape, element_size, &needed, target.layout(), self.transform)
        {
            return Ok(None); // by slabs, which takes less memory
        }
        grow(back, size)?;
        let mut gathered = Target::contiguous(&mut back[..size], element_size, &needed.shape)?;
        if self.decode(&needed, &mut gathered, contexts)?.is_none() {
            return Ok(None);
        }
        let gathered = Source::contiguous(&back[..size], element_size, &needed.shape)?;
        copy_strided(&gathered.region(&region.relative_to(&needed), &region.shape)?, target, self.options).map(Some)
    }

    /// A box to its place, row by row, on as many threads as are worth it.
    fn decode(&self, region: &Region, target: &mut Target<'_>, contexts: &mut Contexts) -> Result<Option<()>> {
        let workers = self.options.workers();
        let count = workers.count_for(region.element_count().saturating_mul(target.element_size()));
        if count.get() == 1 {
            return self.decode_alone(region, target, contexts);
        }
        let boxes = region.split(target.reborrow(), count.get() as u64)?;
        let results = workers.map(count, boxes.into_iter(), |(region, mut target)| {
            self.decode_alone(&region, &mut target, &mut Contexts::default())
        })?;
        Ok(results.into_iter().fold(Some(()), Option::and))
    }

    fn decode_alone(&self, region: &Region, target: &mut Target<'_>, contexts: &mut Contexts) -> Result<Option<()>> {
        let element_size = target.element_size();
        let (run_length, firsts) = region.runs(self.shape);
        let (run_size, row_size) = (run_length * element_size, target.row_size());
        // Both span the last dimensions of the box, so that the smaller divides the larger.
        let size = run_size.min(row_size);
        let starts = firsts.flat_map(|first| {
            let start = first as usize * element_size;
            (start..start + run_size).step_by(size)
        });
        let rows = target.rows().flat_map(|row| row.chunks_exact_mut(size));
        self.decode_rows(&mut starts.zip(rows), contexts)
    }

    fn decode_rows(
        &self,
        rows: &mut dyn Iterator<Item = (usize, &mut [u8])>,
        contexts: &mut Contexts,
    ) -> Result<Option<()>> {
        let call = &mut crate::interface::Call { options: self.options, hooks: None, contexts };
        let done = self.transform.decode_ranges(self.payload, self.decoded_size, rows, call);
        done.map_err(|error| self.codec.blame(error))
    }
}
