//! Rows of which the source has the elements in reverse order, back to back: flipped images, arrays read backwards.
#![expect(unsafe_code, reason = "views of one memory may interleave, so that their elements are reached by pointers")]

use super::plane::VECTOR_SIZE;
use crate::simd::{Loop, vectorized};

/// Whether rows of this many elements of these sizes are copied here.
pub(super) fn takes(element_size: usize, count: usize) -> bool {
    matches!(element_size, 1 | 2 | 4 | 8 | 16) && count * element_size >= VECTOR_SIZE
}

/// Copies a row. Its first element goes to `target`, the second one, which lies before it in the source, to after that,
/// and so on.
///
/// # Safety
/// All elements can be read in the source and written in the target, and share no byte.
pub(super) unsafe fn copy(element_size: usize, count: usize, source: *const u8, target: *mut u8) {
    let size = count * element_size;
    let last = source.wrapping_sub(size - element_size);
    // SAFETY: the elements lie back to back on both sides, from `last` and from `target` on; the rest is as the caller
    // promises.
    let (source, target) =
        unsafe { (std::slice::from_raw_parts(last, size), std::slice::from_raw_parts_mut(target, size)) };
    match element_size {
        1 => vectorized(Row::<1> { source, target }),
        2 => vectorized(Row::<2> { source, target }),
        4 => vectorized(Row::<4> { source, target }),
        8 => vectorized(Row::<8> { source, target }),
        _ => vectorized(Row::<16> { source, target }),
    }
}

struct Row<'a, const SIZE: usize> {
    source: &'a [u8],
    target: &'a mut [u8],
}

impl<const SIZE: usize> Loop for Row<'_, SIZE> {
    type Output = ();

    #[inline(always)] // so that it is compiled for each instruction set
    fn run(self) {
        let (source, target) = (self.source.as_chunks::<SIZE>().0, self.target.as_chunks_mut().0);
        for (target, source) in target.iter_mut().zip(source.iter().rev()) {
            *target = *source;
        }
    }
}
