//! The codecs, one file or folder each, the [`registry`] that has them all, and what several of them share: [`joint`],
//! [`location`], `lz`, [`padding`] and [`shuffle`].
//!
//! To add a codec: one file here with a `parse` function and its `mod` line, one line in [`registry`], one file of
//! vectors in `tests/conformance/cases/`. `bytes/mod.rs` is the model; CONTRIBUTING.md has the whole list. Known
//! differences from other implementations are listed in `docs/differences.md`, each with its test.

mod bitround;
#[cfg(feature = "blosc")]
mod blosc;
mod bytes;
mod cast_value;
mod checksum;
mod conditional;
mod crc32c;
mod gzip;
mod joint;
mod location;
#[cfg(any(feature = "blosc", feature = "lz4"))]
mod lz;
mod n5_default;
mod numcodecs;
mod packbits;
mod padding;
mod registry;
mod reshape;
mod scale_offset;
mod sharding;
#[cfg_attr(not(feature = "blosc"), allow(dead_code, reason = "only Blosc moves bits"))]
mod shuffle;
mod squeeze;
mod transpose;
mod zfp;
mod zstd;

#[cfg(feature = "internals")]
#[doc(hidden)]
pub use crate::simd::{Level, set_limit};
#[cfg(all(feature = "internals", feature = "blosc"))]
#[doc(hidden)]
pub mod blosc_internals {
    pub use super::blosc::{Compressor, Decoder, Encoder, Filter, Frame, Settings};
    pub use super::shuffle::Shuffle;
}
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use packbits::kernels as packbits_kernels;

pub(crate) use joint::{Joint, join};
pub(crate) use numcodecs::element_type;
pub use registry::built_in;
