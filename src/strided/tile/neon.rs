//! NEON.

use super::rows::Vector;
use super::{Plane, Runs, by_runs, by_tiles, portable};
use std::arch::aarch64::*;

impl Vector for uint8x16_t {
    const PARTS: usize = 1;

    #[inline(always)]
    unsafe fn load(source: *const u8, _stride: isize) -> Self {
        // SAFETY: 16 readable bytes; this load needs no alignment.
        unsafe { vld1q_u8(source) }
    }

    #[inline(always)]
    unsafe fn interleave<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: every aarch64 has NEON.
        unsafe {
            match SIZE {
                1 => (vzip1q_u8(self, other), vzip2q_u8(self, other)),
                2 => {
                    let (a, b) = (vreinterpretq_u16_u8(self), vreinterpretq_u16_u8(other));
                    (vreinterpretq_u8_u16(vzip1q_u16(a, b)), vreinterpretq_u8_u16(vzip2q_u16(a, b)))
                }
                4 => {
                    let (a, b) = (vreinterpretq_u32_u8(self), vreinterpretq_u32_u8(other));
                    (vreinterpretq_u8_u32(vzip1q_u32(a, b)), vreinterpretq_u8_u32(vzip2q_u32(a, b)))
                }
                _ => {
                    let (a, b) = (vreinterpretq_u64_u8(self), vreinterpretq_u64_u8(other));
                    (vreinterpretq_u8_u64(vzip1q_u64(a, b)), vreinterpretq_u8_u64(vzip2q_u64(a, b)))
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        // SAFETY: 16 writable bytes; this store needs no alignment.
        unsafe { vst1q_u8(target, self) }
    }
}

/// # Safety
/// All blocks of the plane can be read in the source and written in the target.
pub(in super::super) unsafe fn neon(plane: &Plane) {
    // SAFETY: as the caller promises.
    unsafe {
        if !by_tiles::<uint8x16_t, true>(plane) && !by_tiles::<uint8x16_t, false>(plane) {
            portable(plane);
        }
    }
}

/// # Safety
/// All elements of the runs can be read in the source and written in the target.
pub(in super::super) unsafe fn neon_runs(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    let is_done = unsafe { by_runs::<uint8x16_t>(runs) };
    debug_assert!(is_done, "too few elements");
}
