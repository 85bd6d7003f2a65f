//! Elements in memory, for reading or writing.
#![expect(unsafe_code, reason = "views of one memory may interleave, which slices cannot")]

use super::layout::Layout;
use crate::error::{Error, Result};
use std::marker::PhantomData;

/// Elements to read.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    memory: *const u8,
    layout: Layout,
    bytes: PhantomData<&'a [u8]>,
}

/// Elements to write. No two of them share a byte.
#[derive(Debug)]
pub struct Target<'a> {
    memory: *mut u8,
    layout: Layout,
    bytes: PhantomData<&'a mut [u8]>,
}

// SAFETY: a source is as a `&[u8]` of its elements.
unsafe impl Send for Source<'_> {}
// SAFETY: as above.
unsafe impl Sync for Source<'_> {}
// SAFETY: a target is as a `&mut [u8]` of its elements, which no other target writes.
unsafe impl Send for Target<'_> {}
// SAFETY: a shared target gives numbers and raw pointers only; elements are reached through `self` or `&mut self`.
unsafe impl Sync for Target<'_> {}

fn check(layout: &Layout, memory_size: usize) -> Result<()> {
    if layout.end() > memory_size {
        return Err(Error::argument(format!(
            "the view reaches byte {}, outside memory_size {memory_size}",
            layout.end().saturating_sub(1)
        )));
    }
    Ok(())
}

/// Whether an element of the layout in this memory shares a byte with `size` bytes from `bytes` on.
fn overlaps(memory: *const u8, layout: &Layout, bytes: *const u8, size: usize) -> bool {
    let others = bytes.addr()..bytes.addr().saturating_add(size);
    let share = |start: usize, size: usize| {
        let start = memory.addr().saturating_add(start);
        start < others.end && others.start < start.saturating_add(size)
    };
    let extent = layout.extent();
    if size == 0 || extent.is_empty() || !share(extent.start, extent.len()) {
        return false;
    }
    let (run_size, mut positions) = layout.rows();
    positions.any(|position| share(layout.offset().wrapping_add_signed(position), run_size))
}

impl<'a> Source<'a> {
    /// Elements of this memory.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if the memory is too small for the layout.
    pub fn new(memory: &'a [u8], layout: Layout) -> Result<Self> {
        // SAFETY: a slice can be read as long as it is borrowed.
        unsafe { Self::from_raw(memory.as_ptr(), memory.len(), layout) }
    }

    /// Elements back to back in C order, from the beginning of this memory on.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if the memory is too small.
    pub fn contiguous(memory: &'a [u8], element_size: usize, shape: &[u64]) -> Result<Self> {
        Self::new(memory, Layout::new(element_size, shape, None, 0, memory.len())?)
    }

    /// Elements of memory that somebody else owns.
    ///
    /// # Safety
    /// During `'a` the elements can be read and nobody writes them. The `memory_size` bytes from `memory` on belong to
    /// one object; NULL has none.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if the memory is too small for the layout.
    pub unsafe fn from_raw(memory: *const u8, memory_size: usize, layout: Layout) -> Result<Self> {
        check(&layout, memory_size)?;
        Ok(Self { memory, layout, bytes: PhantomData })
    }

    /// Where the elements lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether an element shares a byte with these.
    pub(crate) fn overlaps(&self, bytes: *const u8, size: usize) -> bool {
        overlaps(self.memory, &self.layout, bytes, size)
    }

    /// The size of an element in bytes.
    pub fn element_size(&self) -> usize {
        self.layout.element_size()
    }

    /// The number of elements along each dimension.
    pub fn shape(&self) -> &[u64] {
        self.layout.shape()
    }

    /// Whether the elements lie back to back in C order.
    pub fn is_contiguous(&self) -> bool {
        self.layout.contiguous_size().is_some()
    }

    /// All elements, if they lie back to back in C order.
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        match self.layout.contiguous_size()? {
            0 => Some(&[]),
            // SAFETY: the bytes of all elements, which nobody writes during `'a`.
            size => Some(unsafe { std::slice::from_raw_parts(self.first(), size) }),
        }
    }

    /// The elements of a box. See [`Layout::region`].
    ///
    /// # Errors
    /// As [`Layout::region`].
    pub fn region(&self, start: &[u64], shape: &[u64]) -> Result<Self> {
        Ok(Self { layout: self.layout.region(start, shape)?, ..*self })
    }

    /// The elements of the transposed array. See [`Layout::permuted`].
    ///
    /// # Errors
    /// As [`Layout::permuted`].
    pub fn permuted(&self, order: &[usize]) -> Result<Self> {
        Ok(Self { layout: self.layout.permuted(order)?, ..*self })
    }

    /// The same elements with other dimensions. See [`Layout::arranged`].
    ///
    /// # Errors
    /// As [`Layout::arranged`].
    pub fn arranged(&self, axes: &[Option<usize>]) -> Result<Self> {
        Ok(Self { layout: self.layout.arranged(axes)?, ..*self })
    }

    /// The elements in C order, in the longest runs that lie back to back.
    pub fn rows(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (size, positions) = self.layout.rows();
        let first = self.first();
        // SAFETY: each position is that of `size` bytes of elements, which nobody writes during `'a`.
        positions.map(move |position| unsafe { std::slice::from_raw_parts(first.offset(position), size) })
    }

    /// Element `(0, .., 0)`, if there is one.
    pub(super) fn first(&self) -> *const u8 {
        self.memory.wrapping_add(self.layout.offset())
    }
}

