//! A field as blocks of 4^d values.
//!
//! Axes are x, y, z, w as in zfp: x is the last dimension of the shape and the fastest in memory. Axes that the field
//! does not have count as 1.

use super::element::Element;
use crate::error::{Error, Result};
use crate::representation::element_count;
use crate::strided::prefetch_soon;
use std::ops::Range;
use zfp_rs::ZfpDimensionality;

/// Values of a block along each axis.
pub(super) const SIDE: usize = 4;

/// How many blocks ahead of the one that is gathered values are fetched. A block of three or four dimensions touches
/// more streams than the hardware prefetcher tracks.
pub(super) const AHEAD: usize = 4;

/// The values that a block repeats outside the field, by the number of values inside: the C library's `pad_block`.
const PADDED: [[usize; SIDE]; SIDE + 1] = [[0; SIDE], [0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 2, 0], [0, 1, 2, 3]];

/// The number of dimensions of blocks of N values. A constant: the coder of a block is then chosen at compile time.
pub(super) const fn dimensionality_of<const N: usize>() -> ZfpDimensionality {
    match N {
        4 => ZfpDimensionality::D1,
        16 => ZfpDimensionality::D2,
        64 => ZfpDimensionality::D3,
        _ => ZfpDimensionality::D4,
    }
}

/// The shape of a field.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    dimensionality: ZfpDimensionality,
    /// In values.
    sizes: [usize; 4],
    /// From a value to the next one along each axis.
    strides: [usize; 4],
    /// In blocks.
    block_counts: [usize; 4],
    /// From the first value of a block to the first of each row.
    row_offsets: [usize; 64],
}

/// One block of a field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// The index of its first value.
    pub(super) origin: usize,
    /// How many of its values lie inside the field, along each axis.
    pub(super) lengths: [usize; 4],
    is_whole: bool,
}

impl Grid {
    /// No dimensions are one value.
    pub(super) fn new(shape: &[u64]) -> Result<Self> {
        let dimensionality = match shape.len() {
            0 | 1 => ZfpDimensionality::D1,
            2 => ZfpDimensionality::D2,
            3 => ZfpDimensionality::D3,
            4 => ZfpDimensionality::D4,
            count => {
                return Err(Error::unsupported(format!(
                    "shape {shape:?} has {count} dimensions and zfp takes up to 4: \
                     reshape or squeeze before it can lower their number"
                )));
            }
        };
        if isize::try_from(element_count(shape)).is_err() {
            return Err(Error::unsupported(format!("shape {shape:?} has more values than fit into memory")));
        }
        let mut sizes = [1; 4];
        for (size, extent) in sizes.iter_mut().zip(shape.iter().rev()) {
            // An extent can exceed memory only if another one is 0.
            *size = usize::try_from(*extent).unwrap_or(usize::MAX);
        }
        if shape.contains(&0) {
            sizes = [0; 4];
        }
        Ok(Self::of_sizes(dimensionality, sizes))
    }

    fn of_sizes(dimensionality: ZfpDimensionality, sizes: [usize; 4]) -> Self {
        let mut strides = [1; 4];
        for axis in 1..4 {
            strides[axis] = strides[axis - 1] * sizes[axis - 1];
        }
        let row_offsets = std::array::from_fn(|row| {
            // Those of rows outside the field, which nobody uses, may exceed memory.
            let along = |axis: usize| ((row >> (2 * (axis - 1))) % SIDE).wrapping_mul(strides[axis]);
            along(1).wrapping_add(along(2)).wrapping_add(along(3))
        });
        Self { dimensionality, sizes, strides, block_counts: sizes.map(|size| size.div_ceil(SIDE)), row_offsets }
    }

    pub(super) fn dimensionality(&self) -> ZfpDimensionality {
        self.dimensionality
    }

    /// In values, x first.
    pub(super) fn sizes(&self) -> [usize; 4] {
        self.sizes
    }

    /// Whether a shape has these sizes; leading dimensions of 1 do not count.
    pub(super) fn has_sizes_of(&self, shape: &[u64]) -> bool {
        let sizes = shape.iter().rev().copied().chain(std::iter::repeat(1));
        shape.len() <= self.sizes.len() && self.sizes.iter().zip(sizes).all(|(own, size)| *own as u64 == size)
    }

    /// In blocks, x first.
    pub(super) fn block_counts(&self) -> [usize; 4] {
        self.block_counts
    }

    pub(super) fn block_count(&self) -> usize {
        self.block_counts.iter().product()
    }

