//! Bits of 64 bytes of a plane at a time: each eight bytes are a matrix of bits, which one instruction multiplies by
//! the identity and transposes on the way.

use super::bytes::sort_indices;
use super::{Orders, load, load_at, store, store_at, transpose};
use std::arch::x86_64::*;

/// Byte `i` has bit `i`.
const IDENTITY: i64 = 0x8040_2010_0804_0201_u64.cast_signed();

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn to_rows(planes: &[u8], plane_size: usize, rows: &mut [u8], stride: usize) -> usize {
    for (plane, first) in planes.chunks_exact(plane_size.max(1)).zip((0..).step_by(8 * stride.max(1))) {
        plane_to_rows(plane, &mut rows[first..], stride);
    }
    plane_size / 64 * 64
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn from_rows(rows: &[u8], stride: usize, planes: &mut [u8], plane_size: usize) -> usize {
    for (plane, first) in planes.chunks_exact_mut(plane_size.max(1)).zip((0..).step_by(8 * stride.max(1))) {
        plane_from_rows(&rows[first..], stride, plane);
    }
    plane_size / 64 * 64
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn plane_to_rows(plane: &[u8], rows: &mut [u8], stride: usize) {
    let (registers, _) = plane.as_chunks::<64>();
    let (groups, rest) = registers.as_chunks::<8>();
    assert!(groups.is_empty() || 7 * stride + 64 * groups.len() <= rows.len(), "the rows have room for the plane");
    for (index, group) in groups.iter().enumerate() {
        let mut registers = [_mm512_setzero_si512(); 8];
        for place in 0..8 {
            registers[place] = bits_of(load(&group[place]));
        }
        let registers = transpose::<8, ByRow>(registers);
        for row in 0..8 {
            // SAFETY: the last row has 64 bytes per group.
            unsafe { store_at(registers[row], rows, row * stride + 64 * index) };
        }
    }
    let first = 64 * groups.len();
    for (index, bytes) in rest.iter().enumerate() {
        let mut split_bytes = [0; 64];
        store(split(load(bytes)), &mut split_bytes);
        for (row, eight) in split_bytes.as_chunks::<8>().0.iter().enumerate() {
            rows[row * stride + first + 8 * index..][..8].copy_from_slice(eight);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn plane_from_rows(rows: &[u8], stride: usize, plane: &mut [u8]) {
    let (groups, rest) = plane.as_chunks_mut::<64>().0.as_chunks_mut::<8>();
    let first = 64 * groups.len();
    assert!(groups.is_empty() || 7 * stride + first <= rows.len(), "the rows have the bits of the plane");
    for (index, group) in groups.iter_mut().enumerate() {
        let mut registers = [_mm512_setzero_si512(); 8];
        for row in 0..8 {
            // SAFETY: the last row has 64 bytes per group.
            registers[row] = unsafe { load_at(rows, row * stride + 64 * index) };
        }
        let registers = transpose::<8, ByMatrix>(registers);
        for place in 0..8 {
            store(transpose_bits(registers[place]), &mut group[place]);
        }
    }
    for (index, bytes) in rest.iter_mut().enumerate() {
        let mut split_bytes = [0; 64];
        for (row, eight) in split_bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            eight.copy_from_slice(&rows[row * stride + first + 8 * index..][..8]);
        }
        store(join(load(&split_bytes)), bytes);
    }
}

struct ByRow;

impl Orders for ByRow {
    const BEFORE: [u8; 64] = sort_indices(8);
}

struct ByMatrix;

impl Orders for ByMatrix {
    const AFTER: [u8; 64] = reversed([0, 8, 16, 24, 32, 40, 48, 56], 0);
}

/// The bits of 64 bytes, a byte of each row per eight of them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn bits_of(bytes: __m512i) -> __m512i {
    const REVERSED: [u8; 64] = reversed([0, 1, 2, 3, 4, 5, 6, 7], 1);
    transpose_bits(_mm512_permutexvar_epi8(load(&REVERSED), bytes))
}

/// The same, the eight bytes with the lowest bits first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn split(bytes: __m512i) -> __m512i {
    _mm512_permutexvar_epi8(load(&ByRow::BEFORE), bits_of(bytes))
}

/// Undoes [`split`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn join(split_bytes: __m512i) -> __m512i {
    transpose_bits(_mm512_permutexvar_epi8(load(&ByMatrix::AFTER), split_bytes))
}

/// Which bytes make matrices of eight whose last byte comes first: those at `places` from the beginning of each matrix,
/// which is eight bytes after the one before, or one.
const fn reversed(places: [u8; 8], is_in_place: u8) -> [u8; 64] {
    let mut indices = [0; 64];
    let mut index = 0;
    while index < 64 {
        let start = (index / 8) as u8 * if is_in_place == 1 { 8 } else { 1 };
        indices[index] = start + places[7 - index % 8];
        index += 1;
    }
    indices
}

/// Bit `i` of byte `j` becomes bit `j` of byte `i`, in matrices of eight bytes of which the last comes first.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn transpose_bits(matrices: __m512i) -> __m512i {
    _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(IDENTITY), matrices)
}
