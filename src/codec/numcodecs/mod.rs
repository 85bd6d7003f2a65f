//! The names that zarr-python gives the codecs of the Python package numcodecs. They take the configuration that it
//! writes, decode what it wrote, and write what it reads. Metadata are written back with their names and members.
//!
//! Specifications:
//! [zarr-extensions, `numcodecs.*`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs), which refers
//! to the code of [numcodecs](https://github.com/zarr-developers/numcodecs), here 0.17, and of zarr-python's
//! `zarr/codecs/numcodecs`. Where numcodecs computes a result, ours is bit for bit the same; where NumPy leaves a
//! result to the processor, it is an error here.
//!
//! * [`number_type`]: NumPy's types and casts, for the codecs that compute: [`astype`], [`delta`], [`fixedscaleoffset`],
//!   [`quantize`].
//! * [`checksums`], [`fletcher32`], [`jenkins`]: four bytes more.
//!
//! Those that Zarr v3 has, too, are with their namesakes: `bitround`, `blosc`, `crc32c`, `gzip` (with `zlib`) and `zstd`,
//! and `zfpy` is with `zfp`.

pub(super) mod astype;
#[cfg(feature = "bz2")]
pub(super) mod bz2;
pub(super) mod checksums;
pub(super) mod delta;
pub(super) mod fixedscaleoffset;
pub(super) mod fletcher32;
pub(super) mod jenkins;
#[cfg(feature = "lz4")]
pub(super) mod lz4;
#[cfg(feature = "lzma")]
pub(super) mod lzma;
mod number_type;
pub(super) mod packbits;
#[cfg(feature = "pcodec")]
pub(super) mod pcodec;
pub(super) mod quantize;
pub(super) mod shuffle;
#[cfg(test)]
mod tests;

use crate::data_type::Scalar;
use crate::error::Result;
use crate::interface::{Binding, Elementwise};
use crate::json::Configuration;
use crate::representation::ArrayRepresentation;
use number_type::NumberType;
pub(crate) use number_type::element_type;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The member `id`, which numcodecs 0.14 and 0.15.0 also wrote into configurations of Zarr v3: it says what the name
/// says, and the metadata do not keep it.
pub(super) fn take_id(id: &str, configuration: &mut Configuration) -> Result<()> {
    configuration.one_of("id", &[id]).map(drop)
}

/// A member that may be missing or null: Python writes `None` as null. It is written back as it was.
fn optional(configuration: &mut Configuration, kept: &mut Map<String, Value>, member: &str) -> Option<Value> {
    let value = configuration.optional(member)?;
    kept.insert(member.to_owned(), value.clone());
    Some(value).filter(|value| !value.is_null())
}

/// An elementwise codec from this array to elements of another type.
fn elementwise<K: Elementwise>(
    kernel: K,
    (from, to): (NumberType, NumberType),
    decoded: &ArrayRepresentation,
) -> Result<Binding> {
    Binding::elementwise(decoded, &to.data_type()?, cast_fill_value(decoded, from, to), Arc::new(kernel))
}

/// The fill value of what a codec makes of this array: zarr-python casts it, but does not encode it. It is 0 where
/// NumPy leaves the cast to the processor.
fn cast_fill_value(decoded: &ArrayRepresentation, from: NumberType, to: NumberType) -> Option<Scalar> {
    let Scalar(decoded) = decoded.fill_value()?;
    let mut cast = vec![0; to.size()];
    if number_type::cast((from, decoded), (to, &mut cast)).is_err() {
        cast.fill(0);
    }
    Some(Scalar(cast.into()))
}
