//! [`Arithmetic`] on single numbers, for blocks of one dimension.

use super::lanes::Arithmetic;

/// Numbers of 32 bits have zeros above, except after [`xor`](Arithmetic::xor) with a number that has ones there.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneNumber;

/// Without what is above 32 bits, unless it is part of the number.
#[inline(always)]
const fn cut<const WIDE: bool>(number: u64) -> u64 {
    if WIDE { number } else { number & u32::MAX as u64 }
}

impl Arithmetic for OneNumber {
    type Vector = u64;

    #[inline(always)]
    fn repeat(self, byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }

    #[inline(always)]
    fn xor(self, a: u64, b: u64) -> u64 {
        a ^ b
    }

    #[inline(always)]
    fn add<const WIDE: bool>(self, a: u64, b: u64) -> u64 {
        cut::<WIDE>(a.wrapping_add(b))
    }

    #[inline(always)]
    fn sub<const WIDE: bool>(self, a: u64, b: u64) -> u64 {
        cut::<WIDE>(a.wrapping_sub(b))
    }

    #[inline(always)]
    fn half<const WIDE: bool>(self, integers: u64) -> u64 {
        if WIDE {
            (integers.cast_signed() >> 1).cast_unsigned()
        } else {
            ((integers as u32).cast_signed() >> 1).cast_unsigned().into()
        }
    }
}
