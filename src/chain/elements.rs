//! An elementwise pass between memory of any strides and packed elements.
//!
//! Packed elements are in C order. Where the other side is so, too, the stages run over all of it; else they run over
//! tiles, which are boxes that are copied from or to their place.

use super::fused::Fused;
use super::input::{Decoded, Input};
use super::plan::Elements;
use super::region::{Region, Tiles};
use crate::error::{Error, Result};
use crate::interface::{Call, packed_size, too_small};
use crate::memory::grow;
use crate::strided::{self, Layout, Source, Target};

/// Bytes of a tile on its way to or from strides: a second-level cache holds it, and a line of a transposed side is
/// used for many rows of it.
const TILE_SIZE: usize = 256 << 10;

/// Elements of a tile that is not yet encoded, because it does not end with a byte.
#[derive(Debug, Default)]
struct Tile(Vec<u8>);

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
                let shape = decoded_shape(&self.shape, order);
                Input::whole(Source::contiguous(decoded, self.fused.element_size(), &shape)?).permuted(order)?
            }
            (Decoded::Input(input), None) => input.clone(),
            (Decoded::Input(input), Some(order)) => input.permuted(order)?,
        };
        match input.as_slice() {
            Some(decoded) => self.fused.encode(decoded, encoded, call)?,
            None if self.fused.is_copy() => {
                input.copy_to(&mut Target::contiguous(encoded, self.fused.element_size(), &self.shape)?)?;
            }
            None => self.encode_tiles(&input, encoded, call)?,
        }
        Ok(size)
    }

    /// Decodes all elements to the beginning of `decoded`, back to back in C order.
    pub(super) fn decode_all(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let size = self.shape.iter().product::<u64>() as usize * self.fused.element_size();
        let decoded = decoded.get_mut(..size).ok_or_else(too_small)?;
        match &self.order {
            None => self.fused.decode(encoded, decoded, call)?,
            Some(order) => {
                let shape = decoded_shape(&self.shape, order);
                let mut target = Target::contiguous(decoded, self.fused.element_size(), &shape)?;
                self.decode(encoded, 0, &Region::whole(&shape), &mut target, call)?;
            }
        }
        Ok(size)
    }

    fn encode_tiles(&self, input: &Input<'_>, encoded: &mut [u8], call: &mut Call<'_>) -> Result<()> {
        let (element_size, bits) = (self.fused.element_size(), self.fused.encoded_bits());
        let Tile(mut pending) = std::mem::take(call.contexts.get(|| Ok(Tile::default()))?);
        let whole = Region::whole(&self.shape);
        let (mut held, mut done) = (0, 0);
        for tile in Tiles::new(&whole, TILE_SIZE / element_size) {
            let count = tile.element_count();
            grow(&mut pending, (held + count) * element_size)?;
            let gathered = &mut pending[held * element_size..(held + count) * element_size];
            let part = input.region(&tile.start, &tile.shape)?;
            part.copy_to(&mut Target::contiguous(gathered, element_size, &tile.shape)?)?;
            let available = held + count;
            let is_last = done + available as u64 == whole.element_count() as u64;
            // A part ends with a byte: what is left waits for the next tile.
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

    /// Decodes a box of the array that enters on encode. `packed` is the elements from `first` on.
    pub(super) fn decode(
        &self,
        packed: &[u8],
        first: u64,
        region: &Region,
        target: &mut Target<'_>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        match &self.order {
            None => self.decode_region(packed, first, region, target, call),
            Some(order) => {
                let target = &mut target.reborrow().permuted(order)?;
                self.decode_region(packed, first, &region.permuted(order), target, call)
            }
        }
    }

    fn decode_region(
        &self,
        packed: &[u8],
        first: u64,
        region: &Region,
        target: &mut Target<'_>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        if region.is_empty() {
            return Ok(());
        }
        if self.fused.is_copy() {
            return strided::copy(&self.packed_source(packed, first, region)?, target);
        }
        let Some(decoded) = target.as_slice() else {
            return self.decode_tiles(packed, first, region, target, call);
        };
        let place = RegionOf { region, shape: &self.shape, first };
        decode_runs(&self.fused, packed, &place, decoded, call).map_err(|error| region.locate(error, &self.shape))
    }

    fn decode_tiles(
        &self,
        packed: &[u8],
        first: u64,
        region: &Region,
        target: &mut Target<'_>,
        call: &mut Call<'_>,
    ) -> Result<()> {
        let element_size = self.fused.element_size();
        let Tile(mut scratch) = std::mem::take(call.contexts.get(|| Ok(Tile::default()))?);
        for tile in Tiles::new(region, TILE_SIZE / element_size) {
            let size = tile.element_count() * element_size;
            grow(&mut scratch, size)?;
            let place = RegionOf { region: &tile, shape: &self.shape, first };
            decode_runs(&self.fused, packed, &place, &mut scratch[..size], call)
                .map_err(|error| tile.locate(error, &self.shape))?;
            let source = Source::contiguous(&scratch[..size], element_size, &tile.shape)?;
            strided::copy(&source, &mut target.region(&tile.relative_to(region), &tile.shape)?)?;
        }
        *call.contexts.get(|| Ok(Tile::default()))? = Tile(scratch);
        Ok(())
    }

    /// The elements of a box where no stage changes them.
    fn packed_source<'a>(&self, packed: &'a [u8], first: u64, region: &Region) -> Result<Source<'a>> {
        let element_size = self.fused.element_size();
        let mut strides = vec![element_size as i64; self.shape.len()];
        for dimension in (1..self.shape.len()).rev() {
            strides[dimension - 1] = strides[dimension].saturating_mul(self.shape[dimension] as i64);
        }
        let offset = (region.first_index(&self.shape) - first) as usize * element_size;
        Source::new(packed, Layout::new(element_size, &region.shape, Some(&strides), offset, packed.len())?)
    }
}

/// The shape of an array whose dimensions have this shape in this order.
fn decoded_shape(shape: &[u64], order: &[usize]) -> Vec<u64> {
    let mut decoded = vec![0; shape.len()];
    order.iter().zip(shape).for_each(|(dimension, size)| decoded[*dimension] = *size);
    decoded
}

/// A box of an array of which the packed elements from `first` on are at hand.
struct RegionOf<'a> {
    region: &'a Region,
    shape: &'a [u64],
    first: u64,
}

/// Decodes the elements of a box, in C order, run by run. An error counts the elements of the box.
fn decode_runs(
    fused: &Fused,
    packed: &[u8],
    place: &RegionOf<'_>,
    decoded: &mut [u8],
    call: &mut Call<'_>,
) -> Result<()> {
    let (run_count, runs) = place.region.runs(place.shape);
    let run_size = run_count * fused.element_size();
    for (index, (start, decoded)) in runs.zip(decoded.chunks_exact_mut(run_size.max(1))).enumerate() {
        let start =
            usize::try_from(start - place.first).map_err(|_| Error::internal("a run lies before its elements"))?;
        fused
            .decode_from(packed, start, decoded, call)
            .map_err(|error| error.after_elements((index * run_count) as u64))?;
    }
    Ok(())
}
