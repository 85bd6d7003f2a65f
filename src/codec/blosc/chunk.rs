//! The bytes of a chunk that is encoded: all of them at hand, or slab by slab.

use crate::error::Result;
use crate::interface::{GetSlab, Slabs};
use crate::memory::{copy, grow};
use std::ops::Range;

/// The bytes of a chunk.
#[derive(Clone, Copy)]
pub(super) enum Chunk<'a> {
    Memory(&'a [u8]),
    Slabs(&'a Slabs, &'a GetSlab<'a>),
}

impl Chunk<'_> {
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::Slabs(slabs, _) => slabs.decoded_size,
        }
    }

    /// Copies all bytes to memory of their size.
    pub(super) fn copy_to(&self, target: &mut [u8]) -> Result<()> {
        match self {
            Self::Memory(bytes) => copy(bytes, target),
            Self::Slabs(slabs, get) => {
                for number in slabs.numbers.clone() {
                    get(number, &mut target[slabs.range(number)])?;
                }
            }
        }
        Ok(())
    }
}

/// Reads blocks of a chunk, one after the other.
pub(super) struct BlockReader<'a> {
    chunk: Chunk<'a>,
    /// The slabs of these numbers, one after the other.
    memory: &'a mut Vec<u8>,
    held: Range<usize>,
}

impl<'a> BlockReader<'a> {
    /// `memory` is for slabs.
    pub(super) fn new(chunk: Chunk<'a>, memory: &'a mut Vec<u8>) -> Self {
        Self { chunk, memory, held: 0..0 }
    }

    /// The bytes of a block. A slab that the block before touched, too, is not made again.
    pub(super) fn read(&mut self, block: Range<usize>) -> Result<&[u8]> {
        let (slabs, get) = match self.chunk {
            Chunk::Memory(bytes) => return Ok(&bytes[block]),
            Chunk::Slabs(slabs, get) => (slabs, get),
        };
        let needed = block.start / slabs.size..block.end.div_ceil(slabs.size);
        if !self.held.contains(&needed.start) {
            self.held = needed.start..needed.start;
        } else if self.held.start < needed.start {
            let from = needed.start - self.held.start;
            self.memory.copy_within(from * slabs.size..self.held.len() * slabs.size, 0);
            self.held.start = needed.start;
        }
        grow(self.memory, needed.len() * slabs.size)?;
        while self.held.end < needed.end {
            let number = self.held.end;
            let start = (number - self.held.start) * slabs.size;
            get(number, &mut self.memory[start..start + slabs.range(number).len()])?;
            self.held.end += 1;
        }
        let start = block.start - self.held.start * slabs.size;
        Ok(&self.memory[start..start + block.len()])
    }
}
