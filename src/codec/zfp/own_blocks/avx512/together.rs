//! Blocks of few values, many at a time: all are transformed, then the planes of all are coded, and then all codes are
//! written; or the planes of all are read, and then all are transformed. In a single block each of these steps would wait
//! for the one before.

use super::super::across::{self, Transformed};
use super::super::bits::{BitReader, BitWriter};
use super::super::block::{self, Header, Limits, Values, size_of_block};
use super::super::float::exponent_bits;
use super::Avx512;
use super::joiner::Joiner;
use super::lockstep::{self, BLOCKS, MOST_WORDS};
use super::order::eight_lanes;
use super::restore::{Read, restore};
use super::words::Words;
use std::arch::x86_64::*;
use std::ops::Range;
use zfp_rs::ZfpScalarType;

/// Codes the planes of blocks of `N` values.
pub(super) trait PlaneCoder<const N: usize>: Copy {
    /// The coefficients of all blocks.
    type Numbers;

    /// From a vector for each place in a block.
    fn by_block<const WIDE: bool>(self, coefficients: &[__m512i; N]) -> Self::Numbers;
    /// Codes this many planes of each of the eight blocks from `first` on, `most` of any of them, and at least as far
    /// as they may have bits.
    fn code<const WIDE: bool>(
        self,
        numbers: &Self::Numbers,
        first: usize,
        plane_counts: &[u64; 8],
        most: u32,
        words: &mut Words,
    );
}

/// Reads the planes of blocks of `N` values.
pub(super) trait PlaneReader<const N: usize>: Copy {
    /// Those of a block.
    type Planes: Copy;
    const NO_PLANES: Self::Planes;

    /// Reads into [`NO_PLANES`](Self::NO_PLANES) down to `kmin`, at most `budget` bits.
    fn read<const WIDE: bool>(self, source: &mut BitReader<'_>, planes: &mut Self::Planes, kmin: u32, budget: u32);
    /// Puts the coefficients of eight blocks to the others, from the block `first` on.
    fn put<const WIDE: bool>(self, planes: &[Self::Planes; 8], first: usize, coefficients: &mut [__m512i; N]);
    /// The same of blocks that were read in lockstep.
    fn put_words<const WIDE: bool>(self, words: &[__m512i; MOST_WORDS], first: usize, coefficients: &mut [__m512i; N]);
}

/// Writes the blocks whose values are these bytes.
#[inline(always)]
pub(super) fn encode<const N: usize>(
    kernel: Avx512,
    sink: &mut BitWriter<'_>,
    limits: &Limits,
    scalar: ZfpScalarType,
    bytes: &[u8],
) where
    Avx512: PlaneCoder<N>,
{
    // SAFETY: there is a kernel only where the processor has the instructions.
    unsafe {
        match scalar {
            ZfpScalarType::I32 => encode_all::<N, false, false>(kernel, sink, limits, bytes),
            ZfpScalarType::I64 => encode_all::<N, true, false>(kernel, sink, limits, bytes),
            ZfpScalarType::F32 => encode_all::<N, false, true>(kernel, sink, limits, bytes),
            ZfpScalarType::F64 => encode_all::<N, true, true>(kernel, sink, limits, bytes),
        }
    }
}

#[inline(never)] // else a frame has the memory of all four types
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,gfni,bmi1,bmi2,lzcnt,popcnt")]
fn encode_all<const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx512,
    sink: &mut BitWriter<'_>,
    limits: &Limits,
    bytes: &[u8],
) where
    Avx512: PlaneCoder<N>,
{
    let (mut joiner, mut room) = (Joiner::new(), sink.room());
    // Those of the blocks that are being coded, and those of the blocks before, which have long been ready when they are
    // joined.
    let (mut words, mut index) = ([Words::new(), Words::new()], 0);
    for bytes in bytes.chunks(64 * N) {
        let Transformed { headers, header_lengths, coefficients, plane_counts } =
            across::transform::<Avx512, N, WIDE, IS_FLOAT>(kernel, limits, &load(bytes));
        let numbers = kernel.by_block::<WIDE>(&coefficients);
        let count = bytes.len() / size_of_block::<N>(WIDE);
        for first in (0..count).step_by(8) {
            let lanes = |vector| eight_lanes::<WIDE>(vector, first);
            let coded = &mut words[index % 2];
            coded.begin(limits, lanes(headers), lanes(header_lengths), count - first);
            let plane_counts: [u64; 8] = bytemuck::cast(lanes(plane_counts));
            // A plane has a bit or more.
            let budget = limits.bits_after(if IS_FLOAT && !limits.is_reversible { 1 + exponent_bits(WIDE) } else { 0 });
            let most = plane_counts.iter().fold(0, |most, count| most.max(*count)).min(budget.into()) as u32;
            kernel.code::<WIDE>(&numbers, first, &plane_counts, most, coded);
            index += 1;
            if index > 1 {
                joiner.put(&words[index % 2], &mut room, limits);
            }
        }
    }
    if index > 0 {
        joiner.put(&words[(index + 1) % 2], &mut room, limits);
    }
    let end = room.end();
    sink.advance(end);
}

