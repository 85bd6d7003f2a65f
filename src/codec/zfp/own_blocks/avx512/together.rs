//! Blocks of few values, some at a time: all are transformed, with [`Avx2`], then the planes of all are coded, and then
//! all codes are written; or the planes of all are read, and then all are transformed. In a block by itself each of
//! these steps waits for the one before.

use super::super::avx2::Avx2;
use super::super::bits::{Sink, Source};
use super::super::block::{self, Header, Limits, Transformed, Values, size_of_block, width};
use super::super::kernel::Kernel;
use super::Avx512;
use zfp_rs::ZfpScalarType;

/// The codes of the planes of a block, some planes to a word, and how many bits of each word they are.
#[derive(Clone, Copy, Default)]
pub(super) struct Code<W> {
    pub(super) bits: W,
    pub(super) lengths: W,
}

/// Codes the planes of a block of `N` values.
pub(super) trait PlaneCoder<const N: usize>: Copy {
    type Coefficients: Copy;
    /// Those of a block of 64 planes.
    type Words: Copy + Default + AsRef<[u64]>;
    /// How many planes a word has.
    const IN_WORD: usize;

    /// Codes the first `count` planes, at least as far as `budget` bits go. In the last four words that have codes, those
    /// that are left over have no bits; words after these stay as they are.
    fn code<const WIDE: bool>(
        self,
        coefficients: &Self::Coefficients,
        count: u32,
        budget: u32,
        code: &mut Code<Self::Words>,
    );
}

/// Reads the planes of a block of `N` values, without making coefficients of them.
pub(super) trait PlaneReader<const N: usize>: PlaneCoder<N> {
    type Planes: Copy;
    const NO_PLANES: Self::Planes;

    /// Reads into [`NO_PLANES`](Self::NO_PLANES) down to `kmin`, at most `budget` bits.
    fn read<const WIDE: bool>(self, source: &mut Source<'_>, planes: &mut Self::Planes, kmin: u32, budget: u32);
    fn coefficients<const WIDE: bool>(self, planes: &Self::Planes) -> Self::Coefficients;
}

/// Writes the blocks whose values are these bytes, `COUNT` at a time.
#[inline(always)]
pub(super) fn encode<const N: usize, const COUNT: usize>(
    kernel: Avx512,
    sink: &mut Sink<'_>,
    limits: &Limits,
    scalar: ZfpScalarType,
    bytes: &[u8],
) where
    Avx2: Kernel<N>,
    Avx512: PlaneCoder<N, Coefficients = <Avx2 as Kernel<N>>::Coefficients>,
{
    match scalar {
        ZfpScalarType::I32 => encode_all::<N, COUNT, false, false>(kernel, sink, limits, bytes),
        ZfpScalarType::I64 => encode_all::<N, COUNT, true, false>(kernel, sink, limits, bytes),
        ZfpScalarType::F32 => encode_all::<N, COUNT, false, true>(kernel, sink, limits, bytes),
        ZfpScalarType::F64 => encode_all::<N, COUNT, true, true>(kernel, sink, limits, bytes),
    }
}

#[inline(always)]
fn encode_all<const N: usize, const COUNT: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx512,
    sink: &mut Sink<'_>,
    limits: &Limits,
    bytes: &[u8],
) where
    Avx2: Kernel<N>,
    Avx512: PlaneCoder<N, Coefficients = <Avx2 as Kernel<N>>::Coefficients>,
{
    let size = size_of_block::<N>(WIDE);
    let (mut blocks, mut codes) = ([const { None }; COUNT], [Code::default(); COUNT]);
    for bytes in bytes.chunks(COUNT * size) {
        let blocks = &mut blocks[..bytes.len() / size];
        for (block, bytes) in blocks.iter_mut().zip(bytes.chunks_exact(size)) {
            *block = block::transform::<Avx2, N, WIDE, IS_FLOAT>(kernel.into(), limits, bytes);
        }
        for (block, code) in blocks.iter().zip(&mut codes) {
            if let Some(Transformed { header: (_, length), coefficients, kmin, .. }) = block {
                kernel.code::<WIDE>(coefficients, width(WIDE) - kmin, limits.bits_after(*length), code);
            }
        }
        sink.in_registers(|sink| {
            for (block, code) in blocks.iter().zip(&codes) {
                let start = sink.position();
                if let Some(Transformed { header: (header, length), kmin, .. }) = *block {
                    sink.put(header, length);
                    let words = ((width(WIDE) - kmin) as usize).div_ceil(<Avx512 as PlaneCoder<N>>::IN_WORD);
                    let fours = &code.bits.as_ref().as_chunks().0[..words.div_ceil(4)];
                    sink.put_codes(fours, code.lengths.as_ref().as_chunks().0, limits.bits_after(length));
                } else {
                    sink.put(0, 1);
                }
                limits.pad(sink, start);
            }
        });
    }
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
