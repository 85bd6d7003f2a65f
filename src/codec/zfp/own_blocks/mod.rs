//! Our own kernels for blocks of values, with vector instructions. They give the same bytes as `zfp-rs`.
//!
//! * [`block`]: a block's header, and its values as integers; [`float`] converts floats.
//! * [`kernel`]: the operations of a tier on values and coefficients; [`avx2`], [`avx512`]: the tiers.
//! * [`lanes`]: the instructions on one vector that [`values`] and [`lift`], the transform along an axis, are written
//!   with; [`number`]: the same on one number.
//! * [`order`]: coefficients by their frequency.
//! * [`planes`]: bit planes to the bits of the stream, which [`bits`] writes and reads; [`planes_of_4`],
//!   [`planes_of_16`], [`planes_of_256`]: the same for other dimensions; [`groups`]: what they have in common.

#![allow(unsafe_code)]

mod avx2;
mod avx512;
mod bits;
mod block;
mod float;
mod groups;
mod kernel;
mod lanes;
mod lift;
mod number;
mod order;
mod planes;
mod planes_of_16;
mod planes_of_256;
mod planes_of_4;
#[cfg(test)]
mod tests;
mod values;

use super::backend::{BlockReader, BlockWriter};
use super::mode::Parameters;
use crate::error::{Error, Result};
use crate::simd::{Level, Tier, best};
use bits::{Sink, Source};
use block::Limits;
use std::arch::x86_64::__cpuid;
use std::sync::OnceLock;
use zfp_rs::{ZfpScalar, ZfpScalarType};

/// Words after the last bit that [`OwnWriter`] may write to.
pub(super) const SLACK: usize = 3;

/// Write and read a block of this type, whose values are these bytes.
#[derive(Debug, Clone, Copy)]
struct BlockFunctions {
    encode: unsafe fn(&mut Sink<'_>, &Limits, ZfpScalarType, &[u8]),
    decode: unsafe fn(&mut Source<'_>, &Limits, ZfpScalarType, &mut [u8]),
}

#[derive(Debug)]
struct Functions {
    /// Those of one dimension first.
    by_dimensionality: [BlockFunctions; 4],
    /// Integers of 64 bits as floats, which the blocks of the tests do not reach at every tie.
    #[cfg(test)]
    to_floats: unsafe fn(&[u8], &mut [u8]),
}

/// Fastest first. They need no instructions but those of their levels.
static TIERS: &[Tier<Functions>] =
    &[Tier { level: Level::Avx512, kernel: avx512::FUNCTIONS }, Tier { level: Level::Avx2, kernel: avx2::FUNCTIONS }];

/// A tier. It exists only where the processor has its instructions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coder(&'static Tier<Functions>);

impl Coder {
    /// The fastest one. `None` if no tier is faster than `zfp-rs`.
    pub(super) fn best() -> Option<Self> {
        best(TIERS).filter(|_| !has_slow_pext()).map(Self)
    }

    /// Those of blocks of N values.
    fn functions<const N: usize>(self) -> BlockFunctions {
        const { assert!(N == 4 || N == 16 || N == 64 || N == 256) };
        self.0.kernel.by_dimensionality[const { N.ilog2() as usize / 2 - 1 }]
    }

    #[inline]
    fn encode<const N: usize>(self, sink: &mut Sink<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8]) {
        // SAFETY: the processor has the level of this tier.
        unsafe { (self.functions::<N>().encode)(sink, limits, scalar, bytes) };
    }

    #[inline]
    fn decode<const N: usize>(self, source: &mut Source<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8]) {
        // SAFETY: the processor has the level of this tier.
        unsafe { (self.functions::<N>().decode)(source, limits, scalar, bytes) };
    }
}

impl PartialEq for Coder {
    fn eq(&self, other: &Self) -> bool {
        self.0.level == other.0.level
    }
}

impl Eq for Coder {}

/// AMD's and Hygon's first two Zen generations, families 17 and 18 (hexadecimal), do `pext` bit by bit.
fn has_slow_pext() -> bool {
    // A virtual machine may take long to answer.
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        #[allow(unused_unsafe, reason = "unsafe in older standard libraries")]
        // SAFETY: every processor of 64 bits has this instruction, and its leaves 0 and 1.
        let (name, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
        let family = (version >> 8 & 0xF) + (version >> 20 & 0xFF);
        let is_intel = name.ebx.to_le_bytes() == *b"Genu";
        !is_intel && matches!(family, 0x17 | 0x18)
    })
}

/// Writes blocks into words, of which [`SLACK`] follow the last one that is used.
#[derive(Debug)]
pub(super) struct OwnWriter<'a> {
    coder: Coder,
    sink: Sink<'a>,
    limits: Limits,
}

impl<'a> OwnWriter<'a> {
    pub(super) fn new(coder: Coder, words: &'a mut [u64], parameters: &Parameters) -> Self {
        Self { coder, sink: Sink::new(bytemuck::cast_slice_mut(words)), limits: Limits::new(parameters) }
    }
}

impl<T: ZfpScalar, const N: usize> BlockWriter<T, N> for OwnWriter<'_> {
    #[inline]
    fn write(&mut self, values: &[T; N]) -> Result<()> {
        let bytes = bytemuck::cast_slice(values);
        self.coder.encode::<N>(&mut self.sink, &self.limits, T::SCALAR_TYPE, bytes);
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
    source: Source<'a>,
    limits: Limits,
}

impl<'a> OwnReader<'a> {
    /// From this bit on.
    pub(super) fn new(coder: Coder, words: &'a [u64], start: u64, parameters: &Parameters) -> Self {
        Self { coder, source: Source::new(bytemuck::cast_slice(words), start), limits: Limits::new(parameters) }
    }
}

impl<T: ZfpScalar, const N: usize> BlockReader<T, N> for OwnReader<'_> {
    #[inline]
    fn read(&mut self, values: &mut [T; N]) -> Result<()> {
        let bytes = bytemuck::cast_slice_mut(values);
        self.coder.decode::<N>(&mut self.source, &self.limits, T::SCALAR_TYPE, bytes);
        Ok(())
    }

    fn position(&self) -> u64 {
        self.source.position()
    }
}
