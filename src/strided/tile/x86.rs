//! SSE2, AVX2 and AVX-512.

use super::rows::Vector;
use super::{Plane, Runs, by_runs, by_tiles, portable};
use std::arch::x86_64::*;

impl Vector for __m128i {
    const PARTS: usize = 1;

    #[inline(always)]
    unsafe fn load(source: *const u8, _stride: isize) -> Self {
        // SAFETY: 16 readable bytes; this load needs no alignment.
        unsafe { _mm_loadu_si128(source.cast()) }
    }

    #[inline(always)]
    unsafe fn interleave<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: every x86-64 has SSE2.
        unsafe {
            match SIZE {
                1 => (_mm_unpacklo_epi8(self, other), _mm_unpackhi_epi8(self, other)),
                2 => (_mm_unpacklo_epi16(self, other), _mm_unpackhi_epi16(self, other)),
                4 => (_mm_unpacklo_epi32(self, other), _mm_unpackhi_epi32(self, other)),
                _ => (_mm_unpacklo_epi64(self, other), _mm_unpackhi_epi64(self, other)),
            }
        }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        // SAFETY: 16 writable bytes; this store needs no alignment.
        unsafe { _mm_storeu_si128(target.cast(), self) }
    }
}

impl Vector for __m256i {
    const PARTS: usize = 2;

    #[inline(always)]
    unsafe fn load(source: *const u8, stride: isize) -> Self {
        // SAFETY: the processor has AVX2, and 16 bytes can be read twice.
        unsafe {
            let first = _mm_loadu_si128(source.cast());
            let second = _mm_loadu_si128(source.wrapping_offset(stride).cast());
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(first), second)
        }
    }

    #[inline(always)]
    unsafe fn interleave<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the processor has AVX2.
        unsafe {
            match SIZE {
                1 => (_mm256_unpacklo_epi8(self, other), _mm256_unpackhi_epi8(self, other)),
                2 => (_mm256_unpacklo_epi16(self, other), _mm256_unpackhi_epi16(self, other)),
                4 => (_mm256_unpacklo_epi32(self, other), _mm256_unpackhi_epi32(self, other)),
                _ => (_mm256_unpacklo_epi64(self, other), _mm256_unpackhi_epi64(self, other)),
            }
        }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        // SAFETY: the processor has AVX2, and 32 bytes can be written.
        unsafe { _mm256_storeu_si256(target.cast(), self) }
    }
}

impl Vector for __m512i {
    const PARTS: usize = 4;

    #[inline(always)]
    unsafe fn load(source: *const u8, stride: isize) -> Self {
        // SAFETY: the processor has AVX-512, and 16 bytes can be read four times.
        unsafe {
            let low = __m256i::load(source, stride);
            let high = __m256i::load(source.wrapping_offset(2 * stride), stride);
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
    }

    #[inline(always)]
    unsafe fn interleave<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the processor has AVX-512 BW.
        unsafe {
            match SIZE {
                1 => (_mm512_unpacklo_epi8(self, other), _mm512_unpackhi_epi8(self, other)),
                2 => (_mm512_unpacklo_epi16(self, other), _mm512_unpackhi_epi16(self, other)),
                4 => (_mm512_unpacklo_epi32(self, other), _mm512_unpackhi_epi32(self, other)),
                _ => (_mm512_unpacklo_epi64(self, other), _mm512_unpackhi_epi64(self, other)),
            }
        }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        // SAFETY: the processor has AVX-512, and 64 bytes can be written.
        unsafe { _mm512_storeu_si512(target.cast(), self) }
    }
}

/// # Safety
/// All blocks of the plane can be read in the source and written in the target.
pub(in super::super) unsafe fn sse2(plane: &Plane) {
    // SAFETY: as the caller promises.
    unsafe {
        if !by_tiles::<__m128i, true>(plane) && !by_tiles::<__m128i, false>(plane) {
            portable(plane);
        }
    }
}

/// # Safety
/// The processor has AVX2. All blocks of the plane can be read in the source and written in the target.
#[target_feature(enable = "avx2")]
pub(in super::super) unsafe fn avx2(plane: &Plane) {
    // SAFETY: as the caller promises.
    unsafe {
        if !by_tiles::<__m256i, true>(plane) && !by_tiles::<__m256i, false>(plane) && !by_tiles::<__m128i, false>(plane)
        {
            portable(plane);
        }
    }
}

/// # Safety
/// The processor has AVX-512 F and BW. All blocks of the plane can be read in the source and written in the target.
#[target_feature(enable = "avx512f,avx512bw,avx2")]
pub(in super::super) unsafe fn avx512(plane: &Plane) {
    // SAFETY: as the caller promises.
    unsafe {
        if !by_tiles::<__m512i, false>(plane)
            && !by_tiles::<__m256i, false>(plane)
            && !by_tiles::<__m128i, false>(plane)
        {
            portable(plane);
        }
    }
}

/// # Safety
/// All elements of the runs can be read in the source and written in the target.
pub(in super::super) unsafe fn sse2_runs(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    let is_done = unsafe { by_runs::<__m128i>(runs) };
    debug_assert!(is_done, "too few elements");
}

/// # Safety
/// The processor has AVX2. All elements of the runs can be read in the source and written in the target.
#[target_feature(enable = "avx2")]
pub(in super::super) unsafe fn avx2_runs(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    let is_done = unsafe { by_runs::<__m256i>(runs) || by_runs::<__m128i>(runs) };
    debug_assert!(is_done, "too few elements");
}

/// # Safety
/// The processor has AVX-512 F and BW. All elements of the runs can be read in the source and written in the target.
#[target_feature(enable = "avx512f,avx512bw,avx2")]
pub(in super::super) unsafe fn avx512_runs(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    let is_done = unsafe { by_runs::<__m512i>(runs) || by_runs::<__m256i>(runs) || by_runs::<__m128i>(runs) };
    debug_assert!(is_done, "too few elements");
}
