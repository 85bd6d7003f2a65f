//! Codes that follow each other, a lane for each.

use std::arch::x86_64::*;

/// The bits of codes, zeros above, and their lengths.
#[derive(Clone, Copy)]
pub(super) struct Codes {
    pub(super) bits: __m256i,
    pub(super) lengths: __m256i,
}

impl Codes {
    /// Lanes of 8 bits to lanes of 16, with two codes each, if none has more than 7 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn short_pairs_of_8(self) -> Self {
        /// By length: 2 to its power.
        const POWERS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];
        // 1 for the first code, and for the second what shifts it past the first.
        let factors = looked_up(POWERS, _mm256_slli_epi16::<8>(self.lengths));
        Self { bits: _mm256_maddubs_epi16(factors, self.bits), lengths: self.sums_of_8() }
    }

    /// The same for codes of 4 to 8 bits. `powers` has, in each lane, 2 to the power of the length less four.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn pairs_of_8(self, powers: __m256i) -> Self {
        let low = _mm256_set1_epi16(0xFF);
        let second = _mm256_mullo_epi16(_mm256_srli_epi16::<8>(self.bits), _mm256_and_si256(powers, low));
        let bits = _mm256_or_si256(_mm256_and_si256(self.bits, low), _mm256_slli_epi16::<4>(second));
        Self { bits, lengths: self.sums_of_8() }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sums_of_8(self) -> __m256i {
        _mm256_maddubs_epi16(self.lengths, _mm256_set1_epi8(1))
    }

    /// Lanes of 16 bits to lanes of 32.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn pairs_of_16(self) -> Self {
        let low = _mm256_set1_epi32(0xFFFF);
        let second = _mm256_sllv_epi32(_mm256_srli_epi32::<16>(self.bits), _mm256_and_si256(self.lengths, low));
        Self {
            bits: _mm256_or_si256(_mm256_and_si256(self.bits, low), second),
            lengths: _mm256_madd_epi16(self.lengths, _mm256_set1_epi16(1)),
        }
    }

    /// Lanes of 32 bits to lanes of 64.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn pairs_of_32(self) -> Self {
        let low = _mm256_set1_epi64x(0xFFFF_FFFF);
        let first_length = _mm256_and_si256(self.lengths, low);
        let second = _mm256_sllv_epi64(_mm256_srli_epi64::<32>(self.bits), first_length);
        Self {
            bits: _mm256_or_si256(_mm256_and_si256(self.bits, low), second),
            lengths: _mm256_add_epi64(first_length, _mm256_srli_epi64::<32>(self.lengths)),
        }
    }

    /// Of lanes of 64 bits, up to 48 bits with their length above.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn with_lengths_above(self) -> __m256i {
        _mm256_or_si256(self.bits, _mm256_slli_epi64::<48>(self.lengths))
    }

    /// Those of the mask; the others become empty.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn only(self, mask: __m256i) -> Self {
        Self { bits: _mm256_and_si256(self.bits, mask), lengths: _mm256_and_si256(self.lengths, mask) }
    }
}

/// The entry of a table for each byte.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn looked_up(table: [u8; 16], indices: __m256i) -> __m256i {
    _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytemuck::cast(table)), indices)
}
