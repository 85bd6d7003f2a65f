//! BloscLZ: Blosc's own compressor, a variant of FastLZ.
//!
//! A stream is a sequence of two things, of which the first and the last are literals:
//!
//! * *literals*: a byte `n` below 32, of which only the lowest five bits count in the first byte of the stream, then
//!   `n + 1` bytes;
//! * a *match* of `length` bytes that are `distance` bytes before: a byte whose upper three bits are `length - 2` and
//!   whose lower five, with the byte after, are `distance - 1`. If those three bits are 7, bytes follow at once that
//!   are to be added to a length of 9, up to the first that is not 255. If `distance - 1` is 8191, the larger part of
//!   the distance follows in two bytes, the higher first: `distance - 8192`.

use crate::codec::lz::matches::{
    MatchTable, NEAR, Place, Places, Short, common_size, copy_literals, copy_match, four, hash, repeated,
};
use std::ops::Range;

/// The most literals of one run.
const MAX_LITERALS: usize = 32;
/// The largest distance of a short match.
const MAX_NEAR_DISTANCE: usize = 8191;
/// No distance that the C library writes is larger.
const MAX_DISTANCE: usize = 65_535 + MAX_NEAR_DISTANCE - 1;
/// No match begins in the last bytes of a stream.
const LAST_LITERALS: usize = 12;
/// The first bytes are not a match.
const FIRST_LITERALS: usize = 4;
/// Streams and rooms that the C library does not try.
const MIN_SIZE: usize = 16;
const MIN_ROOM: usize = 66;
/// A part of the stream is compressed first, to see whether it is worth it.
const PROBE_SIZE: usize = 4096;
const PROBE_HASH_BITS: u32 = 12;
const MAX_HASH_BITS: u32 = 14;
/// The ratio that the probe must reach, in hundredths, by level: as in the C library.
const LEAST_RATIO: [usize; 10] = [0, 200, 150, 120, 120, 120, 120, 115, 110, 100];
/// A match of this length is written in fewer bytes than its literals, and fast enough to read.
const MIN_LENGTH: usize = 5;
/// The same if the probe came to this ratio.
const MIN_LENGTH_IF_REGULAR: usize = 7;
const REGULAR_RATIO: usize = 4;
/// The same at a distance of more bytes.
const MIN_FAR_LENGTH: usize = 8;

/// Compresses to the beginning of `encoded`; `None` if it does not fit, or is not worth it. `is_split`: whole blocks of
/// the frame are split into streams.
pub(super) fn compress(
    table: &mut MatchTable,
    level: u8,
    is_split: bool,
    decoded: &[u8],
    encoded: &mut [u8],
) -> Option<usize> {
    if decoded.len() < MIN_SIZE || encoded.len() < MIN_ROOM {
        return None;
    }
    let probed = &decoded[decoded.len() - decoded.len() / 4..];
    let (read, written) = probe(table, &probed[..probed.len().min(PROBE_SIZE)])?;
    let least = LEAST_RATIO.get(usize::from(level)).copied().unwrap_or(100);
    if read * 100 < written * least {
        return None;
    }
    let is_regular = is_split && read >= written * REGULAR_RATIO;
    let hash_bits = (11 + u32::from(level)).min(MAX_HASH_BITS);
    if decoded.len() <= u16::MAX_SIZE {
        write(table.begin::<u16>(decoded.len(), hash_bits)?, hash_bits, level, is_regular, decoded, encoded)
    } else {
        write(table.begin::<u32>(decoded.len(), hash_bits)?, hash_bits, level, is_regular, decoded, encoded)
    }
}

