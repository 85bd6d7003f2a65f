//! The embedded code of bit planes: zfp's `encode_ints` and `decode_ints`, for 64 coefficients.
//!
//! Planes follow each other from the most significant one down. Of each there are first the bits of the `n`
//! coefficients that were significant before. Then come groups: a test bit tells whether there is a one in the rest; if
//! so, the bits up to that one follow, and `n` moves past it. A one in the last place is not written: its test has told
//! it.
//!
//! So the groups are the rest of the plane with a test of 1 before and after each one, and the last test 0. The
//! encoder puts the tests in by a table. The decoder finds them by their place: in a run of ones that begins with a bit
//! of the plane, the second, the fourth and so on are tests; where the number of ones is odd, the zero after them is
//! the test that ends the plane.

use super::bits::{MOST, Sink, Source, low_bits};
use std::arch::x86_64::{_pdep_u64, _pext_u64};

/// Coefficients of a block.
pub(super) const SIZE: u32 = 64;

/// Bit i of plane k is bit k of coefficient i.
pub(super) type Planes = [u64; 64];

/// Eight bits of a plane with a test of 1 after each one.
static WITH_TESTS: [u16; 256] = with_tests();

const fn with_tests() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut length) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte] |= 0b11 << length;
                length += 1;
            }
            length += 1;
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// Writes the planes from `width` down to `kmin`, at most `budget` bits. Those from `top` on are zeros, and not looked
/// at.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn encode(sink: &mut Sink<'_>, planes: &Planes, width: u32, top: u32, kmin: u32, budget: u32) {
    sink.in_registers(|sink| {
        let end = sink.position() + u64::from(budget);
        let top = top.max(kmin);
        sink.put_zeros((width - top).into());
        let mut n = 0;
        for k in (kmin..top).rev() {
            let plane = planes[k as usize];
            if n == SIZE {
                sink.put_long(plane, SIZE);
            } else {
                encode_plane(sink, plane, n);
                n = n.max(SIZE - plane.leading_zeros());
            }
            if sink.position() >= end {
                break;
            }
        }
        sink.truncate(end);
    });
}

#[inline(always)]
fn encode_plane(sink: &mut Sink<'_>, plane: u64, n: u32) {
    let mut rest = plane >> n;
    let test = u64::from(rest != 0);
    if n < MOST {
        sink.put(plane & low_bits(n) | test << n, n + 1);
    } else {
        sink.put_long(plane & low_bits(n), n);
        sink.put(test, 1);
    }
    while rest > 0xFF {
        let byte = rest & 0xFF;
        sink.put(WITH_TESTS[byte as usize].into(), 8 + byte.count_ones());
        rest >>= 8;
    }
    if rest > 0 {
        let length = 64 - rest.leading_zeros() + rest.count_ones();
        let bits = u64::from(WITH_TESTS[rest as usize]);
        if plane >> (SIZE - 1) == 0 {
            sink.put(bits & low_bits(length - 1), length);
        } else {
            sink.put(bits & low_bits(length - 2), length - 2);
        }
    }
}

/// If so few coefficients are significant, their bits leave enough of a window for the groups.
const FEW: u32 = 20;

/// Where a decoder is.
#[derive(Clone, Copy)]
struct Progress {
    /// The lowest plane that was read.
    k: u32,
    /// How many coefficients are significant.
    n: u32,
    kmin: u32,
    /// The position in the stream where the budget ends.
    end: u64,
}

/// Reads the planes from `width` down to `kmin`, at most `budget` bits; the others stay as they are. Returns the lowest
/// one that was read.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode(from: &mut Source<'_>, planes: &mut Planes, width: u32, kmin: u32, budget: u32) -> u32 {
    let mut source = *from;
    let end = source.position() + u64::from(budget);
    let mut k = width;
    // Before the first one, each zero is the negative test of a plane.
    while k > kmin {
        let most = u64::from(k - kmin).min(end - source.position()).min(MOST.into());
        let empty = source.window().trailing_zeros().min(most as u32);
        if empty == 0 {
            break;
        }
        source.take(empty);
        k -= empty;
    }
    *from = source;
    decode_planes(from, planes, Progress { k, n: 0, kmin, end })
}

