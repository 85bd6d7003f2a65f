//! Encodes bytes to frames. Block sizes and splitting are those of the C library, so that the sizes of frames are
//! similar.

use super::compressor::{Compressor, Compressors};
use super::frame::{self, Filter, HEADER_SIZE, MAX_BLOCK_SIZE, MAX_DECODED_SIZE, SIZE_SIZE, flag};
use crate::codec::shuffle::Shuffle;
use crate::error::{Error, Result};
use crate::interface::too_small;
use crate::memory::{LINE_SIZE, copy, from_line, grow};

/// Smaller chunks are stored, and no block that the configuration asks for is smaller.
const MIN_SIZE: usize = 128;

/// How to make a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The compressor of the streams.
    pub compressor: Compressor,
    /// From 0, which stores, to 9.
    pub level: u8,
    /// How elements are moved before.
    pub filter: Filter,
    /// The size of an element in bytes: 1 to 255.
    pub element_size: u8,
    /// The size of a block in bytes; 0 lets this library choose.
    pub block_size: usize,
}

/// Encodes frames. It keeps contexts and scratch memory for the next one, but nothing that its result depends on.
#[derive(Debug, Default)]
pub struct Encoder {
    compressors: Compressors,
    /// A block after its filter, and a tile of the filter.
    filtered: Vec<u8>,
    /// A stream before it is known to fit.
    stream: Vec<u8>,
}

/// A capacity that is enough for this many bytes; `None` if no frame can hold them.
pub fn encoded_bound(decoded_size: usize) -> Option<usize> {
    (decoded_size <= MAX_DECODED_SIZE).then_some(decoded_size + HEADER_SIZE)
}

/// Refuses a chunk that no frame can hold.
pub(super) fn check_size(decoded_size: usize) -> Result<usize> {
    encoded_bound(decoded_size).ok_or_else(|| {
        Error::unsupported(format!(
            "a blosc frame holds at most {MAX_DECODED_SIZE} bytes, but this chunk has {decoded_size}"
        ))
    })
}

impl Encoder {
    /// Encodes a frame into the beginning of `encoded`; returns its size.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`](crate::Status::BufferTooSmall) if it does not fit,
    /// [`Status::Unsupported`](crate::Status::Unsupported) if no frame can hold as many bytes.
    pub fn encode(&mut self, settings: &Settings, decoded: &[u8], encoded: &mut [u8]) -> Result<usize> {
        let stored_size = check_size(decoded.len())?;
        let block_size = block_size(settings, decoded.len());
        // A frame that is not smaller than a stored one is not worth decoding.
        let room_size = encoded.len().min(stored_size - 1);
        let mut size = None;
        if settings.level > 0 && decoded.len() >= MIN_SIZE {
            size = self.encode_blocks(settings, block_size, decoded, &mut encoded[..room_size])?;
        }
        let is_stored = size.is_none();
        if is_stored {
            let target = encoded.get_mut(HEADER_SIZE..stored_size);
            copy(decoded, target.ok_or_else(too_small)?);
        }
        let size = size.unwrap_or(stored_size);
        let sizes = [decoded.len(), block_size, size];
        encoded[..HEADER_SIZE].copy_from_slice(&header(settings, is_stored, sizes));
        Ok(size)
    }

    /// The size of the frame; `None` if there is not enough room, or nothing to compress.
    fn encode_blocks(
        &mut self,
        settings: &Settings,
        block_size: usize,
        decoded: &[u8],
        encoded: &mut [u8],
    ) -> Result<Option<usize>> {
        let Self { compressors, filtered, stream: scratch } = self;
        let is_split = is_split(settings, block_size);
        // A smaller last block is not split.
        let is_block_split = |block: &[u8]| is_split && block.len() == block_size;
        let blocks = decoded.chunks(block_size);
        let data_start = HEADER_SIZE + blocks.len() * SIZE_SIZE;
        // The block of the first stream that is compressed, and its number there. Those before it are stored at the
        // end: where there is none, the whole frame is stored.
        let mut first = None;
        let mut end = data_start;
        for (index, block) in blocks.enumerate() {
            let start = HEADER_SIZE + index * SIZE_SIZE;
            let (Some(target), Ok(offset)) = (encoded.get_mut(start..start + SIZE_SIZE), u32::try_from(end)) else {
                return Ok(None);
            };
            target.copy_from_slice(&offset.to_le_bytes());
            let filtered = filter(settings, block, filtered)?;
            for (number, stream) in streams(settings, is_block_split(block), filtered).enumerate() {
                let Some((size_field, room)) = encoded.get_mut(end..).and_then(<[u8]>::split_first_chunk_mut) else {
                    return Ok(None);
                };
                let compressed = compress_stream(compressors, settings, is_split, stream, room, scratch)?;
                let size = compressed.unwrap_or(stream.len());
                let Some(target) = room.get_mut(..size) else { return Ok(None) };
                *size_field = (size as u32).to_le_bytes();
                end += SIZE_SIZE + size;
                if compressed.is_some() {
                    first = first.or(Some((index, number)));
                } else if first.is_some() {
                    copy(stream, target);
                }
            }
        }
        let Some((last_block, stream_count)) = first else { return Ok(None) };
        let mut start = data_start;
        for (index, block) in decoded.chunks(block_size).take(last_block + 1).enumerate() {
            let filtered = filter(settings, block, filtered)?;
            let count = if index < last_block { usize::MAX } else { stream_count };
            for stream in streams(settings, is_block_split(block), filtered).take(count) {
                start += SIZE_SIZE;
                copy(stream, &mut encoded[start..start + stream.len()]);
                start += stream.len();
            }
        }
        Ok(Some(end))
    }
}

