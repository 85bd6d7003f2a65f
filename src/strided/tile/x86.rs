//! SSE2, AVX2 and AVX-512.

use super::pixels::by_pixels;
use super::rows::{Both, Pick, Row, Vector, gathered, spread};
use super::runs::by_runs;
use crate::simd::is_zen_4_or_5;
use crate::strided::plane::{Pixels, Runs, Tiles};
use crate::strided::table::Place;
use std::arch::x86_64::*;

/// The bytes of a vector that elements of 3, 6 or 12 bytes take if they lie back to back.
const TRIPLES: u64 = (1 << 48) - 1;

impl Vector for __m128i {
    const PARTS: usize = 1;
    const GATHERS_PARTS: bool = true;
    const TAKES_TRIPLES: bool = false;
    type Square = Row<Self>;
    type Part = __m128i;

    #[inline(always)]
    unsafe fn load<const SIZE: usize>(source: *const u8) -> Self {
        // SAFETY: 16 readable bytes; this load needs no alignment.
        unsafe { _mm_loadu_si128(source.cast()) }
    }

    #[inline(always)]
    unsafe fn gather(source: *const u8, places: impl Place, _step: usize) -> Self {
        // SAFETY: as the caller promises.
        unsafe { Self::load::<1>(source.wrapping_offset(places.at(0))) }
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
    unsafe fn transpose(square: Row<Self>) -> Row<Self> {
        square
    }

    #[inline(always)]
    unsafe fn store<const SIZE: usize>(self, target: *mut u8) {
        // SAFETY: 16 writable bytes; this store needs no alignment.
        unsafe { _mm_storeu_si128(target.cast(), self) }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u8) {
        // SAFETY: 16 writable bytes that are aligned.
        unsafe { _mm_stream_si128(target.cast(), self) }
    }
}

impl Pick for __m128i {
    #[inline(always)]
    unsafe fn pick(self, order: Self) -> Self {
        // SAFETY: the processor has SSSE3.
        unsafe { _mm_shuffle_epi8(self, order) }
    }
}

impl Vector for __m256i {
    const PARTS: usize = 2;
    const GATHERS_PARTS: bool = true;
    const TAKES_TRIPLES: bool = true;
    type Square = Both<Row<Self>>;
    type Part = __m128i;

    #[inline(always)]
    unsafe fn load<const SIZE: usize>(source: *const u8) -> Self {
        // SAFETY: the processor has AVX2, and the elements can be read.
        unsafe {
            if SIZE.is_power_of_two() {
                return _mm256_loadu_si256(source.cast());
            }
            // The elements of the second part are the last 12 of its bytes.
            let order = _mm_loadu_si128(const { &spread::<16>(SIZE) }.as_ptr().cast());
            let orders =
                _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(order), _mm_add_epi8(order, _mm_set1_epi8(4)));
            let (first, second) = (__m128i::load::<1>(source), __m128i::load::<1>(source.add(8)));
            _mm256_shuffle_epi8(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(first), second), orders)
        }
    }

    #[inline(always)]
    unsafe fn gather(source: *const u8, places: impl Place, step: usize) -> Self {
        // SAFETY: the processor has AVX2; for the rest, as the caller promises.
        unsafe {
            let first = __m128i::load::<1>(source.wrapping_offset(places.at(0)));
            let second = __m128i::load::<1>(source.wrapping_offset(places.at(step)));
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
    unsafe fn transpose(Both(Row(a), Row(b)): Both<Row<Self>>) -> Both<Row<Self>> {
        // SAFETY: the processor has AVX2.
        unsafe {
            let (lower, upper) = (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b));
            Both(Row(lower), Row(upper))
        }
    }

    #[inline(always)]
    unsafe fn store<const SIZE: usize>(self, target: *mut u8) {
        // SAFETY: the processor has AVX2, and the elements can be written.
        unsafe {
            if SIZE.is_power_of_two() {
                return _mm256_storeu_si256(target.cast(), self);
            }
            let order = _mm256_broadcastsi128_si256(_mm_loadu_si128(const { &gathered::<16>(SIZE) }.as_ptr().cast()));
            let parts = _mm256_shuffle_epi8(self, order);
            let second = _mm256_extracti128_si256::<1>(parts);
            // Four bytes too much, which the second part replaces: masked stores are many times as slow on some
            // processors.
            _mm_storeu_si128(target.cast(), _mm256_castsi256_si128(parts));
            _mm_storel_epi64(target.add(12).cast(), second);
            target.add(20).cast::<i32>().write_unaligned(_mm_extract_epi32::<2>(second));
        }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u8) {
        // SAFETY: the processor has AVX2, and 32 aligned bytes can be written.
        unsafe { _mm256_stream_si256(target.cast(), self) }
    }
}

impl Vector for __m512i {
    const PARTS: usize = 4;
    const GATHERS_PARTS: bool = false;
    const TAKES_TRIPLES: bool = true;
    type Square = Both<Both<Row<Self>>>;
    type Part = __m128i;

    #[inline(always)]
    unsafe fn load<const SIZE: usize>(source: *const u8) -> Self {
        // SAFETY: the processor has AVX-512, and the elements can be read.
        unsafe {
            if SIZE.is_power_of_two() {
                return _mm512_loadu_si512(source.cast());
            }
            let order = _mm512_loadu_si512(const { &spread::<64>(SIZE) }.as_ptr().cast());
            _mm512_permutexvar_epi8(order, _mm512_maskz_loadu_epi8(TRIPLES, source.cast()))
        }
    }

