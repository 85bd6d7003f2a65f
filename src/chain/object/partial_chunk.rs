//! An inner chunk of which some elements are known.

use crate::chain::boxes::region::{Region, byte_size};
use crate::error::Result;
use crate::memory::grow;
use crate::representation::element_count;
use crate::strided::{self, Source, Target};
use std::ops::Range;

/// The elements of a chunk in C order, and which of them are known.
#[derive(Debug)]
pub(super) struct PartialChunk {
    decoded: Vec<u8>,
    element_size: usize,
    /// A bit for each element.
    known: Vec<u64>,
    unknown_count: u64,
}

impl PartialChunk {
    /// A chunk of which nothing is known.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(in crate::chain) fn new(shape: &[u64], element_size: usize) -> Result<Self> {
        let count = element_count(shape);
        let (mut decoded, mut known) = (Vec::new(), Vec::new());
        grow(&mut decoded, byte_size(shape, element_size)?)?;
        grow(&mut known, count.div_ceil(64) as usize)?;
        Ok(Self { decoded, element_size, known, unknown_count: count })
    }

    /// Copies the elements of a box into the chunk, which has this shape.
    pub(in crate::chain) fn put(&mut self, shape: &[u64], region: &Region, values: &Source<'_>) -> Result<()> {
        patch(&mut self.decoded, shape, region, values)?;
        let (run, starts) = region.runs(shape);
        starts.for_each(|start| self.learn(start, run as u64));
        Ok(())
    }

    /// Marks `count` elements as known, from `start` on.
    fn learn(&mut self, start: u64, count: u64) {
        let end = start + count;
        let mut next = start;
        while next < end {
            let (word, first) = (next / 64, next % 64);
            let size = (64 - first).min(end - next);
            let bits = (u64::MAX >> (64 - size)) << first;
            let known = &mut self.known[word as usize];
            self.unknown_count -= u64::from((bits & !*known).count_ones());
            *known |= bits;
            next += size;
        }
    }

    /// Whether all elements are known.
    pub(super) fn is_complete(&self) -> bool {
        self.unknown_count == 0
    }

    /// All elements; the unknown ones come from `rest`.
    pub(super) fn into_whole(self, mut rest: Vec<u8>) -> Vec<u8> {
        let size = self.element_size;
        for (index, word) in self.known.iter().enumerate() {
            for run in runs_of_ones(*word) {
                let bytes = (64 * index + run.start) * size..(64 * index + run.end) * size;
                rest[bytes.clone()].copy_from_slice(&self.decoded[bytes]);
            }
        }
        rest
    }

    /// All elements, once they are known.
    pub(super) fn into_complete(self) -> Vec<u8> {
        self.decoded
    }
}

/// Where consecutive bits are set, the lowest first.
fn runs_of_ones(mut word: u64) -> impl Iterator<Item = Range<usize>> {
    std::iter::from_fn(move || {
        let start = word.trailing_zeros();
        let count = word.checked_shr(start)?.trailing_ones();
        word &= u64::MAX.checked_shl(start + count).unwrap_or(0);
        Some(start as usize..(start + count) as usize)
    })
}

/// Writes the elements of a box of a chunk to their places.
pub(super) fn patch(decoded: &mut [u8], shape: &[u64], region: &Region, values: &Source<'_>) -> Result<()> {
    let mut whole = Target::contiguous(decoded, values.element_size(), shape)?;
    strided::copy(values, &mut whole.region(&region.start, &region.shape)?)
}

/// A chunk whose elements are all this one.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub(in crate::chain) fn filled(shape: &[u64], element: &[u8]) -> Result<Vec<u8>> {
    let mut decoded = Vec::new();
    grow(&mut decoded, byte_size(shape, element.len())?)?;
    strided::fill(&mut Target::contiguous(&mut decoded, element.len(), shape)?, element)?;
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_known_once_and_the_rest_is_taken_from_elsewhere() {
        let shape = [9, 31];
        let mut chunk = PartialChunk::new(&shape, 2).unwrap();
        let mut expected: Vec<u16> = (0..279).map(|index| 1000 + index).collect();
        let rest: Vec<u8> = expected.iter().flat_map(|value| value.to_ne_bytes()).collect();
        for (start, shape_of_box, value) in
            [([0, 30], [3, 1], 1), ([2, 0], [5, 31], 2), ([8, 3], [1, 28], 3), ([1, 29], [2, 2], 4)]
        {
            let count = element_count(&shape_of_box) as usize;
            let values: Vec<u8> = [value; 1].repeat(count).iter().flat_map(|value: &u16| value.to_ne_bytes()).collect();
            let region = Region { start: start.to_vec(), shape: shape_of_box.to_vec() };
            chunk.put(&shape, &region, &Source::contiguous(&values, 2, &shape_of_box).unwrap()).unwrap();
            for row in start[0]..start[0] + shape_of_box[0] {
                for column in start[1]..start[1] + shape_of_box[1] {
                    expected[(row * 31 + column) as usize] = value;
                }
            }
        }
        let unknown = expected.iter().filter(|value| **value >= 1000).count() as u64;
        assert_eq!(chunk.unknown_count, unknown);
        assert!(!chunk.is_complete());
        let whole = chunk.into_whole(rest);
        let found: Vec<u16> = whole.as_chunks().0.iter().map(|bytes| u16::from_ne_bytes(*bytes)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn runs_of_bits_are_found() {
        let runs = |word| runs_of_ones(word).map(|run| (run.start, run.end)).collect::<Vec<_>>();
        assert_eq!(runs(0), []);
        assert_eq!(runs(u64::MAX), [(0, 64)]);
        assert_eq!(runs(1 << 63), [(63, 64)]);
        assert_eq!(runs(0x8000_0000_0000_0017), [(0, 3), (4, 5), (63, 64)]);
    }

    #[test]
    fn chunks_of_any_size_are_complete_when_all_is_put() {
        for count in [0, 1, 63, 64, 65, 128, 130] {
            let mut chunk = PartialChunk::new(&[count], 1).unwrap();
            for element in 0..count {
                assert!(!chunk.is_complete(), "{element} of {count}");
                let region = Region { start: vec![element], shape: vec![1] };
                chunk.put(&[count], &region, &Source::contiguous(&[7], 1, &[1]).unwrap()).unwrap();
            }
            assert!(chunk.is_complete(), "{count}");
            assert_eq!(chunk.into_complete(), vec![7; count as usize]);
        }
    }
}
