//! Work in parts, on a few threads that live as long as the call.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` on each part, on the calling thread and up to `threads - 1` others; the results are in the order of
/// the parts. A thread that cannot be started costs time, not the result.
pub(crate) fn map<Part, Output: Send>(
    threads: NonZeroUsize,
    parts: impl Iterator<Item = Part> + Send,
    work: impl Fn(Part) -> Output + Sync,
) -> Vec<Output> {
    let queue = Mutex::new(parts.enumerate());
    let results = Mutex::new(Vec::new());
    let worker = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((index, part)) = next else { break };
            let output = work(part);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, output));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.get() {
            if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, output)| output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_are_in_the_order_of_the_parts() {
        for threads in [1, 2, 5] {
            let threads = NonZeroUsize::new(threads).unwrap();
            assert_eq!(map(threads, 0..7, |part| part * part), [0, 1, 4, 9, 16, 25, 36]);
            assert!(map(threads, 0..0, |part: i32| part).is_empty());
        }
    }
}
