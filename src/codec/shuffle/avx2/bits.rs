//! Bits of 256 bytes of a plane at a time: the bytes at each of eight places come into one register, then eight
//! registers are transposed as matrices of bits, all bytes of a register at once.

use super::bytes::{join_group, split_group};
use super::{load, store};
use std::arch::x86_64::*;

/// The registers of a group: one for each bit of a byte, or for each of eight bytes.
const REGISTER_COUNT: usize = 8;

/// The bytes of a group.
const GROUP_SIZE: usize = 256;

#[target_feature(enable = "avx2")]
pub(super) fn to_rows(planes: &[u8], plane_size: usize, rows: &mut [u8], stride: usize) -> usize {
    for (plane, first) in planes.chunks_exact(plane_size.max(1)).zip((0..).step_by(8 * stride.max(1))) {
        plane_to_rows(plane, &mut rows[first..], stride);
    }
    plane_size / GROUP_SIZE * GROUP_SIZE
}

#[inline]
#[target_feature(enable = "avx2")]
fn plane_to_rows(plane: &[u8], rows: &mut [u8], stride: usize) {
    let (groups, _) = plane.as_chunks::<GROUP_SIZE>();
    for (index, group) in groups.iter().enumerate() {
        let registers = transpose_bits(split_group::<8, 2>(group));
        for row in 0..REGISTER_COUNT {
            store(registers[row], &mut rows[row * stride + 32 * index..]);
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn from_rows(rows: &[u8], stride: usize, planes: &mut [u8], plane_size: usize) -> usize {
    for (plane, first) in planes.chunks_exact_mut(plane_size.max(1)).zip((0..).step_by(8 * stride.max(1))) {
        plane_from_rows(&rows[first..], stride, plane);
    }
    plane_size / GROUP_SIZE * GROUP_SIZE
}

#[inline]
#[target_feature(enable = "avx2")]
fn plane_from_rows(rows: &[u8], stride: usize, plane: &mut [u8]) {
    let (groups, _) = plane.as_chunks_mut::<GROUP_SIZE>();
    for (index, group) in groups.iter_mut().enumerate() {
        let mut registers = [_mm256_setzero_si256(); REGISTER_COUNT];
        for row in 0..REGISTER_COUNT {
            registers[row] = load(&rows[row * stride + 32 * index..]);
        }
        join_group::<8, 2>(transpose_bits(registers), group);
    }
}

/// Bit `i` of every byte of register `j` becomes bit `j` of that byte of register `i`.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_bits(mut registers: [__m256i; REGISTER_COUNT]) -> [__m256i; REGISTER_COUNT] {
    for first in [0, 1, 2, 3] {
        swap::<4>(&mut registers, first, 0x0F);
    }
    for first in [0, 1, 4, 5] {
        swap::<2>(&mut registers, first, 0x33);
    }
    for first in [0, 2, 4, 6] {
        swap::<1>(&mut registers, first, 0x55);
    }
    registers
}

/// Swaps the bits of the register `first` that are `DISTANCE` above the mask with those of the register `DISTANCE`
/// after it that are under the mask.
#[inline]
#[target_feature(enable = "avx2")]
fn swap<const DISTANCE: i32>(registers: &mut [__m256i; REGISTER_COUNT], first: usize, mask: i8) {
    let second = first + DISTANCE as usize;
    let different = _mm256_xor_si256(_mm256_srli_epi64::<DISTANCE>(registers[first]), registers[second]);
    let different = _mm256_and_si256(different, _mm256_set1_epi8(mask));
    registers[second] = _mm256_xor_si256(registers[second], different);
    registers[first] = _mm256_xor_si256(registers[first], _mm256_slli_epi64::<DISTANCE>(different));
}
