//! Boxes of a large array that lie side by side, and go to their place together.
//!
//! The rows of a small box are short, and far from each other: a processor writes them to memory slowly, and reads each
//! line before. Boxes side by side have long rows together. These are written one after the other, past the caches,
//! without reading a line. On a Zen 4, rows of 64 bytes are written to 32 MiB twice as fast this way.
#![expect(unsafe_code, reason = "views of one memory may interleave, so that their elements are reached by pointers")]

use super::copy::for_each;
use super::layout::Layout;
use super::nest::{Axis, Nest};
use super::plane::VECTOR_SIZE;
use super::view::Target;
use crate::error::{Error, Result};
use crate::memory::{LINE_SIZE, grow, size_before_line};
use crate::simd::{Level, Tier, available};

/// The bytes of the boxes that wait in memory, at most: a third-level cache has them, and a second-level cache those of
/// small boxes.
const MAX_MEMORY_SIZE: usize = 4 << 20;

/// Of larger boxes, too few would be side by side.
const MAX_BOX_SIZE: u64 = 1 << 20;

/// The most boxes of a strip.
pub(crate) const MAX_BOXES: usize = 16;

/// Shorter rows of a box take as long to find as to copy.
pub(super) const MIN_ROW_SIZE: usize = LINE_SIZE;

/// Longer ones are written fast without others beside them.
const MAX_ROW_SIZE: usize = 4096;

/// The least size in bytes of rows that are written past the caches (non-temporal stores): two lines if rows begin and
/// end on line boundaries, otherwise enough that the partial lines at their ends hardly count.
const MIN_ALIGNED_SIZE: usize = 2 * LINE_SIZE;
const MIN_UNALIGNED_SIZE: usize = 512;

/// Boxes side by side whose elements are at hand, those of each back to back in C order.
#[derive(Debug)]
pub(crate) struct Strip<'m, 'e, 't> {
    memory: &'m mut Vec<u8>,
    boxes: Option<Boxes<'e, 't>>,
}

/// The boxes of a strip, of the same shape.
#[derive(Debug)]
struct Boxes<'e, 't> {
    first: Target<'t>,
    /// The loops from the elements of a box to its place.
    nest: Nest,
    /// The bytes of a box, and from one to the next in memory.
    size: usize,
    pitch: usize,
    /// The elements of each; `None` if they are in memory.
    elements: Vec<Option<&'e [u8]>>,
}

impl<'m, 'e, 't> Strip<'m, 'e, 't> {
    /// A strip without boxes. The memory is made larger as needed.
    pub(crate) fn new(memory: &'m mut Vec<u8>) -> Self {
        Self { memory, boxes: None }
    }

    /// Adds a box; returns memory for its elements, back to back in C order, which holds anything. The caller writes
    /// them before it adds another box or finishes the strip. Returns the box itself if it gains nothing by a strip.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(crate) fn add(&mut self, target: Target<'t>) -> Result<std::result::Result<&mut [u8], Target<'t>>> {
        let (boxes, memory) = match self.boxes_for(target)? {
            Ok(found) => found,
            Err(target) => return Ok(Err(target)),
        };
        // Memory for all of them, because it cannot grow while elements wait in it.
        grow(memory, LINE_SIZE + boxes.max_count() * boxes.pitch)?;
        let begin = size_before_line(memory) + boxes.elements.len() * boxes.pitch;
        boxes.elements.push(None);
        Ok(Ok(&mut memory[begin..begin + boxes.size]))
    }

    /// Adds a box with its elements, back to back in C order; returns it if it gains nothing by a strip.
    ///
    /// # Errors
    /// [`Status::Internal`](crate::Status::Internal) if it has another size.
    pub(crate) fn add_elements(&mut self, elements: &'e [u8], target: Target<'t>) -> Result<Option<Target<'t>>> {
        match self.boxes_for(target)? {
            Ok((boxes, _)) if boxes.size == elements.len() => boxes.elements.push(Some(elements)),
            Ok(_) => return Err(Error::internal("a box of another size than its elements")),
            Err(target) => return Ok(Some(target)),
        }
        Ok(None)
    }

    /// Writes the boxes to their place.
    pub(crate) fn finish(&mut self) {
        if let Some(boxes) = self.boxes.take() {
            boxes.write(self.memory.get(size_before_line(self.memory)..).unwrap_or(&[]));
        }
    }

    /// The boxes that this one is added to, and the memory of the strip: its boxes, or new ones after the others are at
    /// their place.
    fn boxes_for(
        &mut self,
        target: Target<'t>,
    ) -> Result<std::result::Result<(&mut Boxes<'e, 't>, &mut Vec<u8>), Target<'t>>> {
        if !self.boxes.as_ref().is_some_and(|boxes| boxes.can_take(&target)) {
            self.finish();
            match Boxes::new(target)? {
                Ok(boxes) => self.boxes = Some(boxes),
                Err(target) => return Ok(Err(target)),
            }
        }
        let Some(boxes) = &mut self.boxes else { return Err(Error::internal("a strip without boxes")) };
        Ok(Ok((boxes, self.memory)))
    }
}

