//! The codecs of Zarr v3, for every program that can call C.
//!
//! The C interface is in `include/zcodec.h`. This page is for those who read or extend the library itself.

pub mod capi;
pub mod chain;
pub mod codec;
pub mod data_type;
mod error;

pub use error::{CodecPlace, Error, Result, Status};
