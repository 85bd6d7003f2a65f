//! Bytes of 32 elements at a time.

use super::{load, load_halves, store, store_half, upper, zip, zip_two};
use crate::codec::shuffle::{CONFLICTING, RUN};
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
        8 | 16 => {
            let done = runs_to_planes(elements, element_size, planes, stride);
            let (elements, planes) = (&elements[done * element_size..], &mut planes[done..]);
            let to_planes = if element_size == 8 { to_planes_of::<8, 2> } else { to_planes_of::<16, 1> };
            done + to_planes(elements, planes, stride)
        }
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

/// Moves elements of 8 or 16 bytes if their planes conflict, as many as whole runs have.
#[inline]
#[target_feature(enable = "avx2")]
fn runs_to_planes(elements: &[u8], element_size: usize, planes: &mut [u8], stride: usize) -> usize {
    if !stride.is_multiple_of(CONFLICTING) {
        return 0;
    }
    let runs = elements.chunks_exact(element_size * RUN);
    let count = RUN * runs.len();
    for (run, start) in runs.zip((0..).step_by(RUN)) {
        if element_size == 8 {
            four_to_planes::<8, 2, 0>(run, &mut planes[start..], stride);
            four_to_planes::<8, 2, 4>(run, &mut planes[start..], stride);
        } else {
            four_to_planes::<16, 1, 0>(run, &mut planes[start..], stride);
            four_to_planes::<16, 1, 4>(run, &mut planes[start..], stride);
            four_to_planes::<16, 1, 8>(run, &mut planes[start..], stride);
            four_to_planes::<16, 1, 12>(run, &mut planes[start..], stride);
        }
    }
    count
}

/// Moves the bytes at the four places from `FIRST` on of the elements of a run to the beginning of their planes.
#[inline(never)] // inlined, what is loaded for some places is kept on the stack for the others
#[target_feature(enable = "avx2")]
fn four_to_planes<const SIZE: usize, const PART: usize, const FIRST: usize>(
    run: &[u8],
    planes: &mut [u8],
    stride: usize,
) {
    for (index, group) in run.chunks_exact(32 * SIZE).enumerate() {
        let registers = four_of_group::<SIZE, PART, FIRST>(group);
        for place in 0..4 {
            store(registers[place], &mut planes[(FIRST + place) * stride + 32 * index..]);
        }
    }
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
    zip::<PART, SIZE>(sorted_group(group), SIZE.ilog2())
}

/// Those registers of [`split_group`] that are for the four places from `FIRST` on; there are eight or sixteen in all.
#[inline]
#[target_feature(enable = "avx2")]
fn four_of_group<const SIZE: usize, const PART: usize, const FIRST: usize>(group: &[u8]) -> [__m256i; 4] {
    let mut registers = sorted_group::<SIZE>(group);
    // Each time decides between the lower and the higher half of the places that are left.
    let mut half = SIZE / 2;
    while half >= 4 {
        for index in 0..half {
            registers[index] = zip_two::<PART>(registers[index], registers[half + index])[FIRST / half % 2];
        }
        half /= 2;
    }
    zip::<PART, 4>([registers[0], registers[1], registers[2], registers[3]], 2)
}

/// 32 elements, with the bytes of each half of a register sorted by their place in the element.
#[inline]
#[target_feature(enable = "avx2")]
fn sorted_group<const SIZE: usize>(group: &[u8]) -> [__m256i; SIZE] {
    let by_place = const { sort_indices(SIZE) };
    let by_place = load_halves(&by_place, &by_place);
    let (low, high) = group[..32 * SIZE].split_at(16 * SIZE);
    let mut registers = [_mm256_setzero_si256(); SIZE];
    for place in 0..SIZE {
        registers[place] = _mm256_shuffle_epi8(load_halves(&low[16 * place..], &high[16 * place..]), by_place);
    }
    registers
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
