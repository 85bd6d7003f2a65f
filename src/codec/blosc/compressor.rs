//! The compressors of a frame's streams, as functions on slices. Contexts and tables are kept from stream to stream.

use super::blosclz;
use super::frame::COMPRESSOR_VERSION;
use crate::codec::gzip::libdeflate::{self, Compressor as Deflate, Container};
use crate::codec::lz::{lz4, matches::MatchTable};
use crate::codec::zstd::KeptCompressor;
use crate::error::{Error, Result};
use crate::memory;
use zstd::zstd_safe::{self, DCtx};

/// The compressor of a writer: a `cname`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressor {
    /// Blosc's own variant of FastLZ.
    BloscLz,
    /// LZ4.
    Lz4,
    /// High-compression LZ4; written as LZ4.
    Lz4Hc,
    /// Snappy.
    Snappy,
    /// DEFLATE in zlib's wrapping.
    Zlib,
    /// Zstandard.
    Zstd,
}

/// The format of the streams, as a frame states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
    Unknown(u8),
}

impl Compressor {
    /// Every one, in the order of [`NAMES`](Self::NAMES).
    pub(super) const ALL: [Self; 6] = [Self::BloscLz, Self::Lz4, Self::Lz4Hc, Self::Snappy, Self::Zlib, Self::Zstd];
    /// Their `cname`s.
    pub const NAMES: [&'static str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

    /// Its `cname`.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub(super) fn format(self) -> Format {
        match self {
            Self::BloscLz => Format::BloscLz,
            Self::Lz4 | Self::Lz4Hc => Format::Lz4,
            Self::Snappy => Format::Snappy,
            Self::Zlib => Format::Zlib,
            Self::Zstd => Format::Zstd,
        }
    }

    /// Refuses a compressor that this build lacks.
    pub(super) fn check_supported(self) -> Result<()> {
        self.format().check_supported()
    }

    /// Whether it is a slow one: the C library gives those larger blocks.
    pub(super) fn is_slow(self) -> bool {
        matches!(self, Self::Lz4Hc | Self::Zlib | Self::Zstd)
    }
}

impl Format {
    pub(super) fn new(code: u8) -> Self {
        match code {
            0 => Self::BloscLz,
            1 => Self::Lz4,
            2 => Self::Snappy,
            3 => Self::Zlib,
            4 => Self::Zstd,
            other => Self::Unknown(other),
        }
    }

    pub(super) fn code(self) -> u8 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 => 1,
            Self::Snappy => 2,
            Self::Zlib => 3,
            Self::Zstd => 4,
            Self::Unknown(code) => code,
        }
    }

    /// Refuses a format that this build cannot decode.
    pub(super) fn check(self, version: u8) -> Result<()> {
        if let Self::Unknown(code) = self {
            return Err(Error::corrupt(format!("the blosc frame has compressor {code}, expected 0 to 4")));
        }
        if version != COMPRESSOR_VERSION {
            return Err(Error::corrupt(format!(
                "the blosc frame has version {version} of its compressor's format, expected {COMPRESSOR_VERSION}"
            )));
        }
        self.check_supported()
    }

    /// Refuses a compressor that this build is without.
    pub(super) fn check_supported(self) -> Result<()> {
        let is_supported = match self {
            Self::Snappy => cfg!(feature = "snappy"),
            _ => true,
        };
        if is_supported {
            return Ok(());
        }
        Err(Error::unsupported(format!("this zcodec was built without {}", self.name())))
    }

    fn name(self) -> &'static str {
        match self {
            Self::BloscLz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
            Self::Unknown(_) => "unknown",
        }
    }

    /// More than this many encoded bytes can decode to.
    pub(super) fn most_decoded(self, encoded_size: usize) -> usize {
        let ratio = match self {
            // A byte of 255 lengthens a match by as many.
            Self::BloscLz | Self::Lz4 => 255,
            // Three bytes copy 64.
            Self::Snappy => 22,
            // Two bits of DEFLATE repeat 258 bytes.
            Self::Zlib => 1032,
            // Four bytes are a block of 128 KiB.
            Self::Zstd | Self::Unknown(_) => 32 << 10,
        };
        encoded_size.saturating_mul(ratio)
    }
}

/// The most bytes of a stream: Blosc stores what a compressor makes longer, except that Snappy may add 32 bytes and a
/// sixth. Most of a longer stream might decode to nothing, and each block of a frame might name the same one.
fn longest_stream(decoded_size: usize) -> usize {
    decoded_size + decoded_size / 6 + 64
}

/// The levels of libdeflate that compress as much as those of zlib.
const ZLIB_LEVELS: [u8; 10] = [0, 5, 5, 6, 6, 6, 7, 8, 9, 9];

/// The contexts that decompressors keep from stream to stream. They do not depend on earlier streams.
#[derive(Default)]
pub(super) struct Decompressors {
    zlib: Option<libdeflate::Decompressor>,
    zstd: Option<DCtx<'static>>,
}

impl std::fmt::Debug for Decompressors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressors").field("zlib", &self.zlib).finish_non_exhaustive()
    }
}

