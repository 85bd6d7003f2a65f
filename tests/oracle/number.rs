//! The real data types of Zarr: the value of a bit pattern, and the place of a number among those of a type.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use std::cmp::Ordering;

/// A data type by its published layout.
#[derive(Debug)]
pub struct Type {
    pub name: &'static str,
    pub bits: u32,
    pub kind: Kind,
}

#[derive(Debug)]
pub enum Kind {
    /// Two's complement, if it is signed.
    Integer { is_signed: bool },
    /// IEEE 754-2019, clause 3.4, except for the meaning of the largest exponents.
    Float {
        mantissa_bits: u32,
        bias: i64,
        /// The patterns of the largest finite number, of infinity, and of "NaN".
        largest: u64,
        infinity: Option<u64>,
        nan: Option<u64>,
    },
}

const fn integer(name: &'static str, bits: u32, is_signed: bool) -> Type {
    Type { name, bits, kind: Kind::Integer { is_signed } }
}

const fn float(
    name: &'static str,
    bits: u32,
    mantissa_bits: u32,
    bias: i64,
    largest: u64,
    infinity: Option<u64>,
    nan: Option<u64>,
) -> Type {
    Type { name, bits, kind: Kind::Float { mantissa_bits, bias, largest, infinity, nan } }
}

/// IEEE 754-2019, the OCP 8-bit and microscaling formats, and the documentation of `ml_dtypes`.
pub static TYPES: [Type; 27] = [
    integer("int2", 2, true),
    integer("int4", 4, true),
    integer("int8", 8, true),
    integer("int16", 16, true),
    integer("int32", 32, true),
    integer("int64", 64, true),
    integer("uint2", 2, false),
    integer("uint4", 4, false),
    integer("uint8", 8, false),
    integer("uint16", 16, false),
    integer("uint32", 32, false),
    integer("uint64", 64, false),
    float("float4_e2m1fn", 4, 1, 1, 0x7, None, None),
    float("float6_e2m3fn", 6, 3, 1, 0x1F, None, None),
    float("float6_e3m2fn", 6, 2, 3, 0x1F, None, None),
    float("float8_e3m4", 8, 4, 3, 0x6F, Some(0x70), Some(0x78)),
    float("float8_e4m3", 8, 3, 7, 0x77, Some(0x78), Some(0x7C)),
    float("float8_e4m3b11fnuz", 8, 3, 11, 0x7F, None, Some(0x80)),
    float("float8_e4m3fn", 8, 3, 7, 0x7E, None, Some(0x7F)),
    float("float8_e4m3fnuz", 8, 3, 8, 0x7F, None, Some(0x80)),
    float("float8_e5m2", 8, 2, 15, 0x7B, Some(0x7C), Some(0x7E)),
    float("float8_e5m2fnuz", 8, 2, 16, 0x7F, None, Some(0x80)),
    float("float8_e8m0fnu", 8, 0, 127, 0xFE, None, Some(0xFF)),
    float("bfloat16", 16, 7, 127, 0x7F7F, Some(0x7F80), Some(0x7FC0)),
    float("float16", 16, 10, 15, 0x7BFF, Some(0x7C00), Some(0x7E00)),
    float("float32", 32, 23, 127, 0x7F7F_FFFF, Some(0x7F80_0000), Some(0x7FC0_0000)),
    float("float64", 64, 52, 1023, 0x7FEF_FFFF_FFFF_FFFF, Some(0x7FF0 << 48), Some(0x7FF8 << 48)),
];

/// The value of an element. Zero has a sign.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    Nan,
    Infinity { is_negative: bool },
    Finite { is_negative: bool, magnitude: BigRational },
}

/// The magnitudes that a type has are numbered in order: the integers by themselves, floats by their bit patterns. The
/// numbers go on past the largest: an exponent has no limit while a number is rounded.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// Below half of the least number of a type without 0.
    Under,
    /// From this magnitude on, before the next.
    Between { below: BigInt, rest: Rest },
    /// At the first magnitude that is no pattern any more, or after it.
    Over,
}

/// How far a magnitude is from the one below, in distances to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rest {
    Zero,
    BelowHalf,
    Half,
    AboveHalf,
}

