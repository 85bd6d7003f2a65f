//! What LZMA streams say of their decoded size, and how much they can hold: found without decoding.

use super::filters::Coder;
use super::{Container, Lzma};
use lzma_rust2::xz_uncompressed_size;
use std::io::Cursor;

/// Decoded bytes per encoded byte, at most. A match of 273 bytes takes 14 decisions of the range coder, each of which
/// costs at least log2(2048 / 2017) = 0.0221 bits: 273 * 8 / (14 * 0.0221) = 7059, rounded up.
const MOST_PER_BYTE: u64 = 7200;

/// The most that this many bytes decode to.
pub(super) fn most_decoded(encoded: &[u8]) -> u64 {
    (encoded.len() as u64).saturating_mul(MOST_PER_BYTE)
}

/// The decoded size that the bytes state, if they do. It may be wrong; filters change no size.
pub(super) fn decoded_size(codec: &Lzma, encoded: &[u8]) -> Option<u64> {
    match (codec.container, codec.filters.coder) {
        (Container::Xz, _) => xz_uncompressed_size(Cursor::new(encoded)).ok(),
        (Container::Alone, _) => {
            // Properties, the size of the window, the size; all ones where the end is marked instead.
            let size = u64::from_le_bytes(*encoded.get(5..)?.first_chunk()?);
            Some(size).filter(|size| *size != u64::MAX)
        }
        (Container::Raw, Coder::Lzma1) => None,
        (Container::Raw, Coder::Lzma2) => lzma2_size(encoded),
    }
}

/// The sum of what the headers of all chunks say. xz file format 1.2, section 5.3.1, and its reference decoder.
fn lzma2_size(encoded: &[u8]) -> Option<u64> {
    let (mut rest, mut size) = (encoded, 0_u64);
    loop {
        let number = |at: usize| rest.get(at..)?.first_chunk().map(|bytes| usize::from(u16::from_be_bytes(*bytes)));
        let control = *rest.first()?;
        let (header_size, encoded_size, decoded_size) = match control {
            0 => return Some(size),
            1 | 2 => (3, number(1)? + 1, number(1)? + 1), // stored
            3..=0x7F => return None,
            // With properties from 0xC0 on.
            _ => {
                (5 + usize::from(control >= 0xC0), number(3)? + 1, (usize::from(control & 0x1F) << 16) + number(1)? + 1)
            }
        };
        size += decoded_size as u64;
        rest = rest.get(header_size + encoded_size..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::lzma2_size;

    /// Two stored chunks, one with new properties, one without.
    #[test]
    fn the_size_of_an_lzma2_stream_is_the_sum_of_its_chunks() {
        let stored = [1, 0, 2, b'a', b'b', b'c'];
        let with_properties = [0xE0, 0, 9, 0, 1, 0x5D, 7, 7];
        let without = [0x81, 0, 0, 0, 0, 7];
        let chunks = [&stored[..], &with_properties, &without, &[2, 0, 0, b'd']].concat();
        assert_eq!(lzma2_size(&[&chunks[..], &[0]].concat()), Some(3 + 10 + 0x10001 + 1));
        assert_eq!(lzma2_size(&chunks), None, "no end");
        assert_eq!(lzma2_size(&[]), None);
    }

    #[test]
    fn control_bytes_that_lzma2_does_not_have_state_no_size() {
        for control in 0..=255 {
            let stream = [control, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            assert_eq!(lzma2_size(&stream).is_none(), (3..0x80).contains(&control), "{control:#x}");
        }
    }
}
