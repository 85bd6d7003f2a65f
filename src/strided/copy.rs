//! The copy from one view to another.
#![expect(unsafe_code, reason = "source and target are pointers, of which each element is reached once")]

use super::nest::{Axis, Nest};
use super::plane::{BAND_SIZE, Kernel, LEAST_SIZE, LINE_SIZE, PORTABLE, Plane, Runs, Stage, TIERS, collides};
use super::view::{Source, Target};
use crate::error::Result;
use crate::simd::best;
use std::cmp::Reverse;

/// Copies every element to its place. Bytes between the elements of the target do not change.
///
/// # Errors
/// [`Status::Internal`](crate::Status::Internal) if the two have other shapes or elements of other sizes.
pub fn copy(source: &Source<'_>, target: &mut Target<'_>) -> Result<()> {
    copy_by(best(TIERS).map_or(PORTABLE, |tier| tier.kernel), source, target)
}

/// [`copy`], by the kernel of a tier that is available.
pub(super) fn copy_by(kernel: Kernel, source: &Source<'_>, target: &mut Target<'_>) -> Result<()> {
    let Some(nest) = Nest::new(source.layout(), target.layout())? else { return Ok(()) };
    let source = source.first().wrapping_offset(nest.source_shift);
    let target = target.first().wrapping_offset(nest.target_shift);
    // SAFETY: the loops reach the elements of the two views and nothing else. The source can be read, the target
    // written, and they share no byte: one of them is borrowed mutably, or its owner has promised it.
    unsafe { run(kernel, nest, source, target) };
    Ok(())
}

/// # Safety
/// Every block that the loops reach can be read in the source and written in the target; the kernel's tier is available.
unsafe fn run(kernel: Kernel, nest: Nest, source: *const u8, target: *mut u8) {
    let Nest { block, mut axes, .. } = nest;
    let Some(inner) = axes.pop() else {
        // SAFETY: a single block.
        return unsafe { std::ptr::copy_nonoverlapping(source, target, block) };
    };
    // The axis along which the source is read fastest becomes the second innermost.
    let fastest = (0..axes.len()).min_by_key(|i| axes[*i].source.unsigned_abs());
    let other = match fastest {
        Some(i) if axes[i].source.unsigned_abs() < inner.source.unsigned_abs() => axes.remove(i),
        _ => Axis { size: 1, source: 0, target: 0 },
    };
    // Planes that are close on one of the sides share cache lines.
    let nearness = |axis: &Axis| Reverse(axis.source.unsigned_abs().min(axis.target.unsigned_abs()));
    // Without memory for a stage, planes do.
    let mut stage = Vec::<Stage>::new();
    if let Some(copy_runs) = kernel.runs
        && let Some(taken) = take_runs(block, inner, other, &axes)
        && stage.try_reserve_exact(1).is_ok()
    {
        let mut axes = taken.rest;
        axes.sort_by_key(nearness);
        let [run, row] = [&taken.run, &taken.row];
        let [count, row_count] = [run, row].map(|axes| axes.iter().map(|axis| axis.size).product());
        let (is_staged, stage) = (taken.is_staged, stage.as_mut_ptr());
        return for_each(&axes, source, target, &|source, target| {
            // SAFETY: runs of the nest, of enough elements, and room for one stage.
            unsafe { copy_runs(&Runs { block, run, count, row, row_count, is_staged, stage, source, target }) };
        });
    }
    axes.sort_by_key(nearness);
    for_each(&axes, source, target, &|source, target| {
        // SAFETY: a plane of the nest.
        unsafe { (kernel.plane)(&Plane { block, inner, other, source, target }) };
    });
}

/// The axes of [`Runs`], and those around them.
struct TakenAxes {
    run: Vec<Axis>,
    row: Vec<Axis>,
    rest: Vec<Axis>,
    is_staged: bool,
}

/// Takes the axes of runs and rows from those around a plane, if copying by runs gains: where the inner axis is too short for
/// whole cache lines and the target goes on along others, or where rows of the target collide in the cache.
fn take_runs(block: usize, inner: Axis, other: Axis, axes: &[Axis]) -> Option<TakenAxes> {
    let is_tiled = matches!(block, 1 | 2 | 4 | 8) && inner.target == block as isize && other.source == block as isize;
    if !is_tiled || other.size * block < LEAST_SIZE {
        return None;
    }
    let is_staged = collides(LINE_SIZE / block, other.target);
    let (mut run, mut row, mut rest) = (vec![inner], vec![other], axes.to_vec());
    let size = extend(&mut run, inner.size * block, &mut rest, |axis| axis.target, BAND_SIZE);
    if is_staged {
        extend(&mut row, other.size * block, &mut rest, |axis| axis.source, BAND_SIZE);
    }
    let size = extend(&mut run, size, &mut rest, |axis| axis.target, usize::MAX);
    let is_short = inner.size * block < LINE_SIZE && run.len() > 1;
    let gains = size >= LEAST_SIZE && (is_short || is_staged);
    gains.then_some(TakenAxes { run, row, rest, is_staged })
}

/// Adds axes along which a side goes on back to back after `size` bytes, until it has enough; returns how many it has.
fn extend(
    taken: &mut Vec<Axis>,
    mut size: usize,
    axes: &mut Vec<Axis>,
    stride: impl Fn(&Axis) -> isize,
    enough: usize,
) -> usize {
    while size < enough
        && let Some(next) = axes.iter().position(|axis| stride(axis) == size as isize)
    {
        let axis = axes.remove(next);
        size *= axis.size;
        taken.insert(0, axis);
    }
    size
}

/// Calls `work` at each position of these axes.
fn for_each(axes: &[Axis], source: *const u8, target: *mut u8, work: &impl Fn(*const u8, *mut u8)) {
    let Some((axis, rest)) = axes.split_first() else { return work(source, target) };
    for i in 0..axis.size as isize {
        for_each(rest, source.wrapping_offset(i * axis.source), target.wrapping_offset(i * axis.target), work);
    }
}

/// Cuts a copy into at most `count` parts of about the same size, which threads may do at the same time.
///
/// # Errors
/// As [`copy`].
pub fn split<'a, 'b>(source: &Source<'a>, target: Target<'b>, count: usize) -> Result<Vec<(Source<'a>, Target<'b>)>> {
    let (shape, strides) = (target.shape().to_vec(), target.layout().strides().to_vec());
    // The outermost dimension that is long enough, or else the longest.
    let outermost = (0..shape.len()).max_by_key(|i| (shape[*i].min(count as u64), strides[*i].unsigned_abs()));
    let Some(dimension) = outermost else { return Ok(vec![(source.clone(), target)]) };
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
