//! Cuts elements that have given indices in an array into boxes of that array.

use crate::chain::boxes::region::{Region, index_steps};
use crate::error::Result;
use crate::representation::position_of;

/// A dimension of elements that have indices in an array, or several dimensions that are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexAxis {
    pub(in crate::chain) size: u64,
    /// What a step adds to the index of an element in C order of the array.
    pub(in crate::chain) index: u64,
    /// What it adds to the number of an element.
    pub(in crate::chain) number: u64,
}

/// Elements that are a box of the array.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexBox<'a> {
    pub(in crate::chain) region: &'a Region,
    /// The number of the first element.
    pub(in crate::chain) first: u64,
    /// What a step along each dimension adds to the number of an element.
    pub(in crate::chain) strides: &'a [u64],
}

/// Makes the boxes, one after the other.
#[derive(Debug)]
pub(super) struct IndexBoxes<'a> {
    shape: &'a [u64],
    /// What a step along each dimension adds to an index.
    steps: Vec<u64>,
    /// First the axes along which each element is in another box, with `None`. Then the others, each with the dimension
    /// along which it goes, the innermost first.
    axes: Vec<(IndexAxis, Option<usize>)>,
    /// The box so far.
    region: Region,
    strides: Vec<u64>,
}

/// The first element of what is to become a box.
#[derive(Debug, Clone, Copy)]
struct First {
    index: u64,
    number: u64,
}

impl First {
    fn after(self, axis: &IndexAxis, count: u64) -> Self {
        Self { index: self.index + count * axis.index, number: self.number + count * axis.number }
    }
}

type Work<'a> = dyn FnMut(IndexBox<'_>) -> Result<()> + 'a;

impl<'a> IndexBoxes<'a> {
    /// For elements of these dimensions in an array of this shape. Unless boxes may have `any_strides`, the numbers of a
    /// box grow by the same amount from each element to the next one in C order.
    pub(in crate::chain) fn new(shape: &'a [u64], mut axes: Vec<IndexAxis>, any_strides: bool) -> Self {
        let steps = index_steps(shape);
        axes.retain(|axis| axis.size != 1);
        axes.sort_by_key(|axis| axis.index);
        axes.dedup_by(|outer, inner| {
            let goes_on = outer.index == inner.index * inner.size && outer.number == inner.number * inner.size;
            if goes_on {
                inner.size *= outer.size;
            }
            goes_on
        });
        // The dimensions from this one on have an axis already.
        let mut free = shape.len();
        let mut dimension_of = |axis: &IndexAxis| {
            let found = (0..free).rev().find(|dimension| shape[*dimension] > 1 && steps[*dimension] == axis.index)?;
            free = if any_strides { outermost(shape, found, axis.size) } else { 0 };
            Some(found)
        };
        let mut axes: Vec<_> = axes.into_iter().map(|axis| (axis, dimension_of(&axis))).collect();
        // Where rows begin must be known before an axis is cut there; a later axis that goes along an outer dimension does
        // not change it.
        axes.sort_by_key(|(_, dimension)| dimension.is_some());
        let region = Region::whole(&vec![1; shape.len()]);
        Self { shape, steps, axes, region, strides: vec![0; shape.len()] }
    }

    /// Calls `work` with each box; `index` is that of the first element.
    pub(in crate::chain) fn for_each(&mut self, index: u64, work: &mut Work<'_>) -> Result<()> {
        if self.axes.iter().any(|(axis, _)| axis.size == 0) {
            return Ok(());
        }
        self.of_axes(0, First { index, number: 0 }, work)
    }

    /// The boxes of the axes from this one on.
    fn of_axes(&mut self, number: usize, first: First, work: &mut Work<'_>) -> Result<()> {
        match self.axes.get(number).copied() {
            None => {
                self.region.start = position_of(first.index, self.shape);
                work(IndexBox { region: &self.region, first: first.number, strides: &self.strides })
            }
            Some((axis, Some(dimension))) => {
                self.along(dimension, axis, first, &mut |boxes, first| boxes.of_axes(number + 1, first, work))
            }
            Some((axis, None)) => {
                (0..axis.size).try_for_each(|i| self.of_axes(number + 1, first.after(&axis, i), work))
            }
        }
    }

    /// Cuts an axis where the rows along a dimension end: after the end of a row, it goes on in the next one.
    fn along(
        &mut self,
        dimension: usize,
        axis: IndexAxis,
        first: First,
        then: &mut dyn FnMut(&mut Self, First) -> Result<()>,
    ) -> Result<()> {
        let row = self.shape[dimension];
        let start = first.index / self.steps[dimension] % row;
        if start == 0 && axis.size.is_multiple_of(row) && dimension > 0 {
            let rows = IndexAxis { size: axis.size / row, index: axis.index * row, number: axis.number * row };
            return self.with(dimension, row, axis.number, &mut |boxes| boxes.along(dimension - 1, rows, first, then));
        }
        if start + axis.size <= row {
            return self.with(dimension, axis.size, axis.number, &mut |boxes| then(boxes, first));
        }
        let count = if start > 0 { row - start } else { axis.size / row * row };
        self.along(dimension, IndexAxis { size: count, ..axis }, first, then)?;
        self.along(dimension, IndexAxis { size: axis.size - count, ..axis }, first.after(&axis, count), then)
    }

