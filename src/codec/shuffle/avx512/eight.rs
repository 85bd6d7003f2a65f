//! 64 elements of eight bytes, eight in a register, to a register for each place in the element, and back.
//!
//! The elements of register `i` are rotated by `i` bytes. So the bytes of one place lie in other columns of each register:
//! blends, which twice as many units of a processor execute as permutations, bring them together, and one permutation of
//! each register sorts them.

use super::load;
use std::arch::x86_64::*;

/// For each place, where its bytes lie after the blends: in the order of the registers that they come from.
static SORTED: [[u8; 64]; 8] = by_place(true);

/// The inverse of [`SORTED`].
static UNSORTED: [[u8; 64]; 8] = by_place(false);

const fn by_place(are_sorted: bool) -> [[u8; 64]; 8] {
    let mut all = [[0; 64]; 8];
    let mut index = 0;
    while index < 512 {
        let (place, register, element) = (index / 64, index / 8 % 8, index % 8);
        let (sorted, blended) = (8 * register + element, 8 * element + (register + place) % 8);
        if are_sorted {
            all[place][sorted] = blended as u8;
        } else {
            all[place][blended] = sorted as u8;
        }
        index += 1;
    }
    all
}

/// Elements to places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn to_places(mut registers: [__m512i; 8]) -> [__m512i; 8] {
    for index in 1..8 {
        registers[index] = _mm512_rolv_epi64(registers[index], _mm512_set1_epi64(8 * index as i64));
    }
    rotated_to_places(registers)
}

/// As [`to_places`], of elements that are rotated already.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn rotated_to_places(registers: [__m512i; 8]) -> [__m512i; 8] {
    let mut places = blended(registers);
    for place in 0..8 {
        places[place] = _mm512_permutexvar_epi8(load(&SORTED[place]), places[place]);
    }
    places
}

/// The inverse of [`to_places`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn from_places(mut places: [__m512i; 8]) -> [__m512i; 8] {
    for place in 0..8 {
        places[place] = _mm512_permutexvar_epi8(load(&UNSORTED[place]), places[place]);
    }
    let mut registers = blended(places);
    for index in 1..8 {
        registers[index] = _mm512_rorv_epi64(registers[index], _mm512_set1_epi64(8 * index as i64));
    }
    registers
}

/// In column `k`, the register `k - index` of each eight: its own inverse.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn blended(mut registers: [__m512i; 8]) -> [__m512i; 8] {
    for (step, odd_columns) in [(1, 0xAAAA_AAAA_AAAA_AAAA), (2, 0xCCCC_CCCC_CCCC_CCCC), (4, 0xF0F0_F0F0_F0F0_F0F0)] {
        let before = registers;
        for index in 0..8 {
            registers[index] = _mm512_mask_blend_epi8(odd_columns, before[index], before[(index + step) % 8]);
        }
    }
    let [a, b, c, d, e, f, g, h] = registers;
    [a, h, g, f, e, d, c, b]
}
