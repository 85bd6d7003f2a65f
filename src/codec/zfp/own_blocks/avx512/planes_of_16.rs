//! The embedded code of [`planes_of_words`](super::super::planes_of_words) for 16 coefficients, of 16 planes at once: a
//! lane for each.
//!
//! How many coefficients are significant before a plane is known without coding those before it.

use super::super::across::EachLane;
use super::super::bits::BitReader;
use super::super::block::width;
use super::super::order::OF_16 as ORDER;
use super::super::x86::groups::{FOUR_LENGTHS, FOUR_WITH_TESTS};
use super::super::x86::planes_of_16::{self, Planes};
use super::Avx512;
use super::codes::Codes;
use super::lanes::transpose_8x8;
use super::lockstep::MOST_WORDS;
use super::matrix::{Permutation, permute, transpose_bits, transpose_bits_downwards};
use super::order::by_block;
use super::together::{PlaneCoder, PlaneReader};
use super::words::Words;
use std::arch::x86_64::*;

const SIZE: i32 = 16;

/// Planes that are coded at once.
const TOGETHER: u32 = 16;

impl PlaneCoder<16> for Avx512 {
    /// Blocks of coefficients.
    type Numbers = [__m512i; 16];

    #[inline(always)]
    fn by_block<const WIDE: bool>(self, coefficients: &[__m512i; 16]) -> [__m512i; 16] {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { by_block::<16, WIDE>(coefficients) }
    }

    #[inline(always)]
    fn code<const WIDE: bool>(
        self,
        numbers: &[__m512i; 16],
        first: usize,
        plane_counts: &[u64; 8],
        most: u32,
        words: &mut Words,
    ) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            if WIDE {
                code_64(self, numbers, plane_counts, most, words);
            } else {
                code_32(self, &numbers.as_chunks().0[first / 8], plane_counts, most, words);
            }
        }
    }
}

impl PlaneReader<16> for Avx512 {
    type Planes = Planes;
    const NO_PLANES: Planes = [0; size_of::<Planes>() / 2];

    #[inline(always)]
    fn read<const WIDE: bool>(self, source: &mut BitReader<'_>, planes: &mut Planes, kmin: u32, budget: u32) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { planes_of_16::decode(source, planes, width(WIDE), kmin, budget) };
    }

    #[inline(always)]
    fn put<const WIDE: bool>(self, planes: &[Planes; 8], first: usize, coefficients: &mut [__m512i; 16]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            for (block, planes) in planes.iter().enumerate() {
                if let [upper, lower, ..] = planes.as_chunks::<32>().0 {
                    put_block::<WIDE>(bytemuck::cast(*upper), bytemuck::cast(*lower), first + block, coefficients);
                }
            }
        }
    }

    #[inline(always)]
    fn put_words<const WIDE: bool>(
        self,
        words: &[__m512i; MOST_WORDS],
        first: usize,
        coefficients: &mut [__m512i; 16],
    ) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            if let [upper, lower] = words.as_chunks::<8>().0 {
                let upper = transpose_8x8(*upper);
                let lower = if WIDE { transpose_8x8(*lower) } else { upper };
                for (block, (upper, lower)) in upper.iter().zip(&lower).enumerate() {
                    put_block::<WIDE>(*upper, *lower, first + block, coefficients);
                }
            }
        }
    }
}

/// Puts the coefficients of a block to the others. Those of 32 bits have lower planes only.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn put_block<const WIDE: bool>(upper: __m512i, lower: __m512i, block: usize, coefficients: &mut [__m512i; 16]) {
    let bytes = |planes| transpose_bits(permute(planes, const { by_coefficient() }));
    if WIDE {
        let (upper, lower) = (bytes(upper), bytes(lower));
        let half = |sources: Permutation| _mm512_permutex2var_epi8(lower, bytemuck::cast(sources), upper);
        coefficients[2 * block % 16] = half(const { to_rows(true, 0) });
        coefficients[(2 * block + 1) % 16] = half(const { to_rows(true, 8) });
    } else {
        coefficients[block % 16] = permute(bytes(lower), const { to_rows(false, 0) });
    }
}

