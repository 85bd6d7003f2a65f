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
    visit(&nest.axes, 0, &mut |position| {
        // SAFETY: a block of the target's elements.
        fill_block(unsafe { std::slice::from_raw_parts_mut(first.offset(position), nest.block) }, element);
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
    let Some(mut nest) = Nest::new(source.layout(), source.layout())? else { return Ok(true) };
    // The same elements again.
    nest.axes.retain(|axis| axis.target != 0);
    let first = source.first().wrapping_offset(nest.source_shift);
    let size = element.len();
    Ok(visit(&nest.axes, 0, &mut |position| {
        // SAFETY: a block of the source's elements.
        let block = unsafe { std::slice::from_raw_parts(first.offset(position), nest.block) };
        // The first equals the element, and each equals the one before it.
        block[..size] == *element && block[size..] == block[..block.len() - size]
    }))
}

/// The number of bytes written at once.
const PATTERN_SIZE: usize = 1024;

/// Fills a block of whole elements.
fn fill_block(block: &mut [u8], element: &[u8]) {
    if element.iter().all(|byte| *byte == element[0]) {
        return block.fill(element[0]);
    }
    let (begin, rest) = block.split_at_mut(block.len().min(PATTERN_SIZE.next_multiple_of(element.len())));
    for place in begin.chunks_exact_mut(element.len()) {
        place.copy_from_slice(element);
    }
    for part in rest.chunks_mut(begin.len()) {
        part.copy_from_slice(&begin[..part.len()]);
    }
}
