//! Bytes of 64 elements at a time.

use super::{from_places, load_at, load_halves, store_at, store_halves, to_places};
use crate::codec::shuffle::avx2;
use std::arch::x86_64::*;

/// Planes that lie multiples of this apart share sets of the first-level cache: eight of them or more push out each
/// other's lines before these are full.
const CONFLICTING: usize = 4096;

/// How many registers of such a plane are stored one after the other.
const RUN: usize = 8;

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

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn to_planes_of<const SIZE: usize>(elements: &[u8], planes: &mut [u8], stride: usize) -> usize {
    let (groups, _) = elements.as_chunks::<64>().0.as_chunks::<SIZE>();
    let size = 64 * groups.len();
    assert!(groups.is_empty() || (SIZE - 1) * stride + size <= planes.len(), "the planes have room for the elements");
    let in_runs = SIZE >= 8 && stride.is_multiple_of(CONFLICTING);
    let (runs, groups) = if in_runs { groups.as_chunks::<RUN>() } else { (&[][..], groups) };
    let mut run = [[_mm512_setzero_si512(); SIZE]; RUN];
    for (index, groups) in runs.iter().enumerate() {
        for group in 0..RUN {
            run[group] = to_places(load_halves(&groups[group]));
        }
        for place in 0..SIZE {
            for group in 0..RUN {
                // SAFETY: the last plane has 64 bytes per group.
                unsafe { store_at(run[group][place], planes, place * stride + 64 * (RUN * index + group)) };
            }
        }
    }
    for (index, group) in (RUN * runs.len()..).zip(groups) {
        let registers = to_places(load_halves(group));
        for place in 0..SIZE {
            // SAFETY: the last plane has 64 bytes per group.
            unsafe { store_at(registers[place], planes, place * stride + 64 * index) };
        }
    }
    size
}

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
        store_halves(from_places::<SIZE, false>(registers), group);
    }
    size
}
