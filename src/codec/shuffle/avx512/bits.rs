//! Bits of 64 bytes of a plane at a time: each eight bytes are a matrix of bits, which one instruction multiplies by
//! the identity and transposes on the way.

use super::{from_places, load, load_at, load_halves, store, store_at, store_halves, to_places};
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
        let mut registers = load_halves(group);
        for register in 0..8 {
            registers[register] = bits_of(registers[register]);
        }
        // Eight bytes of bits, one for each row, are what an element of eight bytes is.
        let registers = to_places(registers);
        for row in 0..8 {
            // SAFETY: the last row has 64 bytes per group.
            unsafe { store_at(registers[row], rows, row * stride + 64 * index) };
        }
    }
    let first = 64 * groups.len();
    for (index, bytes) in rest.iter().enumerate() {
        let mut split_bytes = [0; 64];
        store(_mm512_permutexvar_epi8(load(&TRANSPOSED), bits_of(load(bytes))), &mut split_bytes);
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
        registers = from_places::<8, true>(registers);
        for register in 0..8 {
            registers[register] = transpose_bits(registers[register]);
        }
        store_halves(registers, group);
    }
    for (index, bytes) in rest.iter_mut().enumerate() {
        let mut split_bytes = [0; 64];
        for (row, eight) in split_bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            eight.copy_from_slice(&rows[row * stride + first + 8 * index..][..8]);
        }
        let matrices = reversed(_mm512_permutexvar_epi8(load(&TRANSPOSED), load(&split_bytes)));
        store(transpose_bits(matrices), bytes);
    }
}

/// The bits of 64 bytes, a byte of each row per eight of them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn bits_of(bytes: __m512i) -> __m512i {
    transpose_bits(reversed(bytes))
}

/// Each eight bytes, the last one first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn reversed(bytes: __m512i) -> __m512i {
    const LAST_FIRST: i64 = 0x0001_0203_0405_0607;
    const LAST_FIRST_OF_HIGH: i64 = LAST_FIRST | 0x0808_0808_0808_0808;
    _mm512_shuffle_epi8(bytes, _mm512_broadcast_i32x4(_mm_set_epi64x(LAST_FIRST_OF_HIGH, LAST_FIRST)))
}

/// For each byte of a transposed matrix of eight by eight bytes, where it was before.
const TRANSPOSED: [u8; 64] = {
    let mut indices = [0; 64];
    let mut index = 0;
    while index < 64 {
        indices[index] = (index % 8 * 8 + index / 8) as u8;
        index += 1;
    }
    indices
};

/// Bit `i` of byte `j` becomes bit `j` of byte `i`, in matrices of eight bytes of which the last comes first.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn transpose_bits(matrices: __m512i) -> __m512i {
    _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(IDENTITY), matrices)
}
