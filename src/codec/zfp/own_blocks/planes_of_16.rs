//! The embedded code of [`planes`](super::planes) for 16 coefficients.

use super::bits::{Sink, Source, low_bits};
use super::groups::{Groups, WITH_TESTS, groups, short_groups, skip_empty, take_cut_plane};

use std::arch::x86_64::*;

const SIZE: u32 = 16;

/// Bit i of plane k is bit k of coefficient i.
pub(super) type Planes = [u16; 64];

/// Planes that are put or taken together once all coefficients are significant.
const TOGETHER: u32 = 3;

/// Planes that their bytes give at once.
const OF_PAIR: u32 = 16;

/// Writes the planes from `width` down to `kmin`, at most `budget` bits. Those from `top` on are zeros, and not looked
/// at. They are given by the bytes of all coefficients, a lane for each significance.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn encode(sink: &mut Sink<'_>, pairs: &[__m256i; 4], width: u32, top: u32, kmin: u32, budget: u32) {
    // A copy that can lie in registers.
    sink.in_registers(|sink| {
        let end = sink.position() + u64::from(budget);
        let top = top.max(kmin);
        sink.put_zeros((width - top).into());
        let (mut k, mut n) = (top, 0);
        while k > kmin && sink.position() < end {
            let first = (k - 1) / OF_PAIR * OF_PAIR;
            let pair = Pair::of(pairs[first as usize / 16 % 4]);
            let last = kmin.max(first);
            while k > last && n < SIZE && sink.position() < end {
                k -= 1;
                let plane = pair.plane(k);
                put_plane(sink, plane, n);
                n = n.max(u64::BITS - plane.leading_zeros());
            }
            while k > last && sink.position() < end {
                let count = (k - last).min(TOGETHER);
                let plane = |number: u32| pair.plane(k.wrapping_sub(number));
                let bits = plane(1) | plane(2) << SIZE | plane(3) << (2 * SIZE);
                sink.put(bits & low_bits(SIZE * count), SIZE * count);
                k -= count;
            }
        }
        sink.truncate(end);
    });
}

/// The planes of two bytes of each coefficient.
struct Pair([u32; 8]);

impl Pair {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(mut bytes: __m256i) -> Self {
        let mut planes = [0; 8];
        for both in planes.iter_mut().rev() {
            *both = _mm256_movemask_epi8(bytes).cast_unsigned();
            bytes = _mm256_add_epi8(bytes, bytes);
        }
        Self(planes)
    }

    /// Plane `k % 16`.
    #[inline(always)]
    fn plane(&self, k: u32) -> u64 {
        let both = self.0[k as usize % 8];
        (if k & 8 == 0 { both & 0xFFFF } else { both >> 16 }).into()
    }
}

/// A plane before which `n` coefficients are significant, not all.
#[inline(always)]
fn put_plane(sink: &mut Sink<'_>, plane: u64, n: u32) {
    let rest = plane >> n;
    let [low, high] = [rest as usize & 0xFF, rest as usize >> 8 & 0xFF];
    let with_tests = u64::from(WITH_TESTS[low]) | u64::from(WITH_TESTS[high]) << (8 + (rest & 0xFF).count_ones());
    // A test of 1 before each one, and if there is none in the last place a test of 0 in the end.
    let length = u64::BITS - rest.leading_zeros() + rest.count_ones();
    let is_last = (plane >> (SIZE - 1)) as u32;
    let groups = (with_tests << 1 | 1) & low_bits(length - is_last);
    sink.put(plane & low_bits(n) | groups << n, n + length + 1 - 2 * is_last);
}

/// Reads the planes from `width` down to `kmin`, at most `budget` bits; the others stay as they are. Returns the lowest
/// one that was read.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode(from: &mut Source<'_>, planes: &mut Planes, width: u32, kmin: u32, budget: u32) -> u32 {
    // A copy that can lie in registers.
    let mut source = *from;
    let end = source.position() + u64::from(budget);
    let (mut k, mut n) = (skip_empty(&mut source, width, kmin, end), 0);
    while k > kmin && n < SIZE && source.position() < end {
        let (window, mut taken) = (source.window(), 0);
        let valid = (end - source.position()).min(source.valid().into()) as u32;
        while k > kmin && n < SIZE {
            let rest = window >> taken;
            let groups = groups_of_rest(rest >> n, SIZE - n);
            if taken + n + groups.length > valid {
                break;
            }
            k -= 1;
            planes[k as usize % 64] = (rest & low_bits(n) | groups.bits << n) as u16;
            taken += n + groups.length;
            n += groups.count;
        }
        // No plane is longer than a window, unless the end cuts it.
        if taken == 0 {
            k -= 1;
            planes[k as usize % 64] = take_cut_plane(&mut source, n, SIZE, end) as u16;
            break;
        }
        source.take(taken);
    }
    while k > kmin && source.position() < end {
        let count = (k - kmin).min(TOGETHER);
        let length = (end - source.position()).min((SIZE * count).into());
        let bits = source.take(length as u32);
        for number in 0..count {
            k -= 1;
            planes[k as usize % 64] = (bits >> (SIZE * number)) as u16;
        }
    }
    *from = source;
    k
}

/// The groups of a plane, of which `lacking` bits are missing.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn groups_of_rest(window: u64, lacking: u32) -> Groups {
    let short = short_groups(window);
    if short.are_last() && short.count() < lacking {
        return Groups { length: short.length.into(), count: short.count(), bits: short.bits.into() };
    }
    groups(window, lacking)
}
