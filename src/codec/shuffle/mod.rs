//! The filters of Blosc and HDF5 that make elements compressible: *shuffle* puts the bytes at each place of all
//! elements next to each other, *bitshuffle* the bits. [`reference`] is the definition.
//!
//! The bytes at one place of all elements are a *plane*; the bits at one place of a plane's bytes are a *row*.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod portable;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use crate::memory::{LINE_SIZE, copy, from_line, size_before_line};
#[cfg(any(test, feature = "internals"))]
use crate::simd::available;
use crate::simd::{Level, Tier, best};
use std::ops::Range;

/// The elements of a tile, on their way from or to rows of bits. Each row then has eight cache lines of a tile: where
/// rows lie a power of two apart, their lines have the same places in a cache, and of rows with fewer lines there are
/// too many at once.
const MAX_TILE_ELEMENTS: usize = 4096;

/// The most bytes of a tile: about a first-level cache, in which eight planes of less than 4 KiB do not push each other
/// out.
const MAX_TILE_SIZE: usize = 31 << 10;

/// A tile has a multiple of this many elements, a cache line of each row, if it has room for as many.
const TILE_STEP: usize = 8 * LINE_SIZE;

/// Otherwise it has a multiple of this many elements.
const SMALL_TILE_STEP: usize = 64;

/// The first elements, which are moved by themselves; those from the first cache line on are then moved again with the
/// others.
const HEAD_COUNT: usize = 64;

/// Below this many elements, moving some of them twice costs more than aligning the others saves.
const MIN_COUNT_TO_ALIGN: usize = 512;

/// Planes that lie multiples of this apart share sets of the first-level cache: eight of them or more push out each
/// other's lines before these are full, four do not.
#[cfg(target_arch = "x86_64")]
const CONFLICTING: usize = 4096;

/// The elements of a run: where planes conflict, the bytes at four places of all of them are moved at a time.
#[cfg(target_arch = "x86_64")]
const RUN: usize = 512;

/// How a tier moves bytes and bits. Each function moves those of the first elements and returns the number of these
/// elements, a multiple of 8; the portable tier moves the rest. Calling them is safe once the tier is available: they
/// check the sizes of the slices.
///
/// Element `i` has its byte `place` at `planes[place * stride + i]`. Planes of `plane_size` bytes one after the other
/// have bit `row` of byte `i` of plane `place` at bit `i % 8` of `rows[(8 * place + row) * stride + i / 8]`. The slices
/// are as long as that needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planes {
    to_planes: unsafe fn(elements: &[u8], element_size: usize, planes: &mut [u8], stride: usize) -> usize,
    from_planes: unsafe fn(planes: &[u8], stride: usize, elements: &mut [u8], element_size: usize) -> usize,
    to_rows: unsafe fn(planes: &[u8], plane_size: usize, rows: &mut [u8], stride: usize) -> usize,
    from_rows: unsafe fn(rows: &[u8], stride: usize, planes: &mut [u8], plane_size: usize) -> usize,
}

/// Fastest first.
static TIERS: &[Tier<Planes>] = &[
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx512, kernel: avx512::PLANES },
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx2, kernel: avx2::PLANES },
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Tier { level: Level::Neon, kernel: neon::PLANES },
    Tier { level: Level::Portable, kernel: portable::NOTHING },
];

/// The elements of a part of a block that lie in it whole.
struct WholeElements {
    /// The index of the first.
    first: usize,
    /// Where they lie in the part.
    bytes: Range<usize>,
}

impl WholeElements {
    /// The other bytes of the part, each with its place in the block.
    fn others<'a>(&self, start: usize, part: &'a mut [u8]) -> impl Iterator<Item = (usize, &'a mut u8)> + use<'a> {
        let (before, rest) = part.split_at_mut(self.bytes.start);
        let after = &mut rest[self.bytes.len()..];
        let after_start = start + self.bytes.end;
        (start..).zip(before).chain((after_start..).zip(after))
    }
}

