//! Memory and contexts of codecs that are kept from one call to the next.

use crate::interface::Contexts;
use std::sync::Mutex;

/// The number of workspaces that a chain keeps: as many as threads are likely to share it.
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

/// The workspaces of a chain and of its reshaped copies. No thread waits for a slot that another thread is using: in a
/// process that forked at that moment, such a thread is gone, and its slot stays locked.
#[derive(Debug)]
pub(super) struct Pool {
    slots: [Mutex<Option<Workspace>>; KEPT_COUNT],
}

impl Pool {
    pub(super) fn new() -> Self {
        Self { slots: Default::default() }
    }

    /// Runs `work` with a workspace of an earlier call, or a new one.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        let mut workspace = self.find(Option::take).unwrap_or_default();
        let result = work(&mut workspace);
        let mut left = Some(workspace);
        // If no slot is empty, it is dropped.
        let _ = self.find(|slot| slot.is_none().then(|| *slot = left.take()));
        result
    }

    /// The first result of `look` at a slot that no other thread is using.
    fn find<T>(&self, mut look: impl FnMut(&mut Option<Workspace>) -> Option<T>) -> Option<T> {
        self.slots.iter().find_map(|slot| look(&mut *slot.try_lock().ok()?))
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
        let pool = Pool::new();
        assert_eq!([give(&pool, 7), give(&pool, 0)], [0, 7]);
        let _first = pool.slots[0].lock().unwrap();
        assert_eq!([give(&pool, 9), give(&pool, 0)], [0, 9]);
        let _all: Vec<_> = pool.slots[1..].iter().map(|slot| slot.lock().unwrap()).collect();
        assert_eq!([give(&pool, 3), give(&pool, 0)], [0, 0]);
    }
}
