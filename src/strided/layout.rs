//! Where elements lie in memory, and the check that they stay inside it.

use crate::error::{Error, Result};
use std::ops::Range;

/// Where the elements of an N-dimensional array lie in some memory. Element `(0, .., 0)` begins at byte
/// [`offset`](Self::offset); neighbours along dimension i are `strides[i]` bytes apart, with any sign. Without
/// dimensions there is one element; if a size is 0 there is none.
///
/// No element begins before byte 0 or ends after [`end`](Self::end): memory of that size holds them all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    element_size: usize,
    offset: usize,
    shape: Vec<u64>,
    /// 0 where no step is ever taken: along a size of 0 or 1, and in all dimensions if there are no elements.
    strides: Vec<isize>,
    end: usize,
}

/// The bytes that a layout spans while its dimensions are added one by one.
struct Extent {
    memory_size: usize,
    offset: usize,
    first_byte: i128,
    end: i128,
}

impl Extent {
    fn new(element_size: usize, offset: usize, memory_size: usize) -> Result<Self> {
        let (first_byte, end) = (offset as i128, offset as i128 + element_size as i128);
        if end > memory_size as i128 {
            return Err(Error::argument(format!(
                "the first element has {element_size} bytes at offset {offset}, which end outside memory_size {memory_size}"
            )));
        }
        Ok(Self { memory_size, offset, first_byte, end })
    }

    /// Adds a size of at least 2 and its stride. Their product fits i128, and so does its sum with the size of a
    /// memory.
    fn add(&mut self, dimension: usize, size: u64, stride: i64) -> Result<()> {
        let reach = i128::from(size - 1) * i128::from(stride);
        let (first_byte, end) = (self.first_byte + reach.min(0), self.end + reach.max(0));
        if first_byte < 0 || end > self.memory_size as i128 {
            let reached = if first_byte < 0 { first_byte } else { end - 1 };
            return Err(Error::argument(format!(
                "dimension {dimension}, {size} elements with the stride {stride}, reaches byte {reached} from offset {}, \
                 outside memory_size {}",
                self.offset, self.memory_size
            )));
        }
        (self.first_byte, self.end) = (first_byte, end);
        Ok(())
    }
}

impl Layout {
    /// Checks a layout against the size of its memory. Without strides, elements lie back to back in C order.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if an element would not lie within the memory.
    pub fn new(
        element_size: usize,
        shape: &[u64],
        strides: Option<&[i64]>,
        offset: usize,
        memory_size: usize,
    ) -> Result<Self> {
        if element_size == 0 {
            return Err(Error::internal("an element has no bytes"));
        }
        if strides.is_some_and(|strides| strides.len() != shape.len()) {
            return Err(Error::argument(format!(
                "there are {} strides, but the shape has {} dimensions",
                strides.map_or(0, <[i64]>::len),
                shape.len()
            )));
        }
        if shape.contains(&0) {
            if offset > memory_size {
                return Err(Error::argument(format!("offset {offset} is outside memory_size {memory_size}")));
            }
            return Ok(Self::empty(element_size, shape.to_vec(), offset));
        }
        let mut strides = match strides {
            Some(strides) => strides.to_vec(),
            None => contiguous_strides(element_size, shape, memory_size)?,
        };
        let mut extent = Extent::new(element_size, offset, memory_size)?;
        for (dimension, (&size, stride)) in shape.iter().zip(&mut strides).enumerate() {
            if size < 2 {
                *stride = 0;
            } else {
                extent.add(dimension, size, *stride)?;
            }
        }
        // A step within the memory fits an `isize`.
        let strides: std::result::Result<_, _> = strides.into_iter().map(isize::try_from).collect();
        let strides = strides.map_err(|_| Error::internal("a stride fits no pointer"))?;
        let end = usize::try_from(extent.end).map_err(|_| Error::internal("a layout ends outside its memory"))?;
        Ok(Self { element_size, offset, shape: shape.to_vec(), strides, end })
    }

    fn empty(element_size: usize, shape: Vec<u64>, offset: usize) -> Self {
        let strides = vec![0; shape.len()];
        Self { element_size, offset, shape, strides, end: offset }
    }

    /// The size of an element in bytes.
    pub fn element_size(&self) -> usize {
        self.element_size
    }

    /// Where element `(0, .., 0)` begins.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The number of elements along each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The distance of neighbours along each dimension in bytes; 0 where there are none.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The number of bytes that the memory must have.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The bytes from the first to the last of any element; none if there are no elements.
    pub fn extent(&self) -> Range<usize> {
        let steps = self.shape.iter().zip(&self.strides).map(|(size, stride)| (*size as usize, stride));
        let before = steps.filter(|(_, stride)| **stride < 0).map(|(size, stride)| (size - 1) * stride.unsigned_abs());
        self.offset - before.sum::<usize>()..self.end
    }

