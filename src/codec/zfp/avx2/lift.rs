//! zfp's decorrelating transforms on vectors of integers of 32 bits, or if `WIDE` of 64 bits.

use super::matrix::transpose_32;
use std::arch::x86_64::*;

/// Four values along an axis, for as many lines as a vector has.
pub(super) type Lines = [__m256i; 4];

#[inline]
#[target_feature(enable = "avx2")]
fn add<const WIDE: bool>(a: __m256i, b: __m256i) -> __m256i {
    if WIDE { _mm256_add_epi64(a, b) } else { _mm256_add_epi32(a, b) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn sub<const WIDE: bool>(a: __m256i, b: __m256i) -> __m256i {
    if WIDE { _mm256_sub_epi64(a, b) } else { _mm256_sub_epi32(a, b) }
}

/// Rounded down.
#[inline]
#[target_feature(enable = "avx2")]
fn half<const WIDE: bool>(a: __m256i) -> __m256i {
    if WIDE {
        // There is no arithmetic shift of 64 bits: the upper half is that of 32 bits.
        _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<1>(a), _mm256_srai_epi32::<1>(a))
    } else {
        _mm256_srai_epi32::<1>(a)
    }
}

/// `fwd_lift`
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn forward<const WIDE: bool>([mut x, mut y, mut z, mut w]: Lines) -> Lines {
    x = half::<WIDE>(add::<WIDE>(x, w));
    w = sub::<WIDE>(w, x);
    z = half::<WIDE>(add::<WIDE>(z, y));
    y = sub::<WIDE>(y, z);
    x = half::<WIDE>(add::<WIDE>(x, z));
    z = sub::<WIDE>(z, x);
    w = half::<WIDE>(add::<WIDE>(w, y));
    y = sub::<WIDE>(y, w);
    w = add::<WIDE>(w, half::<WIDE>(y));
    y = sub::<WIDE>(y, half::<WIDE>(w));
    [x, y, z, w]
}

/// `inv_lift`, which doubles what the other one halves.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn backward<const WIDE: bool>([mut x, mut y, mut z, mut w]: Lines) -> Lines {
    y = add::<WIDE>(y, half::<WIDE>(w));
    w = sub::<WIDE>(w, half::<WIDE>(y));
    y = add::<WIDE>(y, w);
    w = sub::<WIDE>(add::<WIDE>(w, w), y);
    z = add::<WIDE>(z, x);
    x = sub::<WIDE>(add::<WIDE>(x, x), z);
    y = add::<WIDE>(y, z);
    z = sub::<WIDE>(add::<WIDE>(z, z), y);
    w = add::<WIDE>(w, x);
    x = sub::<WIDE>(add::<WIDE>(x, x), w);
    [x, y, z, w]
}

/// `rev_fwd_lift`: differences of the third order.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn differences<const WIDE: bool>([x, mut y, mut z, mut w]: Lines) -> Lines {
    w = sub::<WIDE>(w, z);
    z = sub::<WIDE>(z, y);
    y = sub::<WIDE>(y, x);
    w = sub::<WIDE>(w, z);
    z = sub::<WIDE>(z, y);
    w = sub::<WIDE>(w, z);
    [x, y, z, w]
}

/// `rev_inv_lift`
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sums<const WIDE: bool>([x, mut y, mut z, mut w]: Lines) -> Lines {
    w = add::<WIDE>(w, z);
    z = add::<WIDE>(z, y);
    w = add::<WIDE>(w, z);
    y = add::<WIDE>(y, x);
    z = add::<WIDE>(z, y);
    w = add::<WIDE>(w, z);
    [x, y, z, w]
}

/// Rows of four values to lines, and back. Of 32 bits, the lanes of the vectors hold a row each.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose<const WIDE: bool>(rows: Lines) -> Lines {
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
