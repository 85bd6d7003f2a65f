//! Work in parts, on a few threads that live as long as the call.

use crate::error::{Error, Result};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` on each part, on the calling thread and up to `threads - 1` others; the results are in the order of
/// the parts, each with the number of its part. A thread that cannot be started costs time, not the result.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory): there is no room for so many results.
pub(crate) fn map<Part, Output: Send>(
    threads: NonZeroUsize,
    parts: impl Iterator<Item = Part> + Send,
    work: impl Fn(Part) -> Output + Sync,
) -> Result<Vec<(usize, Output)>> {
    let queue = Mutex::new(parts.enumerate());
    let results = Mutex::new(Ok(Vec::new()));
    let worker = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((index, part)) = next else { break };
            let output = work(part);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            match results.as_mut().map(|list| list.try_reserve(1).map(|()| list.push((index, output)))) {
                Ok(Ok(())) => {}
                Ok(Err(_)) => *results = Err(Error::out_of_memory()),
                Err(_) => break,
            }
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
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    results.sort_unstable_by_key(|(index, _)| *index);
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_results_are_in_the_order_of_the_parts() {
        for threads in [1, 2, 5] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let squares = map(threads, 0..5, |part| part * part).unwrap();
            assert_eq!(squares, [(0, 0), (1, 1), (2, 4), (3, 9), (4, 16)]);
            assert!(map(threads, 0..0, |part: i32| part).unwrap().is_empty());
        }
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_in_any_thread_reaches_the_caller() {
        let caller = thread::current().id();
        let work = |_| {
            assert_eq!(thread::current().id(), caller, "injected");
            thread::sleep(Duration::from_millis(1));
        };
        let _ = map(NonZeroUsize::new(2).unwrap(), 0..100, work);
    }
}