/// How many bytes were read, and how many compressing them would have written.
fn probe(table: &mut MatchTable, decoded: &[u8]) -> Option<(usize, usize)> {
    let mut places = table.begin::<u16>(decoded.len(), PROBE_HASH_BITS)?;
    let limit = decoded.len().saturating_sub(LAST_LITERALS);
    let (mut start, mut literal_count, mut place, mut written) = (0, FIRST_LITERALS, 1, 1);
    while let Some((found, candidate)) = find(&mut places, decoded, place..limit, PROBE_HASH_BITS) {
        let (distance, length) = (found - candidate, match_length(decoded, found, candidate));
        place = found + 1;
        if length < MIN_LENGTH {
            continue;
        }
        literal_count += found - start;
        // A byte before each run, and the first of the next.
        written += literal_count + literal_count.div_ceil(MAX_LITERALS);
        literal_count = 0;
        written += if distance <= MAX_NEAR_DISTANCE { 2 } else { 4 };
        if length >= 9 {
            written += (length - 9) / 255 + 1;
        }
        place = found + length;
        start = place;
        insert(&mut places, decoded, place - 2, PROBE_HASH_BITS);
    }
    let read = limit.max(start);
    literal_count += read - start;
    Some((read, written + literal_count + literal_count / MAX_LITERALS))
}

/// The first place of a range, which does not begin at 0, that has the same four bytes as one before it, and that one.
#[inline]
fn find<P: Place>(
    places: &mut Places<'_, P>,
    decoded: &[u8],
    range: Range<usize>,
    hash_bits: u32,
) -> Option<(usize, usize)> {
    for (window, place) in decoded.get(range.start..)?.windows(4).zip(range) {
        let sequence = u32::from_le_bytes(*window.first_chunk()?);
        let candidate = places.exchange(hash(sequence, hash_bits), place);
        if four(decoded, candidate)? == sequence {
            return Some((place, candidate));
        }
    }
    None
}

/// Remembers the four bytes at a place. Where the end is nearer, no match begins.
#[inline]
fn insert<P: Place>(places: &mut Places<'_, P>, decoded: &[u8], place: usize, hash_bits: u32) {
    if let Some(sequence) = four(decoded, place) {
        places.exchange(hash(sequence, hash_bits), place);
    }
}

/// The length of a match whose first four bytes are the same. The last byte of all is a literal.
#[inline]
fn match_length(decoded: &[u8], place: usize, candidate: usize) -> usize {
    4 + common_size(&decoded[candidate + 4..], &decoded[place + 4..decoded.len() - 1])
}

fn write<P: Place>(
    mut places: Places<'_, P>,
    hash_bits: u32,
    level: u8,
    is_regular: bool,
    decoded: &[u8],
    encoded: &mut [u8],
) -> Option<usize> {
    let least = if is_regular { MIN_LENGTH_IF_REGULAR } else { MIN_LENGTH };
    let limit = decoded.len() - LAST_LITERALS;
    let (mut place, mut literals_start, mut size) = (FIRST_LITERALS, 0, 0);
    while let Some((found, candidate)) = find(&mut places, decoded, place..limit, hash_bits) {
        let (distance, length) = (found - candidate, match_length(decoded, found, candidate));
        place = found + 1;
        let least = if distance <= MAX_NEAR_DISTANCE { least } else { MIN_FAR_LENGTH };
        if length < least || distance >= MAX_DISTANCE {
            continue;
        }
        // The next match may begin with the last byte of this one: where runs of one value end, it is much longer then.
        let length = length - usize::from(is_regular);
        size = write_literals(&decoded[literals_start..], found - literals_start, encoded, size)?;
        size = write_match(distance, length, encoded, size)?;
        place = found + length;
        literals_start = place;
        insert(&mut places, decoded, place - 2, hash_bits);
        if level == 9 {
            insert(&mut places, decoded, place - 1, hash_bits);
        }
    }
    size = write_literals(&decoded[literals_start..], decoded.len() - literals_start, encoded, size)?;
    // The mark of the C library's streams.
    encoded[0] |= 1 << 5;
    Some(size)
}

