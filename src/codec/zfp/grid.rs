//! A field as blocks of 4^d values.
//!
//! Axes are x, y, z, w as in zfp: x is the last dimension of the shape and the fastest in memory. Axes that the field
//! does not have count as 1.

use super::element::Element;
use crate::error::{Error, Result};
use std::ops::Range;
use zfp_rs::ZfpDimensionality;

/// Values of a block along each axis.
pub(super) const SIDE: usize = 4;

/// Where a block finds the values behind the border of the field, by how many lie inside: the C library's `pad_block`.
const PADDED: [[usize; SIDE]; SIDE + 1] = [[0; SIDE], [0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 2, 0], [0, 1, 2, 3]];

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
        let mut sizes = [1; 4];
        for (size, extent) in sizes.iter_mut().zip(shape.iter().rev()) {
            // Only beside a 0 can an extent be larger than memory.
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
            let along = |axis: usize| (row >> (2 * (axis - 1))) % SIDE * strides[axis];
            along(1) + along(2) + along(3)
        });
        Self { dimensionality, sizes, strides, block_counts: sizes.map(|size| size.div_ceil(SIDE)), row_offsets }
    }

    pub(super) fn dimensionality(&self) -> ZfpDimensionality {
        self.dimensionality
    }

    pub(super) fn block_count(&self) -> usize {
        self.block_counts.iter().product()
    }

    pub(super) fn value_count(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Parts that follow each other in memory and in the stream: about so many, cut across the slowest axis.
    pub(super) fn slabs(&self, count: usize) -> Vec<Self> {
        let axis = self.block_counts.iter().rposition(|count| *count > 1).unwrap_or(0);
        // What lies beyond is one value thick, or the parts would not be contiguous.
        if count < 2 || self.sizes[axis + 1..].iter().any(|size| *size != 1) {
            return vec![self.clone()];
        }
        let thickness = SIDE * self.block_counts[axis].div_ceil(count).max(1);
        (0..self.sizes[axis])
            .step_by(thickness)
            .map(|start| {
                let mut sizes = self.sizes;
                sizes[axis] = thickness.min(self.sizes[axis] - start);
                Self::of_sizes(self.dimensionality, sizes)
            })
            .collect()
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

    fn block_position(&self, mut index: usize) -> [usize; 4] {
        self.block_counts.map(|count| {
            let position = index % count.max(1);
            index /= count.max(1);
            position
        })
    }

    fn block(&self, position: [usize; 4]) -> Block {
        let mut block = Block { origin: 0, lengths: [1; 4], is_whole: true };
        for axis in 0..usize::from(self.dimensionality) {
            let start = SIDE * position[axis];
            block.origin += start * self.strides[axis];
            block.lengths[axis] = (self.sizes[axis] - start).min(SIDE);
            block.is_whole &= block.lengths[axis] == SIDE;
        }
        block
    }

    /// The values of a block, filled up behind the border.
    #[inline(always)] // into the loop over blocks, whose cost it shares
    pub(super) fn gather<E: Element, const N: usize>(
        &self,
        block: Block,
        element: &E,
        cells: &[E::Memory],
    ) -> [E::Scalar; N] {
        let cells = &cells[block.origin..];
        let mut values = [E::Scalar::default(); N];
        if block.is_whole {
            for (row, offset) in values.as_chunks_mut::<SIDE>().0.iter_mut().zip(self.row_offsets) {
                for (value, cell) in row.iter_mut().zip(&cells[offset..offset + SIDE]) {
                    *value = element.promote(*cell);
                }
            }
        } else {
            for (index, value) in values.iter_mut().enumerate() {
                let offset: usize =
                    (0..4).map(|axis| PADDED[block.lengths[axis]][index >> (2 * axis) & 3] * self.strides[axis]).sum();
                *value = element.promote(cells[offset]);
            }
        }
        values
    }

    /// Puts the values of a block where they belong; those behind the border are dropped.
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
            for (row, offset) in values.as_chunks::<SIDE>().0.iter().zip(self.row_offsets) {
                for (value, cell) in row.iter().zip(&mut cells[offset..offset + SIDE]) {
                    *cell = element.demote(*value);
                }
            }
        } else {
            for (index, value) in values.iter().enumerate() {
                let position: [usize; 4] = std::array::from_fn(|axis| index >> (2 * axis) & 3);
                if (0..4).all(|axis| position[axis] < block.lengths[axis]) {
                    let offset: usize = (0..4).map(|axis| position[axis] * self.strides[axis]).sum();
                    cells[offset] = element.demote(*value);
                }
            }
        }
    }
}
