//! A stream to one chunk. The stream is never trusted: bits past its end read as zeros, and are reported.

use super::backend::{self, Backend, BlockReader};
#[cfg(feature = "zfp-sys")]
use super::bits::padded_words;
use super::bits::words;
#[cfg(feature = "zfp-sys")]
use super::c_blocks;
use super::element::Element;
use super::grid::{Block, Grid};
use super::mode::{Parameters, WORD_BITS};
use super::own_blocks;
use super::whole;
use super::{Field, Scratch};
use crate::error::{Error, Result};
use crate::interface::{Call, PutSlab, Slabs, too_small};
use crate::memory::grow;
use std::num::NonZeroUsize;
use std::ops::Range;
use zfp_rs::{ZfpDimensionality, ZfpScalar};

pub(super) fn decode<E: Element>(
    field: &Field<E>,
    encoded: &[u8],
    decoded: &mut [u8],
    call: &mut Call<'_>,
) -> Result<usize> {
    let parameters = parameters_of(field, encoded.len())?;
    let decoded_size = field.grid.value_count().checked_mul(size_of::<E::Memory>()).ok_or_else(too_small)?;
    let decoded = decoded.get_mut(..decoded_size).ok_or_else(too_small)?;
    let cells: &mut [E::Memory] = bytemuck::try_cast_slice_mut(decoded)
        .map_err(|error| Error::internal(format!("zfp was given {decoded_size} bytes: {error}")))?;
    let threads = call.options.workers().count_for(decoded_size);
    let scratch = &mut call.contexts.get(|| Ok(Scratch::default()))?.words;
    let words = readable_words(field.backend, parameters, encoded, scratch)?;
    // Where blocks have no fixed size, one must be read to know where the next begins.
    let slab_count = if parameters.has_fixed_size() { threads.get() } else { 1 };
    if slab_count == 1 && whole::decode(field, parameters, words, cells) {
        return Ok(decoded_size);
    }
    let slabs = slabs(&field.grid, cells, slab_count);
    let threads = NonZeroUsize::new(slabs.len()).map_or(NonZeroUsize::MIN, |count| count.min(threads));
    let ends = call.options.workers().map(threads, slabs.into_iter(), |slab| {
        let start = slab.first_block as u64 * u64::from(parameters.block_bits);
        decode_slab(field, parameters, words, start, &slab.grid, slab.cells)
    })?;
    check_end(ends.into_iter().max().unwrap_or(0), encoded)?;
    Ok(decoded_size)
}

/// See [`Transform::decode_slabs`](crate::interface::Transform::decode_slabs).
pub(super) fn decode_slabs<E: Element>(
    field: &Field<E>,
    encoded: &[u8],
    slabs: &Slabs,
    put: &PutSlab<'_>,
    call: &mut Call<'_>,
) -> Result<()> {
    let parameters = parameters_of(field, encoded.len())?;
    let workers = call.options.workers();
    let wanted_size = slabs.numbers.len() * slabs.size;
    // Where blocks have no fixed size, one must be read to know where the next begins.
    let threads = if parameters.has_fixed_size() { workers.count_for(wanted_size) } else { NonZeroUsize::MIN };
    let Scratch { words: scratch, slabs: memories, .. } = call.contexts.get(|| Ok(Scratch::default()))?;
    let words = readable_words(field.backend, parameters, encoded, scratch)?;
    let value_count = slabs.size / size_of::<E::Memory>();
    let block_count = field.grid.slab(value_count, 0).block_count();
    let run = |numbers: Range<usize>, memory: &mut Vec<u8>| -> Result<u64> {
        let first = if parameters.has_fixed_size() { numbers.start } else { 0 };
        let mut position = (first * block_count) as u64 * u64::from(parameters.block_bits);
        grow(memory, slabs.size)?;
        for number in first..numbers.end {
            let grid = field.grid.slab(value_count, number);
            let elements = &mut memory[..grid.value_count() * size_of::<E::Memory>()];
            let cells = bytemuck::try_cast_slice_mut(elements);
            let cells = cells.map_err(|error| Error::internal(format!("the memory of a slab: {error}")))?;
            position = decode_slab(field, parameters, words, position, &grid, cells)?;
            if numbers.contains(&number) {
                put(number, elements)?;
            }
        }
        Ok(position)
    };
    let ends = if threads == NonZeroUsize::MIN {
        let mut memory = memories.pop().unwrap_or_default();
        let end = run(slabs.numbers.clone(), &mut memory);
        memories.push(memory);
        vec![end?]
    } else {
        workers.map(threads, slabs.runs(threads), |numbers| run(numbers, &mut Vec::new()))?
    };
    check_end(ends.into_iter().max().unwrap_or(0), encoded)
}

/// Refuses a stream whose blocks end at a bit that it does not have.
fn check_end(end: u64, encoded: &[u8]) -> Result<()> {
    if end > encoded.len().div_ceil(8) as u64 * WORD_BITS {
        let needed = end.div_ceil(8);
        return Err(Error::corrupt(format!("the stream has {} bytes, but its blocks take {needed}", encoded.len())));
    }
    Ok(())
}

/// The words of a stream as a backend reads them.
#[cfg_attr(not(feature = "zfp-sys"), expect(unused_variables, reason = "only the C library needs more than the words"))]
pub(super) fn readable_words<'a>(
    backend: Backend,
    parameters: &Parameters,
    encoded: &'a [u8],
    scratch: &'a mut Vec<u64>,
) -> Result<&'a [u64]> {
    match backend {
        Backend::ZfpRs => words(encoded, scratch),
        Backend::OwnBlocks(_) => words(encoded, scratch),
        #[cfg(feature = "zfp-sys")]
        Backend::CLibrary => padded_words(encoded, c_blocks::slack(parameters), scratch),
    }
}

