//! Bytes of 16 elements at a time.

use super::{load, store, unzip, zip};
use std::arch::aarch64::*;

#[target_feature(enable = "neon")]
pub(super) fn to_planes(elements: &[u8], element_size: usize, planes: &mut [u8], stride: usize) -> usize {
    match element_size {
        2 => to_planes_of::<2>(elements, planes, stride),
        4 => to_planes_of::<4>(elements, planes, stride),
        8 => to_planes_of::<8>(elements, planes, stride),
        16 => to_planes_of::<16>(elements, planes, stride),
        _ => 0,
    }
}

#[target_feature(enable = "neon")]
pub(super) fn from_planes(planes: &[u8], stride: usize, elements: &mut [u8], element_size: usize) -> usize {
    match element_size {
        2 => from_planes_of::<2>(planes, stride, elements),
        4 => from_planes_of::<4>(planes, stride, elements),
        8 => from_planes_of::<8>(planes, stride, elements),
        16 => from_planes_of::<16>(planes, stride, elements),
        _ => 0,
    }
}

/// Of an address among the elements, the lowest bits are the place in the element: they become the highest.
#[inline]
#[target_feature(enable = "neon")]
fn to_planes_of<const SIZE: usize>(elements: &[u8], planes: &mut [u8], stride: usize) -> usize {
    let (groups, _) = elements.as_chunks::<16>().0.as_chunks::<SIZE>();
    for (index, group) in groups.iter().enumerate() {
        let registers = unzip(group.each_ref().map(|bytes| load(bytes)), SIZE.ilog2());
        for (place, register) in registers.into_iter().enumerate() {
            store(register, &mut planes[place * stride + 16 * index..]);
        }
    }
    16 * groups.len()
}

/// The same backwards.
#[inline]
#[target_feature(enable = "neon")]
fn from_planes_of<const SIZE: usize>(planes: &[u8], stride: usize, elements: &mut [u8]) -> usize {
    let (groups, _) = elements.as_chunks_mut::<16>().0.as_chunks_mut::<SIZE>();
    for (index, group) in groups.iter_mut().enumerate() {
        let mut registers = [vdupq_n_u8(0); SIZE];
        for (place, register) in registers.iter_mut().enumerate() {
            *register = load(&planes[place * stride + 16 * index..]);
        }
        for (register, bytes) in zip(registers, SIZE.ilog2()).into_iter().zip(group) {
            store(register, bytes);
        }
    }
    16 * groups.len()
}