/// Writes the first `count` bytes as literals at `size`; returns the new size. `None` if they do not fit.
#[inline]
fn write_literals(bytes: &[u8], count: usize, encoded: &mut [u8], mut size: usize) -> Option<usize> {
    let mut done = 0;
    while done < count {
        let run = (count - done).min(MAX_LITERALS);
        let (control, target) = encoded.get_mut(size..)?.split_first_mut()?;
        *control = (run - 1) as u8;
        match (bytes[done..].first_chunk::<MAX_LITERALS>(), target.first_chunk_mut::<MAX_LITERALS>()) {
            (Some(literals), Some(target)) => *target = *literals,
            _ => target.get_mut(..run)?.copy_from_slice(&bytes[done..done + run]),
        }
        done += run;
        size += 1 + run;
    }
    Some(size)
}

/// Writes a match at `size`; returns the new size. `None` if it does not fit.
#[inline]
fn write_match(distance: usize, length: usize, encoded: &mut [u8], mut size: usize) -> Option<usize> {
    let (near, far) = match distance - 1 {
        near if near < MAX_NEAR_DISTANCE => (near, None),
        far => (MAX_NEAR_DISTANCE, Some((far - MAX_NEAR_DISTANCE) as u16)),
    };
    let mut put = |byte: u8| {
        *encoded.get_mut(size)? = byte;
        size += 1;
        Some(())
    };
    put(((length - 2).min(7) << 5 | near >> 8) as u8)?;
    if let Some(mut more) = length.checked_sub(9) {
        while more >= 255 {
            put(255)?;
            more -= 255;
        }
        put(more as u8)?;
    }
    put(near as u8)?;
    for byte in far.iter().flat_map(|far| far.to_be_bytes()) {
        put(byte)?;
    }
    Some(size)
}

/// Decompresses a stream that fills `decoded`; `None` if it is not such a stream.
pub(super) fn decompress(encoded: &[u8], decoded: &mut [u8]) -> Option<()> {
    let (mut read, mut written) = (1, 0);
    let mut control = usize::from(*encoded.first()?) % MAX_LITERALS;
    loop {
        if control < MAX_LITERALS {
            let count = control + 1;
            copy_literals(encoded.get(read..)?, count, decoded.get_mut(written..)?)?;
            read += count;
            written += count;
            if read == encoded.len() {
                return (written == decoded.len()).then_some(());
            }
        } else {
            let (distance, length) = read_match(control, encoded, &mut read)?;
            copy_match(decoded, written, distance, length)?;
            written += length;
        }
        while let Some(short) = copy_short(encoded.get(read..)?, decoded, written) {
            read += short.read;
            written += short.written;
        }
        control = usize::from(*encoded.get(read)?);
        read += 1;
    }
}

/// Copies literals that are not the last of the stream, or a match of at most [`NEAR`] bytes, with few branches.
#[inline(always)]
fn copy_short(encoded: &[u8], decoded: &mut [u8], written: usize) -> Option<Short> {
    let input = encoded.first_chunk::<{ MAX_LITERALS + 2 }>()?;
    let (before, output) = decoded.split_at_mut_checked(written)?;
    let output = output.first_chunk_mut::<MAX_LITERALS>()?;
    let control = usize::from(input[0]);
    if control < MAX_LITERALS {
        *output = *input[1..].first_chunk()?;
        return Some(Short { read: 2 + control, written: 1 + control });
    }
    let (length, distance) = ((control >> 5) + 2, ((control & 31) << 8) + usize::from(input[1]) + 1);
    if length > NEAR || distance > MAX_NEAR_DISTANCE {
        return None;
    }
    let start = before.get(written.checked_sub(distance)?..)?;
    let matched = match start.first_chunk::<NEAR>() {
        Some(matched) => *matched,
        None => repeated(decoded.get(written - distance..)?.first_chunk()?, distance).0,
    };
    *decoded.get_mut(written..)?.first_chunk_mut()? = matched;
    Some(Short { read: 2, written: length })
}

