//! Blocks of few values, as many at a time as there are lanes: all are transformed, then the planes of all are coded, and
//! then all codes are written. In a single block each of these steps would wait for the one before.

use super::super::across::{self, Across, Transformed};
use super::super::bits::BitWriter;
use super::super::block::{Limits, size_of_block, width};
use super::super::float::exponent_bits;
use super::super::lanes::Lanes;
use super::Avx2;
use super::words::Words;
use std::arch::x86_64::*;
use std::ops::Range;
use zfp_rs::ZfpScalarType;

/// Codes the planes of blocks of `N` values.
pub(super) trait PlaneCoder<const N: usize>: Across<N> {
    /// How many planes are coded at once.
    fn step(wide: bool) -> u32;

    /// Codes these planes, of each block as many as it has, and at least as far as they may have bits. The first one is
    /// a multiple of the step. There is a vector of coefficients for each place in a block.
    fn code<const WIDE: bool>(
        self,
        coefficients: &[__m256i; N],
        plane_counts: __m256i,
        planes: Range<u32>,
        words: &mut Words,
    );
}

/// Writes the blocks whose values are these bytes.
#[inline(always)]
pub(super) fn encode<const N: usize>(
    kernel: Avx2,
    sink: &mut BitWriter<'_>,
    limits: &Limits,
    scalar: ZfpScalarType,
    bytes: &[u8],
) where
    Avx2: PlaneCoder<N>,
{
    match scalar {
        ZfpScalarType::I32 => encode_all::<N, false, false>(kernel, sink, limits, bytes),
        ZfpScalarType::I64 => encode_all::<N, true, false>(kernel, sink, limits, bytes),
        ZfpScalarType::F32 => encode_all::<N, false, true>(kernel, sink, limits, bytes),
        ZfpScalarType::F64 => encode_all::<N, true, true>(kernel, sink, limits, bytes),
    }
}

#[inline(always)]
fn encode_all<const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx2,
    sink: &mut BitWriter<'_>,
    limits: &Limits,
    bytes: &[u8],
) where
    Avx2: PlaneCoder<N>,
{
    // A plane has a bit or more.
    let budget = limits.bits_after(if IS_FLOAT && !limits.is_reversible { 1 + exponent_bits(WIDE) } else { 0 });
    // SAFETY: there is a kernel only where the processor has the instructions.
    let mut words = unsafe { Words::new(budget) };
    for bytes in bytes.chunks(32 * N) {
        let Transformed { headers, header_lengths, coefficients, plane_counts } =
            across::transform::<Avx2, N, WIDE, IS_FLOAT>(kernel, limits, &load(kernel, bytes));
        let most = kernel.largest::<WIDE>(plane_counts).min(budget.into()) as u32;
        let empty = empty_planes::<N, WIDE>(kernel, &coefficients).min(most);
        let empty = empty - empty % <Avx2 as PlaneCoder<N>>::step(WIDE);
        // SAFETY: as above.
        unsafe {
            words.clear();
            if empty > 0 {
                words.push_empty::<WIDE>(empty, plane_counts);
            }
        }
        kernel.code::<WIDE>(&coefficients, plane_counts, empty..most, &mut words);
        let [headers, header_lengths] = [headers, header_lengths].map(numbers::<WIDE>);
        // Not in a closure: that could be compiled without the instructions of this tier.
        let mut copy = sink.copied();
        for block in 0..bytes.len() / size_of_block::<N>(WIDE) {
            let start = copy.position();
            copy.put(headers[block], header_lengths[block] as u32);
            let end = copy.position() + u64::from(limits.bits_after(header_lengths[block] as u32));
            for (bits, length) in words.of_block(block) {
                // Each plane has a bit or more.
                if length == 0 || copy.position() >= end {
                    break;
                }
                copy.put(bits, length);
            }
            copy.truncate(end);
            limits.pad(&mut copy, start);
        }
        let end = copy.end();
        sink.resume(end);
    }
}

/// How many planes have no ones in any block, up to as many as a word takes.
#[inline(always)]
fn empty_planes<const N: usize, const WIDE: bool>(kernel: Avx2, coefficients: &[__m256i; N]) -> u32 {
    let any = across::any_bits(kernel, coefficients);
    (kernel.any_bits::<WIDE>(any).leading_zeros() - (u64::BITS - width(WIDE))).min(48)
}

/// Zeros after the last byte.
#[inline(always)]
fn load<const N: usize>(kernel: Avx2, bytes: &[u8]) -> [__m256i; N] {
    let mut blocks = [kernel.zero(); N];
    if bytes.len() == 32 * N {
        for (vector, bytes) in blocks.iter_mut().zip(bytes.as_chunks::<32>().0) {
            *vector = bytemuck::cast(*bytes);
        }
    } else {
        bytemuck::cast_slice_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
    }
    blocks
}

/// The number in each lane.
#[inline(always)]
fn numbers<const WIDE: bool>(lanes: __m256i) -> [u64; 8] {
    if WIDE {
        let [a, b, c, d]: [u64; 4] = bytemuck::cast(lanes);
        [a, b, c, d, 0, 0, 0, 0]
    } else {
        bytemuck::cast::<_, [u32; 8]>(lanes).map(u64::from)
    }
}
