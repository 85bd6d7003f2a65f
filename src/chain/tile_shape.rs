//! The shape of tiles in which elements change between their order in memory and C order.

use super::boxes::region::{MIN_RUN_SIZE, Region};
use crate::representation::element_count;

/// Tiles have at least this many bytes side by side in memory, where the box has: two cache lines.
const MIN_SPAN: u64 = 128;

/// The shape of tiles of about `count` elements for a box whose elements lie in memory with these strides; the tiles
/// cut it at multiples of their sizes. `None` if tiles of consecutive elements in C order use cache lines as well, or
/// if these would have short runs of elements that are consecutive in an array of shape `whole`.
pub(super) fn tile_shape(
    shape: &[u64],
    strides: &[isize],
    element_size: usize,
    count: usize,
    whole: &[u64],
) -> Option<Vec<u64>> {
    if shape.contains(&0) {
        return None;
    }
    let mut by_stride: Vec<usize> = (0..shape.len()).filter(|axis| shape[*axis] > 1 && strides[*axis] != 0).collect();
    by_stride.sort_by_key(|axis| strides[*axis].unsigned_abs());
    let mut tile = vec![1; shape.len()];
    let mut span = element_size as u64;
    for axis in by_stride {
        if span >= MIN_SPAN {
            break;
        }
        tile[axis] = shape[axis].min(MIN_SPAN.div_ceil(span));
        span *= tile[axis];
    }
    // The rest goes to the last dimensions, so that runs are long.
    let mut rest = count as u64 / element_count(&tile);
    for axis in (0..shape.len()).rev() {
        let size = shape[axis].min(tile[axis].saturating_mul(rest.max(1)));
        rest /= size.div_ceil(tile[axis]);
        tile[axis] = size;
        if size < shape[axis] {
            break;
        }
    }
    let is_consecutive = match tile.iter().position(|size| *size > 1) {
        Some(first) => tile[first + 1..] == shape[first + 1..],
        None => true,
    };
    let run_length = Region { start: vec![0; tile.len()], shape: tile.clone() }.run_length(whole);
    (!is_consecutive && run_length * element_size >= MIN_RUN_SIZE).then_some(tile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_whole_cache_lines_of_memory_and_long_runs() {
        let c_order = |shape: &[u64]| {
            let mut strides = vec![1; shape.len()];
            (1..shape.len()).rev().for_each(|axis| strides[axis - 1] = strides[axis] * shape[axis] as isize);
            strides
        };
        let tile = |shape: &[u64], strides: &[isize]| tile_shape(shape, strides, 1, 256 << 10, shape);
        // Elements in C order: tiles are runs, also if there are gaps.
        assert_eq!(tile(&[255, 255, 255], &c_order(&[255, 255, 255])), None);
        assert_eq!(tile(&[255, 255, 255], &c_order(&[255, 300, 300])), None);
        // Fortran order.
        assert_eq!(tile(&[255, 255, 255], &[1, 255, 255 * 255]), Some(vec![128, 8, 255]));
        // Three bytes lie side by side for each element of the other dimension, of which 43 make a span.
        assert_eq!(tile(&[3, 349_525], &[1, 3]), Some(vec![3, 43 * 2032]));
        // Seven by eight bytes lie side by side, and three times as many make a span.
        assert_eq!(tile(&[7, 8, 18_724], &[1, 7, 56]), Some(vec![7, 8, 3 * 1560]));
        assert_eq!(tile(&[0, 300, u64::MAX], &[1, 0, 300]), None);
        // A small box is one tile.
        assert_eq!(tile(&[20, 30, 40], &[1, 20, 600]), None);
        // Of a box in the middle of an array, runs are rows, which may be too short.
        assert_eq!(tile_shape(&[900, 900, 100], &[1, 900, 810_000], 1, 256 << 10, &[1000; 3]), None);
    }
}
