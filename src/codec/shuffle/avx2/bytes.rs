//! Bytes of 32 elements at a time.

use super::{load, load_halves, store, store_half, upper, zip};
use std::arch::x86_64::*;

#[target_feature(enable = "avx2")]
pub(in crate::codec::shuffle) fn to_planes(
    elements: &[u8],
    element_size: usize,
    planes: &mut [u8],
    stride: usize,
) -> usize {
    match element_size {
        2 => to_planes_of::<2, 8>(elements, planes, stride),
        4 => to_planes_of::<4, 4>(elements, planes, stride),
        8 => to_planes_of::<8, 2>(elements, planes, stride),
        16 => to_planes_of::<16, 1>(elements, planes, stride),
        _ => to_planes_of_any(elements, element_size, planes, stride),
    }
}

#[target_feature(enable = "avx2")]
pub(in crate::codec::shuffle) fn from_planes(
    planes: &[u8],
    stride: usize,
    elements: &mut [u8],
    element_size: usize,
) -> usize {
    match element_size {
        2 => from_planes_of::<2, 8>(planes, stride, elements),
        4 => from_planes_of::<4, 4>(planes, stride, elements),
        8 => from_planes_of::<8, 2>(planes, stride, elements),
        16 => from_planes_of::<16, 1>(planes, stride, elements),
        _ => from_planes_of_any(planes, stride, elements, element_size),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_planes_of<const SIZE: usize, const PART: usize>(elements: &[u8], planes: &mut [u8], stride: usize) -> usize {
    let groups = elements.chunks_exact(32 * SIZE);
    let count = 32 * groups.len();
    for (index, group) in groups.enumerate() {
        let registers = split_group::<SIZE, PART>(group);
        for place in 0..SIZE {
            store(registers[place], &mut planes[place * stride + 32 * index..]);
        }
    }
    count
}

#[inline]
#[target_feature(enable = "avx2")]
fn from_planes_of<const SIZE: usize, const PART: usize>(planes: &[u8], stride: usize, elements: &mut [u8]) -> usize {
    let groups = elements.chunks_exact_mut(32 * SIZE);
    let count = 32 * groups.len();
    for (index, group) in groups.enumerate() {
        let mut registers = [_mm256_setzero_si256(); SIZE];
        for place in 0..SIZE {
            registers[place] = load(&planes[place * stride + 32 * index..]);
        }
        join_group::<SIZE, PART>(registers, group);
    }
    count
}

/// A register for each place in 32 elements of `SIZE` bytes; `PART` is `16 / SIZE`. The bytes of each half are sorted
/// by their place in the element; then the parts of one place come together.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn split_group<const SIZE: usize, const PART: usize>(group: &[u8]) -> [__m256i; SIZE] {
    let by_place = const { sort_indices(SIZE) };
    let by_place = load_halves(&by_place, &by_place);
    let (low, high) = group[..32 * SIZE].split_at(16 * SIZE);
    let mut registers = [_mm256_setzero_si256(); SIZE];
    for place in 0..SIZE {
        registers[place] = _mm256_shuffle_epi8(load_halves(&low[16 * place..], &high[16 * place..]), by_place);
    }
    zip::<PART, SIZE>(registers, SIZE.ilog2())
}

/// The same backwards.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn join_group<const SIZE: usize, const PART: usize>(registers: [__m256i; SIZE], group: &mut [u8]) {
    let by_element = const { sort_indices(16 / SIZE) };
    let by_element = load_halves(&by_element, &by_element);
    let registers = zip::<PART, SIZE>(registers, SIZE.ilog2());
    let (low, high) = group[..32 * SIZE].split_at_mut(16 * SIZE);
    for place in 0..SIZE {
        let register = _mm256_shuffle_epi8(registers[place], by_element);
        store_half(_mm256_castsi256_si128(register), &mut low[16 * place..]);
        store_half(upper(register), &mut high[16 * place..]);
    }
}

/// Which bytes of a half to take so that those at the same place of each element of `size` bytes come together.
const fn sort_indices(size: usize) -> [u8; 16] {
    let mut indices = [0; 16];
    let mut index = 0;
    while index < 16 {
        indices[index] = (index % (16 / size) * size + index / (16 / size)) as u8;
        index += 1;
    }
    indices
}

/// The first of 16 places that are moved together; the last 16 end where the element does, if it has as many. A smaller
/// element is moved with the first bytes after it.
fn first_places(element_size: usize) -> impl Iterator<Item = usize> {
    (0..element_size).step_by(16).map(move |first| first.min(element_size.saturating_sub(16)))
}

/// How many groups of 32 elements there are with 16 bytes from the last place on that begins 16.
fn group_count(elements: &[u8], element_size: usize) -> usize {
    let bytes_after = 16_usize.saturating_sub(element_size);
    elements.len().saturating_sub(bytes_after) / (32 * element_size)
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_planes_of_any(elements: &[u8], element_size: usize, planes: &mut [u8], stride: usize) -> usize {
    let group_count = group_count(elements, element_size);
    for index in 0..group_count {
        let group = &elements[32 * index * element_size..];
        for first in first_places(element_size) {
            let mut registers = [_mm256_setzero_si256(); 16];
            for element in 0..16 {
                let low = element * element_size + first;
                registers[element] = load_halves(&group[low..], &group[low + 16 * element_size..]);
            }
            let planes_here = first..element_size.min(first + 16);
            for (place, register) in planes_here.zip(zip::<1, 16>(registers, 4)) {
                store(register, &mut planes[place * stride + 32 * index..]);
            }
        }
    }
    32 * group_count
}

#[inline]
#[target_feature(enable = "avx2")]
fn from_planes_of_any(planes: &[u8], stride: usize, elements: &mut [u8], element_size: usize) -> usize {
    let group_count = group_count(elements, element_size);
    for index in 0..group_count {
        let group = &mut elements[32 * index * element_size..];
        for first in first_places(element_size) {
            let mut registers = [_mm256_setzero_si256(); 16];
            for (place, register) in (first..element_size).zip(&mut registers) {
                *register = load(&planes[place * stride + 32 * index..]);
            }
            let registers = zip::<1, 16>(registers, 4);
            // In the order of the elements: what is stored after a small one is overwritten by the next.
            for element in 0..16 {
                let low = _mm256_castsi256_si128(registers[element]);
                store_half(low, &mut group[element * element_size + first..]);
            }
            for element in 0..16 {
                store_half(upper(registers[element]), &mut group[(16 + element) * element_size + first..]);
            }
        }
    }
    32 * group_count
}
