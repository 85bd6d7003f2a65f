//! How words of eight blocks come into the stream: they are joined to whole words with a lane for each block, and written
//! block by block.

use super::super::bits::Room;
use super::super::block::Limits;
use super::lanes::transpose_8x8;
use super::words::Words;
use std::arch::x86_64::*;

/// The most words with that of the header: a multiple of eight.
const MOST_JOINED: usize = 40;

/// Up to this many words of a block are written one by one, which then takes less time.
const FEW: usize = 3;

/// Joins words and writes them to the stream.
pub(super) struct Joiner {
    /// Words of up to 64 bits, above which there are zeros.
    bits: [__m512i; MOST_JOINED],
    lengths: [__m512i; MOST_JOINED],
    count: usize,
    /// Eight words at a time, some of which are whole: first a lane for each block, then a vector for each.
    joined: [[__m512i; 8]; MOST_JOINED / 8],
    /// How many lanes are in use: one for each block, or for some that follow each other.
    lane_count: usize,
}

impl Joiner {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new() -> Self {
        let none = _mm512_setzero_si512();
        Self {
            bits: [none; MOST_JOINED],
            lengths: [none; MOST_JOINED],
            count: 0,
            joined: [[none; 8]; MOST_JOINED / 8],
            lane_count: 0,
        }
    }

