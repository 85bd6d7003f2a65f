//! A bound `sharding_indexed`: an array as a grid of inner chunks, each coded by a chain of its own, and their index.

use super::BoundCodecs;
use crate::representation::element_count;
use std::sync::Arc;

/// A shard after binding. The chain does the work, because it has the plans of the inner chains.
#[derive(Debug, Clone)]
pub struct BoundShard {
    /// The number of inner chunks along each dimension.
    pub grid: Vec<u64>,
    /// The shape of each inner chunk.
    pub chunk_shape: Vec<u64>,
    /// The codecs of an inner chunk.
    pub inner: Arc<BoundCodecs>,
    /// The codecs of the index, which has the offset and the size of each inner chunk; both are 2^64 - 1 if it is
    /// missing.
    pub index: Arc<BoundCodecs>,
    /// The size of the encoded index in bytes.
    pub index_size: u64,
    /// Whether the index comes before the inner chunks, not after them.
    pub is_index_first: bool,
}

impl BoundShard {
    /// The members of the configuration that hold the lists of codecs.
    pub const INNER_LIST: &'static str = "codecs";
    /// See [`INNER_LIST`](Self::INNER_LIST).
    pub const INDEX_LIST: &'static str = "index_codecs";

    /// The list with this name, if it is one of the two.
    pub fn list(member: &str) -> Option<&'static str> {
        [Self::INNER_LIST, Self::INDEX_LIST].into_iter().find(|list| *list == member)
    }

    /// The number of inner chunks.
    pub fn chunk_count(&self) -> u64 {
        element_count(&self.grid)
    }
}
