//! Memory and codec states that are kept from one call to the next.

use crate::error::{Error, Result};
use crossbeam_queue::ArrayQueue;
use std::any::Any;

/// How many workspaces a chain keeps: as many threads as are likely to share it.
const KEPT_COUNT: usize = 16;

/// What one call works with.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The intermediate results: one is read while the other is written.
    pub(super) front: Vec<u8>,
    pub(super) back: Vec<u8>,
    /// By step of the plan.
    pub(super) states: Vec<Option<Box<dyn Any + Send>>>,
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

    /// Works with a workspace that an earlier call has left, or a new one.
    pub(super) fn with<T>(&self, step_count: usize, work: impl FnOnce(&mut Workspace) -> T) -> T {
        let mut workspace = self.kept.pop().unwrap_or_default();
        workspace.states.resize_with(step_count, || None);
        let result = work(&mut workspace);
        // A full pool drops it.
        let _ = self.kept.push(workspace);
        result
    }
}

/// Makes a buffer at least so long.
pub(super) fn grow(buffer: &mut Vec<u8>, size: usize) -> Result<()> {
    if buffer.len() < size {
        buffer.try_reserve_exact(size - buffer.len()).map_err(|_| Error::out_of_memory())?;
        buffer.resize(size, 0);
    }
    Ok(())
}
