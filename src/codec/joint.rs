//! Loops that run two neighbouring elementwise codecs at once.
//!
//! The chain tries them first; where one gives up on a tile, the two codecs run one after the other and say why.

use super::{cast_value, scale_offset};
use crate::interface::Elementwise;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Two kernels in one loop, on tiles as an [`Elementwise`] gets them.
pub(crate) trait Joint: Debug + Send + Sync {
    /// Encodes each element by the first kernel and then by the second. False: not possible for these elements.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> bool;
    /// Decodes each element by the second kernel and then by the first. False: not possible for these elements.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> bool;
}

/// The loop for two kernels in encode order, if there is one.
type Join = fn(first: &dyn Any, second: &dyn Any) -> Option<Arc<dyn Joint>>;

const JOINTS: &[Join] = &[scale_and_cast];

/// The loop for two kernels in encode order, if there is one.
pub(crate) fn joint(first: &dyn Elementwise, second: &dyn Elementwise) -> Option<Arc<dyn Joint>> {
    JOINTS.iter().find_map(|join| join(first, second))
}

fn scale_and_cast(first: &dyn Any, second: &dyn Any) -> Option<Arc<dyn Joint>> {
    let scaling = first.downcast_ref::<scale_offset::Kernel>()?.scaling()?;
    second.downcast_ref::<cast_value::Kernel>()?.after(scaling)
}
