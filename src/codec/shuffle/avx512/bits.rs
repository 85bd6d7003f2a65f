//! Bits of 64 bytes of a plane at a time: each eight bytes are a matrix of bits, which one instruction multiplies with
//! the identity and transposes on the way.

use super::bytes::sort_indices;
use super::{load, store, transpose};
use std::arch::x86_64::*;

/// Byte `i` has bit `i`.
const IDENTITY: i64 = 0x8040_2010_0804_0201_u64.cast_signed();

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn to_rows(plane: &[u8], rows: &mut [u8], stride: usize) -> usize {
    let (registers, _) = plane.as_chunks::<64>();
    let (groups, rest) = registers.as_chunks::<8>();
    for (index, group) in groups.iter().enumerate() {
        let mut registers = [_mm512_setzero_si512(); 8];
        for place in 0..8 {
            registers[place] = split(load(&group[place]));
        }
        let registers = transpose(registers);
        for row in 0..8 {
            store(registers[row], &mut rows[row * stride + 64 * index..]);
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
    64 * registers.len()
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn from_rows(rows: &[u8], stride: usize, plane: &mut [u8]) -> usize {
    let (registers, _) = plane.as_chunks_mut::<64>();
    let done = 64 * registers.len();
    let (groups, rest) = registers.as_chunks_mut::<8>();
    let first = 64 * groups.len();
    for (index, group) in groups.iter_mut().enumerate() {
        let mut registers = [_mm512_setzero_si512(); 8];
        for row in 0..8 {
            registers[row] = load(&rows[row * stride + 64 * index..]);
        }
        let registers = transpose(registers);
        for place in 0..8 {
            store(join(registers[place]), &mut group[place]);
        }
    }
    for (index, bytes) in rest.iter_mut().enumerate() {
        let mut split_bytes = [0; 64];
        for (row, eight) in split_bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            eight.copy_from_slice(&rows[row * stride + first + 8 * index..][..8]);
        }
        store(join(load(&split_bytes)), bytes);
    }
    done
}

/// The bits of 64 bytes, the eight bytes with the lowest bits first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn split(bytes: __m512i) -> __m512i {
    const REVERSED: [u8; 64] = reversed([0, 1, 2, 3, 4, 5, 6, 7], 1);
    let matrices = _mm512_permutexvar_epi8(load(&REVERSED), bytes);
    _mm512_permutexvar_epi8(load(const { &sort_indices(8) }), transpose_bits(matrices))
}

/// Undoes [`split`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn join(split_bytes: __m512i) -> __m512i {
    const REVERSED: [u8; 64] = reversed([0, 8, 16, 24, 32, 40, 48, 56], 0);
    transpose_bits(_mm512_permutexvar_epi8(load(&REVERSED), split_bytes))
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
