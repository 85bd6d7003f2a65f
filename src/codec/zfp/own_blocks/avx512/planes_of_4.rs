//! The embedded code of [`planes_of_words`](super::super::planes_of_words) for 4 coefficients, of all planes at once: a
//! byte for each.
//!
//! How many coefficients are significant before a plane is known without coding those before it.

use super::super::x86::planes_of_4::CODES;
use super::Avx512;
use super::codes::Codes;
use super::matrix::{Permutation, permute, transpose_bits_downwards};
use super::together::{Code, PlaneCoder};
use std::arch::x86_64::*;

impl PlaneCoder<4> for Avx512 {
    type Coefficients = [u64; 4];
    type Words = [u64; 8];
    const IN_WORD: usize = 8;

    #[inline(always)]
    fn code<const WIDE: bool>(self, coefficients: &[u64; 4], count: u32, _: u32, code: &mut Code<[u64; 8]>) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        let Codes { bits, lengths } = unsafe { codes::<WIDE>(coefficients, count) };
        *code = Code { bits: bytemuck::cast(bits), lengths: bytemuck::cast(lengths) };
    }
}

/// The codes of the first `count` planes, eight in a lane of 64 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512vl,avx512vbmi,gfni,bmi2")]
fn codes<const WIDE: bool>(coefficients: &[u64; 4], count: u32) -> Codes {
    /// By the number of significant coefficients, 16 codes: their bits.
    const BITS: [u8; 64] = table(false);
    const LENGTHS: [u8; 64] = table(true);
    /// By the significant coefficients: where their codes begin in a table, or 0 if all are significant, whose planes are
    /// their own codes.
    const PLACES: [u8; 16] = [C, C | 16, C | 32, C | 32, T, T, T, T, 0, 0, 0, 0, 0, 0, 0, 0];
    const C: u8 = 0x80;
    const T: u8 = C | 48;

    let [a, b, c, d] = coefficients.map(|number| (if WIDE { number } else { number << 32 }).cast_signed());
    let upper = _mm256_setr_epi64x(a, b, c, d);
    // A coefficient is significant below its first one.
    let below = _mm256_srlv_epi64(_mm256_set1_epi64x(i64::MAX), _mm256_lzcnt_epi64(upper));
    let bytes = permute(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(upper), below), const { rows() });
    let planes = transpose_bits_downwards(bytes);

    let nibble = _mm512_set1_epi8(0b1111);
    let before = _mm512_and_si512(_mm512_srli_epi16::<4>(planes), nibble);
    let places = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(bytemuck::cast(PLACES)), before);
    let planes = _mm512_and_si512(planes, nibble);
    let places = _mm512_or_si512(places, planes);
    let are_coded = _mm512_movepi8_mask(places);
    let exist = _bzhi_u64(u64::MAX, count);
    let bits = _mm512_mask_permutexvar_epi8(planes, are_coded, places, bytemuck::cast(BITS));
    let lengths = _mm512_mask_permutexvar_epi8(_mm512_set1_epi8(4), are_coded, places, bytemuck::cast(LENGTHS));
    let codes = Codes { bits: _mm512_maskz_mov_epi8(exist, bits), lengths: _mm512_maskz_mov_epi8(exist, lengths) };
    codes.pairs_of_8().pairs_of_16().pairs_of_32()
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

/// Bytes of eight numbers: the last ones first, and of each significance those of all numbers, the last number first.
const fn rows() -> Permutation {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (byte, number) = (7 - i / 8, 7 - i % 8);
        sources[i] = (8 * number + byte) as u8;
        i += 1;
    }
    sources
}