impl Decompressors {
    /// Decompresses a stream that must fill `decoded`.
    pub(super) fn decompress(&mut self, format: Format, stream: &[u8], decoded: &mut [u8]) -> Result<()> {
        let is_valid = match format {
            _ if stream.len() > longest_stream(decoded.len()) => false,
            Format::BloscLz => blosclz::decompress(stream, decoded).is_some(),
            Format::Lz4 => lz4::decompress(stream, decoded).is_some(),
            Format::Snappy => decompress_snappy(stream, decoded)?,
            Format::Zlib => {
                let zlib = memory::get_or_make(&mut self.zlib, libdeflate::Decompressor::new)?;
                let member = zlib.decompress(Container::Zlib, stream, decoded);
                member.is_ok_and(|member| member.decoded_size == decoded.len())
            }
            Format::Zstd => {
                let zstd = memory::get_or_make(&mut self.zstd, || DCtx::try_create().ok_or_else(Error::out_of_memory))?;
                zstd.decompress(decoded, stream) == Ok(decoded.len())
            }
            Format::Unknown(_) => false,
        };
        if is_valid {
            return Ok(());
        }
        let (encoded_size, decoded_size) = (stream.len(), decoded.len());
        Err(Error::corrupt(format!(
            "a stream of {encoded_size} bytes in the blosc frame is not a {} stream of {decoded_size} decoded bytes",
            format.name()
        )))
    }
}

#[cfg(feature = "snappy")]
fn decompress_snappy(stream: &[u8], decoded: &mut [u8]) -> Result<bool> {
    // The decoder would also fill the beginning of a longer output.
    let is_full = snap::raw::decompress_len(stream).is_ok_and(|size| size == decoded.len());
    Ok(is_full && snap::raw::Decoder::new().decompress(stream, decoded).is_ok())
}

#[cfg(not(feature = "snappy"))]
fn decompress_snappy(_: &[u8], _: &mut [u8]) -> Result<bool> {
    Format::Snappy.check_supported().map(|()| false)
}

/// The contexts that compressors keep from stream to stream. They do not depend on earlier streams.
#[derive(Default)]
pub(super) struct Compressors {
    /// Of blosclz and lz4.
    table: Option<MatchTable>,
    #[cfg(feature = "snappy")]
    snappy: Option<snap::raw::Encoder>,
    /// A compressor of zlib has one level for life.
    zlib: Option<(u8, Deflate)>,
    zstd: KeptCompressor,
    /// A buffer for Snappy, which needs more room than the output has.
    #[cfg(feature = "snappy")]
    room: Vec<u8>,
}

impl std::fmt::Debug for Compressors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressors").field("zlib", &self.zlib).finish_non_exhaustive()
    }
}

impl Compressors {
    /// Compresses to the beginning of `encoded`; `None` if it does not fit. `is_split`: whole blocks of the frame are
    /// split, on which the result of blosclz depends.
    pub(super) fn compress(
        &mut self,
        (compressor, level): (Compressor, u8),
        is_split: bool,
        decoded: &[u8],
        encoded: &mut [u8],
    ) -> Result<Option<usize>> {
        match compressor {
            Compressor::BloscLz => Ok(blosclz::compress(self.table()?, level, is_split, decoded, encoded)),
            Compressor::Lz4 => {
                // As the C library maps Blosc's levels.
                let acceleration = 10_usize.saturating_sub(usize::from(level)).max(1);
                Ok(lz4::compress(self.table()?, acceleration, decoded, encoded))
            }
            Compressor::Lz4Hc => Ok(lz4::compress(self.table()?, 1, decoded, encoded)),
            Compressor::Snappy => self.compress_snappy(decoded, encoded),
            Compressor::Zlib => {
                let level = ZLIB_LEVELS[usize::from(level).min(9)];
                let zlib = match &mut self.zlib {
                    Some((kept, zlib)) if *kept == level => zlib,
                    other => &mut other.insert((level, Deflate::new(i32::from(level))?)).1,
                };
                Ok(zlib.compress(Container::Zlib, decoded, encoded))
            }
            Compressor::Zstd => {
                // As the C library maps Blosc's levels, of which 0 stores.
                let level = if level < 9 { 2 * i32::from(level) - 1 } else { zstd_safe::max_c_level() };
                let zstd = self.zstd.get(level, decoded.len())?;
                Ok(zstd.compress(encoded, decoded, level).ok())
            }
        }
    }

    fn table(&mut self) -> Result<&mut MatchTable> {
        memory::get_or_make(&mut self.table, MatchTable::new)
    }

    #[cfg(feature = "snappy")]
    fn compress_snappy(&mut self, decoded: &[u8], encoded: &mut [u8]) -> Result<Option<usize>> {
        let room_size = snap::raw::max_compress_len(decoded.len());
        let snappy = self.snappy.get_or_insert_with(snap::raw::Encoder::new);
        if encoded.len() >= room_size {
            return Ok(snappy.compress(decoded, encoded).ok());
        }
        memory::grow(&mut self.room, room_size)?;
        let size = snappy.compress(decoded, &mut self.room).ok().filter(|size| *size <= encoded.len());
        if let Some(size) = size {
            memory::copy(&self.room[..size], &mut encoded[..size]);
        }
        Ok(size)
    }

    #[cfg(not(feature = "snappy"))]
    fn compress_snappy(&mut self, _: &[u8], _: &mut [u8]) -> Result<Option<usize>> {
        Format::Snappy.check_supported().map(|()| None)
    }
}
