//! The sizes that zstd frames state, found without decoding them. RFC 8878, section 3.1.
//!
//! A frame may state the size of its content, which may be a lie; its blocks have sizes of their own, from which
//! follows the most that it can decode to. Together they give the size of a buffer before anything is decoded.

use crate::error::{Error, Result};

/// No block has more bytes, encoded or decoded ("Block_Maximum_Size"); in a frame of a smaller window, it has no more than
/// the window. libzstd holds blocks of one byte repeated, and blocks that are not compressed, to it only where it decodes
/// piece by piece.
const MAX_BLOCK_SIZE: u64 = 128 << 10;

/// The frames of a chunk together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frames {
    /// Their decoded size, if every frame states it.
    pub(super) stated_size: Option<u64>,
    /// The most that they can decode to: the sizes that they state, or that their blocks can hold.
    pub(super) size_limit: u64,
    /// The largest window of those that must be decoded to know their size.
    pub(super) window_size: u64,
}

/// Reads the headers of all frames and blocks.
///
/// # Errors
/// [`Status::CorruptData`](crate::Status::CorruptData): they are not frames, are cut short, have a block that is larger
/// than the format allows, or state a size that their blocks cannot hold.
pub(super) fn frames(encoded: &[u8]) -> Result<Frames> {
    let mut reader = Reader { bytes: encoded };
    let mut frames = Frames { stated_size: Some(0), size_limit: 0, window_size: 0 };
    while !reader.bytes.is_empty() {
        let magic = reader.integer(4)?;
        if magic & !0xF == 0x184D_2A50 {
            let skipped = reader.integer(4)?;
            reader.take(skipped)?;
        } else if magic == 0xFD2F_B528 {
            frames.add(&frame(&mut reader)?)?;
        } else {
            return Err(Error::corrupt(format!("not a zstd frame: the magic number is {magic:#x}")));
        }
    }
    Ok(frames)
}

/// One frame.
struct Frame {
    stated_size: Option<u64>,
    window_size: u64,
    /// The most that its blocks hold.
    block_limit: u64,
}

impl Frames {
    fn add(&mut self, frame: &Frame) -> Result<()> {
        if let Some(stated) = frame.stated_size.filter(|stated| *stated > frame.block_limit) {
            return Err(Error::corrupt(format!(
                "a zstd frame states {stated} bytes, but its blocks hold no more than {}",
                frame.block_limit
            )));
        }
        if frame.stated_size.is_none() {
            self.window_size = self.window_size.max(frame.window_size);
        }
        // No overflow: a limit is at most 2^17 for each three bytes, and a stated size no more than that.
        self.stated_size = self.stated_size.zip(frame.stated_size).map(|(sum, size)| sum.saturating_add(size));
        self.size_limit = self.size_limit.saturating_add(frame.stated_size.unwrap_or(frame.block_limit));
        Ok(())
    }
}

/// The header after the magic number.
fn frame(reader: &mut Reader<'_>) -> Result<Frame> {
    let descriptor = reader.integer(1)?;
    let (size_flag, is_single_segment, has_checksum) = (descriptor >> 6, descriptor & 0x20 != 0, descriptor & 4 != 0);
    let window_size = if is_single_segment { None } else { Some(window_size(reader.integer(1)?)) };
    reader.integer([0, 1, 2, 4][(descriptor & 3) as usize])?; // the number of a dictionary
    let stated_size = match (size_flag, is_single_segment) {
        (0, false) => None,
        (0, true) => Some(reader.integer(1)?),
        (1, _) => Some(reader.integer(2)? + 256),
        (2, _) => Some(reader.integer(4)?),
        _ => Some(reader.integer(8)?),
    };
    let window_size = window_size.or(stated_size).unwrap_or(0);
    let block_limit = blocks(reader, window_size.min(MAX_BLOCK_SIZE))?;
    if has_checksum {
        reader.take(4)?;
    }
    Ok(Frame { stated_size, window_size, block_limit })
}

fn window_size(descriptor: u64) -> u64 {
    let base = 1_u64 << (10 + (descriptor >> 3));
    base + base / 8 * (descriptor & 7)
}

/// The most that the blocks up to the last one hold.
fn blocks(reader: &mut Reader<'_>, block_maximum: u64) -> Result<u64> {
    let mut limit = 0_u64;
    loop {
        let header = reader.integer(3)?;
        let (is_last, kind, size) = (header & 1 != 0, header >> 1 & 3, header >> 3);
        if size > block_maximum {
            return Err(Error::corrupt(format!(
                "a zstd block has the size {size}, but the blocks of its frame have no more than {block_maximum} bytes"
            )));
        }
        let (encoded_size, decoded_limit) = match kind {
            0 => (size, size),          // raw
            1 => (1, size),             // one byte, repeated
            2 => (size, block_maximum), // compressed
            _ => return Err(Error::corrupt("a zstd block is of the reserved type")),
        };
        reader.take(encoded_size)?;
        limit = limit.saturating_add(decoded_limit);
        if is_last {
            return Ok(limit);
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, size: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(size).ok().and_then(|size| self.bytes.split_at_checked(size));
        let (taken, rest) = split.ok_or_else(|| Error::corrupt("a zstd frame is truncated"))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// An integer of up to eight bytes, least significant first.
    fn integer(&mut self, size: u64) -> Result<u64> {
        Ok(self.take(size)?.iter().rev().fold(0, |integer, byte| integer << 8 | u64::from(*byte)))
    }
}
