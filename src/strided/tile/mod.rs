//! Elements that lie back to back along some axes in the source and along others in the target, in tiles that are
//! transposed in registers.
//!
//! A tile has a vector of each source row, and as many rows as fill one or more vectors of a target column. Interleaving
//! the first half of N vectors with the second rotates the bits of row and column number by one. After log2(E) rounds
//! within parts of 16 bytes of E elements these have changed places with the rows, and after log2(P) rounds over P parts
//! so have the parts.
#![expect(unsafe_code, reason = "source and target are pointers, of which each element is reached once")]

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod rows;
mod runs;
mod stage;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::plane::LINE_SIZE;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) use neon::NEON;
use rows::{Rows, Vector};
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{AVX2, AVX512, SSE2};

/// Transposes a tile of `height` vectors of rows: row i is at `source + rows[i]`, column i at `target + columns[i]`.
///
/// # Safety
/// The processor has the instructions of the vectors, the places are there, and the elements can be read and written;
/// `parts` has room for as many vectors as a cache line has bytes. If `STREAMS`, the columns are aligned to vectors.
#[inline(always)] // for the instruction set of the caller
unsafe fn tile<V: Vector, R: Rows<V>, const SIZE: usize, const STREAMS: bool>(
    height: usize,
    source: *const u8,
    rows: *const isize,
    target: *mut u8,
    columns: *const isize,
    parts: *mut u8,
) {
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
