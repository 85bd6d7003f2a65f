//! AVX-512 with VBMI and GFNI, which Ice Lake, Zen 4 and later processors have: elements of 2, 4, 8 and 16 bytes and
//! all bits. Bytes of other elements go to the AVX2 tier.

#![allow(unsafe_code)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops by index are unrolled; iterators of registers went through memory, at a third of the speed"
)]

mod bits;
mod bytes;

use super::Planes;
use bytes::sort_indices;
use std::arch::x86_64::*;

pub(super) const PLANES: Planes = Planes {
    to_planes: bytes::to_planes,
    from_planes: bytes::from_planes,
    to_rows: bits::to_rows,
    from_rows: bits::from_rows,
};

/// Registers of COUNT parts each, one register a line of a matrix, transposed. Before that, the bytes of each register
/// are taken in the order `BEFORE`, and after it in the order `AFTER`.
///
/// Each stage zips the registers of the first half with those of the second, which turns the address of a part, its
/// register and its place in that, left by one bit; all stages together exchange register and place. The first stage
/// does the first order on the way, and the last the other.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn transpose<const COUNT: usize, O: Orders>(mut registers: [__m512i; COUNT]) -> [__m512i; COUNT] {
    let stage_count = COUNT.ilog2();
    for stage in 0..stage_count {
        let [low, high] = if stage == 0 {
            const { zips(COUNT, O::BEFORE, if COUNT == 2 { O::AFTER } else { IN_PLACE }) }
        } else if stage + 1 == stage_count {
            const { zips(COUNT, IN_PLACE, O::AFTER) }
        } else {
            const { zips(COUNT, IN_PLACE, IN_PLACE) }
        };
        let (low, high) = (load(&low), load(&high));
        let before = registers;
        for index in 0..COUNT / 2 {
            let (first, second) = (before[index], before[COUNT / 2 + index]);
            registers[2 * index] = _mm512_permutex2var_epi8(first, low, second);
            registers[2 * index + 1] = _mm512_permutex2var_epi8(first, high, second);
        }
    }
    registers
}

/// In which order to take the bytes of registers before and after they are transposed.
trait Orders {
    const BEFORE: [u8; 64] = IN_PLACE;
    const AFTER: [u8; 64] = IN_PLACE;
}

/// Every byte where it is.
const IN_PLACE: [u8; 64] = sort_indices(1);

/// The bytes that take parts in turn from a register and from a second one, into a register from the beginning of both,
/// and into one from their middle. `before` is the order within the registers, `after` that within the results.
const fn zips(part_count: usize, before: [u8; 64], after: [u8; 64]) -> [[u8; 64]; 2] {
    let part_size = 64 / part_count;
    let mut indices = [[0; 64]; 2];
    let mut index = 0;
    while index < 128 {
        let place = after[index % 64] as usize;
        let (part, byte) = (index / 64 * part_count + place / part_size, place % part_size);
        indices[index / 64][index % 64] = before[part / 2 * part_size + byte] + 64 * (part % 2) as u8;
        index += 1;
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

/// The 64 bytes from `place` on. For loops that check their slices once: a check for each register costs as much as
/// moving it.
///
/// # Safety
/// There are as many.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load_at(bytes: &[u8], place: usize) -> __m512i {
    debug_assert!(place + 64 <= bytes.len(), "64 bytes can be read");
    // SAFETY: these are 64 readable bytes, and this load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().add(place).cast()) }
}

/// Stores from `place` on.
///
/// # Safety
/// There are 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store_at(register: __m512i, bytes: &mut [u8], place: usize) {
    debug_assert!(place + 64 <= bytes.len(), "64 bytes can be written");
    // SAFETY: these are 64 writable bytes, and this store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().add(place).cast(), register) }
}
