//! Bits of 128 bytes of a plane at a time: matrices of eight bytes are transposed in lanes of 64 bits.

use super::{load, store, unzip, zip};
use std::arch::aarch64::*;

/// The registers of a group: each has two matrices.
const REGISTER_COUNT: usize = 8;

/// The bytes of a group.
const GROUP_SIZE: usize = 128;

#[target_feature(enable = "neon")]
pub(super) fn to_rows(planes: &[u8], plane_size: usize, rows: &mut [u8], stride: usize) -> usize {
    for (plane, first) in planes.chunks_exact(plane_size.max(1)).zip((0..).step_by(8 * stride.max(1))) {
        plane_to_rows(plane, &mut rows[first..], stride);
    }
    plane_size / GROUP_SIZE * GROUP_SIZE
}

#[inline]
#[target_feature(enable = "neon")]
fn plane_to_rows(plane: &[u8], rows: &mut [u8], stride: usize) {
    let (groups, _) = plane.as_chunks::<16>().0.as_chunks::<REGISTER_COUNT>();
    for (index, group) in groups.iter().enumerate() {
        // Of an address, the lowest three bits are the row: they become the highest.
        let registers = unzip(group.each_ref().map(|bytes| transpose_bits(load(bytes))), 3);
        for (row, register) in registers.into_iter().enumerate() {
            store(register, &mut rows[row * stride + 16 * index..]);
        }
    }
}

#[target_feature(enable = "neon")]
pub(super) fn from_rows(rows: &[u8], stride: usize, planes: &mut [u8], plane_size: usize) -> usize {
    for (plane, first) in planes.chunks_exact_mut(plane_size.max(1)).zip((0..).step_by(8 * stride.max(1))) {
        plane_from_rows(&rows[first..], stride, plane);
    }
    plane_size / GROUP_SIZE * GROUP_SIZE
}

#[inline]
#[target_feature(enable = "neon")]
fn plane_from_rows(rows: &[u8], stride: usize, plane: &mut [u8]) {
    let (groups, _) = plane.as_chunks_mut::<16>().0.as_chunks_mut::<REGISTER_COUNT>();
    for (index, group) in groups.iter_mut().enumerate() {
        let mut registers = [vdupq_n_u8(0); REGISTER_COUNT];
        for (row, register) in registers.iter_mut().enumerate() {
            *register = load(&rows[row * stride + 16 * index..]);
        }
        for (register, bytes) in zip(registers, 3).into_iter().zip(group) {
            store(transpose_bits(register), bytes);
        }
    }
}

/// Bit `i` of byte `j` becomes bit `j` of byte `i`, as the portable tier does it.
#[inline]
#[target_feature(enable = "neon")]
fn transpose_bits(matrices: uint8x16_t) -> uint8x16_t {
    let matrices = vreinterpretq_u64_u8(matrices);
    let matrices = swap::<7>(matrices, 0x00AA_00AA_00AA_00AA);
    let matrices = swap::<14>(matrices, 0x0000_CCCC_0000_CCCC);
    vreinterpretq_u8_u64(swap::<28>(matrices, 0x0000_0000_F0F0_F0F0))
}

#[inline]
#[target_feature(enable = "neon")]
fn swap<const DISTANCE: i32>(matrices: uint64x2_t, mask: u64) -> uint64x2_t {
    let different = vandq_u64(veorq_u64(matrices, vshrq_n_u64::<DISTANCE>(matrices)), vdupq_n_u64(mask));
    veorq_u64(veorq_u64(matrices, different), vshlq_n_u64::<DISTANCE>(different))
}
