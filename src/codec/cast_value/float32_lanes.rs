//! Floats of 16 bits as `float32`, for codecs that compute.

use super::lane::Pass;
use super::reference::{Cast, OutOfRange};
use super::to_float;
use super::widen::to_f32;
use crate::data_type::{Component, FLOAT32, Rounding};
use crate::simd::{Loop, vectorized};

/// Both ways between floats of 16 bits and `float32`, rounding to nearest; NaN become the one that the format calls so.
#[derive(Debug)]
pub(in crate::codec) struct Float32Lanes {
    widen: Box<dyn Pass>,
    narrow: Box<dyn Pass>,
    /// The bits of infinity.
    infinity: u16,
}

impl Float32Lanes {
    /// None if the type is no float of 16 bits.
    pub(in crate::codec) fn new(component: Component) -> Option<Self> {
        let Component::Float(format) = component else { return None };
        let infinity = format.infinity(false).filter(|_| format.bits == 16)?;
        let narrow = Cast {
            source: Component::Float(FLOAT32),
            target: component,
            rounding: Rounding::NearestEven,
            out_of_range: OutOfRange::Error,
            scalar_map: Vec::new(),
        };
        let (widen, _) = to_f32(component)?.pop()?;
        Some(Self { widen, narrow: to_float::pass::<f32>(&narrow)?, infinity: infinity as u16 })
    }

    /// Widens every number, exactly.
    pub(in crate::codec) fn widen(&self, halves: &[u8], floats: &mut [u8]) {
        self.widen.run(halves, floats);
    }

    /// Rounds every number; whether none that is finite has become infinite.
    pub(in crate::codec) fn narrow(&self, floats: &[u8], halves: &mut [u8]) -> bool {
        !self.narrow.run(floats, halves)
    }

    /// Whether one of these numbers was finite before and is infinite now.
    pub(in crate::codec) fn lose(&self, before: &[u8], after: &[u8]) -> bool {
        let (before, after) = (before.as_chunks().0, after.as_chunks().0);
        vectorized(Losses { before, after, infinity: self.infinity })
    }
}

struct Losses<'a> {
    before: &'a [[u8; 2]],
    after: &'a [[u8; 2]],
    infinity: u16,
}

impl Loop for Losses<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        // The sign bit is set if the number is finite; if not, it stays so.
        let is_finite = |bytes: [u8; 2]| (u16::from_ne_bytes(bytes) & 0x7FFF).wrapping_sub(self.infinity);
        let mut losses = 0_u16;
        for (before, after) in self.before.iter().zip(self.after) {
            losses |= is_finite(*before) & !is_finite(*after);
        }
        losses & 0x8000 != 0
    }
}
