//! Blocks whose rows or columns collide in the cache, as those at powers of two do: tiles take their rows from a stage
//! where they do not collide, and leave their columns in another one.
#![expect(unsafe_code, reason = "source and target are pointers, of which each element is reached once")]

use super::rows::{Rows, Vector};
use super::runs::Block;
use crate::strided::plane::{BAND_SIZE, COLUMN_STRIDE, LINE_SIZE, Runs};
use std::marker::PhantomData;

/// The place of each column in its stage. On the stack, all sizes of elements together would take a third of the 64 KiB
/// that a thread may have.
static COLUMN_PLACES: [isize; BAND_SIZE] = {
    let mut places = [0; BAND_SIZE];
    let mut i = 0;
    while i < BAND_SIZE {
        places[i] = (i * COLUMN_STRIDE) as isize;
        i += 1;
    }
    places
};

/// The stages of blocks of elements of `SIZE` bytes.
pub(super) struct Staged<V, R, N, const SIZE: usize, const HEIGHT: usize> {
    rows: *mut u8,
    columns: *mut u8,
    /// The place of each row in its stage.
    row_places: [isize; LINE_SIZE],
    kinds: PhantomData<(V, R, N)>,
}

impl<V: Vector, R: Rows<V>, N: Rows<V::Part>, const SIZE: usize, const HEIGHT: usize> Staged<V, R, N, SIZE, HEIGHT> {
    #[inline(always)] // for the instruction set of the caller
    pub(super) fn new(runs: &Runs<'_>) -> Self {
        let columns = runs.stage.cast::<u8>();
        let rows = columns.wrapping_add(runs.width / SIZE * COLUMN_STRIDE);
        let mut row_places = [0; LINE_SIZE];
        for (i, place) in row_places.iter_mut().enumerate() {
            *place = (i * (runs.width + LINE_SIZE)) as isize;
        }
        Self { rows, columns, row_places, kinds: PhantomData }
    }

    /// Copies a block, past the caches if it `streams`.
    ///
    /// # Safety
    /// As [`Block::tiles`]; the stages have room for the block.
    #[inline(always)] // for the instruction set of the caller
    pub(super) unsafe fn copy(&self, block: &Block<'_>, streams: bool) {
        let height = R::COUNT * V::PARTS * HEIGHT;
        let (rows, columns) = (&self.row_places[..height], &COLUMN_PLACES[..block.columns.len()]);
        let size = block.columns.len() * SIZE;
        for row in (0..block.rows.len()).step_by(height) {
            let row = row.min(block.rows.len() - height);
            for (from, to) in block.rows[row..row + height].iter().zip(rows) {
                let (source, target) = (block.source.wrapping_offset(*from), self.rows.wrapping_offset(*to));
                // SAFETY: the part of a row in the block, for which there is a place in the stage.
                unsafe { copy_bytes::<V, false>(source, target, size) };
            }
            let target = self.columns.wrapping_add(row * SIZE);
            let staged = Block { rows, columns, source: self.rows, target, is_large: false, parts: block.parts };
            // SAFETY: tiles in the stages.
            unsafe { staged.tiles::<V, R, N, SIZE, HEIGHT, false>() };
        }
        for (from, to) in columns.iter().zip(block.columns) {
            let (source, target) = (self.columns.wrapping_offset(*from), block.target.wrapping_offset(*to));
            let size = block.rows.len() * SIZE;
            // SAFETY: the part of a run in the block, which is aligned if it streams.
            unsafe {
                if streams {
                    copy_bytes::<V, true>(source, target, size);
                } else {
                    copy_bytes::<V, false>(source, target, size);
                }
            }
        }
    }
}

/// # Safety
/// The processor has the instructions of the vectors, and `size` bytes, at least a vector, can be read and written. If it
/// `STREAMS`, the target is aligned.
#[inline(always)] // for the instruction set of the caller
unsafe fn copy_bytes<V: Vector, const STREAMS: bool>(source: *const u8, target: *mut u8, size: usize) {
    let vector = 16 * V::PARTS;
    // SAFETY: all vectors are within the bytes.
    unsafe {
        match size {
            // Unrolled, all of a row is asked for at once.
            BAND_SIZE => return copy_vectors::<V, STREAMS>(source, target, BAND_SIZE / vector),
            256 => return copy_vectors::<V, STREAMS>(source, target, 256 / vector),
            128 => return copy_vectors::<V, STREAMS>(source, target, 128 / vector),
            _ => copy_vectors::<V, STREAMS>(source, target, size / vector),
        }
        if !size.is_multiple_of(vector) {
            V::load::<1>(source.add(size - vector)).store::<1>(target.add(size - vector));
        }
    }
}

/// # Safety
/// As [`copy_bytes`], with this many vectors.
#[inline(always)] // for the instruction set of the caller
unsafe fn copy_vectors<V: Vector, const STREAMS: bool>(source: *const u8, target: *mut u8, count: usize) {
    for i in 0..count {
        let at = i * 16 * V::PARTS;
        // SAFETY: as the caller promises.
        unsafe {
            let vector = V::load::<1>(source.add(at));
            if STREAMS { vector.stream(target.add(at)) } else { vector.store::<1>(target.add(at)) }
        }
    }
}
