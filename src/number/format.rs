//! The binary floating-point formats: the value of each bit pattern.
//!
//! IEEE 754-2019, clause 3, for every width. The narrow formats are the Zarr extension data types, which follow the
//! package [`ml_dtypes`](https://github.com/jax-ml/ml_dtypes), the
//! [OCP 8-bit specification](https://www.opencompute.org/documents/ocp-8-bit-floating-point-specification-ofp8-revision-1-0-2023-12-01-pdf-1)
//! and the
//! [OCP microscaling specification](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf).

use super::{Finite, Rounded, Rounding};

/// The formats, narrow ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatId {
    /// `float4_e2m1fn`
    Float4E2m1fn,
    /// `float6_e2m3fn`
    Float6E2m3fn,
    /// `float6_e3m2fn`
    Float6E3m2fn,
    /// `float8_e3m4`
    Float8E3m4,
    /// `float8_e4m3`
    Float8E4m3,
    /// `float8_e4m3b11fnuz`
    Float8E4m3b11fnuz,
    /// `float8_e4m3fn`
    Float8E4m3fn,
    /// `float8_e4m3fnuz`
    Float8E4m3fnuz,
    /// `float8_e5m2`
    Float8E5m2,
    /// `float8_e5m2fnuz`
    Float8E5m2fnuz,
    /// `float8_e8m0fnu`
    Float8E8m0fnu,
    /// `bfloat16`
    Bfloat16,
    /// `float16`
    Float16,
    /// `float32`
    Float32,
    /// `float64`
    Float64,
}

impl FloatId {
    /// The parameters of the format.
    pub const fn format(self) -> &'static FloatFormat {
        &FORMATS[self as usize]
    }
}

/// The meaning of the largest exponent, and of the bit pattern of -0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// IEEE 754: infinities and NaNs in the largest exponent.
    Ieee,
    /// Finite values only (`fn` of 4 and 6 bits).
    Finite,
    /// No infinities; NaN where all bits except the sign are 1 (`float8_e4m3fn`).
    FiniteNan,
    /// No infinities, no -0; its pattern is the only NaN (`fnuz`).
    Fnuz,
    /// Powers of two only: no sign, no 0, no infinity; all ones is NaN (`fnu`).
    Fnu,
}

/// A binary floating-point format of up to 64 bits.
#[derive(Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// Which one it is.
    pub id: FloatId,
    /// The name of the Zarr data type.
    pub name: &'static str,
    /// N, the number of bits.
    pub bits: u32,
    /// Bits of the exponent field.
    pub exponent_bits: u32,
    /// Bits of the trailing significand field (the mantissa, without the implicit bit).
    pub mantissa_bits: u32,
    /// The bias, which is subtracted from the exponent field.
    pub bias: i32,
    /// The meaning of the special patterns.
    pub special: Special,
}

const fn format(
    id: FloatId,
    name: &'static str,
    bits: u32,
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
) -> FloatFormat {
    FloatFormat { id, name, bits, exponent_bits, mantissa_bits, bias, special }
}

/// Every format, in the order of [`FloatId`].
pub static FORMATS: [FloatFormat; 15] = [
    format(FloatId::Float4E2m1fn, "float4_e2m1fn", 4, 2, 1, 1, Special::Finite),
    format(FloatId::Float6E2m3fn, "float6_e2m3fn", 6, 2, 3, 1, Special::Finite),
    format(FloatId::Float6E3m2fn, "float6_e3m2fn", 6, 3, 2, 3, Special::Finite),
    format(FloatId::Float8E3m4, "float8_e3m4", 8, 3, 4, 3, Special::Ieee),
    format(FloatId::Float8E4m3, "float8_e4m3", 8, 4, 3, 7, Special::Ieee),
    format(FloatId::Float8E4m3b11fnuz, "float8_e4m3b11fnuz", 8, 4, 3, 11, Special::Fnuz),
    format(FloatId::Float8E4m3fn, "float8_e4m3fn", 8, 4, 3, 7, Special::FiniteNan),
    format(FloatId::Float8E4m3fnuz, "float8_e4m3fnuz", 8, 4, 3, 8, Special::Fnuz),
    format(FloatId::Float8E5m2, "float8_e5m2", 8, 5, 2, 15, Special::Ieee),
    format(FloatId::Float8E5m2fnuz, "float8_e5m2fnuz", 8, 5, 2, 16, Special::Fnuz),
    format(FloatId::Float8E8m0fnu, "float8_e8m0fnu", 8, 8, 0, 127, Special::Fnu),
    format(FloatId::Bfloat16, "bfloat16", 16, 8, 7, 127, Special::Ieee),
    format(FloatId::Float16, "float16", 16, 5, 10, 15, Special::Ieee),
    format(FloatId::Float32, "float32", 32, 8, 23, 127, Special::Ieee),
    format(FloatId::Float64, "float64", 64, 11, 52, 1023, Special::Ieee),
];

// `FloatId::format` indexes the table.
const _: () = {
    let mut index = 0;
    while index < FORMATS.len() {
        assert!(FORMATS[index].id as usize == index);
        index += 1;
    }
};

/// `float64`, which holds every value of every other format.
pub const FLOAT64: &FloatFormat = FloatId::Float64.format();

/// `float32`.
pub const FLOAT32: &FloatFormat = FloatId::Float32.format();

/// The value of a bit pattern.
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

impl FloatFormat {
    /// Whether there is a sign bit.
    pub fn is_signed(&self) -> bool {
        self.special != Special::Fnu
    }

    /// The sign bit.
    pub fn sign_bit(&self) -> u64 {
        if self.is_signed() { 1 << (self.bits - 1) } else { 0 }
    }

    pub(super) fn largest_field(&self) -> u64 {
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

    /// The value of a bit pattern; bits above the format are ignored.
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

    /// The same value as a `float64`, exactly; of a NaN only that it is one.
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
}
