//! A reshape on the way of a box: its elements are runs in C order, whose parts may lie anywhere in a box around them,
//! or in any inner chunk.

use super::cell_grid::{Cell, CellGrid};
use super::region::Region;
use crate::chain::place::BoxPlace;
use crate::error::{Error, Result};
use crate::memory::{collect, push};
use crate::representation::{element_count, position_of};
use crate::strided::Layout;
use std::collections::BTreeMap;
use std::ops::Range;

/// The most reshapes on one route: each takes a few frames of the stack when a box goes through it.
const MAX_COUNT: usize = 8;

/// An array that gets another shape, perhaps after other reshapes. "The array before" is the one before all of them.
#[derive(Debug, Clone)]
pub(in crate::chain) struct Reshaped {
    /// The reshape before this one, with the order of dimensions between them.
    earlier: Option<Box<Self>>,
    /// The number of reshapes, with this one.
    count: usize,
    before: Vec<u64>,
    pub(in crate::chain) after: Vec<u64>,
    /// For each dimension of the array that enters the next reshape, or else the last step, the same one of `after`;
    /// `None` is a new one, of size 1.
    pub(in crate::chain) axes: Vec<Option<usize>>,
    /// The index in C order of each element of `after`, as a layout of single bytes.
    indices: Layout,
}

impl Reshaped {
    /// `None` if no memory has as many elements, or if there are too many reshapes.
    pub(in crate::chain) fn new(earlier: Option<Self>, before: &[u64], after: &[u64]) -> Option<Self> {
        let count = earlier.as_ref().map_or(1, |earlier| earlier.count + 1);
        if count > MAX_COUNT {
            return None;
        }
        let indices = Layout::new(1, after, None, 0, isize::try_from(element_count(after)).ok()? as usize).ok()?;
        let axes = (0..after.len()).map(Some).collect();
        let earlier = earlier.map(Box::new);
        Some(Self { earlier, count, before: before.to_vec(), after: after.to_vec(), axes, indices })
    }

    /// Whether it is the first reshape.
    pub(in crate::chain) fn is_first(&self) -> bool {
        self.earlier.is_none()
    }

    /// The number of elements, which no reshape changes.
    pub(in crate::chain) fn element_count(&self) -> u64 {
        element_count(&self.after)
    }

    /// The shape, in the original array, of boxes that are whole boxes of this shape in the input of the last step;
    /// `None` if there are no elements.
    pub(in crate::chain) fn origin_shape(&self, shape: &[u64]) -> Option<Vec<u64>> {
        let after = before_axes(&self.axes, shape, self.after.len());
        let before = boxes_before(&self.before, &self.after, &after)?;
        match &self.earlier {
            None => Some(before),
            Some(earlier) => earlier.origin_shape(&before),
        }
    }

