//! Blocks of one and two dimensions across vectors: a vector for each place in a block, with a lane for each block.
//!
//! So an instruction works on as many blocks as a vector has lanes, also where it computes something of a block as a
//! whole. [`floats`] makes integers of floats; [`each_lane`] has the instructions.

mod each_lane;
mod floats;

use super::block::{Limits, precision_bits, width};
use super::lift::{lift, to_negabinary};
pub(super) use each_lane::EachLane;
use floats::{Integers, lossy_integers, reversible_integers};
pub(super) use floats::{float_precisions, powers};

/// Moves blocks of `N` values to the lanes.
pub(super) trait Across<const N: usize>: EachLane {
    /// Blocks in the order of memory to a vector for each place, with a lane for each block.
    fn by_place<const WIDE: bool>(self, blocks: &[Self::Vector; N]) -> [Self::Vector; N];
}

/// Blocks whose planes are to be coded. A block of which only one bit is coded, 0, has no planes.
pub(super) struct Transformed<V, const N: usize> {
    /// What comes before the planes, and how many bits of it.
    pub(super) headers: V,
    pub(super) header_lengths: V,
    pub(super) coefficients: [V; N],
    /// How many planes are coded, from the most significant one down.
    pub(super) plane_counts: V,
}

/// Transforms blocks that lie in the order of memory.
#[inline(always)]
pub(super) fn transform<K: Across<N>, const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: K,
    limits: &Limits,
    blocks: &[K::Vector; N],
) -> Transformed<K::Vector, N> {
    let values = kernel.by_place::<WIDE>(blocks);
    let none = kernel.zero();
    let integers = match (IS_FLOAT, limits.is_reversible) {
        (true, true) => reversible_integers::<K, N, WIDE>(kernel, limits, values),
        (true, false) => lossy_integers::<K, N, WIDE>(kernel, limits, values),
        (false, _) => Integers {
            values,
            headers: none,
            header_lengths: none,
            precisions: kernel.all::<WIDE>(limits.maxprec.min(width(WIDE)).into()),
            are_coded: kernel.equal::<WIDE>(none, none),
        },
    };
    let Integers { values, mut headers, mut header_lengths, mut precisions, are_coded } = integers;
    let coefficients = if limits.is_reversible {
        let coefficients = to_coefficients::<K, N, WIDE, true>(kernel, values);
        precisions = own_precisions::<K, N, WIDE>(kernel, &coefficients, precisions);
        let in_header = kernel.sub::<WIDE>(precisions, kernel.all::<WIDE>(1));
        headers = kernel.or(headers, kernel.shifted_left::<WIDE>(in_header, header_lengths));
        header_lengths = kernel.add::<WIDE>(header_lengths, kernel.all::<WIDE>(precision_bits(WIDE).into()));
        coefficients
    } else {
        to_coefficients::<K, N, WIDE, false>(kernel, values)
    };
    Transformed {
        headers: kernel.select::<WIDE>(are_coded, headers, none),
        header_lengths: kernel.select::<WIDE>(are_coded, header_lengths, kernel.all::<WIDE>(1)),
        coefficients,
        plane_counts: kernel.select::<WIDE>(are_coded, precisions, none),
    }
}

/// The precision of each reversible block, up to the one that is given: without the planes after the last one bit.
#[inline(always)]
fn own_precisions<K: EachLane, const N: usize, const WIDE: bool>(
    kernel: K,
    coefficients: &[K::Vector; N],
    precisions: K::Vector,
) -> K::Vector {
    let (any, one) = (any_bits(kernel, coefficients), kernel.all::<WIDE>(1));
    let lowest = kernel.and(any, kernel.sub::<WIDE>(kernel.zero(), any));
    let from_lowest = kernel.add::<WIDE>(kernel.leading_zeros::<WIDE>(lowest), one);
    let own = kernel.select::<WIDE>(kernel.equal::<WIDE>(any, kernel.zero()), one, from_lowest);
    kernel.larger::<WIDE>(kernel.smaller::<WIDE>(own, precisions), one)
}

/// In each lane, the bits that any of the vectors has.
#[inline(always)]
pub(super) fn any_bits<K: EachLane, const N: usize>(kernel: K, vectors: &[K::Vector; N]) -> K::Vector {
    let mut any = kernel.zero();
    for vector in vectors {
        any = kernel.or(any, *vector);
    }
    any
}

#[inline(always)]
fn to_coefficients<K: EachLane, const N: usize, const WIDE: bool, const REVERSIBLE: bool>(
    kernel: K,
    mut places: [K::Vector; N],
) -> [K::Vector; N] {
    for line in places.as_chunks_mut::<4>().0 {
        *line = lift::<K, WIDE, REVERSIBLE>(kernel, *line);
    }
    if N == 16 {
        for x in 0..4 {
            let column = [places[x], places[4 + x], places[8 + x], places[12 + x]];
            [places[x], places[4 + x], places[8 + x], places[12 + x]] = lift::<K, WIDE, REVERSIBLE>(kernel, column);
        }
    }
    for integers in &mut places {
        *integers = to_negabinary::<K, WIDE>(kernel, *integers);
    }
    places
}
