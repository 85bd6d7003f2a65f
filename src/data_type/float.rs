//! The binary floating-point formats: what a bit pattern is worth, and which pattern a value rounds to.
//!
//! IEEE 754-2019, clauses 3 and 4.3, for all widths; the narrow formats are those of the Zarr extension data types,
//! after the packages `ml_dtypes` and the OCP 8-bit and microscaling specifications.

use std::cmp::Ordering;

/// What the largest exponent, and the bit pattern of -0, stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// IEEE 754: infinities and NaNs in the largest exponent.
    Ieee,
    /// Finite values only (`fn` of 4 and 6 bits).
    Finite,
    /// No infinities; NaN where all bits but the sign are 1 (`float8_e4m3fn`).
    FiniteNan,
    /// No infinities, no -0; its pattern is the only NaN (`fnuz`).
    Fnuz,
    /// Powers of two alone: no sign, no 0, no infinity; all ones is NaN (`fnu`).
    Fnu,
}

/// A binary floating-point format of up to 64 bits.
#[derive(Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// The name of the Zarr data type.
    pub name: &'static str,
    /// N, all bits.
    pub bits: u32,
    /// Bits of the exponent field.
    pub exponent_bits: u32,
    /// Bits of the trailing significand field (the mantissa, without the implicit bit).
    pub mantissa_bits: u32,
    /// What is subtracted from the exponent field.
    pub bias: i32,
    /// What the special patterns are.
    pub special: Special,
}

const fn format(
    name: &'static str,
    bits: u32,
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
) -> FloatFormat {
    FloatFormat { name, bits, exponent_bits, mantissa_bits, bias, special }
}

/// Every format, narrow ones first.
pub static FORMATS: [FloatFormat; 15] = [
    format("float4_e2m1fn", 4, 2, 1, 1, Special::Finite),
    format("float6_e2m3fn", 6, 2, 3, 1, Special::Finite),
    format("float6_e3m2fn", 6, 3, 2, 3, Special::Finite),
    format("float8_e3m4", 8, 3, 4, 3, Special::Ieee),
    format("float8_e4m3", 8, 4, 3, 7, Special::Ieee),
    format("float8_e4m3b11fnuz", 8, 4, 3, 11, Special::Fnuz),
    format("float8_e4m3fn", 8, 4, 3, 7, Special::FiniteNan),
    format("float8_e4m3fnuz", 8, 4, 3, 8, Special::Fnuz),
    format("float8_e5m2", 8, 5, 2, 15, Special::Ieee),
    format("float8_e5m2fnuz", 8, 5, 2, 16, Special::Fnuz),
    format("float8_e8m0fnu", 8, 8, 0, 127, Special::Fnu),
    format("bfloat16", 16, 8, 7, 127, Special::Ieee),
    format("float16", 16, 5, 10, 15, Special::Ieee),
    format("float32", 32, 8, 23, 127, Special::Ieee),
    format("float64", 64, 11, 52, 1023, Special::Ieee),
];

/// `float64`, into which every other format fits exactly.
pub static FLOAT64: &FloatFormat = &FORMATS[14];

/// `float32`.
pub static FLOAT32: &FloatFormat = &FORMATS[13];

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

/// What a bit pattern is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatValue {
    /// Not a number.
    Nan,
    /// An infinity.
    Infinity {
        /// Whether it is the negative one.
        is_negative: bool,
    },
    /// A number.
    Finite(Finite),
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

