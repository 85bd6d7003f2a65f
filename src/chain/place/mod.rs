//! Where the elements of a box go: to memory, or, after a reshape, each run of them to its part of another box.

pub(super) mod element_steps;
mod first_fault;
mod index_boxes;

use crate::chain::boxes::region::{Region, index_steps};
use crate::chain::boxes::reshaped::boxes_of;
use crate::error::Result;
use crate::memory::{collect, push};
use crate::parallel::lock;
use crate::representation::position_of;
use crate::strided::{Layout, Source, Target};
use index_boxes::{IndexAxis, IndexBox, IndexBoxes};
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
    /// Its place. Several inner chunks have elements of it, which may be decoded at the same time.
    place: Mutex<BoxPlace<'t>>,
}

/// Some of the elements that go to a place.
#[derive(Debug)]
pub(super) struct PlacePart {
    /// The number of elements before the first of them.
    first: u64,
    /// The number of elements from one of them to the next one along each dimension.
    strides: Vec<u64>,
    /// These elements as an array.
    shape: Vec<u64>,
    /// The box of it that is wanted.
    pub(super) region: Region,
}

impl PlacePart {
    /// The number of its element with this index in C order of the box.
    pub(super) fn number_of(&self, index: u64) -> u64 {
        let position = position_of(index, &self.region.shape).into_iter().zip(&self.region.start);
        let steps = position.zip(&self.strides).map(|((position, start), stride)| (start + position) * stride);
        self.first + steps.sum::<u64>()
    }

    /// The wanted elements, as a part of `elements`: all that go to the place, back to back.
    pub(super) fn source<'a>(&self, elements: &'a [u8], element_size: usize) -> Result<Source<'a>> {
        let strides: Vec<i64> = self.strides.iter().map(|stride| *stride as i64 * element_size as i64).collect();
        let first = self.first as usize * element_size;
        let layout = Layout::new(element_size, &self.shape, Some(&strides), first, elements.len())?;
        Source::new(elements, layout)?.region(&self.region.start, &self.region.shape)
    }

    /// The number of elements from one to the next one in C order, which is the same for all.
    fn stride(&self) -> u64 {
        let inner = self.shape.iter().zip(&self.strides).rev().find(|(size, _)| **size > 1);
        inner.map_or(1, |(_, stride)| *stride)
    }
}

impl<'t> BoxPlace<'t> {
    /// For each of these layouts of indices of an array, the place of its elements as far as they are in a box of it,
    /// which goes to this place.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(super) fn of_runs(self, shape: &[u64], region: &Region, indices: Vec<Layout>) -> Result<Vec<BoxPlace<'t>>> {
        let goal = Arc::new(Goal { shape: shape.to_vec(), region: region.clone(), place: Mutex::new(self) });
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

    /// The same place with another shape.
    ///
    /// # Errors
    /// The place, if its elements cannot lie so in memory.
    pub(super) fn reshaped(self, shape: &[u64]) -> std::result::Result<Self, Self> {
        match self {
            Self::Memory(target) => target.reshaped(shape).map(Self::Memory).map_err(Self::Memory),
            Self::Scattered(_) => Err(self),
        }
    }

