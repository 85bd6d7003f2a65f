//! Copies by blocks of runs.
//!
//! A run is all elements that lie back to back in the target, and a row all those that do in the source, each over as
//! many axes as it takes: tables have the place of each of its elements on the other side, so that short axes cost no
//! short tiles.
#![expect(unsafe_code, reason = "views of one memory may interleave, so that their elements are reached by pointers")]

use super::rows::{Both, Row, Rows, Vector};
use super::staging::Staging;
use super::{parts_of_tile, tile};
use crate::memory::LINE_SIZE;
use crate::strided::plane::{BAND_SIZE, Runs, VECTOR_SIZE};
use crate::strided::prefetch::{prefetch, prefetch_soon};
use crate::strided::strip::fence;
use crate::strided::table::Places;
use std::mem::MaybeUninit;

/// Rows of as many vectors as a part of 16 bytes has elements of 1, 2, 4 and 8 bytes.
type Bytes<V> = Both<Pairs<V>>;
type Pairs<V> = Both<Quads<V>>;
type Quads<V> = Both<Eights<V>>;
type Eights<V> = Both<Row<V>>;

/// Copies runs by tiles whose columns have `HEIGHT` vectors `V`; false if there are too few elements for one.
///
/// # Safety
/// The processor has the instructions of the vectors, and the runs are as `Tiles::copy` demands.
#[inline(always)] // for the instruction set of the caller
pub(super) unsafe fn by_runs<V: Vector, const HEIGHT: usize>(runs: &Runs<'_>) -> bool {
    let width = V::PARTS * 16 / runs.block.next_power_of_two();
    if runs.count < width * HEIGHT || runs.row_count < width {
        return false;
    }
    // Of all sizes of elements together, it would not fit on a stack of 64 KiB.
    let mut parts = [const { MaybeUninit::<V>::uninit() }; LINE_SIZE];
    let parts = parts.as_mut_ptr().cast::<u8>();
    // SAFETY: there are as many elements as a tile has.
    unsafe {
        match runs.block {
            1 => blocks::<V, Bytes<V>, Bytes<V::Part>, 1, HEIGHT>(runs, parts),
            2 => blocks::<V, Pairs<V>, Pairs<V::Part>, 2, HEIGHT>(runs, parts),
            4 => blocks::<V, Quads<V>, Quads<V::Part>, 4, HEIGHT>(runs, parts),
            8 => blocks::<V, Eights<V>, Eights<V::Part>, 8, HEIGHT>(runs, parts),
            16 => blocks::<V, Row<V>, Row<V::Part>, 16, HEIGHT>(runs, parts),
            3 if V::TAKES_TRIPLES => blocks::<V, Quads<V>, Quads<V::Part>, 3, HEIGHT>(runs, parts),
            6 if V::TAKES_TRIPLES => blocks::<V, Eights<V>, Eights<V::Part>, 6, HEIGHT>(runs, parts),
            12 if V::TAKES_TRIPLES => blocks::<V, Row<V>, Row<V::Part>, 12, HEIGHT>(runs, parts),
            _ => return false,
        }
    }
    true
}

/// All blocks. The last ones begin early enough to be whole, and write some elements again.
///
/// # Safety
/// As [`by_runs`], with elements of `SIZE` bytes, and at least a tile of them.
#[inline(always)] // for the instruction set of the caller
unsafe fn blocks<V: Vector, R: Rows<V>, N: Rows<V::Part>, const SIZE: usize, const HEIGHT: usize>(
    runs: &Runs<'_>,
    parts: *mut u8,
) {
    let (height, width) = (R::COUNT * V::PARTS * HEIGHT, R::COUNT * V::PARTS);
    let columns = runs.width / SIZE / width * width;
    let bands = Bands::new::<SIZE>(runs, height);
    // What only tiles of whole lines do is not compiled for others.
    let has_lines = HEIGHT * V::PARTS * 16 == LINE_SIZE && SIZE.is_power_of_two();
    let staging = (has_lines && !runs.staging.is_null()).then(|| Staging::<V, R, N, SIZE, HEIGHT>::new(runs));
    // SAFETY: the tables of the caller, which nobody else uses.
    let tables = unsafe { &mut *runs.tables };
    let mut next = 0;
    while next < runs.count {
        let (begin, end, following) = bands.at(next);
        let streams = has_lines && bands.are_lines(begin, end);
        // The first of the next band, too.
        let later_count = if runs.is_large { height.min(runs.count - end) } else { 0 };
        let rows = tables.rows.of(runs.run, |axis| axis.source, begin, end - begin + later_count);
        let (rows, rows_of_next) = rows.split(end - begin);
        let mut column = 0;
        while column < runs.row_count {
            let count = columns.min(runs.row_count - column).max(width);
            column = column.min(runs.row_count - count);
            // Those of the next block, too.
            let later_count = if runs.is_large { columns.min(runs.row_count - column - count) } else { 0 };
            let columns = tables.columns.of(runs.row, |axis| axis.target, column, count + later_count);
            let (columns, columns_of_next) = columns.split(count);
            let source = runs.source.wrapping_add(column * SIZE);
            let target = runs.target.wrapping_add(begin * SIZE);
            let next = if count == runs.row_count {
                Next { rows: rows_of_next, columns, source, target: runs.target.wrapping_add(end * SIZE) }
            } else {
                Next { rows, columns: columns_of_next, source: source.wrapping_add(count * SIZE), target }
            };
            let block = Block { rows, columns, source, target, next: runs.is_large.then_some(next), parts };
            // SAFETY: the elements of the block.
            unsafe {
                if let Some(staging) = &staging {
                    staging.copy(&block, streams);
                } else if streams {
                    block.tiles::<V, R, N, SIZE, HEIGHT, true>();
                } else {
                    block.tiles::<V, R, N, SIZE, HEIGHT, false>();
                }
            }
            column += count;
        }
        next = following;
    }
    if bands.line.is_some() {
        fence();
    }
}

