//! AVX-512 with VBMI and GFNI, which Ice Lake, Zen 4 and later processors have, on vectors of 64 bytes.
//!
//! * [`values`]: of memory, and floats as integers.
//! * [`transform`]: integers to coefficients, on [`lanes`].
//! * [`matrix`]: coefficients to bit planes, by bytes in the order of their frequency.

mod lanes;
mod matrix;
mod transform;
mod values;

use super::bits::{Sink, Source};
use super::block::{self, Limits};
use super::kernel::{Kernel, implement_kernel};
use super::lift::Lanes;
use super::planes::{self, Planes};
use std::arch::x86_64::__m512i;
use zfp_rs::ZfpScalarType;

/// The values of a block; those of 32 bits take the first half.
type Vectors = [__m512i; 8];

/// How many of them hold a block of values of 64 bits, if `wide`, or of 32.
const fn vector_count(wide: bool) -> usize {
    if wide { 8 } else { 4 }
}

/// Exists only where the processor has these parts of AVX-512, GFNI, and what bit planes need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn if_available() -> Option<Self> {
        let has_instructions = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("gfni");
        (has_instructions && planes::has_instructions()).then_some(Self(()))
    }

    #[inline]
    pub(super) fn encode(self, sink: &mut Sink<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8]) {
        // SAFETY: the processor has these instructions.
        unsafe { encode(self, sink, limits, scalar, bytes) };
    }

    #[inline]
    pub(super) fn decode(self, source: &mut Source<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8]) {
        // SAFETY: the processor has these instructions.
        unsafe { decode(self, source, limits, scalar, bytes) };
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,gfni,bmi1,bmi2,lzcnt,popcnt")]
fn encode(kernel: Avx512, sink: &mut Sink<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8]) {
    block::encode(kernel, sink, limits, scalar, bytes);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,gfni,bmi1,bmi2,lzcnt,popcnt")]
fn decode(kernel: Avx512, source: &mut Source<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8]) {
    block::decode(kernel, source, limits, scalar, bytes);
}

implement_kernel!(Avx512, Vectors, __m512i);
