//! Vectors, and rows of them that stay in registers.
#![expect(unsafe_code, reason = "for instruction sets that the processor may lack")]

use crate::strided::table::Place;

/// Which byte goes where, so that each element of `size` bytes gets the room of a power of two.
pub(super) const fn spread<const COUNT: usize>(size: usize) -> [u8; COUNT] {
    let (room, mut order, mut i) = (size.next_power_of_two(), [0; COUNT], 0);
    while i < COUNT {
        order[i] = (i / room * size + if i % room < size { i % room } else { 0 }) as u8;
        i += 1;
    }
    order
}

/// Which byte goes where, so that such elements lie back to back again.
pub(super) const fn gathered<const COUNT: usize>(size: usize) -> [u8; COUNT] {
    let (room, mut order, mut i) = (size.next_power_of_two(), [0; COUNT], 0);
    while i < COUNT / room * size {
        order[i] = (i / size * room + i % size) as u8;
        i += 1;
    }
    order
}

/// Vectors of one or more parts of 16 bytes.
pub(super) trait Vector: Copy {
    /// The number of parts.
    const PARTS: usize;
    /// Whether parts of different rows are loaded to one vector faster than they change places in it.
    const GATHERS_PARTS: bool;
    /// Whether elements of 3, 6 and 12 bytes can be loaded and stored.
    const TAKES_TRIPLES: bool;
    /// As many rows as a vector has parts.
    type Square: Rows<Self>;
    /// Vectors of one part.
    type Part: Vector;
    /// A vector of elements of `SIZE` bytes, each in the first bytes of as many as the next power of two.
    ///
    /// # Safety
    /// The processor has the instructions, and the elements can be read.
    unsafe fn load<const SIZE: usize>(source: *const u8) -> Self;
    /// Part i from `source + places[i * step]`.
    ///
    /// # Safety
    /// The processor has the instructions, the places are there, and 16 bytes can be read at each.
    unsafe fn gather(source: *const u8, places: impl Place, step: usize) -> Self;
    /// Interleaves the elements of the lower halves of the parts, and those of the upper ones.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn interleave<const SIZE: usize>(self, other: Self) -> (Self, Self);
    /// Part i of row j becomes part j of row i.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn transpose(square: Self::Square) -> Self::Square;
    /// Writes the elements back to back.
    ///
    /// # Safety
    /// The processor has the instructions, and the elements can be written.
    unsafe fn store<const SIZE: usize>(self, target: *mut u8);
    /// Writes all parts past the caches.
    ///
    /// # Safety
    /// The processor has the instructions, `16 * PARTS` bytes can be written, and the target is aligned to them.
    unsafe fn stream(self, target: *mut u8);
}

/// Vectors of one part whose bytes can be put in another order.
pub(super) trait Pick: Vector {
    /// Byte i is that with the number `order[i]`, which is less than 16.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn pick(self, order: Self) -> Self;
}

/// Rows of vectors, as a tree instead of an array: this does not rely on unrolled loops, nor on closures, which are not
/// compiled for the instruction set of the caller.
pub(super) trait Rows<V>: Copy {
    /// The number of rows.
    const COUNT: usize;
    /// Row i from `source + places[i]`.
    ///
    /// # Safety
    /// The processor has the instructions, there are as many places, and a vector of elements can be read at each.
    unsafe fn gather<const SIZE: usize>(source: *const u8, places: impl Place) -> Self;
    /// Part j of row i from `source + places[i + j * step]`.
    ///
    /// # Safety
    /// The processor has the instructions, the places are there, and 16 bytes can be read at each.
    unsafe fn gather_parts(source: *const u8, places: impl Place, step: usize) -> Self;
    /// Row i from `rows[i * step]`.
    ///
    /// # Safety
    /// The rows are there.
    unsafe fn load(rows: *const V, step: usize) -> Self;
    /// Interleaves each row with one of `other`: row i becomes the rows 2i and 2i + 1.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn interleave<const SIZE: usize>(self, other: Self) -> (Self, Self);
    /// Interleaves the first half of the rows with the second.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn shuffle<const SIZE: usize>(self) -> Self;
    /// Puts the bytes of each row in this order.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn pick(self, order: V) -> Self
    where
        V: Pick;
    /// Writes row i to `rows[i]`.
    ///
    /// # Safety
    /// The rows can be written.
    unsafe fn store(self, rows: *mut V);
    /// Writes row i to `target + places[i * step]`, past the caches if `STREAMS`.
    ///
    /// # Safety
    /// The processor has the instructions, the places are there, and a vector of elements can be written at each.
    unsafe fn scatter<const SIZE: usize, const STREAMS: bool>(self, target: *mut u8, places: impl Place, step: usize);
}

