//! [`groups`](super::super::groups) of any length at once.
//!
//! The encoder puts the tests in by a table. The decoder finds them by their place: in a run of ones that begins with a
//! bit of the plane, the second, the fourth and so on are tests; where the number of ones is odd, the zero after them
//! is the test that ends the plane. Where most groups have few bits, their own table answers sooner.

use super::super::bits::BitReader;
use super::super::groups::{WithTests, take_up_to_one};
use std::arch::x86_64::{_pdep_u64, _pext_u64};

/// Four bits as [`WithTests`], without the zeros that stand above them.
pub(in super::super) const FOUR_WITH_TESTS: [u8; 16] = of_four_bits(false);
/// How many bits they have.
pub(in super::super) const FOUR_LENGTHS: [u8; 16] = of_four_bits(true);

const fn of_four_bits(are_lengths: bool) -> [u8; 16] {
    let mut table = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        let with_tests = WithTests::of(bits as u8);
        table[bits] = if are_lengths { with_tests.length as u8 - 4 } else { with_tests.bits as u8 };
        bits += 1;
    }
    table
}

/// The groups of a plane.
pub(super) struct Groups {
    /// How many bits of the stream they take, or more than a window has.
    pub(super) length: u32,
    /// How many bits of the plane they make.
    pub(super) count: u32,
    /// These.
    pub(super) bits: u64,
}

/// The bits of a window after a one, so that the first test too follows a one, and which of them are ones of the plane.
#[inline(always)]
pub(super) fn bits_and_ones(window: u64) -> (u64, u64) {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let bits = window << 1 | 1;
    let run_starts = bits & !(bits << 1);
    // The carry of the sum leaves zeros of runs that begin at an even place.
    (bits, bits & (bits.wrapping_add(run_starts & EVEN) ^ EVEN))
}

/// The groups after the first bits of a plane, of which `lacking` bits are missing.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn groups(window: u64, lacking: u32) -> Groups {
    if window & 1 == 0 {
        return Groups { length: 1, count: 0, bits: 0 };
    }
    let (bits, ones) = bits_and_ones(window);
    let negative_tests = ones << 1 & !bits;
    let places = !(bits & !ones) & !1;
    let before_end = (negative_tests & negative_tests.wrapping_neg()).wrapping_sub(1);
    let count = (places & before_end).count_ones();
    if count < lacking {
        return Groups { length: negative_tests.trailing_zeros(), count, bits: _pext_u64(bits, places & before_end) };
    }
    // All that is left. The one in the last place is not written.
    let last = _pdep_u64(1 << (lacking - 1), places | 1);
    let up_to_last = last ^ last.wrapping_sub(1);
    let test_after = u32::from(bits & last != 0);
    Groups {
        length: last.trailing_zeros() + test_after,
        count: lacking,
        bits: _pext_u64(bits, places & up_to_last) | 1 << (lacking - 1),
    }
}

/// A plane of `size` coefficients that the end cuts, and the source after it.
///
/// The source is not borrowed, so that the caller's can lie in registers.
#[cold]
#[inline(never)]
pub(super) fn take_cut_plane(mut source: BitReader<'_>, mut n: u32, size: u32, end: u64) -> (BitReader<'_>, u64) {
    let count = (end - source.position()).min(n.into()) as u32;
    let mut plane = source.take_long(count);
    while source.position() < end && n < size && source.take(1) == 1 {
        n = take_up_to_one(&mut source, n, size, end);
        plane |= 1 << n;
        n += 1;
    }
    (source, plane)
}