/// Both filters for elements of one size.
#[derive(Debug, Clone, Copy)]
pub struct Shuffle {
    element_size: usize,
    planes: Planes,
}

impl Shuffle {
    /// The fastest way that this machine has, for elements of `element_size` bytes: 1 to 255.
    pub fn new(element_size: u8) -> Self {
        Self::with(best(TIERS).map_or(portable::NOTHING, |tier| tier.kernel), element_size)
    }

    fn with(planes: Planes, element_size: u8) -> Self {
        Self { element_size: usize::from(element_size.max(1)), planes }
    }

    /// A way for elements of any size, for [`shuffle`](Self::shuffle) and [`unshuffle`](Self::unshuffle) only: tiles do
    /// not hold enough elements of more than 255 bytes.
    pub(crate) fn portable(element_size: usize) -> Self {
        Self { element_size: element_size.max(1), planes: portable::NOTHING }
    }

    /// Every way that this machine has.
    #[cfg(any(test, feature = "internals"))]
    pub fn all(element_size: u8) -> impl Iterator<Item = (Level, Self)> {
        available(TIERS).map(move |tier| (tier.level, Self::with(tier.kernel, element_size)))
    }

    /// Puts the bytes at each place of an element next to each other. Both slices have the same size; what is not a
    /// whole element stays where it is.
    pub fn shuffle(&self, decoded: &[u8], shuffled: &mut [u8]) {
        let (count, size) = self.whole(decoded, shuffled);
        shuffled[size..].copy_from_slice(&decoded[size..]);
        if self.element_size == 1 {
            return copy(&decoded[..size], &mut shuffled[..size]);
        }
        self.split_planes(&decoded[..size], &mut shuffled[..size], count);
    }

    /// Undoes [`shuffle`](Self::shuffle).
    pub fn unshuffle(&self, shuffled: &[u8], decoded: &mut [u8]) {
        let (count, size) = self.whole(shuffled, decoded);
        decoded[size..].copy_from_slice(&shuffled[size..]);
        if self.element_size == 1 {
            return copy(&shuffled[..size], &mut decoded[..size]);
        }
        self.join_planes(&shuffled[..size], count, &mut decoded[..size]);
    }

    /// The size of the scratch memory that bits are moved through.
    pub fn tile_size(&self) -> usize {
        if self.element_size == 1 { 0 } else { LINE_SIZE + self.most_in_tile() * self.element_size }
    }

    /// Puts the bits at each place of an element next to each other, through a tile of [`tile_size`](Self::tile_size).
    /// Both slices have the same size; what is not a whole element stays where it is, and so does everything if the
    /// number of elements is not a multiple of 8.
    pub fn bitshuffle(&self, decoded: &[u8], shuffled: &mut [u8], tile: &mut [u8]) {
        let (count, size) = self.whole(decoded, shuffled);
        if !count.is_multiple_of(8) {
            return copy(decoded, shuffled);
        }
        shuffled[size..].copy_from_slice(&decoded[size..]);
        let tile = from_line(tile);
        let can_align = self.tile_step() == TILE_STEP && count >= TILE_STEP && (count / 8).is_multiple_of(LINE_SIZE);
        // The bits of the elements before those whose rows begin with a cache line.
        let head_count = if can_align { 8 * size_before_line(shuffled) } else { 0 };
        let step = self.tile_elements(count - head_count);
        let head = (head_count > 0).then_some((0, head_count));
        let tiles = (head_count..count).step_by(step).map(|first| (first, step.min(count - first)));
        for (first, tile_count) in head.into_iter().chain(tiles) {
            let elements = &decoded[first * self.element_size..][..tile_count * self.element_size];
            let planes = if self.element_size == 1 {
                elements
            } else {
                self.split_planes(elements, tile, tile_count);
                &tile[..elements.len()]
            };
            self.split_rows(planes, tile_count, &mut shuffled[first / 8..size], count / 8);
        }
    }

