//! A hint that memory is about to be read.

#![allow(unsafe_code)]

/// Fetches the cell of this index, which need not exist. Only on x86-64.
#[inline(always)]
pub(super) fn prefetch<T>(cells: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction, which takes any address and changes nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(cells.as_ptr().wrapping_add(index).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (cells, index);
}
