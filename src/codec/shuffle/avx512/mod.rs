//! AVX-512 with VBMI and GFNI, which Ice Lake, Zen 4 and later processors have: elements of 2, 4, 8 and 16 bytes and
//! all bits. Bytes of other elements go to the AVX2 tier.

#![expect(unsafe_code, reason = "uses instructions that the level promises")]
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

/// 64 elements of COUNT bytes, as [`load_halves`] gives them, to a register for each place in the element.
///
/// Each stage zips the registers of the first half with those of the second, which turns the address of a byte, its
/// register and its place in that, left by one bit. Only the first stage crosses lanes, and sorts the bytes on the way.
/// The others zip parts of 32 / COUNT bytes within lanes, in half the time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn to_places<const COUNT: usize>(registers: [__m512i; COUNT]) -> [__m512i; COUNT] {
    let registers = permuted(registers, const { &sorted_by_place(COUNT) });
    zipped::<COUNT, COUNT>(registers, COUNT.ilog2() - 1)
}

/// Those registers of [`to_places`] that are for the four places from `FIRST` on; there are eight or sixteen in all.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn to_four_places<const COUNT: usize, const FIRST: usize>(mut registers: [__m512i; COUNT]) -> [__m512i; 4] {
    // Each stage up to the last two decides between the lower and the higher half of the places that are left.
    let indices = load(const { &sorted_by_place(COUNT)[2 * FIRST / COUNT] });
    for index in 0..COUNT / 2 {
        registers[index] = _mm512_permutex2var_epi8(registers[index], indices, registers[COUNT / 2 + index]);
    }
    if COUNT == 16 {
        for index in 0..4 {
            registers[index] = zip::<COUNT>(registers[index], registers[4 + index])[FIRST / 4 % 2];
        }
    }
    zipped::<COUNT, 4>([registers[0], registers[1], registers[2], registers[3]], 2)
}

/// Zips each register of the first half with that of the second as often as `times` says.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn zipped<const SIZE: usize, const COUNT: usize>(mut registers: [__m512i; COUNT], times: u32) -> [__m512i; COUNT] {
    for _ in 0..times {
        let before = registers;
        for index in 0..COUNT / 2 {
            [registers[2 * index], registers[2 * index + 1]] = zip::<SIZE>(before[index], before[COUNT / 2 + index]);
        }
    }
    registers
}

/// Zips two registers within lanes, parts of 32 / SIZE bytes in turn.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn zip<const SIZE: usize>(first: __m512i, second: __m512i) -> [__m512i; 2] {
    match SIZE {
        4 => [_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second)],
        8 => [_mm512_unpacklo_epi32(first, second), _mm512_unpackhi_epi32(first, second)],
        _ => [_mm512_unpacklo_epi16(first, second), _mm512_unpackhi_epi16(first, second)],
    }
}

/// The inverse of [`to_places`]; if `REVERSED`, the last byte of each element comes first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn from_places<const COUNT: usize, const REVERSED: bool>(mut registers: [__m512i; COUNT]) -> [__m512i; COUNT] {
    for _ in 1..COUNT.ilog2() {
        let before = registers;
        for index in 0..COUNT / 2 {
            let (first, second) = (before[index], before[COUNT / 2 + index]);
            registers[2 * index] = _mm512_unpacklo_epi8(first, second);
            registers[2 * index + 1] = _mm512_unpackhi_epi8(first, second);
        }
    }
    let pairs = permuted(registers, const { &joined_by_element(COUNT, REVERSED) });
    for index in 0..COUNT / 2 {
        [registers[index], registers[COUNT / 2 + index]] = [pairs[2 * index], pairs[2 * index + 1]];
    }
    registers
}

/// From each register of the first half and that of the second, those bytes that the indices take from both.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn permuted<const COUNT: usize>(registers: [__m512i; COUNT], [low, high]: &[[u8; 64]; 2]) -> [__m512i; COUNT] {
    let (low, high) = (load(low), load(high));
    let mut permuted = registers;
    for index in 0..COUNT / 2 {
        let (first, second) = (registers[index], registers[COUNT / 2 + index]);
        permuted[2 * index] = _mm512_permutex2var_epi8(first, low, second);
        permuted[2 * index + 1] = _mm512_permutex2var_epi8(first, high, second);
    }
    permuted
}

/// Bytes of two registers in the order of memory: those of lower places in the element, and those of higher ones. In
/// each lane are those of sixteen elements in all registers; within it they lie by place, then by element.
const fn sorted_by_place(size: usize) -> [[u8; 64]; 2] {
    let mut indices = [[0; 64]; 2];
    // How many elements of a lane lie in a register.
    let (count, mut index) = (32 / size, 0);
    while index < 128 {
        let (high, upper_half, second, in_lane) = (index / 64, index / 32 % 2, index / 16 % 2, index % 16);
        let (place, element) = (high * size / 2 + in_lane / count, in_lane % count);
        indices[high][index % 64] = (64 * second + 32 * upper_half + element * size + place) as u8;
        index += 1;
    }
    indices
}

/// The inverse of [`sorted_by_place`]. In each lane, the first register has the bytes at the even places of some elements
/// next to each other, and the second those at the odd ones.
const fn joined_by_element(size: usize, reversed: bool) -> [[u8; 64]; 2] {
    let mut indices = [[0; 64]; 2];
    let mut index = 0;
    while index < 128 {
        let (high, upper_half, in_half) = (index / 64, index / 32 % 2, index % 32);
        let place = if reversed { size - 1 - in_half % size } else { in_half % size };
        let in_lane = in_half / size * (size / 2) + place / 2;
        indices[high][index % 64] = (place % 2 * 64 + 32 * upper_half + 16 * high + in_lane) as u8;
        index += 1;
    }
    indices
}

/// Registers whose lower halves are the first half of this memory, and whose upper halves are the second.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_halves<const COUNT: usize>(bytes: &[[u8; 64]; COUNT]) -> [__m512i; COUNT] {
    let (halves, _) = bytes.as_flattened().as_chunks::<32>();
    let mut registers = [_mm512_setzero_si512(); COUNT];
    for index in 0..COUNT {
        let [low, high] = [halves[index], halves[COUNT + index]].map(bytemuck::cast);
        registers[index] = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
    }
    registers
}

/// The inverse of [`load_halves`].
#[inline]
#[target_feature(enable = "avx512f")]
fn store_halves<const COUNT: usize>(registers: [__m512i; COUNT], bytes: &mut [[u8; 64]; COUNT]) {
    let (halves, _) = bytes.as_flattened_mut().as_chunks_mut::<32>();
    for index in 0..COUNT {
        halves[index] = bytemuck::cast(_mm512_castsi512_si256(registers[index]));
        halves[COUNT + index] = bytemuck::cast(_mm512_extracti64x4_epi64::<1>(registers[index]));
    }
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
