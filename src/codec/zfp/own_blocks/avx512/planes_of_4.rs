//! The embedded code of [`planes_of_words`](super::super::planes_of_words) for 4 coefficients, of all planes at once: a
//! byte for each.
//!
//! How many coefficients are significant before a plane is known without coding those before it.

use super::super::across::EachLane;
use super::super::bits::BitReader;
use super::super::x86::planes_of_4::{self, CODES};
use super::Avx512;
use super::codes::Codes;
use super::lanes::{transpose_8x8, transpose_64, transpose_lanes};
use super::lockstep::MOST_WORDS;
use super::matrix::{Permutation, transpose_bits, transpose_bits_downwards};
use super::order::by_block;
use super::together::{PlaneCoder, PlaneReader};
use super::words::Words;
use std::arch::x86_64::*;

/// By blocks: coefficients, and the bits below their first ones.
type Numbers = ([__m512i; 4], [__m512i; 4]);

impl PlaneCoder<4> for Avx512 {
    type Numbers = Numbers;

    #[inline(always)]
    fn by_block<const WIDE: bool>(self, coefficients: &[__m512i; 4]) -> Numbers {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { numbers_by_block::<WIDE>(self, coefficients) }
    }

    #[inline(always)]
    fn code<const WIDE: bool>(
        self,
        numbers: &Numbers,
        first: usize,
        plane_counts: &[u64; 8],
        most: u32,
        words: &mut Words,
    ) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            if plane_counts.iter().all(|count| *count >= most.next_multiple_of(8).into()) {
                code::<WIDE, false>(numbers, first, plane_counts, most, words);
            } else {
                code::<WIDE, true>(numbers, first, plane_counts, most, words);
            }
        }
    }
}

impl PlaneReader<4> for Avx512 {
    /// As coefficients.
    type Planes = [u64; 4];
    const NO_PLANES: [u64; 4] = [0; 4];

    #[inline(always)]
    fn read<const WIDE: bool>(self, source: &mut BitReader<'_>, planes: &mut [u64; 4], kmin: u32, budget: u32) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        *planes = unsafe { planes_of_4::decode::<WIDE>(source, kmin, budget) };
    }

    #[inline(always)]
    fn put<const WIDE: bool>(self, blocks: &[[u64; 4]; 8], first: usize, coefficients: &mut [__m512i; 4]) {
        if WIDE {
            bytemuck::cast_slice_mut(coefficients).copy_from_slice(blocks);
        } else {
            let places: &mut [[u32; 4]] = bytemuck::cast_slice_mut(coefficients);
            for (place, block) in places[first..].iter_mut().zip(blocks) {
                *place = block.map(|number| number as u32);
            }
        }
    }

    #[inline(always)]
    fn put_words<const WIDE: bool>(self, words: &[__m512i; MOST_WORDS], first: usize, coefficients: &mut [__m512i; 4]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            if WIDE {
                *coefficients = blocks_of_64(words);
            } else {
                let [low, high] = blocks_of_32(words);
                (coefficients[first / 4], coefficients[first / 4 + 1]) = (low, high);
            }
        }
    }
}

/// Eight blocks of words of eight planes, in bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn blocks_of_64(words: &[__m512i; MOST_WORDS]) -> [__m512i; 4] {
    let mut bytes = [_mm512_setzero_si512(); 8];
    for (bytes, planes) in bytes.iter_mut().zip(words) {
        *bytes = transpose_bits(*planes);
    }
    let [a, b, c, d, e, f, g, h] = bytes;
    let (even, odd) = (numbers_of_even([a, b, c, d]), numbers_of_odd([a, b, c, d]));
    let (even_low, odd_low) = (numbers_of_even([e, f, g, h]), numbers_of_odd([e, f, g, h]));
    transpose_lanes([
        _mm512_unpacklo_epi32(even_low, even),
        _mm512_unpackhi_epi32(even_low, even),
        _mm512_unpacklo_epi32(odd_low, odd),
        _mm512_unpackhi_epi32(odd_low, odd),
    ])
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn blocks_of_32(words: &[__m512i; MOST_WORDS]) -> [__m512i; 2] {
    let mut bytes = [_mm512_setzero_si512(); 4];
    for (bytes, planes) in bytes.iter_mut().zip(words) {
        *bytes = transpose_bits(*planes);
    }
    let (even, odd) = (numbers_of_even(bytes), numbers_of_odd(bytes));
    [
        _mm512_permutex2var_epi64(even, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), odd),
        _mm512_permutex2var_epi64(even, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), odd),
    ]
}

/// Four numbers of 32 bits of each even word, from their bytes, the most significant ones first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn numbers_of_even([a, b, c, d]: [__m512i; 4]) -> __m512i {
    _mm512_unpacklo_epi16(_mm512_unpacklo_epi8(d, c), _mm512_unpacklo_epi8(b, a))
}

/// Those of each odd word.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn numbers_of_odd([a, b, c, d]: [__m512i; 4]) -> __m512i {
    _mm512_unpacklo_epi16(_mm512_unpackhi_epi8(d, c), _mm512_unpackhi_epi8(b, a))
}

#[inline]
#[target_feature(enable = "avx512f,avx512cd")]
fn numbers_by_block<const WIDE: bool>(kernel: Avx512, coefficients: &[__m512i; 4]) -> Numbers {
    let mut below = *coefficients;
    for numbers in &mut below {
        *numbers = kernel.below_first_ones::<WIDE>(*numbers);
    }
    (by_block::<4, WIDE>(coefficients), by_block::<4, WIDE>(&below))
}

