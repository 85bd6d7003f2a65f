//! Lempel-Ziv compressors of our own: LZ4, and what it shares with Blosc's blosclz.

pub(super) mod lz4;
pub(super) mod matches;
