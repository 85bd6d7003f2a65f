//! The copy from one view to another.
#![expect(unsafe_code, reason = "views of one memory may interleave, so that their elements are reached by pointers")]

use super::blocks::whole;
use super::nest::{Axis, Nest, visit_both};
use super::plane::{
    BAND_SIZE, Kernel, Line, Pixels, Plane, Runs, Tiles, VECTOR_SIZE, collides, crowds, fastest, has_crowded_lines,
    staging_size,
};
use super::reversed;
use super::table::Tables;
use super::view::{Source, Target};
use super::walk::Walk;
use crate::error::Result;
use crate::memory::{LINE_SIZE, PAGE_SIZE};

/// From this size on, copies go past the caches: source and target together exceed them. Under the fuzzer, whose chunks
/// are small, they do so sooner.
pub(crate) const LARGE_SIZE: u64 = if cfg!(fuzzing) { 2 << 10 } else { 16 << 20 };

/// Fewer elements take longer to prepare for tiles, again and again, than to copy one by one.
const FEWEST_IN_TILES: usize = 96;

/// Copies every element to its place. Bytes between the elements of the target do not change.
///
/// # Errors
/// [`Status::Internal`](crate::Status::Internal) if the two have other shapes or elements of other sizes.
pub fn copy(source: &Source<'_>, target: &mut Target<'_>) -> Result<()> {
    let is_large = target.layout().size() >= LARGE_SIZE;
    // SAFETY: the tier of this kernel is available.
    unsafe { copy_by(fastest(), is_large, source, target) }
}

/// [`copy`], by a given kernel.
///
/// # Safety
/// The kernel's tier is available.
pub(super) unsafe fn copy_by(
    kernel: Kernel,
    is_large: bool,
    source: &Source<'_>,
    target: &mut Target<'_>,
) -> Result<()> {
    let Some(nest) = Nest::new(source.layout(), target.layout())? else { return Ok(()) };
    let source = source.first().wrapping_offset(nest.source_shift);
    let target = target.first().wrapping_offset(nest.target_shift);
    // SAFETY: the loops reach the elements of the two views and nothing else. The source can be read, the target
    // written, and they share no byte: one of them is borrowed mutably, or its owner has promised it. The caller
    // promises that the tier is available.
    unsafe { run(kernel, nest, is_large, source, target) };
    Ok(())
}

/// # Safety
/// Every block that the loops reach can be read in the source and written in the target; the kernel's tier is
/// available.
unsafe fn run(kernel: Kernel, nest: Nest, is_large: bool, source: *const u8, target: *mut u8) {
    let Nest { block, mut axes, .. } = nest;
    let Some(inner) = axes.pop() else {
        // SAFETY: a single block.
        return unsafe { whole(source, target, block) };
    };
    let step = block as isize;
    if (inner.source, inner.target) == (-step, step) && reversed::takes(block, inner.size) {
        axes.sort_by_key(Axis::nearness);
        return for_each(&axes, source, target, &mut |source, target| {
            // SAFETY: a row of the nest.
            unsafe { reversed::copy(block, inner.size, source, target) };
        });
    }
    // The axis along which the source is read fastest becomes the second innermost.
    let fastest = (0..axes.len()).min_by_key(|i| axes[*i].source.unsigned_abs());
    let other = match fastest {
        Some(i) if axes[i].source.unsigned_abs() < inner.source.unsigned_abs() => axes.remove(i),
        _ => Axis { size: 1, source: 0, target: 0 },
    };
    let plane = Plane { block, inner, other, source, target }.forwards();
    if let Some(tiles) = kernel.tiles.map(|tiles| tiles.fastest_for(block))
        && plane.inner.target == block as isize
        && plane.other.source == block as isize
    {
        let taken = TakenAxes::new(&plane, axes);
        let (count, row_count) = (count(taken.run()), count(taken.row()));
        let are_worth_it = taken.row == 0 || count.saturating_mul(row_count) >= FEWEST_IN_TILES;
        if are_worth_it && tiles.take(block, count, row_count) {
            // SAFETY: runs of the nest, of enough elements.
            return unsafe { copy_runs(tiles, &plane, taken, is_large) };
        }
        axes = taken.around_plane();
    }
    if let Some(copy) = kernel.tiles.and_then(|tiles| tiles.pixels)
        && let Some(pixels) = Pixels::of(&plane)
    {
        axes.sort_by_key(Axis::nearness);
        return for_each(&axes, plane.source, plane.target, &mut |source, target| {
            // SAFETY: a plane of the nest.
            unsafe { copy(&Pixels { source, target, ..pixels }) };
        });
    }
    axes.extend([plane.other, plane.inner].into_iter().filter(|axis| axis.size > 1));
    Walk::new(block, axes).all(plane.source, plane.target, &mut |plane| {
        // SAFETY: a plane of the nest.
        unsafe { (kernel.blocks)(plane, is_large) };
        true
    });
}

/// How many elements some axes have.
fn count(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.size).product()
}

/// The axes of a copy: those around [`Runs`], those of a row, and those of a run.
struct TakenAxes {
    axes: Vec<Axis>,
    row: usize,
    run: usize,
}

impl TakenAxes {
    /// Takes the axes of runs and rows from those around a plane whose elements are back to back in both.
    fn new(plane: &Plane, mut axes: Vec<Axis>) -> Self {
        let Plane { block, inner, other, .. } = *plane;
        let row = axes.len();
        axes.extend([other, inner]);
        let mut taken = Self { axes, row, run: row + 1 };
        // First as many as a vector has on both sides: fewer have no tiles.
        let (mut run, mut row) = (inner.size * block, other.size * block);
        for enough in [VECTOR_SIZE, BAND_SIZE] {
            run = taken.extend_run(run, enough);
            row = taken.extend_row(row, enough);
        }
        taken.extend_run(run, usize::MAX);
        taken
    }

