//! Parts of an encoded chunk that become ready in any order, and are stored one after the other.

use crate::error::Result;
use crate::memory::{copy, push};
use crate::parallel::{into_inner, lock};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// The place of the parts. Each is copied to its place once the sizes of those before it are known.
#[derive(Debug)]
pub(super) struct InOrder<'a>(Mutex<State<'a>>);

#[derive(Debug)]
struct State<'a> {
    /// What is not yet taken.
    rest: &'a mut [u8],
    /// Of each part so far, its place, or the one that it would have if there were room; `None` for a part that is not
    /// stored.
    places: Vec<Option<Range<u64>>>,
    end: u64,
    /// Parts that wait for others.
    waiting: BTreeMap<usize, Option<Part>>,
    /// Memory of parts that have been copied.
    free: Vec<Vec<u8>>,
}

/// Memory, and how many of its first bytes are the part.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) memory: Vec<u8>,
    pub(super) size: usize,
}

impl<'a> InOrder<'a> {
    /// Room for parts, whose places are counted from `first` on.
    pub(super) fn new(room: &'a mut [u8], first: u64) -> Self {
        let (places, waiting, free) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self(Mutex::new(State { rest: room, places, end: first, waiting, free }))
    }

    /// Memory for a part, of any size, with any bytes.
    pub(super) fn memory(&self) -> Vec<u8> {
        lock(&self.0).free.pop().unwrap_or_default()
    }

    /// Takes the part with this number; `None` if it is not stored. Every number from 0 on comes once.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(super) fn put(&self, number: usize, part: Option<Part>) -> Result<()> {
        let ready = lock(&self.0).take(number, part)?;
        for (place, part) in ready {
            copy(&part.memory[..part.size], place);
            push(&mut lock(&self.0).free, part.memory)?;
        }
        Ok(())
    }

    /// The places of the parts, and where the last one ends. What ends after the room was not copied.
    pub(super) fn finish(self) -> (Vec<Option<Range<u64>>>, u64) {
        let state = into_inner(self.0);
        (state.places, state.end)
    }
}

impl<'a> State<'a> {
    /// The parts that now have a place, with it.
    fn take(&mut self, number: usize, part: Option<Part>) -> Result<Vec<(&'a mut [u8], Part)>> {
        self.waiting.insert(number, part);
        let mut ready = Vec::new();
        while let Some(part) = self.waiting.remove(&self.places.len()) {
            let Some(part) = part else {
                push(&mut self.places, None)?;
                continue;
            };
            let start = self.end;
            self.end += part.size as u64;
            push(&mut self.places, Some(start..self.end))?;
            match std::mem::take(&mut self.rest).split_at_mut_checked(part.size) {
                Some((place, rest)) => {
                    self.rest = rest;
                    push(&mut ready, (place, part))?;
                }
                None => push(&mut self.free, part.memory)?,
            }
        }
        Ok(ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(byte: u8, size: usize) -> Option<Part> {
        Some(Part { memory: vec![byte; size + 3], size })
    }

    #[test]
    fn parts_stand_in_the_order_of_their_numbers() {
        let mut room = [0; 9];
        let parts = InOrder::new(&mut room, 100);
        parts.put(2, part(3, 4)).unwrap();
        parts.put(3, None).unwrap();
        assert!(parts.memory().is_empty(), "nothing has a place yet");
        parts.put(1, None).unwrap();
        parts.put(0, part(1, 2)).unwrap();
        assert_eq!(parts.memory().len() + parts.memory().len(), 12);
        parts.put(4, part(5, 1)).unwrap();
        assert_eq!(parts.finish(), (vec![Some(100..102), None, Some(102..106), None, Some(106..107)], 107));
        assert_eq!(room, [1, 1, 3, 3, 3, 3, 5, 0, 0]);
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let mut room = [0; 4];
        let parts = InOrder::new(&mut room, 0);
        parts.put(0, part(1, 3)).unwrap();
        parts.put(1, part(2, 2)).unwrap();
        parts.put(2, part(3, 1)).unwrap();
        assert_eq!(parts.finish(), (vec![Some(0..3), Some(3..5), Some(5..6)], 6));
        assert_eq!(room, [1, 1, 1, 0]);
    }
}
