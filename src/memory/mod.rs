//! Memory: buffers whose size comes from outside, where running out is an error and not an abort; and a copy that is
//! fast for any relative alignment of its two sides.

mod huge_pages;

use crate::error::{Error, Result, Status};
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;

/// Makes a buffer at least this long. New elements are zeros, old ones are unchanged.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub(crate) fn grow<T: Copy + Zeroable>(buffer: &mut Vec<T>, count: usize) -> Result<()> {
    if buffer.capacity() == 0 {
        // Large memory is zero when the system provides it, so no zeros need to be written.
        *buffer = try_zeroed_vec(count).map_err(|()| Error::out_of_memory())?;
        huge_pages::request(buffer);
    } else if buffer.len() < count {
        buffer.try_reserve_exact(count - buffer.len()).map_err(|_| Error::out_of_memory())?;
        buffer.resize(count, T::zeroed());
    }
    Ok(())
}

/// Runs `work` with a buffer of this capacity, or, if memory lacks that, of half of it, a quarter, and so on; and with
/// more as long as that is too small and the limit allows it. Returns what `work` does.
///
/// # Errors
/// [`Status::BufferTooSmall`](crate::Status::BufferTooSmall) if the limit is too small. Any other error of `work`.
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub(crate) fn grow_until<T>(
    buffer: &mut Vec<u8>,
    mut capacity: u64,
    limit: u64,
    mut work: impl FnMut(&mut [u8]) -> Result<T>,
) -> Result<T> {
    // No smaller buffer is tried.
    let mut least = 1;
    loop {
        while let Err(error) = grow_to(buffer, capacity) {
            if capacity <= least {
                return Err(error);
            }
            capacity = (capacity / 2).max(least);
        }
        match work(&mut buffer[..capacity as usize]) {
            Err(error) if error.status() == Status::BufferTooSmall => {
                let needed = error.needed_capacity().map_or(0, |needed| needed as u64);
                let next = capacity.saturating_mul(2).min(limit).max(needed);
                if next <= capacity || next > limit {
                    return Err(error);
                }
                least = if needed > capacity { needed } else { next };
                capacity = next;
            }
            result => return result,
        }
    }
}

fn grow_to(buffer: &mut Vec<u8>, capacity: u64) -> Result<()> {
    grow(buffer, usize::try_from(capacity).map_err(|_| Error::out_of_memory())?)
}

/// Appends an item to a list whose length comes from outside.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub(crate) fn push<T>(list: &mut Vec<T>, item: T) -> Result<()> {
    list.try_reserve(1).map_err(|_| Error::out_of_memory())?;
    list.push(item);
    Ok(())
}

/// A list of all items.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory). The error of an item.
pub(crate) fn collect<T>(items: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(items.size_hint().1.unwrap_or(0)).map_err(|_| Error::out_of_memory())?;
    for item in items {
        push(&mut list, item?)?;
    }
    Ok(list)
}

/// The size of a cache line in bytes.
pub(crate) const LINE_SIZE: usize = 64;

/// The bytes before the first cache line that begins in this memory, or would begin after it.
///
/// Storing a vector across two lines costs many processors twice as much, and Intel's several times as much where the
/// lines are not in the first-level cache; allocators return page + 16.
pub(crate) fn size_before_line(memory: &[u8]) -> usize {
    memory.as_ptr().addr().wrapping_neg() % LINE_SIZE
}

/// The memory from its first cache line on; nothing if it is too short for one.
pub(crate) fn from_line(memory: &mut [u8]) -> &mut [u8] {
    let before = size_before_line(memory);
    memory.get_mut(before..).unwrap_or_default()
}

/// The value, made if there is none yet.
pub(crate) fn get_or_make<T>(slot: &mut Option<T>, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    match slot {
        Some(value) => Ok(value),
        none => Ok(none.insert(make()?)),
    }
}

/// A copy of the bytes.
///
/// # Errors
/// [`Status::OutOfMemory`].
pub(crate) fn to_vec(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(bytes.len()).map_err(|_| Error::out_of_memory())?;
    vec.extend_from_slice(bytes);
    Ok(vec)
}

/// Addresses this far apart have the same place in a first-level cache of 64 sets.
pub(crate) const PAGE_SIZE: usize = 4096;

/// A target that begins less than this after its source, both modulo the page size, is too close. Headers of chunks
/// cause such distances.
const CLOSE: usize = 64;

/// Up to this size, C libraries copy with vectors.
const PART_SIZE: usize = 1024;

/// From this size on, they use vectors again: it exceeds the second-level cache of AMD processors.
const LARGE_SIZE: usize = 2 << 20;

/// Copies all bytes; both sides have the same size.
///
/// C libraries copy some KiB to a MiB by `rep movsb`, which on AMD processors is 10 to 20 times as slow if the target
/// is too close. <https://github.com/microsoft/STL/issues/5658>
pub(crate) fn copy(source: &[u8], target: &mut [u8]) {
    let distance = target.as_ptr().addr().wrapping_sub(source.as_ptr().addr()) % PAGE_SIZE;
    if distance == 0 || distance >= CLOSE || source.len() >= LARGE_SIZE {
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

    #[test]
    fn a_list_that_does_not_fit_is_an_error() {
        let items = |count: usize| (0..count).map(|_| Ok([7_u64; 2]));
        assert_eq!(collect(items(3)), Ok(vec![[7; 2]; 3]));
        assert_eq!(collect(items(usize::MAX)).unwrap_err().status(), Status::OutOfMemory);
        let with_error = items(3).chain([Err(Error::argument("no item"))]);
        assert_eq!(collect(with_error).unwrap_err().status(), Status::InvalidArgument);
    }

    #[test]
    fn a_buffer_grows_and_never_shrinks() {
        let mut buffer = vec![7_u64];
        for (count, expected) in [(3, vec![7, 0, 0]), (2, vec![7, 0, 0])] {
            grow(&mut buffer, count).unwrap();
            assert_eq!(buffer, expected);
        }
        assert_eq!(grow(&mut buffer, usize::MAX).unwrap_err().status(), Status::OutOfMemory);
        assert_eq!(buffer.len(), 3);
    }
}
