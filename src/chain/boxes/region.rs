//! Boxes of arrays, and iteration over them.

use crate::error::{Error, Result};
use crate::representation::{element_count, index_of, position_of};
use crate::strided::Target;
use std::borrow::Borrow;

/// Decoding one more run costs about as much as decoding this many bytes.
pub(in crate::chain) const MIN_RUN_SIZE: usize = 512;

/// A box of an array (`box` is a keyword of Rust): where it begins, and its size along each dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::chain) struct Region {
    pub(in crate::chain) start: Vec<u64>,
    pub(in crate::chain) shape: Vec<u64>,
}

impl Region {
    /// All of an array.
    pub(in crate::chain) fn whole(shape: &[u64]) -> Self {
        Self { start: vec![0; shape.len()], shape: shape.to_vec() }
    }

    /// A box of an array of this shape.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if it is not within the array.
    pub(in crate::chain) fn within(array: &[u64], start: &[u64], shape: &[u64]) -> Result<Self> {
        Self::check(array, start, shape)?;
        Ok(Self { start: start.to_vec(), shape: shape.to_vec() })
    }

    /// Checks that a box lies within an array.
    ///
    /// # Errors
    /// As [`within`](Self::within).
    pub(in crate::chain) fn check(array: &[u64], start: &[u64], shape: &[u64]) -> Result<()> {
        if start.len() != array.len() || shape.len() != array.len() {
            return Err(Error::argument(format!(
                "the box has {} dimensions, but the chunk has {}",
                start.len().max(shape.len()),
                array.len()
            )));
        }
        for (dimension, (array, (start, size))) in array.iter().zip(start.iter().zip(shape)).enumerate() {
            if start.checked_add(*size).is_none_or(|end| end > *array) {
                return Err(Error::argument(format!(
                    "dimension {dimension} of the box is {size} elements from {start} on, but the chunk has {array}"
                )));
            }
        }
        Ok(())
    }

    /// Whether it is all of an array of this shape.
    pub(in crate::chain) fn is_whole(&self, shape: &[u64]) -> bool {
        self.shape == shape
    }

    pub(in crate::chain) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The number of elements. It fits a `usize` if the box is in memory, or will be; the elements of a source may share
    /// their bytes, and those between the rows of a box are not in memory: if there are more, `usize::MAX`.
    pub(in crate::chain) fn element_count(&self) -> usize {
        usize::try_from(element_count(&self.shape)).unwrap_or(usize::MAX)
    }

    /// The size of its elements in bytes.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory) if that is more than memory can have.
    pub(in crate::chain) fn byte_size(&self, element_size: usize) -> Result<usize> {
        byte_size(&self.shape, element_size)
    }

    /// The same box of the transposed array.
    pub(in crate::chain) fn permuted(&self, order: &[usize]) -> Self {
        let in_order = |numbers: &[u64]| order.iter().map(|dimension| numbers[*dimension]).collect();
        Self { start: in_order(&self.start), shape: in_order(&self.shape) }
    }

    /// The same box with other dimensions: dimension i is dimension `axes[i]` of this one, or else a new one of size 1.
    pub(in crate::chain) fn arranged(&self, axes: &[Option<usize>]) -> Self {
        let of = |numbers: &[u64], new: u64| axes.iter().map(|axis| axis.map_or(new, |axis| numbers[axis])).collect();
        Self { start: of(&self.start, 0), shape: of(&self.shape, 1) }
    }

    /// The smallest box around these, which are not empty; `None` if there are none.
    pub(in crate::chain) fn around(mut regions: impl Iterator<Item = impl Borrow<Self>>) -> Option<Self> {
        let first = regions.next()?.borrow().clone();
        Some(regions.fold(first, |mut around, region| {
            around.include(region.borrow());
            around
        }))
    }

    /// Extends the box so that it includes another one. Neither is empty.
    pub(super) fn include(&mut self, other: &Self) {
        for dimension in 0..self.shape.len() {
            let start = self.start[dimension].min(other.start[dimension]);
            let [end, other_end] = [&*self, other].map(|region| region.start[dimension] + region.shape[dimension]);
            self.start[dimension] = start;
            self.shape[dimension] = end.max(other_end) - start;
        }
    }

