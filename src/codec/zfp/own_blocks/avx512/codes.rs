//! Codes that follow each other, a lane for each.

use std::arch::x86_64::*;

/// The bits of codes, zeros above, and their lengths.
#[derive(Clone, Copy)]
pub(super) struct Codes {
    pub(super) bits: __m512i,
    pub(super) lengths: __m512i,
}

impl Codes {
    /// Lanes of 8 bits to lanes of 16, with two codes each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn pairs_of_8(self) -> Self {
        let low = _mm512_set1_epi16(0xFF);
        let second = _mm512_srli_epi16::<8>(self.bits);
        let second = _mm512_sllv_epi16(second, _mm512_and_si512(self.lengths, low));
        Self { bits: join(self.bits, second, low), lengths: _mm512_maddubs_epi16(self.lengths, _mm512_set1_epi8(1)) }
    }

    /// Lanes of 16 bits to lanes of 32.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn pairs_of_16(self) -> Self {
        let low = _mm512_set1_epi32(0xFFFF);
        let second = _mm512_srli_epi32::<16>(self.bits);
        let second = _mm512_sllv_epi32(second, _mm512_and_si512(self.lengths, low));
        Self { bits: join(self.bits, second, low), lengths: _mm512_madd_epi16(self.lengths, _mm512_set1_epi16(1)) }
    }

    /// Lanes of 32 bits to lanes of 64.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn pairs_of_32(self) -> Self {
        let low = _mm512_set1_epi64(0xFFFF_FFFF);
        let first_length = _mm512_and_si512(self.lengths, low);
        let second = _mm512_sllv_epi64(_mm512_srli_epi64::<32>(self.bits), first_length);
        Self {
            bits: join(self.bits, second, low),
            lengths: _mm512_add_epi64(first_length, _mm512_srli_epi64::<32>(self.lengths)),
        }
    }

    /// Of lanes of 64 bits, up to 48 bits with their length above.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn with_lengths_above(self) -> __m512i {
        _mm512_or_si512(self.bits, _mm512_slli_epi64::<48>(self.lengths))
    }
}

/// The bits of `first` that `mask` has, and those of `second`.
#[inline]
#[target_feature(enable = "avx512f")]
fn join(first: __m512i, second: __m512i, mask: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b1110_1100>(first, second, mask)
}
