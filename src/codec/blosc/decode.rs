//! Frames to bytes: all of a frame, or the blocks that a range touches.

use super::compressor::Decompressors;
use super::frame::{Filter, Frame};
use crate::codec::shuffle::Shuffle;
use crate::error::Result;
use crate::memory::grow;
use std::ops::Range;

/// Decodes frames. It keeps contexts and scratch memory for the next one, but nothing that its result depends on.
#[derive(Debug, Default)]
pub struct Decoder {
    decompressors: Decompressors,
    /// A block before its filter is undone.
    filtered: Vec<u8>,
    /// A block of which only a part is wanted.
    whole: Vec<u8>,
}

impl Decoder {
    /// Decodes these bytes of what the frame decodes to, into `decoded`, which has their size. Only blocks with some of
    /// them are decoded; several decoders may decode ranges of one frame at once, best those that begin at blocks.
    ///
    /// # Errors
    /// [`Status::CorruptData`](crate::Status::CorruptData): one of the blocks is damaged.
    pub fn decode(&mut self, frame: &Frame<'_>, range: Range<usize>, decoded: &mut [u8]) -> Result<()> {
        debug_assert!(range.len() == decoded.len() && range.end <= frame.decoded_size(), "what is wanted exists");
        if let Some(stored) = frame.stored() {
            decoded.copy_from_slice(&stored[range]);
            return Ok(());
        }
        let shuffle = Shuffle::new(frame.element_size);
        let mut rest = decoded;
        let mut place = range.start;
        while !rest.is_empty() {
            let index = place / frame.block_size();
            let block = frame.block(index);
            let wanted = place - block.start..(range.end.min(block.end)) - block.start;
            let (target, after) = rest.split_at_mut(wanted.len());
            if wanted.len() == block.len() {
                self.decode_block(frame, index, shuffle, target)?;
            } else {
                self.decode_part(frame, index, shuffle, wanted.clone(), target)?;
            }
            place = block.start + wanted.end;
            rest = after;
        }
        Ok(())
    }

    fn decode_part(
        &mut self,
        frame: &Frame<'_>,
        index: usize,
        shuffle: Shuffle,
        wanted: Range<usize>,
        decoded: &mut [u8],
    ) -> Result<()> {
        let size = frame.block(index).len();
        let mut whole = std::mem::take(&mut self.whole);
        let result = grow(&mut whole, size).and_then(|()| {
            self.decode_block(frame, index, shuffle, &mut whole[..size])?;
            decoded.copy_from_slice(&whole[wanted]);
            Ok(())
        });
        self.whole = whole;
        result
    }

    fn decode_block(&mut self, frame: &Frame<'_>, index: usize, shuffle: Shuffle, decoded: &mut [u8]) -> Result<()> {
        let unfilter = match frame.filter {
            Filter::None => return decompress(&mut self.decompressors, frame, index, decoded),
            Filter::Shuffle => Shuffle::unshuffle,
            Filter::Bitshuffle => Shuffle::bitunshuffle,
        };
        let mut streams = frame.streams(index)?;
        if streams.count == 1 {
            let stream = streams.next()?;
            if stream.len() == decoded.len() {
                unfilter(&shuffle, stream, decoded);
                return Ok(());
            }
        }
        grow(&mut self.filtered, decoded.len())?;
        let filtered = &mut self.filtered[..decoded.len()];
        decompress(&mut self.decompressors, frame, index, filtered)?;
        unfilter(&shuffle, filtered, decoded);
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
            decoded.copy_from_slice(stream);
        } else {
            decompressors.decompress(frame.format, stream, decoded)?;
        }
    }
    Ok(())
}
