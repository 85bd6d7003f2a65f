//! Blocks of a fixed number of bits in lockstep: a lane of a vector for each, and some vectors, so that the processor does
//! not wait for the results of one.
//!
//! It is known where each block begins, so that none waits for the end of the one before. There are no branches by what
//! a single block has, which the processor would have to guess.

use super::super::across::float_precisions;
use super::super::bits::BitReader;
use super::super::block::{Limits, width};
use super::super::float::{bias, exponent_bits};
use super::Avx512;
use std::arch::x86_64::*;

/// The most words that the planes of a block take.
pub(super) const MOST_WORDS: usize = 16;

const VECTORS: usize = 4;

/// How many blocks are read at once.
pub(super) const BLOCKS: usize = 8 * VECTORS;

/// Eight blocks, a lane for each.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    /// The planes from the most significant one down, some to a word: those of 16 coefficients in 16 bits each, those
    /// of 4 in 8.
    pub(super) words: [__m512i; MOST_WORDS],
    /// How many planes without ones come before these.
    pub(super) empty: [i64; 8],
    /// Of floats.
    pub(super) exponents: [i64; 8],
}

/// Reads [`BLOCKS`], if they have a fixed number of bits, and seven bytes or more follow the last one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq")]
pub(super) fn read<const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: Avx512,
    source: &mut BitReader<'_>,
    limits: &Limits,
) -> Option<[Blocks; VECTORS]> {
    let (header, size) = (if IS_FLOAT { 1 + exponent_bits(WIDE) } else { 0 }, u64::from(limits.maxbits));
    let (start, end) = (source.position(), source.position() + BLOCKS as u64 * size);
    let goes_on = source.bytes().len() as u64 >= end / 8 + 8;
    if limits.is_reversible || limits.minbits != limits.maxbits || limits.maxbits < header || !goes_on {
        return None;
    }
    let none = _mm512_setzero_si512();
    let bytes = source.bytes();
    let mut streams = [Streams { bytes, ends: none, left: none, window: none, planes: none, n: none }; VECTORS];
    let mut blocks = [Blocks { words: [none; MOST_WORDS], empty: [0; 8], exponents: [0; 8] }; VECTORS];
    for (vector, (streams, blocks)) in streams.iter_mut().zip(&mut blocks).enumerate() {
        *streams = Streams::new(bytes, start + 8 * vector as u64 * size, size);
        let most = limits.maxprec.min(width(WIDE));
        streams.planes = _mm512_set1_epi64(most.into());
        if IS_FLOAT {
            let biased = _mm512_srli_epi64::<1>(streams.window);
            let biased = _mm512_and_si512(biased, _mm512_set1_epi64((1 << exponent_bits(WIDE)) - 1));
            let exponents = _mm512_sub_epi64(biased, _mm512_set1_epi64(bias(WIDE).into()));
            blocks.exponents = bytemuck::cast(exponents);
            let has_values = _mm512_test_epi64_mask(streams.window, _mm512_set1_epi64(1));
            streams.planes = _mm512_maskz_mov_epi64(
                has_values,
                float_precisions::<Avx512, N, true>(kernel, limits, exponents, most),
            );
            streams.left = _mm512_sub_epi64(streams.left, _mm512_set1_epi64(header.into()));
            streams.refill();
        }
        blocks.empty = bytemuck::cast(streams.skip_empty());
    }
    read_planes::<N>(&mut streams, &mut blocks);
    source.seek(end);
    Some(blocks)
}

/// Reads all planes of blocks of N coefficients.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq")]
fn read_planes<const N: usize>(streams: &mut [Streams<'_>; VECTORS], blocks: &mut [Blocks; VECTORS]) {
    // The bits of a plane in a word, and the most in the stream.
    let (step, longest) = if N == 4 { (8, 7) } else { (16, 31) };
    let mut valid = 0;
    for index in 0..u64::BITS {
        if valid < longest {
            for streams in &mut *streams {
                streams.refill();
            }
            valid = VALID;
        }
        valid -= longest;
        let mut go_on = [0; VECTORS];
        let mut planes = [_mm512_setzero_si512(); VECTORS];
        for ((streams, plane), go_on) in streams.iter_mut().zip(&mut planes).zip(&mut go_on) {
            *go_on = streams.with_planes(index);
            *plane = streams.take_significant(*go_on);
        }
        if go_on == [0; VECTORS] {
            return;
        }
        while go_on != [0; VECTORS] {
            for ((streams, plane), go_on) in streams.iter_mut().zip(&mut planes).zip(&mut go_on) {
                *go_on = streams.take_group::<N>(plane, *go_on);
            }
        }
        let shift = _mm_cvtsi32_si128((index * step % u64::BITS).cast_signed());
        for (plane, blocks) in planes.iter().zip(&mut *blocks) {
            let word = &mut blocks.words[(index * step / u64::BITS) as usize % MOST_WORDS];
            *word = _mm512_or_si512(*word, _mm512_sll_epi64(*plane, shift));
        }
    }
}

/// At least this many bits of a window are valid after a [`refill`](Streams::refill).
const VALID: u32 = 57;

/// The streams of eight blocks, a lane for each.
#[derive(Clone, Copy)]
struct Streams<'a> {
    bytes: &'a [u8],
    /// Where they end; at least seven bytes follow.
    ends: __m512i,
    /// How many bits are left before their ends.
    left: __m512i,
    /// The next bits.
    window: __m512i,
    /// How many planes are left to read from the first one with a one on.
    planes: __m512i,
    /// How many coefficients are significant.
    n: __m512i,
}

