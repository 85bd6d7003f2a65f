//! The decoded size of gzip members and zlib streams, without keeping the decoded bytes: libdeflate needs all of the
//! output at once, miniz_oxide only the last 32 KiB. RFC 1950, RFC 1951, RFC 1952.

use super::libdeflate::Container;
use crate::error::{Error, Result};
use crc_fast::{CrcAlgorithm, Digest};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags::TINFL_FLAG_HAS_MORE_INPUT};
use simd_adler32::Adler32;

/// The window of DEFLATE.
const WINDOW_SIZE: usize = 32 << 10;

/// How many bytes all gzip members decode to, found by decoding them piece by piece.
///
/// # Errors
/// [`Status::CorruptData`](crate::Status::CorruptData): they cannot be decoded, or have one of the codes that RFC 1951
/// says never occur (3.2.5, 3.2.6: 286 and 287 of lengths, 30 and 31 of distances). libdeflate takes such codes.
pub(super) fn gzip_size(encoded: &[u8]) -> Result<u64> {
    let mut scratch = Scratch::new()?;
    let (mut rest, mut size) = (encoded, 0_u64);
    loop {
        let member = member(Container::Gzip, rest, &mut scratch)
            .ok_or_else(|| no_member(encoded.len() - rest.len(), encoded.len()))?;
        size = size.saturating_add(member.decoded_size);
        rest = member.rest;
        if rest.is_empty() {
            return Ok(size);
        }
    }
}

/// How many bytes the one zlib stream decodes to, found in the same way.
///
/// # Errors
/// [`Status::CorruptData`](crate::Status::CorruptData): it cannot be decoded, as in [`gzip_size`], or something follows
/// it.
pub(super) fn zlib_size(encoded: &[u8]) -> Result<u64> {
    let stream = member(Container::Zlib, encoded, &mut Scratch::new()?).ok_or_else(no_stream)?;
    match stream.rest.len() {
        0 => Ok(stream.decoded_size),
        rest => Err(ends_early(encoded.len() - rest, encoded.len())),
    }
}

/// What decoding one member after the other needs.
struct Scratch {
    window: Vec<u8>,
    decompressor: Box<DecompressorOxide>,
}

impl Scratch {
    fn new() -> Result<Self> {
        let mut window = Vec::new();
        window.try_reserve_exact(WINDOW_SIZE).map_err(|_| Error::out_of_memory())?;
        window.resize(WINDOW_SIZE, 0);
        Ok(Self { window, decompressor: Box::default() })
    }
}

/// The error for bytes that begin no zlib stream.
pub(super) fn no_stream() -> Error {
    Error::corrupt("not a valid zlib stream: truncated, damaged, or of another format")
}

/// The error for bytes after a zlib stream.
pub(super) fn ends_early(at: usize, size: usize) -> Error {
    Error::corrupt(format!("the zlib stream ends at byte {at} of {size}"))
}

/// The error for bytes that begin no member.
pub(super) fn no_member(at: usize, size: usize) -> Error {
    Error::corrupt(format!(
        "no valid gzip member begins at byte {at} of {size}: truncated, damaged, or of another format"
    ))
}

struct Member<'a> {
    decoded_size: u64,
    /// The bytes that follow it.
    rest: &'a [u8],
}

/// The first gzip member or zlib stream, if it is valid.
fn member<'a>(container: Container, encoded: &'a [u8], scratch: &mut Scratch) -> Option<Member<'a>> {
    let deflated = match container {
        Container::Gzip => after_gzip_header(encoded)?,
        Container::Zlib => after_zlib_header(encoded)?,
    };
    let Scratch { window, decompressor } = scratch;
    decompressor.init();
    let mut checksum = Checksum::new(container);
    let (mut rest, mut decoded_size, mut at) = (deflated, 0_u64, 0);
    loop {
        // The flag stays on, so that an input that ends within the stream is reported as needing more, not as a
        // failure.
        let (status, read, written) = decompress(decompressor, rest, window, at, TINFL_FLAG_HAS_MORE_INPUT);
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
    let rest = checksum.trailer(decoded_size, rest)?;
    Some(Member { decoded_size, rest })
}

