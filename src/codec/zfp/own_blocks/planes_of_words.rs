//! The embedded code of bit planes: zfp's `encode_ints` and `decode_ints`, for planes of one word or more.
//!
//! Planes follow each other from the most significant one down. Each begins with the bits of the `n` coefficients that
//! were significant before, then come [`groups`](super::groups). `n` moves past the last one bit of a plane.

use super::bits::{BitReader, BitWriter, MAX_BITS, low_mask};
use super::groups::{AT_ONCE, SHORT, short_groups, skip_empty, take_up_to_one, with_tests};

/// Bit i of word w of plane k is bit k of coefficient 64 w + i.
pub(super) type Planes<const WORDS: usize> = [[u64; WORDS]; 64];

/// If so few coefficients are significant, their bits leave enough of a window for groups that are read.
const FEW: u32 = 32;

/// Coefficients of a block.
const fn size_of_block<const WORDS: usize>() -> u32 {
    64 * WORDS as u32
}

/// Writes the planes from `width` down to `kmin`, at most `budget` bits. Those from `top` on are zeros, and not looked
/// at.
#[inline(always)]
pub(super) fn encode<const WORDS: usize>(
    sink: &mut BitWriter<'_>,
    planes: &Planes<WORDS>,
    width: u32,
    top: u32,
    kmin: u32,
    budget: u32,
) {
    let size = size_of_block::<WORDS>();
    // Not in a closure: that could be compiled without the instructions of the tier.
    let mut copy = sink.copied();
    let end = copy.position() + u64::from(budget);
    let (mut k, mut n) = (top.max(kmin), 0);
    copy.put_zeros((width - k).into());
    while k > kmin && n < size && copy.position() < end {
        k -= 1;
        let plane = &planes[k as usize % 64];
        let before = if n < MAX_BITS {
            (plane[0] & low_mask(n), n)
        } else {
            put_significant(&mut copy, plane, n);
            (0, 0)
        };
        n = put_groups(&mut copy, plane, n, before);
    }
    if copy.position() < end {
        let lacking = (end - copy.position()).div_ceil(size.into()).min((k - kmin).into()) as u32;
        copy.put_planes(&planes[(k - lacking) as usize..k as usize]);
    }
    copy.truncate(end);
    let end = copy.end();
    sink.resume(end);
}

/// The first `n` bits.
#[inline(always)]
fn put_significant<const WORDS: usize>(sink: &mut BitWriter<'_>, plane: &[u64; WORDS], n: u32) {
    let (whole, rest) = (n as usize / 64, n % 64);
    if whole > 0 {
        sink.put_words(plane[..whole].iter());
    }
    if rest > 0 {
        sink.put_long(plane[whole] & low_mask(rest), rest);
    }
}

/// The bits from `n` on, in groups, after some bits and their count, fewer than [`MAX_BITS`]. Returns how many
/// coefficients are significant then.
#[inline(always)]
fn put_groups<const WORDS: usize>(
    sink: &mut BitWriter<'_>,
    plane: &[u64; WORDS],
    n: u32,
    (bits, length): (u64, u32),
) -> u32 {
    let end = significant(plane);
    if end <= n {
        sink.put(bits, length + 1);
        return n;
    }
    // Each one bit takes a step, and the last of a word a mispredicted branch; otherwise `AT_ONCE` bits take a step.
    if end - n > 64 && ones_from(plane, n) < (end - n) / 16 {
        return put_one_by_one(sink, plane, n, (bits, length));
    }
    sink.put(bits | 1 << length, length + 1);
    let mut place = n;
    while end - place > AT_ONCE {
        let (bits, length) = with_tests(bits_from(plane, place));
        sink.put(bits, length);
        place += AT_ONCE;
    }
    let (bits, length) = with_tests(bits_from(plane, place));
    let length = length - (AT_ONCE - (end - place));
    // The one in the last place is not written, nor a test after it. Others have a last test of 0.
    if end < size_of_block::<WORDS>() {
        sink.put(bits & low_mask(length - 1), length);
    } else {
        sink.put(bits & low_mask(length - 2), length - 2);
    }
    end
}