/// The parts into which runs are cut: whole cache lines of the target where all runs are aligned alike.
struct Bands {
    count: usize,
    /// The elements of a tile, and those of a band.
    height: usize,
    band: usize,
    /// The first element that begins a cache line, if all runs have it in common, tiles are a line high, and the copy
    /// is large.
    line: Option<usize>,
}

impl Bands {
    #[inline(always)] // for the instruction set of the caller
    fn new<const SIZE: usize>(runs: &Runs<'_>, height: usize) -> Self {
        let to_line = runs.target.addr().wrapping_neg() % LINE_SIZE;
        let fits = runs.is_large && height * SIZE == LINE_SIZE && to_line.is_multiple_of(SIZE);
        let is_aligned = fits && runs.row.iter().all(|axis| axis.target % LINE_SIZE as isize == 0);
        let line = is_aligned.then_some(to_line / SIZE);
        Self { count: runs.count, height, band: BAND_SIZE / SIZE / height * height, line }
    }

    /// The band of which element `next` is the first that is not yet written, and the first of the following one.
    #[inline(always)] // for the instruction set of the caller
    fn at(&self, next: usize) -> (usize, usize, usize) {
        let left = self.count - next;
        let end = match self.line {
            Some(line) if next < line => line,
            _ if left > self.band => next + self.band,
            Some(_) if left > self.height => next + left / self.height * self.height,
            _ => self.count,
        };
        let begin = next.min(end.saturating_sub(self.height));
        (begin, end.max(begin + self.height), end)
    }

    /// Whether a band has whole cache lines only, so that it can be written past the caches.
    #[inline(always)] // for the instruction set of the caller
    fn are_lines(&self, begin: usize, end: usize) -> bool {
        self.line.is_some_and(|line| begin >= line && (begin - line).is_multiple_of(self.height))
            && (end - begin).is_multiple_of(self.height)
    }
}

/// A part of each run, and a part of each row.
pub(super) struct Block<'a> {
    /// The place in the source of each element of a run.
    pub(super) rows: Places<'a>,
    /// The place in the target of each element of a row.
    pub(super) columns: Places<'a>,
    pub(super) source: *const u8,
    pub(super) target: *mut u8,
    /// What is copied after this block, if its cache lines are worth a request.
    pub(super) next: Option<Next<'a>>,
    /// Room for the vectors of a tile.
    pub(super) parts: *mut u8,
}

/// The block after another one.
#[derive(Clone, Copy)]
pub(super) struct Next<'a> {
    /// The rows of its first tiles, or more; none after the last block.
    rows: Places<'a>,
    /// Its columns; none if nobody has computed their places.
    columns: Places<'a>,
    source: *const u8,
    target: *mut u8,
}