    /// The number of values of a block.
    pub(super) fn block_values(&self) -> usize {
        SIDE.pow(usize::from(self.dimensionality) as u32)
    }

    pub(super) fn value_count(&self) -> usize {
        self.sizes.iter().product()
    }

    /// About `count` parts that follow each other in memory and in the stream.
    pub(super) fn slabs(&self, count: usize) -> Vec<Self> {
        let axis = self.slowest_axis();
        // The other dimensions are one value thick, otherwise the parts would not be contiguous.
        if count < 2 || self.sizes[axis + 1..].iter().any(|size| *size != 1) {
            return vec![self.clone()];
        }
        let thickness = SIDE * self.block_counts[axis].div_ceil(count).max(1);
        (0..self.sizes[axis].div_ceil(thickness))
            .map(|number| self.slab(thickness * self.strides[axis], number))
            .collect()
    }

    /// The part with this number, if the slowest axis is cut at multiples of [`SIDE`] into parts of `value_count`
    /// values. The last part may have fewer.
    pub(super) fn slab(&self, value_count: usize, number: usize) -> Self {
        let axis = self.slowest_axis();
        let thickness = value_count / self.strides[axis];
        debug_assert!(thickness.is_multiple_of(SIDE) && thickness > 0, "slabs consist of whole blocks");
        let mut sizes = self.sizes;
        sizes[axis] = thickness.min(self.sizes[axis] - number * thickness);
        Self::of_sizes(self.dimensionality, sizes)
    }

    fn slowest_axis(&self) -> usize {
        self.block_counts.iter().rposition(|count| *count > 1).unwrap_or(0)
    }

    /// Blocks in the order of the stream.
    pub(super) fn blocks(&self, range: Range<usize>) -> impl Iterator<Item = Block> {
        let mut next = self.block_position(range.start);
        range.map(move |_| {
            let block = self.block(next);
            for (position, count) in next.iter_mut().zip(self.block_counts) {
                *position += 1;
                if *position < count {
                    break;
                }
                *position = 0;
            }
            block
        })
    }

    /// The block of this index, and how many whole blocks follow each other along x from it on, up to `most`.
    fn line(&self, first: usize, most: usize) -> (Block, usize) {
        let position = self.block_position(first);
        let block = self.block(position);
        let is_whole = block.lengths[1..self.dimensionality.into()].iter().all(|length| *length == SIDE);
        (block, if is_whole { (self.sizes[0] / SIDE).saturating_sub(position[0]).min(most) } else { 0 })
    }

    /// The values of blocks that follow each other in the stream: lines of whole blocks, row by row, and others.
    pub(super) fn gather_all<E: Element, const N: usize>(
        &self,
        mut first: usize,
        element: &E,
        cells: &[E::Memory],
        mut blocks: &mut [[E::Scalar; N]],
    ) {
        while !blocks.is_empty() {
            let (block, length) = self.line(first, blocks.len());
            let (line, rest) = blocks.split_at_mut(length.max(1));
            if length == 0 {
                self.gather(block, block.origin, element, cells, &mut line[0]);
            } else {
                for (row, offset) in self.row_offsets.iter().enumerate().take(N / SIDE) {
                    let cells = cells[block.origin + offset..].as_chunks::<SIDE>().0;
                    for (values, cells) in line.iter_mut().zip(cells) {
                        for (value, cell) in values[SIDE * row..].iter_mut().zip(cells) {
                            *value = element.promote(*cell);
                        }
                    }
                }
            }
            first += line.len();
            blocks = rest;
        }
    }

    /// The inverse of [`gather_all`](Self::gather_all). Values outside the field are dropped.
    pub(super) fn scatter_all<E: Element, const N: usize>(
        &self,
        mut first: usize,
        element: &E,
        mut blocks: &[[E::Scalar; N]],
        cells: &mut [E::Memory],
    ) {
        while !blocks.is_empty() {
            let (mut block, length) = self.line(first, blocks.len());
            let (line, rest) = blocks.split_at(length.max(1));
            if N == SIDE && length > 0 {
                demote_line(element, line.as_flattened(), &mut cells[block.origin..][..SIDE * length]);
            } else {
                for values in line {
                    self.scatter(block, element, values, cells);
                    block.origin += SIDE;
                }
            }
            first += line.len();
            blocks = rest;
        }
    }

    /// The index in the stream of the block at this position.
    pub(super) fn block_index(&self, position: [usize; 4]) -> usize {
        (0..4).rev().fold(0, |index, axis| index * self.block_counts[axis] + position[axis])
    }