/// Zeros after the last byte.
#[inline]
#[target_feature(enable = "avx512f")]
fn load<const N: usize>(bytes: &[u8]) -> [__m512i; N] {
    if let Some(whole) = bytes.as_chunks::<64>().0.first_chunk::<N>() {
        return whole.map(bytemuck::cast);
    }
    let mut blocks = [_mm512_setzero_si512(); N];
    bytemuck::cast_slice_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
    blocks
}

/// Reads as many blocks as these bytes hold.
#[inline(always)]
pub(super) fn decode<const N: usize>(
    kernel: Avx512,
    source: &mut BitReader<'_>,
    limits: &Limits,
    scalar: ZfpScalarType,
    bytes: &mut [u8],
) where
    Avx512: PlaneReader<N>,
{
    // SAFETY: there is a kernel only where the processor has the instructions.
    unsafe {
        match scalar {
            ZfpScalarType::I32 => decode_all::<N, false, false>(kernel, source, limits, bytes),
            ZfpScalarType::I64 => decode_all::<N, true, false>(kernel, source, limits, bytes),
            ZfpScalarType::F32 => decode_all::<N, false, true>(kernel, source, limits, bytes),
            ZfpScalarType::F64 => decode_all::<N, true, true>(kernel, source, limits, bytes),
        }
    }
}

#[inline(never)] // else a frame has the memory of all four types
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,gfni,bmi1,bmi2,lzcnt,popcnt")]
fn decode_all<const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx512,
    source: &mut BitReader<'_>,
    limits: &Limits,
    bytes: &mut [u8],
) where
    Avx512: PlaneReader<N>,
{
    let size = size_of_block::<N>(WIDE);
    for bytes in bytes.chunks_mut(BLOCKS * size) {
        let (count, in_batch) = (bytes.len() / size, 64 * N / size);
        let mut batches = [Read::<N>::new(); BLOCKS / 8];
        let in_lockstep =
            if count == BLOCKS { lockstep::read::<N, WIDE, IS_FLOAT>(kernel, source, limits) } else { None };
        for first in (0..count).step_by(8) {
            let (read, place) = (&mut batches[first / in_batch], first % in_batch);
            if let Some(blocks) = &in_lockstep {
                let blocks = &blocks[first / 8];
                kernel.put_words::<WIDE>(&blocks.words, place, &mut read.coefficients);
                read.exponents[place..][..8].copy_from_slice(&blocks.exponents);
                read.empty[place..][..8].copy_from_slice(&blocks.empty);
            } else {
                let blocks = place..(place + count - first).min(place + 8);
                read_each::<N, WIDE, IS_FLOAT>(kernel, source, limits, blocks, read);
            }
        }
        for (read, bytes) in batches.iter().zip(bytes.chunks_mut(64 * N)) {
            store(&restore::<N, WIDE, IS_FLOAT>(kernel, limits, read), bytes);
        }
    }
}

/// Reads these of the blocks, up to eight.
#[inline(always)]
fn read_each<const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx512,
    source: &mut BitReader<'_>,
    limits: &Limits,
    blocks: Range<usize>,
    read: &mut Read<N>,
) where
    Avx512: PlaneReader<N>,
{
    let mut planes = [Avx512::NO_PLANES; 8];
    for (block, planes) in blocks.clone().zip(&mut planes) {
        let start = source.position();
        let header: Header = block::read_header::<N, WIDE, IS_FLOAT>(source, limits);
        match header.values {
            Values::Scaled(exponent) => read.exponents[block] = exponent.into(),
            Values::Bits => read.are_bits |= 1 << block,
            Values::Zeros | Values::Integers => {}
        }
        if header.values != Values::Zeros {
            kernel.read::<WIDE>(source, planes, header.kmin, header.budget);
        }
        limits.skip_padding(source, start);
    }
    kernel.put::<WIDE>(&planes, blocks.start, &mut read.coefficients);
}

/// As many blocks as there are bytes for.
#[inline]
#[target_feature(enable = "avx512f")]
fn store<const N: usize>(blocks: &[__m512i; N], bytes: &mut [u8]) {
    if bytes.len() == 64 * N {
        for (bytes, vector) in bytes.as_chunks_mut::<64>().0.iter_mut().zip(blocks) {
            *bytes = bytemuck::cast(*vector);
        }
    } else {
        bytes.copy_from_slice(&bytemuck::cast_slice(blocks)[..bytes.len()]);
    }
}