    /// The cells of what the last step gets that a box of the array before touches, with the smallest box around what it
    /// needs of each, and where the elements of that go: `place` is that of the box.
    pub(in crate::chain) fn parts<'t>(
        &self,
        grid: CellGrid<'_>,
        region: &Region,
        place: BoxPlace<'t>,
    ) -> Result<(Vec<Cell>, Vec<BoxPlace<'t>>)> {
        let (mut cells, mut layouts) = (Vec::new(), Vec::new());
        for cell in self.find(grid, region)? {
            push(&mut layouts, self.indices_of(&cell.in_array())?)?;
            push(&mut cells, cell)?;
        }
        Ok((cells, self.places(region, place, layouts)?))
    }

    /// The same for cells of this size, in rows of cells that follow one another along the last dimension: the smallest box
    /// around what is needed of each row, and where its elements go.
    pub(in crate::chain) fn rows<'t>(
        &self,
        cell_size: &[u64],
        region: &Region,
        place: BoxPlace<'t>,
    ) -> Result<Vec<(Region, BoxPlace<'t>)>> {
        let shape = Region::whole(&self.after).arranged(&self.axes).shape;
        let counts: Vec<u64> = shape.iter().zip(cell_size).map(|(all, size)| all.div_ceil(*size)).collect();
        let row_length = counts.last().copied().unwrap_or(1);
        let (mut rows, mut end): (Vec<Region>, u64) = (Vec::new(), 0);
        let grid = CellGrid { counts: &counts, size: cell_size };
        for cell in self.find(grid, region)? {
            let needed = cell.in_array();
            match rows.last_mut() {
                Some(row) if cell.number == end && !end.is_multiple_of(row_length) => row.include(&needed),
                _ => push(&mut rows, needed)?,
            }
            end = cell.number + 1;
        }
        let layouts = collect(rows.iter().map(|row| self.indices_of(row)))?;
        let places = self.places(region, place, layouts)?;
        collect(rows.into_iter().zip(places).map(Ok))
    }

    /// The smallest box of what the last step gets around the elements of a box of the array before, which is not empty;
    /// and where its elements go: `place` is that of the box.
    pub(in crate::chain) fn part<'t>(&self, region: &Region, place: BoxPlace<'t>) -> Result<(Region, BoxPlace<'t>)> {
        let around = self.around(region).ok_or_else(|| Error::internal("a box without elements"))?;
        let needed = around.arranged(&self.axes);
        let places = self.places(region, place, vec![self.indices_of(&needed)?])?;
        let place = places.into_iter().next().ok_or_else(|| Error::internal("a box without a place"))?;
        Ok((needed, place))
    }

    /// Where the elements with these indices go: `place` is that of a box of the array before.
    fn places<'t>(&self, region: &Region, place: BoxPlace<'t>, indices: Vec<Layout>) -> Result<Vec<BoxPlace<'t>>> {
        let Some(earlier) = &self.earlier else { return place.of_runs(&self.before, region, indices) };
        let (region, place) = earlier.part(region, place)?;
        place.of_runs(&self.before, &region, indices)
    }

    /// The smallest box of `after` around a box of the array before; `None` if that is empty.
    pub(in crate::chain) fn around(&self, region: &Region) -> Option<Region> {
        Region::around(self.boxes(region))
    }

    /// The box of `after` that a box of the array before is, if it is one. It must not be empty.
    pub(super) fn same_box(&self, region: &Region) -> Option<Region> {
        let earlier = self.earlier.as_ref().map(|earlier| Some(earlier.same_box(region)?.arranged(&earlier.axes)));
        let region = &earlier.unwrap_or_else(|| Some(region.clone()))?;
        let found = self.corner_box(region)?;
        let is_same = |around: &Region| *around == found;
        Region::around(self.own_boxes(region)).as_ref().is_some_and(is_same).then_some(found)
    }

    /// The only box of `after` that a box of what enters this reshape can be: it has the first and the last element at
    /// two corners, and as many elements. Most often, there is none. The box must not be empty.
    fn corner_box(&self, region: &Region) -> Option<Region> {
        let (first, last) = region.ends(&self.before);
        let [start, end] = [first, last].map(|element| position_of(element, &self.after));
        let sizes = start.iter().zip(&end).map(|(start, end)| (end + 1).checked_sub(*start));
        let found = Region { shape: sizes.collect::<Option<_>>()?, start };
        (element_count(&found.shape) == element_count(&region.shape)).then_some(found)
    }

    /// Whether a box of what enters this reshape may be a box of `after`. It must not be empty.
    pub(super) fn may_be_same_box(&self, region: &Region) -> bool {
        self.corner_box(region).is_some()
    }

    /// The number of runs of consecutive elements that a box of what enters this reshape consists of.
    pub(in crate::chain) fn run_count(&self, region: &Region) -> u64 {
        element_count(&region.shape) / (region.run_length(&self.before) as u64).max(1)
    }

    /// The index in C order of each element of a box of what the last step gets.
    fn indices_of(&self, region: &Region) -> Result<Layout> {
        self.indices.arranged(&self.axes)?.region(&region.start, &region.shape)
    }

    /// The boxes of `after` that a box of the array before consists of. It must not be empty.
    fn boxes(&self, region: &Region) -> Box<dyn Iterator<Item = Region> + '_> {
        match &self.earlier {
            None => Box::new(self.own_boxes(region)),
            Some(earlier) => {
                let arranged = earlier.boxes(region).map(|part| part.arranged(&earlier.axes));
                Box::new(arranged.flat_map(|part| self.own_boxes(&part)))
            }
        }
    }

    /// The boxes of `after` that a box of what enters this reshape consists of, in C order. It must not be empty.
    fn own_boxes<'a>(&'a self, region: &Region) -> impl Iterator<Item = Region> + use<'a> {
        boxes_after(region, &self.before, &self.after)
    }

    /// The cells that a box of the array before touches, in C order of the grid, each with the smallest box around what
    /// it needs of it.
    fn find(&self, grid: CellGrid<'_>, region: &Region) -> Result<Vec<Cell>> {
        if region.is_empty() {
            return Ok(Vec::new());
        }
        let [counts, size] = [grid.counts, grid.size].map(|numbers| before_axes(&self.axes, numbers, self.after.len()));
        let grid_before_axes = CellGrid { counts: &counts, size: &size };
        let needed = match &self.earlier {
            None => self.needed_by_group(grid_before_axes, region),
            Some(_) => needed_by_cell(grid_before_axes, self.boxes(region)),
        };
        let mut found = Vec::new();
        for needed in needed {
            grid.cells(&needed.arranged(&self.axes)).try_for_each(|cell| push(&mut found, cell))?;
        }
        found.sort_unstable_by_key(|cell| cell.number);
        Ok(found)
    }

    /// As [`needed_by_cell`] for a box of what enters this reshape. Dimensions that it neither joins nor splits with
    /// others are apart: what is needed along all of them is every combination of what is needed along some.
    fn needed_by_group(&self, grid: CellGrid<'_>, region: &Region) -> Vec<Region> {
        let mut found = vec![Region::whole(&[])];
        for (group, group_after) in groups(&self.before, &self.after) {
            let [start, shape] = [&region.start, &region.shape].map(|numbers| numbers[group.clone()].to_vec());
            let region = Region { start, shape };
            let boxes = boxes_after(&region, &self.before[group], &self.after[group_after.clone()]);
            let grid = CellGrid { counts: &grid.counts[group_after.clone()], size: &grid.size[group_after] };
            let needed = needed_by_cell(grid, boxes);
            found = found.iter().flat_map(|outer| needed.iter().map(|inner| outer.with_dimensions_of(inner))).collect();
        }
        found
    }
}

