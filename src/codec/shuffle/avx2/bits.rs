//! Bits of 256 bytes of a plane at a time: matrices of eight bytes are transposed in lanes of 64 bits.

use super::{load, load_halves, store, store_half, upper, zip};
use std::arch::x86_64::*;

/// The registers of a group: each half has two matrices, the upper halves those 128 bytes after.
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
    let (groups, _) = plane.as_chunks::<256>();
    for (index, group) in groups.iter().enumerate() {
        let (low, high) = group.split_at(128);
        let mut registers = [_mm256_setzero_si256(); REGISTER_COUNT];
        for place in 0..REGISTER_COUNT {
            registers[place] = transpose_bits(load_halves(&low[16 * place..], &high[16 * place..]));
        }
        // Of an address in a half, the lowest three bits are the row: they become the highest.
        let registers = zip::<1, REGISTER_COUNT>(registers, 4);
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
    let (groups, _) = plane.as_chunks_mut::<256>();
    for (index, group) in groups.iter_mut().enumerate() {
        let mut registers = [_mm256_setzero_si256(); REGISTER_COUNT];
        for row in 0..REGISTER_COUNT {
            registers[row] = load(&rows[row * stride + 32 * index..]);
        }
        let registers = zip::<1, REGISTER_COUNT>(registers, 3);
        let (low, high) = group.split_at_mut(128);
        for place in 0..REGISTER_COUNT {
            let register = transpose_bits(registers[place]);
            store_half(_mm256_castsi256_si128(register), &mut low[16 * place..]);
            store_half(upper(register), &mut high[16 * place..]);
        }
    }
}

/// Bit `i` of byte `j` becomes bit `j` of byte `i`, as the portable tier does it.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_bits(matrices: __m256i) -> __m256i {
    let matrices = swap::<7>(matrices, 0x00AA_00AA_00AA_00AA);
    let matrices = swap::<14>(matrices, 0x0000_CCCC_0000_CCCC);
    swap::<28>(matrices, 0x0000_0000_F0F0_F0F0)
}

#[inline]
#[target_feature(enable = "avx2")]
fn swap<const DISTANCE: i32>(matrices: __m256i, mask: i64) -> __m256i {
    let different = _mm256_xor_si256(matrices, _mm256_srli_epi64::<DISTANCE>(matrices));
    let different = _mm256_and_si256(different, _mm256_set1_epi64x(mask));
    _mm256_xor_si256(_mm256_xor_si256(matrices, different), _mm256_slli_epi64::<DISTANCE>(different))
}
