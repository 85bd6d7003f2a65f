//! Copies whose target is contiguous along several axes, or whose rows collide in the cache: by blocks of runs.
//!
//! A run is all elements that lie back to back in the target, and a row all those that do in the source, each over as many
//! axes as it takes. A block has 512 bytes of a run, and up to 256 of the rows: tables have the place of each of its elements on
//! the other side, so that short axes cost no short tiles. Several cache lines in a row are read and written at once, because
//! processors fetch single ones at a stride of a power of two at a third of the speed. Tiles take their rows from a stage
//! where lines do not collide, and leave their columns in another one if the columns of the target would.
#![expect(unsafe_code, reason = "source and target are pointers, of which each element is reached once")]

use super::rows::{Both, Row, Rows, Vector};
use super::{LINE_SIZE, Runs, tile};
use crate::strided::nest::Axis;
use crate::strided::plane::{BAND_SIZE, BAND_STRIDE, MAX_COLUMNS};

/// Copies runs by tiles of vectors `V`; false if a run has too few elements for one.
///
/// # Safety
/// The processor has the instructions of the vectors, the elements of the runs can be read and written, and rows of the
/// source have at least 16 bytes.
#[inline(always)] // for the instruction set of the caller
pub(super) unsafe fn by_runs<V: Vector>(runs: &Runs<'_>) -> bool {
    if runs.count * runs.block < 16 * V::PARTS {
        return false;
    }
    // SAFETY: a run has at least the elements of a vector, and a row of the source at least those of a block.
    unsafe {
        match runs.row_count * runs.block {
            ..32 => of_size::<V, 16>(runs),
            32..64 => of_size::<V, 32>(runs),
            size if size < 128 || !runs.is_staged => of_size::<V, 64>(runs),
            size if size < 256 || runs.block == 1 => of_size::<V, 128>(runs),
            _ => of_size::<V, 256>(runs),
        }
    }
    true
}

/// # Safety
/// As [`by_runs`], with rows of at least `WIDTH` bytes.
#[inline(always)] // for the instruction set of the caller
unsafe fn of_size<V: Vector, const WIDTH: usize>(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    unsafe {
        match runs.block {
            1 => blocks::<Both<Both<Both<Both<Row<V>>>>>, 1, WIDTH>(runs),
            2 => blocks::<Both<Both<Both<Row<V>>>>, 2, WIDTH>(runs),
            4 => blocks::<Both<Both<Row<V>>>, 4, WIDTH>(runs),
            _ => blocks::<Both<Row<V>>, 8, WIDTH>(runs),
        }
    }
}

/// All blocks. The last ones begin early enough to be whole, and write some elements again.
///
/// # Safety
/// As [`of_size`], with elements of `SIZE` bytes.
#[inline(always)] // for the instruction set of the caller
unsafe fn blocks<R: Rows, const SIZE: usize, const WIDTH: usize>(runs: &Runs<'_>) {
    let columns = WIDTH / SIZE;
    let count = (BAND_SIZE / SIZE).min(runs.count);
    let mut block = Block::<SIZE, WIDTH> { rows: [0; BAND_SIZE], count, columns: [0; MAX_COLUMNS] };
    // SAFETY: the caller's stage.
    let (row_stage, column_stage) = unsafe { (&raw mut (*runs.stage).rows, &raw mut (*runs.stage).columns) };
    let (row_stage, column_stage) = (row_stage.cast::<u8>(), column_stage.cast::<u8>());
    for first in (0..runs.count).step_by(count) {
        let first = first.min(runs.count - count);
        places(runs.run, |axis| axis.source, first, &mut block.rows[..count]);
        for column in (0..runs.row_count).step_by(columns) {
            let column = column.min(runs.row_count - columns);
            places(runs.row, |axis| axis.target, column, &mut block.columns[..columns]);
            let source = runs.source.wrapping_add(column * SIZE);
            let target = runs.target.wrapping_add(first * SIZE);
            // SAFETY: `count` elements of the run from the first on, and `columns` of the row from this one on.
            unsafe {
                if !runs.is_staged {
                    let stride = block.columns[columns - 1].wrapping_sub(block.columns[0]) / (columns as isize - 1);
                    block.tiles::<R>(source, row_stage, target.wrapping_offset(block.columns[0]), stride);
                    continue;
                }
                block.tiles::<R>(source, row_stage, column_stage, BAND_STRIDE as isize);
                block.unstage(column_stage, target);
            }
        }
    }
}