/// What is compressed by itself: a block, or if it is split the first bytes of all elements, the second, and so on.
fn streams<'a>(settings: &Settings, is_split: bool, block: &'a [u8]) -> std::slice::Chunks<'a, u8> {
    let count = if is_split { usize::from(settings.element_size) } else { 1 };
    block.chunks(block.len() / count)
}

/// The size of a compressed stream; `None` if it is to be stored, or there is not enough room.
///
/// A compressor always gets the same room for a stream, so that the frame does not depend on the capacity.
fn compress_stream(
    compressors: &mut Compressors,
    settings: &Settings,
    is_split: bool,
    stream: &[u8],
    room: &mut [u8],
    scratch: &mut Vec<u8>,
) -> Result<Option<usize>> {
    // A stream of its decoded size is a stored one.
    let most = stream.len().saturating_sub(1);
    let compressor = (settings.compressor, settings.level);
    if let Some(target) = room.get_mut(..most) {
        return compressors.compress(compressor, is_split, stream, target);
    }
    grow(scratch, most)?;
    let size = compressors.compress(compressor, is_split, stream, &mut scratch[..most])?;
    let target = size.and_then(|size| room.get_mut(..size));
    Ok(target.map(|target| {
        copy(&scratch[..target.len()], target);
        target.len()
    }))
}

/// A block with its elements moved, in scratch memory.
fn filter<'a>(settings: &Settings, block: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    let shuffle = Shuffle::new(settings.element_size);
    let tile_size = match settings.filter {
        Filter::Shuffle if settings.element_size > 1 => 0,
        Filter::Bitshuffle => shuffle.tile_size(),
        _ => return Ok(block),
    };
    grow(scratch, LINE_SIZE + block.len() + tile_size)?;
    let (filtered, tile) = from_line(scratch).split_at_mut(block.len());
    if settings.filter == Filter::Bitshuffle {
        shuffle.bitshuffle(block, filtered, tile);
    } else {
        shuffle.shuffle(block, filtered);
    }
    Ok(filtered)
}

fn header(settings: &Settings, is_stored: bool, sizes: [usize; 3]) -> [u8; HEADER_SIZE] {
    let mut flags = settings.compressor.format().code() << 5;
    flags |= match settings.filter {
        Filter::None => 0,
        Filter::Shuffle => flag::SHUFFLE,
        Filter::Bitshuffle => flag::BITSHUFFLE,
    };
    flags |= if is_stored { flag::STORED } else { 0 };
    flags |= if is_split(settings, sizes[1]) { 0 } else { flag::NOT_SPLIT };
    let mut header = [0; HEADER_SIZE];
    header[..4].copy_from_slice(&[frame::VERSION, frame::COMPRESSOR_VERSION, flags, settings.element_size]);
    for (target, size) in header[4..].chunks_exact_mut(SIZE_SIZE).zip(sizes) {
        target.copy_from_slice(&(size as u32).to_le_bytes());
    }
    header
}

/// Readers from before the flag existed would split the blocks of every compressor but zstd, which is younger.
fn is_split(settings: &Settings, block_size: usize) -> bool {
    settings.compressor != Compressor::Zstd && frame::can_split(usize::from(settings.element_size), block_size)
}

/// The size of all blocks but the last.
fn block_size(settings: &Settings, decoded_size: usize) -> usize {
    let element_size = usize::from(settings.element_size);
    if decoded_size < element_size {
        return 1;
    }
    let mut size = match settings.block_size {
        0 if decoded_size < MIN_AUTOMATIC_SIZE => decoded_size,
        0 => automatic_block_size(settings.compressor, settings.level),
        size => size.clamp(MIN_SIZE, MAX_BLOCK_SIZE),
    };
    if settings.level > 0 && is_split(settings, size) {
        size = (size.min(256 << 10) * element_size).clamp(64 << 10, 1 << 20);
    }
    size = size.min(decoded_size);
    if size > element_size { size / element_size * element_size } else { size }
}

/// Smaller chunks are one block.
const MIN_AUTOMATIC_SIZE: usize = 32 << 10;

fn automatic_block_size(compressor: Compressor, level: u8) -> usize {
    let size: usize = match level {
        0 => 8 << 10,
        1 => 16 << 10,
        2 => 32 << 10,
        3 => 64 << 10,
        4 | 5 => 128 << 10,
        _ => 256 << 10,
    };
    match (compressor.is_slow(), level) {
        (true, 9..) => 4 * size,
        (true, _) => 2 * size,
        (false, _) => size,
    }
}
