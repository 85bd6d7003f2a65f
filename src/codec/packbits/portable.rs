//! 64 bits of memory at a time: the fields of the components in a word move together in one, two or three steps.

use super::field::{Field, FieldKind, in_each_lane};
use crate::error::Result;
use crate::interface::Elementwise;
use std::sync::Arc;

/// The kernel for components of `SIZE` bytes.
#[derive(Debug)]
struct Words<const SIZE: usize>(Field);

pub(super) fn kernel(field: &Field) -> Option<Arc<dyn Elementwise>> {
    match (field.kind, field.size) {
        (FieldKind::Raw, _) => None,
        (_, 1) => Some(Arc::new(Words::<1>(*field))),
        (_, 2) => Some(Arc::new(Words::<2>(*field))),
        (_, 4) => Some(Arc::new(Words::<4>(*field))),
        _ => Some(Arc::new(Words::<8>(*field))),
    }
}

impl<const SIZE: usize> Elementwise for Words<SIZE> {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        encode::<SIZE>(&self.0, decoded, encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        decode::<SIZE>(&self.0, encoded, decoded);
        Ok(())
    }
}

/// Words per block. Folding a block is a loop of its own, which the compiler vectorises.
const BLOCK_WORDS: usize = 32;

/// Packs whole components; `encoded` is exactly as long as they need.
pub(super) fn encode<const SIZE: usize>(field: &Field, decoded: &[u8], encoded: &mut [u8]) {
    let fields = Fields::<SIZE>::new(field);
    let mut writer = PackedWriter { rest: encoded, word: 0, filled: 0 };
    let (words, tail) = decoded.as_chunks::<8>();
    let word_bits = 8 / SIZE as u32 * field.bits;
    for words in words.chunks(BLOCK_WORDS) {
        let mut folded = [0; BLOCK_WORDS];
        for (folded, word) in folded.iter_mut().zip(words) {
            *folded = fields.fold(fields.extract(load_lanes::<SIZE>(*word)));
        }
        for folded in &folded[..words.len()] {
            writer.push(*folded, word_bits);
        }
    }
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    let tail_bits = (tail.len() / SIZE) as u32 * field.bits;
    if tail_bits > 0 {
        writer.push(fields.fold(fields.extract(load_lanes::<SIZE>(last))), tail_bits);
    }
    writer.finish();
}

/// Unpacks whole components from `encoded`, which begins with the first of them.
pub(super) fn decode<const SIZE: usize>(field: &Field, encoded: &[u8], decoded: &mut [u8]) {
    let fields = Fields::<SIZE>::new(field);
    let word_bits = 8 / SIZE as u64 * u64::from(field.bits);
    let (words, tail) = decoded.as_chunks_mut::<8>();
    let tail_position = words.len() as u64 * word_bits;
    let placed = |folded: u64| store_lanes::<SIZE>(fields.place(fields.unfold(folded)));
    for (block, words) in words.chunks_mut(BLOCK_WORDS).enumerate() {
        let mut folded = [0; BLOCK_WORDS];
        for (index, folded) in folded[..words.len()].iter_mut().enumerate() {
            *folded = read(encoded, (block * BLOCK_WORDS + index) as u64 * word_bits);
        }
        for (word, folded) in words.iter_mut().zip(folded) {
            *word = placed(folded);
        }
    }
    if !tail.is_empty() {
        tail.copy_from_slice(&placed(read(encoded, tail_position))[..tail.len()]);
    }
}

/// Where the fields of a word's components are: one every `LANE` bits.
struct Fields<const SIZE: usize> {
    kind: FieldKind,
    first_bit: u32,
    bits: u32,
    /// The field in each component, moved to bit 0.
    mask: u64,
    /// The sign in each component, in its place.
    sign: u64,
    /// For each step of folding, the bits that stay.
    low: [u64; 3],
}

impl<const SIZE: usize> Fields<SIZE> {
    const LANE: u32 = 8 * SIZE as u32;

    fn new(field: &Field) -> Self {
        let Field { kind, first_bit, bits, .. } = *field;
        let low = [0, 1, 2].map(|step| lanes(Self::LANE << (step + 1), bits << step));
        let sign = if kind == FieldKind::Signed { lanes(Self::LANE, 1) << field.last_bit() } else { 0 };
        Self { kind, first_bit, bits, mask: lanes(Self::LANE, bits), sign, low }
    }

