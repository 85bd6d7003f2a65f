//! Where the elements of runs and rows lie on the other side.
#![expect(unsafe_code, reason = "tiles take places without a check")]

use super::nest::Axis;
use super::plane::BAND_SIZE;
use crate::memory::LINE_SIZE;

/// The places of the elements of a band and of a row, each on the other side.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) rows: Table,
    pub(super) columns: Table,
}

impl Tables {
    /// No places.
    pub(super) const fn new() -> Self {
        Self { rows: Table::new(), columns: Table::new() }
    }
}

/// The places of some elements in a row: the runs of one copy have them in common.
#[derive(Debug)]
pub(super) struct Table {
    /// Along a single axis, the distance of the elements.
    stride: Option<isize>,
    /// At this distance.
    steps: [isize; MOST_AT_ONCE],
    /// Along several axes.
    first: usize,
    places: Vec<isize>,
}

impl Table {
    /// No places.
    const fn new() -> Self {
        Self { stride: None, steps: [0; MOST_AT_ONCE], first: 0, places: Vec::new() }
    }

    /// Gets ready for elements along these axes, which are at most `count`.
    pub(super) fn prepare(&mut self, axes: &[Axis], stride: impl Fn(&Axis) -> isize, count: usize) {
        if let [axis] = axes {
            let (stride, mut place) = (stride(axis), 0_isize);
            for step in self.steps.iter_mut().take(count) {
                *step = place;
                place = place.wrapping_add(stride);
            }
            self.stride = Some(stride);
        } else {
            self.places.reserve_exact(count.min(2 * BAND_SIZE));
        }
    }

    /// The places on one side, by its strides, of `count` elements along some axes from `first` on: always the same
    /// axes and strides, and at most twice [`BAND_SIZE`] elements.
    #[inline]
    pub(super) fn of(
        &mut self,
        axes: &[Axis],
        stride: impl Fn(&Axis) -> isize,
        first: usize,
        count: usize,
    ) -> Places<'_> {
        if let Some(stride) = self.stride {
            let first = stride.wrapping_mul(first as isize);
            return Places { table: &self.steps, stride: Some(stride), first, count };
        }
        if (first, count) != (self.first, self.places.len()) {
            self.first = first;
            self.places.resize(count, 0);
            places(axes, stride, first, &mut self.places);
        }
        Places { table: &self.places, stride: None, first: 0, count }
    }
}

/// The most elements whose places are asked for at once: those of a tile.
pub(super) const MOST_AT_ONCE: usize = LINE_SIZE;

/// The places of the elements of a part of a run or a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    /// Of all elements; or if they are at one distance, of the first ones.
    table: &'a [isize],
    stride: Option<isize>,
    /// What is added to all.
    first: isize,
    count: usize,
}

impl<'a> Places<'a> {
    /// Elements at one distance, whose places are those of the table as far as it goes.
    pub(super) fn at_steps(table: &'a [isize; MOST_AT_ONCE], count: usize) -> Self {
        Self { table, stride: Some(table[1]), first: 0, count }
    }

    /// Those of the first ones, if all are at one distance.
    pub(super) fn steps(&self) -> Option<Steps> {
        self.stride.map(|stride| Steps { stride, first: 0 })
    }

    /// The first `count` of them, and the others.
    pub(super) fn split(self, count: usize) -> (Self, Self) {
        let first = Self { count, ..self };
        let rest = match self.stride {
            Some(stride) => {
                let shift = stride.wrapping_mul(count as isize);
                Self { first: self.first.wrapping_add(shift), count: self.count - count, ..self }
            }
            None => Self { table: &self.table[count..], count: self.count - count, ..self },
        };
        (first, rest)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The place of each of `count` elements from `first` on, and what is added to all of them: at most
    /// [`MOST_AT_ONCE`].
    #[inline(always)] // for the instruction set of the caller
    pub(super) fn some(&self, first: usize, count: usize) -> (&'a [isize], isize) {
        match self.stride {
            Some(stride) => (&self.table[..count], self.first.wrapping_add(stride.wrapping_mul(first as isize))),
            None => (&self.table[first..first + count], self.first),
        }
    }

    #[inline(always)] // for the instruction set of the caller
    pub(super) fn at(&self, index: usize) -> isize {
        let place = self.stride.map_or_else(|| self.table[index], |stride| stride.wrapping_mul(index as isize));
        self.first.wrapping_add(place)
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

/// Where rows or columns lie.
pub(super) trait Place: Copy {
    /// # Safety
    /// There is one with this number.
    unsafe fn at(self, index: usize) -> isize;
    /// Those after `count` of them.
    fn after(self, count: usize) -> Self;
}

/// In a table.
impl Place for *const isize {
    #[inline(always)]
    unsafe fn at(self, index: usize) -> isize {
        // SAFETY: as the caller promises.
        unsafe { *self.add(index) }
    }

    #[inline(always)]
    fn after(self, count: usize) -> Self {
        self.wrapping_add(count)
    }
}

/// At one distance.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    pub(super) stride: isize,
    pub(super) first: isize,
}

impl Place for Steps {
    #[inline(always)]
    unsafe fn at(self, index: usize) -> isize {
        self.first.wrapping_add(self.stride.wrapping_mul(index as isize))
    }

    #[inline(always)]
    fn after(self, count: usize) -> Self {
        Self { first: self.first.wrapping_add(self.stride.wrapping_mul(count as isize)), ..self }
    }
}
