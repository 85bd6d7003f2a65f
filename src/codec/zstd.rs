//! `zstd`: Zstandard frames. Zarr v3 extension `zstd`; RFC 8878.
//!
//! libzstd does the work, with contexts that are kept from call to call. It decodes several frames one after the
//! other, skippable frames, and frames without a content size; into a buffer of the size that the metadata says, so
//! that a frame's claims allocate nothing.

use super::configuration::{boolean, integer};
use super::{BoundBytesToBytes, BytesToBytesCodec, Codec, Configuration, Transform, TransformCall, too_small};
use crate::chain::ByteSize;
use crate::error::{Error, Result};
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
pub(super) fn parse(mut configuration: Configuration) -> Result<Codec> {
    let level = match configuration.optional("level") {
        None => DEFAULT_LEVEL,
        Some(value) => integer("level", &value, *LEVELS.start(), *LEVELS.end())? as i32,
    };
    let checksum = match configuration.optional("checksum") {
        None => false,
        Some(value) => boolean("checksum", &value)?,
    };
    configuration.finish()?;
    Ok(Codec::BytesToBytes(Arc::new(Zstd { level, checksum })))
}

impl BytesToBytesCodec for Zstd {
    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("level".to_owned(), json!(self.level)), ("checksum".to_owned(), json!(self.checksum))]))
    }

    fn bind(&self, decoded: ByteSize) -> Result<BoundBytesToBytes> {
        let encoded = match decoded.bound().and_then(|size| self.encoded_bound(size)) {
            Some(bound) => ByteSize::Bound(bound),
            None => ByteSize::Unknown,
        };
        Ok(BoundBytesToBytes::Transform { transform: Arc::new(*self), encoded })
    }
}

/// Both are made when first needed: most callers only read, or only write.
#[derive(Default)]
struct State {
    compressor: Option<CCtx<'static>>,
    decompressor: Option<DCtx<'static>>,
}

impl Zstd {
    fn compressor(&self) -> Result<CCtx<'static>> {
        let mut context = CCtx::try_create().ok_or_else(Error::out_of_memory)?;
        for parameter in [CParameter::CompressionLevel(self.level), CParameter::ChecksumFlag(self.checksum)] {
            context.set_parameter(parameter).map_err(|code| Error::internal(zstd_safe::get_error_name(code)))?;
        }
        Ok(context)
    }
}

impl Transform for Zstd {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize> {
        let state = call.state(|| Ok(State::default()))?;
        let compressor = match &mut state.compressor {
            Some(compressor) => compressor,
            none => none.insert(self.compressor()?),
        };
        compressor.compress2(encoded, decoded).map_err(error)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize> {
        if encoded.is_empty() {
            return Err(Error::corrupt("there is no zstd frame: the chunk has no bytes"));
        }
        let state = call.state(|| Ok(State::default()))?;
        let decompressor = match &mut state.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(DCtx::try_create().ok_or_else(Error::out_of_memory)?),
        };
        decompressor.decompress(decoded, encoded).map_err(error)
    }

    fn encoded_bound(&self, decoded_size: usize) -> Option<usize> {
        // The bound is the size and 1/256 of it and a little more.
        decoded_size.checked_mul(2).filter(|size| isize::try_from(*size).is_ok())?;
        Some(zstd_safe::compress_bound(decoded_size))
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
