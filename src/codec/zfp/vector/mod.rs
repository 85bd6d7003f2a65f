//! Blocks of three dimensions, 64 values, with vector instructions: the same bytes as `zfp-rs`, which codes all others.
//!
//! * [`block`]: a block's header, and what its values are as integers, by [`float`] where they are none.
//! * [`kernel`]: what a tier of instructions does with values and coefficients; [`avx2`], [`avx512`]: the tiers.
//! * [`lift`]: the steps of the transform along an axis; [`order`]: of coefficients, by their frequency.
//! * [`planes`]: bit planes to the bits of the stream, which [`bits`] puts and takes.

#![allow(unsafe_code)]

mod avx2;
mod avx512;
mod bits;
mod block;
mod float;
mod kernel;
mod lift;
mod order;
mod planes;
#[cfg(test)]
mod tests;

use super::backend::{BlockReader, BlockWriter};
use super::mode::Parameters;
use crate::error::{Error, Result};
use crate::simd::Level;
use bits::{Sink, Source};
use block::Limits;
use planes::SIZE;
use std::arch::x86_64::__cpuid;
use std::sync::OnceLock;
use zfp_rs::ZfpScalar;

/// Words behind the last bit that [`Writer`] may touch.
pub(super) const SLACK: usize = 3;

/// Whether blocks are to be coded here.
pub(super) fn is_available() -> bool {
    Tier::fastest().is_some() && !has_slow_pext()
}

/// The instructions that kernels are compiled for.
#[derive(Debug, Clone, Copy)]
enum Tier {
    Avx2(avx2::Avx2),
    Avx512(avx512::Avx512),
}

impl Tier {
    fn fastest() -> Option<Self> {
        let avx512 = avx512::Avx512::if_available().filter(|_| Level::Avx512.is_available());
        let avx2 = || avx2::Avx2::if_available().filter(|_| Level::Avx2.is_available());
        avx512.map(Self::Avx512).or_else(|| avx2().map(Self::Avx2))
    }
}

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

/// Writes blocks into words that have [`SLACK`] behind the last one.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    tier: Tier,
    sink: Sink<'a>,
    limits: Limits,
}

impl<'a> Writer<'a> {
    /// With the fastest tier: there must be one.
    pub(super) fn new(words: &'a mut [u64], parameters: &Parameters) -> Self {
        Self::with_tier(Tier::fastest().expect("the processor was asked before"), words, parameters)
    }

    fn with_tier(tier: Tier, words: &'a mut [u64], parameters: &Parameters) -> Self {
        Self { tier, sink: Sink::new(bytemuck::cast_slice_mut(words)), limits: Limits::new(parameters) }
    }
}

impl<T: ZfpScalar, const N: usize> BlockWriter<T, N> for Writer<'_> {
    #[inline]
    fn write(&mut self, values: &[T; N]) -> Result<()> {
        if N != SIZE as usize {
            return Err(Error::internal(format!("a zfp block of {N} values")));
        }
        let bytes = bytemuck::cast_slice(values);
        match self.tier {
            Tier::Avx2(kernel) => kernel.encode(&mut self.sink, &self.limits, T::SCALAR_TYPE, bytes),
            Tier::Avx512(kernel) => kernel.encode(&mut self.sink, &self.limits, T::SCALAR_TYPE, bytes),
        }
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
pub(super) struct Reader<'a> {
    tier: Tier,
    source: Source<'a>,
    limits: Limits,
}

impl<'a> Reader<'a> {
    /// From this bit on, with the fastest tier: there must be one.
    pub(super) fn new(words: &'a [u64], start: u64, parameters: &Parameters) -> Self {
        Self::with_tier(Tier::fastest().expect("the processor was asked before"), words, start, parameters)
    }

    fn with_tier(tier: Tier, words: &'a [u64], start: u64, parameters: &Parameters) -> Self {
        Self { tier, source: Source::new(bytemuck::cast_slice(words), start), limits: Limits::new(parameters) }
    }
}

impl<T: ZfpScalar, const N: usize> BlockReader<T, N> for Reader<'_> {
    #[inline]
    fn read(&mut self, values: &mut [T; N]) -> Result<()> {
        if N != SIZE as usize {
            return Err(Error::internal(format!("a zfp block of {N} values")));
        }
        let bytes = bytemuck::cast_slice_mut(values);
        match self.tier {
            Tier::Avx2(kernel) => kernel.decode(&mut self.source, &self.limits, T::SCALAR_TYPE, bytes),
            Tier::Avx512(kernel) => kernel.decode(&mut self.source, &self.limits, T::SCALAR_TYPE, bytes),
        }
        Ok(())
    }

    fn position(&self) -> u64 {
        self.source.position()
    }
}
