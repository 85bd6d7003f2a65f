//! One chunk to a stream.
//!
//! Blocks are coded a part at a time into scratch memory, and the parts are joined to the bit. So it does not matter
//! on which thread, or in which order, they are coded.

use super::backend::{self, Backend, BlockWriter};
use super::bits::StreamJoiner;
#[cfg(feature = "zfp-sys")]
use super::c_blocks;
use super::element::Element;
use super::grid::{AHEAD, Grid};
use super::mode::WORD_BITS;
use super::own_blocks;
use super::whole;
use super::{Field, Scratch};
use crate::error::{Error, Result, Status};
use crate::interface::{Call, GetSlab, Slabs, too_small};
use crate::memory::grow;
use crate::parallel::{into_inner, lock};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use zfp_rs::ZfpDimensionality;

/// Decoded bytes of a piece: it stays in the first-level cache, and joining pieces costs little compared with coding.
const PIECE_SIZE: usize = 16 << 10;

pub(super) fn encode<E: Element>(
    field: &Field<E>,
    decoded: &[u8],
    encoded: &mut [u8],
    call: &mut Call<'_>,
) -> Result<usize> {
    let cells: &[E::Memory] = bytemuck::try_cast_slice(decoded)
        .ok()
        .filter(|cells: &&[E::Memory]| cells.len() == field.grid.value_count())
        .ok_or_else(|| Error::internal(format!("zfp was given {} bytes for {:?}", decoded.len(), field.grid)))?;
    if field.header.is_none()
        && call.options.workers().count_for(decoded.len()).get() == 1
        && let Some(size) = whole::encode(field, cells, encoded)
    {
        return Ok(size);
    }
    let piece_blocks = (PIECE_SIZE / (field.grid.block_values() * size_of::<E::Scalar>())).max(1);
    let block_count = field.grid.block_count();
    let pieces = (0..block_count).step_by(piece_blocks).map(|first| first..block_count.min(first + piece_blocks));
    let result = encode_parts(field, encoded, call, decoded.len(), pieces, |blocks, words| {
        encode_blocks(field, &field.grid, cells, blocks, words)
    });
    match result {
        Err(error) if error.status() == Status::OutOfRange => Err(first_outside(field, cells).unwrap_or(error)),
        result => result,
    }
}

/// See [`Transform::encode_slabs`](crate::interface::Transform::encode_slabs).
pub(super) fn encode_slabs<E: Element>(
    field: &Field<E>,
    slabs: &Slabs,
    get: &GetSlab<'_>,
    encoded: &mut [u8],
    call: &mut Call<'_>,
) -> Result<usize> {
    let value_count = slabs.size / size_of::<E::Memory>();
    let spare = Mutex::new(std::mem::take(&mut call.contexts.get(|| Ok(Scratch::default()))?.slabs));
    let encode = |number: usize, memory: &mut Vec<u8>, words: &mut Vec<u64>| {
        let grid = field.grid.slab(value_count, number);
        let size = grid.value_count() * size_of::<E::Memory>();
        grow(memory, size)?;
        get(number, &mut memory[..size])?;
        let cells = bytemuck::try_cast_slice(&memory[..size]);
        let cells: &[E::Memory] = cells.map_err(|error| Error::internal(format!("the memory of a slab: {error}")))?;
        let result = encode_blocks(field, &grid, cells, 0..grid.block_count(), words);
        result.map_err(|error| match error.status() {
            Status::OutOfRange => {
                first_outside(field, cells).unwrap_or(error).after_elements((number * value_count) as u64)
            }
            _ => error,
        })
    };
    let result = encode_parts(field, encoded, call, slabs.decoded_size, slabs.numbers.clone(), |number, words| {
        let mut memory = lock(&spare).pop().unwrap_or_default();
        let result = encode(number, &mut memory, words);
        lock(&spare).push(memory);
        result
    });
    call.contexts.get(|| Ok(Scratch::default()))?.slabs = into_inner(spare);
    result
}

/// Codes parts of a field of this decoded size, which follow each other, on the workers of the call. `work` codes a
/// part to the beginning of its memory and returns the number of bits.
fn encode_parts<E: Element, Part>(
    field: &Field<E>,
    encoded: &mut [u8],
    call: &mut Call<'_>,
    decoded_size: usize,
    parts: impl Iterator<Item = Part> + Send,
    work: impl Fn(Part, &mut Vec<u64>) -> Result<u64> + Sync,
) -> Result<usize> {
    if field.parameters.has_fixed_size() && encoded.len() < field.stream_bound()? {
        return Err(too_small());
    }
    let mut writer = StreamJoiner::new(encoded);
    if let Some(header) = field.header {
        writer.append(&header.words(), header.bit_count())?;
    }
    let threads = call.options.workers().count_for(decoded_size);
    let scratch = &mut call.contexts.get(|| Ok(Scratch::default()))?.parts;
    let assembly = Mutex::new(Assembly::new(writer, std::mem::take(scratch)));
    let result = call.options.workers().for_each(threads, parts.enumerate(), |(index, part)| {
        let mut words = lock(&assembly).memory()?;
        let bit_count = work(part, &mut words)?;
        lock(&assembly).add(index, CodedPart { words, bit_count })
    });
    let assembly = into_inner(assembly);
    *scratch = assembly.spare;
    result?;
    assembly.writer.finish()
}

/// A coded part.
struct CodedPart {
    words: Vec<u64>,
    bit_count: u64,
}

