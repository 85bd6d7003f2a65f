//! Vectors, and rows of them that stay in registers.
#![expect(unsafe_code, reason = "for instruction sets that the processor may lack")]

/// Vectors of one or more parts of 16 bytes.
pub(super) trait Vector: Copy {
    /// The number of parts.
    const PARTS: usize;
    /// Part i from `source + i * stride`.
    ///
    /// # Safety
    /// The processor has the instructions, and 16 bytes can be read there for each part.
    unsafe fn load(source: *const u8, stride: isize) -> Self;
    /// Interleaves the elements of the lower halves of the parts, and those of the upper ones.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn interleave<const SIZE: usize>(self, other: Self) -> (Self, Self);
    /// Writes all parts back to back.
    ///
    /// # Safety
    /// The processor has the instructions, and `16 * PARTS` bytes can be written.
    unsafe fn store(self, target: *mut u8);
}

/// Rows of vectors, as a tree instead of an array: this does not rely on unrolled loops, nor on closures, which are not
/// compiled for the instruction set of the caller.
pub(super) trait Rows: Copy {
    /// The number of rows.
    const COUNT: usize;
    /// The number of parts of their vectors.
    const PARTS: usize;
    /// Row i from `source + i * stride`, its parts `part_stride` apart.
    ///
    /// # Safety
    /// The processor has the instructions, and 16 bytes can be read there for each part of each row.
    unsafe fn load(source: *const u8, stride: isize, part_stride: isize) -> Self;
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
    /// Writes row i to `target + i * stride`.
    ///
    /// # Safety
    /// The processor has the instructions, and a vector can be written there for each row.
    unsafe fn store(self, target: *mut u8, stride: isize);
    /// Writes row i of both to `target + i * stride`, back to back.
    ///
    /// # Safety
    /// The processor has the instructions, and two vectors can be written there for each row.
    unsafe fn store_wide(self, second: Self, target: *mut u8, stride: isize);
}

/// One row.
#[derive(Clone, Copy)]
pub(super) struct Row<V>(V);

/// The first half of some rows, and the second.
#[derive(Clone, Copy)]
pub(super) struct Both<R>(R, R);

impl<V: Vector> Rows for Row<V> {
    const COUNT: usize = 1;
    const PARTS: usize = V::PARTS;

    #[inline(always)]
    unsafe fn load(source: *const u8, _stride: isize, part_stride: isize) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { V::load(source, part_stride) })
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
    unsafe fn store(self, target: *mut u8, _stride: isize) {
        // SAFETY: as the caller promises.
        unsafe { self.0.store(target) };
    }

    #[inline(always)]
    unsafe fn store_wide(self, second: Self, target: *mut u8, _stride: isize) {
        // SAFETY: as the caller promises.
        unsafe {
            self.0.store(target);
            second.0.store(target.add(16 * V::PARTS));
        }
    }
}

impl<R: Rows> Rows for Both<R> {
    const COUNT: usize = 2 * R::COUNT;
    const PARTS: usize = R::PARTS;

    #[inline(always)]
    unsafe fn load(source: *const u8, stride: isize, part_stride: isize) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            let second = source.wrapping_offset(R::COUNT as isize * stride);
            Self(R::load(source, stride, part_stride), R::load(second, stride, part_stride))
        }
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
    unsafe fn store(self, target: *mut u8, stride: isize) {
        // SAFETY: as the caller promises.
        unsafe {
            self.0.store(target, stride);
            self.1.store(target.wrapping_offset(R::COUNT as isize * stride), stride);
        }
    }

    #[inline(always)]
    unsafe fn store_wide(self, second: Self, target: *mut u8, stride: isize) {
        // SAFETY: as the caller promises.
        unsafe {
            self.0.store_wide(second.0, target, stride);
            self.1.store_wide(second.1, target.wrapping_offset(R::COUNT as isize * stride), stride);
        }
    }
}