    /// Whether all of another box lies in this one.
    pub(in crate::chain) fn includes(&self, other: &Self) -> bool {
        let sides = self.start.iter().zip(&self.shape).zip(other.start.iter().zip(&other.shape));
        sides.into_iter().all(|((start, size), (other, extent))| other >= start && other + extent <= start + size)
    }

    /// The box that two boxes share; `None` if they share nothing.
    pub(in crate::chain) fn common(&self, other: &Self) -> Option<Self> {
        let sides = self.start.iter().zip(&self.shape).zip(other.start.iter().zip(&other.shape));
        let sides = sides.map(|((start, size), (other, extent))| {
            let first = (*start).max(*other);
            (first, (start + size).min(other + extent).saturating_sub(first))
        });
        let (start, shape): (Vec<u64>, Vec<u64>) = sides.unzip();
        (!shape.contains(&0)).then_some(Self { start, shape })
    }

    /// The parts of the box between multiples of these sizes, in C order.
    pub(in crate::chain) fn cut(&self, cell: &[u64]) -> impl Iterator<Item = Self> + use<> {
        let counts = self.start.iter().zip(&self.shape).zip(cell);
        let counts = counts.map(|((start, size), cell)| (start + size).div_ceil(*cell) - start / cell).collect();
        let (whole, cell) = (self.clone(), cell.to_vec());
        positions(counts).map(move |mut start| {
            let mut shape = whole.shape.clone();
            for (dimension, cell) in cell.iter().enumerate() {
                let (first, size) = (whole.start[dimension], whole.shape[dimension]);
                let begin = (first / cell + start[dimension]).saturating_mul(*cell).max(first);
                let end = (first / cell + start[dimension] + 1).saturating_mul(*cell).min(first + size);
                (start[dimension], shape[dimension]) = (begin, end - begin);
            }
            Self { start, shape }
        })
    }

    /// At most `count` boxes of about the same size that make up this one, one after the other in C order.
    pub(in crate::chain) fn slabs(&self, count: u64) -> impl Iterator<Item = Self> {
        let whole = self.clone();
        let slowest = slowest(&self.shape);
        let size = slowest.map_or(1, |dimension| self.shape[dimension]);
        let part_count = size.min(count).max(1);
        let end = move |part: u64| (u128::from(size) * u128::from(part) / u128::from(part_count)) as u64;
        (0..part_count).map(move |part| {
            let mut region = whole.clone();
            if let Some(dimension) = slowest {
                region.start[dimension] += end(part);
                region.shape[dimension] = end(part + 1) - end(part);
            }
            region
        })
    }

