//! `bitround`, and its older name `numcodecs.bitround`: fewer significant bits, so that what follows compresses better.
//! Specification:
//! [zarr-extensions, `bitround`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/bitround).
//!
//! Floats, and each component of complex ones, keep `keepbits` bits of the mantissa, half to even; the carry may reach
//! the exponent, and turn the largest numbers into infinity. Infinities and NaN stay as they are, while numcodecs turns
//! many NaNs into numbers. More `keepbits` than there are bits keep all of them. Integers keep `keepbits` bits from the
//! most significant set bit of their bit pattern on, half to even, and are truncated where the carry would overflow the
//! type or change the sign. Decoding changes nothing.

use crate::data_type::{Component, Scalar};
use crate::error::{Error, Result};
use crate::interface::{Binding, Codec, Context, Elementwise, Kind};
use crate::json::{Configuration, integer};
use crate::number::FloatId;
use crate::representation::Representation;
use crate::simd::{Loop, vectorized};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Those with a mantissa worth rounding.
const FLOATS: [FloatId; 4] = [FloatId::Bfloat16, FloatId::Float16, FloatId::Float32, FloatId::Float64];

#[derive(Debug)]
struct Bitround {
    keepbits: u32,
}

/// `{"keepbits": n}` with n from 1
pub(super) fn parse(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    parse_from(1, configuration)
}

/// `{"keepbits": n}` with n from 0, which numcodecs takes
pub(super) fn parse_numcodecs(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    parse_from(0, configuration)
}

fn parse_from(least: i128, mut configuration: Configuration) -> Result<Arc<dyn Codec>> {
    let keepbits = integer("keepbits", &configuration.required("keepbits")?, least, u32::MAX.into())? as u32;
    configuration.finish()?;
    Ok(Arc::new(Bitround { keepbits }))
}

impl Codec for Bitround {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("keepbits".to_owned(), json!(self.keepbits))]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        let data_type = decoded.data_type();
        let rounding = Rounding::new(self.keepbits, data_type.component())
            .map_err(|error| error.with_context(&format!("data_type is {data_type}: ")))?;
        let fill_value = decoded.fill_value().map(|Scalar(decoded)| {
            let mut encoded = decoded.to_vec();
            rounding.round(decoded, &mut encoded);
            Scalar(encoded.into())
        });
        Binding::elementwise(decoded, data_type, fill_value, Arc::new(rounding))
    }
}

/// How the components of one type are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rounding {
    size: usize,
    rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Keep,
    /// `drop` bits of the mantissa go; patterns from `special` on, without the sign, stay.
    Float {
        drop: u32,
        special: u64,
    },
    /// `keep` bits stay; the carry may fill this many bits.
    Integer {
        keep: u32,
        bits: u32,
        signed: bool,
    },
}

impl Rounding {
    fn new(keepbits: u32, component: Component) -> Result<Self> {
        let rule = match component {
            Component::Float(format) if FLOATS.contains(&format.id) => {
                let drop = format.mantissa_bits.saturating_sub(keepbits);
                let special = ((1 << format.exponent_bits) - 1) << format.mantissa_bits;
                if drop == 0 { Rule::Keep } else { Rule::Float { drop, special } }
            }
            Component::Int { bits: bits @ 8.., .. } if keepbits >= bits => Rule::Keep,
            Component::Int { bits: bits @ 8.., signed } if keepbits > 0 => {
                Rule::Integer { keep: keepbits, bits, signed }
            }
            Component::Int { bits: 8.., .. } => {
                return Err(Error::metadata("keepbits is 0, so that an integer would keep nothing"));
            }
            _ => {
                return Err(Error::unsupported(
                    "bitround rounds only integers of at least 8 bits and floats of at least 16",
                ));
            }
        };
        Ok(Self { size: component.size(), rule })
    }

    /// Rounds all components of `decoded`.
    fn round(self, decoded: &[u8], encoded: &mut [u8]) {
        vectorized(RoundAll { rounding: self, decoded, encoded });
    }

