//! NEON: 16 elements of 2, 4, 8 or 16 bytes at a time, and the bits of 128 bytes of a plane.

#![expect(unsafe_code, reason = "uses instructions that the level promises")]

mod bits;
mod bytes;

use super::Planes;
use std::arch::aarch64::*;

pub(super) const PLANES: Planes = Planes {
    to_planes: bytes::to_planes,
    from_planes: bytes::from_planes,
    to_rows: bits::to_rows,
    from_rows: bits::from_rows,
};

/// Zips the registers of the first half with those of the second, bytes in turn, this many times. Each time turns the
/// address of a byte, its register and its place in that, left by one bit.
#[inline]
#[target_feature(enable = "neon")]
fn zip<const COUNT: usize>(mut registers: [uint8x16_t; COUNT], times: u32) -> [uint8x16_t; COUNT] {
    for _ in 0..times {
        let before = registers;
        for index in 0..COUNT / 2 {
            let (first, second) = (before[index], before[COUNT / 2 + index]);
            registers[2 * index] = vzip1q_u8(first, second);
            registers[2 * index + 1] = vzip2q_u8(first, second);
        }
    }
    registers
}

/// Undoes [`zip`].
#[inline]
#[target_feature(enable = "neon")]
fn unzip<const COUNT: usize>(mut registers: [uint8x16_t; COUNT], times: u32) -> [uint8x16_t; COUNT] {
    for _ in 0..times {
        let before = registers;
        for index in 0..COUNT / 2 {
            let (first, second) = (before[2 * index], before[2 * index + 1]);
            registers[index] = vuzp1q_u8(first, second);
            registers[COUNT / 2 + index] = vuzp2q_u8(first, second);
        }
    }
    registers
}

/// The 16 bytes from the beginning of a slice.
#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8]) -> uint8x16_t {
    let bytes = &bytes[..16];
    // SAFETY: these are 16 readable bytes.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Stores at the beginning of a slice.
#[inline]
#[target_feature(enable = "neon")]
fn store(register: uint8x16_t, bytes: &mut [u8]) {
    let bytes = &mut bytes[..16];
    // SAFETY: these are 16 writable bytes.
    unsafe { vst1q_u8(bytes.as_mut_ptr(), register) }
}