    /// The same boxes with their places.
    pub(in crate::chain) fn split<'t>(&self, target: Target<'t>, count: u64) -> Result<Vec<(Self, Target<'t>)>> {
        let (mut parts, mut rest) = (Vec::new(), target);
        let Some(dimension) = slowest(&self.shape) else { return Ok(vec![(self.clone(), rest)]) };
        for region in self.slabs(count) {
            let (piece, next) = rest.split(dimension, region.shape[dimension])?;
            parts.push((region, piece));
            rest = next;
        }
        Ok(parts)
    }

    /// The box that begins this much later.
    pub(in crate::chain) fn moved(mut self, by: &[u64]) -> Self {
        self.start.iter_mut().zip(by).for_each(|(start, by)| *start += by);
        self
    }

    /// Where this box begins, counted from the beginning of another one around it.
    pub(in crate::chain) fn relative_to(&self, outer: &Self) -> Vec<u64> {
        self.start.iter().zip(&outer.start).map(|(start, outer)| start - outer).collect()
    }

    /// This box as one of another box around it.
    pub(in crate::chain) fn within_box(&self, outer: &Self) -> Self {
        Self { start: self.relative_to(outer), shape: self.shape.clone() }
    }

    /// The length of the runs of consecutive elements that the box consists of in an array of this shape.
    pub(in crate::chain) fn run_length(&self, shape: &[u64]) -> usize {
        element_count(&self.shape[self.run_dimension(shape)..]) as usize
    }

    /// The outermost dimension along which a run extends.
    fn run_dimension(&self, shape: &[u64]) -> usize {
        // A run continues in the next row if rows are whole.
        let partial = (0..shape.len()).rposition(|dimension| self.shape[dimension] != shape[dimension]);
        partial.unwrap_or(0)
    }

    /// A box with the dimensions of this one, and then those of another.
    pub(super) fn with_dimensions_of(&self, inner: &Self) -> Self {
        let [start, shape] = [(&self.start, &inner.start), (&self.shape, &inner.shape)]
            .map(|(outer, inner)| [outer.as_slice(), inner].concat());
        Self { start, shape }
    }

    /// The length of the runs, and the index of the first element of each, in C order. The box must not be empty.
    pub(in crate::chain) fn runs(&self, shape: &[u64]) -> (usize, impl Iterator<Item = u64> + use<>) {
        let inner = self.run_dimension(shape);
        let count = element_count(&self.shape[inner..]) as usize;
        let next = (!self.shape[..inner].contains(&0)).then(|| index_of(&self.start, shape));
        let mut stride = element_count(&shape[inner..]);
        let mut axes: Vec<RunAxis> = Vec::with_capacity(inner);
        for dimension in (0..inner).rev() {
            axes.push(RunAxis { size: self.shape[dimension], stride, at: 0 });
            stride *= shape[dimension];
        }
        (count, RunStarts { axes, next })
    }

    /// The box, with what lies between its runs in an array of this shape if both are short: decoding a run by itself
    /// costs about as much as decoding [`MIN_RUN_SIZE`] bytes. The box must not be empty.
    pub(super) fn with_short_gaps(&self, shape: &[u64], element_size: usize) -> Self {
        self.with_gaps_below(MIN_RUN_SIZE, shape, element_size)
    }

    /// As [`with_short_gaps`](Self::with_short_gaps), if one more run costs as much as this many bytes.
    pub(in crate::chain) fn with_gaps_below(&self, run_cost: usize, shape: &[u64], element_size: usize) -> Self {
        let most = run_cost / element_size;
        if self.run_length(shape) >= most { self.clone() } else { self.with_gaps(shape, most as u64) }
    }

    /// The box, with what lies between its runs in an array of this shape where that is at most `most` elements. The
    /// box must not be empty.
    fn with_gaps(&self, shape: &[u64], most: u64) -> Self {
        let (mut whole_from, mut row_size) = (shape.len(), 1_u64);
        for dimension in (0..shape.len()).rev() {
            // Only several rows have anything between them.
            if self.shape[dimension] > 1 {
                whole_from = dimension + 1;
            }
            if (shape[dimension] - self.shape[dimension]).saturating_mul(row_size) > most {
                break;
            }
            row_size *= shape[dimension];
        }
        let mut joined = self.clone();
        joined.start[whole_from..].fill(0);
        joined.shape[whole_from..].copy_from_slice(&shape[whole_from..]);
        joined
    }

    /// Converts the element index of an error from this box to an array of this shape.
    pub(in crate::chain) fn locate(&self, error: Error, shape: &[u64]) -> Error {
        let index = error.element_index().map(|index| self.index_within(index, shape));
        error.at_element(index)
    }

    /// The indices of the first and the last element in an array of this shape. The box must not be empty.
    pub(in crate::chain) fn ends(&self, shape: &[u64]) -> (u64, u64) {
        let last: Vec<u64> = self.start.iter().zip(&self.shape).map(|(start, size)| start + size - 1).collect();
        (index_of(&self.start, shape), index_of(&last, shape))
    }

    /// The index of an element of this box in an array of this shape.
    pub(in crate::chain) fn index_within(&self, index: u64, shape: &[u64]) -> u64 {
        let position = position_of(index, &self.shape);
        let in_array: Vec<u64> = position.iter().zip(&self.start).map(|(offset, start)| start + offset).collect();
        index_of(&in_array, shape)
    }
}

