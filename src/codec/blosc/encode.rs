//! Encodes bytes to frames. Block sizes and splitting are those of the C library, so that the sizes of frames are
//! similar.

use super::chunk::{BlockReader, Chunk};
use super::compressor::{Compressor, Compressors};
use super::frame::{self, Filter, HEADER_SIZE, MAX_BLOCK_SIZE, MAX_DECODED_SIZE, SIZE_SIZE, flag};
use crate::codec::shuffle::Shuffle;
use crate::error::{Error, Result};
use crate::interface::{Slabs, too_small};
use crate::memory::{LINE_SIZE, copy, from_line, grow};
use crate::parallel::Workers;
use std::num::NonZeroUsize;
use std::ops::Range;

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
    /// The slabs that a block touches.
    slabs: Vec<u8>,
}

/// Refuses a chunk that no frame can hold.
pub(super) fn check_size(decoded_size: u64) -> Result<()> {
    if decoded_size <= MAX_DECODED_SIZE as u64 {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "a blosc frame holds at most {MAX_DECODED_SIZE} bytes, but this chunk has {decoded_size}"
    )))
}

impl Encoder {
    /// Encodes a frame into the beginning of `encoded`; returns its size.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`](crate::Status::BufferTooSmall) if it does not fit,
    /// [`Status::Unsupported`](crate::Status::Unsupported) if no frame can hold as many bytes.
    #[cfg(any(test, feature = "internals"))]
    pub fn encode(&mut self, settings: &Settings, decoded: &[u8], encoded: &mut [u8]) -> Result<usize> {
        let one = NonZeroUsize::MIN;
        self.encode_by((Workers::new(one, None), one), settings, Chunk::Memory(decoded), encoded)
    }

