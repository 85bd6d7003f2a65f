//! The innermost loops of a copy: what kernels are given, and which ones there are.

use super::blocks::portable;
#[cfg(target_arch = "x86_64")]
use super::blocks::{avx2, avx512};
use super::nest::Axis;
use super::table::Tables;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
use super::tile;
use crate::memory::{LINE_SIZE, PAGE_SIZE};
use crate::simd::{Level, Tier, best};

/// A plane of blocks of bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane {
    /// Bytes that stay together.
    pub(super) block: usize,
    /// The axis along which the target is written fastest.
    pub(super) inner: Axis,
    /// The axis along which the source is read fastest; of size 1 if it is the same one.
    pub(super) other: Axis,
    pub(super) source: *const u8,
    pub(super) target: *mut u8,
}

impl Plane {
    /// The same plane, walked so that the source goes forwards along the axis on which it is fastest.
    pub(super) fn forwards(mut self) -> Self {
        let other = &mut self.other;
        if other.source < 0 {
            let steps = other.size as isize - 1;
            self.source = self.source.wrapping_offset(steps * other.source);
            self.target = self.target.wrapping_offset(steps * other.target);
            (other.source, other.target) = (-other.source, -other.target);
        }
        self
    }
}

/// Runs of elements that lie back to back in the target, one for each element of a row, which lie back to back in the
/// source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runs<'a> {
    /// Bytes of an element.
    pub(super) block: usize,
    /// The axes of a run, the fastest last.
    pub(super) run: &'a [Axis],
    /// How many elements a run has.
    pub(super) count: usize,
    /// The axes of a row, the fastest last.
    pub(super) row: &'a [Axis],
    /// How many elements a row has.
    pub(super) row_count: usize,
    /// The bytes of a row that are copied at once: at most [`BAND_SIZE`].
    pub(super) width: usize,
    /// Whether the copy exceeds the caches.
    pub(super) is_large: bool,
    pub(super) tables: *mut Tables,
    /// Where tiles are put together if rows or columns collide in the cache; else NULL.
    pub(super) staging: *mut Line,
    pub(super) source: *const u8,
    pub(super) target: *mut u8,
}

/// A few planes whose elements lie back to back, and pixels that have one of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pixels {
    /// Bytes of an element: 1, 2 or 4.
    pub(super) element_size: usize,
    /// How many planes there are: from 2 on, and less than a vector has elements.
    pub(super) channels: usize,
    /// How many pixels there are: at least as many as a vector has elements.
    pub(super) count: usize,
    /// From one plane to the next, in bytes.
    pub(super) plane_stride: isize,
    /// Whether the target has the pixels and the source the planes, and not the reverse.
    pub(super) interleaves: bool,
    pub(super) source: *const u8,
    pub(super) target: *mut u8,
}

impl Pixels {
    /// The pixels of a plane that has only such.
    pub(super) fn of(plane: &Plane) -> Option<Self> {
        let Plane { block, inner, other, source, target } = *plane;
        let size = block as isize;
        if !matches!(block, 1 | 2 | 4) || inner.target != size || other.source != size {
            return None;
        }
        let of_vector = VECTOR_SIZE / block;
        let are_pixels = |channels: &Axis, along: &Axis, pitch: isize| {
            (2..of_vector).contains(&channels.size) && along.size >= of_vector && pitch == channels.size as isize * size
        };
        let (channels, count, plane_stride, interleaves) = if are_pixels(&inner, &other, other.target) {
            (inner.size, other.size, inner.source, true)
        } else if are_pixels(&other, &inner, inner.source) {
            (other.size, inner.size, other.target, false)
        } else {
            return None;
        };
        Some(Self { element_size: block, channels, count, plane_stride, interleaves, source, target })
    }
}

/// The bytes of the smallest vectors.
pub(super) const VECTOR_SIZE: usize = 16;

/// The part of a run that is copied at once. Fewer bytes at a stride of a power of two are written more slowly, and
/// more gain nothing.
pub(super) const BAND_SIZE: usize = 512;

/// A part of a staging buffer.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Line(#[expect(dead_code, reason = "reached by pointers")] [u8; LINE_SIZE]);

/// From one column to the next in the staging buffer of columns: an odd number of cache lines, so that columns do not collide.
pub(super) const COLUMN_STRIDE: usize = BAND_SIZE + LINE_SIZE;

/// The bytes of the staging buffers for `width` bytes of rows of elements of `size` bytes: the columns, and the rows of a tile.
pub(super) fn staging_size(size: usize, width: usize) -> usize {
    width / size * COLUMN_STRIDE + LINE_SIZE / size * (width + LINE_SIZE)
}