    /// The axes around the plane.
    fn around_plane(mut self) -> Vec<Axis> {
        self.axes.pop();
        self.axes.remove(self.run - 1);
        self.axes
    }

    fn run(&self) -> &[Axis] {
        &self.axes[self.run..]
    }

    fn row(&self) -> &[Axis] {
        &self.axes[self.row..self.run]
    }

    /// Adds axes along which the target goes on back to back after `size` bytes of a run, until it has enough; returns
    /// how many it has.
    fn extend_run(&mut self, mut size: usize, enough: usize) -> usize {
        while size < enough
            && let Some(next) = self.axes[..self.row].iter().position(|axis| axis.target == size as isize)
        {
            size *= self.axes[next].size;
            self.axes[next..self.run].rotate_left(1);
            (self.row, self.run) = (self.row - 1, self.run - 1);
        }
        size
    }

    /// Adds axes along which the source goes on back to back after `size` bytes of a row, until it has enough.
    fn extend_row(&mut self, mut size: usize, enough: usize) -> usize {
        while size < enough
            && let Some(next) = self.axes[..self.row].iter().position(|axis| axis.source == size as isize)
        {
            size *= self.axes[next].size;
            self.axes[next..self.row].rotate_left(1);
            self.row -= 1;
        }
        size
    }
}

/// # Safety
/// As [`run`], of which these are all axes; the tier takes runs of these sizes.
unsafe fn copy_runs(tiles: Tiles, plane: &Plane, mut taken: TakenAxes, is_large: bool) {
    let Plane { block, inner, other, source, target } = *plane;
    taken.axes[..taken.row].sort_by_key(Axis::nearness);
    let (rest, row, run) = (&taken.axes[..taken.row], taken.row(), taken.run());
    let is_aligned = row.iter().all(|axis| axis.target.unsigned_abs().is_multiple_of(LINE_SIZE));
    // Whole lines that are written past the caches need no staging buffer, if tiles are fast enough to read rows that collide.
    let needs_none = !block.is_power_of_two() || is_large && is_aligned && block >= 4;
    let most = if block.is_power_of_two() { 16 } else { 8 };
    let is_crowded = crowds(other.size.min(BAND_SIZE / block), other.target, most);
    let is_staged = !needs_none
        && match tiles.prefers_fewer_columns && !is_large {
            true => has_crowded_lines(plane),
            false => is_crowded || collides(LINE_SIZE / block, inner.source),
        };
    let width = match (is_staged, is_large) {
        // Memory of more than 128 KiB would be asked of the system each time.
        (true, false) => BAND_SIZE.min(128 * block),
        (false, false) if is_crowded => 128,
        _ => BAND_SIZE,
    };
    let mut staging = Vec::<Line>::new();
    // Without memory for a staging buffer, tiles are copied directly.
    let has_staging = is_staged && staging.try_reserve_exact(staging_size(block, width) / LINE_SIZE).is_ok();
    let staging = if has_staging { staging.as_mut_ptr() } else { std::ptr::null_mut() };
    let (count, row_count) = (count(run), count(row));
    let mut tables = Tables::new();
    tables.rows.prepare(run, |axis| axis.source, count);
    tables.columns.prepare(row, |axis| axis.target, row_count);
    let tables = &raw mut tables;
    let runs = Runs { block, run, count, row, row_count, width, is_large, tables, staging, source, target };
    for_each(rest, source, target, &mut |source, target| {
        // SAFETY: runs of the nest.
        unsafe { (tiles.copy)(&Runs { source, target, ..runs }) };
    });
}

/// Calls `work` at each position of these axes.
pub(super) fn for_each(axes: &[Axis], source: *const u8, target: *mut u8, work: &mut impl FnMut(*const u8, *mut u8)) {
    visit_both(axes, source, target, &mut |source, target| {
        work(source, target);
        true
    });
}

/// Cuts a copy into at most `count` parts of about the same size, which threads may do at the same time.
///
/// # Errors
/// As [`copy`].
pub fn split<'a, 'b>(source: &Source<'a>, target: Target<'b>, count: usize) -> Result<Vec<(Source<'a>, Target<'b>)>> {
    let shape = target.shape().to_vec();
    // A dimension that is long enough, otherwise the longest; of these one that leaves pages whole on both sides,
    // because pieces of a few cache lines are read and written more slowly; of these the outermost.
    let suits = |dimension: &usize| {
        let size = shape[*dimension];
        let [from, to] = [source.layout(), target.layout()].map(|layout| layout.strides()[*dimension].unsigned_abs());
        let piece = from.min(to).saturating_mul((size / count.max(1) as u64) as usize);
        (size.min(count as u64), piece.min(PAGE_SIZE), to)
    };
    let Some(dimension) = (0..shape.len()).max_by_key(suits) else { return Ok(vec![(source.clone(), target)]) };
    let parts = shape[dimension].min(count as u64).max(1);
    let mut pieces = Vec::with_capacity(parts as usize);
    let (mut rest, mut begin) = (target, 0);
    for part in 1..=parts {
        let end = (u128::from(shape[dimension]) * u128::from(part) / u128::from(parts)) as u64;
        let (piece, next) = rest.split(dimension, end - begin)?;
        let (mut start, mut size) = (vec![0; shape.len()], shape.clone());
        (start[dimension], size[dimension]) = (begin, end - begin);
        pieces.push((source.region(&start, &size)?, piece));
        (rest, begin) = (next, end);
    }
    Ok(pieces)
}
