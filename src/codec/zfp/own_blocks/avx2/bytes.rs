//! Bytes and bits of coefficients across vectors.
//!
//! [`by_significance`] puts bytes of the same significance side by side: in each lane of 16 bytes four of four blocks, and
//! so on, or, of 64 bits, two of two blocks.

use super::d3::matrix::{BY_SIGNIFICANCE, INTERLEAVED, in_both_lanes};
use std::arch::x86_64::*;

/// The bytes of coefficients, the least significant ones first.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn by_significance<const WIDE: bool>(coefficients: __m256i) -> __m256i {
    _mm256_shuffle_epi8(coefficients, in_both_lanes(if WIDE { INTERLEAVED } else { BY_SIGNIFICANCE }))
}

/// Bit i of a byte of vector j becomes bit j of this byte of vector i.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose_bits(mut vectors: [__m256i; 8]) -> [__m256i; 8] {
    for i in 0..4 {
        [vectors[i], vectors[i + 4]] = exchange::<4>([vectors[i], vectors[i + 4]], 0x0F);
    }
    for i in [0, 1, 4, 5] {
        [vectors[i], vectors[i + 2]] = exchange::<2>([vectors[i], vectors[i + 2]], 0x33);
    }
    for i in [0, 2, 4, 6] {
        [vectors[i], vectors[i + 1]] = exchange::<1>([vectors[i], vectors[i + 1]], 0x55);
    }
    vectors
}

/// Exchanges the bits of the second vector that the mask has with those of the first one that are so far above them.
#[inline]
#[target_feature(enable = "avx2")]
fn exchange<const DISTANCE: i32>([a, b]: [__m256i; 2], mask: i8) -> [__m256i; 2] {
    let differences = _mm256_xor_si256(_mm256_srli_epi64::<DISTANCE>(a), b);
    let differences = _mm256_and_si256(differences, _mm256_set1_epi8(mask));
    [_mm256_xor_si256(a, _mm256_slli_epi64::<DISTANCE>(differences)), _mm256_xor_si256(b, differences)]
}

/// In each lane of 16 bytes, two words of eight bytes of each vector: the first bytes of all vectors from the last to the
/// first one, and the second ones; then the third and the fourth ones, and so on.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose_bytes_backwards([a, b, c, d, e, f, g, h]: [__m256i; 8]) -> [__m256i; 8] {
    let low = [
        _mm256_unpacklo_epi8(h, g),
        _mm256_unpacklo_epi8(f, e),
        _mm256_unpacklo_epi8(d, c),
        _mm256_unpacklo_epi8(b, a),
    ];
    let high = [
        _mm256_unpackhi_epi8(h, g),
        _mm256_unpackhi_epi8(f, e),
        _mm256_unpackhi_epi8(d, c),
        _mm256_unpackhi_epi8(b, a),
    ];
    let ([a, b, c, d], [e, f, g, h]) = (join_pairs(low), join_pairs(high));
    [a, b, c, d, e, f, g, h]
}

/// The pairs of bytes of four vectors to words.
#[inline]
#[target_feature(enable = "avx2")]
fn join_pairs([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab, cd) = (_mm256_unpacklo_epi16(a, b), _mm256_unpacklo_epi16(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi16(a, b), _mm256_unpackhi_epi16(c, d));
    [
        _mm256_unpacklo_epi32(ab, cd),
        _mm256_unpackhi_epi32(ab, cd),
        _mm256_unpacklo_epi32(ab_high, cd_high),
        _mm256_unpackhi_epi32(ab_high, cd_high),
    ]
}
