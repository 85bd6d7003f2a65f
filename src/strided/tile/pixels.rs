//! Copies between planes and pixels: a few elements, one of each plane, that lie back to back and take less than a
//! vector, as those of an image with red, green and blue in three planes or in each pixel.
//!
//! A vector of each plane makes as many vectors of pixels, whose elements have the room of a power of two until their
//! bytes are picked from there; and the reverse. Vectors of pixels overlap: what one writes beyond its pixels, the next
//! one replaces.
#![expect(unsafe_code, reason = "views of one memory may interleave, so that their elements are reached by pointers")]

use super::rows::{Both, Pick, Row, Rows, gathered, spread};
use super::transposed;
use crate::strided::plane::{Pixels, VECTOR_SIZE};
use std::mem::MaybeUninit;

type Two<V> = Both<Row<V>>;
type Four<V> = Both<Two<V>>;
type Eight<V> = Both<Four<V>>;
type Sixteen<V> = Both<Eight<V>>;

/// For each size of a pixel, which byte goes where so that pixels get the room of a power of two: `SPREAD`, or lie back
/// to back again: `GATHERED`. Other bytes do not matter.
static SPREAD: [[u8; VECTOR_SIZE]; VECTOR_SIZE] = orders(true);
static GATHERED: [[u8; VECTOR_SIZE]; VECTOR_SIZE] = orders(false);

const fn orders(is_spread: bool) -> [[u8; VECTOR_SIZE]; VECTOR_SIZE] {
    let (mut orders, mut size) = ([[0; VECTOR_SIZE]; VECTOR_SIZE], 1);
    while size < VECTOR_SIZE {
        orders[size] = if is_spread { spread(size) } else { gathered(size) };
        size += 1;
    }
    orders
}

/// Copies all pixels.
///
/// # Safety
/// The processor has the instructions of the vectors, which have 16 bytes; the elements can be read and written; there
/// is at least a vector of each plane.
#[inline(always)] // for the instruction set of the caller
pub(super) unsafe fn by_pixels<V: Pick>(pixels: &Pixels) {
    // SAFETY: as the caller promises.
    unsafe {
        match (pixels.element_size, pixels.channels.next_power_of_two()) {
            (1, 2) => groups::<V, Two<V>, 1>(pixels),
            (1, 4) => groups::<V, Four<V>, 1>(pixels),
            (1, 8) => groups::<V, Eight<V>, 1>(pixels),
            (1, _) => groups::<V, Sixteen<V>, 1>(pixels),
            (2, 2) => groups::<V, Two<V>, 2>(pixels),
            (2, 4) => groups::<V, Four<V>, 2>(pixels),
            (2, _) => groups::<V, Eight<V>, 2>(pixels),
            (_, 2) => groups::<V, Two<V>, 4>(pixels),
            (_, _) => groups::<V, Four<V>, 4>(pixels),
        }
    }
}

/// Copies pixels by as many as a vector of a plane has. The last ones go through a staging buffer, so that nothing is read or
/// written past their end.
///
/// # Safety
/// As [`by_pixels`], with elements of `SIZE` bytes and at most `R::COUNT` channels.
#[inline(always)] // for the instruction set of the caller
unsafe fn groups<V: Pick, R: Rows<V>, const SIZE: usize>(pixels: &Pixels) {
    let count = VECTOR_SIZE / SIZE;
    let pixel_size = pixels.channels * SIZE;
    // The pixels of a vector, and the bytes that a group reads or writes.
    let step = count / R::COUNT * pixel_size;
    let reach = (R::COUNT - 1) * step + VECTOR_SIZE;
    let (mut planes, mut vectors) = ([0; VECTOR_SIZE], [0; VECTOR_SIZE]);
    for i in 0..VECTOR_SIZE {
        planes[i] = (i.min(pixels.channels - 1) as isize).wrapping_mul(pixels.plane_stride);
        vectors[i] = (i * step) as isize;
    }
    let group = Group { channels: pixels.channels, planes, vectors };
    let mut staging = [0_u8; VECTOR_SIZE * VECTOR_SIZE];
    let mut next = 0;
    while next < pixels.count {
        let first = next.min(pixels.count - count);
        let fits = first * pixel_size + reach <= pixels.count * pixel_size;
        let plane_place = first * SIZE;
        let pixel_place = first * pixel_size;
        // SAFETY: a group of the pixels; the staging buffer has room for 16 bytes of each plane.
        unsafe {
            if pixels.interleaves {
                let source = pixels.source.wrapping_add(plane_place);
                let target = pixels.target.wrapping_add(pixel_place);
                if fits {
                    group.interleave::<V, R, SIZE>(source, target);
                } else {
                    group.interleave::<V, R, SIZE>(source, staging.as_mut_ptr());
                    std::ptr::copy_nonoverlapping(staging.as_ptr(), target, count * pixel_size);
                }
            } else {
                let source = pixels.source.wrapping_add(pixel_place);
                let target = pixels.target.wrapping_add(plane_place);
                if fits {
                    group.take_apart::<V, R, SIZE>(source, target);
                } else {
                    std::ptr::copy_nonoverlapping(source, staging.as_mut_ptr(), count * pixel_size);
                    group.take_apart::<V, R, SIZE>(staging.as_ptr(), target);
                }
            }
        }
        next = first + count;
    }
}

/// As many pixels as a vector of a plane has.
struct Group {
    channels: usize,
    /// The place of each plane, and again of the last one.
    planes: [isize; VECTOR_SIZE],
    /// The place of each vector of pixels.
    vectors: [isize; VECTOR_SIZE],
}

impl Group {
    /// # Safety
    /// As [`groups`]; all vectors of pixels can be written.
    #[inline(always)] // for the instruction set of the caller
    unsafe fn interleave<V: Pick, R: Rows<V>, const SIZE: usize>(&self, source: *const u8, target: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe {
            let order = V::load::<1>(GATHERED[self.channels * SIZE].as_ptr());
            let vectors = transposed::<V, R, SIZE>(R::gather::<1>(source, self.planes.as_ptr()));
            vectors.pick(order).scatter::<1, false>(target, self.vectors.as_ptr(), 1);
        }
    }

    /// # Safety
    /// As [`groups`]; all vectors of pixels can be read.
    #[inline(always)] // for the instruction set of the caller
    unsafe fn take_apart<V: Pick, R: Rows<V>, const SIZE: usize>(&self, source: *const u8, target: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe {
            let order = V::load::<1>(SPREAD[self.channels * SIZE].as_ptr());
            let mut rows = R::gather::<1>(source, self.vectors.as_ptr()).pick(order);
            rows = rows.shuffle::<SIZE>().shuffle::<SIZE>();
            if SIZE <= 2 {
                rows = rows.shuffle::<SIZE>();
            }
            if SIZE == 1 {
                rows = rows.shuffle::<SIZE>();
            }
            let mut vectors = [const { MaybeUninit::<V>::uninit() }; VECTOR_SIZE];
            rows.store(vectors.as_mut_ptr().cast());
            for (vector, place) in vectors[..self.channels].iter().zip(self.planes) {
                vector.assume_init().store::<1>(target.wrapping_offset(place));
            }
        }
    }
}
