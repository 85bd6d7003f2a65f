//! Loops that do the work of two neighbouring codecs at once.
//!
//! The chain asks about each pair of neighbouring elementwise codecs. A joint loop saves the round trip through memory
//! between them. It need not handle every element, because the two codecs can still run one after the other.

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

/// The joint loop of two codecs, in the order of encoding, if there is one: so far, for `scale_offset` before
/// `cast_value`.
pub(crate) fn join(first: &dyn Elementwise, second: &dyn Elementwise) -> Option<Arc<dyn Joint>> {
    let (first, second): (&dyn Any, &dyn Any) = (first, second);
    let scaling = first.downcast_ref::<BoundScaling>()?.scaling()?;
    second.downcast_ref::<BoundCast>()?.after_scaling(scaling)
}
