//! One element: writing it everywhere, or checking that it is everywhere.
#![expect(unsafe_code, reason = "targets are pointers, of which each element is reached once")]

use super::layout::Layout;
use super::nest::{Nest, visit};
use super::view::{Source, Target};
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
    let size = element.len();
    Ok(visit(&nest.axes, 0, &mut |position| {
        // SAFETY: a block of the source's elements.
        let block = unsafe { std::slice::from_raw_parts(first.offset(position), nest.block) };
        // The first equals the element, and each equals the one before it.
        block[..size] == *element && block[size..] == block[..block.len() - size]
    }))
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
    pattern.chunks_exact_mut(element.len()).for_each(|place| place.copy_from_slice(element));
    pattern
}