impl<'a> Streams<'a> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn new(bytes: &'a [u8], start: u64, size: u64) -> Self {
        let (start, size) = (_mm512_set1_epi64(start.cast_signed()), _mm512_set1_epi64(size.cast_signed()));
        let ends = _mm512_add_epi64(start, _mm512_mullo_epi64(size, _mm512_setr_epi64(1, 2, 3, 4, 5, 6, 7, 8)));
        let none = _mm512_setzero_si512();
        let mut streams = Self { bytes, ends, left: size, window: none, planes: none, n: none };
        streams.refill();
        streams
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn refill(&mut self) {
        let next = _mm512_sub_epi64(self.ends, self.left);
        // SAFETY: seven bytes follow the end, and so the byte of the next bit, too.
        let words = unsafe { _mm512_i64gather_epi64::<1>(_mm512_srli_epi64::<3>(next), self.bytes.as_ptr().cast()) };
        self.window = _mm512_srlv_epi64(words, _mm512_and_si512(next, _mm512_set1_epi64(7)));
    }

    /// Takes these numbers of bits.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn skip(&mut self, counts: __m512i) {
        self.window = _mm512_srlv_epi64(self.window, counts);
        self.left = _mm512_sub_epi64(self.left, counts);
    }

    /// Skips planes before the first one with a one, as far as they lie in the window. Returns how many.
    #[inline]
    #[target_feature(enable = "avx512f,avx512cd")]
    fn skip_empty(&mut self) -> __m512i {
        let most = _mm512_min_epi64(_mm512_min_epi64(self.left, self.planes), _mm512_set1_epi64(VALID.into()));
        let empty = _mm512_min_epu64(trailing_zeros(self.window), most);
        self.skip(empty);
        self.planes = _mm512_sub_epi64(self.planes, empty);
        empty
    }

    /// The lanes that have this plane.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn with_planes(&self, index: u32) -> __mmask8 {
        let exist = _mm512_cmpgt_epi64_mask(self.planes, _mm512_set1_epi64(index.into()));
        _mm512_mask_cmpgt_epi64_mask(exist, self.left, _mm512_setzero_si512())
    }

    /// Takes the bits of the significant coefficients.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn take_significant(&mut self, lanes: __mmask8) -> __m512i {
        let count = _mm512_maskz_min_epi64(lanes, self.n, self.left);
        let bits = _mm512_andnot_si512(_mm512_sllv_epi64(_mm512_set1_epi64(-1), count), self.window);
        self.skip(count);
        bits
    }

    /// Takes a test and what follows it up to a one. Returns the lanes in which there was one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512cd,avx512dq")]
    fn take_group<const N: usize>(&mut self, plane: &mut __m512i, lanes: __mmask8) -> __mmask8 {
        let (one, last) = (_mm512_set1_epi64(1), _mm512_set1_epi64(N as i64 - 1));
        let lanes = _mm512_mask_cmple_epi64_mask(lanes, self.n, last);
        let lanes = _mm512_mask_cmpgt_epi64_mask(lanes, self.left, _mm512_setzero_si512());
        let have_ones = _mm512_mask_test_epi64_mask(lanes, self.window, one);
        self.skip(_mm512_maskz_mov_epi64(lanes, one));
        // That in the last place is not written.
        let most = _mm512_min_epi64(_mm512_sub_epi64(last, self.n), self.left);
        let zeros = _mm512_maskz_min_epu64(have_ones, trailing_zeros(self.window), most);
        let is_written = _mm512_mask_cmplt_epi64_mask(have_ones, zeros, most);
        self.skip(_mm512_mask_add_epi64(zeros, is_written, zeros, one));
        self.n = _mm512_add_epi64(self.n, zeros);
        *plane = _mm512_mask_or_epi64(*plane, have_ones, *plane, _mm512_sllv_epi64(one, self.n));
        self.n = _mm512_mask_add_epi64(self.n, have_ones, self.n, one);
        have_ones
    }
}

/// How many zeros there are below the lowest one; the largest number where there is none.
#[inline]
#[target_feature(enable = "avx512f,avx512cd")]
fn trailing_zeros(bits: __m512i) -> __m512i {
    let lowest = _mm512_and_si512(bits, _mm512_sub_epi64(_mm512_setzero_si512(), bits));
    _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(lowest))
}