impl Type {
    pub fn named(name: &str) -> &'static Self {
        TYPES.iter().find(|data_type| data_type.name == name).unwrap()
    }

    pub fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Integer { .. })
    }

    pub fn is_signed(&self) -> bool {
        match self.kind {
            Kind::Integer { is_signed } => is_signed,
            Kind::Float { .. } => self.name != "float8_e8m0fnu",
        }
    }

    /// Whether the pattern of -0 is one.
    pub fn has_negative_zero(&self) -> bool {
        !self.is_integer() && self.is_signed() && !self.name.ends_with("fnuz")
    }

    pub fn has_zero(&self) -> bool {
        self.name != "float8_e8m0fnu"
    }

    pub fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The highest bit, if it is a sign.
    pub fn sign_bit(&self) -> u64 {
        if self.is_signed() { 1 << (self.bits - 1) } else { 0 }
    }

    pub fn size(&self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    pub fn nan(&self) -> Option<u64> {
        match self.kind {
            Kind::Integer { .. } => None,
            Kind::Float { nan, .. } => nan,
        }
    }

    pub fn infinity(&self) -> Option<u64> {
        match self.kind {
            Kind::Integer { .. } => None,
            Kind::Float { infinity, .. } => infinity,
        }
    }

    /// The least and the largest integer.
    pub fn range(&self) -> (i128, i128) {
        if self.is_signed() { (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1) } else { (0, (1 << self.bits) - 1) }
    }

    /// The number of the largest magnitude.
    pub fn last(&self) -> u64 {
        match self.kind {
            Kind::Integer { is_signed: true } => 1 << (self.bits - 1),
            Kind::Integer { is_signed: false } => self.mask(),
            Kind::Float { largest, .. } => largest,
        }
    }

    pub fn number(&self, pattern: u64) -> Number {
        let is_negative = pattern & self.sign_bit() != 0;
        let Kind::Float { largest, infinity, nan, .. } = self.kind else {
            let value = i128::from(pattern) - if is_negative { 1 << self.bits } else { 0 };
            return Number::Finite { is_negative, magnitude: BigRational::from_integer(value.abs().into()) };
        };
        let magnitude = pattern & !self.sign_bit();
        if Some(magnitude) == infinity {
            return Number::Infinity { is_negative };
        }
        if Some(pattern) == nan || magnitude > largest {
            return Number::Nan;
        }
        Number::Finite { is_negative, magnitude: self.magnitude(&magnitude.into()) }
    }

    /// The magnitude of this number. Type without 0: -1 is half of the least.
    pub fn magnitude(&self, index: &BigInt) -> BigRational {
        let Kind::Float { mantissa_bits, bias, .. } = self.kind else {
            return BigRational::from_integer(index.clone());
        };
        let index = i128::try_from(index).unwrap();
        if !self.has_zero() {
            return scaled(1, index as i64 - bias);
        }
        let (field, mantissa) = ((index >> mantissa_bits) as i64, (index & ((1 << mantissa_bits) - 1)) as u64);
        // Subnormal numbers have the exponent of the first normal ones, and no implicit digit.
        let significand = if field == 0 { mantissa } else { mantissa | 1 << mantissa_bits };
        scaled(significand, field.max(1) - bias - i64::from(mantissa_bits))
    }

    pub fn place(&self, magnitude: &BigRational) -> Place {
        let below = if self.is_integer() {
            magnitude.floor().to_integer()
        } else {
            let (mut below, mut above) = (if self.has_zero() { 0 } else { -1 }, i128::from(self.last()) + 1);
            if *magnitude < self.magnitude(&below.into()) {
                return Place::Under;
            }
            if *magnitude >= self.magnitude(&above.into()) {
                return Place::Over;
            }
            while above - below > 1 {
                let middle = below + (above - below) / 2;
                let is_above = self.magnitude(&middle.into()) > *magnitude;
                *(if is_above { &mut above } else { &mut below }) = middle;
            }
            below.into()
        };
        let (lower, upper) = (self.magnitude(&below), self.magnitude(&(&below + 1)));
        let rest = match (magnitude - &lower).cmp(&(upper - magnitude)) {
            _ if *magnitude == lower => Rest::Zero,
            Ordering::Less => Rest::BelowHalf,
            Ordering::Equal => Rest::Half,
            Ordering::Greater => Rest::AboveHalf,
        };
        Place::Between { below, rest }
    }

    /// Elements in memory; the bits above the N bits are taken from `above`.
    pub fn store(&self, patterns: &[u64], above: u8) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(patterns.len() * self.size());
        for pattern in patterns {
            match self.size() {
                1 => bytes.push(*pattern as u8 | if self.bits < 8 { above << self.bits } else { 0 }),
                2 => bytes.extend((*pattern as u16).to_ne_bytes()),
                4 => bytes.extend((*pattern as u32).to_ne_bytes()),
                _ => bytes.extend(pattern.to_ne_bytes()),
            }
        }
        bytes
    }

    /// The patterns of elements in memory, which must be the sign or 0 above the N bits.
    pub fn load(&self, bytes: &[u8]) -> Vec<u64> {
        let load = |element: &[u8]| {
            let wide = match *element {
                [a] => u64::from(a),
                [a, b] => u16::from_ne_bytes([a, b]).into(),
                [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
                _ => u64::from_ne_bytes(element.try_into().unwrap()),
            };
            let pattern = wide & self.mask();
            let is_extended = self.is_integer() && pattern & self.sign_bit() != 0 && self.bits < 8;
            let above = if is_extended { 0xFF & !self.mask() } else { 0 };
            assert_eq!(wide, pattern | above, "{}: the bits above the type", self.name);
            pattern
        };
        bytes.chunks_exact(self.size()).map(load).collect()
    }

    /// An element as JSON, exactly.
    pub fn json(&self, pattern: u64) -> String {
        match self.number(pattern) {
            Number::Finite { is_negative, magnitude } if self.is_integer() => {
                format!("{}{magnitude}", if is_negative { "-" } else { "" })
            }
            _ => format!("\"0x{pattern:0digits$x}\"", digits = 2 * self.size()),
        }
    }
}

