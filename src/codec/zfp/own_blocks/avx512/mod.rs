//! AVX-512 with VBMI and GFNI, which Ice Lake, Zen 4 and later processors have, on vectors of 64 bytes.
//!
//! * [`lanes`], [`each_lane`]: instructions on one vector; [`memory`]: values to vectors.
//! * [`transform`]: integers to coefficients.
//! * [`matrix`]: coefficients to bit planes, by bytes in the order of their frequency.
//! * [`d4`]: blocks of four dimensions.
//! * [`together`]: blocks of one and two dimensions, many at a time. [`order`] moves them across vectors;
//!   [`planes_of_4`] and [`planes_of_16`] code their planes, as [`codes`] that become [`words`], which a [`joiner`]
//!   writes. Blocks of a fixed number of bits are read in [`lockstep`]; [`restore`] has the values of all.

mod codes;
mod d4;
mod each_lane;
mod joiner;
mod lanes;
mod lockstep;
mod matrix;
mod memory;
mod order;
mod planes_of_16;
mod planes_of_4;
mod restore;
mod together;
mod transform;
mod words;

use super::bits::{BitReader, BitWriter};
use super::block::{self, Limits, width};
use super::kernel::{DecodingKernel, EncodingKernel, Kernel};
use super::x86::planes_of_64;
use super::{BlockFunctions, Functions, planes_of_words};
use std::arch::x86_64::__m512i;
use together::{PlaneCoder, PlaneReader};
use zfp_rs::ZfpScalarType;

/// The values of a block; those of 32 bits take the first half.
type Vectors = [__m512i; 8];

/// Exists only where the processor has the instructions that [`encode`], [`encode_together`] and [`decode`] are compiled
/// for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

pub(super) const FUNCTIONS: Functions = Functions {
    by_dimensionality: [
        Some(BlockFunctions { encode: encode_together::<4>, decode: decode_together::<4> }),
        Some(BlockFunctions { encode: encode_together::<16>, decode: decode_together::<16> }),
        Some(BlockFunctions { encode: encode::<64>, decode: decode::<64> }),
        Some(BlockFunctions { encode: encode::<256>, decode: decode::<256> }),
    ],
    #[cfg(test)]
    to_floats,
};

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,gfni,bmi1,bmi2,lzcnt,popcnt")]
fn encode<const N: usize>(sink: &mut BitWriter<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8])
where
    Avx512: EncodingKernel<N>,
{
    block::encode(Avx512(()), sink, limits, scalar, bytes);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,gfni,bmi1,bmi2,lzcnt,popcnt")]
fn decode<const N: usize>(source: &mut BitReader<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8])
where
    Avx512: DecodingKernel<N>,
{
    block::decode(Avx512(()), source, limits, scalar, bytes);
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,gfni,bmi1,bmi2,lzcnt,popcnt")]
fn encode_together<const N: usize>(sink: &mut BitWriter<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8])
where
    Avx512: PlaneCoder<N>,
{
    together::encode::<N>(Avx512(()), sink, limits, scalar, bytes);
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,gfni,bmi1,bmi2,lzcnt,popcnt")]
fn decode_together<const N: usize>(source: &mut BitReader<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8])
where
    Avx512: PlaneReader<N>,
{
    together::decode::<N>(Avx512(()), source, limits, scalar, bytes);
}

#[cfg(test)]
#[target_feature(enable = "avx512f,avx512dq")]
fn to_floats(integers: &[u8], floats: &mut [u8]) {
    let kernel = Avx512(());
    let mut block = Kernel::<64>::zeros(kernel);
    EncodingKernel::<64>::load::<true>(kernel, integers, &mut block);
    super::values::to_floats::<_, 64, true>(kernel, &mut block, 1.0);
    DecodingKernel::<64>::store::<true>(kernel, &block, floats);
}

impl Kernel<64> for Avx512 {
    type Block = Vectors;

    #[inline(always)]
    fn zeros(self) -> Vectors {
        bytemuck::Zeroable::zeroed()
    }

    #[inline(always)]
    fn vector_count(wide: bool) -> usize {
        if wide { 8 } else { 4 }
    }
}

impl EncodingKernel<64> for Avx512 {
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

impl DecodingKernel<64> for Avx512 {
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
