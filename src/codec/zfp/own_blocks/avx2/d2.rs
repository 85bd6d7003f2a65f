//! Blocks of two dimensions: rows of four values in the lower halves of four vectors, or if they have 64 bits in all of
//! them.

use super::super::bits::{Sink, Source};
use super::super::block::width;
use super::super::kernel::Kernel;
use super::super::lanes::Lanes;
use super::super::lift::{from_negabinary, lift, to_negabinary, unlift};
use super::super::order::OF_16;
use super::super::values;
use super::super::x86::planes_of_16::{self, Planes};
use super::Avx2;
use super::d3::matrix::{in_both_lanes, transpose_8x8, transpose_32};
use super::lanes::transpose;
use std::arch::x86_64::*;

type Rows = [__m256i; 4];

impl Kernel<16> for Avx2 {
    type Block = Rows;
    type Coefficients = Rows;

    #[inline(always)]
    fn zeros(self) -> Rows {
        [self.zero(); 4]
    }

    #[inline(always)]
    fn vector_count(_: bool) -> usize {
        4
    }

    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8]) -> Rows {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { load::<WIDE>(bytes) }
    }

    #[inline(always)]
    fn store<const WIDE: bool>(self, block: &Rows, bytes: &mut [u8]) {
        // SAFETY: as in `load`.
        unsafe { store::<WIDE>(block, bytes) };
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, integers: &Rows) -> Rows {
        // SAFETY: as in `load`.
        unsafe {
            let columns = lift::<Self, WIDE, REVERSIBLE>(self, transpose::<WIDE>(*integers));
            let mut rows = lift::<Self, WIDE, REVERSIBLE>(self, transpose::<WIDE>(columns));
            for row in &mut rows {
                *row = to_negabinary::<Self, WIDE>(self, *row);
            }
            rows
        }
    }

    #[inline(always)]
    fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(self, coefficients: &Rows) -> Rows {
        let mut rows = *coefficients;
        for row in &mut rows {
            *row = from_negabinary::<Self, WIDE>(self, *row);
        }
        // SAFETY: as in `load`.
        unsafe {
            let columns = transpose::<WIDE>(unlift::<Self, WIDE, REVERSIBLE>(self, rows));
            transpose::<WIDE>(unlift::<Self, WIDE, REVERSIBLE>(self, columns))
        }
    }

    #[inline(always)]
    fn significant_bits<const WIDE: bool>(self, coefficients: &Rows) -> u64 {
        values::any_bits::<Self, 16, WIDE>(self, coefficients)
    }

    #[inline(always)]
    fn encode_planes<const WIDE: bool>(
        self,
        sink: &mut Sink<'_>,
        coefficients: &Rows,
        top: u32,
        kmin: u32,
        budget: u32,
    ) {
        // SAFETY: as in `load`.
        unsafe {
            let pairs = pairs_in_order::<WIDE>(coefficients);
            planes_of_16::encode(sink, &pairs, width(WIDE), top, kmin, budget);
        }
    }

    #[inline(always)]
    fn decode_planes<const WIDE: bool>(self, source: &mut Source<'_>, kmin: u32, budget: u32) -> Rows {
        let mut planes: Planes = [0; size_of::<Planes>() / 2];
        // SAFETY: as in `load`.
        unsafe {
            let lowest = planes_of_16::decode(source, &mut planes, width(WIDE), kmin, budget);
            coefficients_of::<WIDE>(&planes, lowest)
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load<const WIDE: bool>(bytes: &[u8]) -> Rows {
    match (WIDE, bytes.as_chunks().0.first_chunk::<4>(), bytes.as_chunks().0.first_chunk::<4>()) {
        (true, Some(rows), _) => rows.map(bytemuck::cast::<[u8; 32], _>),
        (false, _, Some([a, b, c, d])) => {
            let row = |bytes: &[u8; 16]| _mm256_zextsi128_si256(bytemuck::cast(*bytes));
            [row(a), row(b), row(c), row(d)]
        }
        _ => [_mm256_setzero_si256(); 4],
    }
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

/// Bytes as [`pairs_of_bytes`] leaves them, to the order of the stream.
const fn to_order(wide: bool) -> Permutation {
    let mut sources = [0; 16];
    let mut i = 0;
    while i < 16 {
        let (x, y) = (OF_16[i] as i8 % 4, OF_16[i] as i8 / 4);
        sources[i] = if wide { x / 2 * 8 + 2 * y + x % 2 } else { x + 4 * y };
        i += 1;
    }
    sources
}

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

/// The bytes of all coefficients in the order of the stream, a lane for each significance, from the least up.
#[inline]
#[target_feature(enable = "avx2")]
fn pairs_in_order<const WIDE: bool>(coefficients: &Rows) -> [__m256i; 4] {
    shuffled(&pairs_of_bytes::<WIDE>(coefficients), const { to_order(WIDE) })
}

/// The same in the order of the vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn pairs_of_bytes<const WIDE: bool>(coefficients: &Rows) -> [__m256i; 4] {
    if WIDE {
        /// The bytes of two words one by one.
        const INTERLEAVED: Permutation = [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15];
        let [a, b, c, d] = shuffled(coefficients, INTERLEAVED);
        let (ab, cd) = (_mm256_unpacklo_epi16(a, b), _mm256_unpacklo_epi16(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_epi16(a, b), _mm256_unpackhi_epi16(c, d));
        // Of each significance eight bytes in either lane.
        [
            _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_unpacklo_epi32(ab, cd)),
            _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_unpackhi_epi32(ab, cd)),
            _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_unpacklo_epi32(ab_high, cd_high)),
            _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_unpackhi_epi32(ab_high, cd_high)),
        ]
    } else {
        /// The first bytes of four words, then the second ones, and so on.
        const BY_SIGNIFICANCE: Permutation = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
        let [a, b, c, d] = transpose_32(shuffled(coefficients, BY_SIGNIFICANCE));
        let none = _mm256_setzero_si256();
        [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x20>(c, d), none, none]
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn shuffled(rows: &Rows, permutation: Permutation) -> Rows {
    let mut shuffled = *rows;
    for row in &mut shuffled {
        *row = _mm256_shuffle_epi8(*row, in_both_lanes(permutation));
    }
    shuffled
}

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