/// A part of a run of elements of `SIZE` bytes, and `WIDTH` bytes of each row.
struct Block<const SIZE: usize, const WIDTH: usize> {
    /// The place in the source of each element of the run, from the beginning of the source.
    rows: [isize; BAND_SIZE],
    /// How many elements of the run there are.
    count: usize,
    /// The place in the target of each element of the rows, from the beginning of the target.
    columns: [isize; MAX_COLUMNS],
}

impl<const SIZE: usize, const WIDTH: usize> Block<SIZE, WIDTH> {
    /// From one row to the next in its stage.
    const ROW_STRIDE: usize = if WIDTH < LINE_SIZE { LINE_SIZE } else { WIDTH + LINE_SIZE };

    /// Writes the columns to `target`, `stride` apart.
    ///
    /// # Safety
    /// The processor has the instructions of the vectors, each row has `WIDTH` bytes at `source`, `staged` has room for the
    /// rows of a tile, and the part of the run fits the target.
    #[inline(always)] // for the instruction set of the caller
    unsafe fn tiles<R: Rows>(&self, source: *const u8, staged: *mut u8, target: *mut u8, stride: isize) {
        let (rows, columns) = (R::COUNT * R::PARTS, 16 / SIZE);
        for i in (0..self.count).step_by(rows) {
            let i = i.min(self.count - rows);
            for (at, row) in self.rows[i..i + rows].iter().enumerate() {
                // SAFETY: the bytes of a row, and its place in the stage.
                unsafe { copy_bytes::<WIDTH>(source.wrapping_offset(*row), staged.add(at * Self::ROW_STRIDE)) };
            }
            for part in 0..WIDTH / 16 {
                let target = target.wrapping_add(i * SIZE).wrapping_offset((part * columns) as isize * stride);
                // SAFETY: the rows of a tile are staged, and its columns are in the target.
                unsafe { tile::<R, SIZE, false>(staged.add(part * 16), Self::ROW_STRIDE as isize, target, stride) };
            }
        }
    }

    /// Copies the columns from their stage to the target.
    ///
    /// # Safety
    /// The stage has them, and the target has room.
    #[inline(always)] // for the instruction set of the caller
    unsafe fn unstage(&self, staged: *const u8, target: *mut u8) {
        let size = self.count * SIZE;
        for (index, column) in self.columns[..WIDTH / SIZE].iter().enumerate() {
            let (source, target) = (staged.wrapping_add(index * BAND_STRIDE), target.wrapping_offset(*column));
            // SAFETY: `size` bytes of a column, at least 16 and at most `BAND_SIZE`.
            unsafe {
                if size == BAND_SIZE {
                    copy_bytes::<BAND_SIZE>(source, target);
                    continue;
                }
                for at in (0..size - 15).step_by(16) {
                    copy_bytes::<16>(source.add(at), target.add(at));
                }
                copy_bytes::<16>(source.add(size - 16), target.add(size - 16));
            }
        }
    }
}

/// By pieces of at most a cache line: larger ones would be calls.
///
/// # Safety
/// `SIZE` bytes can be read and written.
#[inline(always)] // for the instruction set of the caller
unsafe fn copy_bytes<const SIZE: usize>(source: *const u8, target: *mut u8) {
    // SAFETY: arrays of bytes need no alignment; for the rest, see above.
    unsafe {
        if SIZE < LINE_SIZE {
            return target.cast::<[u8; SIZE]>().write(source.cast::<[u8; SIZE]>().read());
        }
        for at in (0..SIZE).step_by(LINE_SIZE) {
            target.add(at).cast::<[u8; LINE_SIZE]>().write(source.add(at).cast::<[u8; LINE_SIZE]>().read());
        }
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
