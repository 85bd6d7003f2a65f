//! The codecs by name.

use super::{
    Codec, Configuration, bytes, cast_value, crc32c, gzip, numcodecs, packbits, padding, reshape, scale_offset,
    squeeze, transpose, zfp, zstd,
};
use crate::error::Result;

/// One name of a codec.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// The name in the metadata.
    pub(crate) name: &'static str,
    /// The name in canonical metadata: another one for an alias.
    pub(crate) canonical_name: &'static str,
    /// Makes the codec of its configuration.
    pub(crate) parse: fn(Configuration) -> Result<Codec>,
}

const fn entry(name: &'static str, parse: fn(Configuration) -> Result<Codec>) -> Entry {
    Entry { name, canonical_name: name, parse }
}

/// Every codec, in alphabetical order.
pub(crate) const CODECS: &[Entry] = &[
    entry("bytes", bytes::parse),
    entry("cast_value", cast_value::parse),
    entry("crc32c", crc32c::parse),
    entry("gzip", gzip::parse),
    entry("numcodecs.astype", numcodecs::parse_astype),
    entry("numcodecs.fixedscaleoffset", numcodecs::parse_fixedscaleoffset),
    entry("offset", padding::parse_offset),
    entry("packbits", packbits::parse),
    entry("pad", padding::parse_pad),
    entry("reshape", reshape::parse),
    entry("scale_offset", scale_offset::parse),
    entry("squeeze", squeeze::parse),
    entry("transpose", transpose::parse),
    Entry { name: "zarrs.squeeze", canonical_name: "squeeze", parse: squeeze::parse },
    entry("zfp", zfp::parse),
    entry("zstd", zstd::parse),
];

/// The codec of this name.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    CODECS.iter().find(|entry| entry.name == name)
}
