//! Copies whose target is contiguous along several axes, or whose rows collide in the cache: by bands of a run.
//!
//! A run is all elements that lie back to back in the target, over as many axes as it takes; a band is 256 bytes of it.
//! A table has the place of each of its elements in the source, so that a short innermost axis costs no short tiles. Each
//! cache line of the source is read once, into a stage where lines do not collide, and a tile takes its rows from there.
//! Where the rows of the target would collide, the tiles are written to a second stage, and a band leaves it at once.
#![expect(unsafe_code, reason = "source and target are pointers, of which each element is reached once")]

use super::rows::{Both, Row, Rows, Vector};
use super::{LINE_SIZE, Runs, Staging, collides, tile};
use crate::strided::nest::Axis;
use std::mem::MaybeUninit;

/// The part of a run that is copied at once: enough lines in a row that fetching them costs little each.
const BAND_SIZE: usize = 256;

/// From band to band in the stage of the target: an odd number of cache lines, so that bands do not collide.
const BAND_STRIDE: usize = BAND_SIZE + LINE_SIZE;

#[repr(align(64))]
struct BandStage(#[expect(dead_code, reason = "reached by pointers")] [[u8; BAND_STRIDE]; LINE_SIZE]);

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
    // SAFETY: a run has at least the elements of a vector, and a row of the source at least those of a line.
    unsafe {
        match runs.other.size * runs.block {
            ..32 => of_size::<V, 16>(runs),
            32..64 => of_size::<V, 32>(runs),
            _ => of_size::<V, 64>(runs),
        }
    }
    true
}

/// # Safety
/// As [`by_runs`], with rows of at least `LINE` bytes.
#[inline(always)] // for the instruction set of the caller
unsafe fn of_size<V: Vector, const LINE: usize>(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    unsafe {
        match runs.block {
            1 => bands::<Both<Both<Both<Both<Row<V>>>>>, 1, LINE>(runs),
            2 => bands::<Both<Both<Both<Row<V>>>>, 2, LINE>(runs),
            4 => bands::<Both<Both<Row<V>>>, 4, LINE>(runs),
            _ => bands::<Both<Row<V>>, 8, LINE>(runs),
        }
    }
}

/// All bands, and of each all lines of the source rows. The last ones begin early enough to be whole, and write some
/// elements again.
///
/// # Safety
/// As [`of_size`], with elements of `SIZE` bytes.
#[inline(always)] // for the instruction set of the caller
unsafe fn bands<R: Rows, const SIZE: usize, const LINE: usize>(runs: &Runs<'_>) {
    let (other, columns) = (runs.other, LINE / SIZE);
    let count = (BAND_SIZE / SIZE).min(runs.count);
    let is_staged = collides(columns, other.target);
    let mut band = Band::<SIZE, LINE> {
        rows: [0; BAND_SIZE],
        count,
        target_stride: other.target,
        source_stage: MaybeUninit::uninit(),
    };
    let mut stage = MaybeUninit::<BandStage>::uninit();
    for first in (0..runs.count).step_by(count) {
        let first = first.min(runs.count - count);
        places(runs.run, first, &mut band.rows[..count]);
        for column in (0..other.size).step_by(columns) {
            let column = column.min(other.size - columns);
            let source = runs.source.wrapping_add(column * SIZE);
            let target = runs.target.wrapping_add(first * SIZE).wrapping_offset(column as isize * other.target);
            // SAFETY: `count` elements of the run from the first on, and `columns` columns from this one on.
            unsafe {
                if !is_staged {
                    band.tiles::<R>(source, target, other.target);
                    continue;
                }
                let staged = stage.as_mut_ptr().cast::<u8>();
                band.tiles::<R>(source, staged, BAND_STRIDE as isize);
                band.unstage(staged, target);
            }
        }
    }
}

/// A band of elements of `SIZE` bytes, and `LINE` bytes of each source row.
struct Band<const SIZE: usize, const LINE: usize> {
    /// The place of each element of the band, from the beginning of the source.
    rows: [isize; BAND_SIZE],
    count: usize,
    target_stride: isize,
    source_stage: MaybeUninit<Staging>,
}

impl<const SIZE: usize, const LINE: usize> Band<SIZE, LINE> {
    /// Writes the columns of a line of each row to `target`, `stride` apart.
    ///
    /// # Safety
    /// The processor has the instructions of the vectors, each row has a line at `source`, and the band fits the target.
    #[inline(always)] // for the instruction set of the caller
    unsafe fn tiles<R: Rows>(&mut self, source: *const u8, target: *mut u8, stride: isize) {
        let (rows, columns) = (R::COUNT * R::PARTS, 16 / SIZE);
        let lines = self.source_stage.as_mut_ptr().cast::<u8>();
        for i in (0..self.count).step_by(rows) {
            let i = i.min(self.count - rows);
            for (at, row) in self.rows[i..i + rows].iter().enumerate() {
                let line = source.wrapping_offset(*row).cast::<[u8; LINE]>();
                // SAFETY: a line of the source, and one of the 64 lines of the stage.
                unsafe { lines.add(at * LINE_SIZE).cast::<[u8; LINE]>().write(line.read()) };
            }
            for part in 0..LINE / 16 {
                let target = target.wrapping_add(i * SIZE).wrapping_offset((part * columns) as isize * stride);
                // SAFETY: the rows of a tile are staged, and its columns are in the target.
                unsafe { tile::<R, SIZE, false>(lines.add(part * 16), LINE_SIZE as isize, target, stride) };
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
        for column in 0..LINE / SIZE {
            let target = target.wrapping_offset(column as isize * self.target_stride);
            // SAFETY: `size` bytes of a column, at least 16.
            unsafe {
                let source = staged.add(column * BAND_STRIDE);
                for at in (0..size - 15).step_by(16) {
                    target.add(at).cast::<[u8; 16]>().write(source.add(at).cast::<[u8; 16]>().read());
                }
                let last = size - 16;
                target.add(last).cast::<[u8; 16]>().write(source.add(last).cast::<[u8; 16]>().read());
            }
        }
    }
}

/// The places in the source of the elements of a run from `first` on.
fn places(run: &[Axis], first: usize, rows: &mut [isize]) {
    let Some((inner, outer)) = run.split_last() else { return };
    let mut inner_index = first % inner.size;
    let mut outer_index = first / inner.size;
    let mut rest = rows;
    while !rest.is_empty() {
        let (part, next) = rest.split_at_mut(rest.len().min(inner.size - inner_index));
        let mut place = outer_place(outer, outer_index).wrapping_add(inner_index as isize * inner.source);
        for row in part {
            *row = place;
            place = place.wrapping_add(inner.source);
        }
        (inner_index, outer_index) = (0, outer_index + 1);
        rest = next;
    }
}

/// How far the source goes in this many steps along some axes, the last of which is the fastest.
fn outer_place(axes: &[Axis], mut index: usize) -> isize {
    let mut place = 0_isize;
    for axis in axes.iter().rev() {
        place = place.wrapping_add((index % axis.size) as isize * axis.source);
        index /= axis.size;
    }
    place
}