/// The most boxes of this many bytes that a strip has; 0 if they are too large for one.
pub(crate) fn max_boxes(size: u64) -> usize {
    if size > MAX_BOX_SIZE { 0 } else { (MAX_MEMORY_SIZE / pitch(size as usize)).min(MAX_BOXES) }
}

/// From one box of this many bytes to the next in memory: an odd number of lines, so that they do not collide in a
/// cache.
pub(super) fn pitch(size: usize) -> usize {
    size.next_multiple_of(2 * LINE_SIZE) + LINE_SIZE
}

impl<'e, 't> Boxes<'e, 't> {
    /// The boxes that begin with this one, if such boxes gain by a strip.
    fn new(first: Target<'t>) -> Result<std::result::Result<Self, Target<'t>>> {
        let layout = first.layout();
        if max_boxes(layout.size()) == 0 {
            return Ok(Err(first));
        }
        let size = layout.size() as usize;
        let elements = Layout::new(layout.element_size(), layout.shape(), None, 0, size)?;
        let Some(nest) = Nest::new(&elements, layout)? else { return Ok(Err(first)) };
        let boxes = Self { first, nest, size, pitch: pitch(size), elements: Vec::new() };
        Ok(if boxes.can_gain() { Ok(boxes) } else { Err(boxes.first) })
    }

    /// Whether rows of as many boxes as there is memory for are written past the caches.
    fn can_gain(&self) -> bool {
        let Nest { block, axes, .. } = &self.nest;
        let has_rows = (MIN_ROW_SIZE..MAX_ROW_SIZE).contains(block) && !axes.is_empty();
        has_rows && self.are_aligned_to(VECTOR_SIZE, 0) && self.should_stream(self.max_count() * block)
    }

    fn max_count(&self) -> usize {
        max_boxes(self.size as u64)
    }

    /// Whether all rows of a box begin and end `shift` bytes after a multiple of `size`.
    fn are_aligned_to(&self, size: usize, shift: usize) -> bool {
        let Nest { block, axes, target_shift, .. } = &self.nest;
        let begin = self.first.first().wrapping_offset(*target_shift).addr();
        let mut steps = axes.iter().map(|axis| axis.target.unsigned_abs()).chain([*block]);
        begin % size == shift && steps.all(|step| step.is_multiple_of(size))
    }

    /// Whether rows of this many bytes should be written past the caches.
    fn should_stream(&self, row_size: usize) -> bool {
        let goes_on = self.nest.axes.last().is_some_and(|axis| axis.target == row_size as isize);
        goes_on || row_size >= MIN_UNALIGNED_SIZE || row_size >= MIN_ALIGNED_SIZE && self.are_aligned_to(LINE_SIZE, 0)
    }

    /// Whether there is room for this box, too, and it goes on where the rows end.
    fn can_take(&self, target: &Target<'_>) -> bool {
        let count = self.elements.len();
        let end = self.first.first().wrapping_add(count * self.nest.block);
        let (layout, own) = (target.layout(), self.first.layout());
        count < self.max_count()
            && target.shares_memory_with(&self.first)
            && target.first() == end
            && layout.shape() == own.shape()
            && layout.strides() == own.strides()
            && layout.element_size() == own.element_size()
    }

    fn write(self, memory: &[u8]) {
        let streams = self.should_stream(self.elements.len() * self.nest.block);
        let fits = |stream: &Stream| self.are_aligned_to(stream.vector_size, stream.shift);
        let stream = available(STREAMS).map(|tier| tier.kernel).find(|stream| streams && fits(stream));
        let Self { first, nest: Nest { block, axes, source_shift, target_shift }, pitch, elements, .. } = self;
        let Some((inner, outer)) = axes.split_last() else { return };
        let in_memory = |number: usize| memory.as_ptr().wrapping_add(number * pitch);
        let mut begins = [std::ptr::null(); MAX_BOXES];
        for (number, (begin, elements)) in begins.iter_mut().zip(&elements).enumerate() {
            *begin = elements.map_or_else(|| in_memory(number), <[u8]>::as_ptr).wrapping_offset(source_shift);
        }
        let begins = &begins[..elements.len()];
        let target = first.first().wrapping_offset(target_shift);
        // A source from address 0 on: wherever it comes to is the offset of a row in every box.
        for_each(outer, std::ptr::null(), target, &mut |offset, target| {
            let rows = Rows { block, inner: *inner, begins, offset: offset.addr() as isize, target };
            // SAFETY: the rows of the boxes, among their elements and at their place, which share nothing. If they go past
            // the caches, the tier is available, and all of them begin and end where it says.
            unsafe {
                match stream {
                    Some(stream) => (stream.copy)(rows),
                    None => rows.each(|source, target| source.copy_to_nonoverlapping(target, block)),
                }
            }
        });
        if stream.is_some() {
            fence();
        }
    }
}

/// Rows of boxes side by side.
struct Rows<'a> {
    /// The bytes of a row of a box.
    block: usize,
    /// From one row to the next.
    inner: Axis,
    /// The elements of each box, and where the first row begins in them.
    begins: &'a [*const u8],
    offset: isize,
    target: *mut u8,
}

