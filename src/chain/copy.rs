//! Copies: one that is fast for any relative alignment of its two sides, and one between strides on several threads.

use crate::error::Result;
use crate::interface::CallOptions;
use crate::strided::{self, Source, Target};
use std::num::NonZeroUsize;

/// Fewer bytes between strides are one thread's work: starting others takes as long as copying a part of them.
const MIN_SIZE_TO_DIVIDE: usize = 1 << 20;

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

/// The number of threads for work on this many bytes that lie in strides.
pub(super) fn workers_for(size: usize, options: &CallOptions) -> NonZeroUsize {
    if size < MIN_SIZE_TO_DIVIDE { NonZeroUsize::MIN } else { options.workers().count_for(size) }
}

/// Copies every element to its place, on as many threads as are worth it.
pub(super) fn copy_strided(source: &Source<'_>, target: &mut Target<'_>, options: &CallOptions) -> Result<()> {
    let size = target.shape().iter().product::<u64>() as usize * target.element_size();
    let workers = workers_for(size, options);
    if workers.get() == 1 {
        return strided::copy(source, target);
    }
    let parts = strided::split(source, target.reborrow(), workers.get())?;
    let work = |(source, mut target): (Source<'_>, Target<'_>)| strided::copy(&source, &mut target);
    let results = options.workers().map(workers, parts.into_iter(), work)?;
    results.into_iter().try_for_each(|(_, result)| result)
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
