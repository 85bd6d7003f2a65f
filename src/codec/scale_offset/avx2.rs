//! `float16` in vectors of `float32`, by AVX2 and F16C.
#![expect(unsafe_code, reason = "uses instructions that the level promises")]

use super::bound::Operand;
use super::number::Number;
use crate::number::{FloatId, Formula, Minus, Operation, Over, Plus, Then, Times};
use crate::simd::for_each_group;
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

/// Eight numbers, each a `float16`. One is only made where the processor has AVX2 and F16C.
#[derive(Clone, Copy)]
struct Halves(__m256);

impl Halves {
    /// Rounds each to nearest, ties to even, after one operation: `float32` has more than twice the digits, so that this is
    /// the same as rounding once (Figueroa, "When is double rounding innocuous?", 1995).
    ///
    /// # Safety
    /// The processor has AVX2 and F16C.
    #[inline(always)] // for the instruction set of the caller, as the operators
    unsafe fn rounded(numbers: __m256) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { _mm256_cvtph_ps(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers)) })
    }
}

macro_rules! operators {
    ($($operator:ident, $method:ident, $instruction:ident);*) => {
        $(impl $operator for Halves {
            type Output = Self;

            #[inline(always)]
            fn $method(self, operand: Self) -> Self {
                // SAFETY: `self` is only made where the processor has AVX2 and F16C.
                unsafe { Self::rounded($instruction(self.0, operand.0)) }
            }
        })*
    };
}

operators!(Add, add, _mm256_add_ps; Sub, sub, _mm256_sub_ps; Mul, mul, _mm256_mul_ps; Div, div, _mm256_div_ps);

/// Whether every element has a result; if not, the output is not to be used.
///
/// # Safety
/// The processor has AVX2 and F16C.
#[target_feature(enable = "avx2,f16c")]
pub(super) fn run(operands: &[Operand], input: &[u8], output: &mut [u8]) -> bool {
    let number = |index: usize| FloatId::Float16.format().to_f64(operands[index].bits) as f32;
    let all = |number: f32| Halves(_mm256_set1_ps(number));
    let operation = |index: usize| operands.get(index).map(|operand| operand.operation);
    match (operation(0), operation(1)) {
        (None, _) => {
            output.copy_from_slice(input);
            true
        }
        (Some(Operation::Subtract), None) => scale(input, output, Minus(all(number(0)))),
        (Some(Operation::Add), None) => scale(input, output, Plus(all(number(0)))),
        (Some(Operation::Multiply), None) => scale(input, output, Times(all(number(0)))),
        (Some(Operation::Divide), None) => match number(0).reciprocal() {
            Some(reciprocal) => scale(input, output, Times(all(reciprocal))),
            None => scale(input, output, Over(all(number(0)))),
        },
        (Some(Operation::Subtract), Some(_)) => {
            scale(input, output, Then(Minus(all(number(0))), Times(all(number(1)))))
        }
        (Some(_), Some(_)) => match number(0).reciprocal() {
            Some(reciprocal) => scale(input, output, Then(Times(all(reciprocal)), Plus(all(number(1))))),
            None => scale(input, output, Then(Over(all(number(0))), Plus(all(number(1))))),
        },
    }
}

#[target_feature(enable = "avx2,f16c")]
fn scale(input: &[u8], output: &mut [u8], formula: impl Formula<Halves>) -> bool {
    let (magnitude, infinity) = (_mm_set1_epi16(i16::MAX), _mm_set1_epi16(0x7C00));
    let nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC0_0000));
    let mut losses = _mm_setzero_si128();
    let (input, output) = (input.as_chunks::<2>().0, output.as_chunks_mut::<2>().0);
    for_each_group(input, output, [0; 2], |input: &[[u8; 2]; 8], output: &mut [[u8; 2]; 8]| {
        // SAFETY: `input` is 16 readable bytes, and this load needs no alignment.
        let before = unsafe { _mm_loadu_si128(input.as_ptr().cast()) };
        let number = formula.apply(Halves(_mm256_cvtph_ps(before))).0;
        // Every NaN becomes the format's default NaN.
        let number = _mm256_blendv_ps(number, nan, _mm256_cmp_ps::<_CMP_UNORD_Q>(number, number));
        let after = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(number);
        // A number that was finite and is not.
        let was_finite = _mm_cmpgt_epi16(infinity, _mm_and_si128(before, magnitude));
        let is_finite = _mm_cmpgt_epi16(infinity, _mm_and_si128(after, magnitude));
        losses = _mm_or_si128(losses, _mm_andnot_si128(is_finite, was_finite));
        // SAFETY: `output` is 16 writable bytes, and this store needs no alignment.
        unsafe { _mm_storeu_si128(output.as_mut_ptr().cast(), after) };
    });
    _mm_movemask_epi8(losses) == 0
}
