//! Requests for cache lines that are about to be used. They change nothing but how long that takes.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "an instruction that the standard library has only as an unsafe function")
)]

use super::layout::Layout;
use super::nest::{Nest, visit};
use super::view::{Source, Target};
use crate::memory::LINE_SIZE;

/// The most bytes that are requested: more would leave no room in a second-level cache for what is done meanwhile.
const MAX_SIZE: usize = 128 << 10;

/// Requests the cache line of this address, which need not exist. Into the second-level cache, because lines of many
/// rows may collide in the first one. Only on x86-64.
#[inline(always)] // a call would take longer than the instruction
pub(super) fn prefetch(address: *const u8) {
    request::<false>(address);
}

/// As [`prefetch`], into the first-level cache, for a line that is used soon.
#[inline(always)] // as above
pub(crate) fn prefetch_soon(address: *const u8) {
    request::<true>(address);
}

/// Requests the cache line of this address, which need not exist, into the first-level cache or only the second one.
#[inline(always)] // as above
pub(super) fn request<const INTO_FIRST: bool>(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction, which takes any address and reads nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        if INTO_FIRST {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        } else {
            _mm_prefetch::<_MM_HINT_T1>(address.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

impl Target<'_> {
    /// Requests the cache lines of all elements, see [`prefetch_rows`].
    pub fn prefetch(&self) {
        prefetch_rows(self.layout(), self.first());
    }
}

impl Source<'_> {
    /// Requests the cache lines of all elements, see [`prefetch_rows`].
    pub fn prefetch(&self) {
        prefetch_rows(self.layout(), self.first());
    }
}

/// Requests the cache lines of these bytes, if they are not too many.
pub(crate) fn prefetch_bytes(bytes: &[u8]) {
    if bytes.len() <= MAX_SIZE {
        bytes.iter().step_by(LINE_SIZE).for_each(|byte| prefetch(byte));
    }
}

/// Requests the cache lines of all elements, if they are not too many and lie in rows of a line or more, of which
/// processors cannot tell which one comes next. Shorter rows take as long to find as to copy.
fn prefetch_rows(layout: &Layout, first: *const u8) {
    let Ok(Some(nest)) = Nest::new(layout, layout) else { return };
    // Of elements that share bytes there may be more than fit into memory.
    let row_count = nest.axes.iter().fold(1_usize, |count, axis| count.saturating_mul(axis.size));
    let row_size = nest.block;
    if row_size < LINE_SIZE || row_count < 2 || row_size.saturating_mul(row_count) > MAX_SIZE {
        return;
    }
    let Some((inner, outer)) = nest.axes.split_last() else { return };
    let first = first.wrapping_offset(nest.target_shift);
    visit(outer, 0, &mut |position| {
        let mut row = first.wrapping_offset(position);
        for _ in 0..inner.size {
            let end = row.wrapping_add(row_size);
            let mut line = row.wrapping_sub(row.addr() % LINE_SIZE);
            while line < end {
                prefetch(line);
                line = line.wrapping_add(LINE_SIZE);
            }
            row = row.wrapping_offset(inner.target);
        }
        true
    });
}
