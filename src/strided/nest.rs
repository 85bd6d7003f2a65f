//! The loops of a copy, reduced to the fewest.

use super::layout::Layout;
use crate::error::{Error, Result};
use std::cmp::Reverse;

/// One loop, and its step on both sides in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) size: usize,
    pub(super) source: isize,
    pub(super) target: isize,
}

impl Axis {
    /// Orders axes from the slowest to the fastest: planes that are close on one of the sides share cache lines.
    pub(super) fn nearness(&self) -> Reverse<usize> {
        Reverse(self.source.unsigned_abs().min(self.target.unsigned_abs()))
    }
}

/// The loops of a copy: blocks of bytes that stay together, and axes, of which no two can be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Nest {
    /// Bytes that stay together.
    pub(super) block: usize,
    /// Sorted by the target's stride, which is never negative, largest first. None has the size 1.
    pub(super) axes: Vec<Axis>,
    /// The offsets from the first elements of the two layouts to where the loops begin.
    pub(super) source_shift: isize,
    pub(super) target_shift: isize,
}

impl Nest {
    /// The loops from one layout to another of the same shape; `None` if there are no elements.
    ///
    /// # Errors
    /// [`Status::Internal`](crate::Status::Internal) if they have other shapes or elements of other sizes.
    pub(super) fn new(source: &Layout, target: &Layout) -> Result<Option<Self>> {
        if source.shape() != target.shape() || source.element_size() != target.element_size() {
            return Err(Error::internal(format!(
                "a copy from {:?} elements of {} bytes to {:?} of {}",
                source.shape(),
                source.element_size(),
                target.shape(),
                target.element_size()
            )));
        }
        if target.is_empty() {
            return Ok(None);
        }
        let axes = Vec::with_capacity(target.shape().len());
        let mut nest = Self { block: target.element_size(), axes, source_shift: 0, target_shift: 0 };
        for ((&size, &source), &target) in target.shape().iter().zip(source.strides()).zip(target.strides()) {
            // Along an axis without steps on both sides, the same elements come again.
            if size > 1 && (source, target) != (0, 0) {
                let size = usize::try_from(size).map_err(|_| Error::internal("more elements than memory has"))?;
                nest.push(Axis { size, source, target });
            }
        }
        nest.axes.sort_by_key(|axis| Reverse((axis.target, axis.source.unsigned_abs())));
        nest.merge();
        Ok(Some(nest))
    }

    /// An axis along which the target runs backwards is walked from its other end.
    fn push(&mut self, axis: Axis) {
        if axis.target >= 0 {
            return self.axes.push(axis);
        }
        // Both are within the memory of their views.
        self.source_shift += (axis.size as isize - 1) * axis.source;
        self.target_shift += (axis.size as isize - 1) * axis.target;
        self.axes.push(Axis { size: axis.size, source: -axis.source, target: -axis.target });
    }

    /// Merges two axes that are one on both sides, and an axis that is back to back on both into the block.
    fn merge(&mut self) {
        self.axes.dedup_by(|axis, outer| {
            let reaches = |step: isize, inner: isize| (axis.size as isize).checked_mul(inner) == Some(step);
            let are_one = reaches(outer.source, axis.source) && reaches(outer.target, axis.target);
            let size = outer.size.checked_mul(axis.size).filter(|_| are_one);
            if let Some(size) = size {
                *outer = Axis { size, ..*axis };
            }
            size.is_some()
        });
        let block = self.block as isize;
        if let Some(inner) = self.axes.pop_if(|axis| axis.source == block && axis.target == block) {
            self.block *= inner.size;
        }
    }
}

/// Calls `work` at each position of the target along these axes until it returns false; returns false then.
pub(super) fn visit(axes: &[Axis], position: isize, work: &mut impl FnMut(isize) -> bool) -> bool {
    let Some((axis, rest)) = axes.split_first() else { return work(position) };
    (0..axis.size as isize).all(|i| visit(rest, position + i * axis.target, work))
}

/// As [`visit`], with the places on both sides.
pub(super) fn visit_both(
    axes: &[Axis],
    source: *const u8,
    target: *mut u8,
    work: &mut impl FnMut(*const u8, *mut u8) -> bool,
) -> bool {
    let Some((axis, rest)) = axes.split_first() else { return work(source, target) };
    (0..axis.size as isize).all(|i| {
        visit_both(rest, source.wrapping_offset(i * axis.source), target.wrapping_offset(i * axis.target), work)
    })
}
