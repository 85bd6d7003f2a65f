//! One element: writing it everywhere, or checking that it is everywhere.
#![expect(unsafe_code, reason = "targets are pointers, of which each element is reached once")]

use super::layout::Layout;
use super::nest::{Axis, Nest, visit};
use super::plane::{Plane, fastest};
use super::view::{Source, Target};
use super::walk::Walk;
use crate::error::{Error, Result};

fn check(element: &[u8], layout: &Layout) -> Result<()> {
    if element.len() == layout.element_size() {
        return Ok(());
    }
    Err(Error::internal(format!("an element of {} bytes for those of {}", element.len(), layout.element_size())))
}

/// Writes this element everywhere. Bytes between the elements do not change.
///
/// # Errors
/// [`Status::Internal`](crate::Status::Internal) if the elements have another size.
pub fn fill(target: &mut Target<'_>, element: &[u8]) -> Result<()> {
    check(element, target.layout())?;
    let Some(nest) = Nest::new(target.layout(), target.layout())? else { return Ok(()) };
    let first = target.first().wrapping_offset(nest.target_shift);
    let mut pattern = [0; PATTERN_SIZE];
    let pattern = repeated(element, nest.block, &mut pattern);
    if nest.axes.is_empty() || nest.block > PATTERN_SIZE {
        let is_one_byte = element.iter().all(|byte| *byte == element[0]);
        visit(&nest.axes, 0, &mut |position| {
            // SAFETY: a block of the target's elements.
            let block = unsafe { std::slice::from_raw_parts_mut(first.offset(position), nest.block) };
            if is_one_byte {
                block.fill(element[0]);
            } else {
                block.chunks_mut(pattern.len()).for_each(|part| part.copy_from_slice(&pattern[..part.len()]));
            }
            true
        });
        return Ok(());
    }
    // A copy of one block to everywhere.
    let axes = nest.axes.iter().map(|axis| Axis { source: 0, ..*axis }).collect();
    let blocks = fastest().blocks;
    Walk::new(nest.block, axes).all(pattern.as_ptr(), first, &mut |plane| {
        // SAFETY: the source is always the pattern, which has the size of a block; the target's are blocks of its
        // elements; the tier of the kernel is available.
        unsafe { blocks(plane, false) };
        true
    });
    Ok(())
}

/// Whether every element equals this one bit for bit. True if there is none.
///
/// # Errors
/// [`Status::Internal`](crate::Status::Internal) if the elements have another size.
pub fn all_equal(source: &Source<'_>, element: &[u8]) -> Result<bool> {
    check(element, source.layout())?;
    let Some(nest) = Nest::new(source.layout(), source.layout())? else { return Ok(true) };
    let first = source.first().wrapping_offset(nest.source_shift);
    if nest.axes.is_empty() || nest.block > PATTERN_SIZE {
        let size = element.len();
        return Ok(visit(&nest.axes, 0, &mut |position| {
            // SAFETY: a block of the source's elements.
            let block = unsafe { std::slice::from_raw_parts(first.offset(position), nest.block) };
            // The first equals the element, and each equals the one before it.
            block[..size] == *element && block[size..] == block[..block.len() - size]
        }));
    }
    let mut pattern = [0; PATTERN_SIZE];
    let pattern = repeated(element, nest.block, &mut pattern);
    // Most often, the first block tells.
    // SAFETY: a block of the source's elements.
    if unsafe { std::slice::from_raw_parts(first, nest.block) } != pattern {
        return Ok(false);
    }
    Ok(Walk::new(nest.block, nest.axes).all(first, std::ptr::null_mut(), &mut |plane| {
        // SAFETY: blocks of the source's elements, of the size of the pattern.
        unsafe { has_only(plane, pattern) }
    }))
}

/// Whether each block of the plane's source is this one.
///
/// # Safety
/// They can be read, and have its size.
unsafe fn has_only(plane: &Plane, block: &[u8]) -> bool {
    // SAFETY: all parts are within the blocks.
    unsafe {
        match block.len() {
            1 => all_blocks(plane, equals::<1>(block)),
            2 => all_blocks(plane, equals::<2>(block)),
            3 => all_blocks(plane, ends_equal::<2>(block)),
            4 => all_blocks(plane, equals::<4>(block)),
            5..8 => all_blocks(plane, ends_equal::<4>(block)),
            8 => all_blocks(plane, equals::<8>(block)),
            9..16 => all_blocks(plane, ends_equal::<8>(block)),
            16 => all_blocks(plane, equals::<16>(block)),
            17..=32 => all_blocks(plane, ends_equal::<16>(block)),
            size => all_blocks(plane, |place| std::slice::from_raw_parts(place, size) == block),
        }
    }
}

/// The most bytes that are written at once.
const PATTERN_SIZE: usize = 1024;

/// The element as often as `pattern` and a block of this size have room for it, but at least once.
fn repeated<'a>(element: &'a [u8], block_size: usize, pattern: &'a mut [u8; PATTERN_SIZE]) -> &'a [u8] {
    let count = block_size.min(PATTERN_SIZE) / element.len();
    if count < 2 {
        return element;
    }
    let pattern = &mut pattern[..count * element.len()];
    let mut done = element.len();
    pattern[..done].copy_from_slice(element);
    while done < pattern.len() {
        let more = done.min(pattern.len() - done);
        pattern.copy_within(..more, done);
        done += more;
    }
    pattern
}

/// Whether the block at a place begins and ends with the `SIZE` bytes that this one does. Of a block of at most twice as
/// many, nothing is left between them.
///
/// # Safety
/// The function may be called with places of as many readable bytes.
#[inline(always)] // for a loop of each size
unsafe fn ends_equal<const SIZE: usize>(block: &[u8]) -> impl Fn(*const u8) -> bool {
    let last = block.len() - SIZE;
    // SAFETY: as the caller promises.
    let (begins, ends) = unsafe { (equals::<SIZE>(block), equals::<SIZE>(&block[last..])) };
    move |place| begins(place) & ends(place.wrapping_add(last))
}

/// Whether the `SIZE` bytes at a place are the first of these.
///
/// # Safety
/// The function may be called with places of as many readable bytes.
#[inline(always)] // for a loop of each size
unsafe fn equals<const SIZE: usize>(block: &[u8]) -> impl Fn(*const u8) -> bool {
    let mut bytes = [0; SIZE];
    bytes.copy_from_slice(&block[..SIZE]);
    // SAFETY: as the caller promises; arrays of bytes need no alignment.
    move |place| unsafe { place.cast::<[u8; SIZE]>().read() == bytes }
}

/// Whether this is so for all blocks of the plane's source. A row ends early after a piece that has another block; within
/// a piece there is no branch for each block.
#[inline(always)] // for a loop of each size
fn all_blocks(plane: &Plane, equals: impl Fn(*const u8) -> bool) -> bool {
    const PIECE: usize = 64;
    let Plane { inner, other, source, .. } = *plane;
    (0..inner.size).step_by(PIECE).all(|begin| {
        let end = inner.size.min(begin + PIECE);
        (0..other.size as isize).all(|j| {
            let row = source.wrapping_offset(j * other.source);
            (begin..end).fold(true, |all, i| all & equals(row.wrapping_offset(i as isize * inner.source)))
        })
    })
}
