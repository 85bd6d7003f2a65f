//! Blocks of one and two dimensions across vectors: a vector for each place in a block, with a lane for each block.
//!
//! So an instruction works on eight blocks of 64-bit values, or on sixteen of 32 bits, also where it computes something
//! of a block as a whole.

use super::super::block::{Limits, precision_bits, slack, width};
use super::super::float::{bias, exponent_bits, integer_bits};
use super::super::lanes::{Arithmetic, Lanes};
use super::super::lift::{from_negabinary, lift, to_negabinary, unlift};
use super::Avx512;
use super::each_lane::{
    add, all, equal, larger, leading_zeros, less, multiply, select, shifted_left, shifted_right, smaller, sub,
};
use super::lanes::{exchange_halves, transpose_8x8, transpose_32, transpose_64, transpose_lanes};
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

/// Integers and what is known of them.
struct Integers<const N: usize> {
    values: [__m512i; N],
    headers: __m512i,
    header_lengths: __m512i,
    /// How many planes are coded at most.
    precisions: __m512i,
    /// The blocks of which more than one bit is coded.
    are_coded: u16,
}

/// Blocks in the order of memory.
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
        let before = sub::<WIDE>(precisions, all::<WIDE>(1));
        headers = kernel.or(headers, shifted_left::<WIDE>(before, header_lengths));
        header_lengths = add::<WIDE>(header_lengths, all::<WIDE>(precision_bits(WIDE).into()));
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
    let lowest = _mm512_and_si512(any, sub::<WIDE>(kernel.zero(), any));
    let from_lowest = add::<WIDE>(leading_zeros::<WIDE>(lowest), all::<WIDE>(1));
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

/// The biased exponents of the largest magnitudes: [`exponent`](super::super::float::exponent) of each block.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn biased_exponents<const N: usize, const WIDE: bool>(kernel: Avx512, values: &[__m512i; N]) -> __m512i {
    let mut largest = kernel.zero();
    for vector in values {
        largest = kernel.larger_magnitude::<WIDE>(largest, *vector);
    }
    let exponents = if WIDE { _mm512_srli_epi64::<52>(largest) } else { _mm512_srli_epi32::<23>(largest) };
    let infinity = all::<WIDE>((1 << exponent_bits(WIDE)) - 1);
    let biased = add::<WIDE>(exponents, all::<WIDE>(1));
    let biased = select::<WIDE>(equal::<WIDE>(exponents, infinity), all::<WIDE>(bias(WIDE).into()), biased);
    select::<WIDE>(equal::<WIDE>(largest, kernel.zero()), kernel.zero(), biased)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn lossy_integers<const N: usize, const WIDE: bool>(
    kernel: Avx512,
    limits: &Limits,
    values: [__m512i; N],
) -> Integers<N> {
    let biased = biased_exponents::<N, WIDE>(kernel, &values);
    let exponents = sub::<WIDE>(biased, all::<WIDE>(bias(WIDE).into()));
    let precisions = float_precisions::<N, WIDE>(limits, exponents, limits.maxprec.min(width(WIDE)));
    let are_coded = !equal::<WIDE>(biased, kernel.zero()) & !equal::<WIDE>(precisions, kernel.zero());
    Integers {
        values: to_integers::<N, WIDE>(kernel, values, exponents),
        headers: add::<WIDE>(add::<WIDE>(biased, biased), all::<WIDE>(1)),
        header_lengths: all::<WIDE>((1 + exponent_bits(WIDE)).into()),
        precisions,
        are_coded,
    }
}

/// How many planes of floats of these exponents are coded, up to so many: [`Limits::precision`] of each block.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn float_precisions<const N: usize, const WIDE: bool>(
    limits: &Limits,
    exponents: __m512i,
    most: u32,
) -> __m512i {
    // No exponent is near these limits.
    let least = limits.minexp.clamp(-4096, 4096);
    let planes = sub::<WIDE>(exponents, all::<WIDE>(i64::from(least) - slack::<N>()));
    smaller::<WIDE>(larger::<WIDE>(planes, all::<WIDE>(0)), all::<WIDE>(most.into()))
}