    /// In blocks along each axis.
    pub(super) fn block_position(&self, mut index: usize) -> [usize; 4] {
        self.block_counts.map(|count| {
            let position = index % count.max(1);
            index /= count.max(1);
            position
        })
    }

    fn block(&self, position: [usize; 4]) -> Block {
        let mut block = Block { origin: 0, lengths: [1; 4], is_whole: true };
        for (axis, position) in position.into_iter().enumerate().take(self.dimensionality.into()) {
            let start = SIDE * position;
            block.origin += start * self.strides[axis];
            block.lengths[axis] = (self.sizes[axis] - start).min(SIDE);
            block.is_whole &= block.lengths[axis] == SIDE;
        }
        block
    }

    /// The values of a block, padded outside the field. Those of the block with the origin `next` are fetched to a
    /// cache.
    #[inline(always)] // into the loop over blocks, whose cost it shares
    pub(super) fn gather<E: Element, const N: usize>(
        &self,
        block: Block,
        next: usize,
        element: &E,
        cells: &[E::Memory],
        values: &mut [E::Scalar; N],
    ) {
        let ahead = next.wrapping_sub(block.origin);
        let cells = &cells[block.origin..];
        if block.is_whole {
            for (row, offset) in values.as_chunks_mut::<SIDE>().0.iter_mut().zip(self.row_offsets) {
                prefetch_soon(cells.as_ptr().wrapping_add(offset.wrapping_add(ahead)).cast());
                for (value, cell) in row.iter_mut().zip(&cells[offset..offset + SIDE]) {
                    *value = element.promote(*cell);
                }
            }
        } else {
            let at: [[usize; SIDE]; 4] =
                std::array::from_fn(|axis| PADDED[block.lengths[axis]].map(|position| position * self.strides[axis]));
            for (row, values) in values.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
                let cells = &cells[at[1][row & 3] + at[2][row >> 2 & 3] + at[3][row >> 4]..];
                for (value, offset) in values.iter_mut().zip(at[0]) {
                    *value = element.promote(cells[offset]);
                }
            }
        }
    }

    /// Writes the values of a block to their places. Those outside the field are dropped.
    #[inline(always)] // into the loop over blocks, whose cost it shares
    pub(super) fn scatter<E: Element, const N: usize>(
        &self,
        block: Block,
        element: &E,
        values: &[E::Scalar; N],
        cells: &mut [E::Memory],
    ) {
        let cells = &mut cells[block.origin..];
        if block.is_whole {
            if N <= PART {
                scatter_rows(element, values, &self.row_offsets, cells);
            } else {
                for (values, offsets) in values.as_chunks::<PART>().0.iter().zip(self.row_offsets.chunks(PART / SIDE)) {
                    scatter_rows(element, values, offsets, cells);
                }
            }
        } else {
            let [width, lengths @ ..] = block.lengths;
            for (row, values) in values.as_chunks::<SIDE>().0.iter().enumerate() {
                let position = [row & 3, row >> 2 & 3, row >> 4];
                if (0..3).all(|axis| position[axis] < lengths[axis]) {
                    let cells = &mut cells[self.row_offsets[row]..][..width];
                    let row = values.map(|value| element.demote(value));
                    if width == SIDE {
                        cells.copy_from_slice(&row);
                    } else {
                        cells.copy_from_slice(&row[..width]);
                    }
                }
            }
        }
    }
}

/// Demotes values that follow each other, enough at a time to fill vectors.
#[inline]
fn demote_line<E: Element>(element: &E, values: &[E::Scalar], cells: &mut [E::Memory]) {
    const AT_ONCE: usize = 16;
    let ((parts, rest), (cell_parts, cell_rest)) = (values.as_chunks(), cells.as_chunks_mut::<AT_ONCE>());
    for (values, cells) in parts.iter().zip(cell_parts) {
        *cells = element.demote_all(values);
    }
    for (value, cell) in rest.iter().zip(cell_rest) {
        *cell = element.demote(*value);
    }
}

/// The values that are demoted together: enough to fill vectors, and few enough to stay in a cache.
const PART: usize = 64;

