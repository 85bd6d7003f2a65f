//! One chunk to a stream.
//!
//! Blocks are coded a piece at a time into scratch memory, and the pieces are joined to the bit. So it does not matter
//! on which thread, or in which order, they are coded.

use super::backend::{self, Backend, BlockWriter};
use super::bits::StreamJoiner;
#[cfg(feature = "zfp-sys")]
use super::c_blocks;
use super::element::Element;
use super::grid::AHEAD;
use super::mode::WORD_BITS;
use super::own_blocks;
use super::whole;
use super::{Field, Scratch};
use crate::error::{Error, Result, Status};
use crate::interface::{Call, too_small};
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
    let result = match field.grid.dimensionality() {
        ZfpDimensionality::D1 => encode_pieces::<E, 4, 256>(field, cells, encoded, call),
        ZfpDimensionality::D2 => encode_pieces::<E, 16, 128>(field, cells, encoded, call),
        ZfpDimensionality::D3 => encode_pieces::<E, 64, 1>(field, cells, encoded, call),
        ZfpDimensionality::D4 => encode_pieces::<E, 256, 1>(field, cells, encoded, call),
    };
    match result {
        Err(error) if error.status() == Status::OutOfRange => Err(first_outside(field, cells).unwrap_or(error)),
        result => result,
    }
}

/// Codes blocks of N values, of which `TOGETHER` are gathered before they are written. Kernels take a number of them at
/// once that divides this one.
fn encode_pieces<E: Element, const N: usize, const TOGETHER: usize>(
    field: &Field<E>,
    cells: &[E::Memory],
    encoded: &mut [u8],
    call: &mut Call<'_>,
) -> Result<usize> {
    let block_count = field.grid.block_count();
    if field.parameters.has_fixed_size() && encoded.len() < field.stream_bound()? {
        return Err(too_small());
    }
    let mut writer = StreamJoiner::new(encoded);
    if let Some(header) = field.header {
        writer.append(&header.words(), header.bit_count())?;
    }
    let piece_blocks = (PIECE_SIZE / (N * size_of::<E::Scalar>())).max(1);
    let pieces = (0..block_count).step_by(piece_blocks).map(|first| first..block_count.min(first + piece_blocks));
    let threads = call.options.workers().count_for(size_of_val(cells));
    let scratch = &mut call.contexts.get(|| Ok(Scratch::default()))?.pieces;
    let assembly = Mutex::new(Assembly::new(writer, std::mem::take(scratch)));
    let result = call.options.workers().for_each(threads, pieces.enumerate(), |(index, blocks)| {
        let mut words = lock(&assembly).memory()?;
        let bit_count = encode_piece::<E, N, TOGETHER>(field, cells, blocks, &mut words)?;
        lock(&assembly).add(index, CodedBlocks { words, bit_count })
    });
    let assembly = into_inner(assembly);
    *scratch = assembly.spare;
    result?;
    assembly.writer.finish()
}

/// Coded blocks that follow each other.
struct CodedBlocks {
    words: Vec<u64>,
    bit_count: u64,
}

/// Where pieces come together.
struct Assembly<'a> {
    writer: StreamJoiner<'a>,
    next_index: usize,
    /// Pieces that were finished before their turn.
    waiting: BTreeMap<usize, CodedBlocks>,
    spare: Vec<Vec<u64>>,
    is_full: bool,
}

impl<'a> Assembly<'a> {
    fn new(writer: StreamJoiner<'a>, spare: Vec<Vec<u64>>) -> Self {
        Self { writer, next_index: 0, waiting: BTreeMap::new(), spare, is_full: false }
    }

    /// Memory for a piece, unless there is no room for one more.
    fn memory(&mut self) -> Result<Vec<u64>> {
        if self.is_full { Err(too_small()) } else { Ok(self.spare.pop().unwrap_or_default()) }
    }

    fn add(&mut self, index: usize, piece: CodedBlocks) -> Result<()> {
        self.waiting.insert(index, piece);
        while let Some(piece) = self.waiting.remove(&self.next_index) {
            self.next_index += 1;
            let result = self.writer.append(&piece.words, piece.bit_count);
            self.spare.push(piece.words);
            self.is_full |= result.is_err();
            result?;
        }
        Ok(())
    }
}

/// Codes blocks into the beginning of `words`; returns the number of bits.
fn encode_piece<E: Element, const N: usize, const TOGETHER: usize>(
    field: &Field<E>,
    cells: &[E::Memory],
    blocks: Range<usize>,
    words: &mut Vec<u64>,
) -> Result<u64> {
    let parameters = &field.parameters;
    let word_count = (blocks.len() as u64 * u64::from(parameters.block_bits)).div_ceil(WORD_BITS) as usize;
    match field.backend {
        Backend::ZfpRs => {
            grow(words, word_count)?;
            write_blocks::<E, N, TOGETHER>(field, cells, blocks, backend::CrateWriter::new(words, parameters))
        }
        Backend::OwnBlocks(coder) => {
            grow(words, word_count + own_blocks::SLACK)?;
            write_blocks::<E, N, TOGETHER>(field, cells, blocks, own_blocks::OwnWriter::new(coder, words, parameters))
        }
        #[cfg(feature = "zfp-sys")]
        Backend::CLibrary => {
            grow(words, word_count + c_blocks::slack(parameters))?;
            write_blocks::<E, N, TOGETHER>(field, cells, blocks, c_blocks::CWriter::new(words, parameters)?)
        }
    }
}

fn write_blocks<E: Element, const N: usize, const TOGETHER: usize>(
    field: &Field<E>,
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
            field.grid.gather_all(first, &field.element, cells, gathered);
            write(gathered)?;
        }
    } else {
        // By itself: a line of blocks is found by divisions, which one block does not pay for.
        let mut ahead = field.grid.blocks(blocks.start + AHEAD..field.grid.block_count()).map(|block| block.origin);
        for block in field.grid.blocks(blocks) {
            let next = ahead.next().unwrap_or(block.origin);
            field.grid.gather(block, next, &field.element, cells, &mut gathered[0]);
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