/// What a finite number becomes in a format, with an exponent range without limits while it is rounded.
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
    /// Whether there is a sign bit.
    pub fn is_signed(&self) -> bool {
        self.special != Special::Fnu
    }

    /// The sign bit.
    pub fn sign_bit(&self) -> u64 {
        if self.is_signed() { 1 << (self.bits - 1) } else { 0 }
    }

    fn largest_field(&self) -> u64 {
        (1 << self.exponent_bits) - 1
    }

    /// The pattern of the largest finite number.
    pub fn largest_finite(&self) -> u64 {
        let all_ones = (1 << (self.exponent_bits + self.mantissa_bits)) - 1;
        match self.special {
            Special::Ieee => (self.largest_field() << self.mantissa_bits) - 1,
            Special::Finite | Special::Fnuz => all_ones,
            Special::FiniteNan | Special::Fnu => all_ones - 1,
        }
    }

    /// The pattern of the NaN that "NaN" denotes, where there is one.
    pub fn nan(&self) -> Option<u64> {
        match self.special {
            Special::Ieee => Some((self.largest_field() << self.mantissa_bits) | (1 << (self.mantissa_bits - 1))),
            Special::Finite => None,
            Special::FiniteNan => Some(self.largest_finite() + 1),
            Special::Fnuz => Some(self.sign_bit()),
            Special::Fnu => Some(self.largest_field()),
        }
    }

    /// The pattern of an infinity, where there is one.
    pub fn infinity(&self, is_negative: bool) -> Option<u64> {
        let infinity = self.largest_field() << self.mantissa_bits;
        (self.special == Special::Ieee).then_some(infinity | if is_negative { self.sign_bit() } else { 0 })
    }

    /// What a bit pattern is worth; bits above the format are not looked at.
    pub fn value(&self, bits: u64) -> FloatValue {
        let sign = bits & self.sign_bit();
        let is_negative = sign != 0;
        let magnitude = bits & ((1 << (self.exponent_bits + self.mantissa_bits)) - 1);
        let field = magnitude >> self.mantissa_bits;
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        let is_nan = match self.special {
            Special::Ieee => field == self.largest_field() && mantissa != 0,
            Special::Finite => false,
            Special::FiniteNan | Special::Fnu => magnitude > self.largest_finite(),
            Special::Fnuz => is_negative && magnitude == 0,
        };
        if is_nan {
            return FloatValue::Nan;
        }
        if magnitude > self.largest_finite() {
            return FloatValue::Infinity { is_negative };
        }
        let has_implicit_bit = field > 0 || self.special == Special::Fnu;
        let significand = mantissa | u64::from(has_implicit_bit) << self.mantissa_bits;
        let exponent = field.max(u64::from(self.is_signed())) as i32 - self.bias - self.mantissa_bits as i32;
        FloatValue::Finite(Finite { is_negative, significand, exponent, is_more: false })
    }

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

    /// The same value as a `float64`, which holds those of every format; NaN is some NaN.
    pub fn to_f64(&self, bits: u64) -> f64 {
        if self.bits == 64 {
            return f64::from_bits(bits);
        }
        match self.value(bits) {
            FloatValue::Nan => f64::NAN,
            FloatValue::Infinity { is_negative: false } => f64::INFINITY,
            FloatValue::Infinity { is_negative: true } => f64::NEG_INFINITY,
            FloatValue::Finite(number) => match FLOAT64.round(&number, Rounding::NearestEven) {
                Rounded::Bits(bits) => f64::from_bits(bits),
                Rounded::Overflow | Rounded::Underflow => f64::NAN,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn patterns_are_worth_what_the_definitions_of_the_formats_say() {
        let largest = [
            ("float4_e2m1fn", 6.0),
            ("float6_e2m3fn", 7.5),
            ("float6_e3m2fn", 28.0),
            ("float8_e3m4", 15.5),
            ("float8_e4m3", 240.0),
            ("float8_e4m3b11fnuz", 30.0),
            ("float8_e4m3fn", 448.0),
            ("float8_e4m3fnuz", 240.0),
            ("float8_e5m2", 57344.0),
            ("float8_e5m2fnuz", 57344.0),
            ("float8_e8m0fnu", 2_f64.powi(127)),
            ("float16", 65504.0),
            ("float32", f64::from(f32::MAX)),
            ("float64", f64::MAX),
        ];
        for (name, value) in largest {
            let format = FORMATS.iter().find(|format| format.name == name).unwrap();
            assert_eq!(format.to_f64(format.largest_finite()), value, "{name}");
            if let Some(nan) = format.nan() {
                assert_eq!(format.value(nan), FloatValue::Nan, "{name}");
            }
        }
    }

    #[test]
    fn float32_rounds_to_nearest_as_the_processor_does() {
        let format = &FORMATS[13];
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
        let format = &FORMATS[12];
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
        let format = &FORMATS[10];
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
