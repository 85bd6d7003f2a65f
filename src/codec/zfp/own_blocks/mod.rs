//! Our own kernels for blocks of values, with vector instructions. They give the same bytes as `zfp-rs`.
//!
//! * [`block`]: a block's header, and its values as integers; [`float`] converts floats.
//! * [`kernel`]: the operations of a tier on values and coefficients; `avx2`, `avx512`, `neon`: the tiers.
//! * [`lanes`]: the instructions on one vector that [`values`] and [`lift`], the transform along an axis, are written
//!   with; [`one_number`]: the same on one number.
//! * `across`: blocks of one and two dimensions across vectors, with an instruction for many of them.
//! * [`order`]: coefficients by their frequency.
//! * [`planes_of_words`]: bit planes to the bits of the stream, which [`bits`] writes and reads, by [`groups`].
//! * `x86`: what `avx2` and `avx512` share: cubes, and bit planes with instructions of their own.

#![allow(unsafe_code)]
#![cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    allow(dead_code, unused_imports, reason = "there is no tier")
)]

#[cfg(target_arch = "x86_64")]
mod across;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bits;
mod block;
mod float;
mod groups;
mod kernel;
mod lanes;
mod lift;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(target_arch = "x86_64")]
mod one_number;
mod order;
mod planes_of_words;
#[cfg(test)]
mod tests;
mod values;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::backend::{BlockReader, BlockWriter};
use super::mode::Parameters;
use crate::error::{Error, Result};
use crate::simd::{Level, Tier, best};
use bits::{BitReader, BitWriter};
use block::Limits;
use zfp_rs::{ZfpDimensionality, ZfpScalar, ZfpScalarType};

/// Words after the last bit that [`OwnWriter`] may write to.
pub(super) const SLACK: usize = 3;

/// Write and read blocks of this type, whose values are these bytes.
#[derive(Debug, Clone, Copy)]
struct BlockFunctions {
    encode: unsafe fn(&mut BitWriter<'_>, &Limits, ZfpScalarType, &[u8]),
    decode: unsafe fn(&mut BitReader<'_>, &Limits, ZfpScalarType, &mut [u8]),
}

#[derive(Debug)]
struct Functions {
    /// Those of one dimension first; `None` where the tier is no faster than `zfp-rs`.
    by_dimensionality: [Option<BlockFunctions>; 4],
    /// Integers of 64 bits as floats, which the blocks of the tests do not reach at every tie.
    #[cfg(test)]
    to_floats: unsafe fn(&[u8], &mut [u8]),
}

/// Fastest first. They need no instructions but those of their levels.
static TIERS: &[Tier<Functions>] = &[
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx512, kernel: avx512::FUNCTIONS },
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx2, kernel: avx2::FUNCTIONS },
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Tier { level: Level::Neon, kernel: neon::FUNCTIONS },
];

/// A tier. It exists only where the processor has its instructions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coder(&'static Tier<Functions>);

impl Coder {
    /// The fastest one. `None` if no tier is faster than `zfp-rs`.
    pub(super) fn best() -> Option<Self> {
        best(TIERS).filter(|_| !has_slow_pext()).map(Self)
    }

    /// Whether it codes blocks of this number of dimensions.
    pub(super) fn codes(self, dimensionality: ZfpDimensionality) -> bool {
        self.0.kernel.by_dimensionality[usize::from(dimensionality) - 1].is_some()
    }

    /// Those of blocks of N values.
    #[inline]
    fn functions<const N: usize>(self) -> Result<BlockFunctions> {
        const { assert!(N == 4 || N == 16 || N == 64 || N == 256) };
        let functions = self.0.kernel.by_dimensionality[const { N.ilog2() as usize / 2 - 1 }];
        functions.ok_or_else(|| Error::internal(format!("a zfp block of {N} values")))
    }
}

impl PartialEq for Coder {
    fn eq(&self, other: &Self) -> bool {
        self.0.level == other.0.level
    }
}

impl Eq for Coder {}

#[cfg(target_arch = "x86_64")]
fn has_slow_pext() -> bool {
    crate::simd::has_slow_pext()
}

#[cfg(not(target_arch = "x86_64"))]
fn has_slow_pext() -> bool {
    false
}

/// Writes blocks into words, of which [`SLACK`] follow the last one that is used.
#[derive(Debug)]
pub(super) struct OwnWriter<'a> {
    coder: Coder,
    sink: BitWriter<'a>,
    limits: Limits,
}

impl<'a> OwnWriter<'a> {
    pub(super) fn new(coder: Coder, words: &'a mut [u64], parameters: &Parameters) -> Self {
        Self { coder, sink: BitWriter::new(bytemuck::cast_slice_mut(words)), limits: Limits::new(parameters) }
    }
}

impl<T: ZfpScalar, const N: usize> BlockWriter<T, N> for OwnWriter<'_> {
    #[inline]
    fn write(&mut self, blocks: &[[T; N]]) -> Result<()> {
        let bytes = bytemuck::cast_slice(blocks);
        let encode = self.coder.functions::<N>()?.encode;
        // SAFETY: the processor has the level of this tier.
        unsafe { encode(&mut self.sink, &self.limits, T::SCALAR_TYPE, bytes) };
        Ok(())
    }

    fn finish(mut self) -> Result<u64> {
        let bit_count = self.sink.position();
        self.sink.flush();
        if self.sink.overflowed() {
            return Err(Error::internal(format!("zfp blocks took {bit_count} bits, over their bound")));
        }
        Ok(bit_count)
    }
}

/// Reads blocks from words.
#[derive(Debug)]
pub(super) struct OwnReader<'a> {
    coder: Coder,
    source: BitReader<'a>,
    limits: Limits,
}

impl<'a> OwnReader<'a> {
    /// From this bit on.
    pub(super) fn new(coder: Coder, words: &'a [u64], start: u64, parameters: &Parameters) -> Self {
        Self { coder, source: BitReader::new(bytemuck::cast_slice(words), start), limits: Limits::new(parameters) }
    }
}

impl<T: ZfpScalar, const N: usize> BlockReader<T, N> for OwnReader<'_> {
    #[inline]
    fn read(&mut self, blocks: &mut [[T; N]]) -> Result<()> {
        let bytes = bytemuck::cast_slice_mut(blocks);
        let decode = self.coder.functions::<N>()?.decode;
        // SAFETY: the processor has the level of this tier.
        unsafe { decode(&mut self.source, &self.limits, T::SCALAR_TYPE, bytes) };
        Ok(())
    }

    fn position(&self) -> u64 {
        self.source.position()
    }
}
