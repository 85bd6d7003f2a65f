//! AVX2, on vectors of 32 bytes.
//!
//! * [`values`]: of memory, and floats as integers.
//! * [`transform`]: integers to coefficients, on [`lanes`].
//! * [`matrix`]: coefficients to bit planes, by bytes in the [`order`] of their frequency.

mod lanes;
mod matrix;
mod order;
mod transform;
mod values;

use super::bits::{Sink, Source};
use super::block::{self, Limits};
use super::kernel::Kernel;
use super::lift::Lanes;
use super::planes::{self, Planes};
use std::arch::x86_64::__m256i;
use zfp_rs::ZfpScalarType;

/// The values of a block; those of 32 bits take the first half.
type Vectors = [__m256i; 16];

/// How many of them hold a block of values of 64 bits, if `wide`, or of 32.
const fn vector_count(wide: bool) -> usize {
    if wide { 16 } else { 8 }
}

/// Exists only where the processor has AVX2 and what bit planes need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn if_available() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && planes::has_instructions()).then_some(Self(()))
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

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn encode(kernel: Avx2, sink: &mut Sink<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8]) {
    block::encode(kernel, sink, limits, scalar, bytes);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decode(kernel: Avx2, source: &mut Source<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8]) {
    block::decode(kernel, source, limits, scalar, bytes);
}

impl Kernel for Avx2 {
    type Block = Vectors;

    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8]) -> Vectors {
        // SAFETY: the processor has these instructions.
        unsafe { values::load::<WIDE>(bytes) }
    }

    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &Vectors, bytes: &mut [u8]) {
        // SAFETY: the processor has these instructions.
        unsafe { values::store::<WIDE>(block, bytes) };
    }

    #[inline(always)]
    fn any_bits<const WIDE: bool>(self, block: &Vectors) -> u64 {
        // SAFETY: the processor has these instructions.
        unsafe { values::any_bits::<WIDE>(block) }
    }

    #[inline(always)]
    fn are_same<const WIDE: bool>(self, a: &Vectors, b: &Vectors) -> bool {
        // SAFETY: the processor has these instructions.
        unsafe { values::are_same::<WIDE>(a, b) }
    }

    #[inline(always)]
    fn largest_magnitude<const WIDE: bool>(self, values: &Vectors) -> u64 {
        // SAFETY: the processor has these instructions.
        unsafe { values::largest_magnitude::<WIDE>(values) }
    }

    #[inline(always)]
    fn scale<const WIDE: bool>(self, values: &Vectors, factor: f64) -> Vectors {
        // SAFETY: the processor has these instructions.
        unsafe { values::scale::<WIDE>(values, factor) }
    }

    #[inline(always)]
    fn truncate<const WIDE: bool>(self, values: &Vectors, factor: f64) -> Vectors {
        // SAFETY: the processor has these instructions.
        unsafe { values::truncate::<WIDE>(values, factor) }
    }

    #[inline(always)]
    fn to_floats<const WIDE: bool>(self, integers: &Vectors, factor: f64) -> Vectors {
        // SAFETY: the processor has these instructions.
        unsafe { values::to_floats::<WIDE>(integers, factor) }
    }

    #[inline(always)]
    fn reinterpret<const WIDE: bool>(self, values: &Vectors) -> Vectors {
        // SAFETY: the processor has these instructions.
        unsafe { values::reinterpret::<WIDE>(values) }
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, integers: &Vectors) -> Vectors {
        // SAFETY: the processor has these instructions.
        unsafe { transform::forward::<WIDE, REVERSIBLE>(self, integers) }
    }

    #[inline(always)]
    fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(self, coefficients: &Vectors) -> Vectors {
        // SAFETY: the processor has these instructions.
        unsafe { transform::inverse::<WIDE, REVERSIBLE>(self, coefficients) }
    }

    #[inline(always)]
    fn to_planes<const WIDE: bool>(self, coefficients: &Vectors, kmin: u32, top: u32, planes: &mut Planes) {
        // SAFETY: the processor has these instructions.
        unsafe { matrix::to_planes::<WIDE>(coefficients, kmin, top, planes) };
    }

    #[inline(always)]
    fn coefficients_of<const WIDE: bool>(self, planes: &Planes, lowest: u32) -> Vectors {
        // SAFETY: the processor has these instructions.
        unsafe { matrix::coefficients_of::<WIDE>(planes, lowest) }
    }
}

impl Lanes for Avx2 {
    type Vector = __m256i;

    #[inline(always)]
    fn add<const WIDE: bool>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the processor has these instructions.
        unsafe { lanes::add::<WIDE>(a, b) }
    }

    #[inline(always)]
    fn sub<const WIDE: bool>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the processor has these instructions.
        unsafe { lanes::sub::<WIDE>(a, b) }
    }

    #[inline(always)]
    fn half<const WIDE: bool>(self, a: __m256i) -> __m256i {
        // SAFETY: the processor has these instructions.
        unsafe { lanes::half::<WIDE>(a) }
    }
}