/// The size of the elements of an array of this shape in bytes.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory) if that is more than memory can have.
pub(in crate::chain) fn byte_size(shape: &[u64], element_size: usize) -> Result<usize> {
    let size = element_count(shape).checked_mul(element_size as u64);
    size.and_then(|size| usize::try_from(size).ok()).ok_or_else(Error::out_of_memory)
}

/// The first element of each run of a box.
struct RunStarts {
    /// Innermost first.
    axes: Vec<RunAxis>,
    next: Option<u64>,
}

/// A dimension along which there are several runs.
struct RunAxis {
    size: u64,
    /// From one element to the next.
    stride: u64,
    at: u64,
}

impl Iterator for RunStarts {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let first = self.next.take()?;
        let mut following = first;
        for axis in &mut self.axes {
            axis.at += 1;
            if axis.at < axis.size {
                self.next = Some(following + axis.stride);
                break;
            }
            following -= (axis.at - 1) * axis.stride;
            axis.at = 0;
        }
        Some(first)
    }
}

/// The slowest dimension of an array of this shape, in C order; `None` if it has one element.
pub(super) fn slowest(shape: &[u64]) -> Option<usize> {
    shape.iter().position(|size| *size > 1)
}

/// What a step along each dimension of an array of this shape adds to the index of an element in C order.
pub(in crate::chain) fn index_steps(shape: &[u64]) -> Vec<u64> {
    let mut steps = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        steps[dimension - 1] = steps[dimension] * shape[dimension];
    }
    steps
}

/// Every position of an array of this shape, in C order.
pub(in crate::chain) fn positions(shape: Vec<u64>) -> impl Iterator<Item = Vec<u64>> {
    let mut next = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
    std::iter::from_fn(move || {
        let position = next.take()?;
        let mut after = position.clone();
        for (number, size) in after.iter_mut().zip(&shape).rev() {
            *number += 1;
            if *number < *size {
                next = Some(after);
                return Some(position);
            }
            *number = 0;
        }
        Some(position)
    })
}

/// Boxes of limited size, in C order, that make up a larger one. Each spans the last dimensions whole, so their
/// elements are consecutive in C order of the larger box.
pub(in crate::chain) struct Tiles<'a> {
    region: &'a Region,
    /// The dimension that tiles cut. They span those after it whole, and have size 1 along those before it.
    dimension: usize,
    size: u64,
    /// Where the next tile begins, relative to the box.
    next: Option<Vec<u64>>,
}

impl<'a> Tiles<'a> {
    pub(in crate::chain) fn new(region: &'a Region, element_count: usize) -> Self {
        let (mut dimension, mut inner) = (region.shape.len(), 1_u64);
        while dimension > 0 && inner.saturating_mul(region.shape[dimension - 1]) <= element_count as u64 {
            dimension -= 1;
            inner *= region.shape[dimension];
        }
        // The last dimension that does not fit is cut; if all fit, the first is spanned whole.
        let (dimension, size) = match dimension.checked_sub(1) {
            Some(cut) => (cut, (element_count as u64 / inner.max(1)).max(1)),
            None => (0, region.shape.first().copied().unwrap_or(1)),
        };
        let next = (!region.is_empty()).then(|| vec![0; region.shape.len()]);
        Self { region, dimension, size, next }
    }
}

