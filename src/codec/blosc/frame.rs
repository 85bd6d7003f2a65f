//! The structure of a frame, checked: header, starts of the blocks, sizes of the streams.
//!
//! | bytes | what |
//! |---|---|
//! | 0 | version of the format: 2 |
//! | 1 | version of the compressor's format: 1 |
//! | 2 | flags: 0x01 shuffle, 0x02 stored, 0x04 bitshuffle, 0x08 not defined, 0x10 not split, the rest the compressor |
//! | 3 | bytes of an element |
//! | 4, 8, 12 | decoded size, size of a block, encoded size: u32, little-endian |
//! | 16 | where each block begins: u32; in a stored frame, the decoded bytes |
//!
//! A block is one stream, or one stream for each byte of an element; before each comes its size, an i32. A stream that
//! has its decoded size is stored. The last block may be smaller than the others, and is not split then.

use super::compressor::Format;
use crate::error::{Error, Result};
use std::ops::Range;

pub(super) const HEADER_SIZE: usize = 16;
pub(super) const VERSION: u8 = 2;
/// The version of every compressor's format.
pub(super) const COMPRESSOR_VERSION: u8 = 1;
/// The largest decoded size of a frame: sizes are i32 in the C library, also that of a stored frame.
pub(super) const MAX_DECODED_SIZE: usize = i32::MAX as usize - HEADER_SIZE;
/// The C library's: it has three blocks and some more in one allocation.
pub(super) const MAX_BLOCK_SIZE: usize = (i32::MAX as usize - 255 * 4) / 3;
/// The size of the field before each stream, and of a start.
pub(super) const SIZE_SIZE: usize = 4;
/// A block is split only if elements are no larger, and there are as many in it.
const MAX_SPLIT_ELEMENT_SIZE: usize = 16;
const MIN_SPLIT_ELEMENT_COUNT: usize = 128;

pub(super) mod flag {
    pub(crate) const SHUFFLE: u8 = 0x01;
    pub(crate) const STORED: u8 = 0x02;
    pub(crate) const BITSHUFFLE: u8 = 0x04;
    pub(crate) const UNDEFINED: u8 = 0x08;
    pub(crate) const NOT_SPLIT: u8 = 0x10;
}

/// How the elements of a block were moved before they were compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Not at all.
    None,
    /// By bytes.
    Shuffle,
    /// By bits.
    Bitshuffle,
}

/// A frame whose header is valid.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    encoded: &'a [u8],
    pub(super) format: Format,
    pub(super) filter: Filter,
    pub(super) element_size: u8,
    is_stored: bool,
    may_split: bool,
    decoded_size: usize,
    block_size: usize,
}

