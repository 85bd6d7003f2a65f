//! A stream to one chunk. The stream is never trusted: bits behind its end are zeros, and are reported.

use super::Field;
use super::backend::{self, Backend, BlockReader};
#[cfg(feature = "zfp-sys")]
use super::bits::padded_words;
use super::bits::words;
#[cfg(feature = "zfp-sys")]
use super::c_blocks;
use super::element::Element;
use super::encode::thread_count;
use super::grid::Grid;
use super::mode::{Parameters, WORD_BITS};
#[cfg(target_arch = "x86_64")]
use super::vector;
use super::whole;
use crate::error::{Error, Result};
use crate::interface::{Call, too_small};
use crate::parallel;
use std::num::NonZeroUsize;
use zfp_rs::ZfpDimensionality;

/// The words of a stream that lies at no multiple of 8 bytes, kept from call to call.
type Scratch = Vec<u64>;

pub(super) fn decode<E: Element>(
    field: &Field<E>,
    encoded: &[u8],
    decoded: &mut [u8],
    call: &mut Call<'_>,
) -> Result<usize> {
    let parameters = parameters_of(field, encoded)?;
    let decoded_size = field.grid.value_count() * size_of::<E::Memory>();
    let decoded = decoded.get_mut(..decoded_size).ok_or_else(too_small)?;
    let cells: &mut [E::Memory] = bytemuck::try_cast_slice_mut(decoded)
        .map_err(|error| Error::internal(format!("zfp was given {decoded_size} bytes: {error}")))?;
    let threads = thread_count(call, decoded_size);
    let scratch = call.contexts.get(|| Ok(Scratch::new()))?;
    let word_count = encoded.len().div_ceil(8);
    let words = match field.backend {
        Backend::ZfpRs => words(encoded, scratch)?,
        #[cfg(target_arch = "x86_64")]
        Backend::Vector => words(encoded, scratch)?,
        #[cfg(feature = "zfp-sys")]
        Backend::CLibrary => padded_words(encoded, c_blocks::slack(parameters), scratch)?,
    };
    let run = match field.grid.dimensionality() {
        ZfpDimensionality::D1 => decode_blocks::<E, 4>,
        ZfpDimensionality::D2 => decode_blocks::<E, 16>,
        ZfpDimensionality::D3 => decode_blocks::<E, 64>,
        ZfpDimensionality::D4 => decode_blocks::<E, 256>,
    };
    // Where blocks have no fixed size, one must be read to know where the next begins.
    let slab_count = if parameters.has_fixed_size() { threads.get() } else { 1 };
    if slab_count == 1 && whole::decode(field, parameters, words, cells) {
        return Ok(decoded_size);
    }
    let slabs = slabs(&field.grid, cells, slab_count);
    let threads = NonZeroUsize::new(slabs.len()).map_or(NonZeroUsize::MIN, |count| count.min(threads));
    let ends = parallel::map(threads, slabs.into_iter(), |slab| {
        let start = slab.first_block as u64 * u64::from(parameters.block_bits);
        run(field, parameters, words, start, slab)
    })?;
    let needed = ends.into_iter().try_fold(0, |end, (_, slab_end)| slab_end.map(|slab_end| end.max(slab_end)))?;
    if needed > word_count as u64 * WORD_BITS {
        let needed = needed.div_ceil(8);
        return Err(Error::corrupt(format!("the stream has {} bytes, and its blocks take {needed}", encoded.len())));
    }
    Ok(decoded_size)
}

/// What this stream was written with.
fn parameters_of<'a, E: Element>(field: &'a Field<E>, encoded: &[u8]) -> Result<&'a Parameters> {
    let block_count = field.grid.block_count();
    let bound = field.parameters.encoded_bound(block_count)?;
    let size_of = |foreign: &Parameters| foreign.encoded_bound(block_count).ok();
    match &field.foreign {
        Some(foreign) if encoded.len() != bound && size_of(foreign) == Some(encoded.len()) => Ok(foreign),
        _ if encoded.len() <= bound => Ok(&field.parameters),
        _ => Err(Error::corrupt(format!(
            "the stream has {} bytes, and {block_count} blocks in mode {} take at most {bound}",
            encoded.len(),
            field.parameters.mode
        ))),
    }
}

/// A part of a field that lies in one piece in memory and in the stream.
struct Slab<'a, M> {
    grid: Grid,
    first_block: usize,
    cells: &'a mut [M],
}

fn slabs<'a, M>(grid: &Grid, mut cells: &'a mut [M], count: usize) -> Vec<Slab<'a, M>> {
    let mut first_block = 0;
    let mut slabs = Vec::new();
    for grid in grid.slabs(count) {
        let (slab, rest) = cells.split_at_mut(grid.value_count());
        let block_count = grid.block_count();
        slabs.push(Slab { grid, first_block, cells: slab });
        first_block += block_count;
        cells = rest;
    }
    slabs
}

/// Decodes all blocks of a slab; returns where the stream goes on.
fn decode_blocks<E: Element, const N: usize>(
    field: &Field<E>,
    parameters: &Parameters,
    words: &[u64],
    start: u64,
    slab: Slab<'_, E::Memory>,
) -> Result<u64> {
    match field.backend {
        Backend::ZfpRs => read_blocks::<E, N>(&field.element, slab, backend::Reader::new(words, start, parameters)),
        #[cfg(target_arch = "x86_64")]
        Backend::Vector => read_blocks::<E, N>(&field.element, slab, vector::Reader::new(words, start, parameters)),
        #[cfg(feature = "zfp-sys")]
        Backend::CLibrary => {
            let end = read_blocks::<E, N>(&field.element, slab, c_blocks::Reader::new(words, start, parameters)?)?;
            // A reader that would begin behind the end stays where that is.
            Ok(end.max(start))
        }
    }
}

fn read_blocks<E: Element, const N: usize>(
    element: &E,
    slab: Slab<'_, E::Memory>,
    mut reader: impl BlockReader<E::Scalar, N>,
) -> Result<u64> {
    let mut values = [E::Scalar::default(); N];
    for block in slab.grid.blocks(0..slab.grid.block_count()) {
        reader.read(&mut values)?;
        slab.grid.scatter(block, element, &values, slab.cells);
    }
    Ok(reader.position())
}