    /// The size of all elements in bytes, or the largest number if that exceeds it.
    pub(crate) fn size(&self) -> u64 {
        self.shape.iter().fold(self.element_size as u64, |size, count| size.saturating_mul(*count))
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The size of all elements in bytes, if they lie back to back in C order.
    pub fn contiguous_size(&self) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        let mut size = self.element_size;
        for (&count, &stride) in self.shape.iter().zip(&self.strides).rev().filter(|(count, _)| **count != 1) {
            if usize::try_from(stride) != Ok(size) {
                return None;
            }
            // These bytes lie within the memory.
            size = size.checked_mul(usize::try_from(count).ok()?)?;
        }
        Some(size)
    }

    /// The layout of a box: `shape` elements from `start` on.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if the box has another number of dimensions, or
    /// exceeds this shape.
    pub fn region(&self, start: &[u64], shape: &[u64]) -> Result<Self> {
        if start.len() != self.shape.len() || shape.len() != self.shape.len() {
            return Err(Error::argument(format!(
                "the box starts at {start:?} and has the shape {shape:?}, but the array has {} dimensions",
                self.shape.len()
            )));
        }
        for (dimension, ((&start, &size), &whole)) in start.iter().zip(shape).zip(&self.shape).enumerate() {
            if start.checked_add(size).is_none_or(|end| end > whole) {
                return Err(Error::argument(format!(
                    "the box has {size} elements from {start} on in dimension {dimension}, but the array has {whole}"
                )));
            }
        }
        if shape.contains(&0) {
            return Ok(Self::empty(self.element_size, shape.to_vec(), self.offset));
        }
        // Every element of the box belongs to this layout: no number here exceeds those that were checked.
        let steps = start.iter().zip(&self.strides).map(|(start, stride)| *start as isize * stride);
        let offset = self.offset.wrapping_add_signed(steps.sum());
        let strides = shape.iter().zip(&self.strides).map(|(size, stride)| if *size == 1 { 0 } else { *stride });
        let strides: Vec<isize> = strides.collect();
        let reaches = shape.iter().zip(&strides).map(|(size, stride)| (*size - 1) as isize * (*stride).max(0));
        let end = offset.wrapping_add_signed(reaches.sum()) + self.element_size;
        Ok(Self { element_size: self.element_size, offset, shape: shape.to_vec(), strides, end })
    }

    /// The layouts of the elements before index `at` of a dimension, and of those from there on.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if there is no such dimension, or it is shorter.
    pub fn split(self, dimension: usize, at: u64) -> Result<(Self, Self)> {
        let Some(size) = self.shape.get(dimension).copied().filter(|size| at <= *size) else {
            let shape = &self.shape;
            return Err(Error::argument(format!("the shape {shape:?} has no index {at} in dimension {dimension}")));
        };
        let (mut first, mut second) = (self.clone(), self);
        if 0 < at && at < size {
            // Every element of both belongs to this layout: no number here exceeds those that were checked.
            let stride = first.strides[dimension];
            let [before, after] = [at, size - at].map(|count| count as isize * stride);
            if stride < 0 {
                second.end = second.end.wrapping_add_signed(before);
            } else {
                first.end = first.end.wrapping_add_signed(-after);
            }
            second.offset = second.offset.wrapping_add_signed(before);
        }
        for (part, size) in [(&mut first, at), (&mut second, size - at)] {
            part.shape[dimension] = size;
            if size == 1 {
                part.strides[dimension] = 0;
            } else if size == 0 {
                *part = Self::empty(part.element_size, std::mem::take(&mut part.shape), part.offset);
            }
        }
        Ok((first, second))
    }

    /// The transposed layout: its dimension i is dimension `order[i]` of this one.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if `order` does not permute the dimensions.
    pub fn permuted(&self, order: &[usize]) -> Result<Self> {
        let mut seen = vec![false; self.shape.len()];
        let is_new = |dimension: &usize| seen.get_mut(*dimension).is_some_and(|seen| !std::mem::replace(seen, true));
        if order.len() != self.shape.len() || !order.iter().all(is_new) {
            return Err(Error::argument(format!(
                "the order {order:?} is not a permutation of {} dimensions",
                self.shape.len()
            )));
        }
        let mut permuted = self.clone();
        for (i, &dimension) in order.iter().enumerate() {
            permuted.shape[i] = self.shape[dimension];
            permuted.strides[i] = self.strides[dimension];
        }
        Ok(permuted)
    }

    /// The same elements with other dimensions: dimension i is dimension `axes[i]` of this layout, or else a new one of
    /// size 1. Dimensions that are left out have the size 1, too.
    ///
    /// # Errors
    /// [`Status::Internal`](crate::Status::Internal) if another dimension is left out, or one is named twice.
    pub fn arranged(&self, axes: &[Option<usize>]) -> Result<Self> {
        let wrong = || Error::internal(format!("dimensions {axes:?} of the shape {:?}", self.shape));
        let mut is_free: Vec<bool> = self.shape.iter().map(|size| *size != 1).collect();
        let mut arranged = Self { shape: Vec::with_capacity(axes.len()), strides: Vec::new(), ..*self };
        for axis in axes {
            let (size, stride) = match *axis {
                None => (1, 0),
                Some(axis) if axis < self.shape.len() => {
                    if self.shape[axis] != 1 && !std::mem::take(&mut is_free[axis]) {
                        return Err(wrong());
                    }
                    (self.shape[axis], self.strides[axis])
                }
                Some(_) => return Err(wrong()),
            };
            arranged.shape.push(size);
            arranged.strides.push(stride);
        }
        if is_free.contains(&true) { Err(wrong()) } else { Ok(arranged) }
    }

