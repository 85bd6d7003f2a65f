//! Loops that do the work of two neighbouring codecs at once.
//!
//! The chain looks up each pair of neighbouring elementwise codecs in the table. A joint loop saves the round trip
//! through memory between them. It need not handle every element, because the two codecs can still run one after the
//! other.

use super::cast_value::BoundCast;
use super::scale_offset::BoundScaling;
use crate::interface::Elementwise;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Two codecs in one loop.
pub(crate) trait Joint: Debug + Send + Sync {
    /// Runs the first codec, then the second. `false` if they have to run singly, which also finds any error.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> bool;
    /// Undoes the second codec, then the first. `false` as above.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> bool;
}

/// The joint loop of two codecs, in the order of encoding; `None` if it is not for them.
pub(crate) type FindJoint = fn(first: &dyn Elementwise, second: &dyn Elementwise) -> Option<Arc<dyn Joint>>;

static JOINTS: &[FindJoint] = &[scale_offset_then_cast_value];

/// The first joint loop for these two.
pub(crate) fn join(first: &dyn Elementwise, second: &dyn Elementwise) -> Option<Arc<dyn Joint>> {
    JOINTS.iter().find_map(|join| join(first, second))
}

fn scale_offset_then_cast_value(first: &dyn Elementwise, second: &dyn Elementwise) -> Option<Arc<dyn Joint>> {
    let (first, second): (&dyn Any, &dyn Any) = (first, second);
    let scaling = first.downcast_ref::<BoundScaling>()?.scaling()?;
    second.downcast_ref::<BoundCast>()?.after_scaling(scaling)
}
