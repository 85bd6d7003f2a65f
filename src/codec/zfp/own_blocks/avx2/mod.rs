//! AVX2, on vectors of 32 bytes.
//!
//! * [`lanes`]: instructions on one vector; [`memory`]: values to vectors.
//! * [`transform`]: integers to coefficients.
//! * [`matrix`]: coefficients to bit planes, by bytes in the [`order`] of their frequency.

mod lanes;
mod matrix;
mod memory;
mod order;
mod transform;

use super::Functions;
use super::bits::{Sink, Source};
use super::block::{self, Limits};
use super::kernel::Kernel;
use super::planes::Planes;
use std::arch::x86_64::__m256i;
use zfp_rs::ZfpScalarType;

/// The values of a block; those of 32 bits take the first half.
type Vectors = [__m256i; 16];

/// Exists only where the processor has the instructions that [`encode`] and [`decode`] are compiled for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

pub(super) const FUNCTIONS: Functions = Functions {
    encode,
    decode,
    #[cfg(test)]
    to_floats,
};

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn encode(sink: &mut Sink<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8]) {
    block::encode(Avx2(()), sink, limits, scalar, bytes);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decode(source: &mut Source<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8]) {
    block::decode(Avx2(()), source, limits, scalar, bytes);
}

#[cfg(test)]
#[target_feature(enable = "avx2")]
fn to_floats(integers: &[u8], floats: &mut [u8]) {
    let kernel = Avx2(());
    let values = super::values::to_floats::<_, true>(kernel, &kernel.load::<true>(integers), 1.0);
    kernel.store::<true>(&values, floats);
}

impl Kernel for Avx2 {
    type Block = Vectors;

    #[inline(always)]
    fn zeros(self) -> Vectors {
        bytemuck::Zeroable::zeroed()
    }

    #[inline(always)]
    fn vector_count(wide: bool) -> usize {
        if wide { 16 } else { 8 }
    }

    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8]) -> Vectors {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { memory::load::<WIDE>(bytes) }
    }

    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &Vectors, bytes: &mut [u8]) {
        // SAFETY: as in `load`.
        unsafe { memory::store::<WIDE>(block, bytes) };
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, integers: &Vectors) -> Vectors {
        // SAFETY: as in `load`.
        unsafe { transform::forward::<WIDE, REVERSIBLE>(self, integers) }
    }

    #[inline(always)]
    fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(self, coefficients: &Vectors) -> Vectors {
        // SAFETY: as in `load`.
        unsafe { transform::inverse::<WIDE, REVERSIBLE>(self, coefficients) }
    }

    #[inline(always)]
    fn to_planes<const WIDE: bool>(self, coefficients: &Vectors, kmin: u32, top: u32, planes: &mut Planes) {
        // SAFETY: as in `load`.
        unsafe { matrix::to_planes::<WIDE>(coefficients, kmin, top, planes) };
    }

    #[inline(always)]
    fn coefficients_of<const WIDE: bool>(self, planes: &Planes, lowest: u32) -> Vectors {
        // SAFETY: as in `load`.
        unsafe { matrix::coefficients_of::<WIDE>(planes, lowest) }
    }
}
