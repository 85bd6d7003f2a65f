//! The vectors that a part of a block is folded in, and the instructions that sum the rest of it.
#![expect(unsafe_code, reason = "instructions that the processor was found to have")]

use crate::simd::Level;
use std::arch::x86_64::*;

/// Vectors of lanes of 16 bytes. A value of such a type exists only where the processor has its instructions. All
/// functions are inlined into one that is compiled for them.
pub(super) trait Lanes: Copy {
    type Vector: Copy;

    /// Bytes of a vector.
    const SIZE: usize;

    fn zero(self) -> Self::Vector;

    /// # Safety
    /// A vector can be read there.
    unsafe fn load(self, source: *const u8) -> Self::Vector;

    /// # Safety
    /// A vector can be written there.
    unsafe fn store(self, target: *mut u8, vector: Self::Vector);

    /// Writes a vector past the caches.
    ///
    /// # Safety
    /// A vector can be written there, which is aligned to its size.
    unsafe fn stream(self, target: *mut u8, vector: Self::Vector);

    /// Writes 16 bytes past the caches.
    ///
    /// # Safety
    /// They can be written there, which is aligned to their size.
    #[inline(always)]
    unsafe fn stream_bytes(self, target: *mut u8, bytes: &[u8; 16]) {
        // SAFETY: the caller's; every x86-64 processor has SSE2.
        unsafe { _mm_stream_si128(target.cast(), _mm_loadu_si128(bytes.as_ptr().cast())) };
    }

    /// Makes what was written past the caches visible to other threads before what is written from here on.
    #[inline(always)]
    fn fence(self) {
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { _mm_sfence() };
    }

    /// Multiplies both halves of each lane by a factor without carries, and adds up the two products and `more`.
    fn multiply_add(self, lanes: Self::Vector, factors: [u64; 2], more: Self::Vector) -> Self::Vector;

    /// The `crc32` instruction.
    #[inline(always)]
    fn sum(self, sum: u64, word: u64) -> u64 {
        // SAFETY: the processor has SSE 4.2.
        unsafe { _mm_crc32_u64(sum, word) }
    }

    /// The `crc32` instruction on one byte.
    #[inline(always)]
    fn sum_byte(self, sum: u32, byte: u8) -> u32 {
        // SAFETY: the processor has SSE 4.2.
        unsafe { _mm_crc32_u8(sum, byte) }
    }

    /// The product without carries.
    #[inline(always)]
    fn product(self, a: u32, b: u32) -> u64 {
        let [a, b] = [a, b].map(|number| {
            // SAFETY: every x86-64 processor has SSE2.
            unsafe { _mm_cvtsi64_si128(number.into()) }
        });
        // SAFETY: the processor has PCLMULQDQ.
        unsafe { _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(a, b)) as u64 }
    }
}

/// AVX2, VPCLMULQDQ, PCLMULQDQ and SSE 4.2: Zen 3, Alder Lake and later.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn available() -> Option<Self> {
        (Level::Avx2.is_available() && has_multiplication()).then_some(Self(()))
    }
}

/// The same with AVX-512: Ice Lake, Zen 4 and later.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn available() -> Option<Self> {
        (Level::Avx512.is_available() && has_multiplication()).then_some(Self(()))
    }
}

fn has_multiplication() -> bool {
    is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("sse4.2")
}

impl Lanes for Avx2 {
    type Vector = __m256i;

    const SIZE: usize = 32;

    #[inline(always)]
    fn zero(self) -> __m256i {
        // SAFETY: the processor has AVX2.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    unsafe fn load(self, source: *const u8) -> __m256i {
        // SAFETY: the caller promises that many readable bytes; a load needs no alignment.
        unsafe { _mm256_loadu_si256(source.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8, vector: __m256i) {
        // SAFETY: the caller promises that many writable bytes; a store needs no alignment.
        unsafe { _mm256_storeu_si256(target.cast(), vector) }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u8, vector: __m256i) {
        // SAFETY: the caller promises that many writable bytes, aligned to their number.
        unsafe { _mm256_stream_si256(target.cast(), vector) }
    }

    #[inline(always)]
    fn multiply_add(self, lanes: __m256i, [first, second]: [u64; 2], more: __m256i) -> __m256i {
        // SAFETY: the processor has AVX2 and VPCLMULQDQ.
        unsafe {
            let factors = _mm256_broadcastsi128_si256(_mm_set_epi64x(second as i64, first as i64));
            let first = _mm256_clmulepi64_epi128::<0x00>(lanes, factors);
            let second = _mm256_clmulepi64_epi128::<0x11>(lanes, factors);
            _mm256_xor_si256(_mm256_xor_si256(first, second), more)
        }
    }
}

impl Lanes for Avx512 {
    type Vector = __m512i;

    const SIZE: usize = 64;

    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: the processor has AVX-512 F.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn load(self, source: *const u8) -> __m512i {
        // SAFETY: the caller promises that many readable bytes; a load needs no alignment.
        unsafe { _mm512_loadu_si512(source.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8, vector: __m512i) {
        // SAFETY: the caller promises that many writable bytes; a store needs no alignment.
        unsafe { _mm512_storeu_si512(target.cast(), vector) }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u8, vector: __m512i) {
        // SAFETY: the caller promises that many writable bytes, aligned to their number.
        unsafe { _mm512_stream_si512(target.cast(), vector) }
    }

    #[inline(always)]
    fn multiply_add(self, lanes: __m512i, [first, second]: [u64; 2], more: __m512i) -> __m512i {
        const EXCLUSIVE_OR: i32 = 0x96;
        // SAFETY: the processor has AVX-512 F and VPCLMULQDQ.
        unsafe {
            let factors = _mm512_broadcast_i32x4(_mm_set_epi64x(second as i64, first as i64));
            let first = _mm512_clmulepi64_epi128::<0x00>(lanes, factors);
            let second = _mm512_clmulepi64_epi128::<0x11>(lanes, factors);
            _mm512_ternarylogic_epi64::<EXCLUSIVE_OR>(first, second, more)
        }
    }
}
