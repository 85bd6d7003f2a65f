//! The codecs of Zarr v3, for every program that can call C.
//!
//! The C interface is in `include/zcodec.h`. This page is for those who read or extend the library itself.
//!
//! The modules lie in layers; none imports what stands above it (`scripts/check_layers.py` holds them to it):
//!
//! | layer | what it is |
//! | --- | --- |
//! | [`capi`] | the C boundary: the only `extern "C"`, the only pointers of callers |
//! | [`chain`] | a run of codecs bound to what enters it: plan, run |
//! | [`codec`] | the codecs, one file or folder each, and the registry that has them all |
//! | [`interface`] | what a codec is, what binding makes of it, what a call gives it; lists of codecs |
//! | [`representation`] | what enters and leaves a codec: an array, or bytes |
//! | [`data_type`] | Zarr data types: names, layout in memory, scalars |
//! | `strided`, `parallel`, `json`, [`Error`] | the ground: copies between strides, threads, reading JSON, errors |

pub mod capi;
pub mod chain;
pub mod codec;
pub mod data_type;
mod error;
mod float_environment;
pub mod interface;
mod json;
mod memory;
pub mod number;
mod parallel;
pub mod representation;
mod simd;
pub mod strided;

pub use error::{CodecPlace, Error, Result, Status};