/// The smallest box around what is needed of each cell, of an array that needs these boxes, in C order of the grid.
fn needed_by_cell(grid: CellGrid<'_>, boxes: impl Iterator<Item = Region>) -> Vec<Region> {
    // All of a cell, and what is needed of it.
    let mut found: BTreeMap<u64, (Region, Region)> = BTreeMap::new();
    let mut current = 0;
    for part in boxes {
        // Most often, it lies in the cell of the last one.
        if let Some((whole, needed)) = found.get_mut(&current)
            && whole.includes(&part)
        {
            needed.include(&part);
            continue;
        }
        for cell in grid.cells(&part) {
            current = cell.number;
            let part = cell.in_array();
            let new = || (grid.cell(current).in_array(), part.clone());
            found.entry(current).or_insert_with(new).1.include(&part);
        }
    }
    found.into_values().map(|(_, needed)| needed).collect()
}

/// The boxes of an array of shape `after` that a box consists of if the array had shape `before`, in C order. It must
/// not be empty.
fn boxes_after<'a>(region: &Region, before: &[u64], after: &'a [u64]) -> impl Iterator<Item = Region> + use<'a> {
    let (count, starts) = region.runs(before);
    starts.flat_map(move |start| boxes_of(start..start + count as u64, after))
}

/// The boxes that a run of elements consists of, in C order.
pub(in crate::chain) fn boxes_of(run: Range<u64>, shape: &[u64]) -> impl Iterator<Item = Region> {
    let mut next = run.start;
    std::iter::from_fn(move || {
        if next >= run.end {
            return None;
        }
        let (start, mut size) = (position_of(next, shape), vec![1; shape.len()]);
        // As many of the last dimensions as can be whole, and as large a part as possible of the one before them.
        let (mut block, mut dimension) = (1, shape.len());
        while dimension > 0 {
            let longer = block * shape[dimension - 1];
            if !next.is_multiple_of(longer) || next + longer > run.end {
                break;
            }
            (block, size[dimension - 1]) = (longer, shape[dimension - 1]);
            dimension -= 1;
        }
        if let Some(cut) = dimension.checked_sub(1) {
            size[cut] = ((run.end - next) / block).min(shape[cut] - start[cut]);
            block *= size[cut];
        }
        next += block;
        Some(Region { start, shape: size })
    })
}

