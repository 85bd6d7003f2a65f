//! Encoded inner chunks that become ready in any order, and are stored one after the other.

use crate::error::Result;
use crate::memory::{copy, push};
use crate::parallel::{into_inner, lock};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// The place of the chunks. Each is copied to its place once the sizes of those before it are known.
#[derive(Debug)]
pub(super) struct InOrder<'a>(Mutex<State<'a>>);

#[derive(Debug)]
struct State<'a> {
    /// What is not yet taken.
    rest: &'a mut [u8],
    /// Of each chunk so far, its place, or the one that it would have if there were room; `None` for a chunk that is not
    /// stored.
    places: Vec<Option<Range<u64>>>,
    end: u64,
    /// Chunks that wait for others.
    waiting: BTreeMap<usize, Option<EncodedChunk>>,
    /// Memory of chunks that have been copied.
    free: Vec<Vec<u8>>,
}

/// Memory, and how many of its first bytes are the chunk.
#[derive(Debug)]
pub(super) struct EncodedChunk {
    pub(in crate::chain) memory: Vec<u8>,
    pub(in crate::chain) size: usize,
}

impl<'a> InOrder<'a> {
    /// Room for chunks, whose places are counted from `first` on.
    pub(in crate::chain) fn new(room: &'a mut [u8], first: u64) -> Self {
        let (places, waiting, free) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self(Mutex::new(State { rest: room, places, end: first, waiting, free }))
    }

    /// Memory for a chunk, of any size, with any bytes.
    pub(in crate::chain) fn memory(&self) -> Vec<u8> {
        lock(&self.0).free.pop().unwrap_or_default()
    }

    /// Takes the chunk with this number; `None` if it is not stored. Every number from 0 on comes once.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(in crate::chain) fn put(&self, number: usize, chunk: Option<EncodedChunk>) -> Result<()> {
        let ready = lock(&self.0).take(number, chunk)?;
        for (place, chunk) in ready {
            copy(&chunk.memory[..chunk.size], place);
            push(&mut lock(&self.0).free, chunk.memory)?;
        }
        Ok(())
    }

    /// The places of the chunks, and where the last one ends. What ends after the room was not copied.
    pub(in crate::chain) fn finish(self) -> (Vec<Option<Range<u64>>>, u64) {
        let state = into_inner(self.0);
        (state.places, state.end)
    }
}

impl<'a> State<'a> {
    /// The chunks that now have a place, with it.
    fn take(&mut self, number: usize, chunk: Option<EncodedChunk>) -> Result<Vec<(&'a mut [u8], EncodedChunk)>> {
        self.waiting.insert(number, chunk);
        let mut ready = Vec::new();
        while let Some(chunk) = self.waiting.remove(&self.places.len()) {
            let Some(chunk) = chunk else {
                push(&mut self.places, None)?;
                continue;
            };
            let start = self.end;
            self.end += chunk.size as u64;
            push(&mut self.places, Some(start..self.end))?;
            match std::mem::take(&mut self.rest).split_at_mut_checked(chunk.size) {
                Some((place, rest)) => {
                    self.rest = rest;
                    push(&mut ready, (place, chunk))?;
                }
                None => push(&mut self.free, chunk.memory)?,
            }
        }
        Ok(ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(byte: u8, size: usize) -> Option<EncodedChunk> {
        Some(EncodedChunk { memory: vec![byte; size + 3], size })
    }

    #[test]
    fn parts_stand_in_the_order_of_their_numbers() {
        let mut room = [0; 9];
        let chunks = InOrder::new(&mut room, 100);
        chunks.put(2, chunk(3, 4)).unwrap();
        chunks.put(3, None).unwrap();
        assert!(chunks.memory().is_empty(), "nothing has a place yet");
        chunks.put(1, None).unwrap();
        chunks.put(0, chunk(1, 2)).unwrap();
        assert_eq!(chunks.memory().len() + chunks.memory().len(), 12);
        chunks.put(4, chunk(5, 1)).unwrap();
        assert_eq!(chunks.finish(), (vec![Some(100..102), None, Some(102..106), None, Some(106..107)], 107));
        assert_eq!(room, [1, 1, 3, 3, 3, 3, 5, 0, 0]);
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let mut room = [0; 4];
        let chunks = InOrder::new(&mut room, 0);
        chunks.put(0, chunk(1, 3)).unwrap();
        chunks.put(1, chunk(2, 2)).unwrap();
        chunks.put(2, chunk(3, 1)).unwrap();
        assert_eq!(chunks.finish(), (vec![Some(0..3), Some(3..5), Some(5..6)], 6));
        assert_eq!(room, [1, 1, 1, 0]);
    }
}
