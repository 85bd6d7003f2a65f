//! Boxes of a large array that lie side by side, copied from it together.
//!
//! The rows of a small box are short, and far from each other: a processor waits for each line of them. Boxes side by
//! side have long rows together, and these are requested some time before they are read. On a Zen 5, rows of 64 bytes
//! are read from 32 MiB twice as fast this way.
#![expect(unsafe_code, reason = "views of one memory may interleave, so that their elements are reached by pointers")]

use super::copy::for_each;
use super::layout::Layout;
use super::nest::{Axis, Nest};
use super::prefetch::prefetch;
use super::strip::{MIN_ROW_SIZE, max_boxes, pitch};
use super::view::Source;
use crate::error::Result;
use crate::memory::{LINE_SIZE, from_line, grow};

/// Rows are requested this many bytes before they are read: more than the memory needs, less than a first-level cache.
const AHEAD_SIZE: usize = 8 << 10;

/// Boxes of the same shape, the elements of each back to back in C order.
#[derive(Debug)]
pub(crate) struct Gathered<'m> {
    memory: &'m [u8],
    /// The bytes of a box, and from one to the next in memory.
    size: usize,
    pitch: usize,
}

impl<'m> Gathered<'m> {
    /// Copies boxes of `width` elements along the last dimension, in which they lie side by side, to memory, which is made
    /// larger as needed. `None` if they gain nothing by that, such as rows of `max_row_size` bytes or more.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(crate) fn new(
        boxes: &Source<'_>,
        width: u64,
        max_row_size: usize,
        memory: &'m mut Vec<u8>,
    ) -> Result<Option<Self>> {
        let Some((size, count, nest)) = loops(boxes, width)?.filter(|(.., nest)| nest.block < max_row_size) else {
            return Ok(None);
        };
        let pitch = pitch(size);
        grow(memory, LINE_SIZE + count * pitch)?;
        let memory = from_line(memory);
        let Nest { block, axes, source_shift, .. } = nest;
        let Some((inner, outer)) = axes.split_last() else { return Ok(None) };
        let rows = Rows { block, count, pitch, inner: *inner };
        let mut waiting = None;
        let source = boxes.first().wrapping_offset(source_shift);
        // SAFETY: the rows of all boxes, each as long as `count` blocks, and the places of the blocks in the memory of
        // their boxes.
        let copy = |(source, target): (*const u8, *mut u8), next| unsafe { rows.copy(source, target, next) };
        for_each(outer, source, memory.as_mut_ptr(), &mut |source, target| {
            if let Some(plane) = waiting.replace((source, target)) {
                copy(plane, source);
            }
        });
        if let Some(plane) = waiting {
            copy(plane, plane.0);
        }
        Ok(Some(Self { memory, size, pitch }))
    }

    /// The elements of a box.
    pub(crate) fn get(&self, number: usize) -> &'m [u8] {
        &self.memory[number * self.pitch..][..self.size]
    }
}

/// The bytes of each box, their number, and the loops over the rows of the first one; `None` if the boxes gain nothing.
fn loops(boxes: &Source<'_>, width: u64) -> Result<Option<(usize, usize, Nest)>> {
    let Some((extent, outer)) = boxes.shape().split_last() else { return Ok(None) };
    let (count, mut shape) = (extent / width.max(1), outer.to_vec());
    shape.push(width);
    let first = boxes.region(&vec![0; shape.len()], &shape)?;
    let size = first.layout().size();
    if count < 2 || count > max_boxes(size) as u64 {
        return Ok(None);
    }
    let elements = Layout::new(first.element_size(), &shape, None, 0, size as usize)?;
    let Some(nest) = Nest::new(first.layout(), &elements)? else { return Ok(None) };
    let step = boxes.layout().strides().last().and_then(|stride| stride.checked_mul(width as isize));
    let gains = nest.block >= MIN_ROW_SIZE && !nest.axes.is_empty() && step == Some(nest.block as isize);
    Ok(gains.then_some((size as usize, count as usize, nest)))
}

/// Rows of boxes side by side.
struct Rows {
    /// The bytes of a row of a box.
    block: usize,
    /// The number of boxes, and the bytes from one to the next in memory.
    count: usize,
    pitch: usize,
    /// From one row to the next.
    inner: Axis,
}

impl Rows {
    /// Copies the rows from `source` on to the first box from `target` on, and to the others. Requests the first rows
    /// from `next` on.
    ///
    /// # Safety
    /// The rows can be read, and their places in all boxes written.
    unsafe fn copy(&self, source: *const u8, target: *mut u8, next: *const u8) {
        let Self { block, count, pitch, inner } = *self;
        let ahead = AHEAD_SIZE.div_ceil(block * count);
        for number in 0..inner.size {
            let row = |first: *const u8, number: usize| first.wrapping_offset(number as isize * inner.source);
            let later = number + ahead;
            let later = if later < inner.size { row(source, later) } else { row(next, later - inner.size) };
            (0..block * count).step_by(LINE_SIZE).for_each(|line| prefetch(later.wrapping_add(line)));
            let mut from = row(source, number);
            let mut to = target.wrapping_offset(number as isize * inner.target);
            for _ in 0..count {
                // SAFETY: as the caller promises.
                unsafe {
                    // A constant size is copied without a loop or a call.
                    match block {
                        LINE_SIZE => from.copy_to_nonoverlapping(to, LINE_SIZE),
                        _ => from.copy_to_nonoverlapping(to, block),
                    }
                }
                (from, to) = (from.wrapping_add(block), to.wrapping_add(pitch));
            }
        }
    }
}
