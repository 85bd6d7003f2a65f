//! A copy that is fast for any relative alignment of its two sides.

const PAGE_SIZE: usize = 4096;

/// A target that begins less than this after its source, both modulo the page size, is too close. Headers of chunks
/// cause such distances.
const CLOSE: usize = 64;

/// Up to this size, C libraries copy with vectors.
const PART_SIZE: usize = 1024;

/// Copies all bytes; both sides have the same size.
///
/// C libraries copy some KiB to a MiB by `rep movsb`, which on AMD processors is 10 to 20 times as slow if the target is
/// too close. <https://github.com/microsoft/STL/issues/5658>
pub(super) fn copy(source: &[u8], target: &mut [u8]) {
    let distance = target.as_ptr().addr().wrapping_sub(source.as_ptr().addr()) % PAGE_SIZE;
    if distance == 0 || distance >= CLOSE {
        return target.copy_from_slice(source);
    }
    for (target, source) in target.chunks_mut(PART_SIZE).zip(source.chunks(PART_SIZE)) {
        target.copy_from_slice(source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_copied_at_every_distance() {
        let source: Vec<u8> = (0..3 * PAGE_SIZE).map(|index| (index % 251) as u8).collect();
        let mut target = vec![0; 5 * PAGE_SIZE];
        for distance in 0..PAGE_SIZE {
            let size = 2 * PAGE_SIZE + distance % 1025;
            copy(&source[..size], &mut target[distance..distance + size]);
            assert!(target[distance..distance + size] == source[..size], "{distance}");
            target.fill(0);
        }
    }
}
