//! AVX2: two halves of 16 bytes, in each of which 16 elements are moved. Elements of every size.

#![expect(unsafe_code, reason = "uses instructions that the level promises")]
#![allow(
    clippy::needless_range_loop,
    reason = "loops by index are unrolled; iterators of registers went through memory, at a third of the speed"
)]

mod bits;
pub(super) mod bytes;

use super::Planes;
use std::arch::x86_64::*;

pub(super) const PLANES: Planes = Planes {
    to_planes: bytes::to_planes,
    from_planes: bytes::from_planes,
    to_rows: bits::to_rows,
    from_rows: bits::from_rows,
};

/// Zips the registers of the first half with those of the second, parts of this many bytes in turn, in both halves of
/// the register, `times` times. Each time turns the address of a part, its register and its place in a half, left by
/// one bit.
#[inline]
#[target_feature(enable = "avx2")]
fn zip<const PART: usize, const COUNT: usize>(mut registers: [__m256i; COUNT], times: u32) -> [__m256i; COUNT] {
    for _ in 0..times {
        let before = registers;
        for index in 0..COUNT / 2 {
            let (first, second) = (before[index], before[COUNT / 2 + index]);
            [registers[2 * index], registers[2 * index + 1]] = zip_two::<PART>(first, second);
        }
    }
    registers
}

/// Zips two registers, parts of this many bytes in turn, in both halves.
#[inline]
#[target_feature(enable = "avx2")]
fn zip_two<const PART: usize>(first: __m256i, second: __m256i) -> [__m256i; 2] {
    match PART {
        1 => [_mm256_unpacklo_epi8(first, second), _mm256_unpackhi_epi8(first, second)],
        2 => [_mm256_unpacklo_epi16(first, second), _mm256_unpackhi_epi16(first, second)],
        4 => [_mm256_unpacklo_epi32(first, second), _mm256_unpackhi_epi32(first, second)],
        _ => [_mm256_unpacklo_epi64(first, second), _mm256_unpackhi_epi64(first, second)],
    }
}

/// The 32 bytes from the beginning of a slice.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8]) -> __m256i {
    let bytes = &bytes[..32];
    // SAFETY: these are 32 readable bytes, and this load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Stores at the beginning of a slice.
#[inline]
#[target_feature(enable = "avx2")]
fn store(register: __m256i, bytes: &mut [u8]) {
    let bytes = &mut bytes[..32];
    // SAFETY: these are 32 writable bytes, and this store needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), register) }
}

/// A register of two halves, each from the beginning of a slice.
#[inline]
#[target_feature(enable = "avx2")]
fn load_halves(low: &[u8], high: &[u8]) -> __m256i {
    let (low, high) = (&low[..16], &high[..16]);
    // SAFETY: these are 16 readable bytes each, and the loads need no alignment.
    unsafe {
        _mm256_inserti128_si256::<1>(
            _mm256_castsi128_si256(_mm_loadu_si128(low.as_ptr().cast())),
            _mm_loadu_si128(high.as_ptr().cast()),
        )
    }
}

/// Stores half a register at the beginning of a slice.
#[inline]
#[target_feature(enable = "avx2")]
fn store_half(register: __m128i, bytes: &mut [u8]) {
    let bytes = &mut bytes[..16];
    // SAFETY: these are 16 writable bytes, and this store needs no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), register) }
}

/// The upper half of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn upper(register: __m256i) -> __m128i {
    _mm256_extracti128_si256::<1>(register)
}
