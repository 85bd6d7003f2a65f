//! LZ4 blocks, as their format description has them, for `blosc` and `numcodecs.lz4`. The crate lz4_flex decodes
//! shuffled floats at 0.4 of the speed of the C library, has no acceleration, and compresses less at its best.
//!
//! A block is a sequence of literals and matches. A byte has the count of literals in its upper four bits and the
//! length of the match, less 4, in its lower; if either is 15, bytes follow that are to be added, up to the first that
//! is not 255. After the literals the distance of the match follows, a u16. The last 5 bytes are literals, and no match
//! begins in the last 12.

use super::matches::{
    MatchTable, Place, Places, Short, common_size, copy_literals, copy_match, copy_steps, four, hash,
};

const MIN_MATCH: usize = 4;
const MAX_DISTANCE: usize = u16::MAX as usize;
const LAST_LITERALS: usize = 5;
/// No match begins so near to the end.
const MATCH_LIMIT: usize = 12;
/// The least number of bytes that follow literals, unless they are the last: a distance, a token, literals.
const MIN_SIZE_AFTER_LITERALS: usize = 2 + 1 + LAST_LITERALS;
/// Of a stream whose places are 16 bits, and of a longer one.
const HASH_BITS: u32 = 13;
const LARGE_HASH_BITS: u32 = 12;
/// After this many misses, the step grows by one.
const MISSES_PER_STEP: usize = 64;

/// Compresses to the beginning of `encoded`; `None` if it does not fit. With more acceleration, from 1 on, more places
/// are left out.
pub(in crate::codec) fn compress(
    table: &mut MatchTable,
    acceleration: usize,
    decoded: &[u8],
    encoded: &mut [u8],
) -> Option<usize> {
    if decoded.len() <= u16::MAX_SIZE {
        compress_with(table.begin::<u16>(decoded.len(), HASH_BITS)?, acceleration, decoded, encoded)
    } else {
        compress_with(table.begin::<u32>(decoded.len(), LARGE_HASH_BITS)?, acceleration, decoded, encoded)
    }
}

fn compress_with<P: Place>(
    mut places: Places<'_, P>,
    acceleration: usize,
    decoded: &[u8],
    encoded: &mut [u8],
) -> Option<usize> {
    let limit = decoded.len().saturating_sub(MATCH_LIMIT);
    let (mut literals_start, mut size) = (0, 0);
    let mut next = find(&mut places, decoded, 1, limit, acceleration);
    while let Some((mut place, mut candidate)) = next {
        let start = &decoded[literals_start..place];
        let before = &decoded[..candidate];
        let same = start.iter().rev().zip(before.iter().rev()).take_while(|(first, second)| first == second).count();
        (place, candidate) = (place - same, candidate - same);
        let after = place + same + MIN_MATCH;
        let most = &decoded[after..decoded.len() - LAST_LITERALS];
        let length = same + MIN_MATCH + common_size(&decoded[candidate + same + MIN_MATCH..], most);
        let literals = &decoded[literals_start..];
        size = write(literals, place - literals_start, Some((place - candidate, length)), encoded, size)?;
        place += length;
        literals_start = place;
        if place >= limit {
            break;
        }
        places.exchange(hash_at::<P>(decoded, place - 2)?.0, place - 2);
        next = find(&mut places, decoded, place, limit, acceleration);
    }
    let literals = &decoded[literals_start..];
    write(literals, literals.len(), None, encoded, size)
}

/// The next place with the same four bytes as an earlier one, and that one. The longer the search takes, the more
/// places it skips; never the first three.
#[inline(always)]
fn find<P: Place>(
    places: &mut Places<'_, P>,
    decoded: &[u8],
    mut place: usize,
    limit: usize,
    acceleration: usize,
) -> Option<(usize, usize)> {
    if place >= limit {
        return None;
    }
    let mut probe = |place| {
        let (hash, sequence) = hash_at::<P>(decoded, place)?;
        let candidate = places.exchange(hash, place);
        let is_near = P::MAX_SIZE <= MAX_DISTANCE + 1 || place - candidate <= MAX_DISTANCE;
        Some((candidate, four(decoded, candidate)? == sequence && is_near))
    };
    // The first place by itself: a loop that tells it from the others takes up to a tenth longer.
    let (candidate, is_match) = probe(place)?;
    if is_match {
        return Some((place, candidate));
    }
    place += 1;
    let (mut misses, mut step) = (acceleration * MISSES_PER_STEP, 1);
    while place < limit {
        let (candidate, is_match) = probe(place)?;
        if is_match {
            return Some((place, candidate));
        }
        place += step;
        step = misses / MISSES_PER_STEP;
        misses += 1;
    }
    None
}