impl<'a> Target<'a> {
    /// Elements of this memory.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if the memory is too small for the layout, or if two
    /// elements might share a byte: sorted by their strides, each dimension must step over everything that the smaller
    /// ones reach.
    pub fn new(memory: &'a mut [u8], layout: Layout) -> Result<Self> {
        layout.check_disjoint()?;
        // SAFETY: a slice can be written as long as it is borrowed, and the elements share no byte.
        unsafe { Self::from_raw(memory.as_mut_ptr(), memory.len(), layout) }
    }

    /// Elements back to back in C order, from the beginning of this memory on.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if the memory is too small.
    pub fn contiguous(memory: &'a mut [u8], element_size: usize, shape: &[u64]) -> Result<Self> {
        let layout = Layout::new(element_size, shape, None, 0, memory.len())?;
        // SAFETY: a slice can be written as long as it is borrowed, and elements back to back share no byte.
        unsafe { Self::from_raw(memory.as_mut_ptr(), memory.len(), layout) }
    }

    /// Elements of memory that somebody else owns.
    ///
    /// # Safety
    /// During `'a` the elements can be written, and nobody else reads or writes them. No two of them share a byte. The
    /// `memory_size` bytes from `memory` on belong to one object; NULL has none.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if the memory is too small for the layout.
    pub unsafe fn from_raw(memory: *mut u8, memory_size: usize, layout: Layout) -> Result<Self> {
        check(&layout, memory_size)?;
        Ok(Self { memory, layout, bytes: PhantomData })
    }

    /// Where the elements lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether an element shares a byte with these.
    pub(crate) fn overlaps(&self, bytes: *const u8, size: usize) -> bool {
        overlaps(self.memory.cast_const(), &self.layout, bytes, size)
    }

    /// The size of an element in bytes.
    pub fn element_size(&self) -> usize {
        self.layout.element_size()
    }

    /// The number of elements along each dimension.
    pub fn shape(&self) -> &[u64] {
        self.layout.shape()
    }

    /// Whether the elements lie back to back in C order.
    pub fn is_contiguous(&self) -> bool {
        self.layout.contiguous_size().is_some()
    }

    /// The same target, for the time of this borrow.
    pub fn reborrow(&mut self) -> Target<'_> {
        Target { memory: self.memory, layout: self.layout.clone(), bytes: PhantomData }
    }

    /// All elements, if they lie back to back in C order.
    pub fn as_slice(&mut self) -> Option<&mut [u8]> {
        self.reborrow().into_slice().ok()
    }

    /// All elements, if they lie back to back in C order; otherwise the target itself.
    ///
    /// # Errors
    /// The target.
    pub fn into_slice(self) -> std::result::Result<&'a mut [u8], Self> {
        match self.layout.contiguous_size() {
            None => Err(self),
            Some(0) => Ok(&mut []),
            // SAFETY: the bytes of all elements, which nobody else uses during `'a`.
            Some(size) => Ok(unsafe { std::slice::from_raw_parts_mut(self.first(), size) }),
        }
    }

    /// The elements of a box. See [`Layout::region`].
    ///
    /// # Errors
    /// As [`Layout::region`].
    pub fn region(&mut self, start: &[u64], shape: &[u64]) -> Result<Target<'_>> {
        // This target cannot be used as long as the box is.
        Ok(Target { memory: self.memory, layout: self.layout.region(start, shape)?, bytes: PhantomData })
    }

    /// The elements before index `at` of a dimension, and those from there on.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if there is no such dimension, or it is shorter.
    pub fn split(self, dimension: usize, at: u64) -> Result<(Target<'a>, Target<'a>)> {
        // The two have no element in common, and this target is gone.
        let of = |layout| Target { memory: self.memory, layout, bytes: PhantomData };
        let (first, second) = self.layout.split(dimension, at)?;
        Ok((of(first), of(second)))
    }

    /// The elements of the transposed array. See [`Layout::permuted`].
    ///
    /// # Errors
    /// As [`Layout::permuted`].
    pub fn permuted(self, order: &[usize]) -> Result<Self> {
        Ok(Self { layout: self.layout.permuted(order)?, ..self })
    }

    /// The same elements with other dimensions. See [`Layout::arranged`].
    ///
    /// # Errors
    /// As [`Layout::arranged`].
    pub fn arranged(self, axes: &[Option<usize>]) -> Result<Self> {
        Ok(Self { layout: self.layout.arranged(axes)?, ..self })
    }

    /// The same elements with another shape, see [`Layout::reshaped`].
    ///
    /// # Errors
    /// The target, if no strides do that.
    pub(crate) fn reshaped(self, shape: &[u64]) -> std::result::Result<Self, Self> {
        match self.layout.reshaped(shape) {
            Some(layout) => Ok(Self { layout, ..self }),
            None => Err(self),
        }
    }

    /// The bytes of each of the [`rows`](Self::rows).
    pub fn row_size(&self) -> usize {
        self.layout.rows().0
    }

    /// The elements in C order, in runs of as many as lie back to back.
    pub fn rows(&mut self) -> impl Iterator<Item = &mut [u8]> + use<'_> {
        let (size, positions) = self.layout.rows();
        let first = self.first();
        // SAFETY: each position is that of `size` bytes of elements, and comes once.
        positions.map(move |position| unsafe { std::slice::from_raw_parts_mut(first.offset(position), size) })
    }

    /// Whether both are elements of one memory: adjacent memories may be two.
    pub(super) fn shares_memory_with(&self, other: &Target<'_>) -> bool {
        self.memory == other.memory
    }

    /// Element `(0, .., 0)`, if there is one.
    pub(super) fn first(&self) -> *mut u8 {
        self.memory.wrapping_add(self.layout.offset())
    }
}
