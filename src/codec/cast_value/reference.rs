//! The definition of a cast: one element, exactly. Everything faster is compared with this.

use crate::data_type::Component;
use crate::number::{Finite, FloatValue, Rounded, Rounding, integer_range, low_bits, sign_extended};

/// The treatment of a value outside the range of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutOfRange {
    Error,
    Clamp,
    Wrap,
}

/// One direction of a cast.
#[derive(Debug, Clone)]
pub(super) struct Cast {
    pub(super) source: Component,
    pub(super) target: Component,
    pub(super) rounding: Rounding,
    pub(super) out_of_range: OutOfRange,
    /// Bit patterns of the source and of the target; the first that matches wins.
    pub(super) scalar_map: Vec<(u64, u64)>,
}

/// The value of an element, whatever its type.
pub(super) fn value(component: Component, bits: u64) -> FloatValue {
    match component {
        Component::Float(format) => format.value(bits),
        Component::Int { bits: width, signed } => {
            let is_negative = signed && bits >> (width - 1) != 0;
            let significand = if is_negative { sign_extended(bits, width).unsigned_abs() } else { bits };
            FloatValue::Finite(Finite { is_negative, significand, exponent: 0, is_more: false })
        }
        Component::Bool | Component::Raw { .. } => FloatValue::Nan,
    }
}

/// Whether two elements are the same value: 0 and -0 are, and so are all NaN.
pub(super) fn is_same(component: Component, a: u64, b: u64) -> bool {
    let is_zero = |value| matches!(value, FloatValue::Finite(Finite { significand: 0, .. }));
    let (x, y) = (value(component, a), value(component, b));
    a == b || (x == FloatValue::Nan && y == FloatValue::Nan) || (is_zero(x) && is_zero(y))
}

impl Cast {
    /// One element as bits of the target; `None` if the target cannot represent it.
    pub(super) fn cast(&self, bits: u64) -> Option<u64> {
        match self.scalar_map.iter().find(|(key, _)| self.matches(*key, bits)) {
            Some((_, mapped)) => Some(*mapped),
            None => self.convert(bits),
        }
    }

    /// A key that is the NaN that "NaN" denotes matches every NaN; another NaN only itself.
    fn matches(&self, key: u64, bits: u64) -> bool {
        let is_nan = |bits| value(self.source, bits) == FloatValue::Nan;
        match self.source {
            Component::Float(format) if is_nan(key) => key == bits || (Some(key) == format.nan() && is_nan(bits)),
            source => is_same(source, key, bits),
        }
    }

    /// As [`cast`](Self::cast), without the scalar map.
    pub(super) fn convert(&self, bits: u64) -> Option<u64> {
        match (value(self.source, bits), self.target) {
            // Which NaN it is can be kept in the same format alone.
            (FloatValue::Nan, target) if target == self.source => Some(bits),
            (FloatValue::Nan, Component::Float(target)) => target.nan(),
            (FloatValue::Infinity { is_negative }, Component::Float(target)) => target.infinity(is_negative),
            (FloatValue::Finite(number), Component::Float(target)) => match target.round(&number, self.rounding) {
                Rounded::Bits(bits) => Some(bits),
                Rounded::Overflow | Rounded::Underflow if self.out_of_range != OutOfRange::Clamp => None,
                Rounded::Overflow => Some(target.infinity(number.is_negative).unwrap_or_else(|| {
                    target.largest_finite() | if number.is_negative { target.sign_bit() } else { 0 }
                })),
                // 2^-127, the least number where there are only positive powers of two.
                Rounded::Underflow => Some(0),
            },
            (FloatValue::Finite(number), Component::Int { bits, signed }) => self.to_integer(&number, bits, signed),
            _ => None,
        }
    }

    fn to_integer(&self, number: &Finite, bits: u32, signed: bool) -> Option<u64> {
        let (least, most) = integer_range(bits, signed);
        // Past 2^64 the value is out of every range, and only its lowest 64 bits matter.
        let is_huge = number.significand != 0 && number.leading_exponent() >= 64;
        let magnitude = match u32::try_from(number.exponent) {
            Ok(exponent) => number.significand.checked_shl(exponent).unwrap_or(0),
            Err(_) => number.in_units(0, self.rounding),
        };
        let value = if number.is_negative { -i128::from(magnitude) } else { i128::from(magnitude) };
        match self.out_of_range {
            _ if !is_huge && (least..=most).contains(&value) => Some(low_bits(value as u64, bits)),
            OutOfRange::Error => None,
            OutOfRange::Clamp => Some(low_bits(if number.is_negative { least } else { most } as u64, bits)),
            OutOfRange::Wrap => Some(low_bits(value as u64, bits)),
        }
    }
}
