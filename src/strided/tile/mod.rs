//! Planes whose rows are contiguous along one axis in the source and along the other in the target, in tiles that are
//! transposed in registers.
//!
//! A tile has 16 bytes of each source row, and as many rows as fill a vector of a target row. Rows whose distance is
//! the number of elements in 16 bytes are loaded into the parts of one vector. Interleaving the first half of N vectors
//! with the second rotates the bits of row and column number by one; after log2(N) rounds the two have changed places.
#![expect(unsafe_code, reason = "source and target are pointers, of which each element is reached once")]

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod rows;
mod runs;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::plane::{LINE_SIZE, Plane, Runs, collides, portable};
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) use neon::{neon, neon_runs};
use rows::{Both, Row, Rows, Vector};
use runs::by_runs;
use std::mem::MaybeUninit;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{avx2, avx2_runs, avx512, avx512_runs, sse2, sse2_runs};

/// Bytes of a source row in a tile.
const PART_SIZE: usize = 16;

/// Transposes a tile. With `IS_WIDE` it has twice as many source rows, so that twice as much of each target row is
/// written at once: whole cache lines where a vector is half of one.
///
/// # Safety
/// The processor has the instructions of the vectors, and the elements can be read and written.
#[inline(always)] // for the instruction set of the caller
unsafe fn tile<R: Rows, const SIZE: usize, const IS_WIDE: bool>(
    source: *const u8,
    source_stride: isize,
    target: *mut u8,
    target_stride: isize,
) {
    // SAFETY: rows and elements of the tile.
    unsafe {
        let part_stride = R::COUNT as isize * source_stride;
        let first = transposed::<R, SIZE>(R::load(source, source_stride, part_stride));
        if IS_WIDE {
            let source = source.wrapping_offset(R::PARTS as isize * part_stride);
            let second = transposed::<R, SIZE>(R::load(source, source_stride, part_stride));
            return first.store_wide(second, target, target_stride);
        }
        first.store(target, target_stride);
    }
}

/// # Safety
/// The processor has the instructions of the vectors.
#[inline(always)] // for the instruction set of the caller
unsafe fn transposed<R: Rows, const SIZE: usize>(mut rows: R) -> R {
    // SAFETY: as the caller promises.
    unsafe {
        if SIZE <= 8 {
            rows = rows.shuffle::<SIZE>();
        }
        if SIZE <= 4 {
            rows = rows.shuffle::<SIZE>();
        }
        if SIZE <= 2 {
            rows = rows.shuffle::<SIZE>();
        }
        if SIZE == 1 {
            rows = rows.shuffle::<SIZE>();
        }
        rows
    }
}

/// The number of source rows that are walked before the next cache line of each.
const BAND_ROWS: usize = 256;