    /// Joins words that follow each other as long as those of all blocks have room in one, up to the bits that blocks
    /// may have. Returns the sums of their lengths.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn join_short(&mut self, words: &Words) -> __m512i {
        let (mut last_bits, mut last_lengths) = (words.headers, words.header_lengths);
        let (mut all_lengths, mut left, mut count) = (words.header_lengths, words.budgets, 0);
        for word in words.after_headers() {
            let mut lengths = _mm512_srli_epi64::<48>(*word);
            let mut bits = _mm512_and_si512(*word, _mm512_set1_epi64((1 << 48) - 1));
            if words.has_limit {
                lengths = _mm512_min_epi64(lengths, left);
                bits = _mm512_andnot_si512(_mm512_sllv_epi64(_mm512_set1_epi64(-1), lengths), bits);
                left = _mm512_sub_epi64(left, lengths);
            }
            all_lengths = _mm512_add_epi64(all_lengths, lengths);
            let both = _mm512_add_epi64(last_lengths, lengths);
            if _mm512_cmpgt_epi64_mask(both, _mm512_set1_epi64(64)) == 0 {
                last_bits = _mm512_or_si512(last_bits, _mm512_sllv_epi64(bits, last_lengths));
                last_lengths = both;
            } else {
                (self.bits[count % MOST_JOINED], self.lengths[count % MOST_JOINED]) = (last_bits, last_lengths);
                (last_bits, last_lengths, count) = (bits, lengths, count + 1);
            }
        }
        (self.bits[count % MOST_JOINED], self.lengths[count % MOST_JOINED]) = (last_bits, last_lengths);
        self.count = (count + 1).min(MOST_JOINED);
        all_lengths
    }

    /// Writes the blocks one after the other.
    #[inline]
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) fn put(&mut self, words: &Words, room: &mut Room<'_>, limits: &Limits) {
        self.lane_count = words.block_count;
        let written = self.join_short(words);
        let least = _mm512_maskz_set1_epi64(words.existing(), limits.minbits.into());
        let mut lengths = _mm512_max_epi64(written, least);
        let mut are_filled = _mm512_cmpgt_epi64_mask(lengths, written) != 0;
        if self.count == 1 && limits.minbits <= 64 {
            // The words have what fills the blocks, too.
            (self.lengths[0], are_filled) = (lengths, false);
            self.join_neighbours();
            lengths = self.lengths[0];
        }
        let ends = sums(lengths);
        let starts = _mm512_sub_epi64(ends, lengths);
        let ends: [u64; 8] = bytemuck::cast(ends);
        let (first, filled) = (room.next, u64::from(room.filled));
        let joined = self.join(_mm512_add_epi64(starts, _mm512_set1_epi64(filled.cast_signed())));
        // There are no bits in the lanes after the last block.
        room.filled = ((filled + ends[7]) % 64) as u32;
        if self.count <= FEW && !are_filled {
            for block in 0..self.lane_count {
                self.put_short(block, &joined, room);
            }
        } else {
            self.transpose();
            for (block, end) in ends.iter().enumerate().take(self.lane_count) {
                self.put_long(block, &joined, room);
                room.pad(first + ((filled + end) / 64) as usize);
            }
        }
    }

    /// Joins the words of neighbours, where each block has one, as long as those of all pairs have room in one.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn join_neighbours(&mut self) {
        const HALF: __mmask8 = 0b1111;
        let (even, odd) = (_mm512_setr_epi64(0, 2, 4, 6, 0, 0, 0, 0), _mm512_setr_epi64(1, 3, 5, 7, 0, 0, 0, 0));
        while self.lane_count > 1 {
            let length = _mm512_maskz_permutexvar_epi64(HALF, even, self.lengths[0]);
            let next_length = _mm512_maskz_permutexvar_epi64(HALF, odd, self.lengths[0]);
            let both = _mm512_add_epi64(length, next_length);
            if _mm512_cmpgt_epi64_mask(both, _mm512_set1_epi64(64)) != 0 {
                return;
            }
            let bits = _mm512_maskz_permutexvar_epi64(HALF, even, self.bits[0]);
            let next_bits = _mm512_maskz_permutexvar_epi64(HALF, odd, self.bits[0]);
            self.bits[0] = _mm512_or_si512(bits, _mm512_sllv_epi64(next_bits, length));
            self.lengths[0] = both;
            self.lane_count = self.lane_count.div_ceil(2);
        }
    }

    /// Joins all words to whole ones, the first ones of which begin at these bits.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn join(&mut self, starts: __m512i) -> Ends {
        let (whole, within) = (_mm512_set1_epi64(64), _mm512_set1_epi64(63));
        let (mut are_whole, mut bit) = (_mm512_setzero_si512(), _mm512_set1_epi64(1));
        let (mut pending, mut filled) = (_mm512_setzero_si512(), _mm512_and_si512(starts, within));
        let words = self.bits[..self.count].iter().zip(&self.lengths);
        for ((bits, length), joined) in words.zip(self.joined.as_flattened_mut()) {
            *joined = _mm512_or_si512(pending, _mm512_sllv_epi64(*bits, filled));
            let rest = _mm512_srlv_epi64(*bits, _mm512_sub_epi64(whole, filled));
            filled = _mm512_add_epi64(filled, *length);
            let is_whole = _mm512_test_epi64_mask(filled, whole);
            pending = _mm512_mask_mov_epi64(*joined, is_whole, rest);
            filled = _mm512_and_si512(filled, within);
            are_whole = _mm512_mask_or_epi64(are_whole, is_whole, are_whole, bit);
            bit = _mm512_add_epi64(bit, bit);
        }
        Ends { are_whole: bytemuck::cast(are_whole), pending: bytemuck::cast(pending) }
    }

    /// Words that were joined, eight at a time, to vectors of a block.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn transpose(&mut self) {
        for words in &mut self.joined[..self.count.div_ceil(8)] {
            *words = transpose_8x8(*words);
        }
    }

    /// Writes a block of few words, before they are transposed.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn put_short(&self, block: usize, ends: &Ends, room: &mut Room<'_>) {
        let mut are_whole = ends.are_whole[block];
        let words: &[[u64; 8]] = bytemuck::cast_slice(&self.joined[0]);
        for words in &words[..self.count] {
            let word = words[block] | room.pending;
            if let Some(place) = room.one() {
                *place = word.to_le_bytes();
            }
            let is_whole = are_whole & 1;
            room.next += is_whole as usize;
            room.pending &= is_whole.wrapping_sub(1);
            are_whole >>= 1;
        }
        room.pending |= ends.pending[block];
    }

    /// Writes a block of words that were transposed.
    #[inline]
    #[target_feature(enable = "avx512f,popcnt")]
    fn put_long(&self, block: usize, ends: &Ends, room: &mut Room<'_>) {
        let mut are_whole = ends.are_whole[block];
        for words in &self.joined[..self.count.div_ceil(8)] {
            let words = _mm512_maskz_compress_epi64(are_whole as __mmask8, words[block]);
            let words = _mm512_or_si512(words, _mm512_zextsi128_si512(_mm_cvtsi64_si128(room.pending.cast_signed())));
            match room.eight() {
                Some(places) => *places = bytemuck::cast(words),
                None => room.put_some(bytemuck::cast(words)),
            }
            let count = (are_whole as u8).count_ones();
            room.next += count as usize;
            room.pending = if count == 0 { room.pending } else { 0 };
            are_whole >>= 8;
        }
        room.pending |= ends.pending[block];
    }
}

/// Of eight blocks that were joined.
struct Ends {
    /// A bit for each word.
    are_whole: [u64; 8],
    /// What follows the whole words.
    pending: [u64; 8],
}

