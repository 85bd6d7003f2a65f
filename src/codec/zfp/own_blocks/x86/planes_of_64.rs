//! The embedded code of [`planes_of_words`](super::super::planes_of_words) for 64 coefficients: how planes are read.

use super::super::bits::{BitReader, low_mask};
use super::super::groups::{skip_empty, take_up_to_one};
use super::groups::{Groups, bits_and_ones, groups};
use std::arch::x86_64::_pext_u64;

/// Coefficients of a block.
const SIZE: u32 = 64;

/// Bit i of plane k is bit k of coefficient i.
pub(super) type Planes = [u64; 64];

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
pub(in super::super) fn decode(
    from: &mut BitReader<'_>,
    planes: &mut Planes,
    width: u32,
    kmin: u32,
    budget: u32,
) -> u32 {
    let mut source = *from;
    let end = source.position() + u64::from(budget);
    let k = skip_empty(&mut source, width, kmin, end);
    *from = source;
    decode_planes(from, planes, Progress { k, n: 0, kmin, end })
}

#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn decode_planes(from: &mut BitReader<'_>, planes: &mut Planes, progress: Progress) -> u32 {
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
        planes[k as usize % 64] = source.window() & low_mask(n) | groups.bits << n;
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
    if n == SIZE && source.position() < end {
        let whole = ((end - source.position()) / u64::from(SIZE)).min((k - kmin).into()) as u32;
        source.take_planes::<1>(bytemuck::cast_slice_mut(&mut planes[(k - whole) as usize..k as usize]));
        k -= whole;
    }
    *from = source;
    if k > kmin && source.position() < end {
        return decode_in_parts(from, planes, Progress { k, n, kmin, end });
    }
    k
}

/// One plane that is longer than a window, or cut short by the end; then the others.
#[inline(never)]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn decode_in_parts(source: &mut BitReader<'_>, planes: &mut Planes, progress: Progress) -> u32 {
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
    let places = !tests & low_mask(length) & !1;
    (Groups { length: length - 1, count: places.count_ones(), bits: _pext_u64(bits, places) }, false)
}

/// Takes a test and its group, as far as the end; returns whether there was a group. It may be longer than a window.
fn take_group(source: &mut BitReader<'_>, plane: &mut u64, n: &mut u32, end: u64) -> bool {
    if source.take(1) == 0 {
        return false;
    }
    *n = take_up_to_one(source, *n, SIZE, end);
    *plane |= 1 << *n;
    *n += 1;
    true
}
