//! Bytes of 64 elements at a time.

use super::{Orders, load, load_at, store, store_at, transpose};
use crate::codec::shuffle::avx2;
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vbmi")]
pub(super) fn to_planes(elements: &[u8], element_size: usize, planes: &mut [u8], stride: usize) -> usize {
    match element_size {
        2 => to_planes_of::<2>(elements, planes, stride),
        4 => to_planes_of::<4>(elements, planes, stride),
        8 => to_planes_of::<8>(elements, planes, stride),
        16 => to_planes_of::<16>(elements, planes, stride),
        _ => avx2::bytes::to_planes(elements, element_size, planes, stride),
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vbmi")]
pub(super) fn from_planes(planes: &[u8], stride: usize, elements: &mut [u8], element_size: usize) -> usize {
    match element_size {
        2 => from_planes_of::<2>(planes, stride, elements),
        4 => from_planes_of::<4>(planes, stride, elements),
        8 => from_planes_of::<8>(planes, stride, elements),
        16 => from_planes_of::<16>(planes, stride, elements),
        _ => avx2::bytes::from_planes(planes, stride, elements, element_size),
    }
}

struct ByPlace<const SIZE: usize>;

impl<const SIZE: usize> Orders for ByPlace<SIZE> {
    const BEFORE: [u8; 64] = sort_indices(SIZE);
}

struct ByElement<const SIZE: usize>;

impl<const SIZE: usize> Orders for ByElement<SIZE> {
    const AFTER: [u8; 64] = sort_indices(64 / SIZE);
}

/// Each register's bytes are sorted by their place in the element; then the parts of one place come together.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn to_planes_of<const SIZE: usize>(elements: &[u8], planes: &mut [u8], stride: usize) -> usize {
    let (groups, _) = elements.as_chunks::<64>().0.as_chunks::<SIZE>();
    let size = 64 * groups.len();
    assert!(groups.is_empty() || (SIZE - 1) * stride + size <= planes.len(), "the planes have room for the elements");
    for (index, group) in groups.iter().enumerate() {
        let mut registers = [_mm512_setzero_si512(); SIZE];
        for place in 0..SIZE {
            registers[place] = load(&group[place]);
        }
        let registers = transpose::<SIZE, ByPlace<SIZE>>(registers);
        for place in 0..SIZE {
            // SAFETY: the last plane has 64 bytes per group.
            unsafe { store_at(registers[place], planes, place * stride + 64 * index) };
        }
    }
    size
}

/// The same backwards.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn from_planes_of<const SIZE: usize>(planes: &[u8], stride: usize, elements: &mut [u8]) -> usize {
    let (groups, _) = elements.as_chunks_mut::<64>().0.as_chunks_mut::<SIZE>();
    let size = 64 * groups.len();
    assert!(
        groups.is_empty() || (SIZE - 1) * stride + size <= planes.len(),
        "the planes have the bytes of the elements"
    );
    for (index, group) in groups.iter_mut().enumerate() {
        let mut registers = [_mm512_setzero_si512(); SIZE];
        for place in 0..SIZE {
            // SAFETY: the last plane has 64 bytes per group.
            registers[place] = unsafe { load_at(planes, place * stride + 64 * index) };
        }
        let registers = transpose::<SIZE, ByElement<SIZE>>(registers);
        for place in 0..SIZE {
            store(registers[place], &mut group[place]);
        }
    }
    size
}

/// Which bytes of a register to take so that those at the same place of each element of `size` bytes come together.
pub(super) const fn sort_indices(size: usize) -> [u8; 64] {
    let mut indices = [0; 64];
    let mut index = 0;
    while index < 64 {
        indices[index] = (index % (64 / size) * size + index / (64 / size)) as u8;
        index += 1;
    }
    indices
}
