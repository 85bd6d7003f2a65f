//! `float16` in vectors of `float32`, by AVX2 and F16C, or by AVX-512.
#![expect(unsafe_code, reason = "uses instructions that the levels promise")]

use super::bound::Operand;
use super::formula::{Scale, with_formula};
use crate::number::Formula;
use crate::simd::{Level, for_each_group};
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

/// Its bits.
const INFINITY: u16 = 0x7C00;

/// A register of `float16`, whose halves are converted one by one. Registers come from [`all`](Self::all) and
/// [`load`](Self::load) alone, so that where there is one, the processor has its instructions.
trait Register: Copy {
    type Half: Copy;
    /// The numbers of a half as `float32`.
    type Wide: Copy;
    /// # Safety
    /// The processor has the instructions of the register: AVX2 and F16C, or AVX-512.
    unsafe fn all(bits: u16) -> Self;
    /// # Safety
    /// As [`all`](Self::all).
    unsafe fn load(bytes: &[[u8; 2]]) -> Self;
    fn store(self, bytes: &mut [[u8; 2]]);
    fn halves(self) -> [Self::Half; 2];
    fn of_halves(halves: [Self::Half; 2]) -> Self;
    fn widen(half: Self::Half) -> Self::Wide;
    /// Rounds to nearest, ties to even.
    fn narrow(wide: Self::Wide) -> Self::Half;
    /// The larger of each two: a magnitude, and that of another number, as integers.
    fn larger(self, other: Self) -> Self;
    fn add(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    fn sub(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    fn mul(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    fn div(a: Self::Wide, b: Self::Wide) -> Self::Wide;
}

/// The methods that are one instruction each.
macro_rules! instructions {
    ($($method:ident($($operand:ident: $type:ty),*) -> $result:ty = $instruction:expr;)*) => {
        $(#[inline(always)] // into the loop, for the instruction set of that
        fn $method($($operand: $type),*) -> $result {
            // SAFETY: only `Numbers` calls this, which is made where the processor has the instructions.
            unsafe { $instruction($($operand),*) }
        })*
    };
}
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;

impl Register for __m256i {
    type Half = __m128i;
    type Wide = __m256;
    instructions! {
        widen(half: __m128i) -> __m256 = _mm256_cvtph_ps;
        narrow(wide: __m256) -> __m128i = _mm256_cvtps_ph::<NEAREST>;
        add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps;
        sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps;
        mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps;
        div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps;
    }

    #[inline(always)]
    unsafe fn all(bits: u16) -> Self {
        // SAFETY: as the caller promises.
        unsafe { _mm256_set1_epi16(bits as i16) }
    }

    #[inline(always)]
    unsafe fn load(bytes: &[[u8; 2]]) -> Self {
        // SAFETY: as the caller promises; these are 32 readable bytes, and this load needs no alignment.
        unsafe { _mm256_loadu_si256(bytes[..16].as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [[u8; 2]]) {
        // SAFETY: these are 32 writable bytes, and this store needs no alignment.
        unsafe { _mm256_storeu_si256(bytes[..16].as_mut_ptr().cast(), self) }
    }

    #[inline(always)]
    fn halves(self) -> [__m128i; 2] {
        // SAFETY: only `Numbers` calls this, which is made where the processor has the instructions.
        unsafe { [_mm256_castsi256_si128(self), _mm256_extracti128_si256::<1>(self)] }
    }

    #[inline(always)]
    fn of_halves([low, high]: [__m128i; 2]) -> Self {
        // SAFETY: only `Numbers` calls this, which is made where the processor has the instructions.
        unsafe { _mm256_set_m128i(high, low) }
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: only `Numbers` calls this, which is made where the processor has the instructions.
        unsafe { _mm256_max_epu16(self, _mm256_and_si256(other, _mm256_set1_epi16(i16::MAX))) }
    }
}

impl Register for __m512i {
    type Half = __m256i;
    type Wide = __m512;
    instructions! {
        widen(half: __m256i) -> __m512 = _mm512_cvtph_ps;
        narrow(wide: __m512) -> __m256i = _mm512_cvtps_ph::<NEAREST>;
        add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps;
        sub(a: __m512, b: __m512) -> __m512 = _mm512_sub_ps;
        mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps;
        div(a: __m512, b: __m512) -> __m512 = _mm512_div_ps;
    }

    #[inline(always)]
    unsafe fn all(bits: u16) -> Self {
        // SAFETY: as the caller promises.
        unsafe { _mm512_set1_epi16(bits as i16) }
    }

    #[inline(always)]
    unsafe fn load(bytes: &[[u8; 2]]) -> Self {
        // SAFETY: as the caller promises; these are 64 readable bytes, and this load needs no alignment.
        unsafe { _mm512_loadu_si512(bytes[..32].as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [[u8; 2]]) {
        // SAFETY: these are 64 writable bytes, and this store needs no alignment.
        unsafe { _mm512_storeu_si512(bytes[..32].as_mut_ptr().cast(), self) }
    }

    #[inline(always)]
    fn halves(self) -> [__m256i; 2] {
        // SAFETY: only `Numbers` calls this, which is made where the processor has the instructions.
        unsafe { [_mm512_castsi512_si256(self), _mm512_extracti64x4_epi64::<1>(self)] }
    }

    #[inline(always)]
    fn of_halves([low, high]: [__m256i; 2]) -> Self {
        // SAFETY: only `Numbers` calls this, which is made where the processor has the instructions.
        unsafe { _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high) }
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: only `Numbers` calls this, which is made where the processor has the instructions.
        unsafe { _mm512_max_epu16(self, _mm512_and_si512(other, _mm512_set1_epi16(i16::MAX))) }
    }
}

/// Numbers, rounded after each operation: `float32` has more than twice the digits, so that this is the same as
/// rounding once (Figueroa, "When is double rounding innocuous?", 1995).
#[derive(Clone, Copy)]
struct Numbers<R: Register>([R::Half; 2]);

macro_rules! operators {
    ($($operator:ident, $method:ident);*) => {
        $(impl<R: Register> $operator for Numbers<R> {
            type Output = Self;

            #[inline(always)] // into the loop, for the instruction set of that
            fn $method(self, operand: Self) -> Self {
                let result = |half: usize| R::narrow(R::$method(R::widen(self.0[half]), R::widen(operand.0[half])));
                Self([result(0), result(1)])
            }
        })*
    };
}

operators!(Add, add; Sub, sub; Mul, mul; Div, div);

/// Whether every result is finite; if not, some may be faults, and a NaN has any of its patterns.
///
/// # Safety
/// The processor has AVX2 and F16C.
pub(super) unsafe fn run(operands: &[Operand], input: &[u8], output: &mut [u8]) -> bool {
    let (input, output) = (input.as_chunks().0, output.as_chunks_mut().0);
    if Level::Avx512.is_available() {
        // SAFETY: the processor has AVX-512.
        let number = |bits| Numbers(unsafe { __m512i::all(bits as u16) }.halves());
        with_formula(operands, number, Avx512 { input, output })
    } else {
        // SAFETY: the processor has AVX2 and F16C.
        let number = |bits| Numbers(unsafe { __m256i::all(bits as u16) }.halves());
        with_formula(operands, number, Avx2 { input, output })
    }
}

/// Only made where the processor has AVX2 and F16C.
struct Avx2<'a> {
    input: &'a [[u8; 2]],
    output: &'a mut [[u8; 2]],
}

impl Scale<Numbers<__m256i>> for Avx2<'_> {
    fn run(self, formula: impl Formula<Numbers<__m256i>>) -> bool {
        // SAFETY: the processor has AVX2 and F16C.
        unsafe { scale_avx2(self.input, self.output, formula) }
    }
}

#[target_feature(enable = "avx2,f16c")]
fn scale_avx2(input: &[[u8; 2]], output: &mut [[u8; 2]], formula: impl Formula<Numbers<__m256i>>) -> bool {
    // SAFETY: this function has the instructions of the register.
    let mut largest = unsafe { __m256i::all(0) };
    for_each_group(input, output, [0; 2], |input: &[[u8; 2]; 16], output: &mut [[u8; 2]; 16]| {
        largest = scale(input, output, formula, largest);
    });
    is_finite::<_, 16>(largest)
}

/// Only made where the processor has AVX-512.
struct Avx512<'a> {
    input: &'a [[u8; 2]],
    output: &'a mut [[u8; 2]],
}

impl Scale<Numbers<__m512i>> for Avx512<'_> {
    fn run(self, formula: impl Formula<Numbers<__m512i>>) -> bool {
        // SAFETY: the processor has AVX-512.
        unsafe { scale_avx512(self.input, self.output, formula) }
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn scale_avx512(input: &[[u8; 2]], output: &mut [[u8; 2]], formula: impl Formula<Numbers<__m512i>>) -> bool {
    // SAFETY: this function has the instructions of the register.
    let mut largest = unsafe { __m512i::all(0) };
    for_each_group(input, output, [0; 2], |input: &[[u8; 2]; 32], output: &mut [[u8; 2]; 32]| {
        largest = scale(input, output, formula, largest);
    });
    is_finite::<_, 32>(largest)
}

/// Scales the numbers of a register. The larger of each two: a magnitude so far, and that of a result.
#[inline(always)] // into the loop, for the instruction set of that
fn scale<R: Register>(input: &[[u8; 2]], output: &mut [[u8; 2]], formula: impl Formula<Numbers<R>>, largest: R) -> R {
    // Stored together, because storing a half would convert it a second time.
    // SAFETY: the caller has a register already.
    let numbers = unsafe { R::load(input) };
    let result = R::of_halves(formula.apply(Numbers(numbers.halves())).0);
    result.store(output);
    largest.larger(result)
}

fn is_finite<R: Register, const COUNT: usize>(largest: R) -> bool {
    let mut magnitudes = [[0; 2]; COUNT];
    largest.store(&mut magnitudes);
    magnitudes.iter().all(|magnitude| u16::from_le_bytes(*magnitude) < INFINITY)
}