/// Codes `most` planes of eight blocks; if some of them `HAVE_FEWER`, `plane_counts` of each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni,bmi2")]
fn code<const WIDE: bool, const HAVE_FEWER: bool>(
    numbers: &Numbers,
    first: usize,
    plane_counts: &[u64; 8],
    most: u32,
    words: &mut Words,
) {
    let count = most.div_ceil(8) as usize;
    if WIDE && count > 4 {
        words.push(words_of_64::<HAVE_FEWER>(numbers, plane_counts), count);
    } else {
        let sources = match (WIDE, first) {
            (true, _) => const { bytes_of(32, 0, 4) },
            (false, 0) => const { bytes_of(16, 0, 4) },
            (false, _) => const { bytes_of(16, 32, 4) },
        };
        words.push(words_of_32::<HAVE_FEWER>(numbers, sources, plane_counts), count);
    }
}

/// Eight words of eight planes each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni,bmi2")]
fn words_of_64<const HAVE_FEWER: bool>((coefficients, below): &Numbers, plane_counts: &[u64; 8]) -> [__m512i; 8] {
    let mut words = [_mm512_setzero_si512(); 8];
    for (index, (word, count)) in words.iter_mut().zip(plane_counts).enumerate() {
        let sources = if index < 4 { const { bytes_of(32, 0, 8) } } else { const { bytes_of(32, 32, 8) } };
        let bytes = _mm512_permutex2var_epi8(coefficients[index % 4], bytemuck::cast(sources), below[index % 4]);
        let exist = if HAVE_FEWER { _bzhi_u64(u64::MAX, *count as u32) } else { u64::MAX };
        *word = codes::<HAVE_FEWER>(bytes, exist);
    }
    transpose_8x8(words)
}

/// Four words of eight planes each, of the bytes from these places on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni,bmi2")]
fn words_of_32<const HAVE_FEWER: bool>(
    (coefficients, below): &Numbers,
    sources: Permutation,
    plane_counts: &[u64; 8],
) -> [__m512i; 4] {
    let mut words = [_mm512_setzero_si512(); 4];
    for (index, word) in words.iter_mut().enumerate() {
        let bytes = _mm512_permutex2var_epi8(coefficients[index], bytemuck::cast(sources), below[index]);
        let exist = |block: usize| _bzhi_u64(u32::MAX.into(), plane_counts[block] as u32);
        let exist = if HAVE_FEWER { exist(index) | exist(index + 4) << 32 } else { u64::MAX };
        *word = codes::<HAVE_FEWER>(bytes, exist);
    }
    transpose_64(words)
}

/// Codes of planes, eight in a lane of 64 bits, with their length above. Each eight bytes are those of one significance
/// of four coefficients and of the bits below their first ones, the last number first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn codes<const HAVE_FEWER: bool>(bytes: __m512i, exist: u64) -> __m512i {
    /// By the number of significant coefficients, 16 codes: their bits.
    const BITS: [u8; 64] = table(false);
    const LENGTHS: [u8; 64] = table(true);
    /// By the significant coefficients: where their codes begin in a table, or 0 if all are significant, whose planes are
    /// their own codes.
    const PLACES: [u8; 16] = [C, C | 16, C | 32, C | 32, T, T, T, T, 0, 0, 0, 0, 0, 0, 0, 0];
    const C: u8 = 0x80;
    const T: u8 = C | 48;

    let planes = transpose_bits_downwards(bytes);
    let nibble = _mm512_set1_epi8(0b1111);
    let before = _mm512_and_si512(_mm512_srli_epi16::<4>(planes), nibble);
    let places = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(bytemuck::cast(PLACES)), before);
    let planes = _mm512_and_si512(planes, nibble);
    let places = _mm512_or_si512(places, planes);
    let are_coded = _mm512_movepi8_mask(places);
    let mut bits = _mm512_mask_permutexvar_epi8(planes, are_coded, places, bytemuck::cast(BITS));
    let mut lengths = _mm512_mask_permutexvar_epi8(_mm512_set1_epi8(4), are_coded, places, bytemuck::cast(LENGTHS));
    if HAVE_FEWER {
        bits = _mm512_maskz_mov_epi8(exist, bits);
        lengths = _mm512_maskz_mov_epi8(exist, lengths);
    }
    Codes { bits, lengths }.pairs_of_8().pairs_of_16().pairs_of_32().with_lengths_above()
}

const fn table(of_lengths: bool) -> [u8; 64] {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        let code = CODES[i / 16][i % 16];
        table[i] = if of_lengths { code.length } else { code.bits };
        i += 1;
    }
    table
}

/// Of blocks of this size, from this place of two vectors on: of each block, for the `count` most significant bytes, the
/// highest one first, those of four numbers of the second vector, the last number first, then those of the first vector.
const fn bytes_of(size_of_block: usize, first: usize, count: usize) -> Permutation {
    let mut sources = [0; 64];
    let size = size_of_block / 4;
    let mut i = 0;
    while i < 64 {
        let (block, byte, number) = (i / 8 / count, size - 1 - i / 8 % count, 7 - i % 8);
        sources[i] = (number / 4 * 64 + first + block * size_of_block + size * (number % 4) + byte) as u8;
        i += 1;
    }
    sources
}
