//! Codes of some blocks as words.

use std::arch::x86_64::*;

/// The most words that the planes of a block take.
const MOST: usize = 32;

/// The codes of four blocks, or of eight.
pub(super) struct Words {
    /// One of each block, and so on. Each has up to 48 bits, with their number above.
    words: [[__m256i; 2]; MOST],
    /// How many of a block.
    count: usize,
    /// The sums of their lengths.
    lengths: [__m256i; 2],
    /// How many bits may follow the headers.
    budget: u32,
}

impl Words {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new(budget: u32) -> Self {
        let none = [_mm256_setzero_si256(); 2];
        Self { words: [none; MOST], count: 0, lengths: none, budget }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn clear(&mut self) {
        (self.count, self.lengths) = (0, [_mm256_setzero_si256(); 2]);
    }

    /// Appends a word of each block.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn push(&mut self, words: [__m256i; 2]) {
        self.words[self.count % MOST] = words;
        self.count += 1;
        for (sum, word) in self.lengths.iter_mut().zip(words) {
            *sum = _mm256_add_epi64(*sum, _mm256_srli_epi64::<48>(word));
        }
    }

    /// Appends a word of this many planes without ones, up to 48, or as many as each block has.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn push_empty<const WIDE: bool>(&mut self, count: u32, plane_counts: __m256i) {
        let own = if WIDE { plane_counts } else { _mm256_cvtepu32_epi64(_mm256_castsi256_si128(plane_counts)) };
        let others = if WIDE { own } else { _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(plane_counts)) };
        let count = _mm256_set1_epi64x(count.into());
        let (own, others) = (_mm256_min_epu32(own, count), _mm256_min_epu32(others, count));
        self.push([_mm256_slli_epi64::<48>(own), _mm256_slli_epi64::<48>(others)]);
    }

    /// Whether no block may have more bits, of eight, or if `WIDE` four.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn are_full<const WIDE: bool>(&self) -> bool {
        let [first, second] = self.lengths;
        let budget = _mm256_set1_epi64x(self.budget.into());
        let has_room = _mm256_cmpgt_epi64(budget, first);
        let has_room = if WIDE { has_room } else { _mm256_or_si256(has_room, _mm256_cmpgt_epi64(budget, second)) };
        _mm256_testz_si256(has_room, has_room) == 1
    }

    /// The bits of the words of a block, and how many they are.
    #[inline(always)]
    pub(super) fn of_block(&self, block: usize) -> impl Iterator<Item = (u64, u32)> {
        let words: &[[u64; 8]] = bytemuck::cast_slice(&self.words[..self.count.min(MOST)]);
        words.iter().map(move |words| words[block % 8]).map(|word| (word & ((1 << 48) - 1), (word >> 48) as u32))
    }
}