    /// The same elements in C order with another shape of as many elements; `None` if no strides do that, or there are
    /// no elements.
    pub(crate) fn reshaped(&self, shape: &[u64]) -> Option<Self> {
        if shape.contains(&0) {
            return None;
        }
        let has_step = |(size, _): &(&u64, _)| **size != 1;
        let mut axes = self.shape.iter().zip(&self.strides).rev().filter(has_step);
        let mut strides = vec![0; shape.len()];
        // What no dimension of the new shape spans yet of the innermost dimensions.
        let (mut rest, mut stride) = (1, 0);
        for (size, new) in shape.iter().zip(&mut strides).rev().filter(|(size, _)| **size != 1) {
            if rest == 1 {
                let (size, step) = axes.next()?;
                (rest, stride) = (*size, *step);
            }
            while !rest.is_multiple_of(*size) {
                // The next dimension has to continue them.
                let (more, step) = axes.next()?;
                if i128::from(rest) * stride as i128 != *step as i128 {
                    return None;
                }
                rest *= more;
            }
            *new = stride;
            (rest, stride) = (rest / size, stride.wrapping_mul(*size as isize));
        }
        (rest == 1 && axes.next().is_none()).then(|| Self { shape: shape.to_vec(), strides, ..*self })
    }
}

impl Layout {
    /// The elements in C order, in the longest runs that lie back to back: the size of a run in bytes, and the offset
    /// of each from the first element.
    pub fn rows(&self) -> (usize, impl Iterator<Item = isize> + use<>) {
        let mut run = self.element_size;
        let mut axes: Vec<(u64, isize)> = Vec::with_capacity(self.shape.len());
        let moves = self.shape.iter().zip(&self.strides).rev().filter(|(size, _)| **size != 1);
        for (&size, &stride) in moves {
            // This many bytes lie within the memory.
            match usize::try_from(size).ok().and_then(|size| run.checked_mul(size)) {
                Some(longer) if axes.is_empty() && usize::try_from(stride) == Ok(run) => run = longer,
                _ => axes.push((size, stride)),
            }
        }
        let next = (!self.is_empty()).then_some(0);
        (run, Positions { indices: vec![0; axes.len()], axes, next })
    }

    /// Refuses elements that might share a byte: sorted by their strides, each dimension must step over everything that
    /// the smaller ones reach.
    pub(super) fn check_disjoint(&self) -> Result<()> {
        let mut dimensions: Vec<usize> = (0..self.shape.len()).filter(|i| self.shape[*i] > 1).collect();
        dimensions.sort_by_key(|i| self.strides[*i].unsigned_abs());
        let mut reach = self.element_size;
        for dimension in dimensions {
            let (size, stride) = (self.shape[dimension], self.strides[dimension]);
            if !self.is_empty() && stride.unsigned_abs() < reach {
                return Err(Error::argument(format!(
                    "dimension {dimension} has {size} elements with the stride {stride}, which overlap: elements that are \
                     written must not share bytes"
                )));
            }
            // All of it lies within the memory.
            reach = reach.saturating_add((size as usize - 1).saturating_mul(stride.unsigned_abs()));
        }
        Ok(())
    }
}

/// Where the runs of a layout begin, in C order.
#[derive(Debug)]
struct Positions {
    /// Innermost first.
    axes: Vec<(u64, isize)>,
    indices: Vec<u64>,
    next: Option<isize>,
}

impl Iterator for Positions {
    type Item = isize;

    fn next(&mut self) -> Option<isize> {
        let position = self.next?;
        let mut following = position;
        for (index, &(size, stride)) in self.indices.iter_mut().zip(&self.axes) {
            *index += 1;
            if *index < size {
                self.next = Some(following + stride);
                return Some(position);
            }
            following -= (*index as isize - 1) * stride;
            *index = 0;
        }
        self.next = None;
        Some(position)
    }
}

/// The strides of C order, back to back.
fn contiguous_strides(element_size: usize, shape: &[u64], memory_size: usize) -> Result<Vec<i64>> {
    let mut strides = vec![0; shape.len()];
    let mut stride = i64::try_from(element_size).ok();
    for (slot, &size) in strides.iter_mut().zip(shape).rev() {
        let past = || {
            Error::argument(format!(
                "the shape {shape:?} of elements of {element_size} bytes does not fit memory_size {memory_size}"
            ))
        };
        // Along a size of 1 no step is taken, so its stride may overflow.
        *slot = if size == 1 { 0 } else { stride.ok_or_else(past)? };
        stride = stride.and_then(|stride| stride.checked_mul(i64::try_from(size).ok()?));
    }
    Ok(strides)
}
