//! Bytes of 64 elements at a time.

use super::{from_places, load_at, load_halves, store_at, store_halves, to_four_places, to_places};
use crate::codec::shuffle::{CONFLICTING, RUN, avx2};
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vbmi")]
pub(super) fn to_planes(elements: &[u8], element_size: usize, planes: &mut [u8], stride: usize) -> usize {
    match element_size {
        2 => to_planes_of::<2>(elements, planes, stride),
        4 => to_planes_of::<4>(elements, planes, stride),
        8 | 16 => {
            let done = runs_to_planes(elements, element_size, planes, stride);
            let (elements, planes) = (&elements[done * element_size..], &mut planes[done..]);
            let to_planes = if element_size == 8 { to_planes_of::<8> } else { to_planes_of::<16> };
            done + to_planes(elements, planes, stride)
        }
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
    for (group, start) in groups.iter().zip((0..).step_by(64)) {
        let registers = to_places(load_halves(group));
        for place in 0..SIZE {
            // SAFETY: the last plane has 64 bytes per group.
            unsafe { store_at(registers[place], planes, place * stride + start) };
        }
    }
    size
}

/// Moves elements of 8 or 16 bytes if their planes conflict, as many as whole runs have.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn runs_to_planes(elements: &[u8], element_size: usize, planes: &mut [u8], stride: usize) -> usize {
    if !stride.is_multiple_of(CONFLICTING) {
        return 0;
    }
    let runs = elements.chunks_exact(element_size * RUN);
    let count = RUN * runs.len();
    for (run, start) in runs.zip((0..).step_by(RUN)) {
        if element_size == 8 {
            four_to_planes::<8, 0>(run, &mut planes[start..], stride);
            four_to_planes::<8, 4>(run, &mut planes[start..], stride);
        } else {
            four_to_planes::<16, 0>(run, &mut planes[start..], stride);
            four_to_planes::<16, 4>(run, &mut planes[start..], stride);
            four_to_planes::<16, 8>(run, &mut planes[start..], stride);
            four_to_planes::<16, 12>(run, &mut planes[start..], stride);
        }
    }
    count
}

/// Moves the bytes at the four places from `FIRST` on of the elements of a run to the beginning of their planes.
#[inline(never)] // inlined, what is loaded for some places is kept on the stack for the others
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn four_to_planes<const SIZE: usize, const FIRST: usize>(run: &[u8], planes: &mut [u8], stride: usize) {
    let (groups, _) = run.as_chunks::<64>().0.as_chunks::<SIZE>();
    assert!((FIRST + 3) * stride + 64 * groups.len() <= planes.len(), "the planes have room for the run");
    for (group, start) in groups.iter().zip((0..).step_by(64)) {
        let registers = to_four_places::<SIZE, FIRST>(load_halves(group));
        for place in 0..4 {
            // SAFETY: the last of the four planes has 64 bytes per group.
            unsafe { store_at(registers[place], planes, (FIRST + place) * stride + start) };
        }
    }
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
