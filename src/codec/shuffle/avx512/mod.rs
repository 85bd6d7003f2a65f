//! AVX-512 with VBMI and GFNI, which Ice Lake, Zen 4 and later processors have: elements of 2, 4, 8 and 16 bytes and all
//! bits. Bytes of other elements go to the AVX2 tier.

#![allow(unsafe_code)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops by index are unrolled; iterators of registers went through memory, at a third of the speed"
)]

mod bits;
mod bytes;

use super::Planes;
use std::arch::x86_64::*;

pub(super) const PLANES: Planes = Planes {
    to_planes: bytes::to_planes,
    from_planes: bytes::from_planes,
    to_rows: bits::to_rows,
    from_rows: bits::from_rows,
};

/// Registers of COUNT parts each, one register a line of a matrix, transposed.
///
/// Each stage zips the registers of the first half with those of the second, which turns the address of a part, its
/// register and its place in that, left by one bit; all stages together exchange register and place.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose<const COUNT: usize>(mut registers: [__m512i; COUNT]) -> [__m512i; COUNT] {
    let (low, high) = const { (zip_indices(COUNT, 0), zip_indices(COUNT, COUNT / 2)) };
    let (low, high) = (load(low.as_flattened()), load(high.as_flattened()));
    for _ in 0..COUNT.ilog2() {
        let before = registers;
        for index in 0..COUNT / 2 {
            let (first, second) = (before[index], before[COUNT / 2 + index]);
            registers[2 * index] = _mm512_permutex2var_epi32(first, low, second);
            registers[2 * index + 1] = _mm512_permutex2var_epi32(first, high, second);
        }
    }
    registers
}

/// The lanes of 32 bits that take parts in turn from a register and from a second one, from the part `first` on.
const fn zip_indices(part_count: usize, first: usize) -> [[u8; 4]; 16] {
    let lanes_per_part = 16 / part_count;
    let mut indices = [[0; 4]; 16];
    let mut lane = 0;
    while lane < 16 {
        let part = lane / lanes_per_part;
        let source = (first + part / 2) * lanes_per_part + lane % lanes_per_part;
        indices[lane] = ((source + 16 * (part % 2)) as u32).to_le_bytes();
        lane += 1;
    }
    indices
}

/// The 64 bytes from the beginning of a slice.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8]) -> __m512i {
    let bytes = &bytes[..64];
    // SAFETY: these are 64 readable bytes, and this load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Stores at the beginning of a slice.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(register: __m512i, bytes: &mut [u8]) {
    let bytes = &mut bytes[..64];
    // SAFETY: these are 64 writable bytes, and this store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register) }
}