/// The hash of the bytes at a place before [`MATCH_LIMIT`], and the first four of them. Of a long stream, it is that of
/// five bytes: matches of four are many then, and gain little for their time.
#[inline(always)]
fn hash_at<P: Place>(decoded: &[u8], place: usize) -> Option<(usize, u32)> {
    if P::MAX_SIZE == u16::MAX_SIZE {
        let sequence = four(decoded, place)?;
        return Some((hash(sequence, HASH_BITS), sequence));
    }
    let eight = u64::from_le_bytes(*decoded.get(place..place + 8)?.first_chunk()?);
    // The five lowest bytes, times a prime.
    Some((((eight << 24).wrapping_mul(889_523_592_379) >> (64 - LARGE_HASH_BITS)) as usize, eight as u32))
}

/// Writes the first `count` bytes as literals, and a match of this distance and length, at `size`; returns the size
/// after. `None` if they do not fit.
#[inline]
fn write(
    literals: &[u8],
    count: usize,
    matched: Option<(usize, usize)>,
    encoded: &mut [u8],
    mut size: usize,
) -> Option<usize> {
    let more_length = matched.map_or(0, |(_, length)| length - MIN_MATCH);
    *encoded.get_mut(size)? = (count.min(15) << 4 | more_length.min(15)) as u8;
    size = write_more(count, encoded, size + 1)?;
    copy_literals(literals, count, encoded.get_mut(size..)?)?;
    size += count;
    if let Some((distance, _)) = matched {
        encoded.get_mut(size..size + 2)?.copy_from_slice(&(distance as u16).to_le_bytes());
        size = write_more(more_length, encoded, size + 2)?;
    }
    Some(size)
}

/// The part of a number that does not fit the four bits of a token.
#[inline]
fn write_more(number: usize, encoded: &mut [u8], mut size: usize) -> Option<usize> {
    let Some(mut more) = number.checked_sub(15) else { return Some(size) };
    while more >= 255 {
        *encoded.get_mut(size)? = 255;
        size += 1;
        more -= 255;
    }
    *encoded.get_mut(size)? = more as u8;
    Some(size + 1)
}

/// Decompresses a block that fills `decoded`; `None` if it is invalid.
pub(in crate::codec) fn decompress(encoded: &[u8], decoded: &mut [u8]) -> Option<()> {
    let (mut read, mut written) = (0, 0);
    loop {
        while let Some(short) = copy_short(encoded.get(read..)?, decoded, written) {
            read += short.read;
            written += short.written;
        }
        let token = usize::from(*encoded.get(read)?);
        read += 1;
        let count = read_more(token >> 4, encoded, &mut read)?;
        copy_literals(encoded.get(read..)?, count, decoded.get_mut(written..)?)?;
        read += count;
        written += count;
        // These are not negative: as many bytes were copied.
        let (rest, room) = (encoded.len().checked_sub(read)?, decoded.len().checked_sub(written)?);
        if rest < MIN_SIZE_AFTER_LITERALS || room < MATCH_LIMIT {
            return (rest == 0 && room == 0).then_some(());
        }
        let distance = usize::from(u16::from_le_bytes(*encoded.get(read..)?.first_chunk()?));
        read += 2;
        let length = read_more(token & 15, encoded, &mut read)?.saturating_add(MIN_MATCH);
        if distance == 0 || length > room - LAST_LITERALS {
            return None;
        }
        copy_match(decoded, written, distance, length)?;
        written += length;
    }
}

/// With at least this many bytes left on both sides, a sequence whose counts are in its token is not the last.
const SHORT_INPUT: usize = 32;
const SHORT_OUTPUT: usize = 48;
/// The longest match of such a sequence.
const MAX_SHORT_MATCH: usize = MIN_MATCH + 14;

