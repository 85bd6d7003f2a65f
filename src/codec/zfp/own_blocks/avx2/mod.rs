//! AVX2, on vectors of 32 bytes.
//!
//! * [`lanes`]: instructions on one vector.
//! * [`d1`], [`d2`], [`d3`], [`d4`]: blocks of one to four dimensions.

mod d1;
mod d2;
mod d3;
mod d4;
mod lanes;

use super::bits::{Sink, Source};
use super::block::{self, Limits};
use super::kernel::Kernel;
use super::{BlockFunctions, Functions};
use zfp_rs::ZfpScalarType;

/// Exists only where the processor has the instructions that [`encode`] and [`decode`] are compiled for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

pub(super) const FUNCTIONS: Functions = Functions {
    by_dimensionality: [functions::<4>(), functions::<16>(), functions::<64>(), functions::<256>()],
    #[cfg(test)]
    to_floats,
};

const fn functions<const N: usize>() -> Option<BlockFunctions>
where
    Avx2: Kernel<N>,
{
    Some(BlockFunctions { encode: encode::<N>, decode: decode::<N> })
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn encode<const N: usize>(sink: &mut Sink<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8])
where
    Avx2: Kernel<N>,
{
    block::encode(Avx2(()), sink, limits, scalar, bytes);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decode<const N: usize>(source: &mut Source<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8])
where
    Avx2: Kernel<N>,
{
    block::decode(Avx2(()), source, limits, scalar, bytes);
}

#[cfg(test)]
#[target_feature(enable = "avx2")]
fn to_floats(integers: &[u8], floats: &mut [u8]) {
    let kernel = Avx2(());
    let integers = Kernel::<64>::load::<true>(kernel, integers);
    let values = super::values::to_floats::<_, 64, true>(kernel, &integers, 1.0);
    Kernel::<64>::store::<true>(kernel, &values, floats);
}
