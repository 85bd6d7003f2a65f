//! AVX-512 with VBMI and GFNI, which Ice Lake, Zen 4 and later processors have, on vectors of 64 bytes.
//!
//! * [`lanes`], [`each_lane`]: instructions on one vector; [`memory`]: values to vectors.
//! * [`transform`]: integers to coefficients.
//! * [`matrix`]: coefficients to bit planes, by bytes in the order of their frequency.
//! * [`cubes`]: blocks of three dimensions; [`d4`]: four of them, a block of four dimensions.
//! * [`together`]: blocks of one and two dimensions, many at a time. [`order`] moves them across vectors;
//!   [`planes_of_4`] and [`planes_of_16`] code their planes, as [`codes`] that become [`words`], which a [`joiner`]
//!   writes. Blocks of a fixed number of bits are read in [`lockstep`]; [`restore`] has the values of all.

mod codes;
mod cubes;
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
use super::block::{self, Limits};
use super::kernel::{DecodingKernel, EncodingKernel};
use super::{BlockFunctions, Functions};
use together::{PlaneCoder, PlaneReader};
use zfp_rs::ZfpScalarType;

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
    let mut block = super::kernel::Kernel::<64>::zeros(kernel);
    EncodingKernel::<64>::load::<true>(kernel, integers, &mut block);
    super::values::to_floats::<_, 64, true>(kernel, &mut block, 1.0);
    DecodingKernel::<64>::store::<true>(kernel, &block, floats);
}
