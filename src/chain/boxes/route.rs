//! The route of a box from the array that enters a chain to the step that decodes it: through elementwise steps, which
//! change or move single elements, and perhaps through reshapes.

use super::region::Region;
use super::reshaped::{Reshaped, before_axes};
use crate::chain::fused::Fused;
use crate::chain::place::BoxPlace;
use crate::chain::plan::{Elements, Operation, Step};
use crate::error::Result;
use crate::representation::{Representation, element_count};

/// If this many times as many elements lie between those of a box, all of the chunk takes less time.
const FAR_RATIO: usize = 8;

/// Finding the place of one element through several reshapes costs as much as decoding about this many elements.
const PLACE_COST: u64 = 256;

/// The route through the elementwise steps at the beginning of a plan.
#[derive(Debug, Clone)]
pub(in crate::chain) struct BoxRoute {
    /// The step at its end, which decodes boxes.
    pub(in crate::chain) end: usize,
    /// For each dimension of the array that enters the first reshape, or else the last step, the same one of the array
    /// that enters the chain; `None` is a new one of size 1.
    axes: Vec<Option<usize>>,
    /// The last reshape.
    pub(in crate::chain) reshaped: Option<Reshaped>,
    /// What the kernels of all steps do to the elements at the end, in one pass; `None` if no element changes.
    pub(in crate::chain) pass: Option<Elements>,
}

/// A box on its route, with the place of its elements.
#[derive(Debug)]
pub(in crate::chain) enum Routed<'w, 't> {
    /// At the end.
    Box(Region, BoxPlace<'t>),
    /// Before a reshape that makes no box of it, or one that its place cannot have.
    Runs(&'w Reshaped, Region, BoxPlace<'t>),
}

impl BoxRoute {
    /// The route through the first steps. `None` if bytes enter.
    pub(in crate::chain) fn new(steps: &[Step]) -> Option<Self> {
        let array = steps.first()?.decoded.array().ok()?;
        let axes = (0..array.shape().len()).map(Some).collect();
        let mut route = Self { end: 0, axes, reshaped: None, pass: None };
        let mut fused = Fused::new(array.element_count(), 8 * array.data_type().size());
        while let Some((elements, next)) = routed(&steps[route.end..]) {
            if let Some(order) = &elements.order {
                let axes = route.last_axes();
                *axes = order.iter().map(|dimension| axes[*dimension]).collect();
            }
            route.reshape(&elements.shape, next)?;
            fused.append(&elements.fused);
            route.end += 1;
        }
        let shape = steps[route.end].decoded.array().ok()?.shape().to_vec();
        route.pass = (!fused.is_copy()).then_some(Elements { order: None, shape, fused });
        Some(route)
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
        self.reshaped = Some(Reshaped::new(self.reshaped.take(), before, after)?);
        Some(())
    }

    /// Whether no element changes.
    pub(in crate::chain) fn keeps_values(&self) -> bool {
        self.pass.is_none()
    }

    /// The smallest box at the end around what a box of what enters the chain needs, and the place of its elements:
    /// `place` is that of the box, which is not empty.
    pub(in crate::chain) fn part<'t>(&self, region: &Region, place: BoxPlace<'t>) -> Result<(Region, BoxPlace<'t>)> {
        match self.pass(region, place)? {
            Routed::Box(region, place) => Ok((region, place)),
            Routed::Runs(reshaped, region, place) => reshaped.part(&region, place),
        }
    }

    /// The boxes at the end that a box of what enters the chain needs, with the places of their elements: `place` is that
    /// of the box, which is not empty. Each has no other cells of this size than the box needs.
    pub(in crate::chain) fn rows<'t>(
        &self,
        cell_size: &[u64],
        region: &Region,
        place: BoxPlace<'t>,
    ) -> Result<Vec<(Region, BoxPlace<'t>)>> {
        match self.pass(region, place)? {
            Routed::Box(region, place) => Ok(vec![(region, place)]),
            Routed::Runs(reshaped, region, place) if reshaped.same_box(&region).is_some() => {
                Ok(vec![reshaped.part(&region, place)?])
            }
            Routed::Runs(reshaped, region, place) => reshaped.rows(cell_size, &region, place),
        }
    }

    /// Whether the elements of a box of what enters the chain are far from each other at the end, because of a reshape:
    /// the smallest box around them has [`FAR_RATIO`] times as many elements.
    pub(in crate::chain) fn are_far(&self, region: &Region) -> bool {
        let around = || self.reshaped.as_ref()?.around(&region.arranged(&self.axes));
        !region.is_empty()
            && around().is_some_and(|around| around.element_count() / FAR_RATIO >= region.element_count())
    }

    /// Whether it takes less time to find the places of this many elements than to decode all. After several reshapes,
    /// each has a place by itself.
    pub(in crate::chain) fn are_few(&self, element_count: u64) -> bool {
        let are_few =
            |reshaped: &Reshaped| reshaped.is_first() || element_count <= reshaped.element_count() / PLACE_COST;
        self.reshaped.as_ref().is_none_or(are_few)
    }

    /// Whether it takes less time to find the places of the runs of a box of what enters the chain than to decode all
    /// elements, of which `cost` take as long as one run. A box that stays one has no runs to find.
    pub(super) fn has_few_runs(&self, region: &Region, cost: u64) -> bool {
        let Some(reshaped) = self.reshaped.as_ref().filter(|reshaped| reshaped.is_first()) else { return true };
        let region = region.arranged(&self.axes);
        region.is_empty()
            || reshaped.run_count(&region) <= reshaped.element_count() / cost
            || reshaped.may_be_same_box(&region)
    }

    /// Takes a box of what enters the chain, and the place of its elements, as far as it stays a box.
    pub(in crate::chain) fn pass<'t>(&self, region: &Region, place: BoxPlace<'t>) -> Result<Routed<'_, 't>> {
        let (region, place) = (region.arranged(&self.axes), place.arranged(&self.axes)?);
        let Some(reshaped) = &self.reshaped else { return Ok(Routed::Box(region, place)) };
        let same = if reshaped.is_first() { reshaped.same_box(&region) } else { None };
        let Some(same) = same else { return Ok(Routed::Runs(reshaped, region, place)) };
        Ok(match place.reshaped(&same.shape) {
            Ok(place) => Routed::Box(same.arranged(&reshaped.axes), place.arranged(&reshaped.axes)?),
            Err(place) => Routed::Runs(reshaped, region, place),
        })
    }

    /// The dimensions at the end, if there is no reshape.
    pub(in crate::chain) fn axes(&self) -> Option<&[Option<usize>]> {
        if self.reshaped.is_some() { None } else { Some(&self.axes) }
    }

    /// The shape of the boxes of what enters the chain that are the boxes of this shape at the end; `None` if a reshape
    /// makes something else of them, or if decoding the whole chunk takes less time.
    pub(in crate::chain) fn origin_shape(&self, shape: &[u64], dimensions: usize) -> Option<Vec<u64>> {
        let Some(reshaped) = &self.reshaped else { return Some(before_axes(&self.axes, shape, dimensions)) };
        let before = reshaped.origin_shape(shape).filter(|before| self.are_few(element_count(before)))?;
        Some(before_axes(&self.axes, &before, dimensions))
    }
}

/// The first of these steps and the shape of what the next one gets, if whole elements leave the first and no bytes
/// around them.
fn routed(steps: &[Step]) -> Option<(&Elements, &[u64])> {
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
