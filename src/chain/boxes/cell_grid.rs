//! An array as a grid of cells: the inner chunks of a shard, the blocks of a transform.

use super::region::{Region, positions};
use crate::representation::{index_of, position_of};

/// A cell, and the part of it that a call reads or writes.
#[derive(Debug, Clone)]
pub(in crate::chain) struct Cell {
    /// Its number in C order of the grid.
    pub(in crate::chain) number: u64,
    /// Where it begins in the array.
    pub(in crate::chain) start: Vec<u64>,
    /// The part, counted from its beginning.
    pub(in crate::chain) region: Region,
}

impl Cell {
    /// The part as a box of the array.
    pub(in crate::chain) fn in_array(&self) -> Region {
        let start = self.start.iter().zip(&self.region.start).map(|(cell, part)| cell + part).collect();
        Region { start, shape: self.region.shape.clone() }
    }
}

/// Cells of one size.
#[derive(Debug, Clone, Copy)]
pub(in crate::chain) struct CellGrid<'a> {
    /// The number of cells along each dimension.
    pub(in crate::chain) counts: &'a [u64],
    /// The size of a cell. The last ones may pass the end of the array.
    pub(in crate::chain) size: &'a [u64],
}

impl<'a> CellGrid<'a> {
    /// All of the cell with this number.
    pub(in crate::chain) fn cell(self, number: u64) -> Cell {
        let position = position_of(number, self.counts);
        let start = position.iter().zip(self.size).map(|(cell, size)| cell * size).collect();
        Cell { number, start, region: Region::whole(self.size) }
    }

    /// The cells that a box touches, as a box of the grid.
    pub(in crate::chain) fn touched(self, region: &Region) -> Region {
        let start = region.start.iter().zip(self.size).map(|(start, size)| start / size).collect();
        Region { start, shape: self.counts(region) }
    }

    /// The number of cells that a box touches along each dimension.
    pub(in crate::chain) fn counts(self, region: &Region) -> Vec<u64> {
        let count = |start: u64, extent: u64, size: u64| match extent {
            0 => 0,
            _ => (start + extent).div_ceil(size) - start / size,
        };
        let parts = region.start.iter().zip(&region.shape).zip(self.size);
        parts.map(|((start, extent), size)| count(*start, *extent, *size)).collect()
    }

    /// The cells that a box touches, in C order of the grid.
    pub(in crate::chain) fn cells(self, region: &'a Region) -> impl Iterator<Item = Cell> + Send + 'a {
        let cell_shape = self.size;
        let first: Vec<u64> = region.start.iter().zip(cell_shape).map(|(start, size)| start / size).collect();
        positions(self.counts(region)).map(move |mut start| {
            start.iter_mut().zip(&first).for_each(|(cell, first)| *cell += first);
            let number = index_of(&start, self.counts);
            let mut part = region.clone();
            for (dimension, (start, size)) in start.iter_mut().zip(cell_shape).enumerate() {
                *start *= size;
                let end = (*start + size).min(part.start[dimension] + part.shape[dimension]);
                let begin = (*start).max(part.start[dimension]);
                (part.start[dimension], part.shape[dimension]) = (begin - *start, end - begin);
            }
            Cell { number, start, region: part }
        })
    }
}