    /// The fields at the low end of each component, and nothing else.
    #[inline(always)]
    fn extract(&self, word: u64) -> u64 {
        if self.kind == FieldKind::Bool {
            const LOW_SEVEN: u64 = 0x7F7F_7F7F_7F7F_7F7F;
            return (((word & LOW_SEVEN) + LOW_SEVEN) | word) >> 7 & self.mask;
        }
        word >> self.first_bit & self.mask
    }

    /// The fields at their place in each component, with what belongs above them.
    #[inline(always)]
    fn place(&self, word: u64) -> u64 {
        let word = (word & self.mask) << self.first_bit;
        // For each sign, 2^LANE - 2^(last_bit + 1), which is within the component. Only the sum may wrap.
        let sign = word & self.sign;
        let ones =
            (sign << (Self::LANE - self.first_bit - self.bits)).wrapping_mul(2).wrapping_sub(sign.wrapping_mul(2));
        word | ones
    }

    /// Moves fields together: two lanes become one of twice the size, until the word is one lane.
    #[inline(always)]
    fn fold(&self, mut word: u64) -> u64 {
        for step in 0..steps(SIZE) {
            let gap = (Self::LANE - self.bits) << step;
            word = word & self.low[step] | word >> gap & self.low[step] << (self.bits << step);
        }
        word
    }

    /// The inverse of [`fold`](Self::fold); what lies above the last field does not matter.
    #[inline(always)]
    fn unfold(&self, mut word: u64) -> u64 {
        for step in (0..steps(SIZE)).rev() {
            let gap = (Self::LANE - self.bits) << step;
            word = word & self.low[step] | (word & self.low[step] << (self.bits << step)) << gap;
        }
        word
    }
}

/// How often two components of a word become one.
const fn steps(size: usize) -> usize {
    (8 / size).trailing_zeros() as usize
}

/// The low `bits` of each lane of `lane` bits.
fn lanes(lane: u32, bits: u32) -> u64 {
    in_each_lane(lane, if bits < 64 { (1 << bits) - 1 } else { u64::MAX })
}

/// A word whose lowest bits are the first component.
#[inline(always)]
fn load_lanes<const SIZE: usize>(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(native_to_little::<SIZE>(bytes))
}

#[inline(always)]
fn store_lanes<const SIZE: usize>(word: u64) -> [u8; 8] {
    native_to_little::<SIZE>(word.to_le_bytes())
}

/// Between native components and little-endian ones, in both directions.
#[inline(always)]
fn native_to_little<const SIZE: usize>(mut bytes: [u8; 8]) -> [u8; 8] {
    if cfg!(target_endian = "big") {
        bytes.as_chunks_mut::<SIZE>().0.iter_mut().for_each(|component| component.reverse());
    }
    bytes
}

/// Writes bits one after the other, 64 at a time.
struct PackedWriter<'a> {
    rest: &'a mut [u8],
    word: u64,
    /// The bits of `word` that wait to be written: fewer than 64.
    filled: u32,
}

impl PackedWriter<'_> {
    /// Appends the low `bits` of a value that has no others, 1 to 64.
    #[inline(always)]
    fn push(&mut self, value: u64, bits: u32) {
        self.word |= value << self.filled;
        self.filled += bits;
        if self.filled >= 64 {
            let (word, rest) = std::mem::take(&mut self.rest).split_at_mut(8);
            word.copy_from_slice(&self.word.to_le_bytes());
            self.rest = rest;
            self.filled -= 64;
            // The bits that did not fit. In two shifts, because if all did fit it is a shift by 64.
            self.word = value >> 1 >> (bits - self.filled - 1);
        }
    }

    /// Writes the pending bits, with zeros up to a whole byte.
    fn finish(self) {
        let size = self.filled.div_ceil(8) as usize;
        self.rest[..size].copy_from_slice(&self.word.to_le_bytes()[..size]);
    }
}

/// The 64 bits from a position on, and zeros past the end. The position is 64 bits wide because memory of 32-bit
/// addresses holds more than 2^32 bits.
#[inline(always)]
fn read(encoded: &[u8], position: u64) -> u64 {
    let (start, shift) = ((position / 8) as usize, position % 8);
    let (word, next) = match encoded.get(start..start + 9) {
        Some([word @ .., next]) => (*word.first_chunk().unwrap_or(&[0; 8]), *next),
        _ => {
            let rest = &encoded[start..];
            let mut word = [0; 8];
            word[..rest.len().min(8)].copy_from_slice(&rest[..rest.len().min(8)]);
            (word, 0)
        }
    };
    u64::from_le_bytes(word) >> shift | u64::from(next) << 1 << (63 - shift)
}
