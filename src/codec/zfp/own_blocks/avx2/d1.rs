//! How blocks of one dimension are read: one vector, whose upper half is empty if its values have 32 bits.

use super::super::bits::BitReader;
use super::super::kernel::{DecodingKernel, Kernel};
use super::super::lanes::Lanes;
use super::super::lift::{from_negabinary, unlift};
use super::super::one_number::OneNumber;
use super::super::x86::planes_of_4;
use super::Avx2;
use std::arch::x86_64::*;

impl Kernel<4> for Avx2 {
    type Block = [__m256i; 1];

    #[inline(always)]
    fn zeros(self) -> [__m256i; 1] {
        [self.zero()]
    }

    #[inline(always)]
    fn vector_count(_: bool) -> usize {
        1
    }
}

impl DecodingKernel<4> for Avx2 {
    #[inline(always)]
    fn store<const WIDE: bool>(self, [values]: &[__m256i; 1], bytes: &mut [u8]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { store::<WIDE>(*values, bytes) };
    }

    #[inline(always)]
    fn decode_integers<const WIDE: bool>(
        self,
        source: &mut BitReader<'_>,
        kmin: u32,
        budget: u32,
        is_reversible: bool,
        [integers]: &mut [__m256i; 1],
    ) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        let coefficients = unsafe { planes_of_4::decode::<WIDE>(source, kmin, budget) };
        let line = coefficients.map(|number| from_negabinary::<OneNumber, WIDE>(OneNumber, number));
        let line = if is_reversible {
            unlift::<OneNumber, WIDE, true>(OneNumber, line)
        } else {
            unlift::<OneNumber, WIDE, false>(OneNumber, line)
        };
        // SAFETY: there is a value of this type only where the processor has the instructions.
        *integers = unsafe { vector::<WIDE>(line) };
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
fn vector<const WIDE: bool>(numbers: [u64; 4]) -> __m256i {
    let [a, b, c, d] = numbers.map(u64::cast_signed);
    if WIDE { _mm256_setr_epi64x(a, b, c, d) } else { _mm256_zextsi128_si256(_mm_set_epi64x(d << 32 | c, b << 32 | a)) }
}