/// The sums of all lanes up to each one.
#[inline]
#[target_feature(enable = "avx512f")]
fn sums(mut lanes: __m512i) -> __m512i {
    let none = _mm512_setzero_si512();
    lanes = _mm512_add_epi64(lanes, _mm512_alignr_epi64::<7>(lanes, none));
    lanes = _mm512_add_epi64(lanes, _mm512_alignr_epi64::<6>(lanes, none));
    _mm512_add_epi64(lanes, _mm512_alignr_epi64::<4>(lanes, none))
}

#[cfg(test)]
mod tests {
    use super::super::super::TIERS;
    use super::super::super::bits::BitWriter;
    use super::super::words::MOST;
    use super::*;
    use crate::simd::{Level, available};

    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 16
    }

    /// Numbers of up to `most` bits, and how many they have.
    fn word(state: &mut u64, most: u64) -> (u64, u64) {
        let length = next(state) % (most + 1);
        (next(state) & ((1 << length) - 1), length)
    }

    struct Block {
        header: (u64, u64),
        words: Vec<(u64, u64)>,
    }

    #[target_feature(enable = "avx512f,popcnt")]
    fn put(sink: &mut BitWriter<'_>, limits: &Limits, blocks: &[Block]) {
        let lanes = |of: &dyn Fn(&Block) -> u64| {
            let mut lanes = [u64::MAX; 8];
            for (lane, block) in lanes.iter_mut().zip(blocks) {
                *lane = of(block);
            }
            bytemuck::cast(lanes)
        };
        let (mut words, mut joiner) = (Words::new(), Joiner::new());
        words.begin(limits, lanes(&|block| block.header.0), lanes(&|block| block.header.1), blocks.len());
        for index in 0..blocks[0].words.len() {
            words.push([lanes(&|block| block.words[index].0 | block.words[index].1 << 48)], 1);
        }
        let mut room = sink.room();
        joiner.put(&words, &mut room, limits);
        let end = room.end();
        sink.advance(end);
    }

    fn put_one_by_one(sink: &mut BitWriter<'_>, limits: &Limits, blocks: &[Block]) {
        for block in blocks {
            let start = sink.position();
            sink.put(block.header.0, block.header.1 as u32);
            let end = sink.position() + u64::from(limits.bits_after(block.header.1 as u32));
            for (bits, length) in &block.words {
                sink.put_long(*bits, *length as u32);
            }
            sink.truncate(end);
            limits.pad(sink, start);
        }
    }

    #[test]
    fn blocks_are_their_words_up_to_the_most_bits_and_filled_up_to_the_least() {
        if available(TIERS).all(|tier| tier.level != Level::Avx512) {
            return;
        }
        let mut state = 3;
        for round in 0..20_000 {
            let (most, word_count) = ([48, 12, 3][round % 3], next(&mut state) as usize % (MOST + 1));
            let blocks: Vec<Block> = (0..1 + next(&mut state) % 8)
                .map(|_| Block {
                    header: word(&mut state, 19),
                    words: (0..word_count).map(|_| word(&mut state, most)).collect(),
                })
                .collect();
            let maxbits = if round % 2 == 0 { u32::MAX } else { 19 + (next(&mut state) % 700) as u32 };
            let minbits = (next(&mut state) % 700) as u32 * (round as u32 / 2 % 2);
            let limits =
                Limits { minbits: minbits.min(maxbits), maxbits, maxprec: 64, minexp: 0, is_reversible: false };
            let size = [1 << 16, next(&mut state) as usize % 1000][usize::from(round % 5 == 0)];
            let (mut ours, mut theirs) = (vec![0xA5; size], vec![0xA5; size]);
            let (mut sink, mut expected) = (BitWriter::new(&mut ours), BitWriter::new(&mut theirs));
            for sink in [&mut sink, &mut expected] {
                sink.put_long(round as u64, 17 + round as u32 % 48);
            }
            for _ in 0..2 {
                // SAFETY: the tier is available.
                unsafe { put(&mut sink, &limits, &blocks) };
                put_one_by_one(&mut expected, &limits, &blocks);
            }
            for sink in [&mut sink, &mut expected] {
                sink.put(0b101, 3);
                sink.flush();
            }
            assert_eq!(sink.position(), expected.position(), "round {round}");
            assert_eq!(sink.overflowed(), expected.overflowed(), "round {round}");
            if !sink.overflowed() {
                let written = sink.position().div_ceil(8) as usize;
                assert_eq!(ours[..written], theirs[..written], "round {round}");
            }
        }
    }
}