    #[inline(always)]
    unsafe fn gather(source: *const u8, places: impl Place, step: usize) -> Self {
        // SAFETY: the processor has AVX-512; for the rest, as the caller promises.
        unsafe {
            let (lower, upper) =
                (__m256i::gather(source, places, step), __m256i::gather(source, places.after(2 * step), step));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(lower), upper)
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
    unsafe fn transpose(square: Both<Both<Row<Self>>>) -> Both<Both<Row<Self>>> {
        let Both(Both(Row(a), Row(b)), Both(Row(c), Row(d))) = square;
        // SAFETY: the processor has AVX-512.
        unsafe {
            let (ab_lower, ab_upper) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xee>(a, b));
            let (cd_lower, cd_upper) = (_mm512_shuffle_i64x2::<0x44>(c, d), _mm512_shuffle_i64x2::<0xee>(c, d));
            let first = _mm512_shuffle_i64x2::<0x88>(ab_lower, cd_lower);
            let second = _mm512_shuffle_i64x2::<0xdd>(ab_lower, cd_lower);
            let third = _mm512_shuffle_i64x2::<0x88>(ab_upper, cd_upper);
            let fourth = _mm512_shuffle_i64x2::<0xdd>(ab_upper, cd_upper);
            Both(Both(Row(first), Row(second)), Both(Row(third), Row(fourth)))
        }
    }

    #[inline(always)]
    unsafe fn store<const SIZE: usize>(self, target: *mut u8) {
        // SAFETY: the processor has AVX-512, and the elements can be written.
        unsafe {
            if SIZE.is_power_of_two() {
                return _mm512_storeu_si512(target.cast(), self);
            }
            let order = _mm512_loadu_si512(const { &gathered::<64>(SIZE) }.as_ptr().cast());
            _mm512_mask_storeu_epi8(target.cast(), TRIPLES, _mm512_permutexvar_epi8(order, self));
        }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u8) {
        // SAFETY: the processor has AVX-512, and 64 aligned bytes can be written.
        unsafe { _mm512_stream_si512(target.cast(), self) }
    }
}

pub(in super::super) const SSE2: Tiles =
    Tiles { copy: sse2, triple_parts: None, prefers_fewer_columns: false, instead: None, pixels: None };
pub(in super::super) const AVX2: Tiles =
    Tiles { copy: avx2, triple_parts: Some(2), prefers_fewer_columns: true, instead: None, pixels: Some(pixels) };
pub(in super::super) const AVX512: Tiles = Tiles {
    copy: avx512,
    triple_parts: Some(2),
    prefers_fewer_columns: false,
    instead: Some(|block| (matches!(block, 2 | 4 | 8) && is_zen_4_or_5()).then_some(AVX2)),
    pixels: Some(pixels),
};

/// # Safety
/// [`SSE2`] takes the runs; all their elements can be read in the source and written in the target.
unsafe fn sse2(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    let is_done = unsafe { with_sse2::<4>(runs) || with_sse2::<1>(runs) };
    debug_assert!(is_done, "too few elements");
}

/// # Safety
/// The processor has AVX2, and [`AVX2`] takes the runs; all their elements can be read in the source and written in the
/// target.
#[target_feature(enable = "avx2")]
unsafe fn avx2(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    let is_done = unsafe {
        with_avx2::<__m256i, 2>(runs)
            || with_avx2::<__m256i, 1>(runs)
            || with_avx2::<__m128i, 4>(runs)
            || with_avx2::<__m128i, 1>(runs)
    };
    debug_assert!(is_done, "too few elements");
}

/// # Safety
/// The processor has AVX-512 F, BW, VBMI and VL, and [`AVX512`] takes the runs; all their elements can be read in the
/// source and written in the target.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vl,avx2")]
unsafe fn avx512(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    let is_done = unsafe {
        with_avx512::<__m512i, 1>(runs)
            || with_avx512::<__m256i, 2>(runs)
            || with_avx512::<__m256i, 1>(runs)
            || with_avx512::<__m128i, 4>(runs)
            || with_avx512::<__m128i, 1>(runs)
    };
    debug_assert!(is_done, "too few elements");
}

/// # Safety
/// The processor has AVX2; all elements can be read in the source and written in the target, and there are at least 16
/// bytes of each plane.
#[target_feature(enable = "avx2")]
unsafe fn pixels(pixels: &Pixels) {
    // SAFETY: as the caller promises.
    unsafe { by_pixels::<__m128i>(pixels) };
}

/// Each kind of tile in a function of its own: one frame of all of them would fill a stack of 64 KiB.
///
/// # Safety
/// As [`by_runs`].
#[inline(never)]
unsafe fn with_sse2<const HEIGHT: usize>(runs: &Runs<'_>) -> bool {
    // SAFETY: as the caller promises.
    unsafe { by_runs::<__m128i, HEIGHT>(runs) }
}

/// # Safety
/// As [`by_runs`].
#[inline(never)] // as `with_sse2`
#[target_feature(enable = "avx2")]
unsafe fn with_avx2<V: Vector, const HEIGHT: usize>(runs: &Runs<'_>) -> bool {
    // SAFETY: as the caller promises.
    unsafe { by_runs::<V, HEIGHT>(runs) }
}

/// # Safety
/// As [`by_runs`].
#[inline(never)] // as `with_sse2`
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vl,avx2")]
unsafe fn with_avx512<V: Vector, const HEIGHT: usize>(runs: &Runs<'_>) -> bool {
    // SAFETY: as the caller promises.
    unsafe { by_runs::<V, HEIGHT>(runs) }
}
