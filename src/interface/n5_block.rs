//! A bound `n5_default`: a block of N5, which says its own shape, and the codecs of what follows its header.

use super::BoundCodecs;
use std::sync::Arc;

/// What binding settles of a block. The chain does the work, because it has the plan of the codecs inside.
#[derive(Debug, Clone)]
pub struct BoundN5Block {
    /// What codes the elements of a block that has the shape of the chunk.
    pub inner: Arc<BoundCodecs>,
    /// The shape that blocks have at most: that of the largest chunk that the codec has been bound to.
    pub largest_shape: Vec<u64>,
}

impl BoundN5Block {
    /// The member of the configuration that holds the list of codecs.
    pub const INNER_LIST: &'static str = "codecs";

    /// The size of the header: a mode and a rank of 16 bits, and 32 bits for each dimension.
    pub fn header_size(&self) -> usize {
        4 + 4 * self.largest_shape.len()
    }
}
