//! Blocks whose rows or columns collide in the cache, as those at powers of two do: tiles take their rows from a staging
//! buffer where they do not collide, and leave their columns in another one.
#![expect(unsafe_code, reason = "views of one memory may interleave, so that their elements are reached by pointers")]

use super::rows::{Rows, Vector};
use super::runs::Block;
use crate::memory::LINE_SIZE;
use crate::strided::plane::{BAND_SIZE, COLUMN_STRIDE, Runs};
use crate::strided::table::{MOST_AT_ONCE, Places};
use std::marker::PhantomData;

/// The places of the columns of a tile in their staging buffer.
static COLUMN_PLACES: [isize; MOST_AT_ONCE] = {
    let mut places = [0; MOST_AT_ONCE];
    let mut i = 0;
    while i < MOST_AT_ONCE {
        places[i] = (i * COLUMN_STRIDE) as isize;
        i += 1;
    }
    places
};

/// The staging buffers of blocks of elements of `SIZE` bytes.
pub(super) struct Staging<V, R, N, const SIZE: usize, const HEIGHT: usize> {
    rows: *mut u8,
    columns: *mut u8,
    /// The place of each row in its staging buffer.
    row_places: [isize; MOST_AT_ONCE],
    kinds: PhantomData<(V, R, N)>,
}

impl<V: Vector, R: Rows<V>, N: Rows<V::Part>, const SIZE: usize, const HEIGHT: usize> Staging<V, R, N, SIZE, HEIGHT> {
    #[inline(always)] // for the instruction set of the caller
    pub(super) fn new(runs: &Runs<'_>) -> Self {
        let columns = runs.staging.cast::<u8>();
        let rows = columns.wrapping_add(runs.width / SIZE * COLUMN_STRIDE);
        let mut row_places = [0; MOST_AT_ONCE];
        for (i, place) in row_places.iter_mut().enumerate() {
            *place = (i * (runs.width + LINE_SIZE)) as isize;
        }
        Self { rows, columns, row_places, kinds: PhantomData }
    }

    /// Copies a block, past the caches if it `streams`.
    ///
    /// # Safety
    /// As [`Block::tiles`]; the staging buffers have room for the block.
    #[inline(always)] // for the instruction set of the caller
    pub(super) unsafe fn copy(&self, block: &Block<'_>, streams: bool) {
        let height = R::COUNT * V::PARTS * HEIGHT;
        let rows = Places::at_steps(&self.row_places, height);
        let columns = Places::at_steps(&COLUMN_PLACES, block.columns.count());
        let size = block.columns.count() * SIZE;
        for row in (0..block.rows.count()).step_by(height) {
            let row = row.min(block.rows.count() - height);
            let (places, first) = block.rows.some(row, height);
            let source = block.source.wrapping_offset(first);
            for (from, to) in places.iter().zip(&self.row_places) {
                let (source, target) = (source.wrapping_offset(*from), self.rows.wrapping_offset(*to));
                // SAFETY: the part of a row in the block, for which there is a place in the staging buffer.
                unsafe { copy_bytes::<V, false>(source, target, size) };
            }
            let target = self.columns.wrapping_add(row * SIZE);
            let staged = Block { rows, columns, source: self.rows, target, next: None, parts: block.parts };
            // SAFETY: tiles in the staging buffers.
            unsafe { staged.tiles::<V, R, N, SIZE, HEIGHT, false>() };
        }
        let size = block.rows.count() * SIZE;
        for column in 0..block.columns.count() {
            let source = self.columns.wrapping_offset(columns.at(column));
            let target = block.target.wrapping_offset(block.columns.at(column));
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
/// The processor has the instructions of the vectors, and `size` bytes, at least a vector, can be read and written. If
/// it `STREAMS`, the target is aligned.
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
