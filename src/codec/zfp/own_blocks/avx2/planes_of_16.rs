//! The embedded code of [`planes_of_words`](super::super::planes_of_words) for 16 coefficients, of eight planes at once: a
//! lane for each.
//!
//! How many coefficients are significant before a plane is known without coding those before it.

use super::super::across::EachLane;
use super::super::order::OF_16 as ORDER;
use super::super::x86::groups::{FOUR_LENGTHS, FOUR_WITH_TESTS};
use super::Avx2;
use super::bytes::{by_significance, transpose_bits};
use super::codes::{Codes, looked_up};
use super::d3::matrix::in_both_lanes;
use super::order::exchange_lanes;
use super::together::PlaneCoder;
use super::words::Words;
use std::arch::x86_64::*;
use std::ops::Range;

const SIZE: i32 = 16;

impl PlaneCoder<16> for Avx2 {
    #[inline(always)]
    fn step(wide: bool) -> u32 {
        if wide { 16 } else { 2 }
    }

    #[inline(always)]
    fn code<const WIDE: bool>(
        self,
        coefficients: &[__m256i; 16],
        plane_counts: __m256i,
        planes: Range<u32>,
        words: &mut Words,
    ) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            if WIDE {
                code_64(self, coefficients, plane_counts, planes, words);
            } else {
                code_32(self, coefficients, plane_counts, planes, words);
            }
        }
    }
}

/// The planes of coefficients by their place in a byte, and those of the bits below first ones: the bits of the first
/// eight coefficients, and of the others.
struct Planes {
    ones: [[__m256i; 8]; 2],
    below: [[__m256i; 8]; 2],
}

impl Planes {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new<const WIDE: bool>(kernel: Avx2, coefficients: &[__m256i; 16]) -> Self {
        let none = [[_mm256_setzero_si256(); 8]; 2];
        let mut planes = Self { ones: none, below: none };
        for half in 0..2 {
            for place in 0..8 {
                let numbers = coefficients[ORDER[8 * half + place] as usize % 16];
                planes.ones[half][place] = by_significance::<WIDE>(numbers);
                planes.below[half][place] = by_significance::<WIDE>(kernel.below_first_ones::<WIDE>(numbers));
            }
            planes.ones[half] = transpose_bits(planes.ones[half]);
            planes.below[half] = transpose_bits(planes.below[half]);
        }
        planes
    }

    /// Of bit `bit` of the bytes in this quarter of each lane, a lane of 32 bits for each plane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn get(&self, bit: usize, quarter: usize) -> [__m256i; 2] {
        let ([ones, more_ones], [below, more_below]) = (&self.ones, &self.below);
        [widened(ones[bit % 8], more_ones[bit % 8], quarter), widened(below[bit % 8], more_below[bit % 8], quarter)]
    }
}

/// In lanes of 32 bits, a byte of either vector, of this quarter of each lane of 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn widened(first: __m256i, second: __m256i, quarter: usize) -> __m256i {
    let none = _mm256_setzero_si256();
    let pairs = if quarter < 2 { _mm256_unpacklo_epi8(first, second) } else { _mm256_unpackhi_epi8(first, second) };
    if quarter.is_multiple_of(2) { _mm256_unpacklo_epi16(pairs, none) } else { _mm256_unpackhi_epi16(pairs, none) }
}

/// Codes eight blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn code_32(kernel: Avx2, coefficients: &[__m256i; 16], plane_counts: __m256i, planes: Range<u32>, words: &mut Words) {
    let bits = Planes::new::<false>(kernel, coefficients);
    for before in planes.step_by(2) {
        if words.are_full::<false>() {
            return;
        }
        let (quarter, bit) = (3 - before as usize / 8, 7 - before as usize % 8);
        let coded = |after: usize| {
            let place = _mm256_set1_epi32(before as i32 + after as i32);
            codes(bits.get(bit - after, quarter), _mm256_cmpgt_epi32(plane_counts, place))
        };
        words.push(exchange_lanes(joined([coded(0), coded(1)])));
    }
}

/// Codes four blocks, of each the planes of two bytes in turn.
#[inline]
#[target_feature(enable = "avx2")]
fn code_64(kernel: Avx2, coefficients: &[__m256i; 16], plane_counts: __m256i, planes: Range<u32>, words: &mut Words) {
    let bits = Planes::new::<true>(kernel, coefficients);
    // A count for each plane: those of the lower byte of two blocks, and of the higher one.
    let counts = _mm256_shuffle_epi32::<0b10_00_10_00>(plane_counts);
    for before in planes.step_by(16) {
        if words.are_full::<true>() {
            return;
        }
        let quarter = 3 - before as usize / 16;
        let mut lower = [_mm256_setzero_si256(); 4];
        for (pair, lower) in lower.iter_mut().enumerate() {
            let coded = |after: usize| {
                let place = (before as usize + 2 * pair + after) as i32;
                let places = _mm256_broadcastsi128_si256(_mm_setr_epi32(place + 8, place + 8, place, place));
                codes(bits.get(7 - 2 * pair - after, quarter), _mm256_cmpgt_epi32(counts, places))
            };
            let [low, high] = joined([coded(0), coded(1)]);
            *lower = low;
            words.push([high, _mm256_setzero_si256()]);
        }
        for low in lower {
            words.push([low, _mm256_setzero_si256()]);
        }
    }
}

