//! Frames to bytes: all of a frame, or the blocks that its wanted parts touch.

use super::compressor::Decompressors;
use super::frame::{Filter, Frame};
use crate::codec::shuffle::Shuffle;
use crate::error::Result;
use crate::interface::{PutSlab, Slabs};
use crate::memory::{copy, grow};
use std::ops::Range;

/// A part of at least this many elements goes from its block straight to its place. For less, the block's filter is
/// undone once, and the parts are copied from there.
const MIN_DIRECT_COUNT: usize = 64;
/// The same for bits, whose kernels have larger tiles.
const MIN_DIRECT_BIT_COUNT: usize = 1024;

/// Decodes frames. It keeps contexts and scratch memory for the next one, but nothing that its result depends on.
#[derive(Debug, Default)]
pub struct Decoder {
    decompressors: Decompressors,
    /// A block before its filter is undone.
    filtered: Vec<u8>,
    /// A block of which only parts are wanted.
    whole: Vec<u8>,
    /// A tile of the filter for bits.
    tile: Vec<u8>,
    /// A slab, before it goes to its place.
    slab: Vec<u8>,
}

impl Decoder {
    /// Decodes these bytes of what the frame decodes to, into `decoded`, which has their size. Only blocks with some of
    /// them are decoded; several decoders may decode ranges of one frame at once, best those that begin at blocks.
    ///
    /// # Errors
    /// [`Status::CorruptData`](crate::Status::CorruptData): one of the blocks is damaged.
    pub fn decode(&mut self, frame: &Frame<'_>, range: Range<usize>, decoded: &mut [u8]) -> Result<()> {
        debug_assert!(range.len() == decoded.len(), "what is wanted has the size of its place");
        self.decode_ranges(frame, &mut std::iter::once((range.start, decoded)))
    }

    /// Decodes parts of what the frame decodes to, each given by where it begins and its place. A block is decompressed
    /// once for all parts that follow each other in it.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_ranges(
        &mut self,
        frame: &Frame<'_>,
        parts: &mut dyn Iterator<Item = (usize, &mut [u8])>,
    ) -> Result<()> {
        let mut blocks = FrameBlocks::new(self, frame);
        for (place, part) in parts {
            debug_assert!(place + part.len() <= frame.decoded_size(), "what is wanted exists");
            match frame.stored() {
                Some(stored) => copy(&stored[place..place + part.len()], part),
                None => blocks.read_range(place, part)?,
            }
        }
        Ok(())
    }

    /// Decodes some slabs of what the frame decodes to, one after the other.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and those of `put`.
    pub(super) fn decode_slabs(
        &mut self,
        frame: &Frame<'_>,
        slabs: &Slabs,
        numbers: Range<usize>,
        put: &PutSlab<'_>,
    ) -> Result<()> {
        let mut slab = std::mem::take(&mut self.slab);
        let mut blocks = FrameBlocks::new(self, frame);
        for number in numbers {
            let range = slabs.range(number);
            if let Some(stored) = frame.stored() {
                put(number, &stored[range])?;
                continue;
            }
            grow(&mut slab, range.len())?;
            blocks.read_range(range.start, &mut slab[..range.len()])?;
            put(number, &slab[..range.len()])?;
        }
        self.slab = slab;
        Ok(())
    }

    /// Decompresses a block, without undoing its filter.
    fn load<'f>(&mut self, frame: &Frame<'f>, index: usize, size: usize) -> Result<Current<'f>> {
        let mut streams = frame.streams(index)?;
        let stored =
            if streams.count == 1 { Some(streams.next()?).filter(|stream| stream.len() == size) } else { None };
        if stored.is_none() {
            grow(&mut self.filtered, size)?;
            decompress(&mut self.decompressors, frame, index, &mut self.filtered[..size])?;
        }
        Ok(Current { index, stored, is_whole: false })
    }
}

/// The blocks of a frame, of which one is at hand.
struct FrameBlocks<'a, 'f> {
    decoder: &'a mut Decoder,
    frame: Frame<'f>,
    shuffle: Shuffle,
    current: Option<Current<'f>>,
}

struct Current<'f> {
    index: usize,
    /// The filtered block as the frame has it, if it is not compressed; otherwise it is in `filtered`.
    stored: Option<&'f [u8]>,
    /// Whether the block is in `whole`.
    is_whole: bool,
}

impl<'a, 'f> FrameBlocks<'a, 'f> {
    fn new(decoder: &'a mut Decoder, frame: &Frame<'f>) -> Self {
        FrameBlocks { decoder, frame: *frame, shuffle: Shuffle::new(frame.element_size), current: None }
    }

    /// Decodes the bytes from `place` on of what the frame decodes to.
    fn read_range(&mut self, mut place: usize, mut part: &mut [u8]) -> Result<()> {
        while !part.is_empty() {
            let index = place / self.frame.block_size();
            let block = self.frame.block(index);
            let (target, after) = part.split_at_mut(part.len().min(block.end - place));
            self.read(index, place - block.start, target)?;
            place += target.len();
            part = after;
        }
        Ok(())
    }

    /// Decodes the bytes of a block from `start` on.
    fn read(&mut self, index: usize, start: usize, target: &mut [u8]) -> Result<()> {
        let size = self.frame.block(index).len();
        if self.frame.filter == Filter::None && target.len() == size {
            return decompress(&mut self.decoder.decompressors, &self.frame, index, target);
        }
        let current = match &mut self.current {
            Some(current) if current.index == index => current,
            current => current.insert(self.decoder.load(&self.frame, index, size)?),
        };
        let Decoder { filtered, whole, tile, .. } = &mut *self.decoder;
        if self.frame.filter == Filter::Bitshuffle {
            grow(tile, self.shuffle.tile_size())?;
        }
        let filtered = current.stored.unwrap_or_else(|| &filtered[..size]);
        let count = target.len() / usize::from(self.frame.element_size);
        let is_direct = |least| target.len() == size || (count >= least && !current.is_whole);
        match self.frame.filter {
            Filter::None => copy(&filtered[start..start + target.len()], target),
            Filter::Shuffle if is_direct(MIN_DIRECT_COUNT) => self.shuffle.unshuffle_part(filtered, start, target),
            Filter::Bitshuffle if is_direct(MIN_DIRECT_BIT_COUNT) => {
                self.shuffle.bitunshuffle_part(filtered, start, target, tile);
            }
            filter => {
                if !current.is_whole {
                    grow(whole, size)?;
                    let whole = &mut whole[..size];
                    if filter == Filter::Shuffle {
                        self.shuffle.unshuffle(filtered, whole);
                    } else {
                        self.shuffle.bitunshuffle(filtered, whole, tile);
                    }
                    current.is_whole = true;
                }
                copy(&whole[start..start + target.len()], target);
            }
        }
        Ok(())
    }
}

/// Decompresses the streams of a block one after the other.
fn decompress(
    decompressors: &mut Decompressors,
    frame: &Frame<'_>,
    index: usize,
    decompressed: &mut [u8],
) -> Result<()> {
    let mut streams = frame.streams(index)?;
    for decoded in decompressed.chunks_exact_mut(streams.decoded_size) {
        let stream = streams.next()?;
        if stream.len() == decoded.len() {
            copy(stream, decoded);
        } else {
            decompressors.decompress(frame.format, stream, decoded)?;
        }
    }
    Ok(())
}