/// The values that a trailer has: CRC-32 and the size, or Adler-32.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, on the stack")]
enum Checksum {
    Gzip(Digest),
    Zlib(Adler32),
}

impl Checksum {
    fn new(container: Container) -> Self {
        match container {
            Container::Gzip => Self::Gzip(Digest::new(CrcAlgorithm::Crc32IsoHdlc)),
            Container::Zlib => Self::Zlib(Adler32::new()),
        }
    }

    fn update(&mut self, decoded: &[u8]) {
        match self {
            Self::Gzip(digest) => digest.update(decoded),
            Self::Zlib(adler) => adler.write(decoded),
        }
    }

    /// The bytes after the trailer, if the trailer matches the decoded bytes.
    fn trailer(self, decoded_size: u64, encoded: &[u8]) -> Option<&[u8]> {
        let (stored, rest) = encoded.split_first_chunk::<4>()?;
        match self {
            Self::Gzip(digest) => {
                let (size, rest) = rest.split_first_chunk::<4>()?;
                let is_whole = u64::from(u32::from_le_bytes(*stored)) == digest.finalize()
                    && u32::from_le_bytes(*size) == decoded_size as u32;
                is_whole.then_some(rest)
            }
            Self::Zlib(adler) => (u32::from_be_bytes(*stored) == adler.finish()).then_some(rest),
        }
    }
}

/// The bytes after the header of a zlib stream, which has no dictionary and a window of at most 32 KiB.
fn after_zlib_header(encoded: &[u8]) -> Option<&[u8]> {
    let ([method, flags], rest) = encoded.split_first_chunk::<2>()?;
    let is_deflate = method & 0xF == 8 && method >> 4 <= 7;
    let is_valid = is_deflate && flags & 0x20 == 0 && u16::from_be_bytes([*method, *flags]) % 31 == 0;
    is_valid.then_some(rest)
}