    /// Calls `work` while the box has this size along a dimension.
    fn with(
        &mut self,
        dimension: usize,
        size: u64,
        stride: u64,
        work: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if size == 1 {
            return work(self);
        }
        (self.region.shape[dimension], self.strides[dimension]) = (size, stride);
        let result = work(self);
        (self.region.shape[dimension], self.strides[dimension]) = (1, 0);
        result
    }
}

/// The outermost dimension along which a box may have several of `count` elements that follow one another from some place
/// in a dimension on.
fn outermost(shape: &[u64], dimension: usize, count: u64) -> usize {
    let (mut dimension, mut count) = (dimension, count);
    while dimension > 0 && count >= 2 * shape[dimension] {
        count /= shape[dimension];
        dimension -= 1;
    }
    dimension
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::boxes::region::positions;
    use crate::representation::{element_count, index_of};

    /// The axes of a box of an array of this shape, in this order of its dimensions, and the index of its first element.
    fn axes_of(after: &[u64], order: &[usize], region: &Region) -> (u64, Vec<IndexAxis>) {
        let (mut axes, mut number) = (Vec::new(), 1);
        for dimension in order.iter().rev() {
            let (size, index) = (region.shape[*dimension], after[dimension + 1..].iter().product());
            axes.push(IndexAxis { size, index, number });
            number *= size;
        }
        (index_of(&region.start, after), axes)
    }

    #[test]
    fn no_elements_are_no_boxes() {
        let axes = vec![IndexAxis { size: 4, index: 0, number: 0 }, IndexAxis { size: 0, index: 1, number: 1 }];
        for any_strides in [false, true] {
            let mut boxes = IndexBoxes::new(&[5, 0], axes.clone(), any_strides);
            boxes.for_each(0, &mut |found| panic!("{found:?}")).unwrap();
        }
    }

    /// How many boxes the elements are. Each has its place in one of them.
    fn check(before: &[u64], after: &[u64], order: &[usize], region: &Region, any_strides: bool) -> usize {
        let (first, axes) = axes_of(after, order, region);
        let mut found = vec![Vec::new(); element_count(&region.shape) as usize];
        let mut box_count = 0;
        let mut boxes = IndexBoxes::new(before, axes, any_strides);
        let mut visit = |IndexBox { region, first, strides }: IndexBox<'_>| {
            let mut numbers = Vec::new();
            for position in positions(region.shape.clone()) {
                let place: Vec<u64> = position.iter().zip(&region.start).map(|(a, b)| a + b).collect();
                assert!(place.iter().zip(before).all(|(place, size)| place < size), "{region:?}");
                let number = first + position.iter().zip(strides).map(|(a, b)| a * b).sum::<u64>();
                found[number as usize].push(index_of(&place, before));
                numbers.push(number);
            }
            let is_even = numbers.windows(3).all(|numbers| numbers[1] * 2 == numbers[0] + numbers[2]);
            assert!(any_strides || is_even, "{numbers:?}");
            box_count += 1;
            Ok(())
        };
        boxes.for_each(first, &mut visit).unwrap();
        let arranged: Vec<u64> = order.iter().map(|dimension| region.shape[*dimension]).collect();
        for (position, found) in positions(arranged).zip(&found) {
            let mut place = region.start.clone();
            order.iter().zip(&position).for_each(|(dimension, step)| place[*dimension] += step);
            assert_eq!(*found, [index_of(&place, after)], "{region:?} of {after:?}, {order:?}, in {before:?}");
        }
        box_count
    }

    #[test]
    fn every_element_of_every_box_is_in_one_box_of_the_other_shape() {
        let shapes: [&[u64]; 8] =
            [&[24], &[4, 6], &[6, 4], &[2, 3, 4], &[3, 1, 8], &[2, 12, 1], &[2, 2, 2, 3], &[12, 2]];
        for before in shapes {
            for after in shapes {
                let forwards: Vec<usize> = (0..after.len()).collect();
                let backwards = forwards.iter().rev().copied().collect();
                for start in positions(after.to_vec()) {
                    let most = after.iter().zip(&start).map(|(size, start)| size - start).collect();
                    for shape in positions(most) {
                        let shape = shape.iter().map(|size| size + 1).collect();
                        let region = Region { start: start.clone(), shape };
                        for order in [&forwards, &backwards] {
                            check(before, after, order, &region, true);
                            check(before, after, order, &region, false);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rows_of_several_dimensions_are_few_boxes() {
        let region = |start: &[u64], shape: &[u64]| Region { start: start.to_vec(), shape: shape.to_vec() };
        for (before, after, order, region, expected) in [
            (&[16_u64, 16, 8][..], &[256_u64, 8][..], &[0, 1][..], region(&[32, 4], &[32, 4]), 1),
            (&[16, 16, 8], &[256, 8], &[1, 0], region(&[32, 4], &[32, 4]), 1),
            (&[16, 16, 8], &[256, 8], &[0, 1], region(&[40, 4], &[32, 4]), 3),
            (&[16, 16, 8], &[16, 128], &[0, 1], region(&[2, 16], &[4, 64]), 1),
            (&[8, 16, 8], &[4, 32, 8], &[1, 0, 2], region(&[0, 0, 0], &[4, 32, 8]), 4),
            (&[16, 12], &[12, 16], &[1, 0], region(&[0, 0], &[12, 16]), 24),
        ] {
            assert_eq!(check(before, after, order, &region, true), expected, "{region:?} of {after:?} in {before:?}");
        }
    }
}