    #[inline(always)] // part of the loop
    fn run(self, decoded: &[u8], encoded: &mut [u8]) {
        match self.rule {
            Rule::Keep => encoded.copy_from_slice(decoded),
            Rule::Float { drop, special } => match self.size {
                2 => each(decoded, encoded, |bits: u16| float_16(bits, drop, special as u16)),
                4 => each(decoded, encoded, |bits: u32| float_32(bits, drop, special as u32)),
                _ => each(decoded, encoded, |bits: u64| float_64(bits, drop, special)),
            },
            Rule::Integer { keep, bits, signed } => {
                let integer = |value: u64| round_integer(value, keep, bits, signed);
                match self.size {
                    1 => each(decoded, encoded, |value: u8| integer(value.into()) as u8),
                    2 => each(decoded, encoded, |value: u16| integer(value.into()) as u16),
                    4 => each(decoded, encoded, |value: u32| integer(value.into()) as u32),
                    _ => each(decoded, encoded, integer),
                }
            }
        }
    }
}

struct RoundAll<'a> {
    rounding: Rounding,
    decoded: &'a [u8],
    encoded: &'a mut [u8],
}

impl Loop for RoundAll<'_> {
    type Output = ();

    #[inline(always)] // so that it is compiled for each tier
    fn run(self) {
        self.rounding.run(self.decoded, self.encoded);
    }
}

/// Applies a function to the numbers of two slices of the same size.
#[inline(always)] // so that the compiler sees the function inside the loop
fn each<N: bytemuck::Pod>(decoded: &[u8], encoded: &mut [u8], f: impl Fn(N) -> N) {
    let size = size_of::<N>();
    for (from, to) in decoded.chunks_exact(size).zip(encoded.chunks_exact_mut(size)) {
        to.copy_from_slice(bytemuck::bytes_of(&f(bytemuck::pod_read_unaligned(from))));
    }
}

/// One function per width: a macro may stamp what generics over integers cannot say.
macro_rules! float_rounding {
    ($name:ident, $unsigned:ty) => {
        /// To `drop` bits fewer, half to even. `drop` is at least 1.
        #[inline(always)] // part of the loop
        fn $name(bits: $unsigned, drop: u32, special: $unsigned) -> $unsigned {
            let half = (1 << (drop - 1)) - 1 + ((bits >> drop) & 1);
            let rounded = bits.wrapping_add(half) & (<$unsigned>::MAX << drop);
            if bits & special == special { bits } else { rounded }
        }
    };
}
float_rounding!(float_16, u16);
float_rounding!(float_32, u32);
float_rounding!(float_64, u64);

/// To `keep` significant bits, at least 1, half to even; towards zero where the nearest is outside the type. Without a
/// branch, which random integers would mispredict.
#[inline(always)] // part of the loop
fn round_integer(value: u64, keep: u32, bits: u32, signed: bool) -> u64 {
    let significant = 64 - value.leading_zeros();
    let drop = significant.saturating_sub(keep);
    // 0 if no bit is dropped.
    let half = (((1_u64 << drop) >> 1) + ((value >> drop) & 1)).saturating_sub(1);
    let sign = 1_u64 << (bits - 1);
    let is_negative = signed & (value & sign != 0);
    let most = if signed & !is_negative { sign - 1 } else { u64::MAX >> (64 - bits) };
    let rounded = value.wrapping_add(half);
    let fits = (rounded >= value) & (rounded <= most);
    (if fits { rounded } else { value }) & (u64::MAX << drop)
}