    /// The same by up to `count` workers. The frame does not depend on their number.
    pub(super) fn encode_by(
        &mut self,
        workers: (Workers<'_>, NonZeroUsize),
        settings: &Settings,
        chunk: Chunk<'_>,
        encoded: &mut [u8],
    ) -> Result<usize> {
        let decoded_size = chunk.size();
        check_size(decoded_size as u64)?;
        let stored_size = decoded_size + HEADER_SIZE;
        let blocks = Blocks::new(settings, decoded_size);
        // A frame that is not smaller than a stored one is not worth decoding.
        let room_size = encoded.len().min(stored_size - 1);
        let mut size = None;
        if is_compressed(settings, decoded_size) {
            size = self.encode_blocks(workers, blocks, chunk, &mut encoded[..room_size])?;
        }
        let is_stored = size.is_none();
        if is_stored {
            chunk.copy_to(encoded.get_mut(HEADER_SIZE..stored_size).ok_or_else(too_small)?)?;
        }
        let size = size.unwrap_or(stored_size);
        let sizes = [decoded_size, blocks.size, size];
        encoded[..HEADER_SIZE].copy_from_slice(&header(settings, is_stored, sizes));
        Ok(size)
    }

    /// The size of the frame; `None` if there is not enough room, or nothing to compress.
    fn encode_blocks(
        &mut self,
        workers: (Workers<'_>, NonZeroUsize),
        blocks: Blocks<'_>,
        chunk: Chunk<'_>,
        encoded: &mut [u8],
    ) -> Result<Option<usize>> {
        let data_start = HEADER_SIZE + chunk.size().div_ceil(blocks.size) * SIZE_SIZE;
        let Some((head, data)) = encoded.split_at_mut_checked(data_start) else { return Ok(None) };
        let starts = &mut head[HEADER_SIZE..];
        if workers.1 > NonZeroUsize::MIN {
            return self.encode_in_parts(workers, blocks, chunk, starts, data);
        }
        let Some(run) = self.encode_run(blocks, (chunk, 0..chunk.size()), starts, data)? else { return Ok(None) };
        add_to_all(starts, data_start);
        Ok(run.is_compressed.then_some(data_start + run.size))
    }

    /// The same by several workers, each of which encodes an equal share of the blocks into memory of its own.
    fn encode_in_parts(
        &mut self,
        (workers, count): (Workers<'_>, NonZeroUsize),
        blocks: Blocks<'_>,
        chunk: Chunk<'_>,
        starts: &mut [u8],
        data: &mut [u8],
    ) -> Result<Option<usize>> {
        let block_count = chunk.size().div_ceil(blocks.size).div_ceil(count.get());
        let (part_size, starts_size) = (block_count * blocks.size, block_count * SIZE_SIZE);
        let parts = || pieces(0..chunk.size(), part_size);
        let capacity = data.len();
        let runs = workers.map(count, parts().zip(starts.chunks_mut(starts_size)), |(part, starts)| {
            let mut memory = Vec::new();
            grow(&mut memory, blocks.stored_size(part.clone()).min(capacity))?;
            let run = Self::default().encode_run(blocks, (chunk, part), starts, &mut memory)?;
            Ok(run.map(|run| (run, memory)))
        })?;
        if runs.iter().flatten().all(|(run, _)| !run.is_compressed) {
            return Ok(None);
        }
        let data_start = HEADER_SIZE + starts.len();
        let mut end = 0;
        for ((run, part), starts) in runs.into_iter().zip(parts()).zip(starts.chunks_mut(starts_size)) {
            let Some((run, memory)) = run else { return Ok(None) };
            let Some(target) = data.get_mut(end..end + run.size) else { return Ok(None) };
            if run.is_compressed {
                copy(&memory[..run.size], target);
            } else {
                self.store(blocks, (chunk, part), usize::MAX, target)?;
            }
            add_to_all(starts, data_start + end);
            end += run.size;
        }
        Ok(Some(data_start + end))
    }

    /// Encodes blocks that follow each other into the beginning of `encoded`, and writes where each of them begins
    /// there; `None` if there is not enough room.
    fn encode_run(
        &mut self,
        blocks: Blocks<'_>,
        (chunk, run): (Chunk<'_>, Range<usize>),
        starts: &mut [u8],
        encoded: &mut [u8],
    ) -> Result<Option<Run>> {
        let Self { compressors, filtered, stream: scratch, slabs } = self;
        let mut reader = BlockReader::new(chunk, slabs);
        let (mut end, mut stored_count, mut is_compressed) = (0, 0, false);
        for (block, start) in pieces(run.clone(), blocks.size).zip(starts.as_chunks_mut().0) {
            *start = (end as u32).to_le_bytes();
            let filtered = filter(blocks.settings, reader.read(block)?, filtered)?;
            for stream in blocks.streams(filtered) {
                let Some((size_field, room)) = encoded.get_mut(end..).and_then(<[u8]>::split_first_chunk_mut) else {
                    return Ok(None);
                };
                let compressed = compress_stream(compressors, blocks, stream, room, scratch)?;
                let size = compressed.unwrap_or(stream.len());
                let Some(target) = room.get_mut(..size) else { return Ok(None) };
                *size_field = (size as u32).to_le_bytes();
                end += SIZE_SIZE + size;
                is_compressed |= compressed.is_some();
                if !is_compressed {
                    stored_count += 1;
                } else if compressed.is_none() {
                    copy(stream, target);
                }
            }
        }
        if is_compressed {
            self.store(blocks, (chunk, run), stored_count, encoded)?;
        }
        Ok(Some(Run { size: end, is_compressed }))
    }

    /// Stores the first streams of these blocks.
    fn store(
        &mut self,
        blocks: Blocks<'_>,
        (chunk, run): (Chunk<'_>, Range<usize>),
        stream_count: usize,
        encoded: &mut [u8],
    ) -> Result<()> {
        let mut reader = BlockReader::new(chunk, &mut self.slabs);
        let (mut left, mut rest) = (stream_count, encoded);
        for block in pieces(run, blocks.size) {
            if left == 0 {
                break;
            }
            let filtered = filter(blocks.settings, reader.read(block)?, &mut self.filtered)?;
            for stream in blocks.streams(filtered).take(left) {
                let (target, after) = rest.split_at_mut(SIZE_SIZE + stream.len());
                let (size_field, target) = target.split_at_mut(SIZE_SIZE);
                size_field.copy_from_slice(&(stream.len() as u32).to_le_bytes());
                copy(stream, target);
                (left, rest) = (left - 1, after);
            }
        }
        Ok(())
    }
}

/// What became of blocks that follow each other.
#[derive(Debug, Clone, Copy)]
struct Run {
    size: usize,
    /// Whether any stream is compressed. The streams before the first such one are stored at the end, and not at all
    /// if there is none: where no run has one, the whole frame is stored.
    is_compressed: bool,
}

/// How a chunk is divided into blocks and these into streams.
#[derive(Debug, Clone, Copy)]
struct Blocks<'a> {
    settings: &'a Settings,
    /// The size of all blocks but the last.
    size: usize,
    /// A smaller last block is not split.
    is_split: bool,
}

impl<'a> Blocks<'a> {
    fn new(settings: &'a Settings, decoded_size: usize) -> Self {
        let size = block_size(settings, decoded_size);
        Self { settings, size, is_split: is_split(settings, size) }
    }

    fn stream_count(&self, block_size: usize) -> usize {
        if self.is_split && block_size == self.size { usize::from(self.settings.element_size) } else { 1 }
    }

    /// What is compressed by itself: a block, or if it is split the first bytes of all elements, the second, and so on.
    fn streams<'b>(&self, block: &'b [u8]) -> std::slice::Chunks<'b, u8> {
        block.chunks(block.len() / self.stream_count(block.len()))
    }

    /// The size of these blocks if nothing is compressed. They are never larger.
    fn stored_size(&self, run: Range<usize>) -> usize {
        let size = run.len();
        let stream_count: usize = pieces(run, self.size).map(|block| self.stream_count(block.len())).sum();
        size + stream_count * SIZE_SIZE
    }
}

/// A range in pieces of this size, of which the last one may be smaller.
fn pieces(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> + Send {
    let end = range.end;
    range.step_by(size).map(move |start| start..end.min(start.saturating_add(size)))
}

/// Whether compressing this many bytes is tried.
fn is_compressed(settings: &Settings, decoded_size: usize) -> bool {
    settings.level > 0 && decoded_size >= MIN_SIZE
}

/// Whether slabs are worth using: what a worker then has in memory, a block and the slabs that it touches, is much less
/// than the chunk.
pub(super) fn takes_slabs(settings: &Settings, slabs: &Slabs) -> bool {
    block_size(settings, slabs.decoded_size).saturating_add(2 * slabs.size) <= slabs.decoded_size / 4
}

/// The number of workers worth using.
pub(super) fn worker_count(settings: &Settings, decoded_size: usize, workers: Workers<'_>) -> NonZeroUsize {
    let block_count = match is_compressed(settings, decoded_size) {
        true => decoded_size.div_ceil(block_size(settings, decoded_size)),
        false => 1,
    };
    NonZeroUsize::new(block_count).map_or(NonZeroUsize::MIN, |count| count.min(workers.count_for(decoded_size)))
}

/// Where blocks begin, counted from the beginning of the frame and no longer of their run, which is at `place`.
fn add_to_all(starts: &mut [u8], place: usize) {
    for start in starts.as_chunks_mut().0 {
        *start = (u32::from_le_bytes(*start) + place as u32).to_le_bytes();
    }
}

/// The size of a compressed stream; `None` if it is to be stored, or there is not enough room.
///
/// A compressor always gets the same room for a stream, so that the frame does not depend on the capacity.
fn compress_stream(
    compressors: &mut Compressors,
    Blocks { settings, is_split, .. }: Blocks<'_>,
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