/// As [`put_groups`], in a step for each one bit.
#[inline(always)]
fn put_one_by_one<const WORDS: usize>(
    sink: &mut BitWriter<'_>,
    plane: &[u64; WORDS],
    mut n: u32,
    (mut bits, mut length): (u64, u32),
) -> u32 {
    let size = size_of_block::<WORDS>();
    for (first, word) in (0..).step_by(64).zip(plane) {
        let mut rest = word & !below(first, n);
        while rest != 0 {
            let place = first + rest.trailing_zeros();
            rest &= rest - 1;
            // A test, the zeros, and a one.
            let zeros = place - n;
            if length + zeros + 3 > MAX_BITS {
                sink.put(bits, length);
                (bits, length) = (0, 0);
                if zeros + 3 > MAX_BITS {
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
        sink.put(bits & low_mask(length - 1), length - 1);
    }
    n
}

/// How many one bits there are from place `n` on.
#[inline(always)]
fn ones_from<const WORDS: usize>(plane: &[u64; WORDS], n: u32) -> u32 {
    (0..).step_by(64).zip(plane).map(|(first, word)| (word & !below(first, n)).count_ones()).sum()
}

/// The places below `n` of a word that begins with place `first`.
#[inline(always)]
fn below(first: u32, n: u32) -> u64 {
    if n > first { !u64::MAX.checked_shl(n - first).unwrap_or(0) } else { 0 }
}

/// How many coefficients there are up to the last that is a one; 0 if none is.
#[inline(always)]
fn significant<const WORDS: usize>(plane: &[u64; WORDS]) -> u32 {
    let last = plane.iter().rposition(|word| *word != 0).unwrap_or(0);
    64 * (last as u32 + 1) - plane[last].leading_zeros()
}

/// The bits from a place on, at least [`AT_ONCE`] of them.
#[inline(always)]
fn bits_from<const WORDS: usize>(plane: &[u64; WORDS], place: u32) -> u64 {
    let (word, shift) = (place as usize / 64 % WORDS, place % 64);
    plane[word] >> shift | plane.get(word + 1).map_or(0, |next| next << 1 << (63 - shift))
}

/// Reads the planes from `width` down to `kmin`, at most `budget` bits; the others stay as they are. Returns the lowest
/// one that was read.
#[inline(always)]
pub(super) fn decode<const WORDS: usize>(
    from: &mut BitReader<'_>,
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
            plane[0] = source.window() & low_mask(n);
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
fn take_significant<const WORDS: usize>(source: &mut BitReader<'_>, plane: &mut [u64; WORDS], n: u32, end: u64) {
    let mut count = (end - source.position()).min(n.into()) as u32;
    for word in plane {
        *word = source.take_long(count.min(64));
        count -= count.min(64);
    }
}

/// The bits from `n` on, after `skipped` bits. Returns how many coefficients are significant then.
#[inline(always)]
fn take_groups<const WORDS: usize>(
    source: &mut BitReader<'_>,
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
fn take_group<const WORDS: usize>(source: &mut BitReader<'_>, plane: &mut [u64; WORDS], n: &mut u32, end: u64) -> bool {
    if source.take(1) == 0 {
        return false;
    }
    *n = take_up_to_one(source, *n, size_of_block::<WORDS>(), end);
    put_bits(plane, *n, 1);
    *n += 1;
    true
}

#[cfg(test)]
mod tests {
    use super::super::tests::next;
    use super::*;

    /// Planes of a block.
    const COUNT: u32 = 12;

    /// The bits of planes from the last one on, one by one.
    fn by_definition<const WORDS: usize>(planes: &[[u64; WORDS]]) -> Vec<bool> {
        let (mut bits, mut n) = (Vec::new(), 0);
        for plane in planes.iter().rev() {
            let is_one = |place: usize| plane[place / 64] >> (place % 64) & 1 == 1;
            bits.extend((0..n).map(is_one));
            while n < 64 * WORDS {
                bits.push((n..64 * WORDS).any(is_one));
                if bits.last() == Some(&false) {
                    break;
                }
                while n < 64 * WORDS - 1 && !is_one(n) {
                    bits.push(false);
                    n += 1;
                }
                if n < 64 * WORDS - 1 {
                    bits.push(true);
                }
                n += 1;
            }
        }
        bits
    }

    /// Planes in which about one bit of 2^`rarity` is a one, and more of them in later planes if `grows`.
    fn planes<const WORDS: usize>(rarity: u32, grows: bool, state: &mut u64) -> Planes<WORDS> {
        let mut planes = [[0; WORDS]; 64];
        for (k, plane) in planes.iter_mut().enumerate().take(COUNT as usize) {
            let rarity = if grows { rarity.min(k as u32) } else { rarity };
            *plane = std::array::from_fn(|_| (0..rarity).fold(u64::MAX, |bits, _| bits & next(state)));
        }
        planes
    }

    fn check<const WORDS: usize>(planes: &Planes<WORDS>, before: u32) {
        let expected = by_definition(&planes[..COUNT as usize]);
        let mut bytes = vec![0xA5; 1000];
        let mut sink = BitWriter::new(&mut bytes);
        sink.put(0, before);
        encode(&mut sink, planes, COUNT, COUNT, 0, u32::MAX);
        assert_eq!(sink.position(), u64::from(before) + expected.len() as u64);
        sink.flush();
        let at = |place: usize| bytes[place / 8] >> (place % 8) & 1 == 1;
        for (i, bit) in expected.iter().enumerate() {
            assert_eq!(at(before as usize + i), *bit, "bit {i} of {planes:?}");
        }
        let (mut source, mut back) = (BitReader::new(&bytes, before.into()), [[0; WORDS]; 64]);
        assert_eq!(decode(&mut source, &mut back, COUNT, 0, expected.len() as u32), 0);
        assert_eq!(back, *planes);
    }

    #[test]
    fn planes_of_every_density_are_those_of_the_definition() {
        let mut state = 1;
        for (rarity, round) in (0..14).flat_map(|rarity| (0..20).map(move |round| (rarity, round))) {
            check(&planes::<1>(rarity, round % 2 == 0, &mut state), round % 8);
            check(&planes::<4>(rarity, round % 2 == 0, &mut state), round % 8);
        }
    }

    #[test]
    fn a_one_in_any_place_is_found() {
        for place in 0..256 {
            let mut planes = [[0; 4]; 64];
            planes[5][place / 64] = 1 << (place % 64);
            planes[3][3] = 1 << 63;
            check(&planes, 3);
        }
    }
}
