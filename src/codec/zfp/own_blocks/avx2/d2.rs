//! How blocks of two dimensions are read: rows of four values in the lower halves of four vectors, or if they have 64
//! bits in all of them.

use super::super::bits::BitReader;
use super::super::block::width;
use super::super::kernel::{DecodingKernel, Kernel};
use super::super::lanes::Lanes;
use super::super::lift::{from_negabinary, unlift};
use super::super::order::OF_16;
use super::super::x86::planes_of_16::{self, Planes};
use super::Avx2;
use super::d3::matrix::{in_both_lanes, transpose_8x8};
use super::lanes::transpose;
use std::arch::x86_64::*;

type Rows = [__m256i; 4];

impl Kernel<16> for Avx2 {
    type Block = Rows;

    #[inline(always)]
    fn zeros(self) -> Rows {
        [self.zero(); 4]
    }

    #[inline(always)]
    fn vector_count(_: bool) -> usize {
        4
    }
}

impl DecodingKernel<16> for Avx2 {
    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &Rows, bytes: &mut [u8]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { store::<WIDE>(block, bytes) };
    }

    #[inline(always)]
    fn decode_integers<const WIDE: bool>(
        self,
        source: &mut BitReader<'_>,
        kmin: u32,
        budget: u32,
        is_reversible: bool,
        block: &mut Rows,
    ) {
        let mut planes: Planes = [0; size_of::<Planes>() / 2];
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe {
            let lowest = planes_of_16::decode(source, &mut planes, width(WIDE), kmin, budget);
            let coefficients = coefficients_of::<WIDE>(&planes, lowest);
            *block = if is_reversible {
                inverse_transform::<WIDE, true>(self, coefficients)
            } else {
                inverse_transform::<WIDE, false>(self, coefficients)
            };
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(kernel: Avx2, mut rows: Rows) -> Rows {
    for row in &mut rows {
        *row = from_negabinary::<Avx2, WIDE>(kernel, *row);
    }
    let columns = transpose::<WIDE>(unlift::<Avx2, WIDE, REVERSIBLE>(kernel, rows));
    transpose::<WIDE>(unlift::<Avx2, WIDE, REVERSIBLE>(kernel, columns))
}

#[inline]
#[target_feature(enable = "avx2")]
fn store<const WIDE: bool>(rows: &Rows, bytes: &mut [u8]) {
    if WIDE {
        for (row, bytes) in rows.iter().zip(bytes.as_chunks_mut::<32>().0) {
            *bytes = bytemuck::cast(*row);
        }
    } else {
        for (row, bytes) in rows.iter().zip(bytes.as_chunks_mut::<16>().0) {
            *bytes = bytemuck::cast(_mm256_castsi256_si128(*row));
        }
    }
}

/// A permutation of the bytes of a lane: for each resulting byte, which one it is.
type Permutation = [i8; 16];

/// Bytes from the order of the stream.
const FROM_ORDER: Permutation = {
    let mut sources = [0; 16];
    let mut i = 0;
    while i < 16 {
        sources[OF_16[i] as usize] = i as i8;
        i += 1;
    }
    sources
};

/// The even bytes of a lane, then the odd ones, the last first.
const EVEN_AND_ODD: Permutation = [14, 12, 10, 8, 6, 4, 2, 0, 15, 13, 11, 9, 7, 5, 3, 1];

/// The coefficients of planes, of which those below `lowest` are zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn coefficients_of<const WIDE: bool>(planes: &Planes, lowest: u32) -> Rows {
    let width = if WIDE { 4 } else { 2 };
    let mut bytes = [_mm_setzero_si128(); 8];
    let planes: &[[u16; 16]] = planes.as_chunks().0;
    for pair in lowest as usize / 16..width {
        let bits = _mm256_shuffle_epi8(bytemuck::cast(planes[3 - pair]), in_both_lanes(EVEN_AND_ODD));
        let pair_bytes = _mm256_shuffle_epi8(transpose_8x8(bits), in_both_lanes(FROM_ORDER));
        bytes[2 * pair + 1] = _mm256_castsi256_si128(pair_bytes);
        bytes[2 * pair] = _mm256_extracti128_si256::<1>(pair_bytes);
    }
    let [a, b, c, d, e, f, g, h] = bytes;
    let (low, high) = (words_of_bytes([a, b, c, d]), words_of_bytes([e, f, g, h]));
    let mut rows = [_mm256_setzero_si256(); 4];
    for (row, (low, high)) in rows.iter_mut().zip(low.into_iter().zip(high)) {
        *row = if WIDE {
            _mm256_set_m128i(_mm_unpackhi_epi32(low, high), _mm_unpacklo_epi32(low, high))
        } else {
            _mm256_zextsi128_si256(low)
        };
    }
    rows
}

/// Words of 32 bits from their bytes, four words per row.
#[inline]
#[target_feature(enable = "avx2")]
fn words_of_bytes([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let (ab, cd) = (_mm_unpacklo_epi8(a, b), _mm_unpacklo_epi8(c, d));
    let (ab_high, cd_high) = (_mm_unpackhi_epi8(a, b), _mm_unpackhi_epi8(c, d));
    [
        _mm_unpacklo_epi16(ab, cd),
        _mm_unpackhi_epi16(ab, cd),
        _mm_unpacklo_epi16(ab_high, cd_high),
        _mm_unpackhi_epi16(ab_high, cd_high),
    ]
}
