//! The codecs of this library by name.

#[cfg(feature = "blosc")]
use super::blosc;
use super::{
    bitround, bytes, cast_value, conditional, crc32c, gzip, n5_default, numcodecs, packbits, padding, reshape,
    scale_offset, sharding, squeeze, transpose, zfp, zstd,
};
use crate::error::Result;
use crate::interface::{Codec, Context, Registry};
use crate::json::Configuration;
use std::sync::{Arc, LazyLock};

type Parse = fn(Configuration, &Context) -> Result<Arc<dyn Codec>>;

/// Every codec, in alphabetical order.
const CODECS: &[(&str, Parse)] = &[
    ("bitround", bitround::parse),
    #[cfg(feature = "blosc")]
    ("blosc", blosc::parse),
    ("bytes", bytes::parse),
    ("cast_value", cast_value::parse),
    ("conditional", conditional::parse),
    ("crc32c", crc32c::parse),
    ("gzip", gzip::parse),
    ("n5_default", n5_default::parse),
    ("numcodecs.adler32", numcodecs::checksums::parse_adler32),
    ("numcodecs.astype", numcodecs::astype::parse),
    ("numcodecs.bitround", bitround::parse_numcodecs),
    #[cfg(feature = "blosc")]
    ("numcodecs.blosc", blosc::parse_numcodecs),
    #[cfg(feature = "bz2")]
    ("numcodecs.bz2", numcodecs::bz2::parse),
    ("numcodecs.crc32", numcodecs::checksums::parse_crc32),
    ("numcodecs.crc32c", numcodecs::checksums::parse_crc32c),
    ("numcodecs.delta", numcodecs::delta::parse),
    ("numcodecs.fixedscaleoffset", numcodecs::fixedscaleoffset::parse),
    ("numcodecs.fletcher32", numcodecs::fletcher32::parse),
    ("numcodecs.gzip", gzip::parse_numcodecs),
    ("numcodecs.jenkins_lookup3", numcodecs::jenkins::parse),
    #[cfg(feature = "lz4")]
    ("numcodecs.lz4", numcodecs::lz4::parse),
    #[cfg(feature = "lzma")]
    ("numcodecs.lzma", numcodecs::lzma::parse),
    ("numcodecs.packbits", numcodecs::packbits::parse),
    #[cfg(feature = "pcodec")]
    ("numcodecs.pcodec", numcodecs::pcodec::parse),
    ("numcodecs.quantize", numcodecs::quantize::parse),
    ("numcodecs.shuffle", numcodecs::shuffle::parse),
    ("numcodecs.zfpy", zfp::zfpy::parse),
    ("numcodecs.zlib", gzip::zlib::parse),
    ("numcodecs.zstd", zstd::parse_numcodecs),
    ("offset", padding::parse_offset),
    ("packbits", packbits::parse),
    ("pad", padding::parse_pad),
    ("reshape", reshape::parse),
    ("scale_offset", scale_offset::parse),
    ("sharding_indexed", sharding::parse),
    ("transpose", transpose::parse),
    ("zarrs.squeeze", squeeze::parse),
    ("zfp", zfp::parse),
    ("zstd", zstd::parse),
];

/// Other names of a codec; canonical metadata has the codec's own.
const ALIASES: &[(&str, &str)] = &[
    // Drafts of the specification of Zarr v3.
    ("endian", "bytes"),
    // zcodec 0.1.
    ("squeeze", "zarrs.squeeze"),
];

static BUILT_IN: LazyLock<Arc<Registry>> = LazyLock::new(|| {
    let mut registry = Registry::default();
    let codecs = CODECS.iter().try_for_each(|(name, parse)| match name.strip_prefix("numcodecs.") {
        None => registry.add(name, parse),
        Some(id) => registry.add(name, move |mut configuration, context| {
            numcodecs::take_id(id, &mut configuration)?;
            parse(configuration, context)
        }),
    });
    let all = codecs.and_then(|()| ALIASES.iter().try_for_each(|(alias, name)| registry.add_alias(alias, name)));
    debug_assert_eq!(all, Ok(()), "a name stands twice in the tables");
    Arc::new(registry)
});

/// The registry of this library's own codecs.
pub fn built_in() -> Arc<Registry> {
    Arc::clone(&BUILT_IN)
}
