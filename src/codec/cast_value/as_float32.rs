//! Floats of 16 bits as `float32`, for codecs that compute.

use super::pipeline::Pipeline;
use super::reference::{Cast, OutOfRange};
use super::tiers::TIERS;
use crate::data_type::Component;
use crate::number::{FLOAT32, Rounding};
use crate::simd::best;

/// Both ways between floats of 16 bits and `float32`, rounding to nearest. NaNs become the format's default NaN.
#[derive(Debug)]
pub(in crate::codec) struct AsFloat32 {
    widen: Pipeline,
    narrow: Pipeline,
}

impl AsFloat32 {
    /// `None` if the type is not a float of 16 bits, or only the reference is to run.
    pub(in crate::codec) fn new(component: Component) -> Option<Self> {
        let Component::Float(format) = component else { return None };
        if format.bits != 16 {
            return None;
        }
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
        Some(Self { widen, narrow })
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
}
