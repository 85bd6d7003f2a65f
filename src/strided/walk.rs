//! The order in which blocks are walked one after the other: by copies that have no tiles, fills and comparisons.

use super::nest::{Axis, visit_both};
use super::plane::{Plane, collides, set_count};
use crate::memory::LINE_SIZE;

/// The side of the squares of a plane that are walked once for each position along the short axes, so that their cache
/// lines are still cached. Wider ones if the plane is narrow: a call per square takes as long as a few dozen blocks.
const SIDE: usize = 32;

/// Starting a loop of fewer blocks takes longer than the blocks do.
const SHORT: usize = 16;

/// Axes in the order in which they are walked.
#[derive(Debug)]
pub(super) struct Walk {
    block: usize,
    /// Around planes.
    outer: Vec<Axis>,
    /// Around the squares of a plane: axes that are faster than those of the plane, but too short for it.
    short: Vec<Axis>,
    /// Of the plane.
    inner: Axis,
    other: Axis,
}

impl Walk {
    /// The order for blocks of this size.
    pub(super) fn new(block: usize, mut axes: Vec<Axis>) -> Self {
        const NONE: Axis = Axis { size: 1, source: 0, target: 0 };
        // As few bytes as these are worth no loop of their own even if they are back to back in the target.
        let is_short = |axis: &Axis| axis.size < SHORT && axis.size * block <= 2 * LINE_SIZE;
        // The axis along which the target is written fastest, and the one along which the source is read fastest.
        let inner = (0..axes.len()).min_by_key(|i| (is_short(&axes[*i]), axes[*i].target.unsigned_abs()));
        let inner = inner.map_or(NONE, |i| axes.remove(i));
        let is_faster = |axis: &Axis| {
            axis.source.unsigned_abs() < inner.source.unsigned_abs()
                || axis.target.unsigned_abs() < inner.target.unsigned_abs()
        };
        let other = (0..axes.len())
            .filter(|i| is_faster(&axes[*i]))
            .min_by_key(|i| (is_short(&axes[*i]), axes[*i].source.unsigned_abs(), axes[*i].target.unsigned_abs()));
        let other = other.map_or(NONE, |i| axes.remove(i));
        let (short, mut outer): (Vec<_>, Vec<_>) = axes.into_iter().partition(|axis| is_short(axis) && is_faster(axis));
        outer.sort_by_key(Axis::nearness);
        // Lines of the source that collide in the first-level cache are read to their end, one after the other, if those
        // of the target collide less.
        let is_crowded =
            collides(inner.size.min(SIDE), inner.source) && set_count(other.target) > set_count(inner.source);
        let (inner, other) = if is_crowded && other.size >= SHORT { (other, inner) } else { (inner, other) };
        // A call for each row takes as long as a few dozen blocks. Rows of one square are walked one after the other.
        let is_row = other.size == 1 && inner.size <= SIDE && short.is_empty();
        let other = outer.pop_if(|_| is_row).unwrap_or(other);
        Self { block, outer, short, inner, other }
    }

    /// Calls `work` with planes that together have all blocks, until it returns false; returns false then.
    pub(super) fn all(&self, source: *const u8, target: *mut u8, work: &mut impl FnMut(&Plane) -> bool) -> bool {
        let Self { block, inner, other, .. } = *self;
        visit_both(&self.outer, source, target, &mut |source, target| {
            let plane = Plane { block, inner, other, source, target }.forwards();
            if self.short.is_empty() {
                return work(&plane);
            }
            squares(&plane).all(|square| {
                visit_both(&self.short, square.source, square.target, &mut |source, target| {
                    work(&Plane { source, target, ..square })
                })
            })
        })
    }
}

/// The squares of a plane.
fn squares(plane: &Plane) -> impl Iterator<Item = Plane> {
    let Plane { inner, other, source, target, .. } = *plane;
    let width = SIDE * SIDE / other.size.min(SIDE);
    let starts = (0..inner.size).step_by(width).flat_map(move |i| (0..other.size).step_by(SIDE).map(move |j| (i, j)));
    starts.map(move |(i, j)| {
        let place = |inner: isize, other: isize| i as isize * inner + j as isize * other;
        Plane {
            inner: Axis { size: width.min(inner.size - i), ..inner },
            other: Axis { size: SIDE.min(other.size - j), ..other },
            source: source.wrapping_offset(place(inner.source, other.source)),
            target: target.wrapping_offset(place(inner.target, other.target)),
            ..*plane
        }
    })
}
