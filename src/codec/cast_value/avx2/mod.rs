//! Casts by instructions of AVX2 and F16C.
#![expect(unsafe_code, reason = "uses instructions that the level promises")]

pub(super) mod float16;
pub(super) mod float_to_integer;
pub(super) mod small_float;
pub(super) mod whole_cast;

use super::kernel::{Entry, Kernel};

/// Converts every number; whether any was refused. It is safe to call on a processor that has its instructions.
pub(super) type Convert<const FROM: usize, const TO: usize> = unsafe fn(&[[u8; FROM]], &mut [[u8; TO]]) -> bool;

/// A loop of a tier: the table of tiers gives its kernel only where the processor has its instructions.
#[derive(Debug)]
pub(super) struct TierLoop<const FROM: usize, const TO: usize>(pub(super) Convert<FROM, TO>);

impl<const FROM: usize, const TO: usize> Kernel for TierLoop<FROM, TO> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        // SAFETY: the processor has the instructions of the loop.
        unsafe { (self.0)(input.as_chunks().0, output.as_chunks_mut().0) }
    }

    fn output_size(&self) -> usize {
        TO
    }

    /// Never mapped: the thorough kernel is.
    fn set_map(&mut self, _: &[Entry]) {}
}
