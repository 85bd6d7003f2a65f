//! The codecs of this library by name.

#[cfg(feature = "blosc")]
use super::blosc;
use super::{
    bytes, cast_value, crc32c, gzip, numcodecs, packbits, padding, reshape, scale_offset, sharding, squeeze, transpose,
    zfp, zstd,
};
use crate::error::Result;
use crate::interface::{Codec, Context, Registry};
use crate::json::Configuration;
use std::sync::{Arc, LazyLock};

type Parse = fn(Configuration, &Context) -> Result<Arc<dyn Codec>>;

/// Every codec, in alphabetical order.
const CODECS: &[(&str, Parse)] = &[
    #[cfg(feature = "blosc")]
    ("blosc", blosc::parse),
    ("bytes", bytes::parse),
    ("cast_value", cast_value::parse),
    ("crc32c", crc32c::parse),
    ("gzip", gzip::parse),
    ("numcodecs.astype", numcodecs::parse_astype),
    #[cfg(feature = "blosc")]
    ("numcodecs.blosc", blosc::parse_numcodecs),
    ("numcodecs.fixedscaleoffset", numcodecs::parse_fixedscaleoffset),
    ("offset", padding::parse_offset),
    ("packbits", packbits::parse),
    ("pad", padding::parse_pad),
    ("reshape", reshape::parse),
    ("scale_offset", scale_offset::parse),
    ("sharding_indexed", sharding::parse),
    ("squeeze", squeeze::parse),
    ("transpose", transpose::parse),
    ("zfp", zfp::parse),
    ("zstd", zstd::parse),
];

/// Other names of a codec; canonical metadata has the codec's own.
const ALIASES: &[(&str, &str)] = &[("zarrs.squeeze", "squeeze")];

static BUILT_IN: LazyLock<Arc<Registry>> = LazyLock::new(|| {
    let mut registry = Registry::default();
    let codecs = CODECS.iter().try_for_each(|(name, parse)| registry.add(name, parse));
    let all = codecs.and_then(|()| ALIASES.iter().try_for_each(|(alias, name)| registry.add_alias(alias, name)));
    debug_assert_eq!(all, Ok(()), "a name stands twice in the tables");
    Arc::new(registry)
});

/// The registry of this library's own codecs.
pub fn built_in() -> Arc<Registry> {
    Arc::clone(&BUILT_IN)
}
