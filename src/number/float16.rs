//! The floats of 16 bits as `float32`, which holds each of their values; rounding to `bfloat16`.

use super::Rounding;

/// The value of a `float16`. A NaN keeps its sign and its payload, and stays signalling if it is.
///
/// Moving the fields to their places in a `float32` leaves an exponent that is too small by the difference of the
/// biases. A product corrects it exactly, and makes subnormal numbers normal.
#[inline(always)] // into vectorised loops
pub fn float16_to_float32(bits: u16) -> f32 {
    const SCALE: f32 = f32::from_bits((127 + 127 - 15) << 23);
    let sign = u32::from(bits & 0x8000) << 16;
    let fields = u32::from(bits & 0x7FFF) << 13;
    let magnitude =
        if fields >= 0x7C00 << 13 { fields | 0x7F80_0000 } else { (f32::from_bits(fields) * SCALE).to_bits() };
    f32::from_bits(sign | magnitude)
}

/// The value of a `bfloat16`. A NaN keeps its sign and its payload, and stays signalling if it is.
#[inline(always)] // into vectorised loops
pub fn bfloat16_to_float32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The bits of a `float32` whose upper half is the number rounded to `bfloat16`; the lower half has no meaning. The
/// exponents of both are the same, so that this is right for subnormal numbers too. A NaN may become an infinity unless
/// the lower half of its bits is 0.
#[inline(always)] // into vectorised loops
pub fn round_to_bfloat16(bits: u32, rounding: Rounding) -> u32 {
    // All ones if it is negative.
    let sign = (bits.cast_signed() >> 31).cast_unsigned();
    let addend = match rounding {
        Rounding::NearestEven => 0x7FFF + ((bits >> 16) & 1),
        Rounding::NearestAway => 0x8000,
        Rounding::TowardsZero => 0,
        Rounding::TowardsPositive => !sign & 0xFFFF,
        Rounding::TowardsNegative => sign & 0xFFFF,
    };
    bits.wrapping_add(addend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{FloatId, FloatValue};

    #[test]
    fn every_float_of_16_bits_keeps_its_value() {
        for (id, widen) in
            [(FloatId::Float16, float16_to_float32 as fn(u16) -> f32), (FloatId::Bfloat16, bfloat16_to_float32)]
        {
            let format = id.format();
            for bits in 0..=u16::MAX {
                let wide = widen(bits);
                match format.value(bits.into()) {
                    FloatValue::Nan => assert!(wide.is_nan(), "{id:?} {bits:#x}"),
                    _ => assert_eq!(f64::from(wide), format.to_f64(bits.into()), "{id:?} {bits:#x}"),
                }
                assert_eq!(wide.is_sign_negative(), bits >> 15 == 1, "{id:?} {bits:#x}");
            }
        }
    }
}