/// Where parts come together.
struct Assembly<'a> {
    writer: StreamJoiner<'a>,
    next_index: usize,
    /// Parts that were finished before their turn.
    waiting: BTreeMap<usize, CodedPart>,
    spare: Vec<Vec<u64>>,
    is_full: bool,
}

impl<'a> Assembly<'a> {
    fn new(writer: StreamJoiner<'a>, spare: Vec<Vec<u64>>) -> Self {
        Self { writer, next_index: 0, waiting: BTreeMap::new(), spare, is_full: false }
    }

    /// Memory for a part, unless there is no room for one more.
    fn memory(&mut self) -> Result<Vec<u64>> {
        if self.is_full { Err(too_small()) } else { Ok(self.spare.pop().unwrap_or_default()) }
    }

    fn add(&mut self, index: usize, part: CodedPart) -> Result<()> {
        self.waiting.insert(index, part);
        while let Some(part) = self.waiting.remove(&self.next_index) {
            self.next_index += 1;
            let result = self.writer.append(&part.words, part.bit_count);
            self.spare.push(part.words);
            self.is_full |= result.is_err();
            result?;
        }
        Ok(())
    }
}

/// Codes blocks of a grid into the beginning of `words`; returns the number of bits.
fn encode_blocks<E: Element>(
    field: &Field<E>,
    grid: &Grid,
    cells: &[E::Memory],
    blocks: Range<usize>,
    words: &mut Vec<u64>,
) -> Result<u64> {
    match grid.dimensionality() {
        ZfpDimensionality::D1 => encode_blocks_of::<E, 4, 256>(field, grid, cells, blocks, words),
        ZfpDimensionality::D2 => encode_blocks_of::<E, 16, 128>(field, grid, cells, blocks, words),
        ZfpDimensionality::D3 => encode_blocks_of::<E, 64, 1>(field, grid, cells, blocks, words),
        ZfpDimensionality::D4 => encode_blocks_of::<E, 256, 1>(field, grid, cells, blocks, words),
    }
}

/// Codes blocks of N values, of which `TOGETHER` are gathered before they are written. Kernels take a number of them at
/// once that divides this one.
#[inline(never)] // else a frame has the memory of all dimensionalities
fn encode_blocks_of<E: Element, const N: usize, const TOGETHER: usize>(
    field: &Field<E>,
    grid: &Grid,
    cells: &[E::Memory],
    blocks: Range<usize>,
    words: &mut Vec<u64>,
) -> Result<u64> {
    let parameters = &field.parameters;
    let word_count = (blocks.len() as u64 * u64::from(parameters.block_bits)).div_ceil(WORD_BITS) as usize;
    match field.backend {
        Backend::ZfpRs => {
            grow(words, word_count)?;
            write_blocks::<E, N, TOGETHER>(field, grid, cells, blocks, backend::CrateWriter::new(words, parameters))
        }
        Backend::OwnBlocks(coder) => {
            grow(words, word_count + own_blocks::SLACK)?;
            write_blocks::<E, N, TOGETHER>(
                field,
                grid,
                cells,
                blocks,
                own_blocks::OwnWriter::new(coder, words, parameters),
            )
        }
        #[cfg(feature = "zfp-sys")]
        Backend::CLibrary => {
            grow(words, word_count + c_blocks::slack(parameters))?;
            write_blocks::<E, N, TOGETHER>(field, grid, cells, blocks, c_blocks::CWriter::new(words, parameters)?)
        }
    }
}

fn write_blocks<E: Element, const N: usize, const TOGETHER: usize>(
    field: &Field<E>,
    grid: &Grid,
    cells: &[E::Memory],
    blocks: Range<usize>,
    mut writer: impl BlockWriter<E::Scalar, N>,
) -> Result<u64> {
    let is_lossless = field.parameters.is_lossless();
    let mut any_outside = false;
    let mut gathered = [[E::Scalar::default(); N]; TOGETHER];
    let mut write = |blocks: &[[E::Scalar; N]]| {
        any_outside |= E::any_outside(blocks.as_flattened(), is_lossless);
        writer.write(blocks)
    };
    if TOGETHER > 1 {
        for first in blocks.clone().step_by(TOGETHER) {
            let gathered = &mut gathered[..TOGETHER.min(blocks.end - first)];
            grid.gather_all(first, &field.element, cells, gathered);
            write(gathered)?;
        }
    } else {
        // By itself: a line of blocks is found by divisions, which one block does not pay for.
        let mut ahead = grid.blocks(blocks.start + AHEAD..grid.block_count()).map(|block| block.origin);
        for block in grid.blocks(blocks) {
            let next = ahead.next().unwrap_or(block.origin);
            grid.gather(block, next, &field.element, cells, &mut gathered[0]);
            write(&gathered)?;
        }
    }
    if any_outside {
        return Err(Error::new(Status::OutOfRange, "a value is out of range"));
    }
    writer.finish()
}

/// The first element that made an encode fail.
#[cold]
fn first_outside<E: Element>(field: &Field<E>, cells: &[E::Memory]) -> Option<Error> {
    let is_lossless = field.parameters.is_lossless();
    let (index, value) = cells
        .iter()
        .map(|cell| field.element.promote(*cell))
        .enumerate()
        .find(|(_, value)| E::any_outside(&[*value], is_lossless))?;
    let (data_type, mode, range) = (&field.data_type, field.parameters.mode, E::range(is_lossless));
    Some(Error::out_of_range(
        index,
        format!("is {}, but mode {mode} keeps only {range} of {data_type}", E::show(value)),
    ))
}
