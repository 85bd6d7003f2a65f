//! Bit streams from pieces: words of 64 bits, little-endian in memory, filled from the low bit up.

use crate::error::Result;
use crate::interface::too_small;
use crate::memory::grow;

/// The words of a stream. The last one may be cut short: missing bytes are zeros.
pub(super) fn words<'a>(encoded: &'a [u8], scratch: &'a mut Vec<u64>) -> Result<&'a [u64]> {
    if cfg!(target_endian = "little")
        && let Ok(words) = bytemuck::try_cast_slice(encoded)
    {
        return Ok(words);
    }
    let count = encoded.len().div_ceil(8);
    grow(scratch, count)?;
    copy_words(encoded, scratch);
    Ok(&scratch[..count])
}

/// The words of a stream, followed by `padding` words of zeros.
#[cfg(feature = "zfp-sys")]
pub(super) fn padded_words<'a>(encoded: &[u8], padding: usize, scratch: &'a mut Vec<u64>) -> Result<&'a [u64]> {
    let count = encoded.len().div_ceil(8);
    grow(scratch, count + padding)?;
    copy_words(encoded, scratch);
    scratch[count..count + padding].fill(0);
    Ok(&scratch[..count + padding])
}

fn copy_words(encoded: &[u8], words: &mut [u64]) {
    let (whole, rest) = encoded.as_chunks::<8>();
    for (word, bytes) in words.iter_mut().zip(whole) {
        *word = u64::from_le_bytes(*bytes);
    }
    if !rest.is_empty() {
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        words[whole.len()] = u64::from_le_bytes(bytes);
    }
}

/// Appends bits to a stream.
#[derive(Debug)]
pub(super) struct StreamJoiner<'a> {
    /// The part that is not yet written.
    free: &'a mut [[u8; 8]],
    word_count: usize,
    /// The bits of the word that is not full; zeros above.
    pending: u64,
    pending_bits: u32,
}

impl<'a> StreamJoiner<'a> {
    pub(super) fn new(encoded: &'a mut [u8]) -> Self {
        Self { free: encoded.as_chunks_mut().0, word_count: 0, pending: 0, pending_bits: 0 }
    }

    /// Appends the first `bit_count` bits of these words.
    pub(super) fn append(&mut self, words: &[u64], bit_count: u64) -> Result<()> {
        let (whole, rest) = words.split_at((bit_count / 64) as usize);
        self.append_words(whole)?;
        let rest_bits = (bit_count % 64) as u32;
        if rest_bits > 0 {
            self.append_bits(rest[0] & ((1 << rest_bits) - 1), rest_bits)?;
        }
        Ok(())
    }

    fn append_words(&mut self, words: &[u64]) -> Result<()> {
        let free = self.take(words.len())?;
        if self.pending_bits == 0 {
            for (bytes, word) in free.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
            return Ok(());
        }
        for (bytes, word) in free.iter_mut().zip(words) {
            *bytes = (self.pending | word << self.pending_bits).to_le_bytes();
            self.pending = word >> (64 - self.pending_bits);
        }
        Ok(())
    }

    fn append_bits(&mut self, bits: u64, bit_count: u32) -> Result<()> {
        let joined = u128::from(bits) << self.pending_bits | u128::from(self.pending);
        self.pending = joined as u64;
        self.pending_bits += bit_count;
        if self.pending_bits >= 64 {
            self.take(1)?[0] = self.pending.to_le_bytes();
            self.pending = (joined >> 64) as u64;
            self.pending_bits -= 64;
        }
        Ok(())
    }

    /// Fills the last word with zeros. Returns the size of the stream in bytes.
    pub(super) fn finish(mut self) -> Result<usize> {
        if self.pending_bits > 0 {
            self.take(1)?[0] = self.pending.to_le_bytes();
        }
        Ok(8 * self.word_count)
    }

    fn take(&mut self, count: usize) -> Result<&'a mut [[u8; 8]]> {
        let free = std::mem::take(&mut self.free);
        let (taken, free) = free.split_at_mut_checked(count).ok_or_else(too_small)?;
        self.free = free;
        self.word_count += count;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    /// Bits as a number in text, the first bit last.
    fn text(bits: impl Iterator<Item = bool>) -> String {
        bits.map(|bit| if bit { '1' } else { '0' }).collect()
    }

    fn bits(words: &[u64]) -> impl Iterator<Item = bool> {
        words.iter().flat_map(|word| (0..64).map(move |bit| word >> bit & 1 == 1))
    }

    #[test]
    fn pieces_of_every_length_follow_each_other_bit_by_bit() {
        let words = [0x0123_4567_89AB_CDEF, u64::MAX, 0xFEDC_BA98_7654_3210];
        for first in 0..=192 {
            for second in [0, 1, 63, 64, 65, 127, 128, 192] {
                let expected: Vec<bool> =
                    bits(&words).take(first).chain(bits(&words).take(second)).chain(bits(&words).take(7)).collect();
                let size = expected.len().div_ceil(64) * 8;
                let mut encoded = vec![0xA5; size];
                let mut writer = StreamJoiner::new(&mut encoded);
                for count in [first, second, 7] {
                    writer.append(&words, count as u64).unwrap();
                }
                assert_eq!(writer.finish().unwrap(), size, "{first} and {second} bits");
                let written = encoded.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
                let written: Vec<u64> = written.collect();
                let padding = size * 8 - expected.len();
                let expected = expected.into_iter().chain(std::iter::repeat_n(false, padding));
                assert_eq!(text(bits(&written)), text(expected), "{first} and {second} bits");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_too_small() {
        for (capacity, fits) in [(0, false), (15, false), (16, true), (17, true)] {
            let mut encoded = vec![0; capacity];
            let mut writer = StreamJoiner::new(&mut encoded);
            let result = writer.append(&[1, 2], 65).and_then(|()| writer.finish());
            match result {
                Ok(size) => assert!(fits && size == 16, "capacity {capacity}"),
                Err(error) => assert!(!fits && error.status() == Status::BufferTooSmall, "capacity {capacity}"),
            }
        }
    }

    #[test]
    fn words_are_the_same_from_every_address_and_end_in_zeros() {
        let bytes: Vec<u8> = (1..=40).map(|i| i * 6).collect();
        for start in 0..8 {
            for size in 0..=32 {
                let encoded = &bytes[start..start + size];
                let mut scratch = vec![u64::MAX; 2];
                let words: Vec<u8> =
                    words(encoded, &mut scratch).unwrap().iter().flat_map(|word| word.to_le_bytes()).collect();
                assert_eq!(words[..size], *encoded);
                assert_eq!(words.len(), size.div_ceil(8) * 8);
                assert!(words[size..].iter().all(|byte| *byte == 0));
            }
        }
    }
}