/// The bytes after the header of a member of gzip.
fn after_gzip_header(encoded: &[u8]) -> Option<&[u8]> {
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
    use flate2::{Decompress, FlushDecompress};
    use proptest::prelude::*;

    const CONTAINERS: [Container; 2] = [Container::Gzip, Container::Zlib];

    fn encode(container: Container, level: i32, decoded: &[u8]) -> Vec<u8> {
        let mut encoded = vec![0; compress_bound(container, decoded.len()).unwrap()];
        let size = Compressor::new(level).unwrap().compress(container, decoded, &mut encoded).unwrap();
        encoded.truncate(size);
        encoded
    }

    fn sample(size: usize) -> Vec<u8> {
        (0..size as u64).map(|i| (i * i / 1000 % 251) as u8).collect()
    }

    #[test]
    fn members_are_counted_as_they_decode() {
        for level in [0, 1, 6, 9] {
            for size in [0, 1, 100, WINDOW_SIZE - 1, WINDOW_SIZE, WINDOW_SIZE + 1, 300_000] {
                let encoded = encode(Container::Gzip, level, &sample(size));
                assert_eq!(gzip_size(&encoded), Ok(size as u64), "level {level}, {size} bytes");
                assert_eq!(gzip_size(&encoded.repeat(3)), Ok(3 * size as u64), "level {level}, {size} bytes");
                let encoded = encode(Container::Zlib, level, &sample(size));
                assert_eq!(zlib_size(&encoded), Ok(size as u64), "level {level}, {size} bytes");
                let twice = encoded.repeat(2);
                assert_eq!(zlib_size(&twice), Err(ends_early(encoded.len(), twice.len())));
            }
        }
        assert!(gzip_size(b"").is_err() && zlib_size(b"").is_err());
    }

    #[test]
    fn every_member_of_a_header_is_passed_over() {
        let plain = encode(Container::Gzip, 6, b"abc");
        for flags in 0..=255_u8 {
            let mut encoded = plain[..10].to_vec();
            encoded[3] = flags;
            for (flag, field) in [(4, b"\x02\x00xy".as_slice()), (8, b"name\0"), (16, b"a comment\0"), (2, b"??")] {
                encoded.extend_from_slice(if flags & flag != 0 { field } else { b"" });
            }
            encoded.extend_from_slice(&plain[10..]);
            let expected = Decompressor::new().unwrap().decompress(Container::Gzip, &encoded, &mut [0; 10]).is_ok();
            assert_eq!(gzip_size(&encoded).is_ok(), expected, "flags {flags:#x}");
        }
    }

    #[test]
    fn every_cut_is_corrupt() {
        let encoded = encode(Container::Gzip, 6, &sample(20_000));
        for size in 0..encoded.len() {
            assert_eq!(gzip_size(&encoded[..size]), Err(no_member(0, size)));
        }
        let encoded = encode(Container::Zlib, 6, &sample(20_000));
        for size in 0..encoded.len() {
            assert_eq!(zlib_size(&encoded[..size]), Err(no_stream()));
        }
    }

    #[test]
    fn the_same_headers_are_of_zlib_as_for_libdeflate() {
        let mut encoded = encode(Container::Zlib, 6, b"abc");
        for header in 0..=u16::MAX {
            encoded[..2].copy_from_slice(&header.to_be_bytes());
            let expected = Decompressor::new().unwrap().decompress(Container::Zlib, &encoded, &mut [0; 10]).is_ok();
            assert_eq!(zlib_size(&encoded).is_ok(), expected, "header {header:#06x}");
        }
    }

    /// Whether zlib refuses the stream for a code that RFC 1951 says never occurs.
    fn has_a_code_that_never_occurs(container: Container, encoded: &[u8], decoded: &mut [u8]) -> bool {
        let deflated = match container {
            Container::Gzip => after_gzip_header(encoded),
            Container::Zlib => after_zlib_header(encoded),
        };
        let refused = Decompress::new(false).decompress(deflated.unwrap(), decoded, FlushDecompress::Finish);
        refused.is_err_and(|error| {
            ["invalid literal/length code", "invalid distance code"].map(Some).contains(&error.message())
        })
    }

    /// Two bits of a valid stream are wrong: a distance has code 30, and the decoded bytes are still the same.
    #[test]
    fn a_code_that_never_occurs_is_not_counted() {
        let mut encoded = encode(Container::Zlib, 2, &sample(152));
        let mut decoded = [0; 152];
        for (at, bit) in [(22, 5), (52, 6)] {
            encoded[at] ^= 1_u8 << bit;
        }
        let member = Decompressor::new().unwrap().decompress(Container::Zlib, &encoded, &mut decoded);
        assert!(member.is_ok_and(|member| member.decoded_size == 152));
        assert_eq!(decoded.as_slice(), sample(152));
        assert!(has_a_code_that_never_occurs(Container::Zlib, &encoded, &mut decoded));
        assert_eq!(zlib_size(&encoded), Err(no_stream()));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn what_libdeflate_decodes_is_counted_as_it_decodes_it(
            is_zlib: bool, size in 0_usize..3000, level in 0..=9,
            flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 0..3)
        ) {
            let container = CONTAINERS[usize::from(is_zlib)];
            let mut encoded = encode(container, level, &sample(size));
            for (at, bit) in flips {
                let at = at.index(encoded.len());
                encoded[at] ^= 1_u8 << bit;
            }
            // A match of DEFLATE takes at least two bits, and gives at most 258 bytes.
            let mut decoded = vec![0; 1032 * encoded.len()];
            let counted = member(container, &encoded, &mut Scratch::new().unwrap());
            match (counted, Decompressor::new().unwrap().decompress(container, &encoded, &mut decoded)) {
                (Some(counted), Ok(member)) => {
                    prop_assert_eq!(counted.decoded_size, member.decoded_size as u64);
                    prop_assert_eq!(encoded.len() - counted.rest.len(), member.encoded_size);
                }
                // miniz_oxide also takes incomplete codes, which RFC 1951 leaves open. Such bytes are corrupt once the
                // buffer is as large as was counted.
                (_, Err(Fault::Corrupt)) => {}
                (_, Err(Fault::TooSmall)) => prop_assert!(false, "more than the limit"),
                (None, Ok(_)) => prop_assert!(has_a_code_that_never_occurs(container, &encoded, &mut decoded)),
            }
        }
    }
}
