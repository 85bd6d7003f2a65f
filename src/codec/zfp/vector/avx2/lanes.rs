//! Integers of 32 bits, or if `WIDE` of 64 bits: what [`Lanes`](super::Lanes) says of each, and what else transforms need.

use super::matrix::transpose_32;
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add<const WIDE: bool>(a: __m256i, b: __m256i) -> __m256i {
    if WIDE { _mm256_add_epi64(a, b) } else { _mm256_add_epi32(a, b) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sub<const WIDE: bool>(a: __m256i, b: __m256i) -> __m256i {
    if WIDE { _mm256_sub_epi64(a, b) } else { _mm256_sub_epi32(a, b) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn half<const WIDE: bool>(a: __m256i) -> __m256i {
    if WIDE {
        // There is no arithmetic shift of 64 bits: the upper half is that of 32 bits.
        _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<1>(a), _mm256_srai_epi32::<1>(a))
    } else {
        _mm256_srai_epi32::<1>(a)
    }
}

/// Rows of four values to lines, and back. Of 32 bits, the lanes of the vectors hold a row each.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose<const WIDE: bool>(rows: [__m256i; 4]) -> [__m256i; 4] {
    if !WIDE {
        return transpose_32(rows);
    }
    let [a, b, c, d] = rows;
    let (ab, cd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d));
    [
        _mm256_permute2x128_si256::<0x20>(ab, cd),
        _mm256_permute2x128_si256::<0x20>(ab_high, cd_high),
        _mm256_permute2x128_si256::<0x31>(ab, cd),
        _mm256_permute2x128_si256::<0x31>(ab_high, cd_high),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn to_negabinary<const WIDE: bool>(a: __m256i) -> __m256i {
    let mask = _mm256_set1_epi8(0xAA_u8.cast_signed());
    _mm256_xor_si256(add::<WIDE>(a, mask), mask)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn from_negabinary<const WIDE: bool>(a: __m256i) -> __m256i {
    let mask = _mm256_set1_epi8(0xAA_u8.cast_signed());
    sub::<WIDE>(_mm256_xor_si256(a, mask), mask)
}