/// The sizes of a box along the dimensions before they were arranged; 1 along one that is gone.
pub(super) fn before_axes(axes: &[Option<usize>], shape: &[u64], dimensions: usize) -> Vec<u64> {
    let mut before = vec![1; dimensions];
    for (axis, size) in axes.iter().zip(shape) {
        if let Some(axis) = axis {
            before[*axis] = *size;
        }
    }
    before
}

/// The shape of boxes of an array that are whole boxes of the shape `part` after a reshape, each of which begins at a
/// multiple of it; `None` if there are no elements. Dimensions that are joined or split are taken whole if no smaller
/// box is found.
fn boxes_before(before: &[u64], after: &[u64], part: &[u64]) -> Option<Vec<u64>> {
    if before.contains(&0) {
        return None;
    }
    let is_line = |shape: &[u64]| shape.iter().filter(|size| **size != 1).count() < 2;
    let mut found = Vec::with_capacity(before.len());
    for (group, group_after) in groups(before, after) {
        let (group, group_part, group_after) = (&before[group], &part[group_after.clone()], &after[group_after]);
        if is_line(group) && is_line(group_after) {
            found.extend(group.iter().map(|size| if *size == 1 { 1 } else { element_count(group_part) }));
        } else {
            let run = run_of(group_part, group_after).and_then(|count| box_of_size(count, group));
            found.extend(run.unwrap_or_else(|| group.to_vec()));
        }
    }
    Some(found)
}

/// The groups of dimensions of two shapes that a reshape makes of each other, without the dimensions of other groups.
fn groups(before: &[u64], after: &[u64]) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let (mut end, mut end_after) = (0, 0);
    std::iter::from_fn(move || {
        let (first, first_after) = (end, end_after);
        let (count, count_after) = first_group(&before[first..], &after[first_after..]);
        (end, end_after) = (first + count, first_after + count_after);
        (count + count_after > 0).then_some((first..end, first_after..end_after))
    })
}

