//! Elements that lie back to back along some axes in the source and along others in the target, in tiles that are
//! transposed in registers.
//!
//! A tile has a vector of each source row, and as many rows as fill one or more vectors of a target column.
//! Interleaving the first half of N vectors with the second rotates the bits of row and column number by one. After
//! log2(E) rounds within parts of 16 bytes of E elements these have changed places with the rows, and after log2(P)
//! rounds over P parts so have the parts.
#![expect(unsafe_code, reason = "views of one memory may interleave, so that their elements are reached by pointers")]

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod pixels;
mod rows;
mod runs;
mod staging;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::table::Place;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) use neon::NEON;
use rows::{Rows, Vector};
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{AVX2, AVX512, SSE2};

/// Transposes a tile of `height` vectors of rows: row i is at `source + rows[i]`, column i at `target + columns[i]`.
///
/// # Safety
/// The processor has the instructions of the vectors, the places are there, and the elements can be read and written;
/// `parts` is aligned to `V` and has room for as many as a cache line has bytes. If `STREAMS`, the columns are aligned
/// to vectors.
#[inline(always)] // for the instruction set of the caller
unsafe fn tile<V: Vector, R: Rows<V>, const SIZE: usize, const STREAMS: bool>(
    height: usize,
    source: *const u8,
    rows: *const isize,
    target: *mut u8,
    columns: *const isize,
    parts: *mut u8,
) {
    if V::GATHERS_PARTS && SIZE.is_power_of_two() && !STREAMS {
        // SAFETY: the rows and columns of the tile.
        return unsafe { parts_of_tile::<V, R, SIZE>((height, V::PARTS), source, rows, target, columns) };
    }
    let parts = parts.cast::<V>();
    // SAFETY: the rows and columns of the tile.
    unsafe {
        for part in 0..height * V::PARTS {
            let rows = R::gather::<SIZE>(source, rows.add(part * R::COUNT));
            transposed::<V, R, SIZE>(rows).store(parts.add(part * R::COUNT));
        }
        for column in 0..R::COUNT {
            for part in 0..height {
                let square = V::Square::load(parts.add(part * V::PARTS * R::COUNT + column), R::COUNT);
                let target = target.add(part * V::PARTS * R::COUNT * SIZE);
                V::transpose(square).scatter::<SIZE, STREAMS>(target, columns.add(column), R::COUNT);
            }
        }
    }
}

/// Transposes a tile of `height` vectors of rows and `width` parts of 16 bytes of columns, as [`tile`], by loading
/// parts of different rows to one vector.
///
/// # Safety
/// As [`tile`], for these columns.
#[inline(always)] // for the instruction set of the caller
unsafe fn parts_of_tile<V: Vector, R: Rows<V>, const SIZE: usize>(
    (height, width): (usize, usize),
    source: *const u8,
    rows: impl Place,
    target: *mut u8,
    columns: impl Place,
) {
    for part in 0..width {
        let (source, columns) = (source.wrapping_add(16 * part), columns.after(part * R::COUNT));
        for row in (0..height * V::PARTS).step_by(V::PARTS) {
            // SAFETY: rows and columns of the tile.
            unsafe {
                let rows = R::gather_parts(source, rows.after(row * R::COUNT), R::COUNT);
                let target = target.wrapping_add(row * R::COUNT * SIZE);
                transposed::<V, R, SIZE>(rows).scatter::<SIZE, false>(target, columns, 1);
            }
        }
    }
}

/// # Safety
/// The processor has the instructions of the vectors.
#[inline(always)] // for the instruction set of the caller
unsafe fn transposed<V: Vector, R: Rows<V>, const SIZE: usize>(mut rows: R) -> R {
    // SAFETY: as the caller promises.
    unsafe {
        if R::COUNT >= 2 {
            rows = interleaved::<V, R, SIZE>(rows);
        }
        if R::COUNT >= 4 {
            rows = interleaved::<V, R, SIZE>(rows);
        }
        if R::COUNT >= 8 {
            rows = interleaved::<V, R, SIZE>(rows);
        }
        if R::COUNT >= 16 {
            rows = interleaved::<V, R, SIZE>(rows);
        }
        rows
    }
}

/// One round of elements that take as many bytes as the next power of two.
///
/// # Safety
/// The processor has the instructions of the vectors.
#[inline(always)] // for the instruction set of the caller
unsafe fn interleaved<V: Vector, R: Rows<V>, const SIZE: usize>(rows: R) -> R {
    // SAFETY: as the caller promises.
    unsafe {
        match SIZE {
            1 => rows.shuffle::<1>(),
            2 => rows.shuffle::<2>(),
            3 | 4 => rows.shuffle::<4>(),
            _ => rows.shuffle::<8>(),
        }
    }
}
