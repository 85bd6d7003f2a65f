//! Memory and contexts of codecs that are kept from one call to the next.

use crate::interface::Contexts;
use std::sync::Mutex;

/// How many of each thing a chain keeps: as many as threads are likely to share it.
const KEPT_COUNT: usize = 16;

/// The memory and contexts of one call.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The intermediate results: one is read while the other is written.
    pub(super) front: Vec<u8>,
    pub(super) back: Vec<u8>,
    /// A contiguous copy of a chunk that lies in strides.
    pub(super) gathered: Vec<u8>,
    /// The contexts of codecs.
    pub(super) contexts: Contexts,
}

/// What calls of a chain, of its reshaped copies and of its inner chains keep for later ones.
#[derive(Debug, Default)]
pub(super) struct Pool {
    workspaces: Slots<Workspace>,
    /// The memory of strips. Not that of a workspace, in which the inner chunks of the strip are encoded or decoded
    /// meanwhile: the two would change their roles with each strip, and take twice the room in caches.
    strips: Slots<Vec<u8>>,
}

impl Pool {
    /// Runs `work` with a workspace of an earlier call, or a new one.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        self.workspaces.with(work)
    }

    /// Runs `work` with the memory of an earlier strip, or a new one.
    pub(super) fn with_strip<T>(&self, work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        self.strips.with(work)
    }
}

/// Things that are used by one call after the other. No thread waits for a slot that another thread is using: in a
/// process that forked at that moment, such a thread is gone, and its slot stays locked.
#[derive(Debug)]
struct Slots<T>([Mutex<Option<T>>; KEPT_COUNT]);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self([const { Mutex::new(None) }; KEPT_COUNT])
    }
}

impl<T: Default> Slots<T> {
    fn with<Output>(&self, work: impl FnOnce(&mut T) -> Output) -> Output {
        let mut content = self.find(Option::take).unwrap_or_default();
        let result = work(&mut content);
        let mut left = Some(content);
        // If no slot is empty, it is dropped.
        let _ = self.find(|slot| slot.is_none().then(|| *slot = left.take()));
        result
    }

    /// The first result of `look` at a slot that no other thread is using.
    fn find<Output>(&self, mut look: impl FnMut(&mut Option<T>) -> Option<Output>) -> Option<Output> {
        self.0.iter().find_map(|slot| look(&mut *slot.try_lock().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn give(pool: &Pool, size: usize) -> usize {
        pool.with(|workspace| {
            let before = workspace.front.len();
            workspace.front.resize(before.max(size), 0);
            before
        })
    }

    #[test]
    fn a_workspace_is_used_again_and_a_locked_slot_is_passed_over() {
        let pool = Pool::default();
        assert_eq!([give(&pool, 7), give(&pool, 0)], [0, 7]);
        let _first = pool.workspaces.0[0].lock().unwrap();
        assert_eq!([give(&pool, 9), give(&pool, 0)], [0, 9]);
        let _all: Vec<_> = pool.workspaces.0[1..].iter().map(|slot| slot.lock().unwrap()).collect();
        assert_eq!([give(&pool, 3), give(&pool, 0)], [0, 0]);
    }
}
