//! NEON instructions on one vector.

use super::super::lanes::{Arithmetic, Lanes};
use super::Neon;
use std::arch::aarch64::*;

impl Arithmetic for Neon {
    type Vector = uint32x4_t;

    #[inline(always)]
    fn repeat(self, byte: u8) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe { vreinterpretq_u32_u8(vdupq_n_u8(byte)) }
    }

    #[inline(always)]
    fn xor(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe { veorq_u32(a, b) }
    }

    #[inline(always)]
    fn add<const WIDE: bool>(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe { if WIDE { narrow(vaddq_u64(wide(a), wide(b))) } else { vaddq_u32(a, b) } }
    }

    #[inline(always)]
    fn sub<const WIDE: bool>(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe { if WIDE { narrow(vsubq_u64(wide(a), wide(b))) } else { vsubq_u32(a, b) } }
    }

    #[inline(always)]
    fn half<const WIDE: bool>(self, integers: uint32x4_t) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe {
            if WIDE {
                vreinterpretq_u32_s64(vshrq_n_s64::<1>(vreinterpretq_s64_u32(integers)))
            } else {
                vreinterpretq_u32_s32(vshrq_n_s32::<1>(vreinterpretq_s32_u32(integers)))
            }
        }
    }
}

impl Lanes for Neon {
    #[inline(always)]
    fn zero(self) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe { vdupq_n_u32(0) }
    }

    #[inline(always)]
    fn or(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe { vorrq_u32(a, b) }
    }

    #[inline(always)]
    fn is_zero(self, vector: uint32x4_t) -> bool {
        // SAFETY: the processor has NEON.
        unsafe { vmaxvq_u32(vector) == 0 }
    }

    #[inline(always)]
    fn any_bits<const WIDE: bool>(self, vector: uint32x4_t) -> u64 {
        // SAFETY: the processor has NEON.
        let [a, b] = unsafe { words(vector) };
        let all = a | b;
        if WIDE { all } else { (all | all >> 32) & u64::from(u32::MAX) }
    }

    #[inline(always)]
    fn larger_magnitude<const WIDE: bool>(self, largest: uint32x4_t, values: uint32x4_t) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe {
            if WIDE {
                let magnitude = vandq_u64(wide(values), vdupq_n_u64(u64::MAX >> 1));
                let is_nan = vcgtq_u64(magnitude, vdupq_n_u64(0x7FF << 52));
                let magnitude = vbicq_u64(magnitude, is_nan);
                narrow(vbslq_u64(vcgtq_u64(magnitude, wide(largest)), magnitude, wide(largest)))
            } else {
                let magnitude = vandq_u32(values, vdupq_n_u32(u32::MAX >> 1));
                let is_nan = vcgtq_u32(magnitude, vdupq_n_u32(0xFF << 23));
                vmaxq_u32(largest, vbicq_u32(magnitude, is_nan))
            }
        }
    }

    #[inline(always)]
    fn largest<const WIDE: bool>(self, vector: uint32x4_t) -> u64 {
        // SAFETY: the processor has NEON.
        unsafe {
            if WIDE {
                let [a, b] = words(vector);
                a.max(b)
            } else {
                vmaxvq_u32(vector).into()
            }
        }
    }

    #[inline(always)]
    fn multiply<const WIDE: bool>(self, values: uint32x4_t, factor: f64) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe {
            if WIDE {
                vreinterpretq_u32_f64(vmulq_f64(vreinterpretq_f64_u32(values), vdupq_n_f64(factor)))
            } else {
                vreinterpretq_u32_f32(vmulq_f32(vreinterpretq_f32_u32(values), vdupq_n_f32(factor as f32)))
            }
        }
    }

    #[inline(always)]
    fn truncate<const WIDE: bool>(self, values: uint32x4_t) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe {
            if WIDE {
                vreinterpretq_u32_s64(vcvtq_s64_f64(vreinterpretq_f64_u32(values)))
            } else {
                vreinterpretq_u32_s32(vcvtq_s32_f32(vreinterpretq_f32_u32(values)))
            }
        }
    }

    #[inline(always)]
    fn to_floats<const WIDE: bool>(self, integers: uint32x4_t) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe {
            if WIDE {
                vreinterpretq_u32_f64(vcvtq_f64_s64(vreinterpretq_s64_u32(integers)))
            } else {
                vreinterpretq_u32_f32(vcvtq_f32_s32(vreinterpretq_s32_u32(integers)))
            }
        }
    }

    #[inline(always)]
    fn reinterpret<const WIDE: bool>(self, values: uint32x4_t) -> uint32x4_t {
        // SAFETY: the processor has NEON.
        unsafe {
            let flipped = if WIDE {
                let signs = vshrq_n_s64::<63>(vreinterpretq_s64_u32(values));
                narrow(vshrq_n_u64::<1>(vreinterpretq_u64_s64(signs)))
            } else {
                let signs = vshrq_n_s32::<31>(vreinterpretq_s32_u32(values));
                vshrq_n_u32::<1>(vreinterpretq_u32_s32(signs))
            };
            veorq_u32(values, flipped)
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn words(vector: uint32x4_t) -> [u64; 2] {
    [vgetq_lane_u64::<0>(wide(vector)), vgetq_lane_u64::<1>(wide(vector))]
}

/// Lanes of 64 bits.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn wide(vector: uint32x4_t) -> uint64x2_t {
    vreinterpretq_u64_u32(vector)
}

/// Lanes of 32 bits.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn narrow(vector: uint64x2_t) -> uint32x4_t {
    vreinterpretq_u32_u64(vector)
}