#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn decode_planes(from: &mut Source<'_>, planes: &mut Planes, progress: Progress) -> u32 {
    let Progress { mut k, mut n, kmin, end } = progress;
    // A copy that can lie in registers.
    let mut source = *from;
    while k > kmin && n <= FEW && source.position() < end {
        let groups = groups(source.window() >> n, SIZE - n);
        let length = n + groups.length;
        if length > source.valid() || source.position() + u64::from(length) > end {
            *from = source;
            return decode_in_parts(from, planes, Progress { k, n, kmin, end });
        }
        k -= 1;
        planes[k as usize % 64] = source.window() & low_bits(n) | groups.bits << n;
        source.take(length);
        n += groups.count;
    }
    while k > kmin && n < SIZE && source.position() < end {
        let before = source;
        let first = source.take_long(n);
        let groups = groups(source.window(), SIZE - n);
        if groups.length > source.valid() || source.position() + u64::from(groups.length) > end {
            *from = before;
            return decode_in_parts(from, planes, Progress { k, n, kmin, end });
        }
        k -= 1;
        planes[k as usize % 64] = first | groups.bits << n;
        source.take(groups.length);
        n += groups.count;
    }
    while k > kmin && source.position() + u64::from(SIZE) <= end {
        k -= 1;
        planes[k as usize % 64] = source.take_long(SIZE);
    }
    *from = source;
    if k > kmin && source.position() < end {
        return decode_in_parts(from, planes, Progress { k, n, kmin, end });
    }
    k
}

/// The groups of a plane.
struct Groups {
    /// How many bits of the stream they take, or more than a window has.
    length: u32,
    /// How many bits of the plane they make.
    count: u32,
    /// These.
    bits: u64,
}

/// The bits of a window after a one, so that the first test too follows a one, and which of them are ones of the plane.
#[inline(always)]
fn bits_and_ones(window: u64) -> (u64, u64) {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let bits = window << 1 | 1;
    let run_starts = bits & !(bits << 1);
    // The carry of the sum leaves zeros of runs that begin at an even place.
    (bits, bits & (bits.wrapping_add(run_starts & EVEN) ^ EVEN))
}

/// The groups after the first bits of a plane, of which `lacking` bits are missing.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn groups(window: u64, lacking: u32) -> Groups {
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

/// One plane that is longer than a window, or cut short by the end; then the others.
#[inline(never)]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn decode_in_parts(source: &mut Source<'_>, planes: &mut Planes, progress: Progress) -> u32 {
    let Progress { mut k, mut n, end, .. } = progress;
    let count = (end - source.position()).min(n.into());
    let mut plane = source.take_long(count as u32);
    while n < SIZE && source.position() < end {
        let (groups, is_last) = groups_in_window(source.window(), source.valid(), SIZE - n);
        if groups.length == 0 || source.position() + u64::from(groups.length) > end {
            if !take_group(source, &mut plane, &mut n, end) {
                break;
            }
            continue;
        }
        plane |= groups.bits << n;
        source.take(groups.length);
        n += groups.count;
        if is_last {
            break;
        }
    }
    k -= 1;
    planes[k as usize] = plane;
    decode_planes(source, planes, Progress { k, n, ..progress })
}

/// Those groups that a window has whole, and whether they are the last of the plane.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn groups_in_window(window: u64, valid: u32, lacking: u32) -> (Groups, bool) {
    let all = groups(window, lacking);
    if all.length <= valid {
        return (all, true);
    }
    // Up to the last test.
    let (bits, ones) = bits_and_ones(window);
    let tests = bits & !ones & u64::MAX >> (63 - valid);
    let length = tests.leading_zeros() ^ 63;
    let places = !tests & low_bits(length) & !1;
    (Groups { length: length - 1, count: places.count_ones(), bits: _pext_u64(bits, places) }, false)
}

/// Takes a test and its group bit by bit, as far as the end; returns whether there was a group.
fn take_group(source: &mut Source<'_>, plane: &mut u64, n: &mut u32, end: u64) -> bool {
    if source.take(1) == 0 {
        return false;
    }
    while source.position() < end && *n < SIZE - 1 && source.take(1) == 0 {
        *n += 1;
    }
    // Also where the end has cut off the one.
    *plane |= 1 << *n;
    *n += 1;
    true
}
