//! What gzip members decode to, without holding it: libdeflate needs all of the output at once, miniz_oxide only the
//! last 32 KiB. RFC 1951, RFC 1952.

use crate::error::{Error, Result};
use crc_fast::{CrcAlgorithm, Digest};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags::TINFL_FLAG_HAS_MORE_INPUT};

/// The window of DEFLATE.
const WINDOW_SIZE: usize = 32 << 10;

/// How many bytes all members decode to, found by decoding them piece by piece.
///
/// # Errors
/// [`Status::CorruptData`](crate::Status::CorruptData): they cannot be decoded.
pub(super) fn decoded_size(encoded: &[u8]) -> Result<u64> {
    let mut window = Vec::new();
    window.try_reserve_exact(WINDOW_SIZE).map_err(|_| Error::out_of_memory())?;
    window.resize(WINDOW_SIZE, 0);
    let (mut rest, mut size) = (encoded, 0_u64);
    loop {
        let member = member(rest, &mut window).ok_or_else(|| no_member(encoded.len() - rest.len(), encoded.len()))?;
        size = size.saturating_add(member.decoded_size);
        rest = member.rest;
        if rest.is_empty() {
            return Ok(size);
        }
    }
}

/// The error for bytes that begin no member.
pub(super) fn no_member(at: usize, size: usize) -> Error {
    Error::corrupt(format!(
        "no valid gzip member (cut short, damaged or of another format) begins at byte {at} of {size}"
    ))
}

struct Member<'a> {
    decoded_size: u64,
    /// What follows it.
    rest: &'a [u8],
}

/// The first member, if it is valid.
fn member<'a>(encoded: &'a [u8], window: &mut [u8]) -> Option<Member<'a>> {
    let deflated = after_header(encoded)?;
    let mut decompressor = Box::<DecompressorOxide>::default();
    let mut checksum = Digest::new(CrcAlgorithm::Crc32IsoHdlc);
    let (mut rest, mut decoded_size, mut at) = (deflated, 0_u64, 0);
    loop {
        // The flag stays on, so that an end of the input within the stream is one that wants more, not one of many.
        let (status, read, written) = decompress(&mut decompressor, rest, window, at, TINFL_FLAG_HAS_MORE_INPUT);
        rest = rest.get(read..)?;
        checksum.update(window.get(at..at + written)?);
        decoded_size = decoded_size.saturating_add(written as u64);
        at = (at + written) % window.len();
        match status {
            TINFLStatus::HasMoreOutput => {}
            TINFLStatus::Done => break,
            _ => return None,
        }
    }
    let (trailer, rest) = rest.split_first_chunk::<8>()?;
    let [c0, c1, c2, c3, s0, s1, s2, s3] = *trailer;
    let is_whole = u64::from(u32::from_le_bytes([c0, c1, c2, c3])) == checksum.finalize()
        && u32::from_le_bytes([s0, s1, s2, s3]) == decoded_size as u32;
    is_whole.then_some(Member { decoded_size, rest })
}

/// The DEFLATE stream, and what follows it.
fn after_header(encoded: &[u8]) -> Option<&[u8]> {
    let ([0x1F, 0x8B, 8, flags, _, _, _, _, _, _], mut rest) = encoded.split_first_chunk::<10>()? else { return None };
    if flags & 0xE0 != 0 {
        return None;
    }
    if flags & 4 != 0 {
        let (size, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*size))..)?;
    }
    // A file's name and a comment, each up to a zero byte.
    for flag in [8, 16] {
        if flags & flag != 0 {
            rest = rest.get(rest.iter().position(|byte| *byte == 0)? + 1..)?;
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::super::libdeflate::{Compressor, Decompressor, Fault, compress_bound};
    use super::*;
    use proptest::prelude::*;

    fn encode(level: i32, decoded: &[u8]) -> Vec<u8> {
        let mut encoded = vec![0; compress_bound(decoded.len()).unwrap()];
        let size = Compressor::new(level).unwrap().compress(decoded, &mut encoded).unwrap();
        encoded.truncate(size);
        encoded
    }

    fn sample(size: usize) -> Vec<u8> {
        (0..size).map(|i| (i * i / 1000 % 251) as u8).collect()
    }

    #[test]
    fn members_are_counted_as_they_decode() {
        for level in [0, 1, 6, 9] {
            for size in [0, 1, 100, WINDOW_SIZE - 1, WINDOW_SIZE, WINDOW_SIZE + 1, 300_000] {
                let encoded = encode(level, &sample(size));
                assert_eq!(decoded_size(&encoded), Ok(size as u64), "level {level}, {size} bytes");
                assert_eq!(decoded_size(&encoded.repeat(3)), Ok(3 * size as u64), "level {level}, {size} bytes");
            }
        }
        assert!(decoded_size(b"").is_err());
    }

    #[test]
    fn every_member_of_a_header_is_passed_over() {
        let plain = encode(6, b"abc");
        for flags in 0..=255_u8 {
            let mut encoded = plain[..10].to_vec();
            encoded[3] = flags;
            for (flag, field) in [(4, b"\x02\x00xy".as_slice()), (8, b"name\0"), (16, b"a comment\0"), (2, b"??")] {
                encoded.extend_from_slice(if flags & flag != 0 { field } else { b"" });
            }
            encoded.extend_from_slice(&plain[10..]);
            let expected = Decompressor::new().unwrap().decompress(&encoded, &mut [0; 10]).is_ok();
            assert_eq!(decoded_size(&encoded).is_ok(), expected, "flags {flags:#x}");
        }
    }

    #[test]
    fn every_cut_is_corrupt() {
        let encoded = encode(6, &sample(20_000));
        for size in 0..encoded.len() {
            assert_eq!(decoded_size(&encoded[..size]), Err(no_member(0, size)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn the_same_bytes_are_a_member_as_for_libdeflate(
            size in 0_usize..3000, level in 0..=9, flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 0..3)
        ) {
            let mut encoded = encode(level, &sample(size));
            for (at, bit) in flips {
                let at = at.index(encoded.len());
                encoded[at] ^= 1_u8 << bit;
            }
            // A match of DEFLATE, two bits at the least, stands for 258 bytes.
            let mut decoded = vec![0; 1032 * encoded.len()];
            match (decoded_size(&encoded), Decompressor::new().unwrap().decompress(&encoded, &mut decoded)) {
                (Ok(size), Ok(member)) => prop_assert_eq!(size, member.decoded_size as u64),
                (Err(_), Err(Fault::Corrupt)) => {}
                (_, Err(Fault::TooSmall)) => prop_assert!(false, "more than the limit"),
                (size, member) => prop_assert!(false, "{size:?}, {}", member.is_ok()),
            }
        }
    }
}