impl Block<'_> {
    /// All tiles. The last ones begin early enough to be whole, or are narrower.
    ///
    /// # Safety
    /// As [`tile`], for at least one.
    #[inline(always)] // for the instruction set of the caller
    pub(super) unsafe fn tiles<
        V: Vector,
        R: Rows<V>,
        N: Rows<V::Part>,
        const SIZE: usize,
        const HEIGHT: usize,
        const STREAMS: bool,
    >(
        &self,
    ) {
        let (height, width) = (R::COUNT * V::PARTS * HEIGHT, R::COUNT * V::PARTS);
        for row in (0..self.rows.count()).step_by(height) {
            let row = row.min(self.rows.count() - height);
            let (rows, first) = self.rows.some(row, height);
            let source = self.source.wrapping_offset(first);
            let target = self.target.wrapping_add(row * SIZE);
            let later = self.later_rows(row, height);
            let mut column = 0;
            while column < self.columns.count() {
                let left = self.columns.count() - column;
                let line = LINE_SIZE / SIZE;
                if V::GATHERS_PARTS && SIZE.is_power_of_two() && !STREAMS && left >= line {
                    let (columns, first) = self.columns.some(column, line);
                    let source = source.wrapping_add(column * SIZE);
                    let target = target.wrapping_offset(first);
                    self.prefetch::<SIZE>(later, (row, column), line);
                    let size = (HEIGHT, LINE_SIZE / VECTOR_SIZE);
                    // SAFETY: rows and columns of the block.
                    unsafe {
                        if SIZE >= 4
                            && let (Some(rows), Some(columns)) = (self.rows.steps(), self.columns.steps())
                        {
                            parts_of_tile::<V, R, SIZE>(size, source, rows, target, columns);
                        } else {
                            let (rows, columns) = (rows.as_ptr(), columns.as_ptr());
                            parts_of_tile::<V, R, SIZE>(size, source, rows, target, columns);
                        }
                    }
                    column += line;
                    continue;
                }
                if SIZE.is_power_of_two() && left * 2 <= width {
                    // SAFETY: the last columns of the block, which has enough for a whole tile.
                    unsafe { self.narrow_tiles::<V, N, SIZE, HEIGHT, STREAMS>(rows, source, target, column) };
                    break;
                }
                column = column.min(self.columns.count() - width);
                let (columns, first) = self.columns.some(column, width);
                let source = source.wrapping_add(column * SIZE);
                let target = target.wrapping_offset(first);
                if !STREAMS {
                    self.prefetch::<SIZE>(later, (row, column), width);
                } else if self.next.is_some() {
                    // The first-level cache has no room for later rows if these collide, as rows of whole lines may.
                    prefetch_rows(source.wrapping_add(LINE_SIZE), rows);
                }
                // SAFETY: a tile of the block.
                unsafe {
                    tile::<V, R, SIZE, STREAMS>(HEIGHT, source, rows.as_ptr(), target, columns.as_ptr(), self.parts)
                };
                column += width;
            }
        }
    }

    /// The rows of the tiles after those of `height` rows from `row` on, and what they are counted from; none if they are
    /// not worth a request.
    #[inline(always)] // for the instruction set of the caller
    fn later_rows(&self, row: usize, height: usize) -> (&[isize], *const u8) {
        let Some(next) = &self.next else { return (&[], self.source) };
        let (rows, source, at) = match row + height {
            later if later < self.rows.count() => (&self.rows, self.source, later.min(self.rows.count() - height)),
            _ => (&next.rows, next.source, 0),
        };
        let (rows, first) = rows.some(at, height.min(rows.count()));
        (rows, source.wrapping_offset(first))
    }

    /// Requests what is copied some time after `count` columns of the tile at this row and column: their part of later
    /// rows, and this part of as many columns of the next block. Processors do not find out by themselves which lines
    /// of many rows come next, and wait for those that they write as for those that they read.
    #[inline(always)] // for the instruction set of the caller
    fn prefetch<const SIZE: usize>(
        &self,
        (rows, source): (&[isize], *const u8),
        (row, column): (usize, usize),
        count: usize,
    ) {
        let Some(next) = &self.next else { return };
        for row in rows {
            prefetch_soon(source.wrapping_offset(*row).wrapping_add(column * SIZE));
        }
        if column + count <= next.columns.count() {
            let (columns, first) = next.columns.some(column, count);
            let target = next.target.wrapping_offset(first).wrapping_add(row * SIZE);
            for column in columns {
                prefetch_soon(target.wrapping_offset(*column));
            }
        }
    }

    /// The tiles of the last columns, which are few, each of 16 bytes of the rows.
    ///
    /// # Safety
    /// As [`tile`], for at least one.
    #[inline(always)] // for the instruction set of the caller
    unsafe fn narrow_tiles<V: Vector, N: Rows<V::Part>, const SIZE: usize, const HEIGHT: usize, const STREAMS: bool>(
        &self,
        rows: &[isize],
        source: *const u8,
        target: *mut u8,
        first: usize,
    ) {
        for column in (first..self.columns.count()).step_by(N::COUNT) {
            let column = column.min(self.columns.count() - N::COUNT);
            let (columns, first) = self.columns.some(column, N::COUNT);
            let source = source.wrapping_add(column * SIZE);
            let target = target.wrapping_offset(first);
            // SAFETY: a tile of the block.
            unsafe {
                tile::<V::Part, N, SIZE, STREAMS>(
                    HEIGHT * V::PARTS,
                    source,
                    rows.as_ptr(),
                    target,
                    columns.as_ptr(),
                    self.parts,
                );
            }
        }
    }
}

/// Requests a cache line of each row.
#[inline(always)] // for the instruction set of the caller
fn prefetch_rows(source: *const u8, rows: &[isize]) {
    for row in rows {
        prefetch(source.wrapping_offset(*row));
    }
}
