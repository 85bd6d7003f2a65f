//! Blocks of three dimensions, 64 values, with AVX2 and BMI2: the same bytes as `zfp-rs`, which codes all others.
//!
//! * [`block`]: a block's header, and what its values are as integers, by [`float`] where they are none.
//! * [`transform`]: integers to coefficients, by the steps in [`lift`].
//! * [`matrix`]: coefficients to bit planes, by bytes in the [`order`] of their frequency.
//! * [`planes`]: bit planes to the bits of the stream, which [`bits`] puts and takes.

#![allow(unsafe_code)]

mod bits;
mod block;
mod float;
mod lift;
mod matrix;
mod order;
mod planes;
#[cfg(test)]
mod tests;
mod transform;

use super::backend::{BlockReader, BlockWriter};
use super::mode::Parameters;
use crate::codec::simd::{self, Limit};
use crate::error::{Error, Result};
use bits::{Sink, Source};
use block::Limits;
use planes::SIZE;
use std::arch::x86_64::{__cpuid, __m256i};
use std::sync::OnceLock;
use zfp_rs::ZfpScalar;

/// The values of a block; those of 32 bits take the first half.
type Vectors = [__m256i; 16];

/// How many of them hold a block of values of 64 bits, if `wide`, or of 32.
const fn vector_count(wide: bool) -> usize {
    if wide { 16 } else { 8 }
}

/// Words behind the last bit that [`Writer`] may touch.
pub(super) const SLACK: usize = 3;

/// Whether blocks are to be coded here.
pub(super) fn is_available() -> bool {
    simd::limit() == Limit::None && has_instructions() && !has_slow_pext()
}

/// Whether the processor has what [`block`] is compiled for.
fn has_instructions() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
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
    sink: Sink<'a>,
    limits: Limits,
}

impl<'a> Writer<'a> {
    pub(super) fn new(words: &'a mut [u64], parameters: &Parameters) -> Self {
        assert!(has_instructions(), "the processor was asked before");
        let limits = Limits::new(parameters);
        Self { sink: Sink::new(bytemuck::cast_slice_mut(words)), limits }
    }
}

impl<T: ZfpScalar, const N: usize> BlockWriter<T, N> for Writer<'_> {
    #[inline]
    fn write(&mut self, values: &[T; N]) -> Result<()> {
        if N != SIZE as usize {
            return Err(Error::internal(format!("a zfp block of {N} values")));
        }
        // SAFETY: `new` has asked for the processor's features.
        unsafe { block::encode(&mut self.sink, &self.limits, T::SCALAR_TYPE, bytemuck::cast_slice(values)) };
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
    source: Source<'a>,
    limits: Limits,
}

impl<'a> Reader<'a> {
    /// From this bit on.
    pub(super) fn new(words: &'a [u64], start: u64, parameters: &Parameters) -> Self {
        assert!(has_instructions(), "the processor was asked before");
        let limits = Limits::new(parameters);
        Self { source: Source::new(bytemuck::cast_slice(words), start), limits }
    }
}

impl<T: ZfpScalar, const N: usize> BlockReader<T, N> for Reader<'_> {
    #[inline]
    fn read(&mut self, values: &mut [T; N]) -> Result<()> {
        if N != SIZE as usize {
            return Err(Error::internal(format!("a zfp block of {N} values")));
        }
        // SAFETY: `new` has asked for the processor's features.
        unsafe {
            block::decode(&mut self.source, &self.limits, T::SCALAR_TYPE, bytemuck::cast_slice_mut(values));
        }
        Ok(())
    }

    fn position(&self) -> u64 {
        self.source.position()
    }
}
