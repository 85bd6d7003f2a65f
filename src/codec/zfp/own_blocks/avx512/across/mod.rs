//! Blocks of one and two dimensions across vectors: a vector for each place in a block, with a lane for each block.
//!
//! So an instruction works on eight blocks of 64-bit values, or on sixteen of 32 bits, also where it computes something
//! of a block as a whole. [`floats`] makes integers of floats; [`order`] moves blocks to the lanes and back.

mod floats;
mod order;

use super::super::block::{Limits, precision_bits, width};
use super::super::float::integer_bits;
use super::super::lanes::{Arithmetic, Lanes};
use super::super::lift::{from_negabinary, lift, to_negabinary, unlift};
use super::Avx512;
use super::each_lane::{all, equal, larger, leading_zeros, multiply, select, shifted_left, shifted_right, smaller};
pub(super) use floats::float_precisions;
use floats::{Integers, lossy_integers, powers, reversible_integers};
pub(super) use order::{by_block, eight_lanes};
use order::{by_place, in_order, narrowed};
use std::arch::x86_64::*;

/// Blocks whose planes are to be coded. A block of which only one bit is coded, 0, has no planes.
pub(super) struct Transformed<const N: usize> {
    /// What comes before the planes, and how many bits of it.
    pub(super) headers: __m512i,
    pub(super) header_lengths: __m512i,
    pub(super) coefficients: [__m512i; N],
    /// How many planes are coded, from the most significant one down.
    pub(super) plane_counts: __m512i,
}

/// Transforms blocks that lie in the order of memory.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq")]
pub(super) fn transform<const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx512,
    limits: &Limits,
    blocks: &[__m512i; N],
) -> Transformed<N> {
    let values = by_place::<N, WIDE>(blocks);
    let integers = match (IS_FLOAT, limits.is_reversible) {
        (true, true) => reversible_integers::<N, WIDE>(kernel, limits, values),
        (true, false) => lossy_integers::<N, WIDE>(kernel, limits, values),
        (false, _) => Integers {
            values,
            headers: kernel.zero(),
            header_lengths: kernel.zero(),
            precisions: all::<WIDE>(limits.maxprec.min(width(WIDE)).into()),
            are_coded: u16::MAX,
        },
    };
    let Integers { values, mut headers, mut header_lengths, mut precisions, are_coded } = integers;
    let coefficients = if limits.is_reversible {
        let coefficients = to_coefficients::<N, WIDE, true>(kernel, values);
        precisions = own_precisions::<N, WIDE>(kernel, &coefficients, precisions);
        let in_header = kernel.sub::<WIDE>(precisions, all::<WIDE>(1));
        headers = kernel.or(headers, shifted_left::<WIDE>(in_header, header_lengths));
        header_lengths = kernel.add::<WIDE>(header_lengths, all::<WIDE>(precision_bits(WIDE).into()));
        coefficients
    } else {
        to_coefficients::<N, WIDE, false>(kernel, values)
    };
    let none = kernel.zero();
    Transformed {
        headers: select::<WIDE>(are_coded, headers, none),
        header_lengths: select::<WIDE>(are_coded, header_lengths, all::<WIDE>(1)),
        coefficients,
        plane_counts: select::<WIDE>(are_coded, precisions, none),
    }
}

/// The precision of each reversible block, up to the one that is given: without the planes after the last one bit.
#[inline]
#[target_feature(enable = "avx512f,avx512cd")]
fn own_precisions<const N: usize, const WIDE: bool>(
    kernel: Avx512,
    coefficients: &[__m512i; N],
    precisions: __m512i,
) -> __m512i {
    let any = any_bits(kernel, coefficients);
    let lowest = _mm512_and_si512(any, kernel.sub::<WIDE>(kernel.zero(), any));
    let from_lowest = kernel.add::<WIDE>(leading_zeros::<WIDE>(lowest), all::<WIDE>(1));
    let own = select::<WIDE>(equal::<WIDE>(any, kernel.zero()), all::<WIDE>(1), from_lowest);
    larger::<WIDE>(smaller::<WIDE>(own, precisions), all::<WIDE>(1))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn any_bits<const N: usize>(kernel: Avx512, vectors: &[__m512i; N]) -> __m512i {
    let mut any = kernel.zero();
    for vector in vectors {
        any = kernel.or(any, *vector);
    }
    any
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn to_coefficients<const N: usize, const WIDE: bool, const REVERSIBLE: bool>(
    kernel: Avx512,
    mut places: [__m512i; N],
) -> [__m512i; N] {
    for line in places.as_chunks_mut::<4>().0 {
        *line = lift::<Avx512, WIDE, REVERSIBLE>(kernel, *line);
    }
    if N == 16 {
        for x in 0..4 {
            let column = [places[x], places[4 + x], places[8 + x], places[12 + x]];
            [places[x], places[4 + x], places[8 + x], places[12 + x]] =
                lift::<Avx512, WIDE, REVERSIBLE>(kernel, column);
        }
    }
    for integers in &mut places {
        *integers = to_negabinary::<Avx512, WIDE>(kernel, *integers);
    }
    places
}

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
        *numbers = shifted_right::<WIDE>(*numbers, empty);
    }
    let mut values = if limits.is_reversible {
        to_places::<N, WIDE, true>(kernel, coefficients)
    } else {
        to_places::<N, WIDE, false>(kernel, coefficients)
    };
    if IS_FLOAT {
        let factors =
            powers::<WIDE>(kernel, kernel.sub::<WIDE>(lanes(read.exponents), all::<WIDE>(integer_bits(WIDE).into())));
        for integers in &mut values {
            let scaled = multiply::<WIDE>(kernel.to_floats::<WIDE>(*integers), factors);
            *integers = select::<WIDE>(read.are_bits, kernel.reinterpret::<WIDE>(*integers), scaled);
        }
    }
    in_order::<N, WIDE>(by_block::<N, WIDE>(&values))
}

/// The inverse of [`to_coefficients`].
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