impl<'a> Frame<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`Status::CorruptData`](crate::Status::CorruptData): these bytes are not a frame of Blosc 1.
    pub fn new(encoded: &'a [u8]) -> Result<Self> {
        let Some(&[version, compressor_version, flags, element_size, ref sizes @ ..]) =
            encoded.first_chunk::<HEADER_SIZE>()
        else {
            let size = encoded.len();
            return Err(Error::corrupt(format!("a blosc frame begins with 16 bytes of header, but there are {size}")));
        };
        check_version(version)?;
        let size = |index: usize| sizes.as_chunks::<4>().0.get(index).map_or(0, |size| u32::from_le_bytes(*size));
        let [decoded_size, block_size, encoded_size] = [size(0), size(1), size(2)].map(|size| size as usize);
        let frame = Self {
            encoded,
            format: Format::new(flags >> 5),
            filter: filter(flags, element_size),
            element_size,
            is_stored: flags & flag::STORED != 0,
            may_split: flags & flag::NOT_SPLIT == 0,
            decoded_size,
            block_size,
        };
        if flags & flag::UNDEFINED != 0 {
            return Err(Error::corrupt(format!(
                "the blosc frame has flags {flags:#04x}, of which 0x08 is not defined"
            )));
        }
        if element_size == 0 {
            return Err(Error::corrupt("the blosc frame has elements of 0 bytes"));
        }
        if encoded_size != encoded.len() {
            let size = encoded.len();
            return Err(Error::corrupt(format!(
                "the blosc frame has {encoded_size} bytes by its header, but there are {size}"
            )));
        }
        frame.check_sizes(compressor_version)?;
        Ok(frame)
    }

    fn check_sizes(&self, compressor_version: u8) -> Result<()> {
        let Self { decoded_size, block_size, .. } = *self;
        let encoded_size = self.encoded.len();
        if decoded_size > MAX_DECODED_SIZE {
            return Err(Error::corrupt(format!(
                "the blosc frame claims {decoded_size} decoded bytes, more than a frame can have"
            )));
        }
        if self.is_stored && decoded_size + HEADER_SIZE != encoded_size {
            return Err(Error::corrupt(format!(
                "the blosc frame is stored, but has {decoded_size} decoded bytes in {encoded_size}"
            )));
        }
        if decoded_size == 0 {
            return Ok(());
        }
        if block_size == 0 || block_size > decoded_size.min(MAX_BLOCK_SIZE) {
            return Err(Error::corrupt(format!(
                "the blosc frame has blocks of {block_size} bytes for {decoded_size} decoded bytes"
            )));
        }
        if self.is_stored {
            return Ok(());
        }
        self.format.check(compressor_version)?;
        if self.starts_end() > encoded_size || decoded_size > self.format.most_decoded(encoded_size) {
            return Err(Error::corrupt(format!(
                "the blosc frame says {decoded_size} decoded bytes in blocks of {block_size}, more than {encoded_size} \
                 encoded bytes can hold"
            )));
        }
        if self.is_split() && !block_size.is_multiple_of(usize::from(self.element_size)) {
            return Err(Error::corrupt(format!(
                "the blosc frame splits blocks of {block_size} bytes by the {} bytes of an element",
                self.element_size
            )));
        }
        Ok(())
    }

    /// How many bytes it decodes to.
    pub fn decoded_size(&self) -> usize {
        self.decoded_size
    }

    /// How many bytes each block but the last decodes to. It is not 0.
    pub fn block_size(&self) -> usize {
        self.block_size.max(1)
    }

    /// The decoded bytes, if the frame stores them uncompressed.
    pub fn stored(&self) -> Option<&'a [u8]> {
        self.is_stored.then(|| &self.encoded[HEADER_SIZE..])
    }

    /// The decoded bytes of a block.
    pub(super) fn block(&self, index: usize) -> Range<usize> {
        let start = index * self.block_size();
        start..self.decoded_size.min(start + self.block_size())
    }

    /// The streams of a block.
    pub(super) fn streams(&self, index: usize) -> Result<Streams<'a>> {
        let block = self.block(index);
        let start = self.number(HEADER_SIZE + index * SIZE_SIZE)? as usize;
        let count = if self.is_split() && block.len() == self.block_size { usize::from(self.element_size) } else { 1 };
        Ok(Streams { frame: *self, place: start, count, decoded_size: block.len() / count })
    }

    /// Where the starts of the blocks end: past all memory of 32-bit addresses, if a header claims that.
    fn starts_end(&self) -> usize {
        self.decoded_size.div_ceil(self.block_size()).saturating_mul(SIZE_SIZE).saturating_add(HEADER_SIZE)
    }

    fn is_split(&self) -> bool {
        self.may_split && can_split(usize::from(self.element_size), self.block_size)
    }

    fn number(&self, place: usize) -> Result<u32> {
        let bytes = self.encoded.get(place..).and_then(|bytes| bytes.first_chunk());
        bytes.map(|bytes| u32::from_le_bytes(*bytes)).ok_or_else(|| self.outside(place, SIZE_SIZE))
    }

    #[cold]
    fn outside(&self, place: usize, size: usize) -> Error {
        let encoded_size = self.encoded.len();
        Error::corrupt(format!("the blosc frame has {size} bytes at byte {place}, but ends at byte {encoded_size}"))
    }
}

/// The streams of a block, one after the other.
#[derive(Debug)]
pub(super) struct Streams<'a> {
    frame: Frame<'a>,
    place: usize,
    pub(super) count: usize,
    /// The decoded size of each.
    pub(super) decoded_size: usize,
}

impl<'a> Streams<'a> {
    /// The encoded bytes of the next one.
    pub(super) fn next(&mut self) -> Result<&'a [u8]> {
        let size = self.frame.number(self.place)? as usize;
        let start = self.place + SIZE_SIZE;
        let end = start.checked_add(size).ok_or_else(|| self.frame.outside(start, size))?;
        let stream = self.frame.encoded.get(start..end).ok_or_else(|| self.frame.outside(start, size))?;
        self.place = end;
        Ok(stream)
    }
}

/// Whether blocks of this size may be one stream for each byte of an element.
pub(super) fn can_split(element_size: usize, block_size: usize) -> bool {
    element_size <= MAX_SPLIT_ELEMENT_SIZE && block_size / element_size >= MIN_SPLIT_ELEMENT_COUNT
}

fn check_version(version: u8) -> Result<()> {
    match version {
        VERSION => Ok(()),
        3..=6 => Err(Error::corrupt(format!(
            "this is a frame of Blosc 2 (version {version} of the format), but the codec blosc takes frames of Blosc 1"
        ))),
        _ => Err(Error::corrupt(format!(
            "not a blosc frame: the version of the format is {version}, expected {VERSION}"
        ))),
    }
}

/// The choice of the C library if both flags are set.
fn filter(flags: u8, element_size: u8) -> Filter {
    if flags & flag::SHUFFLE != 0 && element_size > 1 {
        Filter::Shuffle
    } else if flags & flag::BITSHUFFLE != 0 {
        Filter::Bitshuffle
    } else {
        Filter::None
    }
}