/// A way of copying.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    pub(super) tiles: Option<Tiles>,
    /// Copies what has no tiles, block by block; the second argument is whether the copy exceeds the caches. May be called
    /// if the tier is available, and if all blocks of the plane can be read in the source and written in the target.
    pub(super) blocks: unsafe fn(&Plane, bool),
}

/// Copies runs by tiles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiles {
    /// May be called if the tier is available, if it [takes](Self::take) the runs, if all elements can be read in the
    /// source and written in the target, and if nothing else uses the tables and the staging buffer meanwhile. The
    /// tables are for these axes, the width is that of at least one tile, and the staging buffer, unless NULL, has room
    /// for a band of it.
    pub(super) copy: unsafe fn(&Runs<'_>),
    /// How many parts of 16 bytes the smallest vector has that takes elements of 3, 6 and 12 bytes; `None` if none
    /// does.
    pub(super) triple_parts: Option<usize>,
    /// Whether copying fewer columns at once is faster than a staging buffer, unless those of a cache line crowd.
    pub(super) prefers_fewer_columns: bool,
    /// Other tiles, where they are faster with elements of this size.
    pub(super) instead: Option<fn(usize) -> Option<Tiles>>,
    /// Copies between planes and pixels. May be called if the tier is available, and if all elements can be read in the
    /// source and written in the target.
    pub(super) pixels: Option<unsafe fn(&Pixels)>,
}

impl Tiles {
    /// The fastest ones with elements of this size.
    pub(super) fn fastest_for(self, block: usize) -> Self {
        self.instead.and_then(|instead| instead(block)).unwrap_or(self)
    }

    /// Whether runs and rows of this many elements of `block` bytes have a tile.
    pub(super) fn take(&self, block: usize, count: usize, row_count: usize) -> bool {
        let parts = match block {
            1 | 2 | 4 | 8 | 16 => Some(1),
            3 | 6 | 12 => self.triple_parts,
            _ => None,
        };
        parts.is_some_and(|parts| count.min(row_count) >= parts * 16 / block.next_power_of_two())
    }
}

/// The reference.
pub(super) const PORTABLE: Kernel = Kernel { tiles: None, blocks: portable };

/// Fastest first.
pub(super) static TIERS: &[Tier<Kernel>] = &[
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx512, kernel: Kernel { tiles: Some(tile::AVX512), blocks: avx512 } },
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx2, kernel: Kernel { tiles: Some(tile::AVX2), blocks: avx2 } },
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Portable, kernel: Kernel { tiles: Some(tile::SSE2), blocks: portable } },
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Tier { level: Level::Neon, kernel: Kernel { tiles: Some(tile::NEON), blocks: portable } },
    Tier { level: Level::Reference, kernel: PORTABLE },
];

/// The kernel of the fastest tier that this processor has; every processor has the portable one.
pub(super) fn fastest() -> Kernel {
    best(TIERS).map_or(PORTABLE, |tier| tier.kernel)
}

/// Whether `rows` rows at this stride have more than half of the cache lines of one set of the first-level cache: it
/// has 64 sets of 8 lines or more.
pub(super) fn collides(rows: usize, stride: isize) -> bool {
    rows > 4 * set_count(stride)
}

/// How many rows at this stride begin at different places of a page, and so in different sets of the first-level cache
/// as far as it has them.
pub(super) fn set_count(stride: isize) -> usize {
    PAGE_SIZE >> stride.trailing_zeros().min(PAGE_SIZE.ilog2())
}

/// Whether columns at this stride begin in so few sets of the first-level cache that each gets more than `most` of
/// them. Strides near a third of a page crowd as those of powers of two do.
pub(super) fn crowds(columns: usize, stride: isize, most: usize) -> bool {
    // So many are a large enough sample.
    let columns = columns.min(128);
    if columns <= most || stride.unsigned_abs() <= LINE_SIZE {
        return false;
    }
    let set = |column: usize| (column as isize).wrapping_mul(stride).div_euclid(LINE_SIZE as isize) & 63;
    let sets = (0..columns).fold(0_u64, |sets, column| sets | 1 << set(column));
    (sets.count_ones() as usize) * most < columns
}

/// Whether the rows or the columns of a cache line crowd, so that it does not help to copy fewer of them at once.
pub(super) fn has_crowded_lines(plane: &Plane) -> bool {
    let Plane { block, inner, other, .. } = *plane;
    // Of rows and columns together, eight in each set, or four of the largest elements, are too many already.
    let (line, most) = (LINE_SIZE / block, if block < 8 { 7 } else { 3 });
    crowds(other.size.min(line), other.target, most) || crowds(inner.size.min(line), inner.source, most)
}
