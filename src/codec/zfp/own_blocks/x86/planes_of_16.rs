//! The embedded code of [`planes_of_words`](super::super::planes_of_words) for 16 coefficients: how planes are read.

use super::super::bits::{BitReader, low_mask};
use super::super::groups::{short_groups, skip_empty};
use super::groups::{Groups, groups, take_cut_plane};
use std::arch::x86_64::*;

const SIZE: u32 = 16;

/// Planes in the order of the stream, and room for a vector: bit i of plane k, which is in place 63 - k, is bit k of
/// coefficient i.
pub(in super::super) type Planes = [u16; 64 + OF_VECTOR as usize];

/// Planes in a vector.
const OF_VECTOR: u32 = 16;

/// Reads the planes from `width` down to `kmin`, at most `budget` bits; the others stay as they are. Returns the lowest
/// one that was read.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(in super::super) fn decode(
    from: &mut BitReader<'_>,
    planes: &mut Planes,
    width: u32,
    kmin: u32,
    budget: u32,
) -> u32 {
    // A copy that can lie in registers.
    let mut source = *from;
    let end = source.position() + u64::from(budget);
    let (mut k, mut n) = (skip_empty(&mut source, width, kmin, end), 0);
    while k > kmin && n < SIZE && source.position() < end {
        let (mut window, mut taken) = (source.window(), 0);
        let valid = (end - source.position()).min(source.valid().into()) as u32;
        while k > kmin && n < SIZE {
            let groups = groups_of_rest(window >> n, SIZE - n);
            let length = n + groups.length;
            if taken + length > valid {
                break;
            }
            k -= 1;
            planes[63 - k as usize % 64] = (window & low_mask(n) | groups.bits << n) as u16;
            window >>= length;
            taken += length;
            n += groups.count;
        }
        // No plane is longer than a window, unless the end cuts it.
        if taken == 0 {
            k -= 1;
            let plane;
            (source, plane) = take_cut_plane(source, n, SIZE, end);
            planes[63 - k as usize % 64] = plane as u16;
            break;
        }
        source.take(taken);
    }
    if n == SIZE {
        k = take_planes(&mut source, planes, (k, kmin), end);
    }
    *from = source;
    k
}

/// Takes planes as they are from `k` down to `kmin`. The end may cut the last one. Returns the lowest one.
#[inline]
#[target_feature(enable = "avx2")]
fn take_planes(source: &mut BitReader<'_>, planes: &mut Planes, (mut k, kmin): (u32, u32), end: u64) -> u32 {
    while k > kmin && source.position() < end {
        let place = 64 - k as usize;
        let left = (end - source.position()).min((SIZE * (k - kmin)).into()) as u32;
        let room = planes.get_mut(place..).and_then(<[u16]>::first_chunk_mut::<{ OF_VECTOR as usize }>);
        if let (Some((bytes, shift)), Some(room)) = (source.next_bytes(), room) {
            let length = left.min(SIZE * OF_VECTOR);
            *room = bytemuck::cast(first_planes(shifted(bytes, shift), length.div_ceil(SIZE)));
            if !length.is_multiple_of(SIZE) {
                room[(length / SIZE) as usize % 16] &= low_mask(length % SIZE) as u16;
            }
            source.seek(source.position() + u64::from(length));
            k -= length.div_ceil(SIZE);
        } else {
            let length = left.min(SIZE);
            planes[place] = source.take(length) as u16;
            k -= 1;
        }
    }
    k
}

/// Sixteen planes that begin `shift` bits after the first one.
#[inline]
#[target_feature(enable = "avx2")]
fn shifted(bytes: &[u8; 34], shift: u32) -> __m256i {
    let [mut low, mut high] = [[0; 32]; 2];
    low.copy_from_slice(&bytes[..32]);
    high.copy_from_slice(&bytes[2..]);
    let low = _mm256_srl_epi16(bytemuck::cast(low), _mm_cvtsi32_si128(shift.cast_signed()));
    let high = _mm256_sll_epi16(bytemuck::cast(high), _mm_cvtsi32_si128((SIZE - shift).cast_signed()));
    _mm256_or_si256(low, high)
}

/// The first `count` planes, and zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn first_planes(planes: __m256i, count: u32) -> __m256i {
    let places = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm256_and_si256(planes, _mm256_cmpgt_epi16(_mm256_set1_epi16(count as i16), places))
}

/// The groups of a plane, of which `lacking` bits are missing.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn groups_of_rest(window: u64, lacking: u32) -> Groups {
    let short = short_groups(window);
    if short.are_last() && short.count() < lacking {
        return Groups { length: short.length(), count: short.count(), bits: short.bits() };
    }
    groups(window, lacking)
}
