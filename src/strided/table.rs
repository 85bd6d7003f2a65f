//! Where the elements of runs and rows lie on the other side.

use super::nest::Axis;
use super::plane::BAND_SIZE;

/// The places of the elements of a band and of a row, each on the other side.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) rows: Table,
    pub(super) columns: Table,
}

impl Tables {
    /// Tables for runs and rows of this many elements.
    pub(super) fn new(count: usize, row_count: usize) -> Self {
        Self { rows: Table::new(count), columns: Table::new(row_count) }
    }
}

/// The places of some elements in a row: the runs of one copy have them in common.
#[derive(Debug)]
pub(super) struct Table {
    first: usize,
    count: usize,
    places: Vec<isize>,
}

impl Table {
    /// No places, with room for as many as a band of `count` elements has.
    fn new(count: usize) -> Self {
        Self { first: 0, count: 0, places: Vec::with_capacity(count.min(BAND_SIZE)) }
    }

    /// The places on one side, by its strides, of `count` elements along some axes from `first` on, and how much later than
    /// they say the elements are: always the same axes and strides, and at most [`BAND_SIZE`] elements.
    #[inline]
    pub(super) fn of(
        &mut self,
        axes: &[Axis],
        stride: impl Fn(&Axis) -> isize,
        first: usize,
        count: usize,
    ) -> (&[isize], isize) {
        // Along a single axis, all parts have the same places.
        let (first, shift) = match axes {
            [axis] => (0, (first as isize).wrapping_mul(stride(axis))),
            _ => (first, 0),
        };
        if (first, count) != (self.first, self.count) {
            (self.first, self.count) = (first, count);
            self.places.resize(count, 0);
            places(axes, stride, first, &mut self.places);
        }
        (&self.places, shift)
    }
}

/// The places on one side, by its strides, of the elements along some axes from `first` on.
fn places(axes: &[Axis], stride: impl Fn(&Axis) -> isize, first: usize, places: &mut [isize]) {
    let Some((inner, outer)) = axes.split_last() else { return };
    let (mut inner_index, mut outer_index) = (first % inner.size, first / inner.size);
    let mut rest = places;
    while !rest.is_empty() {
        let (part, next) = rest.split_at_mut(rest.len().min(inner.size - inner_index));
        let mut place = outer_place(outer, &stride, outer_index).wrapping_add(inner_index as isize * stride(inner));
        for element in part {
            *element = place;
            place = place.wrapping_add(stride(inner));
        }
        (inner_index, outer_index) = (0, outer_index + 1);
        rest = next;
    }
}

/// How far a side goes in this many steps along some axes, the last of which is the fastest.
fn outer_place(axes: &[Axis], stride: impl Fn(&Axis) -> isize, mut index: usize) -> isize {
    let mut place = 0_isize;
    for axis in axes.iter().rev() {
        place = place.wrapping_add((index % axis.size) as isize * stride(axis));
        index /= axis.size;
    }
    place
}
