//! Rounding of numbers to a floating-point format, and to integers.
//!
//! IEEE 754-2019, clause 4.3.

use super::{FloatFormat, Special};
use std::cmp::Ordering;

/// A finite magnitude with a sign: `significand * 2^exponent`, and a little more if `is_more`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finite {
    /// Whether it is negative; 0 has a sign too.
    pub is_negative: bool,
    /// The digits.
    pub significand: u64,
    /// Of two.
    pub exponent: i32,
    /// Whether the true magnitude is larger, by less than `2^exponent`; only where a format has fewer digits.
    pub is_more: bool,
}

/// The rounding-direction attributes of IEEE 754-2019, clause 4.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// roundTiesToEven
    NearestEven,
    /// roundTowardZero
    TowardsZero,
    /// roundTowardPositive
    TowardsPositive,
    /// roundTowardNegative
    TowardsNegative,
    /// roundTiesToAway
    NearestAway,
}

/// A finite number in a format. The range of exponents is unlimited while it is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounded {
    /// This bit pattern.
    Bits(u64),
    /// Larger in magnitude than the largest finite number.
    Overflow,
    /// No number at all: 0, negative or too small where there are only positive powers of two.
    Underflow,
}

impl Rounding {
    /// Whether a magnitude that lies between two neighbours goes to the larger one. `rest` compares what is cut off
    /// with half the distance.
    pub fn goes_up(self, is_negative: bool, is_odd: bool, is_exact: bool, rest: Ordering) -> bool {
        match self {
            Self::NearestEven => rest == Ordering::Greater || (rest == Ordering::Equal && is_odd),
            Self::NearestAway => rest != Ordering::Less,
            Self::TowardsZero => false,
            Self::TowardsPositive => !is_exact && !is_negative,
            Self::TowardsNegative => !is_exact && is_negative,
        }
    }
}

impl Finite {
    /// The magnitude in units of `2^quantum`, rounded to an integer; the magnitude must be below `2^63` units.
    pub fn in_units(&self, quantum: i64, rounding: Rounding) -> u64 {
        let shift = quantum - i64::from(self.exponent);
        let (units, is_exact, rest) = if shift <= 0 {
            (self.significand << -shift, !self.is_more, Ordering::Less)
        } else if shift > 64 {
            (0, self.significand == 0 && !self.is_more, Ordering::Less)
        } else {
            let units = self.significand.checked_shr(shift as u32).unwrap_or(0);
            let rest = u128::from(self.significand) & ((1 << shift) - 1);
            let half = 1_u128 << (shift - 1);
            let order = rest.cmp(&half).then(if self.is_more { Ordering::Greater } else { Ordering::Equal });
            (units, rest == 0 && !self.is_more, order)
        };
        units + u64::from(rounding.goes_up(self.is_negative, units & 1 == 1, is_exact, rest))
    }

    /// The exponent of the leading digit; the number must not be 0.
    pub fn leading_exponent(&self) -> i64 {
        i64::from(self.exponent) + i64::from(self.significand.max(1).ilog2())
    }
}

impl FloatFormat {
    /// Rounds a number to this format. Whether it is too large is decided after rounding.
    pub fn round(&self, number: &Finite, rounding: Rounding) -> Rounded {
        if self.special == Special::Fnu {
            return self.round_to_power_of_two(number, rounding);
        }
        let sign = if number.is_negative { self.sign_bit() } else { 0 };
        if number.significand == 0 && !number.is_more {
            return Rounded::Bits(if self.special == Special::Fnuz { 0 } else { sign });
        }
        let least_exponent = i64::from(1 - self.bias);
        let exponent = number.leading_exponent().max(least_exponent);
        let units = number.in_units(exponent - i64::from(self.mantissa_bits), rounding);
        // A carry out of the significand runs into the exponent field, as it should.
        let field = (exponent - least_exponent) as u64;
        match (field << self.mantissa_bits).checked_add(units) {
            _ if field > self.largest_field() => Rounded::Overflow,
            Some(magnitude) if magnitude <= self.largest_finite() => {
                Rounded::Bits(if magnitude == 0 && self.special == Special::Fnuz { 0 } else { sign | magnitude })
            }
            _ => Rounded::Overflow,
        }
    }