impl Rows<'_> {
    /// # Safety
    /// `copy` can be called for each row of each box.
    #[inline(always)] // so that each way of copying has loops of its own
    unsafe fn each(self, copy: impl Fn(*const u8, *mut u8)) {
        let Self { block, inner, begins, mut offset, mut target } = self;
        for _ in 0..inner.size {
            let mut to = target;
            for begin in begins {
                copy(begin.wrapping_offset(offset), to);
                to = to.wrapping_add(block);
            }
            (offset, target) = (offset + inner.source, target.wrapping_offset(inner.target));
        }
    }

    /// # Safety
    /// `copy` can be called for each vector of each row of each box.
    #[inline(always)] // for the instruction set of the caller
    unsafe fn each_by_vectors<const SIZE: usize>(self, copy: impl Fn(*const u8, *mut u8)) {
        let row = |source: *const u8, target: *mut u8, size: usize| {
            for at in (0..size).step_by(SIZE) {
                copy(source.wrapping_add(at), target.wrapping_add(at));
            }
        };
        // SAFETY: as the caller promises.
        unsafe {
            // A constant size needs no loop.
            match self.block {
                LINE_SIZE => self.each(|source, target| row(source, target, LINE_SIZE)),
                block => self.each(|source, target| row(source, target, block)),
            }
        }
    }
}

/// A kernel that copies past the caches.
#[derive(Debug, Clone, Copy)]
struct Stream {
    /// Rows begin and end `shift` bytes after a multiple of this many.
    vector_size: usize,
    shift: usize,
    /// May be called if the tier is available, and if the rows can be read, and their places written.
    copy: unsafe fn(Rows<'_>),
}

/// Fastest first. A Zen 4 takes 1.3 ms to write 32 MiB by vectors of 32 or 64 bytes, and 2.1 ms by those of 16.
static STREAMS: &[Tier<Stream>] = &[
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx2, kernel: Stream { vector_size: 32, shift: 0, copy: avx2 } },
    // Large memory of the GNU C library begins 16 bytes after a page.
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx2, kernel: Stream { vector_size: 32, shift: 16, copy: avx2_shifted } },
    Tier { level: Level::Reference, kernel: Stream { vector_size: VECTOR_SIZE, shift: 0, copy: portable } },
];

/// # Safety
/// As [`Stream::copy`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2(rows: Rows<'_>) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_stream_si256};
    // SAFETY: as the caller promises.
    let vector = |source: *const u8, target: *mut u8| unsafe {
        _mm256_stream_si256(target.cast(), _mm256_loadu_si256(source.cast()));
    };
    // SAFETY: as the caller promises.
    unsafe { rows.each_by_vectors::<32>(vector) };
}

/// The same where rows begin and end in the middle of a vector: such a vector has the end of one box's row and the
/// beginning of the next one's.
///
/// # Safety
/// As [`Stream::copy`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2_shifted(rows: Rows<'_>) {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm_stream_si128, _mm256_loadu_si256, _mm256_set_m128i, _mm256_stream_si256,
    };
    let Rows { block, inner, begins, mut offset, mut target } = rows;
    for _ in 0..inner.size {
        let (mut to, mut end) = (target, None);
        for begin in begins {
            let from = begin.wrapping_offset(offset);
            // SAFETY: as the caller promises. A row of a box has at least two vectors.
            unsafe {
                let first = _mm_loadu_si128(from.cast());
                match end {
                    None => _mm_stream_si128(to.cast(), first),
                    Some(end) => _mm256_stream_si256(to.wrapping_sub(16).cast(), _mm256_set_m128i(first, end)),
                }
                for at in (16..block - 16).step_by(32) {
                    let vector = _mm256_loadu_si256(from.wrapping_add(at).cast());
                    _mm256_stream_si256(to.wrapping_add(at).cast(), vector);
                }
                end = Some(_mm_loadu_si128(from.wrapping_add(block - 16).cast()));
            }
            to = to.wrapping_add(block);
        }
        if let Some(end) = end {
            // SAFETY: as the caller promises.
            unsafe { _mm_stream_si128(to.wrapping_sub(16).cast(), end) };
        }
        (offset, target) = (offset + inner.source, target.wrapping_offset(inner.target));
    }
}

/// With the instructions of every processor of this architecture, if it has any for that.
///
/// # Safety
/// As [`Stream::copy`].
unsafe fn portable(rows: Rows<'_>) {
    // SAFETY: as the caller promises; every x86-64 processor has the instructions.
    let vector = |source: *const u8, target: *mut u8| unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
            _mm_stream_si128(target.cast(), _mm_loadu_si128(source.cast()));
        }
        #[cfg(not(target_arch = "x86_64"))]
        source.copy_to_nonoverlapping(target, VECTOR_SIZE);
    };
    // SAFETY: as the caller promises.
    unsafe { rows.each_by_vectors::<VECTOR_SIZE>(vector) };
}

/// Makes what was written past the caches visible to other threads before what is written from here on.
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
