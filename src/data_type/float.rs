//! The binary floating-point formats.

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
