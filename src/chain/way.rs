//! The way of a box from the array that enters a chain to the step that decodes it: through elementwise steps, which
//! change or move single elements, and perhaps through a reshape.

use super::place::BoxPlace;
use super::plan::{Elements, Operation, Step};
use super::region::Region;
use super::reshaped::Reshaped;
use crate::error::Result;
use crate::representation::{Representation, element_count};

/// If this many times as many elements lie between those of a box, all of the chunk takes less time.
const MANY: usize = 8;

/// The way through the elementwise steps at the beginning of a plan.
#[derive(Debug, Clone)]
pub(super) struct BoxWay {
    /// The step at its end, which decodes boxes.
    pub(super) end: usize,
    /// For each dimension of the array that enters the reshape, or else the last step, the same one of the array that
    /// enters the chain; `None` is a new one of size 1.
    axes: Vec<Option<usize>>,
    pub(super) reshaped: Option<Reshaped>,
    /// Whether no element changes.
    keeps_values: bool,
}

/// A box on its way, with the place of its elements.
#[derive(Debug)]
pub(super) enum Passed<'w, 't> {
    /// At the end.
    Box(Region, BoxPlace<'t>),
    /// Before a reshape that makes no box of it, or one that its place cannot have.
    Runs(&'w Reshaped, Region, BoxPlace<'t>),
}

impl BoxWay {
    /// The way through the first steps. `None` if a box does not stay a box, or become runs: bytes enter, or two
    /// reshapes are on the way.
    pub(super) fn new(steps: &[Step]) -> Option<Self> {
        let shape = steps.first()?.decoded.array().ok()?.shape();
        let mut way = Self { end: 0, axes: (0..shape.len()).map(Some).collect(), reshaped: None, keeps_values: true };
        while let Some((elements, next)) = passed(&steps[way.end..]) {
            if let Some(order) = &elements.order {
                let axes = way.last_axes();
                *axes = order.iter().map(|dimension| axes[*dimension]).collect();
            }
            way.reshape(&elements.shape, next)?;
            way.keeps_values &= elements.keeps_values();
            way.end += 1;
        }
        Some(way)
    }

    fn last_axes(&mut self) -> &mut Vec<Option<usize>> {
        self.reshaped.as_mut().map_or(&mut self.axes, |reshaped| &mut reshaped.axes)
    }

    fn reshape(&mut self, before: &[u64], after: &[u64]) -> Option<()> {
        if let Some(kept) = same_sizes(before, after) {
            let axes = self.last_axes();
            *axes = kept.iter().map(|axis| axis.and_then(|axis| axes[axis])).collect();
            return Some(());
        }
        if self.reshaped.is_some() {
            return None;
        }
        self.reshaped = Some(Reshaped::new(before, after)?);
        Some(())
    }

    /// Whether no element changes.
    pub(super) fn keeps_values(&self) -> bool {
        self.keeps_values
    }

    /// A box of what enters the chain in the array before the reshape, or else at the end.
    pub(super) fn region(&self, region: &Region) -> Region {
        region.arranged(&self.axes)
    }

    /// The smallest box at the end around what a box of what enters the chain needs, and the place of its elements:
    /// `place` is that of the box, which is not empty.
    pub(super) fn part<'t>(&self, region: &Region, place: BoxPlace<'t>) -> Result<(Region, BoxPlace<'t>)> {
        match self.pass(region, place)? {
            Passed::Box(region, place) => Ok((region, place)),
            Passed::Runs(reshaped, region, place) => reshaped.part(&region, place),
        }
    }

    /// The boxes at the end that a box of what enters the chain needs, with the places of their elements: `place` is that
    /// of the box, which is not empty. Each has no other cells of this size than the box needs.
    pub(super) fn rows<'t>(
        &self,
        cell_size: &[u64],
        region: &Region,
        place: BoxPlace<'t>,
    ) -> Result<Vec<(Region, BoxPlace<'t>)>> {
        match self.pass(region, place)? {
            Passed::Box(region, place) => Ok(vec![(region, place)]),
            Passed::Runs(reshaped, region, place) if reshaped.same_box(&region).is_some() => {
                Ok(vec![reshaped.part(&region, place)?])
            }
            Passed::Runs(reshaped, region, place) => reshaped.rows(cell_size, &region, place),
        }
    }

    /// Whether the elements of a box of what enters the chain are far from each other at the end, because of a reshape:
    /// the smallest box around them has [`MANY`] times as many elements.
    pub(super) fn are_far(&self, region: &Region) -> bool {
        let around = || self.reshaped.as_ref()?.around(&region.arranged(&self.axes));
        !region.is_empty() && around().is_some_and(|around| around.element_count() / MANY >= region.element_count())
    }

    /// Takes a box of what enters the chain, and the place of its elements, as far as it stays a box.
    pub(super) fn pass<'t>(&self, region: &Region, place: BoxPlace<'t>) -> Result<Passed<'_, 't>> {
        let (region, place) = (region.arranged(&self.axes), place.arranged(&self.axes)?);
        let Some(reshaped) = &self.reshaped else { return Ok(Passed::Box(region, place)) };
        let Some(same) = reshaped.same_box(&region) else { return Ok(Passed::Runs(reshaped, region, place)) };
        Ok(match place.reshaped(&same.shape) {
            Ok(place) => Passed::Box(same.arranged(&reshaped.axes), place.arranged(&reshaped.axes)?),
            Err(place) => Passed::Runs(reshaped, region, place),
        })
    }

    /// The dimensions at the end, if there is no reshape.
    pub(super) fn axes(&self) -> Option<&[Option<usize>]> {
        if self.reshaped.is_some() { None } else { Some(&self.axes) }
    }

    /// The shape of the boxes of what enters the chain that are the boxes of this shape at the end; `None` if a reshape
    /// makes something else of them.
    pub(super) fn origin_shape(&self, shape: &[u64], dimensions: usize) -> Option<Vec<u64>> {
        let Some(reshaped) = &self.reshaped else { return Some(before_axes(&self.axes, shape, dimensions)) };
        let after = before_axes(&reshaped.axes, shape, reshaped.after.len());
        let before = box_of_size(run_of(&after, &reshaped.after)?, &reshaped.before)?;
        Some(before_axes(&self.axes, &before, dimensions))
    }
}