/// `significand * 2^exponent`, in lowest terms.
pub fn scaled(significand: u64, exponent: i64) -> BigRational {
    if significand == 0 {
        return BigRational::zero();
    }
    let zeros = significand.trailing_zeros();
    let (odd, exponent) = (BigInt::from(significand >> zeros), exponent + i64::from(zeros));
    if exponent >= 0 {
        BigRational::from_integer(odd << exponent)
    } else {
        BigRational::new_raw(odd, BigInt::one() << -exponent)
    }
}

impl Number {
    pub fn finite(value: &BigRational) -> Self {
        Self::Finite { is_negative: value.is_negative(), magnitude: value.abs() }
    }
}

#[test]
fn the_formats_have_their_published_limits() {
    let power = |exponent: i64| scaled(1, exponent);
    // The largest number, the least normal one, the least of all.
    for (name, largest, normal, least) in [
        ("float4_e2m1fn", scaled(6, 0), power(0), power(-1)),
        ("float6_e2m3fn", scaled(15, -1), power(0), power(-3)),
        ("float6_e3m2fn", scaled(28, 0), power(-2), power(-4)),
        ("float8_e3m4", scaled(31, -1), power(-2), power(-6)),
        ("float8_e4m3", scaled(240, 0), power(-6), power(-9)),
        ("float8_e4m3b11fnuz", scaled(30, 0), power(-10), power(-13)),
        ("float8_e4m3fn", scaled(448, 0), power(-6), power(-9)),
        ("float8_e4m3fnuz", scaled(240, 0), power(-7), power(-10)),
        ("float8_e5m2", scaled(57344, 0), power(-14), power(-16)),
        ("float8_e5m2fnuz", scaled(57344, 0), power(-15), power(-17)),
        ("float8_e8m0fnu", power(127), power(-126), power(-127)),
        ("bfloat16", scaled(255, 120), power(-126), power(-133)),
        ("float16", scaled(65504, 0), power(-14), power(-24)),
        ("float32", BigRational::from_float(f32::MAX).unwrap(), power(-126), power(-149)),
        ("float64", BigRational::from_float(f64::MAX).unwrap(), power(-1022), power(-1074)),
    ] {
        let data_type = Type::named(name);
        let Kind::Float { mantissa_bits, largest: last, .. } = data_type.kind else { panic!("{name} is no float") };
        let first = u64::from(data_type.has_zero());
        for (pattern, magnitude) in [(last, largest), (1 << mantissa_bits, normal), (first, least)] {
            assert_eq!(data_type.number(pattern), Number::Finite { is_negative: false, magnitude }, "{name}");
        }
    }
}
