//! Codes of eight blocks, as words with a lane for each block.

use super::super::block::Limits;
use std::arch::x86_64::*;

/// The most words that the planes of a block take.
pub(super) const MOST: usize = 32;

/// The codes of up to eight blocks, a lane for each.
pub(super) struct Words {
    pub(super) headers: __m512i,
    pub(super) header_lengths: __m512i,
    /// Each has up to 48 bits, with their number above.
    words: [__m512i; MOST],
    count: usize,
    /// How many bits may follow the headers.
    pub(super) budgets: __m512i,
    /// Whether blocks can have more bits than that.
    pub(super) has_limit: bool,
    pub(super) block_count: usize,
}

impl Words {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new() -> Self {
        let none = _mm512_setzero_si512();
        Self {
            headers: none,
            header_lengths: none,
            words: [none; MOST],
            count: 0,
            budgets: none,
            has_limit: false,
            block_count: 0,
        }
    }

    /// Begins up to eight blocks with these headers. Other lanes are left out.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn begin(&mut self, limits: &Limits, headers: __m512i, lengths: __m512i, block_count: usize) {
        let budgets = _mm512_sub_epi64(_mm512_set1_epi64(limits.maxbits.into()), lengths);
        self.block_count = block_count.min(8);
        let exist = self.existing();
        self.headers = _mm512_maskz_mov_epi64(exist, headers);
        self.header_lengths = _mm512_maskz_mov_epi64(exist, lengths);
        self.budgets = _mm512_maskz_max_epi64(exist, budgets, _mm512_setzero_si512());
        // No block takes as many bits as these words have. Lanes that are left out must have none.
        self.has_limit = limits.maxbits < 64 * MOST as u32 || self.block_count < 8;
        self.count = 0;
    }

    /// The lanes that have blocks.
    #[inline(always)]
    pub(super) fn existing(&self) -> __mmask8 {
        ((1_u32 << self.block_count) - 1) as __mmask8
    }

    /// Appends the first `count` of these words, of up to 48 bits with their lengths above these. All of them are
    /// copied: a copy whose size is known takes less time.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn push<const ALL: usize>(&mut self, words: [__m512i; ALL], count: usize) {
        if let Some(places) = self.words.get_mut(self.count..).and_then(<[_]>::first_chunk_mut) {
            *places = words;
        }
        self.count += count.min(ALL);
    }

    #[inline(always)]
    pub(super) fn after_headers(&self) -> &[__m512i] {
        &self.words[..self.count.min(MOST)]
    }

    /// Whether no block may have more bits.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn are_full(&self) -> bool {
        let mut lengths = _mm512_setzero_si512();
        for word in self.after_headers() {
            lengths = _mm512_add_epi64(lengths, _mm512_srli_epi64::<48>(*word));
        }
        self.has_limit && _mm512_cmplt_epi64_mask(lengths, self.budgets) == 0
    }
}
