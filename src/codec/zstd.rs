//! `zstd`: Zstandard frames. Zarr v3 extension `zstd`; RFC 8878.
//!
//! libzstd does the work, with contexts that are kept from call to call. It decodes several frames one after the
//! other, skippable frames, and frames without a content size; into a buffer of the size that the metadata says, so
//! that a frame's claims allocate nothing.

use crate::error::{Error, Result};
use crate::interface::{Bound, Call, Codec, Context, Kind, Transform, too_small};
use crate::json::{Configuration, boolean, integer};
use crate::representation::Representation;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, ErrorCode};

/// Levels as libzstd 1.5 has them; they are part of no format, but of the codec's schema.
const LEVELS: std::ops::RangeInclusive<i128> = -131_072..=22;

/// libzstd's own choice.
const DEFAULT_LEVEL: i32 = 3;

#[derive(Debug, Clone, Copy)]
struct Zstd {
    level: i32,
    checksum: bool,
}

/// `{"level": n, "checksum": true | false}`
pub(super) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let level = match configuration.optional("level") {
        None => DEFAULT_LEVEL,
        Some(value) => integer("level", &value, *LEVELS.start(), *LEVELS.end())? as i32,
    };
    let checksum = match configuration.optional("checksum") {
        None => false,
        Some(value) => boolean("checksum", &value)?,
    };
    configuration.finish()?;
    Ok(Arc::new(Zstd { level, checksum }))
}

impl Codec for Zstd {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("level".to_owned(), json!(self.level)), ("checksum".to_owned(), json!(self.checksum))]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Bound> {
        Ok(Bound::compressor(decoded, Arc::new(*self)))
    }
}

/// The context that every zstd codec of a chain compresses with: each call sets its own parameters.
struct Compressor(CCtx<'static>);

/// The context that every zstd codec of a chain decompresses with.
struct Decompressor(DCtx<'static>);

impl Transform for Zstd {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let Compressor(context) =
            call.contexts.get(|| CCtx::try_create().map(Compressor).ok_or_else(Error::out_of_memory))?;
        for parameter in [CParameter::CompressionLevel(self.level), CParameter::ChecksumFlag(self.checksum)] {
            context.set_parameter(parameter).map_err(|code| Error::internal(zstd_safe::get_error_name(code)))?;
        }
        context.compress2(encoded, decoded).map_err(error)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        if encoded.is_empty() {
            return Err(Error::corrupt("there is no zstd frame: the chunk has no bytes"));
        }
        let Decompressor(context) =
            call.contexts.get(|| DCtx::try_create().map(Decompressor).ok_or_else(Error::out_of_memory))?;
        context.decompress(decoded, encoded).map_err(error)
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        // The bound is the size, 1/256 of it and a little more: libzstd's own arithmetic must not overflow.
        let size = usize::try_from(decoded_size).ok().filter(|size| *size < isize::MAX as usize / 2)?;
        Some(zstd_safe::compress_bound(size) as u64)
    }
}

fn error(code: ErrorCode) -> Error {
    const fn code_of(error: ZSTD_ErrorCode) -> usize {
        0_usize.wrapping_sub(error as usize)
    }
    const TOO_SMALL: usize = code_of(ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall);
    const NO_MEMORY: usize = code_of(ZSTD_ErrorCode::ZSTD_error_memory_allocation);
    match code {
        TOO_SMALL => too_small(),
        NO_MEMORY => Error::out_of_memory(),
        _ => Error::corrupt(format!("no valid zstd frame: {}", zstd_safe::get_error_name(code))),
    }
}