impl Elementwise for Rounding {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        self.round(decoded, encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        decoded.copy_from_slice(encoded);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::data_type::DataType;

    fn rounding(name: &str, keepbits: u32) -> Result<Rounding> {
        Rounding::new(keepbits, DataType::from_name(name).unwrap().component())
    }

    /// The two neighbours that have only the kept bits: the nearer one, or the one with an even last bit.
    fn nearest_of(value: u64, drop: u32) -> u64 {
        let (below, unit) = (value >> drop << drop, 1_u64 << drop);
        let above = below + unit;
        match (value - below).cmp(&(above - value)) {
            std::cmp::Ordering::Less => below,
            std::cmp::Ordering::Greater => above,
            std::cmp::Ordering::Equal => {
                if below & unit == 0 {
                    below
                } else {
                    above
                }
            }
        }
    }

    #[test]
    fn every_float_of_16_bits_goes_to_the_nearest_pattern_that_is_left() {
        for (name, mantissa) in [("float16", 10), ("bfloat16", 7)] {
            let special = 0x7FFF_u16 >> mantissa << mantissa;
            for keepbits in 0..=mantissa {
                let rounding = rounding(name, keepbits).unwrap();
                for bits in 0..=u16::MAX {
                    let mut found = [0xA5; 2];
                    rounding.round(&bits.to_ne_bytes(), &mut found);
                    let (sign, magnitude) = (bits & 0x8000, u64::from(bits & 0x7FFF));
                    let is_special = bits & special == special;
                    let wanted =
                        if is_special { bits } else { sign | nearest_of(magnitude, mantissa - keepbits) as u16 };
                    assert_eq!(u16::from_ne_bytes(found), wanted, "{name} {bits:#06x} keep {keepbits}");
                }
            }
        }
    }

    #[test]
    fn wide_floats_follow_the_same_rule() {
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            let (single, double) = (f32::from_bits((state >> 32) as u32), f64::from_bits(state ^ (state >> 29)));
            for keepbits in [0, 1, 7, 22] {
                let mut found = [0; 4];
                rounding("float32", keepbits).unwrap().round(&single.to_ne_bytes(), &mut found);
                if single.is_finite() {
                    let wanted = nearest_of(u64::from(single.abs().to_bits()), 23 - keepbits) as u32;
                    assert_eq!(u32::from_ne_bytes(found) & 0x7FFF_FFFF, wanted, "{single:?}");
                }
                let mut found = [0; 8];
                rounding("float64", keepbits).unwrap().round(&double.to_ne_bytes(), &mut found);
                if double.is_finite() {
                    assert_eq!(u64::from_ne_bytes(found) << 1 >> 1, nearest_of(double.abs().to_bits(), 52 - keepbits));
                }
            }
        }
    }

    #[test]
    fn integers_keep_bits_from_the_highest_set_one_and_never_change_their_sign() {
        for keepbits in 1..=8 {
            let (unsigned, signed) = (rounding("uint8", keepbits).unwrap(), rounding("int8", keepbits).unwrap());
            for value in 0..=u8::MAX {
                let (mut found, mut found_signed) = ([0], [0]);
                unsigned.round(&[value], &mut found);
                signed.round(&[value], &mut found_signed);
                let drop = (8 - value.leading_zeros()).saturating_sub(keepbits);
                let (nearest, cut) = (nearest_of(value.into(), drop), u64::from(value) >> drop << drop);
                let wanted = if drop == 0 {
                    value.into()
                } else if nearest > 255 {
                    cut
                } else {
                    nearest
                };
                assert_eq!(u64::from(found[0]), wanted, "{value} keep {keepbits}");
                let most = if value < 128 { 127 } else { 255 };
                let wanted = if drop == 0 {
                    value.into()
                } else if nearest > most {
                    cut
                } else {
                    nearest
                };
                assert_eq!(u64::from(found_signed[0]), wanted, "{} keep {keepbits}", value as i8);
            }
        }
    }

    #[test]
    fn types_without_a_mantissa_are_refused_and_more_bits_than_there_are_round_nothing() {
        for (name, keepbits, status) in [
            ("int16", 0, Status::InvalidMetadata),
            ("bool", 1, Status::Unsupported),
            ("float8_e4m3", 1, Status::Unsupported),
            ("r16", 1, Status::Unsupported),
            ("int4", 1, Status::Unsupported),
            ("int4", 4, Status::Unsupported),
        ] {
            assert_eq!(rounding(name, keepbits).map_err(|error| error.status()), Err(status), "{name} {keepbits}");
        }
        let more = [("int16", 40), ("float32", 24), ("float16", 11), ("bfloat16", 10), ("float64", u32::MAX)];
        for (name, keepbits) in more {
            assert_eq!(rounding(name, keepbits).unwrap().rule, Rule::Keep, "{name} {keepbits}");
        }
    }
}