/// Copies what a sequence has if its counts are in its token: most of them, with few branches.
#[inline(always)]
fn copy_short(encoded: &[u8], decoded: &mut [u8], written: usize) -> Option<Short> {
    let input = encoded.first_chunk::<SHORT_INPUT>()?;
    let (count, more) = (usize::from(input[0] >> 4), usize::from(input[0] & 15));
    if count == 15 || more == 15 {
        return None;
    }
    let distance = usize::from(u16::from_le_bytes([input[1 + count], input[2 + count]]));
    let (before, output) = decoded.split_at_mut_checked(written)?;
    let output = output.first_chunk_mut::<SHORT_OUTPUT>()?;
    *output.first_chunk_mut::<16>()? = *input[1..].first_chunk()?;
    let start = (written + count).checked_sub(distance).filter(|_| distance > 0)?;
    if let Some(matched) = before.get(start..).and_then(<[u8]>::first_chunk::<MAX_SHORT_MATCH>) {
        *output[count..].first_chunk_mut()? = *matched;
    } else {
        // These may be what the copy itself writes.
        let decoded = decoded.get_mut(start..written + SHORT_OUTPUT)?;
        copy_steps(decoded, distance, distance + MAX_SHORT_MATCH)?;
    }
    Some(Short { read: 3 + count, written: count + MIN_MATCH + more })
}

#[inline(always)]
fn read_more(mut number: usize, encoded: &[u8], read: &mut usize) -> Option<usize> {
    if number == 15 {
        loop {
            let more = *encoded.get(*read)?;
            *read += 1;
            number = number.saturating_add(usize::from(more)); // 2^24 bytes exceed 32 bits
            if more != 255 {
                break;
            }
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::lz::matches::PATTERNS;

    #[test]
    fn what_was_compressed_comes_back() {
        let mut table = MatchTable::new().unwrap();
        for (index, pattern) in PATTERNS.into_iter().enumerate() {
            for size in (0..300).chain([4096, 9000, 70_000, 300_000]) {
                let decoded: Vec<u8> = (0..size).map(pattern).collect();
                let mut encoded = vec![0xA5; size + size / 200 + 20];
                for acceleration in [1, 9] {
                    let encoded_size = compress(&mut table, acceleration, &decoded, &mut encoded).unwrap();
                    assert!(size < 4096 || index == 4 || encoded_size < size / 2, "{index} {size}: {encoded_size}");
                    let mut again = vec![0x5A; size];
                    assert_eq!(decompress(&encoded[..encoded_size], &mut again), Some(()), "{index} {size}");
                    assert!(again == decoded, "{index} {size}");
                    assert_eq!(compress(&mut table, acceleration, &decoded, &mut encoded[..encoded_size - 1]), None);
                }
            }
        }
    }

    /// 255 * 16,843,009 is 2^32 - 1.
    #[test]
    fn a_count_past_2_to_the_32_is_refused() {
        let encoded = [&[0xF0][..], &vec![255; 16_843_009], &[0; 15]].concat();
        assert_eq!(decompress(&encoded, &mut [7; 14]), None);
    }

    /// Written by hand from the description above.
    #[test]
    fn a_block_is_what_the_format_says() {
        let encoded = b"\x35abc\x03\x00\x50defgh";
        let mut decoded = [0; 17];
        assert_eq!(decompress(encoded, &mut decoded), Some(()));
        assert_eq!(&decoded, b"abcabcabcabcdefgh");
        assert_eq!(decompress(encoded, &mut [0; 16]), None);
        assert_eq!(decompress(encoded, &mut [0; 18]), None);
        for size in 0..encoded.len() {
            assert_eq!(decompress(&encoded[..size], &mut decoded), None, "cut to {size} bytes");
        }
        assert_eq!(decompress(b"\x35abc\x04\x00\x50defgh", &mut decoded), None, "a distance before the beginning");
        assert_eq!(decompress(b"\x35abc\x00\x00\x50defgh", &mut decoded), None, "a distance of 0");
        assert_eq!(decompress(b"\x00", &mut []), Some(()));
    }
}