/// The source rows of a tile, one cache line of each.
#[repr(align(64))]
struct Staging(#[expect(dead_code, reason = "reached by pointers")] [[u8; LINE_SIZE]; LINE_SIZE]);

/// All tiles of a plane. Those at the end begin early enough to be whole, and write some elements again.
///
/// # Safety
/// The processor has the instructions of the vectors; the plane has at least one tile, is contiguous as the names of its axes
/// say, and its elements can be read and written.
#[inline(always)] // for the instruction set of the caller
unsafe fn tiles<R: Rows, const SIZE: usize, const IS_WIDE: bool>(plane: &Plane) {
    let Plane { inner, other, source, target, .. } = *plane;
    let rows = R::COUNT * R::PARTS * if IS_WIDE { 2 } else { 1 };
    let line = LINE_SIZE / SIZE;
    let is_staged = other.size >= line && collides(rows, inner.source);
    let mut stage = MaybeUninit::<Staging>::uninit();
    for band in (0..inner.size).step_by(BAND_ROWS) {
        let band_end = inner.size.min(band + BAND_ROWS);
        for column in (0..other.size).step_by(line) {
            for i in (band..band_end).step_by(rows) {
                let i = i.min(inner.size - rows);
                let source = source.wrapping_offset(i as isize * inner.source);
                // The next lines: those of the following rows, or the next cache line of the first ones.
                let (next, next_column) = if i + rows < band_end { (i + rows, column) } else { (band, column + line) };
                let ahead = plane.source.wrapping_offset(next as isize * inner.source);
                prefetch(ahead.wrapping_add(next_column * SIZE), inner.source, rows);
                let target = target.wrapping_add(i * SIZE);
                // SAFETY: `rows` rows from i on and `COUNT` columns from each o on are within the plane.
                unsafe {
                    if column + line <= other.size {
                        let mut source = source.wrapping_add(column * SIZE);
                        let mut stride = inner.source;
                        let target = target.wrapping_offset(column as isize * other.target);
                        if is_staged {
                            source = fill_stage(&mut stage, source, stride, rows);
                            stride = LINE_SIZE as isize;
                        }
                        for o in 0..LINE_SIZE / PART_SIZE {
                            let target = target.wrapping_offset((o * R::COUNT) as isize * other.target);
                            tile::<R, SIZE, IS_WIDE>(source.wrapping_add(o * PART_SIZE), stride, target, other.target);
                        }
                    } else {
                        for o in (column..other.size).step_by(R::COUNT) {
                            let o = o.min(other.size - R::COUNT);
                            let target = target.wrapping_offset(o as isize * other.target);
                            tile::<R, SIZE, IS_WIDE>(source.wrapping_add(o * SIZE), inner.source, target, other.target);
                        }
                    }
                }
            }
        }
    }
}

/// Prefetches a cache line of each of some rows, which need not exist.
#[inline(always)] // for the instruction set of the caller
fn prefetch(source: *const u8, stride: isize, rows: usize) {
    for i in 0..rows {
        let row = source.wrapping_offset(i as isize * stride);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: asks for memory and reads none; every x86-64 has the instruction.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(row.cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = row;
    }
}

/// Copies one cache line of each of some rows to memory where they do not collide in the cache.
///
/// # Safety
/// 64 bytes of at most 64 rows can be read.
#[inline(always)] // for the instruction set of the caller
unsafe fn fill_stage(stage: &mut MaybeUninit<Staging>, source: *const u8, stride: isize, rows: usize) -> *const u8 {
    let lines = stage.as_mut_ptr().cast::<[u8; LINE_SIZE]>();
    for i in 0..rows {
        // SAFETY: there are 64 lines.
        unsafe { *lines.add(i) = source.wrapping_offset(i as isize * stride).cast::<[u8; LINE_SIZE]>().read() };
    }
    lines.cast()
}

/// Copies a plane by tiles, if it has any.
///
/// # Safety
/// The processor has the instructions of the vectors, and the elements of the plane can be read and written.
#[inline(always)] // for the instruction set of the caller
unsafe fn by_tiles<V: Vector, const IS_WIDE: bool>(plane: &Plane) -> bool {
    let size = plane.block;
    if !matches!(size, 1 | 2 | 4 | 8 | 16)
        || plane.other.source.unsigned_abs() != size
        || plane.inner.target != size as isize
        || plane.other.size < PART_SIZE / size
        || plane.inner.size < V::PARTS * PART_SIZE / size * if IS_WIDE { 2 } else { 1 }
    {
        return false;
    }
    let plane = forwards(plane);
    // SAFETY: contiguous, and of at least one tile.
    unsafe {
        match size {
            1 => tiles::<Both<Both<Both<Both<Row<V>>>>>, 1, IS_WIDE>(&plane),
            2 => tiles::<Both<Both<Both<Row<V>>>>, 2, IS_WIDE>(&plane),
            4 => tiles::<Both<Both<Row<V>>>, 4, IS_WIDE>(&plane),
            8 => tiles::<Both<Row<V>>, 8, IS_WIDE>(&plane),
            _ => tiles::<Row<V>, 16, IS_WIDE>(&plane),
        }
    }
    true
}

/// The same plane, walked so that the source goes forwards along the axis on which it is fastest.
fn forwards(plane: &Plane) -> Plane {
    let mut plane = *plane;
    let other = &mut plane.other;
    if other.source < 0 {
        let steps = other.size as isize - 1;
        plane.source = plane.source.wrapping_offset(steps * other.source);
        plane.target = plane.target.wrapping_offset(steps * other.target);
        (other.source, other.target) = (-other.source, -other.target);
    }
    plane
}
