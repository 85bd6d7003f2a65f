//! A run of codecs bound to what enters it: resolve, plan, run.

mod representation;

pub use representation::{ArrayRepresentation, ByteSize};