/// The codes of a plane and the next one in lanes of 64 bits with their length above: in each lane of 16 bytes those of
/// the first two lanes, and of the others.
#[inline]
#[target_feature(enable = "avx2")]
fn joined([first, second]: [Codes; 2]) -> [__m256i; 2] {
    let low = Codes {
        bits: _mm256_unpacklo_epi32(first.bits, second.bits),
        lengths: _mm256_unpacklo_epi32(first.lengths, second.lengths),
    };
    let high = Codes {
        bits: _mm256_unpackhi_epi32(first.bits, second.bits),
        lengths: _mm256_unpackhi_epi32(first.lengths, second.lengths),
    };
    [low.pairs_of_32().with_lengths_above(), high.pairs_of_32().with_lengths_above()]
}

/// The codes of the planes that exist. `ones` are the bits of each plane, and `below` those that are below a one of their
/// coefficient.
#[inline]
#[target_feature(enable = "avx2")]
fn codes([ones, below]: [__m256i; 2], exist: __m256i) -> Codes {
    /// 2 to the power of each of [`FOUR_LENGTHS`] less four.
    const POWERS: [u8; 16] = [1, 2, 2, 4, 2, 4, 4, 8, 2, 4, 4, 8, 4, 8, 8, 16];

    // All coefficients are significant: planes are their own codes. Most often, the last planes of all blocks are.
    if _mm256_testc_si256(below, _mm256_set1_epi32(0xFFFF)) == 1 {
        return Codes { bits: ones, lengths: _mm256_set1_epi32(SIZE) }.only(exist);
    }
    let bits_from = |count| _mm256_sllv_epi32(_mm256_set1_epi32(-1), count);
    let n = bit_length(below);
    let after = bit_length(_mm256_or_si256(ones, below));
    let nibbles = four_bits_each(_mm256_srlv_epi32(ones, n));
    let groups = Codes { bits: looked_up(FOUR_WITH_TESTS, nibbles), lengths: looked_up(FOUR_LENGTHS, nibbles) }
        .pairs_of_8(looked_up(POWERS, nibbles))
        .pairs_of_16();
    // Before the groups is another test of 1. The last one is 0, unless there is a one in the last place.
    let one = _mm256_set1_epi32(1);
    let with_first = _mm256_or_si256(_mm256_add_epi32(groups.bits, groups.bits), one);
    // 1 where the bit length is that of all, and otherwise 0.
    let (all, to_last) = (_mm256_srli_epi32::<4>(n), _mm256_srli_epi32::<4>(after));
    let without_test = _mm256_add_epi32(after, _mm256_sub_epi32(groups.lengths, _mm256_set1_epi32(SIZE)));
    let written = _mm256_add_epi32(_mm256_sub_epi32(without_test, to_last), all);
    let lengths = _mm256_add_epi32(written, _mm256_sub_epi32(one, to_last));
    let significant = _mm256_andnot_si256(bits_from(n), ones);
    let bits = _mm256_or_si256(significant, _mm256_sllv_epi32(with_first, n));
    Codes { bits: _mm256_andnot_si256(bits_from(written), bits), lengths }.only(exist)
}

/// Of numbers of up to 16 bits, which floats hold.
#[inline]
#[target_feature(enable = "avx2")]
fn bit_length(numbers: __m256i) -> __m256i {
    let float = _mm256_castps_si256(_mm256_cvtepi32_ps(numbers));
    _mm256_max_epi32(_mm256_sub_epi32(_mm256_srli_epi32::<23>(float), _mm256_set1_epi32(126)), _mm256_setzero_si256())
}

/// Of numbers of up to 16 bits, each four bits in a byte.
#[inline]
#[target_feature(enable = "avx2")]
fn four_bits_each(numbers: __m256i) -> __m256i {
    const TWICE: [i8; 16] = [0, 0, 1, 1, 4, 4, 5, 5, 8, 8, 9, 9, 12, 12, 13, 13];
    let bytes = _mm256_shuffle_epi8(numbers, in_both_lanes(TWICE));
    let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi16(0x0F00));
    _mm256_or_si256(_mm256_and_si256(bytes, _mm256_set1_epi16(0x000F)), upper)
}
