//! NEON, on vectors of 16 bytes: blocks of three dimensions.
//!
//! * [`lanes`]: instructions on one vector.
//! * [`transform`]: integers to coefficients, which stay in the order of the block.
//! * [`matrix`]: coefficients to bit planes, by bytes in the order of their frequency.

mod lanes;
mod matrix;
mod transform;

use super::bits::{BitReader, BitWriter};
use super::block::{self, Limits, width};
use super::kernel::{DecodingKernel, EncodingKernel, Kernel};
use super::lanes::Lanes;
use super::{BlockFunctions, Functions, planes_of_words};
use std::arch::aarch64::*;
use zfp_rs::ZfpScalarType;

/// The values of a block in their order; those of 32 bits take the first half.
type Vectors = [uint32x4_t; 32];

/// Exists only where the processor has NEON.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neon(());

pub(super) const FUNCTIONS: Functions = Functions {
    by_dimensionality: [None, None, Some(BlockFunctions { encode, decode }), None],
    #[cfg(test)]
    to_floats,
};

#[target_feature(enable = "neon")]
fn encode(sink: &mut BitWriter<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8]) {
    block::encode(Neon(()), sink, limits, scalar, bytes);
}

#[target_feature(enable = "neon")]
fn decode(source: &mut BitReader<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8]) {
    block::decode(Neon(()), source, limits, scalar, bytes);
}

#[cfg(test)]
#[target_feature(enable = "neon")]
fn to_floats(integers: &[u8], floats: &mut [u8]) {
    let kernel = Neon(());
    let mut block = kernel.zeros();
    kernel.load::<true>(integers, &mut block);
    super::values::to_floats::<_, 64, true>(kernel, &mut block, 1.0);
    kernel.store::<true>(&block, floats);
}

impl Kernel<64> for Neon {
    type Block = Vectors;

    #[inline(always)]
    fn zeros(self) -> Vectors {
        [self.zero(); 32]
    }

    #[inline(always)]
    fn vector_count(wide: bool) -> usize {
        if wide { 32 } else { 16 }
    }
}

impl EncodingKernel<64> for Neon {
    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8], block: &mut Vectors) {
        for (vector, bytes) in block.iter_mut().zip(bytes.as_chunks::<16>().0) {
            // SAFETY: there is a value of this type only where the processor has NEON; these are 16 readable bytes.
            *vector = unsafe { vreinterpretq_u32_u8(vld1q_u8(bytes.as_ptr())) };
        }
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, block: &mut Vectors) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { transform::forward::<WIDE, REVERSIBLE>(self, block) };
    }

    #[inline(always)]
    fn encode_planes<const WIDE: bool>(
        self,
        sink: &mut BitWriter<'_>,
        coefficients: &Vectors,
        top: u32,
        kmin: u32,
        budget: u32,
    ) {
        let mut bytes = [0; 512];
        self.store::<WIDE>(coefficients, &mut bytes);
        let mut planes = [[0]; 64];
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { matrix::to_planes::<WIDE>(&bytes, kmin, top, &mut planes) };
        planes_of_words::encode(sink, &planes, width(WIDE), top, kmin, budget);
    }
}

impl DecodingKernel<64> for Neon {
    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &Vectors, bytes: &mut [u8]) {
        for (vector, bytes) in block.iter().zip(bytes.as_chunks_mut::<16>().0) {
            // SAFETY: as in `load`; these are 16 writable bytes.
            unsafe { vst1q_u8(bytes.as_mut_ptr(), vreinterpretq_u8_u32(*vector)) };
        }
    }

    #[inline(always)]
    fn decode_integers<const WIDE: bool>(
        self,
        source: &mut BitReader<'_>,
        kmin: u32,
        budget: u32,
        is_reversible: bool,
        block: &mut Vectors,
    ) {
        let mut planes = [[0]; 64];
        let lowest = planes_of_words::decode(source, &mut planes, width(WIDE), kmin, budget);
        let mut bytes = [0; 512];
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { matrix::from_planes::<WIDE>(&planes, lowest, &mut bytes) };
        self.load::<WIDE>(&bytes, block);
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            if is_reversible {
                transform::inverse::<WIDE, true>(self, block);
            } else {
                transform::inverse::<WIDE, false>(self, block);
            }
        }
    }
}
