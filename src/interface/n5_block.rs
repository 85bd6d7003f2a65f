//! A bound `n5_default`: a block of N5, which states its own shape, and the codecs of its elements.

use super::BoundCodecs;
use std::sync::Arc;

/// A block after binding. The chain does the work, because it has the plan of the inner codecs.
#[derive(Debug, Clone)]
pub struct BoundN5Block {
    /// The codecs of the elements, for a block in the shape of the chunk.
    pub inner: Arc<BoundCodecs>,
    /// The largest size of a block along each dimension, of all chunks that the codec has been bound to.
    pub largest_shape: Vec<u64>,
    /// The largest number of elements of such a chunk.
    pub largest_count: u64,
}

impl BoundN5Block {
    /// The member of the configuration that holds the list of codecs.
    pub const INNER_LIST: &'static str = "codecs";

    /// The size of the header: a mode and a rank of 16 bits, and 32 bits for each dimension.
    pub fn header_size(&self) -> usize {
        4 + 4 * self.largest_shape.len()
    }
}