/// Scaled integers of blocks that decode to the same values, and the bits of the others.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn reversible_integers<const N: usize, const WIDE: bool>(
    kernel: Avx512,
    limits: &Limits,
    values: [__m512i; N],
) -> Integers<N> {
    let biased = biased_exponents::<N, WIDE>(kernel, &values);
    let exponents = sub::<WIDE>(biased, all::<WIDE>(bias(WIDE).into()));
    let mut integers = to_integers::<N, WIDE>(kernel, values, exponents);
    let factors = powers::<WIDE>(sub::<WIDE>(exponents, all::<WIDE>(integer_bits(WIDE).into())));
    let mut differences = kernel.zero();
    for (value, integer) in values.iter().zip(&integers) {
        let decoded = multiply::<WIDE>(kernel.to_floats::<WIDE>(*integer), factors);
        differences = kernel.or(differences, kernel.xor(*value, decoded));
    }
    let are_scaled = equal::<WIDE>(differences, kernel.zero())
        & !equal::<WIDE>(biased, kernel.zero())
        & !have_infinite_scale::<WIDE>(exponents);
    for (value, integer) in values.iter().zip(&mut integers) {
        *integer = select::<WIDE>(are_scaled, *integer, kernel.reinterpret::<WIDE>(*value));
    }
    let header = kernel
        .or(if WIDE { _mm512_slli_epi64::<2>(biased) } else { _mm512_slli_epi32::<2>(biased) }, all::<WIDE>(0b01));
    let are_zeros = equal::<WIDE>(biased, kernel.zero()) & equal::<WIDE>(any_bits(kernel, &values), kernel.zero());
    Integers {
        values: integers,
        headers: select::<WIDE>(are_scaled, header, all::<WIDE>(0b11)),
        header_lengths: select::<WIDE>(are_scaled, all::<WIDE>((2 + exponent_bits(WIDE)).into()), all::<WIDE>(2)),
        precisions: all::<WIDE>(limits.maxprec.min(width(WIDE)).into()),
        are_coded: !are_zeros,
    }
}

/// Floats of these exponents to integers: [`to_integers`](super::super::float::to_integers) of each block.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn to_integers<const N: usize, const WIDE: bool>(
    kernel: Avx512,
    mut values: [__m512i; N],
    exponents: __m512i,
) -> [__m512i; N] {
    let mut powers_of_factors = sub::<WIDE>(all::<WIDE>(integer_bits(WIDE).into()), exponents);
    let are_small = have_infinite_scale::<WIDE>(exponents);
    if are_small != 0 {
        // In two steps, each exact.
        let first = select::<WIDE>(are_small, all::<WIDE>(64), kernel.zero());
        powers_of_factors = sub::<WIDE>(powers_of_factors, first);
        let factors = powers::<WIDE>(first);
        for vector in &mut values {
            *vector = multiply::<WIDE>(*vector, factors);
        }
    }
    let factors = powers::<WIDE>(powers_of_factors);
    for vector in &mut values {
        *vector = kernel.truncate::<WIDE>(multiply::<WIDE>(*vector, factors));
    }
    values
}

/// Not [`has_finite_scale`](super::super::float::has_finite_scale).
#[inline]
#[target_feature(enable = "avx512f")]
fn have_infinite_scale<const WIDE: bool>(exponents: __m512i) -> u16 {
    less::<WIDE>(exponents, all::<WIDE>((integer_bits(WIDE) - bias(WIDE)).into()))
}

/// 2^exponent, subnormal or 0 if that is small.
#[inline]
#[target_feature(enable = "avx512f")]
fn powers<const WIDE: bool>(exponents: __m512i) -> __m512i {
    let mantissa_bits = i64::from(width(WIDE) - 1 - exponent_bits(WIDE));
    let biased = add::<WIDE>(exponents, all::<WIDE>(bias(WIDE).into()));
    let normal = shifted_left::<WIDE>(biased, all::<WIDE>(mantissa_bits));
    let bit = add::<WIDE>(biased, all::<WIDE>(mantissa_bits - 1));
    let subnormal = shifted_left::<WIDE>(all::<WIDE>(1), bit);
    select::<WIDE>(less::<WIDE>(biased, all::<WIDE>(1)), subnormal, normal)
}