    /// Undoes [`bitshuffle`](Self::bitshuffle).
    pub fn bitunshuffle(&self, shuffled: &[u8], decoded: &mut [u8], tile: &mut [u8]) {
        let (count, size) = self.whole(shuffled, decoded);
        if !count.is_multiple_of(8) {
            return copy(shuffled, decoded);
        }
        decoded[size..].copy_from_slice(&shuffled[size..]);
        self.join_bits(&shuffled[..size], 0, &mut decoded[..size], tile);
    }

    /// The bytes from `start` on of what [`unshuffle`](Self::unshuffle) gives, as many as `part` has.
    pub fn unshuffle_part(&self, shuffled: &[u8], start: usize, part: &mut [u8]) {
        let (size, count) = (self.element_size, shuffled.len() / self.element_size);
        if size == 1 {
            return copy(&shuffled[start..start + part.len()], part);
        }
        let middle = self.whole_elements(count, start, part, 1);
        for (place, byte) in middle.others(start, part) {
            *byte = if place < count * size { shuffled[place % size * count + place / size] } else { shuffled[place] };
        }
        self.join_planes(&shuffled[middle.first..], count, &mut part[middle.bytes]);
    }

    /// The bytes from `start` on of what [`bitunshuffle`](Self::bitunshuffle) gives, as many as `part` has.
    pub fn bitunshuffle_part(&self, shuffled: &[u8], start: usize, part: &mut [u8], tile: &mut [u8]) {
        let (size, count) = (self.element_size, shuffled.len() / self.element_size);
        if !count.is_multiple_of(8) {
            return copy(&shuffled[start..start + part.len()], part);
        }
        let middle = self.whole_elements(count, start, part, 8);
        for (place, byte) in middle.others(start, part) {
            *byte = if place < count * size {
                let (index, row) = (place / size, place % size * count + place / size / 8);
                (0..8).fold(0, |byte, bit| byte | (shuffled[row + bit * count / 8] >> (index % 8) & 1) << bit)
            } else {
                shuffled[place]
            };
        }
        self.join_bits(&shuffled[..count * size], middle.first, &mut part[middle.bytes], tile);
    }

    /// Undoes `bitshuffle` for the elements from `first` on, a multiple of 8, as many as `decoded` has.
    fn join_bits(&self, shuffled: &[u8], first: usize, decoded: &mut [u8], tile: &mut [u8]) {
        let count = shuffled.len() / self.element_size;
        if self.element_size == 1 {
            let size = decoded.len();
            return self.join_rows(&shuffled[first / 8..], count / 8, decoded, size);
        }
        let tile = from_line(tile);
        let step = self.tile_elements(decoded.len() / self.element_size);
        for (first, elements) in (first..).step_by(step).zip(decoded.chunks_mut(step * self.element_size)) {
            let tile_count = elements.len() / self.element_size;
            self.join_rows(&shuffled[first / 8..], count / 8, &mut tile[..elements.len()], tile_count);
            self.join_planes(tile, tile_count, elements);
        }
    }

    /// The whole elements of a part that begins at the byte `start`, of `count` in all: as many groups of them as there
    /// are.
    fn whole_elements(&self, count: usize, start: usize, part: &[u8], group_count: usize) -> WholeElements {
        let group_size = group_count * self.element_size;
        let end = (start + part.len()).min(count * self.element_size) / group_size * group_size;
        let begin = start.next_multiple_of(group_size).min(end);
        let bytes = begin.saturating_sub(start)..end.saturating_sub(start);
        WholeElements { first: begin / self.element_size, bytes }
    }

    /// How many whole elements there are, and their size.
    fn whole(&self, from: &[u8], to: &[u8]) -> (usize, usize) {
        assert_eq!(from.len(), to.len(), "both sides of a shuffle have one size");
        let count = from.len() / self.element_size;
        (count, count * self.element_size)
    }