/// Bytes of 32 planes, from the most significant one down, in the order in which [`transpose_bits`] takes them, backwards:
/// of each byte of the coefficients, from the least significant one up, those of 8 coefficients, and of the 8 others.
const fn by_coefficient() -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        // The planes of byte i / 16 are 8 i / 16 to 8 i / 16 + 7, of which plane p is in place 31 - p.
        let plane = i / 16 * 8 + 7 - i % 8;
        sources[i] = (2 * (31 - plane) + i / 8 % 2) as u8;
        i += 1;
    }
    sources
}

/// Where [`transpose_bits`] then leaves the bytes of coefficients, in the order of the block from this one on.
const fn to_rows(wide: bool, first: usize) -> Permutation {
    let mut sources = [0; 64];
    let size = if wide { 8 } else { 4 };
    let mut i = 0;
    while i < 16 {
        let place = ORDER[i] as usize;
        let mut byte = 0;
        while byte < size && place >= first && (place - first + 1) * size <= 64 {
            sources[(place - first) * size + byte] = (byte * 16 + i) as u8;
            byte += 1;
        }
        i += 1;
    }
    sources
}

/// Of each of eight blocks 32 planes, and 32 planes of the bits below first ones, as [`transpose_bits_downwards`]
/// leaves them.
type PlanesOfEight = [[__m512i; 2]; 8];

/// Codes eight blocks, of two vectors each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512vl,avx512vbmi,gfni,bmi2")]
fn code_64(kernel: Avx512, numbers: &[__m512i; 16], plane_counts: &[u64; 8], most: u32, words: &mut Words) {
    for half in 0..2 {
        let sources = if half == 0 { const { significances(true, 4) } } else { const { significances(true, 0) } };
        let bytes = |low, high| _mm512_permutex2var_epi8(low, bytemuck::cast(sources), high);
        let planes = std::array::from_fn(|block| {
            let [low, high] = [numbers[2 * block], numbers[2 * block + 1]];
            let below = bytes(kernel.below_first_ones::<true>(low), kernel.below_first_ones::<true>(high));
            [bytes(low, high), below].map(|bytes| transpose_bits_downwards(bytes))
        });
        if !code_planes(&planes, 32 * half, plane_counts, most, words) {
            return;
        }
    }
}

/// Codes eight blocks, of a vector each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512vl,avx512vbmi,gfni,bmi2")]
fn code_32(kernel: Avx512, numbers: &[__m512i; 8], plane_counts: &[u64; 8], most: u32, words: &mut Words) {
    let planes = numbers.map(|numbers| {
        [numbers, kernel.below_first_ones::<false>(numbers)]
            .map(|numbers| transpose_bits_downwards(permute(numbers, const { significances(false, 0) })))
    });
    code_planes(&planes, 0, plane_counts, most, words);
}

/// Codes 32 planes after the first `before`, as far as there are that many. Returns whether there may be more.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512vl,avx512vbmi,gfni,bmi2")]
fn code_planes(planes: &PlanesOfEight, before: u32, plane_counts: &[u64; 8], most: u32, words: &mut Words) -> bool {
    for (sources, before) in [(const { of_planes(0) }, before), (const { of_planes(16) }, before + TOGETHER)] {
        if most <= before || words.are_full() {
            return false;
        }
        let all_exist = plane_counts.iter().all(|count| *count >= (before + TOGETHER).into());
        let mut coded = [_mm512_setzero_si512(); 8];
        for ((coded, planes), count) in coded.iter_mut().zip(planes).zip(plane_counts) {
            let [ones, below] = planes.map(|planes| dwords(planes, sources));
            *coded = if all_exist {
                codes::<false>(ones, below, TOGETHER)
            } else {
                codes::<true>(ones, below, (*count as u32).saturating_sub(before).min(TOGETHER))
            };
        }
        words.push(transpose_8x8(coded), (most - before).div_ceil(2) as usize);
    }
    true
}

