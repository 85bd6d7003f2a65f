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