    /// How many elements each tile has, but the last, so that `count` elements are divided about evenly.
    fn tile_elements(&self, count: usize) -> usize {
        let count = count.max(1);
        count.div_ceil(count.div_ceil(self.most_in_tile())).next_multiple_of(self.tile_step())
    }

    /// The most elements of a tile.
    fn most_in_tile(&self) -> usize {
        let step = self.tile_step();
        (MAX_TILE_SIZE / self.element_size).min(MAX_TILE_ELEMENTS) / step * step
    }

    /// A tile, but the first and the last, has a multiple of this many elements.
    fn tile_step(&self) -> usize {
        if MAX_TILE_SIZE < TILE_STEP * self.element_size { SMALL_TILE_STEP } else { TILE_STEP }
    }

    /// Moves the elements to `planes`, in vectors that begin with cache lines if all planes can.
    fn split_planes(&self, elements: &[u8], planes: &mut [u8], stride: usize) {
        let before = size_before_line(planes);
        let can_align = before > 0 && stride.is_multiple_of(LINE_SIZE);
        if !can_align || elements.len() / self.element_size < MIN_COUNT_TO_ALIGN {
            return self.split_all_planes(elements, planes, stride);
        }
        self.split_all_planes(&elements[..HEAD_COUNT * self.element_size], planes, stride);
        self.split_all_planes(&elements[before * self.element_size..], &mut planes[before..], stride);
    }

    fn split_all_planes(&self, elements: &[u8], planes: &mut [u8], stride: usize) {
        // SAFETY: `new` and `all` take tiers that are available.
        #[expect(unsafe_code, reason = "calls code for instructions that the processor was found to have")]
        let done = unsafe { (self.planes.to_planes)(elements, self.element_size, planes, stride) };
        portable::to_planes(elements, self.element_size, planes, stride, done);
    }

    /// Moves the elements back, in vectors that begin with cache lines if that many whole elements are before one.
    fn join_planes(&self, planes: &[u8], stride: usize, elements: &mut [u8]) {
        let before = size_before_line(elements);
        let can_align = before > 0 && before.is_multiple_of(self.element_size);
        if !can_align || elements.len() / self.element_size < MIN_COUNT_TO_ALIGN {
            return self.join_all_planes(planes, stride, elements);
        }
        self.join_all_planes(planes, stride, &mut elements[..HEAD_COUNT * self.element_size]);
        self.join_all_planes(&planes[before / self.element_size..], stride, &mut elements[before..]);
    }

    fn join_all_planes(&self, planes: &[u8], stride: usize, elements: &mut [u8]) {
        // SAFETY: `new` and `all` take tiers that are available.
        #[expect(unsafe_code, reason = "calls code for instructions that the processor was found to have")]
        let done = unsafe { (self.planes.from_planes)(planes, stride, elements, self.element_size) };
        portable::from_planes(planes, stride, elements, self.element_size, done);
    }

    fn split_rows(&self, planes: &[u8], plane_size: usize, rows: &mut [u8], stride: usize) {
        // SAFETY: `new` and `all` take tiers that are available.
        #[expect(unsafe_code, reason = "calls code for instructions that the processor was found to have")]
        let done = unsafe { (self.planes.to_rows)(planes, plane_size, rows, stride) };
        if done < plane_size {
            for (plane, first) in planes.chunks_exact(plane_size).zip((0..).step_by(8 * stride)) {
                portable::to_rows(plane, &mut rows[first..], stride, done);
            }
        }
    }

    fn join_rows(&self, rows: &[u8], stride: usize, planes: &mut [u8], plane_size: usize) {
        // SAFETY: `new` and `all` take tiers that are available.
        #[expect(unsafe_code, reason = "calls code for instructions that the processor was found to have")]
        let done = unsafe { (self.planes.from_rows)(rows, stride, planes, plane_size) };
        if done < plane_size {
            for (plane, first) in planes.chunks_exact_mut(plane_size).zip((0..).step_by(8 * stride)) {
                portable::from_rows(&rows[first..], stride, plane, done);
            }
        }
    }
}