/// The sizes of a box along the dimensions before they were arranged; 1 along one that is gone.
fn before_axes(axes: &[Option<usize>], shape: &[u64], dimensions: usize) -> Vec<u64> {
    let mut before = vec![1; dimensions];
    for (axis, size) in axes.iter().zip(shape) {
        if let Some(axis) = axis {
            before[*axis] = *size;
        }
    }
    before
}

/// The number of elements of a box of an array that lie one after the other in C order, at multiples of that number;
/// `None` if they do not.
fn run_of(part: &[u64], shape: &[u64]) -> Option<u64> {
    let whole = part.iter().zip(shape).rev().take_while(|(size, all)| size == all).count();
    let outer = part.len().saturating_sub(whole + 1);
    part[..outer].iter().all(|size| *size == 1).then(|| element_count(part))
}

/// The shape of the box that each run of `count` elements is that starts at a multiple of `count`; `None` if one of
/// them is no box.
fn box_of_size(count: u64, shape: &[u64]) -> Option<Vec<u64>> {
    if count == 0 || shape.contains(&0) {
        return None;
    }
    let (mut rest, mut part) = (count, vec![1; shape.len()]);
    for (size, all) in part.iter_mut().zip(shape).rev() {
        if rest % all == 0 {
            (*size, rest) = (*all, rest / all);
        } else if all % rest == 0 {
            *size = rest;
            return Some(part);
        } else {
            return None;
        }
    }
    (rest == 1).then_some(part)
}

/// The first of these steps and the shape of what the next one gets, if whole elements leave the first and no bytes
/// around them.
fn passed(steps: &[Step]) -> Option<(&Elements, &[u64])> {
    let [Step { operation: Operation::Elements(elements), frames, .. }, next, ..] = steps else { return None };
    let Representation::Array(array) = &next.decoded else { return None };
    let is_same = elements.fused.encoded_bits() == 8 * array.data_type().size()
        && element_count(&elements.shape) == array.element_count();
    (frames.is_empty() && is_same).then_some((elements, array.shape()))
}

/// Which dimensions of one shape those of the other are, if they differ only in dimensions of size 1.
fn same_sizes(before: &[u64], after: &[u64]) -> Option<Vec<Option<usize>>> {
    if before == after {
        return Some((0..before.len()).map(Some).collect());
    }
    let mut kept = (0..before.len()).filter(|axis| before[*axis] != 1);
    let axes: Vec<Option<usize>> = after.iter().map(|size| if *size == 1 { None } else { kept.next() }).collect();
    let is_same = axes.iter().zip(after).all(|(axis, size)| *size == axis.map_or(1, |axis| before[axis]));
    (is_same && kept.next().is_none()).then_some(axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_chunks_that_are_runs_are_boxes_of_another_shape() {
        for (part, after, before, expected) in [
            (&[2_u64, 3, 4][..], &[8_u64, 3, 4][..], &[8_u64, 12][..], Some(&[2_u64, 12][..])),
            (&[6], &[96], &[8, 12], Some(&[1, 6])),
            (&[24], &[96], &[8, 12], Some(&[2, 12])),
            (&[96], &[96], &[8, 12], Some(&[8, 12])),
            (&[8], &[96], &[8, 12], None),
            (&[1, 12], &[4, 24], &[8, 12], Some(&[1, 12])),
            (&[2, 12], &[4, 24], &[8, 12], None),
            (&[1, 1, 2], &[8, 3, 4], &[96], Some(&[2])),
            (&[3], &[3], &[1, 3, 1], Some(&[1, 3, 1])),
            (&[0], &[0], &[0, 4], None),
        ] {
            let found = run_of(part, after).and_then(|count| box_of_size(count, before));
            assert_eq!(found.as_deref(), expected, "{part:?} of {after:?} in {before:?}");
        }
    }

    #[test]
    fn shapes_that_differ_in_sizes_of_1_have_the_same_boxes() {
        for (before, after, expected) in [
            (&[1_u64, 4, 1, 6][..], &[4_u64, 6][..], Some(vec![Some(1), Some(3)])),
            (&[4, 6], &[4, 1, 6, 1], Some(vec![Some(0), None, Some(1), None])),
            (&[1, 3], &[1, 3], Some(vec![Some(0), Some(1)])),
            (&[1, 1], &[], Some(vec![])),
            (&[4, 6], &[6, 4], None),
            (&[4, 6], &[24], None),
            (&[24, 1], &[4, 6], None),
        ] {
            assert_eq!(same_sizes(before, after), expected, "{before:?} {after:?}");
        }
    }
}
