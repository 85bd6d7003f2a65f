//! Division by a float that is known in advance, by products: a divider takes several times as long.

use super::float::Float;
use crate::number::Formula;
use crate::simd::has_fused_multiply_add;

/// A divisor of numbers that are integers of at most 32 bits.
///
/// A first quotient is the sum of two products, with the reciprocal rounded to nearest and with the error of that. It
/// is within one unit in the last place. Its remainder is exact, and corrects it to the quotient rounded to nearest, by
/// a theorem of Markstein (Muller et al., "Handbook of Floating-Point Arithmetic", on division with a fused
/// multiply-add).
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor<F> {
    divisor: F,
    reciprocal: F,
    /// What the rounded reciprocal lacks.
    error: F,
}

impl<F: Float> Divisor<F> {
    /// Prepares a divisor. `None` where loops have no fused multiply-add; for divisors that are not positive, because
    /// the quotient of zero could have the wrong sign; and for those so large or small that a result in between could
    /// be subnormal.
    pub(super) fn new(divisor: F) -> Option<Self> {
        const LARGEST: f64 = (1_u128 << 64) as f64;
        if !has_fused_multiply_add() || !(F::from_f64(1.0 / LARGEST)..=F::from_f64(LARGEST)).contains(&divisor) {
            return None;
        }
        let reciprocal = F::ONE / divisor;
        let error = (-reciprocal).mul_add(divisor, F::ONE) / divisor;
        Some(Self { divisor, reciprocal, error })
    }
}

impl<F: Float> Formula<F> for Divisor<F> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, number: F) -> F {
        let quotient = number.mul_add(self.reciprocal, number * self.error);
        let remainder = (-quotient).mul_add(self.divisor, number);
        remainder.mul_add(self.reciprocal, quotient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Loop, vectorized};
    use proptest::prelude::*;
    use std::fmt::Debug;

    /// Divides in a loop for the widest vectors, as casts do.
    struct Quotients<'a, F> {
        divisor: Divisor<F>,
        numbers: &'a [F],
        quotients: &'a mut [F],
    }

    impl<F: Float> Loop for Quotients<'_, F> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            for (number, quotient) in self.numbers.iter().zip(self.quotients) {
                *quotient = self.divisor.apply(*number);
            }
        }
    }

    /// Quotients of integers are those of the divider, to the bit.
    fn compare<F: Float + Debug>(divisor: F, numbers: impl Iterator<Item = F>) {
        let Some(prepared) = Divisor::new(divisor) else { return };
        let numbers: Vec<F> = numbers.collect();
        let mut quotients = numbers.clone();
        vectorized(Quotients { divisor: prepared, numbers: &numbers, quotients: &mut quotients });
        for (number, quotient) in numbers.into_iter().zip(quotients) {
            assert!(quotient.bits() == (number / divisor).bits(), "{number:?} / {divisor:?} is not {quotient:?}");
        }
    }

    #[test]
    fn every_integer_of_16_bits_is_divided_exactly() {
        let integers = || (0..=u16::MAX).map(f32::from).chain((i16::MIN..0).map(f32::from));
        let near = |power: f32| [power.next_down(), power, power.next_up()];
        for divisor in [near(1.0), near(1024.0), near(2_f32.powi(-64)), near(2_f32.powi(64)), [3.0, 0.1, 1.0 / 3.0]] {
            for divisor in divisor {
                compare(divisor, integers());
                compare(f64::from(divisor), integers().map(f64::from));
            }
        }
    }

    #[test]
    fn other_divisors_are_left_to_the_divider() {
        for divisor in [0.0, -0.0, -3.0, 2_f32.powi(65), 2_f32.powi(-65), f32::INFINITY, f32::NAN, f32::from_bits(1)] {
            assert!(Divisor::new(divisor).is_none() && Divisor::new(f64::from(divisor)).is_none(), "{divisor}");
        }
        assert_eq!(Divisor::new(3.0_f32).is_some(), has_fused_multiply_add());
    }

    proptest! {
        #[test]
        fn integers_are_divided_exactly(
            mantissa in prop_oneof![any::<u64>(), (0..4_u64), (u64::MAX - 3..=u64::MAX)],
            exponent in -64..64_i32,
            integers in prop::collection::vec(any::<i32>(), 100),
        ) {
            let divisor = f64::from_bits(((1023 + exponent) as u64) << 52 | mantissa >> 12);
            let signed = integers.iter().copied().map(f64::from);
            compare(divisor, signed.chain(integers.iter().map(|integer| f64::from(integer.cast_unsigned()))));
            let divisor = f32::from_bits(((127 + exponent) as u32) << 23 | (mantissa >> 41) as u32);
            let signed = integers.iter().map(|integer| (integer >> 16) as f32);
            compare(divisor, signed.chain(integers.iter().map(|integer| (integer.cast_unsigned() >> 16) as f32)));
        }
    }
}
