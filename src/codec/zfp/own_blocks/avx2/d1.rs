//! Blocks of one dimension: one vector, whose upper half is empty if its values have 32 bits.

use super::super::bits::{Sink, Source};
use super::super::block::width;
use super::super::kernel::Kernel;
use super::super::lanes::Lanes;
use super::super::lift::{from_negabinary, lift, to_negabinary, unlift};
use super::super::number::{Number, cut};
use super::super::x86::planes_of_4;
use super::Avx2;
use std::arch::x86_64::*;

impl Kernel<4> for Avx2 {
    type Block = [__m256i; 1];
    type Coefficients = [u64; 4];

    #[inline(always)]
    fn zeros(self) -> [__m256i; 1] {
        [self.zero()]
    }

    #[inline(always)]
    fn vector_count(_: bool) -> usize {
        1
    }

    #[inline(always)]
    fn load<const WIDE: bool>(self, bytes: &[u8]) -> [__m256i; 1] {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        [unsafe { load::<WIDE>(bytes) }]
    }

    #[inline(always)]
    fn store<const WIDE: bool>(self, [values]: &[__m256i; 1], bytes: &mut [u8]) {
        // SAFETY: as in `load`.
        unsafe { store::<WIDE>(*values, bytes) };
    }

    #[inline(always)]
    fn forward_transform<const WIDE: bool, const REVERSIBLE: bool>(self, [integers]: &[__m256i; 1]) -> [u64; 4] {
        // SAFETY: as in `load`.
        let line = unsafe { numbers::<WIDE>(*integers) };
        let line = lift::<Number, WIDE, REVERSIBLE>(Number, line);
        line.map(|integer| cut::<WIDE>(to_negabinary::<Number, WIDE>(Number, integer)))
    }

    #[inline(always)]
    fn inverse_transform<const WIDE: bool, const REVERSIBLE: bool>(self, coefficients: &[u64; 4]) -> [__m256i; 1] {
        let line = coefficients.map(|number| from_negabinary::<Number, WIDE>(Number, number));
        // SAFETY: as in `load`.
        [unsafe { vector::<WIDE>(unlift::<Number, WIDE, REVERSIBLE>(Number, line)) }]
    }

    #[inline(always)]
    fn significant_bits<const WIDE: bool>(self, [a, b, c, d]: &[u64; 4]) -> u64 {
        a | b | c | d
    }

    #[inline(always)]
    fn encode_planes<const WIDE: bool>(
        self,
        sink: &mut Sink<'_>,
        coefficients: &[u64; 4],
        top: u32,
        kmin: u32,
        budget: u32,
    ) {
        // SAFETY: as in `load`.
        unsafe { planes_of_4::encode(sink, coefficients, width(WIDE), top, kmin, budget) };
    }

    #[inline(always)]
    fn decode_planes<const WIDE: bool>(self, source: &mut Source<'_>, kmin: u32, budget: u32) -> [u64; 4] {
        // SAFETY: as in `load`.
        unsafe { planes_of_4::decode::<WIDE>(source, kmin, budget) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load<const WIDE: bool>(bytes: &[u8]) -> __m256i {
    match (WIDE, bytes.first_chunk::<32>(), bytes.first_chunk::<16>()) {
        (true, Some(bytes), _) => bytemuck::cast(*bytes),
        (false, _, Some(bytes)) => _mm256_zextsi128_si256(bytemuck::cast(*bytes)),
        _ => _mm256_setzero_si256(),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store<const WIDE: bool>(values: __m256i, bytes: &mut [u8]) {
    if WIDE {
        bytes[..32].copy_from_slice(&bytemuck::cast::<_, [u8; 32]>(values));
    } else {
        bytes[..16].copy_from_slice(&bytemuck::cast::<_, [u8; 16]>(_mm256_castsi256_si128(values)));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn numbers<const WIDE: bool>(integers: __m256i) -> [u64; 4] {
    if WIDE {
        let (low, high) = (_mm256_castsi256_si128(integers), _mm256_extracti128_si256::<1>(integers));
        [_mm_cvtsi128_si64(low), _mm_extract_epi64::<1>(low), _mm_cvtsi128_si64(high), _mm_extract_epi64::<1>(high)]
            .map(i64::cast_unsigned)
    } else {
        let [a, b, ..]: [u64; 4] = bytemuck::cast(integers);
        [a & u64::from(u32::MAX), a >> 32, b & u64::from(u32::MAX), b >> 32]
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn vector<const WIDE: bool>(numbers: [u64; 4]) -> __m256i {
    let [a, b, c, d] = numbers.map(u64::cast_signed);
    if WIDE { _mm256_setr_epi64x(a, b, c, d) } else { _mm256_zextsi128_si256(_mm_set_epi64x(d << 32 | c, b << 32 | a)) }
}
