//! Boxes of arrays, and iteration over them.

use crate::error::{Error, Result};
use crate::strided::Target;

/// A box of an array: where it begins, and its size along each dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) start: Vec<u64>,
    pub(super) shape: Vec<u64>,
}

impl Region {
    /// All of an array.
    pub(super) fn whole(shape: &[u64]) -> Self {
        Self { start: vec![0; shape.len()], shape: shape.to_vec() }
    }

    /// A box of an array of this shape.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if it is not within the array.
    pub(super) fn within(array: &[u64], start: &[u64], shape: &[u64]) -> Result<Self> {
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
        Ok(Self { start: start.to_vec(), shape: shape.to_vec() })
    }

    /// Whether it is all of an array of this shape.
    pub(super) fn is_whole(&self, shape: &[u64]) -> bool {
        self.shape == shape
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The number of elements. It fits a `usize`, because the box is in memory, or will be.
    pub(super) fn element_count(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    /// The same box of the transposed array.
    pub(super) fn permuted(&self, order: &[usize]) -> Self {
        let in_order = |numbers: &[u64]| order.iter().map(|dimension| numbers[*dimension]).collect();
        Self { start: in_order(&self.start), shape: in_order(&self.shape) }
    }

    /// The smallest box around these, which are not empty; `None` if there are none.
    pub(super) fn around<'r>(mut regions: impl Iterator<Item = &'r Self>) -> Option<Self> {
        let first = regions.next()?.clone();
        Some(regions.fold(first, |mut around, region| {
            for dimension in 0..around.shape.len() {
                let start = around.start[dimension].min(region.start[dimension]);
                let [end, other] = [&around, region].map(|region| region.start[dimension] + region.shape[dimension]);
                around.start[dimension] = start;
                around.shape[dimension] = end.max(other) - start;
            }
            around
        }))
    }

    /// Cuts a box and its place into at most `count` boxes of about the same size, one after the other in C order.
    pub(super) fn split<'t>(&self, target: Target<'t>, count: u64) -> Result<Vec<(Self, Target<'t>)>> {
        let outermost = self.shape.iter().position(|size| *size > 1);
        let Some(dimension) = outermost else { return Ok(vec![(self.clone(), target)]) };
        let size = self.shape[dimension];
        let part_count = size.min(count).max(1);
        let (mut parts, mut rest, mut begin) = (Vec::new(), target, 0);
        for part in 1..=part_count {
            let end = (u128::from(size) * u128::from(part) / u128::from(part_count)) as u64;
            let mut region = self.clone();
            region.start[dimension] += begin;
            region.shape[dimension] = end - begin;
            let (piece, next) = rest.split(dimension, end - begin)?;
            parts.push((region, piece));
            (rest, begin) = (next, end);
        }
        Ok(parts)
    }

    /// Where this box begins, counted from the beginning of another one around it.
    pub(super) fn relative_to(&self, outer: &Self) -> Vec<u64> {
        self.start.iter().zip(&outer.start).map(|(start, outer)| start - outer).collect()
    }

    /// The length of the runs of consecutive elements that the box consists of in an array of this shape, and the index
    /// of the first element of each, in C order. The box must not be empty.
    pub(super) fn runs(&self, shape: &[u64]) -> (usize, impl Iterator<Item = u64>) {
        let dimensions = shape.len();
        let mut inner = dimensions;
        // A run continues in the next row if rows are whole.
        while inner > 0 && (inner == dimensions || self.shape[inner] == shape[inner]) {
            inner -= 1;
        }
        let count = self.shape[inner..].iter().product::<u64>() as usize;
        let (start, outer_shape) = (self.start.clone(), self.shape[..inner].to_vec());
        let shape = shape.to_vec();
        let runs = positions(outer_shape).map(move |position| {
            let mut first = start.clone();
            first.iter_mut().zip(position).for_each(|(first, offset)| *first += offset);
            index_of(&first, &shape)
        });
        (count, runs)
    }

    /// Converts the element index of an error from this box to an array of this shape.
    pub(super) fn locate(&self, error: Error, shape: &[u64]) -> Error {
        let index = error.element_index().map(|index| {
            let position = position_of(index, &self.shape);
            let place: Vec<u64> = position.iter().zip(&self.start).map(|(offset, start)| start + offset).collect();
            index_of(&place, shape)
        });
        error.at_element(index)
    }
}

/// The index in C order of the element at this position.
pub(super) fn index_of(position: &[u64], shape: &[u64]) -> u64 {
    position.iter().zip(shape).fold(0, |index, (position, size)| index * size + position)
}

/// The position of the element with this index in C order.
pub(super) fn position_of(mut index: u64, shape: &[u64]) -> Vec<u64> {
    let mut position = vec![0; shape.len()];
    for (position, size) in position.iter_mut().zip(shape).rev() {
        *position = index % (*size).max(1);
        index /= (*size).max(1);
    }
    position
}

/// Every position of an array of this shape, in C order.
pub(super) fn positions(shape: Vec<u64>) -> impl Iterator<Item = Vec<u64>> {
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
pub(super) struct Tiles<'a> {
    region: &'a Region,
    /// The dimension that tiles cut. They span those after it whole, and have size 1 along those before it.
    dimension: usize,
    size: u64,
    /// Where the next tile begins, relative to the box.
    next: Option<Vec<u64>>,
}

impl<'a> Tiles<'a> {
    pub(super) fn new(region: &'a Region, element_count: usize) -> Self {
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
                    let place: Vec<u64> = position.iter().zip(&region.start).map(|(a, b)| a + b).collect();
                    index_of(&place, &array)
                })
                .collect();
            assert_eq!(indices, expected, "{region:?}");
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
    fn positions_and_indices_are_inverse() {
        let shape = [3, 4, 5];
        for (index, position) in positions(shape.to_vec()).enumerate() {
            assert_eq!(index_of(&position, &shape), index as u64);
            assert_eq!(position_of(index as u64, &shape), position);
        }
    }
}