/// The number of the first dimensions of two shapes that a reshape makes of each other: the fewest that have as many
/// elements, and more than one; all that are left if these have one.
fn first_group(before: &[u64], after: &[u64]) -> (usize, usize) {
    let (mut end, mut end_after, mut count, mut count_after) = (0, 0, 1_u64, 1_u64);
    while count != count_after || count == 1 {
        if count <= count_after && end < before.len() {
            (count, end) = (count * before[end], end + 1);
        } else if end_after < after.len() {
            (count_after, end_after) = (count_after * after[end_after], end_after + 1);
        } else {
            break;
        }
    }
    (end, end_after)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::boxes::region::positions;

    #[test]
    fn inner_chunks_that_are_runs_are_boxes_of_another_shape() {
        for (part, after, before, expected) in [
            (&[2_u64, 3, 4][..], &[8_u64, 3, 4][..], &[8_u64, 12][..], Some(&[2_u64, 12][..])),
            (&[6], &[96], &[8, 12], Some(&[1, 6])),
            (&[24], &[96], &[8, 12], Some(&[2, 12])),
            (&[96], &[96], &[8, 12], Some(&[8, 12])),
            (&[8], &[96], &[8, 12], Some(&[8, 12])),
            (&[1, 12], &[4, 24], &[8, 12], Some(&[1, 12])),
            (&[2, 12], &[4, 24], &[8, 12], Some(&[8, 12])),
            (&[1, 1, 2], &[8, 3, 4], &[96], Some(&[2])),
            (&[3], &[3], &[1, 3, 1], Some(&[1, 3, 1])),
            (&[0], &[0], &[0, 4], None),
            // 8 x 12 become 96, and 5 stay 5.
            (&[24, 2], &[96, 5], &[8, 12, 5], Some(&[2, 12, 2])),
            (&[8, 2], &[96, 5], &[8, 12, 5], Some(&[8, 12, 2])),
            (&[3, 1, 4], &[7, 3, 8], &[7, 24], Some(&[3, 4])),
            (&[3, 1, 4], &[7, 3, 8], &[1, 7, 1, 24, 1], Some(&[1, 3, 1, 4, 1])),
            (&[1, 1], &[1, 1], &[], Some(&[])),
            (&[], &[], &[1, 1], Some(&[1, 1])),
        ] {
            let found = boxes_before(before, after, part);
            assert_eq!(found.as_deref(), expected, "{part:?} of {after:?} in {before:?}");
        }
    }

    #[test]
    fn what_is_needed_of_each_cell_is_found_by_groups_of_dimensions() {
        for (before, after, size) in [
            (&[6_u64, 4][..], &[2_u64, 3, 4][..], &[1_u64, 2, 3][..]),
            (&[3, 2, 4], &[3, 8], &[2, 3]),
            (&[2, 3, 4], &[6, 2, 2], &[4, 1, 2]),
            (&[1, 4, 1, 6, 1], &[2, 2, 1, 6], &[1, 2, 1, 4]),
            (&[4, 6], &[6, 4], &[4, 3]),
            (&[5], &[5, 1, 1], &[2, 1, 1]),
            (&[1, 1], &[], &[]),
        ] {
            let reshaped = Reshaped::new(None, before, after).unwrap();
            let counts: Vec<u64> = after.iter().zip(size).map(|(all, size)| all.div_ceil(*size)).collect();
            let grid = CellGrid { counts: &counts, size };
            for start in positions(before.to_vec()) {
                let most = before.iter().zip(&start).map(|(size, start)| size - start).collect();
                for shape in positions(most) {
                    let region = Region { start: start.clone(), shape: shape.iter().map(|size| size + 1).collect() };
                    let [mut found, expected] =
                        [reshaped.needed_by_group(grid, &region), needed_by_cell(grid, reshaped.own_boxes(&region))];
                    found.sort_by_key(|part| grid.cells(part).next().unwrap().number);
                    assert_eq!(found, expected, "{region:?} of {before:?} in {after:?}");
                }
            }
        }
    }

    #[test]
    fn runs_are_counted_and_what_stays_a_box_is_no_other_than_its_corners_tell() {
        for (before, after) in [
            (&[4_u64, 6][..], &[2_u64, 12][..]),
            (&[24], &[2, 3, 4]),
            (&[2, 3, 4], &[2, 12]),
            (&[2, 3, 4], &[2, 3, 2, 2]),
        ] {
            let reshaped = Reshaped::new(None, before, after).unwrap();
            for start in positions(before.to_vec()) {
                let most = before.iter().zip(&start).map(|(size, start)| size - start).collect();
                for shape in positions(most) {
                    let region = Region { start: start.clone(), shape: shape.iter().map(|size| size + 1).collect() };
                    assert_eq!(reshaped.run_count(&region), region.runs(before).1.count() as u64, "{region:?}");
                    let is_box = reshaped.same_box(&region).is_some();
                    assert!(reshaped.may_be_same_box(&region) || !is_box, "{region:?} of {before:?} in {after:?}");
                }
            }
        }
        let columns = Region { start: vec![0, 0, 1], shape: vec![2, 3, 1] };
        let reshaped = Reshaped::new(None, &[2, 3, 4], &[2, 12]).unwrap();
        assert!(!reshaped.may_be_same_box(&columns) && reshaped.run_count(&columns) == 6);
    }

    #[test]
    fn the_boxes_of_a_run_are_its_elements_in_order() {
        for shape in [vec![], vec![7], vec![3, 4], vec![2, 3, 4], vec![4, 1, 3]] {
            let count = element_count(&shape);
            for start in 0..=count {
                for end in start..=count {
                    let boxes: Vec<Region> = boxes_of(start..end, &shape).collect();
                    assert!(boxes.len() < 2 * shape.len().max(1), "{boxes:?}");
                    let indices: Vec<u64> = boxes
                        .iter()
                        .flat_map(|part| {
                            let (size, starts) = part.runs(&shape);
                            starts.flat_map(move |start| start..start + size as u64).collect::<Vec<_>>()
                        })
                        .collect();
                    assert_eq!(indices, (start..end).collect::<Vec<_>>(), "{shape:?}");
                }
            }
        }
    }
}
