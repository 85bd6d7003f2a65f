//! libzstd, on slices.

use super::Zstd;
use super::frames::{Frames, frames};
use crate::error::{Error, Result, Status};
use crate::interface::too_small;
use crate::memory::{self, grow};
use std::ops::RangeInclusive;
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, DParameter, ErrorCode, InBuffer, OutBuffer, ResetDirective};

/// A window of this size is used to find the decoded size of a frame that does not state it (RFC 8878 recommends that
/// decoders support at least 8 MiB).
const MAX_COUNTING_WINDOW_LOG: u32 = 23;

/// From this level on, and for streams of these sizes, libzstd takes less time with a new context than with one that was
/// used before.
const NEW_CONTEXT_LEVEL: i32 = 5;
const NEW_CONTEXT_SIZES: RangeInclusive<usize> = 64 << 10..=1 << 20;

/// A compression context, which is kept from stream to stream where that takes less time than making a new one.
#[derive(Default)]
pub struct KeptCompressor(Option<CCtx<'static>>);

/// The contexts that zstd codecs keep from call to call. Any level can use them, because parameters are set in each
/// call. Each part is made when it is first needed, as most callers only read or only write.
#[derive(Default)]
pub(super) struct Contexts {
    compressor: KeptCompressor,
    decompressor: Option<DCtx<'static>>,
    scratch: Vec<u8>,
}

/// The most that this many bytes are encoded to; `None` if no memory can hold it.
pub(super) fn encoded_bound(decoded_size: usize) -> Option<usize> {
    // The bound is the size and 1/256 of it and a little more.
    decoded_size.checked_mul(2).filter(|size| isize::try_from(*size).is_ok())?;
    Some(zstd_safe::compress_bound(decoded_size))
}

impl KeptCompressor {
    /// A context for a stream of this many bytes. It may have the parameters of the one before.
    pub fn get(&mut self, level: i32, size: usize) -> Result<&mut CCtx<'static>> {
        if level >= NEW_CONTEXT_LEVEL && NEW_CONTEXT_SIZES.contains(&size) {
            self.0 = None;
        }
        memory::get_or_make(&mut self.0, || CCtx::try_create().ok_or_else(Error::out_of_memory))
    }
}

impl Contexts {
    /// Makes one frame. The frame does not depend on the capacity.
    pub(super) fn encode(&mut self, codec: Zstd, decoded: &[u8], encoded: &mut [u8]) -> Result<usize> {
        let level = codec.real_level();
        let compressor = self.compressor.get(level, decoded.len())?;
        for parameter in [CParameter::CompressionLevel(level), CParameter::ChecksumFlag(codec.checksum)] {
            compressor.set_parameter(parameter).map_err(|code| Error::internal(zstd_safe::get_error_name(code)))?;
        }
        let bound = encoded_bound(decoded.len()).ok_or_else(Error::out_of_memory)?;
        if encoded.len() >= bound {
            return compressor.compress2(encoded, decoded).map_err(error);
        }
        // libzstd compresses otherwise if its output could be too small, even if it is not.
        grow(&mut self.scratch, bound)?;
        let scratch = &mut self.scratch[..bound];
        let size = compressor.compress2(scratch, decoded).map_err(error)?;
        encoded.get_mut(..size).ok_or_else(too_small)?.copy_from_slice(&scratch[..size]);
        Ok(size)
    }

    /// Decodes all frames. BUFFER_TOO_SMALL names a capacity that is enough, see [`Self::decoded_capacity`].
    pub(super) fn decode(&mut self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize> {
        match self.decode_fitting(encoded, decoded) {
            Err(fault) if fault.status() == Status::BufferTooSmall => {
                Err(match usize::try_from(self.decoded_capacity(encoded)?) {
                    Ok(needed) => Error::buffer_too_small("decoded_capacity", decoded.len(), needed as u64),
                    Err(_) => Error::out_of_memory(),
                })
            }
            result => result,
        }
    }

    /// The same; BUFFER_TOO_SMALL names no capacity.
    pub(super) fn decode_fitting(&mut self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize> {
        if encoded.is_empty() {
            return Err(Error::corrupt("not a zstd frame: the chunk has no bytes"));
        }
        // Whether a frame is valid must not depend on the capacity, so this comes first.
        let Frames { size_limit, .. } = frames(encoded)?;
        match self.decompressor()?.decompress(decoded, encoded) {
            // libzstd says that of damaged blocks at any capacity.
            Err(TOO_SMALL) if size_limit <= decoded.len() as u64 => {
                Err(Error::corrupt("not a valid zstd frame: a block decodes to more than its frame can hold"))
            }
            result => result.map_err(error),
        }
    }

    /// A capacity that suffices for decoding all frames, if they can be decoded: their decoded size, as they state it
    /// or as is found by decoding them piece by piece, with windows of 8 MiB at most. For frames of larger windows that
    /// do not state it, [`Frames::size_limit`].
    fn decoded_capacity(&mut self, encoded: &[u8]) -> Result<u64> {
        match frames(encoded)? {
            Frames { stated_size: Some(size), .. } => Ok(size),
            Frames { window_size, size_limit, .. } if window_size > 1 << MAX_COUNTING_WINDOW_LOG => Ok(size_limit),
            Frames { .. } => self.count(encoded),
        }
    }

    /// How many bytes all frames decode to.
    fn count(&mut self, encoded: &[u8]) -> Result<u64> {
        grow(&mut self.scratch, DCtx::out_size())?;
        self.decompressor()?;
        let Self { decompressor: Some(decompressor), scratch, .. } = self else { return Err(Error::internal("zstd")) };
        decompressor.reset(ResetDirective::SessionAndParameters).map_err(error)?;
        decompressor.set_parameter(DParameter::WindowLogMax(MAX_COUNTING_WINDOW_LOG)).map_err(error)?;
        let mut input = InBuffer::around(encoded);
        let mut count = 0_u64;
        loop {
            let mut output = OutBuffer::around(&mut scratch[..]);
            // The number of bytes that it needs next; 0 at the end of a frame.
            let wanted = decompressor.decompress_stream(&mut output, &mut input).map_err(error)?;
            let written = output.pos();
            count = count.saturating_add(written as u64);
            let is_all_read = input.pos() == encoded.len();
            match (wanted, is_all_read) {
                (0, true) => break,
                (_, true) if written == 0 => return Err(Error::corrupt("a zstd frame is truncated")),
                _ => {}
            }
        }
        decompressor.reset(ResetDirective::SessionAndParameters).map_err(error)?;
        Ok(count)
    }

    fn decompressor(&mut self) -> Result<&mut DCtx<'static>> {
        memory::get_or_make(&mut self.decompressor, || DCtx::try_create().ok_or_else(Error::out_of_memory))
    }
}

const fn code_of(error: ZSTD_ErrorCode) -> usize {
    0_usize.wrapping_sub(error as usize)
}
const TOO_SMALL: usize = code_of(ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall);
const NO_MEMORY: usize = code_of(ZSTD_ErrorCode::ZSTD_error_memory_allocation);

fn error(code: ErrorCode) -> Error {
    match code {
        TOO_SMALL => too_small(),
        NO_MEMORY => Error::out_of_memory(),
        _ => Error::corrupt(format!("not a valid zstd frame: {}", zstd_safe::get_error_name(code))),
    }
}

#[cfg(test)]
mod tests;
