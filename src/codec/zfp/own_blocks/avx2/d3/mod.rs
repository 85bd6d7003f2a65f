//! Blocks of three dimensions.
//!
//! * [`memory`]: values to vectors; [`transform`]: integers to coefficients.
//! * [`matrix`]: coefficients to bit planes, by bytes in the [`order`] of their frequency.

pub(super) mod matrix;
pub(super) mod memory;
pub(super) mod order;
pub(super) mod transform;

use super::super::bits::{BitReader, BitWriter};
use super::super::block::width;
use super::super::kernel::{DecodingKernel, EncodingKernel, Kernel};
use super::super::planes_of_words;
use super::super::x86::planes_of_64;
use super::Avx2;
use std::arch::x86_64::__m256i;

/// The values of a block; those of 32 bits take the first half.
pub(super) type Vectors = [__m256i; 16];

impl Kernel<64> for Avx2 {
    type Block = Vectors;

    #[inline(always)]
    fn zeros(self) -> Vectors {
        bytemuck::Zeroable::zeroed()
    }

    #[inline(always)]
    fn vector_count(wide: bool) -> usize {
        if wide { 16 } else { 8 }
    }
}

impl EncodingKernel<64> for Avx2 {
    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8], block: &mut Vectors) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { memory::load::<WIDE>(bytes, block) };
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, block: &mut Vectors) {
        // SAFETY: as in `load`.
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
        let mut planes = [0; 64];
        // SAFETY: as in `load`.
        unsafe { matrix::to_planes::<WIDE>(coefficients, kmin, top, &mut planes) };
        planes_of_words::encode::<1>(sink, bytemuck::cast_ref(&planes), width(WIDE), top, kmin, budget);
    }
}

impl DecodingKernel<64> for Avx2 {
    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &Vectors, bytes: &mut [u8]) {
        // SAFETY: as in `load`.
        unsafe { memory::store::<WIDE>(block, bytes) };
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
        let mut planes = [0; 64];
        // SAFETY: as in `load`.
        unsafe {
            let lowest = planes_of_64::decode(source, &mut planes, width(WIDE), kmin, budget);
            *block = matrix::coefficients_of::<WIDE>(&planes, lowest);
            if is_reversible {
                transform::inverse::<WIDE, true>(self, block);
            } else {
                transform::inverse::<WIDE, false>(self, block);
            }
        }
    }
}
