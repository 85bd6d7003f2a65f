//! Floats of 16 bits as `float32`, for codecs that compute.

use super::pipeline::Pipeline;
use super::reference::{Cast, OutOfRange};
use super::tiers::TIERS;
use crate::data_type::Component;
use crate::number::{FLOAT32, Rounding};
use crate::simd::{Loop, best, vectorized};

/// Both ways between floats of 16 bits and `float32`, rounding to nearest. NaNs become the format's default NaN.
#[derive(Debug)]
pub(in crate::codec) struct AsFloat32 {
    widen: Pipeline,
    narrow: Pipeline,
    /// The bits of infinity.
    infinity: u16,
}

impl AsFloat32 {
    /// `None` if the type is not a float of 16 bits, or only the reference is to run.
    pub(in crate::codec) fn new(component: Component) -> Option<Self> {
        let Component::Float(format) = component else { return None };
        let infinity = format.infinity(false).filter(|_| format.bits == 16)?;
        let tier = best(TIERS)?.kernel.as_ref()?;
        let cast = |source, target| Cast {
            source,
            target,
            rounding: Rounding::NearestEven,
            out_of_range: OutOfRange::Error,
            scalar_map: Vec::new(),
        };
        let float32 = Component::Float(FLOAT32);
        let widen = Pipeline::new(&cast(component, float32), tier)?;
        let narrow = Pipeline::new(&cast(float32, component), tier)?;
        Some(Self { widen, narrow, infinity: infinity as u16 })
    }

    /// Widens every number, exactly.
    pub(in crate::codec) fn widen(&self, halves: &[u8], floats: &mut [u8]) {
        // No float is refused.
        let _ = self.widen.run(halves, floats, |_, _, _| Err(()));
    }

    /// Rounds every number. Whether no finite one became infinite.
    pub(in crate::codec) fn narrow(&self, floats: &[u8], halves: &mut [u8]) -> bool {
        self.narrow.run(floats, halves, |_, _, _| Err(())).is_ok()
    }

    /// Whether any of these numbers was finite before and is not now.
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
