//! The embedded code of bit planes: zfp's `encode_ints` and `decode_ints`, for planes of one word or more.
//!
//! Planes follow each other from the most significant one down. Each begins with the bits of the `n` coefficients that
//! were significant before, then come [`groups`](super::groups). `n` moves past the last one bit of a plane.

use super::bits::{MOST, Sink, Source, low_bits};
use super::groups::{SHORT, encode_within, short_groups, skip_empty, take_up_to_one};

/// Bit i of word w of plane k is bit k of coefficient 64 w + i.
pub(super) type Planes<const WORDS: usize> = [[u64; WORDS]; 64];

/// If so few coefficients are significant, their bits leave enough of a window for groups.
const FEW: u32 = 32;

/// Coefficients of a block.
const fn size_of_block<const WORDS: usize>() -> u32 {
    64 * WORDS as u32
}

/// Writes the planes from `width` down to `kmin`, at most `budget` bits. Those from `top` on are zeros, and not looked
/// at.
#[inline(always)]
pub(super) fn encode<const WORDS: usize>(
    sink: &mut Sink<'_>,
    planes: &Planes<WORDS>,
    width: u32,
    top: u32,
    kmin: u32,
    budget: u32,
) {
    let size = size_of_block::<WORDS>();
    encode_within(sink, (width, top, kmin), budget, |sink, top, end| {
        let (mut k, mut n) = (top, 0);
        while k > kmin && n < size && sink.position() < end {
            k -= 1;
            let plane = &planes[k as usize % 64];
            if n <= FEW {
                n = put_groups(sink, plane, n, (plane[0] & low_bits(n), n));
            } else {
                put_significant(sink, plane, n);
                n = put_groups(sink, plane, n, (0, 0));
            }
        }
        if sink.position() < end {
            let lacking = (end - sink.position()).div_ceil(size.into()).min((k - kmin).into()) as u32;
            sink.put_planes(&planes[(k - lacking) as usize..k as usize]);
        }
    });
}

/// The first `n` bits.
#[inline(always)]
fn put_significant<const WORDS: usize>(sink: &mut Sink<'_>, plane: &[u64; WORDS], n: u32) {
    let (whole, rest) = (n as usize / 64, n % 64);
    if whole > 0 {
        sink.put_words(plane[..whole].iter());
    }
    if rest > 0 {
        sink.put_long(plane[whole] & low_bits(rest), rest);
    }
}

/// The bits from `n` on, in groups, after some bits and their count. Returns how many coefficients are significant
/// then.
#[inline(always)]
fn put_groups<const WORDS: usize>(
    sink: &mut Sink<'_>,
    plane: &[u64; WORDS],
    mut n: u32,
    (mut bits, mut length): (u64, u32),
) -> u32 {
    let size = size_of_block::<WORDS>();
    for (first, word) in (0..).step_by(64).zip(plane) {
        let mut rest = if n > first { word & u64::MAX.checked_shl(n - first).unwrap_or(0) } else { *word };
        while rest != 0 {
            let place = first + rest.trailing_zeros();
            rest &= rest - 1;
            // A test, the zeros, and a one.
            let zeros = place - n;
            if length + zeros + 3 > MOST {
                sink.put(bits, length);
                (bits, length) = (0, 0);
                if zeros + 3 > MOST {
                    sink.put(1, 1);
                    sink.put_zeros(zeros.into());
                    (bits, length) = (1, 1);
                    n = place + 1;
                    continue;
                }
            }
            bits |= 1 << length | 1 << (length + zeros + 1);
            length += zeros + 2;
            n = place + 1;
        }
    }
    // The one in the last place is not written, nor a test after it.
    if n < size {
        sink.put(bits, length + 1);
    } else {
        sink.put(bits & low_bits(length - 1), length - 1);
    }
    n
}

/// Reads the planes from `width` down to `kmin`, at most `budget` bits; the others stay as they are. Returns the lowest
/// one that was read.
#[inline(always)]
pub(super) fn decode<const WORDS: usize>(
    from: &mut Source<'_>,
    planes: &mut Planes<WORDS>,
    width: u32,
    kmin: u32,
    budget: u32,
) -> u32 {
    let size = size_of_block::<WORDS>();
    // A copy that can lie in registers.
    let mut source = *from;
    let end = source.position() + u64::from(budget);
    let mut k = skip_empty(&mut source, width, kmin, end);
    let mut n = 0;
    while k > kmin && source.position() < end {
        let whole = ((end - source.position()) / u64::from(size)).min((k - kmin).into()) as u32;
        if n == size && whole > 0 {
            source.take_planes(&mut planes[(k - whole) as usize..k as usize]);
            k -= whole;
            continue;
        }
        k -= 1;
        let plane = &mut planes[k as usize % 64];
        if n <= FEW && source.position() + u64::from(n) <= end {
            plane[0] = source.window() & low_bits(n);
            n = take_groups(&mut source, plane, n, end, n);
            continue;
        }
        take_significant(&mut source, plane, n, end);
        if n < size {
            n = take_groups(&mut source, plane, n, end, 0);
        }
    }
    *from = source;
    k
}

/// The first `n` bits.
#[inline(always)]
fn take_significant<const WORDS: usize>(source: &mut Source<'_>, plane: &mut [u64; WORDS], n: u32, end: u64) {
    let mut count = (end - source.position()).min(n.into()) as u32;
    for word in plane {
        *word = source.take_long(count.min(64));
        count -= count.min(64);
    }
}

/// The bits from `n` on, after `skipped` bits. Returns how many coefficients are significant then.
#[inline(always)]
fn take_groups<const WORDS: usize>(
    source: &mut Source<'_>,
    plane: &mut [u64; WORDS],
    mut n: u32,
    end: u64,
    skipped: u32,
) -> u32 {
    let size = size_of_block::<WORDS>();
    let mut taken = skipped;
    while n < size && source.position() < end {
        let mut window = source.window() >> taken;
        let valid = (end - source.position()).min(source.valid().into()) as u32;
        while taken + SHORT <= valid {
            let groups = short_groups(window);
            if groups.length() == 0 || n + groups.count() >= size {
                break;
            }
            put_bits(plane, n, groups.bits());
            window >>= groups.length();
            taken += groups.length();
            n += groups.count();
            if groups.are_last() {
                source.take(taken);
                return n;
            }
        }
        if taken > 0 {
            source.take(taken);
            taken = 0;
        } else if !take_group(source, plane, &mut n, end) {
            break;
        }
    }
    n
}

/// Sets bits from the one of coefficient `n` on.
#[inline(always)]
fn put_bits<const WORDS: usize>(plane: &mut [u64; WORDS], n: u32, bits: u64) {
    let (word, shift) = (n as usize / 64 % WORDS, n % 64);
    plane[word] |= bits << shift;
    if let Some(next) = plane.get_mut(word + 1) {
        *next |= bits >> 1 >> (63 - shift);
    }
}

/// Takes a test and its group, as far as the end; returns whether there was a group.
#[inline(always)]
fn take_group<const WORDS: usize>(source: &mut Source<'_>, plane: &mut [u64; WORDS], n: &mut u32, end: u64) -> bool {
    if source.take(1) == 0 {
        return false;
    }
    *n = take_up_to_one(source, *n, size_of_block::<WORDS>(), end);
    put_bits(plane, *n, 1);
    *n += 1;
    true
}