    /// The elements before index `at` of a dimension, and those from there on.
    pub(super) fn split(self, dimension: usize, at: u64) -> Result<(Self, Self)> {
        Ok(match self {
            Self::Memory(target) => {
                let (first, second) = target.split(dimension, at)?;
                (Self::Memory(first), Self::Memory(second))
            }
            Self::Scattered(Scattered { indices, goal }) => {
                let (first, second) = indices.split(dimension, at)?;
                let part = |indices| Self::Scattered(Scattered { indices, goal: Arc::clone(&goal) });
                (part(first), part(second))
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
                    if end >= size {
                        push(&mut parts, rest)?;
                        break;
                    }
                    let (part, after) = rest.split(dimension, end - done)?;
                    push(&mut parts, part)?;
                    (rest, done) = (after, end);
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
                let (shape, region) = (target.shape().to_vec(), Region::whole(target.shape()));
                let strides = index_steps(&shape);
                work(&PlacePart { first: 0, strides, shape, region }, target)
            }
            Self::Scattered(runs) => runs.for_each(work),
        }
    }
}

impl Scattered<'_> {
    fn for_each(&self, work: &mut dyn FnMut(&PlacePart, &mut Target<'_>) -> Result<()>) -> Result<()> {
        let Goal { shape, region, place } = &*self.goal;
        // Parts that go to another array are cut again, where their elements follow one another.
        let is_last = matches!(*lock(place), BoxPlace::Memory(_));
        let mut boxes = IndexBoxes::new(shape, self.axes(), is_last);
        boxes.for_each(self.indices.offset() as u64, &mut |IndexBox { region: found, first, strides }| {
            let Some(wanted) = found.common(region) else { return Ok(()) };
            let (shape_of_part, strides) = (found.shape.clone(), strides.to_vec());
            let part = PlacePart { first, strides, shape: shape_of_part, region: wanted.within_box(found) };
            match &mut *lock(place) {
                BoxPlace::Memory(target) => {
                    let wanted = wanted.within_box(region);
                    work(&part, &mut target.region(&wanted.start, &wanted.shape)?)
                }
                BoxPlace::Scattered(earlier) => earlier.for_each_of(region, &wanted, shape, &part, work),
            }
        })
    }

    /// The dimensions of the elements.
    fn axes(&self) -> Vec<IndexAxis> {
        let mut number = 1;
        let mut axes = Vec::with_capacity(self.indices.shape().len());
        for (&size, &index) in self.indices.shape().iter().zip(self.indices.strides()).rev() {
            // Indices are in C order of some array, so that they increase along each dimension.
            axes.push(IndexAxis { size, index: index.unsigned_abs() as u64, number });
            number *= size;
        }
        axes
    }

    /// The same if this is the place of a box `region` of an array of this shape, for the elements of `wanted`, a box
    /// in that, which are `part` of what goes to the array.
    fn for_each_of(
        &self,
        region: &Region,
        wanted: &Region,
        shape: &[u64],
        part: &PlacePart,
        work: &mut dyn FnMut(&PlacePart, &mut Target<'_>) -> Result<()>,
    ) -> Result<()> {
        let (count, starts) = wanted.runs(shape);
        let mut index = 0;
        for start in starts {
            for piece in boxes_of(start..start + count as u64, shape) {
                let (first, piece_count) = (part.number_of(index), piece.element_count() as u64);
                index += piece_count;
                let piece = piece.within_box(region);
                let indices = self.indices.region(&piece.start, &piece.shape)?;
                Scattered { indices, goal: Arc::clone(&self.goal) }.for_each(&mut |found, target| {
                    let strides = found.strides.iter().map(|stride| part.stride() * stride).collect();
                    let (shape, region) = (found.shape.clone(), found.region.clone());
                    work(&PlacePart { first: first + part.stride() * found.first, strides, shape, region }, target)
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::representation::element_count;
    use crate::strided;

    /// All elements of an array of this shape, in this order of its dimensions, go to an array of another shape.
    fn scattered(after: &[u64], order: &[usize], before: &[u64]) -> (usize, Vec<u8>) {
        let count = element_count(after) as usize;
        let mut memory = vec![0; count];
        let target = Target::contiguous(&mut memory, 1, before).unwrap();
        let indices = Layout::new(1, after, None, 0, count).unwrap().permuted(order).unwrap();
        let elements: Vec<u8> = (0..count as u8).collect();
        let place = BoxPlace::Memory(target).of_runs(before, &Region::whole(before), vec![indices]).unwrap();
        let mut part_count = 0;
        for mut place in place {
            let mut copy = |part: &PlacePart, target: &mut Target<'_>| {
                part_count += 1;
                assert_eq!(part.number_of(0), part.first);
                strided::copy(&part.source(&elements, 1)?, target)
            };
            place.for_each(&mut copy).unwrap();
        }
        (part_count, memory)
    }

    #[test]
    fn transposed_elements_go_to_their_places_in_runs() {
        for (after, order, before, most) in [
            (&[12_u64, 16][..], &[0, 1][..], &[16_u64, 12][..], 1),
            (&[12, 16], &[1, 0], &[192], 12),
            (&[12, 16], &[1, 0], &[16, 12], 3 * 12),
            (&[4, 3, 16], &[2, 0, 1], &[192], 12),
            (&[4, 3, 16], &[1, 0, 2], &[192], 12),
            (&[4, 1, 16], &[2, 1, 0], &[8, 8], 4),
        ] {
            let (part_count, memory) = scattered(after, order, before);
            // The index of each element, in the order in which they are decoded.
            let count = element_count(after) as usize;
            let indices = Layout::new(1, after, None, 0, count).unwrap().permuted(order).unwrap();
            let (size, rows) = indices.rows();
            let sources = rows.flat_map(|row| row as usize..row as usize + size);
            for (number, index) in sources.enumerate() {
                assert_eq!(usize::from(memory[index]), number, "{after:?} {order:?} {before:?}");
            }
            assert!(part_count <= most, "{part_count} parts of {after:?} {order:?} {before:?}");
        }
    }
}
