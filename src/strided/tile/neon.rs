//! NEON.

use super::pixels::by_pixels;
use super::rows::{Pick, Row, Vector};
use super::runs::by_runs;
use crate::strided::plane::{Pixels, Runs, Tiles};
use crate::strided::table::Place;
use std::arch::aarch64::*;

impl Vector for uint8x16_t {
    const PARTS: usize = 1;
    const GATHERS_PARTS: bool = true;
    const TAKES_TRIPLES: bool = false;
    type Square = Row<Self>;
    type Part = Self;

    #[inline(always)]
    unsafe fn load<const SIZE: usize>(source: *const u8) -> Self {
        // SAFETY: 16 readable bytes; this load needs no alignment.
        unsafe { vld1q_u8(source) }
    }

    #[inline(always)]
    unsafe fn gather(source: *const u8, places: impl Place, _step: usize) -> Self {
        // SAFETY: as the caller promises.
        unsafe { Self::load::<1>(source.wrapping_offset(places.at(0))) }
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
    unsafe fn transpose(square: Row<Self>) -> Row<Self> {
        square
    }

    #[inline(always)]
    unsafe fn store<const SIZE: usize>(self, target: *mut u8) {
        // SAFETY: 16 writable bytes; this store needs no alignment.
        unsafe { vst1q_u8(target, self) }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u8) {
        // SAFETY: 16 writable bytes.
        unsafe { vst1q_u8(target, self) }
    }
}

impl Pick for uint8x16_t {
    #[inline(always)]
    unsafe fn pick(self, order: Self) -> Self {
        // SAFETY: every aarch64 has NEON.
        unsafe { vqtbl1q_u8(self, order) }
    }
}

pub(in super::super) const NEON: Tiles =
    Tiles { copy: neon, triple_parts: None, prefers_fewer_columns: false, instead: None, pixels: Some(pixels) };

/// # Safety
/// [`NEON`] takes the runs; all their elements can be read in the source and written in the target.
unsafe fn neon(runs: &Runs<'_>) {
    // SAFETY: as the caller promises.
    let is_done = unsafe { by_runs::<uint8x16_t, 4>(runs) || by_runs::<uint8x16_t, 1>(runs) };
    debug_assert!(is_done, "too few elements");
}

/// # Safety
/// All elements can be read in the source and written in the target, and there are at least 16 bytes of each plane.
unsafe fn pixels(pixels: &Pixels) {
    // SAFETY: as the caller promises.
    unsafe { by_pixels::<uint8x16_t>(pixels) };
}