/// One row.
#[derive(Clone, Copy)]
pub(super) struct Row<V>(pub(super) V);

/// The first half of some rows, and the second.
#[derive(Clone, Copy)]
pub(super) struct Both<R>(pub(super) R, pub(super) R);

impl<V: Vector> Rows<V> for Row<V> {
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn gather<const SIZE: usize>(source: *const u8, places: impl Place) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { V::load::<SIZE>(source.wrapping_offset(places.at(0))) })
    }

    #[inline(always)]
    unsafe fn gather_parts(source: *const u8, places: impl Place, step: usize) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { V::gather(source, places, step) })
    }

    #[inline(always)]
    unsafe fn load(rows: *const V, _step: usize) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { *rows })
    }

    #[inline(always)]
    unsafe fn interleave<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: as the caller promises.
        let (lower, upper) = unsafe { self.0.interleave::<SIZE>(other.0) };
        (Self(lower), Self(upper))
    }

    #[inline(always)]
    unsafe fn shuffle<const SIZE: usize>(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn pick(self, order: V) -> Self
    where
        V: Pick,
    {
        // SAFETY: as the caller promises.
        Self(unsafe { self.0.pick(order) })
    }

    #[inline(always)]
    unsafe fn store(self, rows: *mut V) {
        // SAFETY: as the caller promises.
        unsafe { *rows = self.0 };
    }

    #[inline(always)]
    unsafe fn scatter<const SIZE: usize, const STREAMS: bool>(self, target: *mut u8, places: impl Place, _step: usize) {
        // SAFETY: as the caller promises.
        unsafe {
            let target = target.wrapping_offset(places.at(0));
            if STREAMS { self.0.stream(target) } else { self.0.store::<SIZE>(target) }
        }
    }
}

impl<V: Vector, R: Rows<V>> Rows<V> for Both<R> {
    const COUNT: usize = 2 * R::COUNT;

    #[inline(always)]
    unsafe fn gather<const SIZE: usize>(source: *const u8, places: impl Place) -> Self {
        // SAFETY: as the caller promises.
        unsafe { Self(R::gather::<SIZE>(source, places), R::gather::<SIZE>(source, places.after(R::COUNT))) }
    }

    #[inline(always)]
    unsafe fn gather_parts(source: *const u8, places: impl Place, step: usize) -> Self {
        // SAFETY: as the caller promises.
        unsafe { Self(R::gather_parts(source, places, step), R::gather_parts(source, places.after(R::COUNT), step)) }
    }

    #[inline(always)]
    unsafe fn load(rows: *const V, step: usize) -> Self {
        // SAFETY: as the caller promises.
        unsafe { Self(R::load(rows, step), R::load(rows.add(R::COUNT * step), step)) }
    }

    #[inline(always)]
    unsafe fn interleave<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: as the caller promises.
        unsafe {
            let (first, second) = self.0.interleave::<SIZE>(other.0);
            let (third, fourth) = self.1.interleave::<SIZE>(other.1);
            (Self(first, second), Self(third, fourth))
        }
    }

    #[inline(always)]
    unsafe fn shuffle<const SIZE: usize>(self) -> Self {
        // SAFETY: as the caller promises.
        let (first, second) = unsafe { self.0.interleave::<SIZE>(self.1) };
        Self(first, second)
    }

    #[inline(always)]
    unsafe fn pick(self, order: V) -> Self
    where
        V: Pick,
    {
        // SAFETY: as the caller promises.
        unsafe { Self(self.0.pick(order), self.1.pick(order)) }
    }

    #[inline(always)]
    unsafe fn store(self, rows: *mut V) {
        // SAFETY: as the caller promises.
        unsafe {
            self.0.store(rows);
            self.1.store(rows.add(R::COUNT));
        }
    }

    #[inline(always)]
    unsafe fn scatter<const SIZE: usize, const STREAMS: bool>(self, target: *mut u8, places: impl Place, step: usize) {
        // SAFETY: as the caller promises.
        unsafe {
            self.0.scatter::<SIZE, STREAMS>(target, places, step);
            self.1.scatter::<SIZE, STREAMS>(target, places.after(R::COUNT * step), step);
        }
    }
}