/// The distance and length of the match whose first byte was read.
#[inline]
fn read_match(control: usize, encoded: &[u8], read: &mut usize) -> Option<(usize, usize)> {
    let mut next = || {
        let byte = *encoded.get(*read)?;
        *read += 1;
        Some(usize::from(byte))
    };
    let mut length = (control >> 5) + 2;
    if length == 9 {
        loop {
            let more = next()?;
            length = length.saturating_add(more); // 2^24 bytes exceed 32 bits
            if more != 255 {
                break;
            }
        }
    }
    let mut distance = ((control & 31) << 8) + next()? + 1;
    if distance == MAX_NEAR_DISTANCE + 1 {
        distance += (next()? << 8) + next()?;
    }
    Some((distance, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::lz::matches::PATTERNS;

    fn round_trip(decoded: &[u8]) -> Option<usize> {
        let mut encoded = vec![0xA5; decoded.len() * 2 + 100];
        let mut table = MatchTable::new().unwrap();
        let mut sizes = Vec::new();
        // A second time with a used table.
        for level in [1, 5, 9, 1, 5, 9] {
            for is_split in [false, true] {
                let size = compress(&mut table, level, is_split, decoded, &mut encoded);
                if let Some(size) = size {
                    let mut again = vec![0x5A; decoded.len()];
                    assert_eq!(decompress(&encoded[..size], &mut again), Some(()));
                    assert!(again == decoded);
                }
                sizes.push(size);
            }
        }
        assert_eq!(sizes[..6], sizes[6..], "the result depends on what was compressed before");
        sizes[5]
    }

    #[test]
    fn what_was_compressed_comes_back() {
        for (index, pattern) in PATTERNS.into_iter().enumerate() {
            for size in (0..300).chain([4096, 9000, 70_000, 300_000]) {
                let decoded: Vec<u8> = (0..size).map(pattern).collect();
                let encoded_size = round_trip(&decoded);
                assert!(
                    size < 4096 || index > 2 || encoded_size.is_some_and(|encoded| encoded < size / 5),
                    "{index} {size}"
                );
            }
        }
    }

    /// Written by hand from the description above.
    #[test]
    fn each_kind_of_match_is_what_the_format_says() {
        let cases: [(&[u8], &[u8]); 4] = [
            (b"\x22abc\x20\x02\x00d", b"abcabcd"),
            (b"\x20a\xE0\x01\x00\x00b", b"aaaaaaaaaaab"),
            (b"\x21ab\x60\x01\x01cd", b"abababacd"),
            (b"\x00a", b"a"),
        ];
        for (encoded, expected) in cases {
            let mut decoded = vec![0; expected.len()];
            assert_eq!(decompress(encoded, &mut decoded), Some(()), "{encoded:?}");
            assert_eq!(decoded, expected);
            for size in (0..10).filter(|size| *size != expected.len()) {
                assert_eq!(decompress(encoded, &mut vec![0; size]), None, "{encoded:?} to {size} bytes");
            }
        }
        let bad: [&[u8]; 5] = [b"", b"\x00", b"\x00a\x20", b"\x00a\x20\x00", b"\x00a\x20\x01\x00b"];
        for encoded in bad {
            assert_eq!(decompress(encoded, &mut [0; 5]), None, "{encoded:?}");
        }
    }

    #[test]
    fn every_room_that_is_too_small_is_refused() {
        let decoded: Vec<u8> = (0..3000_usize).map(|i| (i * i / 64) as u8 & 7).collect();
        let mut encoded = vec![0; 4000];
        let mut table = MatchTable::new().unwrap();
        let size = compress(&mut table, 9, false, &decoded, &mut encoded).expect("this is compressible");
        for room in 0..size {
            assert_eq!(compress(&mut table, 9, false, &decoded, &mut encoded[..room]), None);
        }
        assert_eq!(compress(&mut table, 9, false, &decoded, &mut encoded[..size]), Some(size));
    }
}
