//! Scaling integers without a division and without wide products.
//!
//! The elements with a result are an interval, because both operations are monotonic: its ends are found when the chain
//! is bound, and a loop only asks how far above the lower end an element lies, modulo 2^N. Inside the interval wrapping
//! arithmetic is exact, and `(x - offset) * scale` is one multiplication and one addition.
//!
//! Division by `2^k * m`, m odd, is a shift by k and a multiplication by the inverse of m modulo 2^N. It leaves no
//! remainder if the low k bits are 0 and the product lies where quotients of the type do (Warren, "Hacker's Delight",
//! 10-16 and 10-17).

use super::bound::Operand;
use crate::number::{Operation, integer_range, sign_extended};
use crate::simd::{Loop, vectorized};

/// One direction for a type of 8, 16, 32 or 64 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IntegerScaling {
    bits: u32,
    division: Option<Division>,
    /// Of what enters, or of quotients: the numbers with a result, from `lowest` to `lowest + width`.
    lowest: u64,
    width: u64,
    factor: u64,
    term: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Division {
    shift: u32,
    is_signed: bool,
    inverse: u64,
}

impl IntegerScaling {
    pub(super) fn new(bits: u32, is_signed: bool, operands: &[Operand]) -> Self {
        let value = |operand: &Operand| -> i128 {
            if is_signed { sign_extended(operand.bits, bits).into() } else { operand.bits.into() }
        };
        let (least, most) = integer_range(bits, is_signed);
        let (mut lowest, mut highest) = (least, most);
        let (mut factor, mut term, mut division) = (1_i128, 0_i128, None);
        // From the last operation to the first: the interval of what leaves becomes that of what enters.
        for operand in operands.iter().rev() {
            let number = value(operand);
            match operand.operation {
                Operation::Add => (lowest, highest) = (lowest - number, highest - number),
                Operation::Subtract => (lowest, highest) = (lowest + number, highest + number),
                Operation::Multiply => (lowest, highest) = quotients(lowest, highest, number),
                Operation::Divide => {
                    let (low, high) = quotients(least, most, number);
                    (lowest, highest) = (lowest.max(low), highest.min(high));
                    division = Some(Division::new(number, is_signed));
                    // The input is tested as a quotient.
                    break;
                }
            }
            (lowest, highest) = (lowest.max(least), highest.min(most));
        }
        for operand in operands {
            let number = value(operand);
            match operand.operation {
                Operation::Add => term += number,
                Operation::Subtract => term -= number,
                Operation::Multiply => (factor, term) = (number, term.wrapping_mul(number)),
                Operation::Divide => {}
            }
        }
        // 0 has a result in every operation, so that the interval is never empty.
        let width = (highest - lowest) as u64;
        Self { bits, division, lowest: lowest as u64, width, factor: factor as u64, term: term as u64 }
    }

    /// Whether every element has a result; if not, the output is not to be used.
    pub(super) fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        match self.bits {
            8 => self.run_words::<u8, 1>(input, output),
            16 => self.run_words::<u16, 2>(input, output),
            32 => self.run_words::<u32, 4>(input, output),
            _ => self.run_words::<u64, 8>(input, output),
        }
    }

    fn run_words<W: Word<Bytes = [u8; SIZE]>, const SIZE: usize>(&self, input: &[u8], output: &mut [u8]) -> bool {
        let (input, output) = (input.as_chunks::<SIZE>().0, output.as_chunks_mut::<SIZE>().0);
        let word = W::truncated;
        let (lowest, width, term, factor) = (word(self.lowest), word(self.width), word(self.term), word(self.factor));
        let farthest = match self.division {
            None if self.factor == 1 => vectorized(Line::<W, false> { input, output, lowest, term, factor }),
            None => vectorized(Line::<W, true> { input, output, lowest, term, factor }),
            Some(division) => {
                let inverse = word(division.inverse);
                let quotients = match division.inverse {
                    1 => vectorized(Quotients::<W, false> { input, output, lowest, term, division, inverse }),
                    _ => vectorized(Quotients::<W, true> { input, output, lowest, term, division, inverse }),
                };
                match quotients {
                    Some(farthest) => farthest,
                    None => return false,
                }
            }
        };
        farthest <= width
    }
}

/// The numbers whose product with this one is within a range that has 0 in it.
fn quotients(least: i128, most: i128, divisor: i128) -> (i128, i128) {
    // Division rounds to zero, which is into the range at both ends.
    if divisor > 0 { (least / divisor, most / divisor) } else { (most / divisor, least / divisor) }
}

