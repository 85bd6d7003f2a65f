//! AVX2, on vectors of 32 bytes.
//!
//! * [`lanes`], [`each_lane`]: instructions on one vector.
//! * [`together`]: how blocks of one and two dimensions are written, as many at a time as there are lanes. [`order`]
//!   moves them across vectors; [`planes_of_4`] and [`planes_of_16`] code their planes, whose [`bytes`] lie in lanes, as
//!   [`codes`] that become [`words`].
//! * [`d1`], [`d2`]: how these blocks are read. [`d3`], [`d4`]: blocks of three and four dimensions.

mod bytes;
mod codes;
mod d1;
mod d2;
mod d3;
mod d4;
mod each_lane;
mod lanes;
mod order;
mod planes_of_16;
mod planes_of_4;
mod together;
mod words;

use super::bits::{BitReader, BitWriter};
use super::block::{self, Limits};
use super::kernel::{DecodingKernel, EncodingKernel};
use super::{BlockFunctions, Functions};
use together::PlaneCoder;
use zfp_rs::ZfpScalarType;

/// Exists only where the processor has the instructions that [`encode`] and the functions after it are compiled for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

pub(super) const FUNCTIONS: Functions = Functions {
    by_dimensionality: [
        Some(BlockFunctions { encode: encode_together::<4>, decode: decode::<4> }),
        Some(BlockFunctions { encode: encode_together::<16>, decode: decode::<16> }),
        functions::<64>(),
        functions::<256>(),
    ],
    #[cfg(test)]
    to_floats,
};

const fn functions<const N: usize>() -> Option<BlockFunctions>
where
    Avx2: EncodingKernel<N> + DecodingKernel<N>,
{
    Some(BlockFunctions { encode: encode::<N>, decode: decode::<N> })
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn encode<const N: usize>(sink: &mut BitWriter<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8])
where
    Avx2: EncodingKernel<N>,
{
    block::encode(Avx2(()), sink, limits, scalar, bytes);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn encode_together<const N: usize>(sink: &mut BitWriter<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8])
where
    Avx2: PlaneCoder<N>,
{
    together::encode::<N>(Avx2(()), sink, limits, scalar, bytes);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decode<const N: usize>(source: &mut BitReader<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8])
where
    Avx2: DecodingKernel<N>,
{
    block::decode(Avx2(()), source, limits, scalar, bytes);
}

#[cfg(test)]
#[target_feature(enable = "avx2")]
fn to_floats(integers: &[u8], floats: &mut [u8]) {
    let kernel = Avx2(());
    let mut block = super::kernel::Kernel::<64>::zeros(kernel);
    EncodingKernel::<64>::load::<true>(kernel, integers, &mut block);
    super::values::to_floats::<_, 64, true>(kernel, &mut block, 1.0);
    DecodingKernel::<64>::store::<true>(kernel, &block, floats);
}