/// The parameters that a stream of this size was written with.
pub(super) fn parameters_of<E: Element>(field: &Field<E>, encoded_size: usize) -> Result<&Parameters> {
    let block_count = field.grid.block_count();
    let bound = field.parameters.encoded_bound(block_count)?;
    let size_of = |foreign: &Parameters| foreign.encoded_bound(block_count).ok();
    match &field.foreign {
        Some(foreign) if encoded_size != bound && size_of(foreign) == Some(encoded_size) => Ok(foreign),
        _ if encoded_size <= bound => Ok(&field.parameters),
        _ => Err(Error::corrupt(format!(
            "the stream has {encoded_size} bytes, but {block_count} blocks in mode {} take at most {bound}",
            field.parameters.mode
        ))),
    }
}

/// A part of a field that is contiguous in memory and in the stream.
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

/// Where decoded blocks go. Not a closure: that would stay a function of its own in the loop over blocks.
pub(super) trait Target<B, T, const N: usize> {
    fn put(&mut self, block: B, values: &[T; N]);
}

/// All elements of a grid.
struct Elements<'a, E: Element> {
    grid: &'a Grid,
    element: &'a E,
    cells: &'a mut [E::Memory],
}

impl<E: Element, const N: usize> Target<Block, E::Scalar, N> for Elements<'_, E> {
    #[inline(always)]
    fn put(&mut self, block: Block, values: &[E::Scalar; N]) {
        self.grid.scatter(block, self.element, values, self.cells);
    }
}

/// How many blocks are read before their values go to their places: a multiple of what kernels read at once.
const BATCH: usize = 64;

/// The most values of a block that is read in such a batch.
const MOST_IN_BATCHES: usize = 16;

/// Decodes all blocks of a slab. Returns the bit after the last of them.
fn decode_slab<E: Element>(
    field: &Field<E>,
    parameters: &Parameters,
    words: &[u64],
    start: u64,
    grid: &Grid,
    cells: &mut [E::Memory],
) -> Result<u64> {
    match field.grid.dimensionality() {
        ZfpDimensionality::D1 => decode_blocks::<E, 4>(field, parameters, words, start, grid, cells),
        ZfpDimensionality::D2 => decode_blocks::<E, 16>(field, parameters, words, start, grid, cells),
        ZfpDimensionality::D3 => decode_blocks::<E, 64>(field, parameters, words, start, grid, cells),
        ZfpDimensionality::D4 => decode_blocks::<E, 256>(field, parameters, words, start, grid, cells),
    }
}

/// The same for blocks of N values.
fn decode_blocks<E: Element, const N: usize>(
    field: &Field<E>,
    parameters: &Parameters,
    words: &[u64],
    start: u64,
    grid: &Grid,
    cells: &mut [E::Memory],
) -> Result<u64> {
    let block_count = grid.block_count();
    if let (true, Backend::OwnBlocks(coder)) = (N <= MOST_IN_BATCHES, field.backend) {
        let mut reader = own_blocks::OwnReader::new(coder, words, start, parameters);
        let mut values = [[E::Scalar::default(); N]; BATCH];
        for first in (0..block_count).step_by(BATCH) {
            let values = &mut values[..BATCH.min(block_count - first)];
            reader.read(values)?;
            grid.scatter_all(first, &field.element, values, cells);
        }
        return Ok(BlockReader::<E::Scalar, N>::position(&reader));
    }
    let elements = Elements { grid, element: &field.element, cells };
    read_blocks::<_, E::Scalar, N>(field.backend, parameters, words, start, grid.blocks(0..block_count), elements)
}

/// Reads the blocks from this bit on into a target. Returns the bit after the last of them.
pub(super) fn read_blocks<B, T: ZfpScalar, const N: usize>(
    backend: Backend,
    parameters: &Parameters,
    words: &[u64],
    start: u64,
    blocks: impl Iterator<Item = B>,
    target: impl Target<B, T, N>,
) -> Result<u64> {
    match backend {
        Backend::ZfpRs => read_each::<_, _, N, 1>(backend::CrateReader::new(words, start, parameters), blocks, target),
        Backend::OwnBlocks(coder) => {
            let reader = own_blocks::OwnReader::new(coder, words, start, parameters);
            match N {
                4 | 16 => read_each::<_, _, N, 32>(reader, blocks, target),
                _ => read_each::<_, _, N, 1>(reader, blocks, target),
            }
        }
        #[cfg(feature = "zfp-sys")]
        Backend::CLibrary => {
            let end = read_each::<_, _, N, 1>(c_blocks::CReader::new(words, start, parameters)?, blocks, target)?;
            // A reader that would begin past the end stays where that is.
            Ok(end.max(start))
        }
    }
}

/// Reads `TOGETHER` blocks at a time.
fn read_each<B, T: ZfpScalar, const N: usize, const TOGETHER: usize>(
    mut reader: impl BlockReader<T, N>,
    mut blocks: impl Iterator<Item = B>,
    mut target: impl Target<B, T, N>,
) -> Result<u64> {
    let mut values = [[T::default(); N]; TOGETHER];
    if TOGETHER == 1 {
        for block in blocks {
            reader.read(&mut values)?;
            target.put(block, &values[0]);
        }
        return Ok(reader.position());
    }
    loop {
        let mut places = [const { None }; TOGETHER];
        let mut count = 0;
        for (place, block) in places.iter_mut().zip(&mut blocks) {
            *place = Some(block);
            count += 1;
        }
        reader.read(&mut values[..count])?;
        for (place, values) in places.into_iter().flatten().zip(&values) {
            target.put(place, values);
        }
        if count < TOGETHER {
            return Ok(reader.position());
        }
    }
}