impl Division {
    fn new(divisor: i128, is_signed: bool) -> Self {
        let shift = divisor.trailing_zeros();
        let odd = (divisor >> shift) as u64;
        // Newton's iteration: three bits are right at first, and twice as many after each round.
        let inverse =
            (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))));
        Self { shift, is_signed, inverse }
    }
}

/// Bits of an integer of either sign.
trait Word: Copy + Ord + Default {
    type Bytes: Copy;
    fn truncated(bits: u64) -> Self;
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// The low bits that a shift to the right loses.
    fn low(self, shift: u32) -> Self;
    fn shifted(self, shift: u32) -> Self;
    fn shifted_signed(self, shift: u32) -> Self;
}

macro_rules! word {
    ($word:ty, $signed:ty, $size:literal) => {
        impl Word for $word {
            type Bytes = [u8; $size];

            fn truncated(bits: u64) -> Self {
                bits as $word
            }

            #[inline(always)] // into the vectorised loop, as all that follow
            fn load(bytes: [u8; $size]) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[inline(always)]
            fn store(self) -> [u8; $size] {
                self.to_ne_bytes()
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn low(self, shift: u32) -> Self {
                self & !(<$word>::MAX << shift)
            }

            #[inline(always)]
            fn shifted(self, shift: u32) -> Self {
                self >> shift
            }

            #[inline(always)]
            fn shifted_signed(self, shift: u32) -> Self {
                (self as $signed >> shift) as $word
            }
        }
    };
}

word!(u8, i8, 1);
word!(u16, i16, 2);
word!(u32, i32, 4);
word!(u64, i64, 8);

/// `x * factor + term`, or `x + term` unless `MULTIPLIES`. All loops give the greatest distance from the lowest number
/// with a result.
struct Line<'a, W: Word, const MULTIPLIES: bool> {
    input: &'a [W::Bytes],
    output: &'a mut [W::Bytes],
    lowest: W,
    term: W,
    factor: W,
}

impl<W: Word, const MULTIPLIES: bool> Loop for Line<'_, W, MULTIPLIES> {
    type Output = W;

    #[inline(always)] // compiled for the instruction set of the caller
    fn run(self) -> W {
        let mut farthest = W::default();
        for (input, output) in self.input.iter().zip(self.output) {
            let number = W::load(*input);
            farthest = farthest.max(number.minus(self.lowest));
            let product = if MULTIPLIES { number.times(self.factor) } else { number };
            *output = product.plus(self.term).store();
        }
        farthest
    }
}

/// `x / divisor + term`, with a multiplication unless the divisor is a power of two; `None` if there is a remainder that
/// the low bits show.
struct Quotients<'a, W: Word, const MULTIPLIES: bool> {
    input: &'a [W::Bytes],
    output: &'a mut [W::Bytes],
    lowest: W,
    term: W,
    division: Division,
    inverse: W,
}

impl<W: Word, const MULTIPLIES: bool> Loop for Quotients<'_, W, MULTIPLIES> {
    type Output = Option<W>;

    #[inline(always)] // compiled for the instruction set of the caller
    fn run(self) -> Option<W> {
        match self.division {
            Division { shift: 0, .. } => Some(self.divide(|number| number)),
            Division { shift, is_signed: true, .. } => self.divide_even(shift, W::shifted_signed),
            Division { shift, .. } => self.divide_even(shift, W::shifted),
        }
    }
}

impl<W: Word, const MULTIPLIES: bool> Quotients<'_, W, MULTIPLIES> {
    #[inline(always)] // into the vectorised loop
    fn divide_even(self, shift: u32, shifted: impl Fn(W, u32) -> W) -> Option<W> {
        let mut low = W::default();
        let farthest = self.divide(|number| {
            low = low.or(number.low(shift));
            shifted(number, shift)
        });
        (low == W::default()).then_some(farthest)
    }

    #[inline(always)] // into the vectorised loop
    fn divide(self, mut shifted: impl FnMut(W) -> W) -> W {
        let mut farthest = W::default();
        for (input, output) in self.input.iter().zip(self.output) {
            let shifted = shifted(W::load(*input));
            let quotient = if MULTIPLIES { shifted.times(self.inverse) } else { shifted };
            farthest = farthest.max(quotient.minus(self.lowest));
            *output = quotient.plus(self.term).store();
        }
        farthest
    }
}
