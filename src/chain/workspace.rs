//! Memory and contexts of codecs that are kept from one call to the next.

use crate::interface::Contexts;
use crossbeam_queue::ArrayQueue;

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

/// The workspaces of a chain and of its reshaped copies, without a lock.
#[derive(Debug)]
pub(super) struct Pool {
    kept: ArrayQueue<Workspace>,
}

impl Pool {
    pub(super) fn new() -> Self {
        Self { kept: ArrayQueue::new(KEPT_COUNT) }
    }

    /// Runs `work` with a workspace of an earlier call, or a new one.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        let mut workspace = self.kept.pop().unwrap_or_default();
        let result = work(&mut workspace);
        // A full pool drops it.
        let _ = self.kept.push(workspace);
        result
    }
}
