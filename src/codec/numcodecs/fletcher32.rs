//! `numcodecs.fletcher32`: the checksum of HDF5's filter, four bytes at the end, little-endian. Specification:
//! [zarr-extensions, `numcodecs.fletcher32`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.fletcher32).
//!
//! Two sums modulo 65535 over 16-bit words, the second one of the first, where a multiple of 65535 is 65535 and not 0.
//! The words are big-endian; an odd last byte is the high one of a word. HDF5 before 1.6.3 wrote sums with their bytes
//! swapped on little-endian machines: like HDF5, decoding accepts them.

use crate::codec::checksum::unequal;
use crate::error::Result;
use crate::interface::{Binding, Call, Codec, Context, Frame, Kind};
use crate::json::Configuration;
use crate::representation::Representation;
use crate::simd::{Loop, vectorized};
use serde_json::{Map, Value};
use std::sync::Arc;

const MODULUS: u64 = 65535;

/// Words that are summed side by side.
const LANES: usize = 32;

/// How many rows of lanes fit: the second sum of a lane is at most `ROWS * (ROWS + 1) / 2 * 65535`.
const ROWS: usize = 360;

#[derive(Debug, Clone, Copy)]
struct Fletcher32;

/// No configuration.
pub(crate) fn parse(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    configuration.finish()?;
    Ok(Arc::new(Fletcher32))
}

impl Codec for Fletcher32 {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::new()) // zarr-python refuses its codecs without one
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::frame(decoded, Arc::new(*self)))
    }
}

impl Frame for Fletcher32 {
    fn trailing_size(&self) -> u64 {
        4
    }

    fn write(&self, payload: &[u8], _leading: &mut [u8], trailing: &mut [u8], _call: &Call<'_>) -> Result<()> {
        trailing.copy_from_slice(&fletcher32(payload).to_le_bytes());
        Ok(())
    }

    fn check(&self, payload: &[u8], _leading: &[u8], trailing: &[u8], _call: &Call<'_>) -> Result<()> {
        let computed = fletcher32(payload);
        let bytes = computed.to_le_bytes();
        let swapped = [bytes[1], bytes[0], bytes[3], bytes[2]];
        if trailing == bytes || trailing == swapped {
            return Ok(());
        }
        Err(unequal(trailing, computed))
    }

    fn checks_payload(&self) -> bool {
        true
    }
}

/// The checksum. Sums of words with swapped bytes are the sums with swapped bytes, so the words are read little-endian.
fn fletcher32(bytes: &[u8]) -> u32 {
    let (mut first, mut second) = (0_u64, 0_u64);
    let mut is_zero = true;
    for block in bytes.chunks(2 * LANES * ROWS) {
        let (block_first, block_second) = vectorized(Sums(block));
        is_zero &= block_first == 0;
        second = (second + block.len().div_ceil(2) as u64 * first + block_second) % MODULUS;
        first = (first + block_first) % MODULUS;
    }
    let folded = |sum: u64| match sum * 256 % MODULUS {
        0 if !is_zero => MODULUS as u32,
        sum => sum as u32,
    };
    folded(second) << 16 | folded(first)
}

/// The two sums of a block of at most `LANES * ROWS` words, little-endian ones, not reduced.
struct Sums<'a>(&'a [u8]);

impl Loop for Sums<'_> {
    type Output = (u64, u64);

    #[inline(always)] // so that it is compiled for the caller's instruction set
    fn run(self) -> (u64, u64) {
        let (rows, tail) = self.0.as_chunks::<{ 2 * LANES }>();
        let (mut firsts, mut seconds) = ([0_u32; LANES], [0_u32; LANES]);
        for row in rows {
            for (lane, word) in row.as_chunks::<2>().0.iter().enumerate() {
                firsts[lane] += u32::from(u16::from_le_bytes(*word));
                seconds[lane] += firsts[lane];
            }
        }
        // Word i of the rows counts `LANES * rows - i` times in the second sum.
        let (mut first, mut second, mut excess) = (0, 0, 0);
        for lane in 0..LANES {
            first += u64::from(firsts[lane]);
            second += LANES as u64 * u64::from(seconds[lane]);
            excess += lane as u64 * u64::from(firsts[lane]);
        }
        second -= excess;
        for word in tail.chunks(2) {
            first += word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            second += first;
        }
        (first, second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Word by word, as HDF5's documentation has it.
    fn reference(bytes: &[u8]) -> u32 {
        let (mut first, mut second) = (0_u64, 0_u64);
        for word in bytes.chunks(2) {
            first += u64::from(word[0]) << 8 | word.get(1).map_or(0, |byte| u64::from(*byte));
            second += first;
        }
        let fold = |mut sum: u64| {
            while sum > 0xFFFF {
                sum = (sum & 0xFFFF) + (sum >> 16);
            }
            sum as u32
        };
        fold(second) << 16 | fold(first)
    }

    #[test]
    fn every_length_gives_the_sums_of_the_definition() {
        let bytes: Vec<u8> = (0..60_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 21) as u8).collect();
        for size in (0..700).chain([23_039, 23_040, 23_041, 46_080, 60_000]) {
            assert_eq!(fletcher32(&bytes[..size]), reference(&bytes[..size]), "{size} bytes");
        }
        for (byte, size) in [(0xFF, 50_000), (0xFF, 7), (0, 1000), (0xFE, 46_081)] {
            let bytes = vec![byte; size];
            assert_eq!(fletcher32(&bytes), reference(&bytes), "{size} times {byte:#x}");
        }
    }

    #[test]
    fn the_sums_are_those_of_numcodecs() {
        assert_eq!(fletcher32(b"a").to_le_bytes(), [0x00, 0x61, 0x00, 0x61]);
        assert_eq!(fletcher32(b"abc").to_le_bytes(), [0x62, 0xC4, 0xC5, 0x25]);
        assert_eq!(fletcher32(b"abcd").to_le_bytes(), [0xC6, 0xC4, 0x29, 0x26]);
        assert_eq!(fletcher32(&[0xFF; 4]), 0xFFFF_FFFF);
    }
}
