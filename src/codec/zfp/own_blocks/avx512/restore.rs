//! The values of blocks of one and two dimensions that were read, with a lane for each block.

use super::super::across::{EachLane, powers};
use super::super::block::Limits;
use super::super::float::integer_bits;
use super::super::lanes::{Arithmetic, Lanes};
use super::super::lift::{from_negabinary, unlift};
use super::Avx512;
use super::order::{by_block, by_place, in_order};
use std::arch::x86_64::*;

/// Blocks that were read, as [`restore`] takes them.
#[derive(Clone, Copy)]
pub(super) struct Read<const N: usize> {
    /// By blocks, shifted up by as many bits as there are empty planes before them.
    pub(super) coefficients: [__m512i; N],
    pub(super) empty: [i64; 16],
    /// Of floats that were scaled; those of zeros do not matter.
    pub(super) exponents: [i64; 16],
    /// The blocks whose integers are the bits of floats.
    pub(super) are_bits: u16,
}

impl<const N: usize> Read<N> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new() -> Self {
        Self { coefficients: [_mm512_setzero_si512(); N], empty: [0; 16], exponents: [0; 16], are_bits: 0 }
    }
}

/// The values of blocks that were read, in the order of memory.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn restore<const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx512,
    limits: &Limits,
    read: &Read<N>,
) -> [__m512i; N] {
    let lanes = |numbers: [i64; 16]| {
        let [first, second] = bytemuck::cast(numbers);
        if WIDE { first } else { narrowed(first, second) }
    };
    let mut coefficients = by_place::<N, WIDE>(&read.coefficients);
    let empty = lanes(read.empty);
    for numbers in &mut coefficients {
        *numbers = kernel.shifted_right::<WIDE>(*numbers, empty);
    }
    let mut values = if limits.is_reversible {
        to_places::<N, WIDE, true>(kernel, coefficients)
    } else {
        to_places::<N, WIDE, false>(kernel, coefficients)
    };
    if IS_FLOAT {
        let all_bits = kernel.all::<WIDE>(integer_bits(WIDE).into());
        let factors = powers::<Avx512, WIDE>(kernel, kernel.sub::<WIDE>(lanes(read.exponents), all_bits));
        for integers in &mut values {
            let scaled = kernel.product::<WIDE>(kernel.to_floats::<WIDE>(*integers), factors);
            *integers = kernel.select::<WIDE>(read.are_bits, kernel.reinterpret::<WIDE>(*integers), scaled);
        }
    }
    in_order::<N, WIDE>(by_block::<N, WIDE>(&values))
}

/// The inverse of the transform of [`across`](super::super::across).
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn to_places<const N: usize, const WIDE: bool, const REVERSIBLE: bool>(
    kernel: Avx512,
    mut places: [__m512i; N],
) -> [__m512i; N] {
    for numbers in &mut places {
        *numbers = from_negabinary::<Avx512, WIDE>(kernel, *numbers);
    }
    if N == 16 {
        for x in 0..4 {
            let column = [places[x], places[4 + x], places[8 + x], places[12 + x]];
            [places[x], places[4 + x], places[8 + x], places[12 + x]] =
                unlift::<Avx512, WIDE, REVERSIBLE>(kernel, column);
        }
    }
    for line in places.as_chunks_mut::<4>().0 {
        *line = unlift::<Avx512, WIDE, REVERSIBLE>(kernel, *line);
    }
    places
}

/// Sixteen numbers of 64 bits as numbers of 32 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn narrowed(first: __m512i, second: __m512i) -> __m512i {
    let (first, second) = (_mm512_cvtepi64_epi32(first), _mm512_cvtepi64_epi32(second));
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second)
}
