//! Where the elements of a box go: to memory, or, after a reshape, each run of them to its part of another box.

use super::region::Region;
use super::reshaped::boxes_of;
use crate::error::{Error, Result};
use crate::memory::{collect, push};
use crate::parallel::lock;
use crate::strided::{Layout, Target};
use std::sync::{Arc, Mutex};

/// Where the elements of a box go.
#[derive(Debug)]
pub(super) enum BoxPlace<'t> {
    Memory(Target<'t>),
    Scattered(Scattered<'t>),
}

/// Elements whose array gets another shape before they are at their place.
#[derive(Debug)]
pub(super) struct Scattered<'t> {
    /// The index of each element in C order, as a layout of single bytes.
    indices: Layout,
    goal: Arc<Goal<'t>>,
}

/// The box that is wanted of an array.
#[derive(Debug)]
struct Goal<'t> {
    /// The shape of the array.
    shape: Vec<u64>,
    region: Region,
    /// Several inner chunks have elements of it, which may be decoded at the same time.
    target: Mutex<Target<'t>>,
}

/// Some of the elements that go to a place.
#[derive(Debug)]
pub(super) struct PlacePart {
    /// The number of elements before the first of them.
    pub(super) first: usize,
    /// The elements from there on, as an array.
    pub(super) shape: Vec<u64>,
    /// The box of it that is wanted.
    pub(super) region: Region,
}

impl PlacePart {
    /// The number of its element with this index in C order of the box.
    pub(super) fn number_of(&self, index: u64) -> u64 {
        self.first as u64 + self.region.index_within(index, &self.shape)
    }
}

impl<'t> BoxPlace<'t> {
    /// For each of these layouts of indices of an array, the place of its elements as far as they are in a box of it,
    /// which goes to this place.
    ///
    /// # Errors
    /// This place is not memory. [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(super) fn of_runs(self, shape: &[u64], region: &Region, indices: Vec<Layout>) -> Result<Vec<BoxPlace<'t>>> {
        let Self::Memory(target) = self else { return Err(Error::internal("a reshape after another one")) };
        let goal = Arc::new(Goal { shape: shape.to_vec(), region: region.clone(), target: Mutex::new(target) });
        let place = |indices| Ok(Self::Scattered(Scattered { indices, goal: Arc::clone(&goal) }));
        collect(indices.into_iter().map(place))
    }

    /// See [`Layout::arranged`].
    pub(super) fn arranged(self, axes: &[Option<usize>]) -> Result<Self> {
        Ok(match self {
            Self::Memory(target) => Self::Memory(target.arranged(axes)?),
            Self::Scattered(runs) => Self::Scattered(Scattered { indices: runs.indices.arranged(axes)?, ..runs }),
        })
    }

    /// The elements before index `at` of a dimension, and those from there on.
    pub(super) fn split(self, dimension: usize, at: u64) -> Result<(Self, Self)> {
        Ok(match self {
            Self::Memory(target) => {
                let (first, second) = target.split(dimension, at)?;
                (Self::Memory(first), Self::Memory(second))
            }
            Self::Scattered(Scattered { indices, goal }) => {
                let (mut sizes, mut start) = ([indices.shape().to_vec(), indices.shape().to_vec()], Vec::new());
                start.resize(sizes[0].len(), 0);
                (sizes[0][dimension], sizes[1][dimension]) = (at, sizes[1][dimension] - at);
                let first = indices.region(&start, &sizes[0])?;
                start[dimension] = at;
                let second = indices.region(&start, &sizes[1])?;
                let goal_of_first = Arc::clone(&goal);
                (
                    Self::Scattered(Scattered { indices: first, goal: goal_of_first }),
                    Self::Scattered(Scattered { indices: second, goal }),
                )
            }
        })
    }

    /// Cuts the place of a box where cells of these sizes meet: the parts, in C order.
    pub(super) fn cut(self, region: &Region, cell: &[u64]) -> Result<Vec<Self>> {
        let mut places = vec![self];
        for (dimension, cell_size) in cell.iter().enumerate() {
            let (start, size) = (region.start[dimension], region.shape[dimension]);
            let mut parts = Vec::new();
            for mut rest in places {
                let mut done = 0;
                while done < size {
                    let end = ((start + done) / cell_size).saturating_add(1).saturating_mul(*cell_size) - start;
                    let step = end.min(size) - done;
                    let (part, after) = rest.split(dimension, step)?;
                    push(&mut parts, part)?;
                    rest = after;
                    done += step;
                }
            }
            places = parts;
        }
        Ok(places)
    }

    /// Calls `work` for each part of the elements that lies in one view.
    pub(super) fn for_each(&mut self, work: &mut dyn FnMut(&PlacePart, &mut Target<'_>) -> Result<()>) -> Result<()> {
        match self {
            Self::Memory(target) => {
                let part =
                    PlacePart { first: 0, shape: target.shape().to_vec(), region: Region::whole(target.shape()) };
                work(&part, target)
            }
            Self::Scattered(runs) => runs.for_each(work),
        }
    }
}

impl Scattered<'_> {
    fn for_each(&self, work: &mut dyn FnMut(&PlacePart, &mut Target<'_>) -> Result<()>) -> Result<()> {
        let (count, positions) = self.indices.rows();
        let Goal { shape, region, target } = &*self.goal;
        let mut first = 0;
        for position in positions {
            let start = self.indices.offset().wrapping_add_signed(position) as u64;
            for block in boxes_of(start..start + count as u64, shape) {
                if let Some(wanted) = block.common(region) {
                    let inner = Region { start: wanted.relative_to(&block), shape: wanted.shape.clone() };
                    let part = PlacePart { first, shape: block.shape.clone(), region: inner };
                    work(&part, &mut lock(target).region(&wanted.relative_to(region), &wanted.shape)?)?;
                }
                first += block.element_count();
            }
        }
        Ok(())
    }
}