/// Blocks in the order of memory to a vector for each place, with a lane for each block.
#[inline]
#[target_feature(enable = "avx512f")]
fn by_place<const N: usize, const WIDE: bool>(blocks: &[__m512i; N]) -> [__m512i; N] {
    let mut places = *blocks;
    if N == 16 && WIDE {
        for half in 0..2 {
            let mut vectors = [_mm512_setzero_si512(); 8];
            for (vector, block) in vectors.iter_mut().zip(blocks.as_chunks::<2>().0) {
                *vector = block[half];
            }
            places[8 * half..][..8].copy_from_slice(&transpose_8x8(vectors));
        }
    } else if N == 16 {
        transpose_16x16(&mut places);
    } else if let Some(four) = places.first_chunk_mut() {
        *four = if WIDE { transpose_64(by_halves(*four)) } else { transpose_32(transpose_lanes(*four)) };
    }
    places
}

/// The inverse of [`by_place`], except that in one dimension block b is not in its vector but in part b / 4 of vector
/// b % 4.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn by_block<const N: usize, const WIDE: bool>(places: &[__m512i; N]) -> [__m512i; N] {
    let mut blocks = *places;
    if N == 16 && WIDE {
        for half in 0..2 {
            let mut vectors = [_mm512_setzero_si512(); 8];
            vectors.copy_from_slice(&places[8 * half..][..8]);
            for (vector, block) in transpose_8x8(vectors).iter().zip(blocks.as_chunks_mut::<2>().0) {
                block[half] = *vector;
            }
        }
    } else if N == 16 {
        transpose_16x16(&mut blocks);
    } else if let Some(four) = blocks.first_chunk_mut() {
        *four = if WIDE { transpose_64(*four) } else { transpose_32(*four) };
    }
    blocks
}

/// Of four vectors of two halves, vectors of the first half and the fifth, the second and the sixth, and so on.
#[inline]
#[target_feature(enable = "avx512f")]
fn by_halves([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let ([a, b], [c, d]) = (exchange_halves([a, c]), exchange_halves([b, d]));
    [a, b, c, d]
}

/// Sixteen words of 32 bits of sixteen vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_16x16(vectors: &mut [__m512i]) {
    let fours = vectors.as_chunks_mut::<4>().0;
    for four in &mut *fours {
        *four = transpose_32(*four);
    }
    if let [a, b, c, d] = fours {
        for place in 0..4 {
            let lanes = transpose_lanes([a[place], b[place], c[place], d[place]]);
            [a[place], b[place], c[place], d[place]] = lanes;
        }
    }
}

/// What [`restore`] gets to know of blocks.
#[derive(Clone, Copy)]
pub(super) struct Read<const N: usize> {
    /// By blocks, shifted up by as many bits as there are empty planes before them.
    pub(super) coefficients: [__m512i; N],
    pub(super) empty: [i64; 16],
    /// Of floats that were scaled; those of zeros do not matter.
    pub(super) exponents: [i64; 16],
    /// The blocks of the bits of floats.
    pub(super) are_bits: u16,
}

impl<const N: usize> Read<N> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new() -> Self {
        Self { coefficients: [_mm512_setzero_si512(); N], empty: [0; 16], exponents: [0; 16], are_bits: 0 }
    }
}

/// Blocks in the order of memory.
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
        let factors = powers::<WIDE>(sub::<WIDE>(lanes(read.exponents), all::<WIDE>(integer_bits(WIDE).into())));
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

/// Blocks as [`by_block`] has them in the order of memory.
#[inline]
#[target_feature(enable = "avx512f")]
fn in_order<const N: usize, const WIDE: bool>(mut blocks: [__m512i; N]) -> [__m512i; N] {
    if let (false, Some(four)) = (N == 16, blocks.first_chunk_mut()) {
        *four = if WIDE {
            let [a, b, c, d] = *four;
            let ([a, c], [b, d]) = (exchange_halves([a, b]), exchange_halves([c, d]));
            [a, b, c, d]
        } else {
            transpose_lanes(*four)
        };
    }
    blocks
}

/// Numbers of 64 bits as such of 32.
#[inline]
#[target_feature(enable = "avx512f")]
fn narrowed(first: __m512i, second: __m512i) -> __m512i {
    let (first, second) = (_mm512_cvtepi64_epi32(first), _mm512_cvtepi64_epi32(second));
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second)
}

/// The lanes of eight blocks from this one on, of 64 bits.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn eight_lanes<const WIDE: bool>(lanes: __m512i, first: usize) -> __m512i {
    if WIDE {
        lanes
    } else if first == 0 {
        _mm512_cvtepu32_epi64(_mm512_castsi512_si256(lanes))
    } else {
        _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(lanes))
    }
}
