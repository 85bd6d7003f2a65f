//! The codecs, one file or folder each, and the registry that has them all.
//!
//! To add a codec: one file here with a `parse` function, one line in [`registry`], one file of vectors in
//! `tests/conformance/cases/`. `bytes.rs` is the model.

mod bytes;
mod cast_value;
mod crc32c;
mod gzip;
mod joint;
mod numcodecs;
mod packbits;
mod padding;
mod registry;
mod reshape;
mod scale_offset;
mod shuffle;
mod squeeze;
mod transpose;
mod zfp;
mod zstd;

#[cfg(feature = "internals")]
#[doc(hidden)]
pub use crate::simd::{Level, set_limit};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use packbits::kernels as packbits_kernels;

pub(crate) use joint::{Joint, joint};
pub use registry::built_in;