impl Iterator for Tiles<'_> {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        let position = self.next.take()?;
        let Self { region, dimension, size, .. } = *self;
        let mut shape = region.shape.clone();
        shape[..dimension.min(region.shape.len())].fill(1);
        if let Some(cut) = shape.get_mut(dimension) {
            *cut = size.min(region.shape[dimension] - position[dimension]);
        }
        let mut after = position.clone();
        for number in (0..=dimension).rev().filter(|number| *number < region.shape.len()) {
            after[number] += if number == dimension { size } else { 1 };
            if after[number] < region.shape[number] {
                self.next = Some(after);
                break;
            }
            after[number] = 0;
        }
        let start = position.iter().zip(&region.start).map(|(offset, start)| start + offset).collect();
        Some(Region { start, shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_a_box_once_and_in_order() {
        for (start, shape, count) in [
            (vec![], vec![], 5),
            (vec![3], vec![7], 3),
            (vec![1, 2, 3], vec![4, 3, 5], 11),
            (vec![0, 0], vec![2, 0], 4),
        ] {
            let region = Region { start, shape };
            let array: Vec<u64> =
                region.start.iter().zip(&region.shape).map(|(start, size)| start + size + 1).collect();
            let mut indices = Vec::new();
            for tile in Tiles::new(&region, count) {
                assert!(tile.element_count() <= count, "{tile:?}");
                let (run, firsts) = tile.runs(&array);
                indices.extend(firsts.flat_map(|first| first..first + run as u64));
            }
            let expected: Vec<u64> = positions(region.shape.clone())
                .map(|position| {
                    let in_array: Vec<u64> = position.iter().zip(&region.start).map(|(a, b)| a + b).collect();
                    index_of(&in_array, &array)
                })
                .collect();
            assert_eq!(indices, expected, "{region:?}");
        }
    }

    #[test]
    fn a_box_is_cut_into_parts_that_cover_it_once() {
        let region = Region { start: vec![3, 0, 5], shape: vec![6, 2, 3] };
        let parts: Vec<Region> = region.cut(&[4, u64::MAX, 2]).collect();
        let starts: Vec<_> = parts.iter().map(|part| (part.start.clone(), part.shape.clone())).collect();
        assert_eq!(starts[0], (vec![3, 0, 5], vec![1, 2, 1]));
        assert_eq!(starts[5], (vec![8, 0, 6], vec![1, 2, 2]));
        assert_eq!(parts.iter().map(Region::element_count).sum::<usize>(), region.element_count());
        for (index, part) in parts.iter().enumerate() {
            assert!(region.includes(part) && parts[..index].iter().all(|other| other.common(part).is_none()));
        }
    }

    #[test]
    fn runs_join_whole_rows() {
        let region = Region { start: vec![1, 0, 0], shape: vec![2, 3, 4] };
        let (count, runs) = region.runs(&[5, 3, 4]);
        assert_eq!((count, runs.collect::<Vec<_>>()), (24, vec![12]));
        let (count, runs) = region.runs(&[5, 4, 4]);
        assert_eq!((count, runs.collect::<Vec<_>>()), (12, vec![16, 32]));
    }

    #[test]
    fn gaps_are_joined_only_between_rows() {
        let shape = [10, 20, 30];
        for (region, most, expected) in [
            (([1, 2, 3], [4, 5, 6]), 24, ([1, 2, 0], [4, 5, 30])),
            (([1, 2, 3], [4, 5, 6]), 23, ([1, 2, 3], [4, 5, 6])),
            (([1, 2, 3], [4, 5, 6]), 450, ([1, 0, 0], [4, 20, 30])),
            (([1, 2, 3], [1, 5, 6]), 450, ([1, 2, 0], [1, 5, 30])),
            (([1, 2, 3], [1, 1, 6]), 9999, ([1, 2, 3], [1, 1, 6])),
            (([1, 2, 3], [4, 1, 6]), 9999, ([1, 0, 0], [4, 20, 30])),
            (([1, 0, 0], [4, 20, 30]), 9999, ([1, 0, 0], [4, 20, 30])),
        ] {
            let [region, expected] =
                [region, expected].map(|(start, shape)| Region { start: start.to_vec(), shape: shape.to_vec() });
            assert_eq!(region.with_gaps(&shape, most), expected, "{region:?}, gaps of {most}");
        }
    }

    #[test]
    fn positions_and_indices_are_inverse() {
        let shape = [3, 4, 5];
        for (index, position) in positions(shape.to_vec()).enumerate() {
            assert_eq!(index_of(&position, &shape), index as u64);
            assert_eq!(position_of(index as u64, &shape), position);
        }
    }
}
