//! The embedded code of [`planes_of_words`](super::super::planes_of_words) for 4 coefficients, of eight planes at once: a
//! byte for each.
//!
//! How many coefficients are significant before a plane is known without coding those before it.

use super::super::across::EachLane;
use super::super::block::width;
use super::super::x86::planes_of_4::CODES;
use super::Avx2;
use super::bytes::{by_significance, transpose_bits, transpose_bytes_backwards};
use super::codes::{Codes, looked_up};
use super::d3::matrix::in_both_lanes;
use super::order::exchange_lanes;
use super::together::PlaneCoder;
use super::words::Words;
use std::arch::x86_64::*;
use std::ops::Range;

/// Planes of a word.
const OF_WORD: u32 = 8;

impl PlaneCoder<4> for Avx2 {
    #[inline(always)]
    fn step(_: bool) -> u32 {
        OF_WORD
    }

    #[inline(always)]
    fn code<const WIDE: bool>(
        self,
        coefficients: &[__m256i; 4],
        plane_counts: __m256i,
        planes: Range<u32>,
        words: &mut Words,
    ) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { code::<WIDE>(self, coefficients, plane_counts, planes, words) };
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn code<const WIDE: bool>(
    kernel: Avx2,
    coefficients: &[__m256i; 4],
    plane_counts: __m256i,
    planes: Range<u32>,
    words: &mut Words,
) {
    let mut numbers = [_mm256_setzero_si256(); 8];
    for (index, coefficients) in coefficients.iter().enumerate() {
        numbers[index] = by_significance::<WIDE>(*coefficients);
        numbers[index + 4] = by_significance::<WIDE>(kernel.below_first_ones::<WIDE>(*coefficients));
    }
    let bytes = transpose_bytes_backwards(transpose_bits(numbers));
    for before in planes.step_by(OF_WORD as usize) {
        let byte = ((width(WIDE) - before - OF_WORD) / 8) as usize;
        words.push(if WIDE {
            [codes(bytes[byte % 8], exist(plane_counts, before, 8, 0)), _mm256_setzero_si256()]
        } else {
            // Of blocks 0, 1, 4 and 5, and of the others.
            let first = codes(bytes[2 * byte % 8], exist(plane_counts, before, 4, 0));
            let second = codes(bytes[(2 * byte + 1) % 8], exist(plane_counts, before, 4, 8));
            exchange_lanes([first, second])
        });
    }
}

/// Which of eight planes exist: a byte for each, of the blocks whose counts, of `size` bytes, are from `first` on in a
/// lane of 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn exist(plane_counts: __m256i, before: u32, size: i8, first: i8) -> __m256i {
    let (a, b) = (first, first + size);
    let counts = _mm256_shuffle_epi8(plane_counts, in_both_lanes([a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b]));
    let places = _mm256_set1_epi64x(0x0706_0504_0302_0100 + 0x0101_0101_0101_0101 * i64::from(before));
    _mm256_cmpgt_epi8(counts, places)
}

/// Codes of the planes that exist, eight in a lane of 64 bits, with their length above. Each byte has a bit of each
/// coefficient, and above them those of the bits below first ones.
#[inline]
#[target_feature(enable = "avx2")]
fn codes(planes: __m256i, exist: __m256i) -> __m256i {
    const BITS: [[u8; 16]; 4] = tables(false);
    const LENGTHS: [[u8; 16]; 4] = tables(true);
    let nibble = _mm256_set1_epi8(0b1111);
    let before = _mm256_and_si256(_mm256_srli_epi16::<4>(planes), nibble);
    let planes = _mm256_and_si256(planes, nibble);
    // If all coefficients are significant, planes are their own codes. Most often, the last planes of all blocks are.
    let (mut bits, mut lengths) = (planes, _mm256_set1_epi8(4));
    if _mm256_testc_si256(before, nibble) == 0 {
        for n in (0..4).rev() {
            let are_so_few = _mm256_cmpgt_epi8(_mm256_set1_epi8(1 << n), before);
            bits = _mm256_blendv_epi8(bits, looked_up(BITS[n], planes), are_so_few);
            lengths = _mm256_blendv_epi8(lengths, looked_up(LENGTHS[n], planes), are_so_few);
        }
    }
    Codes { bits, lengths }.only(exist).short_pairs_of_8().pairs_of_16().pairs_of_32().with_lengths_above()
}

/// By the number of significant coefficients, up to 3, and the plane: the bits of its code, or their number.
const fn tables(of_lengths: bool) -> [[u8; 16]; 4] {
    let mut tables = [[0; 16]; 4];
    let mut i = 0;
    while i < 64 {
        let code = CODES[i / 16][i % 16];
        tables[i / 16][i % 16] = if of_lengths { code.length } else { code.bits };
        i += 1;
    }
    tables
}
