//! The codecs of Zarr v3, for every program that can call C.
//!
//! The C interface is in `include/zcodec.h`. This page is for those who read or extend the library itself.
//!
//! The modules form layers; each imports only from layers below its own (`scripts/check_layers.py` checks this):
//!
//! | layer | what it is |
//! | --- | --- |
//! | [`capi`] | the C boundary: the only `extern "C"`, the only pointers of callers |
//! | [`chain`] | a run of codecs bound to what enters it: plan, run |
//! | [`codec`] | the codecs, one file or folder each, and the registry that has them all |
//! | [`interface`] | what a codec is, what binding makes of it, what a call gives it; lists of codecs |
//! | [`representation`] | what passes between two codecs: an array, or bytes |
//! | [`data_type`], [`strided`], `parallel` | Zarr data types; elements with any strides, and copies of them; threads |
//! | [`number`], `json`, `simd`, `memory`, `float_environment` | floats and rounding; JSON; tiers of kernels; allocation that may fail; the floating-point environment of the caller |
//! | [`Error`] | the one error type |
//!
//! `docs/architecture.md` has a picture of the layers, and one of the way of a chunk through them.

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