    fn round_to_power_of_two(&self, number: &Finite, rounding: Rounding) -> Rounded {
        if number.is_negative || number.significand == 0 {
            return Rounded::Underflow;
        }
        let exponent = number.leading_exponent();
        // 1 or 2: with one digit there is no even neighbour, and a tie goes to the larger one.
        let units = number.in_units(exponent, rounding);
        let field = exponent + i64::from(self.bias) + i64::from(units == 2);
        match u64::try_from(field) {
            Err(_) => Rounded::Underflow,
            Ok(field) if field <= self.largest_finite() => Rounded::Bits(field),
            Ok(_) => Rounded::Overflow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{FLOAT64, FORMATS, FloatId, FloatValue};

    const MODES: [Rounding; 5] = [
        Rounding::NearestEven,
        Rounding::TowardsZero,
        Rounding::TowardsPositive,
        Rounding::TowardsNegative,
        Rounding::NearestAway,
    ];

    fn finite(value: f64) -> Finite {
        match FLOAT64.value(value.to_bits()) {
            FloatValue::Finite(number) => number,
            other => panic!("{value} is {other:?}"),
        }
    }

    #[test]
    fn every_number_of_up_to_16_bits_rounds_to_itself_in_every_mode() {
        for format in FORMATS.iter().filter(|format| format.bits <= 16) {
            for bits in 0..1_u64 << format.bits {
                if let FloatValue::Finite(number) = format.value(bits) {
                    for mode in MODES {
                        assert_eq!(format.round(&number, mode), Rounded::Bits(bits), "{} {bits:#x}", format.name);
                        assert_eq!(format.round(&finite(format.to_f64(bits)), mode), Rounded::Bits(bits));
                    }
                }
            }
        }
    }

    #[test]
    fn float32_rounds_to_nearest_as_the_processor_does() {
        let format = FloatId::Float32.format();
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = f64::from_bits((state & 0x800F_FFFF_FFFF_FFFF) | (0x36A + (state >> 53) % 0x114) << 52);
            let expected = (value as f32).to_bits();
            assert_eq!(format.round(&finite(value), Rounding::NearestEven), Rounded::Bits(expected.into()), "{value}");
        }
        assert_eq!(format.round(&finite(3.5e38), Rounding::NearestEven), Rounded::Overflow);
    }

    #[test]
    fn the_range_is_looked_at_after_rounding() {
        let format = FloatId::Float16.format();
        let round = |value, mode| format.round(&finite(value), mode);
        assert_eq!(round(65519.0, Rounding::NearestEven), Rounded::Bits(0x7BFF));
        assert_eq!(round(65520.0, Rounding::NearestEven), Rounded::Overflow);
        assert_eq!(round(65535.0, Rounding::TowardsZero), Rounded::Bits(0x7BFF));
        assert_eq!(round(65536.0, Rounding::TowardsZero), Rounded::Overflow);
        assert_eq!(round(-65505.0, Rounding::TowardsNegative), Rounded::Overflow);
        assert_eq!(round(-65505.0, Rounding::TowardsPositive), Rounded::Bits(0xFBFF));
    }

    #[test]
    fn powers_of_two_alone_round_ties_up() {
        let format = FloatId::Float8E8m0fnu.format();
        let round = |value, mode| format.round(&finite(value), mode);
        for mode in [Rounding::NearestEven, Rounding::NearestAway] {
            assert_eq!(round(1.5, mode), Rounded::Bits(128));
            assert_eq!(round(1.49, mode), Rounded::Bits(127));
            assert_eq!(round(3.0, mode), Rounded::Bits(129));
        }
        assert_eq!(round(0.0, Rounding::NearestEven), Rounded::Underflow);
        assert_eq!(round(-1.0, Rounding::NearestEven), Rounded::Underflow);
        assert_eq!(round(2_f64.powi(-128), Rounding::NearestEven), Rounded::Underflow);
        assert_eq!(round(1.5 * 2_f64.powi(-128), Rounding::NearestEven), Rounded::Bits(0));
    }
}
