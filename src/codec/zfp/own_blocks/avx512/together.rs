//! Blocks of few values, some at a time: all are transformed, then the planes of all are coded, and then all codes are
//! written; or the planes of all are read, and then all are transformed. In a block by itself each of these steps waits
//! for the one before.

use super::super::avx2::Avx2;
use super::super::bits::{Sink, Source};
use super::super::block::{self, Header, Limits, Values, size_of_block};
use super::super::kernel::Kernel;
use super::Avx512;
use super::across::{self, Transformed};
use super::words::Words;
use std::arch::x86_64::*;
use zfp_rs::ZfpScalarType;

/// Codes the planes of blocks of `N` values.
pub(super) trait PlaneCoder<const N: usize>: Copy {
    /// The coefficients of all blocks.
    type Numbers;

    /// From a vector for each place in a block.
    fn by_block<const WIDE: bool>(self, coefficients: &[__m512i; N]) -> Self::Numbers;
    /// Codes so many planes of each of the eight blocks from `first` on, `most` of any of them, and at least as far as
    /// they may have bits.
    fn code<const WIDE: bool>(
        self,
        numbers: &Self::Numbers,
        first: usize,
        plane_counts: &[u64; 8],
        most: u32,
        words: &mut Words,
    );
}

/// Reads the planes of a block of `N` values, without making coefficients of them.
pub(super) trait PlaneReader<const N: usize>: Copy {
    type Coefficients;
    type Planes: Copy;
    const NO_PLANES: Self::Planes;

    /// Reads into [`NO_PLANES`](Self::NO_PLANES) down to `kmin`, at most `budget` bits.
    fn read<const WIDE: bool>(self, source: &mut Source<'_>, planes: &mut Self::Planes, kmin: u32, budget: u32);
    fn coefficients<const WIDE: bool>(self, planes: &Self::Planes) -> Self::Coefficients;
}

/// Writes the blocks whose values are these bytes.
#[inline(always)]
pub(super) fn encode<const N: usize>(
    kernel: Avx512,
    sink: &mut Sink<'_>,
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

#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,gfni,bmi1,bmi2,lzcnt,popcnt")]
fn encode_all<const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx512,
    sink: &mut Sink<'_>,
    limits: &Limits,
    bytes: &[u8],
) where
    Avx512: PlaneCoder<N>,
{
    let (mut words, mut room) = (Words::new(), sink.room());
    for bytes in bytes.chunks(64 * N) {
        let Transformed { headers, header_lengths, coefficients, plane_counts } =
            across::transform::<N, WIDE, IS_FLOAT>(kernel, limits, &load(bytes));
        let numbers = kernel.by_block::<WIDE>(&coefficients);
        let count = bytes.len() / size_of_block::<N>(WIDE);
        for first in (0..count).step_by(8) {
            let lanes = |vector| across::eight_lanes::<WIDE>(vector, first);
            words.begin(limits, lanes(headers), lanes(header_lengths), count - first);
            let plane_counts: [u64; 8] = bytemuck::cast(lanes(plane_counts));
            // A plane has a bit or more.
            let most = plane_counts.iter().fold(0, |most, count| most.max(*count)).min(limits.maxbits.into()) as u32;
            kernel.code::<WIDE>(&numbers, first, &plane_counts, most, &mut words);
            words.put(&mut room, limits);
        }
    }
    let end = room.end();
    sink.advance(end);
}

/// Zeros after the last byte.
#[inline]
#[target_feature(enable = "avx512f")]
fn load<const N: usize>(bytes: &[u8]) -> [__m512i; N] {
    let mut blocks = [_mm512_setzero_si512(); N];
    if bytes.len() == 64 * N {
        for (vector, bytes) in blocks.iter_mut().zip(bytes.as_chunks::<64>().0) {
            *vector = bytemuck::cast(*bytes);
        }
    } else {
        bytemuck::cast_slice_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
    }
    blocks
}

/// Reads as many blocks as these bytes hold, `COUNT` at a time.
#[inline(always)]
pub(super) fn decode<const N: usize, const COUNT: usize>(
    kernel: Avx512,
    source: &mut Source<'_>,
    limits: &Limits,
    scalar: ZfpScalarType,
    bytes: &mut [u8],
) where
    Avx2: Kernel<N>,
    Avx512: PlaneReader<N, Coefficients = <Avx2 as Kernel<N>>::Coefficients>,
{
    match scalar {
        ZfpScalarType::I32 => decode_all::<N, COUNT, false, false>(kernel, source, limits, bytes),
        ZfpScalarType::I64 => decode_all::<N, COUNT, true, false>(kernel, source, limits, bytes),
        ZfpScalarType::F32 => decode_all::<N, COUNT, false, true>(kernel, source, limits, bytes),
        ZfpScalarType::F64 => decode_all::<N, COUNT, true, true>(kernel, source, limits, bytes),
    }
}

#[inline(always)]
fn decode_all<const N: usize, const COUNT: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx512,
    source: &mut Source<'_>,
    limits: &Limits,
    bytes: &mut [u8],
) where
    Avx2: Kernel<N>,
    Avx512: PlaneReader<N, Coefficients = <Avx2 as Kernel<N>>::Coefficients>,
{
    let size = size_of_block::<N>(WIDE);
    for bytes in bytes.chunks_mut(COUNT * size) {
        let mut blocks = [(Values::Zeros, Avx512::NO_PLANES); COUNT];
        let blocks = &mut blocks[..bytes.len() / size];
        for (values, planes) in &mut *blocks {
            let start = source.position();
            let header: Header = block::read_header::<N, WIDE, IS_FLOAT>(source, limits);
            *values = header.values;
            if header.values != Values::Zeros {
                kernel.read::<WIDE>(source, planes, header.kmin, header.budget);
            }
            limits.skip_padding(source, start);
        }
        for ((values, planes), bytes) in blocks.iter().zip(bytes.chunks_exact_mut(size)) {
            if *values == Values::Zeros {
                bytes.fill(0);
            } else {
                let coefficients = kernel.coefficients::<WIDE>(planes);
                block::restore::<Avx2, N, WIDE>(kernel.into(), limits, *values, &coefficients, bytes);
            }
        }
    }
}