/// Writes whole rows to their places.
#[inline(always)] // as `scatter`
fn scatter_rows<E: Element, const N: usize>(
    element: &E,
    values: &[E::Scalar; N],
    offsets: &[usize],
    cells: &mut [E::Memory],
) {
    for (row, offset) in element.demote_all(values).as_chunks::<SIDE>().0.iter().zip(offsets) {
        cells[*offset..*offset + SIDE].copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::Native;
    use super::*;

    const SHAPES: [&[u64]; 10] =
        [&[], &[1], &[9], &[4, 8], &[5, 6], &[1, 9], &[9, 70], &[3, 5, 6], &[9, 1, 2], &[2, 3, 5, 7]];

    fn cells(count: usize) -> Vec<[u8; 4]> {
        (0..count as u32).map(|i| i.to_ne_bytes()).collect()
    }

    #[test]
    fn a_shape_of_more_values_than_a_usize_counts_is_refused() {
        for shape in [[1 << 40, 1], [1 << 20, 1 << 20], [3, 1 << 30]] {
            assert_eq!(Grid::new(&shape).is_ok(), usize::BITS == 64, "{shape:?}");
        }
        assert_eq!(Grid::new(&[1 << 40, 0]).map(|grid| grid.value_count()), Ok(0));
        assert!(Grid::new(&[1 << 22; 3]).is_err());
    }

    fn check<const N: usize>(grid: &Grid) {
        let (element, cells) = (Native::<i32>::new(), cells(grid.value_count()));
        let mut back = vec![[0xA5; 4]; cells.len()];
        for (index, block) in grid.blocks(0..grid.block_count()).enumerate() {
            assert_eq!(grid.block_index(grid.block_position(index)), index);
            let mut values = [0; N];
            grid.gather(block, 0, &element, &cells, &mut values);
            grid.scatter(block, &element, &values, &mut back);
        }
        assert_eq!(back, cells, "{grid:?}");
        check_together::<N>(grid, &cells);
    }

    /// Runs of blocks from every one on.
    fn check_together<const N: usize>(grid: &Grid, cells: &[[u8; 4]]) {
        let (element, blocks) = (Native::<i32>::new(), grid.blocks(0..grid.block_count()));
        let one_by_one: Vec<[i32; N]> = blocks
            .map(|block| {
                let mut values = [0; N];
                grid.gather(block, 0, &element, cells, &mut values);
                values
            })
            .collect();
        for first in 0..one_by_one.len() {
            for end in first..=one_by_one.len() {
                let mut values = vec![[0; N]; end - first];
                grid.gather_all(first, &element, cells, &mut values);
                assert_eq!(values, one_by_one[first..end], "{grid:?} {first}");
                let (mut together, mut expected) = (vec![[0xA5; 4]; cells.len()], vec![[0xA5; 4]; cells.len()]);
                grid.scatter_all(first, &element, &values, &mut together);
                for (block, values) in grid.blocks(first..end).zip(&values) {
                    grid.scatter(block, &element, values, &mut expected);
                }
                assert_eq!(together, expected, "{grid:?} {first}");
            }
        }
    }

    fn check_dimensions(grid: &Grid) {
        match grid.dimensionality() {
            ZfpDimensionality::D1 => check::<4>(grid),
            ZfpDimensionality::D2 => check::<16>(grid),
            ZfpDimensionality::D3 => check::<64>(grid),
            ZfpDimensionality::D4 => check::<256>(grid),
        }
    }

    #[test]
    fn all_values_go_into_blocks_and_back_to_their_place() {
        for shape in SHAPES {
            check_dimensions(&Grid::new(shape).unwrap());
        }
    }

    #[test]
    fn slabs_follow_each_other_in_memory_and_in_the_stream() {
        for shape in SHAPES {
            let grid = Grid::new(shape).unwrap();
            for count in 1..5 {
                let slabs = grid.slabs(count);
                assert!(slabs.len() <= count, "{shape:?}");
                assert_eq!(slabs.iter().map(Grid::value_count).sum::<usize>(), grid.value_count(), "{shape:?}");
                assert_eq!(slabs.iter().map(Grid::block_count).sum::<usize>(), grid.block_count(), "{shape:?}");
                let mut first_value = 0;
                let mut blocks = grid.blocks(0..grid.block_count());
                for slab in &slabs {
                    for block in slab.blocks(0..slab.block_count()) {
                        let whole = blocks.next().unwrap();
                        assert_eq!((first_value + block.origin, block.lengths), (whole.origin, whole.lengths));
                    }
                    first_value += slab.value_count();
                }
            }
        }
    }

    #[test]
    fn values_outside_the_field_repeat_others_as_in_the_c_library() {
        for (size, expected) in [(1, [0, 0, 0, 0]), (2, [0, 1, 1, 0]), (3, [0, 1, 2, 0])] {
            let grid = Grid::new(&[size]).unwrap();
            let block = grid.blocks(0..1).next().unwrap();
            let mut values = [0; 4];
            grid.gather(block, 0, &Native::<i32>::new(), &cells(size as usize), &mut values);
            assert_eq!(values, expected);
        }
    }
}