/// The planes whose bytes `sources` names, as [`of_planes`] does, each in a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn dwords(bytes: __m512i, sources: Permutation) -> __m512i {
    _mm512_maskz_permutexvar_epi8(0x3333_3333_3333_3333, bytemuck::cast(sources), bytes)
}

/// The codes of `count` planes, two in a lane of 64 bits. `ones` are the bits of each plane, and `below` those that are
/// below a one of their coefficient.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512vl,avx512vbmi,gfni,bmi2")]
fn codes<const HAVE_FEWER: bool>(ones: __m512i, below: __m512i, count: u32) -> __m512i {
    let bit_length = |bits| _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(bits));
    let bits_from = |count| _mm512_sllv_epi32(_mm512_set1_epi32(-1), count);
    let n = bit_length(below);
    let after = bit_length(_mm512_or_si512(ones, below));
    let rest = _mm512_srlv_epi32(ones, n);
    // Each four bits in a byte.
    let places = _mm512_set1_epi64(0x2C28_2420_0C08_0400);
    let nibbles = _mm512_and_si512(_mm512_multishift_epi64_epi8(places, rest), _mm512_set1_epi8(0b1111));
    let table = |bytes: [u8; 16]| _mm512_shuffle_epi8(_mm512_broadcast_i32x4(bytemuck::cast(bytes)), nibbles);
    let groups = Codes { bits: table(FOUR_WITH_TESTS), lengths: table(FOUR_LENGTHS) }.pairs_of_8().pairs_of_16();
    // Before the groups is another test of 1. The last one is 0, unless there is a one in the last place.
    let one = _mm512_set1_epi32(1);
    let with_first = _mm512_or_si512(_mm512_add_epi32(groups.bits, groups.bits), one);
    // 1 where the bit length is that of all, and otherwise 0.
    let (all, to_last) = (_mm512_srli_epi32::<4>(n), _mm512_srli_epi32::<4>(after));
    let without_test = _mm512_add_epi32(after, _mm512_sub_epi32(groups.lengths, _mm512_set1_epi32(SIZE)));
    let written = _mm512_add_epi32(_mm512_sub_epi32(without_test, to_last), all);
    let mut lengths = _mm512_add_epi32(written, _mm512_sub_epi32(one, to_last));
    let significant = _mm512_andnot_si512(bits_from(n), ones);
    let bits = _mm512_or_si512(significant, _mm512_sllv_epi32(with_first, n));
    let mut bits = _mm512_andnot_si512(bits_from(written), bits);
    if HAVE_FEWER {
        let exist = _bzhi_u32(u32::from(u16::MAX), count) as __mmask16;
        bits = _mm512_maskz_mov_epi32(exist, bits);
        lengths = _mm512_maskz_mov_epi32(exist, lengths);
    }
    Codes { bits, lengths }.pairs_of_32().with_lengths_above()
}

/// Of four bytes of each coefficient, the most significant ones first: those of 8 coefficients, the last one first, and
/// of the 8 others.
const fn significances(wide: bool, first: usize) -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (byte, coefficient) = (first + 3 - i / 16, i / 8 % 2 * 8 + 7 - i % 8);
        let place = ORDER[coefficient] as usize;
        sources[i] = if wide { 8 * place + byte } else { 4 * place + byte } as u8;
        i += 1;
    }
    sources
}

/// The two bytes of each plane from this one on, in the lower half of a lane.
const fn of_planes(first: usize) -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        let plane = first + i / 4;
        sources[i] = (plane / 8 * 16 + i % 2 * 8 + plane % 8) as u8;
        i += 1;
    }
    sources
}
