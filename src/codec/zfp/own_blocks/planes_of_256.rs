//! The embedded code of [`planes`](super::planes) for 256 coefficients.

use super::bits::{MOST, Sink, Source, low_bits};
use super::groups::{SHORT, WITH_TESTS, short_groups, skip_empty};

const SIZE: u32 = 256;

/// Bit i of word w of plane k is bit k of coefficient 64 w + i.
pub(super) type Planes = [[u64; 4]; 64];

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
            let plane = &planes[k as usize];
            if n == SIZE {
                sink.put_words(plane);
            } else {
                put_significant(sink, plane, n);
                n = put_groups(sink, plane, n);
            }
            if sink.position() >= end {
                break;
            }
        }
        sink.truncate(end);
    });
}

/// The first `n` bits.
#[inline(always)]
fn put_significant(sink: &mut Sink<'_>, plane: &[u64; 4], n: u32) {
    let (whole, rest) = (n as usize / 64, n % 64);
    for word in &plane[..whole] {
        sink.put_long(*word, 64);
    }
    if rest > 0 {
        sink.put_long(plane[whole] & low_bits(rest), rest);
    }
}

/// The bits from `n` on, in groups. Returns how many coefficients are significant then.
#[inline(always)]
fn put_groups(sink: &mut Sink<'_>, plane: &[u64; 4], n: u32) -> u32 {
    let first = n as usize / 64;
    let mut rest = *plane;
    rest[first] &= u64::MAX << (n % 64);
    let Some(last) = (first..4).rev().find(|word| rest[*word] != 0) else {
        sink.put(0, 1);
        return n;
    };
    sink.put(1, 1);
    let mut from = n % 64;
    for word in &rest[first..last] {
        put_with_tests(sink, *word >> from, 64 - from);
        from = 0;
    }
    let bits = rest[last];
    let length = 64 - bits.leading_zeros();
    // All but the last one, which has no test of 1 after it.
    put_with_tests(sink, (bits & !(1 << (length - 1))) >> from, length - 1 - from);
    if last == 3 && length == 64 {
        return SIZE;
    }
    sink.put(0b01, 2);
    64 * last as u32 + length
}

/// Bits of a plane with a test of 1 after each one.
#[inline(always)]
fn put_with_tests(sink: &mut Sink<'_>, mut bits: u64, mut length: u32) {
    while length > 0 {
        let (byte, count) = (bits & 0xFF, length.min(8));
        sink.put(WITH_TESTS[byte as usize].into(), count + byte.count_ones());
        bits >>= 8;
        length -= count;
    }
}

/// Reads the planes from `width` down to `kmin`, at most `budget` bits; the others stay as they are. Returns the lowest
/// one that was read.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode(from: &mut Source<'_>, planes: &mut Planes, width: u32, kmin: u32, budget: u32) -> u32 {
    // A copy that can lie in registers.
    let mut source = *from;
    let end = source.position() + u64::from(budget);
    let mut k = skip_empty(&mut source, width, kmin, end);
    let mut n = 0;
    while k > kmin && source.position() < end {
        k -= 1;
        let plane = &mut planes[k as usize % 64];
        if n == SIZE && source.position() + u64::from(SIZE) <= end {
            *plane = source.take_words();
            continue;
        }
        take_significant(&mut source, plane, n, end);
        if n < SIZE {
            n = take_groups(&mut source, plane, n, end);
        }
    }
    *from = source;
    k
}

/// The first `n` bits.
#[inline(always)]
fn take_significant(source: &mut Source<'_>, plane: &mut [u64; 4], n: u32, end: u64) {
    let mut count = (end - source.position()).min(n.into()) as u32;
    for word in plane {
        *word = source.take_long(count.min(64));
        count -= count.min(64);
    }
}

/// The bits from `n` on. Returns how many coefficients are significant then.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn take_groups(source: &mut Source<'_>, plane: &mut [u64; 4], mut n: u32, end: u64) -> u32 {
    while n < SIZE && source.position() < end {
        let groups = short_groups(source.window());
        let is_whole = groups.length() > 0 && source.position() + u64::from(SHORT) <= end;
        if is_whole && n + groups.count() < SIZE {
            put_bits(plane, n, groups.bits());
            source.take(groups.length());
            n += groups.count();
            if groups.are_last() {
                break;
            }
        } else if !take_group(source, plane, &mut n, end) {
            break;
        }
    }
    n
}

/// Sets bits from the one of coefficient `n` on.
#[inline(always)]
fn put_bits(plane: &mut [u64; 4], n: u32, bits: u64) {
    let (word, shift) = (n as usize / 64 % 4, n % 64);
    plane[word] |= bits << shift;
    if let Some(next) = plane.get_mut(word + 1) {
        *next |= bits >> 1 >> (63 - shift);
    }
}

/// Takes a test and its group, as far as the end; returns whether there was a group.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn take_group(source: &mut Source<'_>, plane: &mut [u64; 4], n: &mut u32, end: u64) -> bool {
    if source.take(1) == 0 {
        return false;
    }
    // Zeros up to a one, which is not written in the last place, or cut off by the end.
    while *n < SIZE - 1 && source.position() < end {
        let most = (end - source.position()).min(MOST.min(SIZE - 1 - *n).into()) as u32;
        let zeros = source.window().trailing_zeros().min(most);
        *n += zeros;
        source.take(zeros);
        if zeros < most {
            source.take(1);
            break;
        }
    }
    put_bits(plane, *n, 1);
    *n += 1;
    true
}
