//! Work in parts, on a few threads that live as long as the call, or on threads of the host.

mod threads;

use crate::error::{EXECUTOR, Error, Result};
use crate::float_environment::{with_host_environment, with_own_environment};
use crate::memory::{collect, push};
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use threads::{processors, run_on_threads};

/// The number of bytes that makes a thread worth starting: starting one takes about 20 microseconds, in which a core
/// copies this many.
const MIN_SIZE_PER_THREAD: usize = 256 << 10;

/// How many runs of neighbours each worker takes, or more.
const RUNS_PER_WORKER: usize = 16;

/// How many runs each worker takes of the parts that are left, or more: towards the end runs become shorter, so that no
/// worker waits long for the others.
const RUNS_LEFT_PER_WORKER: usize = 4;

/// The number of workers worth using on this many bytes, if there are as many.
pub(crate) fn worth_using(size: usize) -> NonZeroUsize {
    NonZeroUsize::new(size / MIN_SIZE_PER_THREAD).unwrap_or(NonZeroUsize::MIN)
}

/// Whether workers take items as a whole. Otherwise all work on one item after the other, each of which is divided into
/// up to `part_count` parts; so does one worker.
pub(crate) fn divides_by_items(workers: NonZeroUsize, item_count: u64, part_count: u64) -> bool {
    workers.get() > 1 && item_count > 1 && item_count >= (workers.get() as u64).min(part_count)
}

/// The host's threads, used instead of the library's own.
pub trait Executor: Debug + Send + Sync {
    /// The number of jobs that may run at once.
    fn max_workers(&self) -> NonZeroUsize;

    /// Runs `job` `count` times, on any threads, and returns when all have returned.
    ///
    /// # Errors
    /// [`Status::CallbackFailed`](crate::Status::CallbackFailed), with what the host said.
    fn run(&self, count: u32, job: &(dyn Fn() + Sync)) -> Result<()>;
}

/// The threads that may work on a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Workers<'a> {
    max_threads: NonZeroUsize,
    executor: Option<&'a dyn Executor>,
}

impl<'a> Workers<'a> {
    /// Up to this many threads of the library's own, including the calling one, or else those of an executor.
    pub(crate) fn new(max_threads: NonZeroUsize, executor: Option<&'a dyn Executor>) -> Self {
        Self { max_threads, executor }
    }

    /// The number of workers worth using on this many bytes.
    pub(crate) fn count_for(&self, size: usize) -> NonZeroUsize {
        worth_using(size).min(self.executor.map_or(self.max_threads, Executor::max_workers))
    }

    /// Does `work` on each part, by up to `count` workers at once; they take the parts in order. Once a part has
    /// failed, no more are taken.
    ///
    /// Without an executor, the workers are the calling thread and threads of the library's own, no more than there are
    /// processors. If a thread cannot be started, the work takes longer, but succeeds. All threads have ended, not just
    /// finished their work, when this returns, so that a process may fork safely afterwards.
    ///
    /// # Errors
    /// The error of the first part that failed. The error of the executor.
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    ///
    /// # Panics
    /// If `work` panics, on any thread.
    pub(crate) fn for_each<Part>(
        &self,
        count: NonZeroUsize,
        parts: impl Iterator<Item = Part> + Send,
        work: impl Fn(Part) -> Result<()> + Sync,
    ) -> Result<()> {
        self.for_each_in_runs(count, |_| 1, parts, work)
    }

    /// The same for `part_count` parts of which neighbours write to the same cache lines or pages: each worker takes
    /// runs of them.
    ///
    /// # Errors
    /// As [`for_each`](Self::for_each).
    ///
    /// # Panics
    /// As [`for_each`](Self::for_each).
    pub(crate) fn for_each_neighbour<Part>(
        &self,
        count: NonZeroUsize,
        part_count: usize,
        parts: impl Iterator<Item = Part> + Send,
        work: impl Fn(Part) -> Result<()> + Sync,
    ) -> Result<()> {
        let workers = if self.executor.is_some() { count.get() } else { count.get().min(processors()) };
        self.for_each_in_runs(count, |taken| run_length(part_count, taken, workers), parts, work)
    }

    /// Does `work` on each part as [`for_each`](Self::for_each); returns what it returns, in the order of the parts.
    ///
    /// # Errors
    /// As [`for_each`](Self::for_each).
    ///
    /// # Panics
    /// As [`for_each`](Self::for_each).
    pub(crate) fn map<Part, Output: Send>(
        &self,
        count: NonZeroUsize,
        parts: impl Iterator<Item = Part> + Send,
        work: impl Fn(Part) -> Result<Output> + Sync,
    ) -> Result<Vec<Output>> {
        let outputs = Mutex::new(Vec::new());
        self.for_each(count, parts.enumerate(), |(index, part)| {
            let output = work(part)?;
            push(&mut lock(&outputs), (index, output))
        })?;
        let mut outputs = into_inner(outputs);
        outputs.sort_unstable_by_key(|(index, _)| *index);
        collect(outputs.into_iter().map(|(_, output)| Ok(output)))
    }

    fn for_each_in_runs<Part>(
        &self,
        count: NonZeroUsize,
        run_length: impl Fn(usize) -> usize + Sync,
        parts: impl Iterator<Item = Part> + Send,
        work: impl Fn(Part) -> Result<()> + Sync,
    ) -> Result<()> {
        let queue = Mutex::new((0, parts.enumerate()));
        let first_fault = Mutex::new(None::<(usize, Error)>);
        let fail = |index: usize, error| {
            let mut first = lock(&first_fault);
            if first.as_ref().is_none_or(|(known, _)| index < *known) {
                *first = Some((index, error));
            }
        };
        let worker = || {
            let mut run = Vec::new();
            if run.try_reserve_exact(run_length(0)).is_err() {
                fail(0, Error::out_of_memory());
            }
            while lock(&first_fault).is_none() {
                {
                    let mut queue = lock(&queue);
                    let (taken, parts) = &mut *queue;
                    run.extend(parts.take(run_length(*taken)));
                    *taken += run.len();
                }
                if run.is_empty() {
                    break;
                }
                for (index, part) in run.drain(..) {
                    if let Err(error) = work(part) {
                        fail(index, error);
                        break;
                    }
                }
            }
        };
        match self.executor {
            _ if count.get() == 1 => worker(),
            None => run_on_threads(count, &worker),
            Some(executor) => on_executor(executor, count, &worker)?,
        }
        into_inner(first_fault).map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// The number of neighbours that a worker takes after `taken` of them are.
fn run_length(part_count: usize, taken: usize, workers: usize) -> usize {
    let share = |parts: usize, runs_per_worker: usize| parts / workers.saturating_mul(runs_per_worker);
    share(part_count, RUNS_PER_WORKER).min(share(part_count.saturating_sub(taken), RUNS_LEFT_PER_WORKER)).max(1)
}

/// Runs `worker` on threads of the host. A panic waits until all have returned: it must not pass through their frames.
fn on_executor(executor: &dyn Executor, count: NonZeroUsize, worker: &(impl Fn() + Sync)) -> Result<()> {
    let panic = Mutex::new(None);
    let job = || {
        let result = with_own_environment(|| catch_unwind(AssertUnwindSafe(worker)));
        if let Err(cause) = result {
            *lock(&panic) = Some(cause);
        }
    };
    let count = u32::try_from(count.get()).unwrap_or(u32::MAX);
    let result = with_host_environment(|| executor.run(count, &job));
    if let Some(cause) = into_inner(panic) {
        resume_unwind(cause);
    }
    result.map_err(|error| error.with_code(EXECUTOR))?;
    // The parts that are left if an executor did not run every job.
    worker();
    Ok(())
}

/// Locks a mutex whose content is valid even if a thread panicked while holding it.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The content of such a mutex.
pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    fn count(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    #[test]
    fn items_are_taken_if_that_gives_more_workers_something_to_do() {
        for (workers, items, parts, expected) in [
            (4, 4, u64::MAX, true),
            (4, 3, u64::MAX, false),
            (4, 3, 1, true),
            (4, 3, 3, true),
            (4, 2, 3, false),
            (4, 1, 1, false),
            (1, 9, 1, false),
        ] {
            assert_eq!(divides_by_items(count(workers), items, parts), expected, "{workers}, {items}, {parts}");
        }
    }

    fn own(max_threads: usize) -> Workers<'static> {
        Workers::new(count(max_threads), None)
    }

    #[test]
    fn threads_are_started_only_for_enough_bytes() {
        for (max_threads, size, expected) in [(8, 0, 1), (8, (512 << 10) - 1, 1), (8, 512 << 10, 2), (2, usize::MAX, 2)]
        {
            assert_eq!(own(max_threads).count_for(size).get(), expected);
        }
    }

    #[test]
    fn the_results_are_in_the_order_of_the_parts() {
        for threads in [1, 2, 5] {
            let squares = own(threads).map(count(threads), 0..5, |part| Ok(part * part));
            assert_eq!(squares, Ok(vec![0, 1, 4, 9, 16]));
            assert_eq!(own(threads).map(count(threads), 0..0, |part: i32| Ok(part)), Ok(vec![]));
        }
    }

    #[test]
    fn the_first_part_at_fault_counts_and_ends_the_work() {
        for threads in [1, 2, 5] {
            for first in [0, 3, 40, 999] {
                let begun = AtomicUsize::new(0);
                let work = |part: usize| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    if part < first { Ok(()) } else { Err(Error::internal(format!("part {part}"))) }
                };
                let workers = own(threads);
                for result in [
                    workers.for_each(count(threads), 0..5000, work),
                    workers.for_each_neighbour(count(threads), 5000, 0..5000, work),
                    workers.map(count(threads), 0..5000, work).map(drop),
                ] {
                    assert_eq!(result.unwrap_err().to_string(), format!("part {first}"), "{threads} threads");
                }
                // From the first at fault on, each worker begins one part, or the rest of its run.
                let most = 3 * (first + threads.min(processors()) * run_length(5000, 0, 1));
                assert!(begun.into_inner() <= most, "{threads} threads, part {first}");
            }
        }
    }

    #[test]
    fn runs_of_neighbours_become_shorter_at_the_end() {
        let runs = |part_count: usize, workers: usize| {
            let next = |taken: &usize| Some(taken + run_length(part_count, *taken, workers));
            let ends: Vec<usize> = std::iter::successors(Some(0), next).take_while(|end| *end < part_count).collect();
            ends.windows(2).map(|ends| ends[1] - ends[0]).collect::<Vec<_>>()
        };
        let sizes = runs(512, 2);
        assert!(sizes[0] == 16 && sizes.is_sorted_by(|a, b| a >= b) && sizes.ends_with(&[1; 8]), "{sizes:?}");
        assert_eq!(runs(20, 4), [1; 19]);
    }

    #[test]
    fn there_are_never_more_threads_than_processors() {
        // A control group may allow less time than there are processors.
        assert!(processors() >= thread::available_parallelism().unwrap().get());
        let ids = own(1000).map(count(1000), 0..2000, |_| {
            thread::sleep(Duration::from_micros(50));
            Ok(thread::current().id())
        });
        let ids: HashSet<_> = ids.unwrap().into_iter().collect();
        assert!(ids.len() <= processors(), "{} threads, {} processors", ids.len(), processors());
    }

    #[test]
    fn the_threads_may_use_all_processors_of_the_caller() {
        let (all, patience) = (processors(), Instant::now() + Duration::from_secs(60));
        let work = |_| {
            // A thread is moved while it may already run.
            while processors() != all && Instant::now() < patience {
                thread::yield_now();
            }
            Ok(processors())
        };
        let found = own(8).map(count(8), 0..1000, work);
        assert_eq!(found, Ok(vec![all; 1000]));
    }

    #[test]
    fn the_threads_are_gone_when_the_call_returns() {
        static BEGUN: AtomicUsize = AtomicUsize::new(0);
        static ENDED: AtomicUsize = AtomicUsize::new(0);
        /// Ends late, after the work: when the thread ends.
        struct Witness;
        impl Drop for Witness {
            fn drop(&mut self) {
                thread::sleep(Duration::from_millis(5));
                ENDED.fetch_add(1, Ordering::SeqCst);
            }
        }
        thread_local! {
            static WITNESS: Witness = {
                BEGUN.fetch_add(1, Ordering::SeqCst);
                Witness
            };
        }
        let caller = thread::current().id();
        // On a busy machine the caller could do all the work before another thread has begun.
        let patience = Instant::now() + Duration::from_secs(60);
        let is_waiting = || processors() > 1 && BEGUN.load(Ordering::SeqCst) == 0 && Instant::now() < patience;
        for _ in 0..20 {
            let work = |_| {
                if thread::current().id() != caller {
                    WITNESS.with(|_| ());
                }
                while is_waiting() {
                    thread::yield_now();
                }
                thread::sleep(Duration::from_micros(100));
                Ok(())
            };
            own(2).for_each(count(2), 0..8, work).unwrap();
            assert_eq!(ENDED.load(Ordering::SeqCst), BEGUN.load(Ordering::SeqCst));
        }
        assert!(processors() == 1 || BEGUN.load(Ordering::SeqCst) > 0);
    }

    #[test]
    #[should_panic(expected = "injected")]
    fn a_panic_in_any_thread_reaches_the_caller() {
        if processors() == 1 {
            panic!("injected: there is no other thread");
        }
        let caller = thread::current().id();
        let work = |_| {
            assert_eq!(thread::current().id(), caller, "injected");
            thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        let _ = own(2).for_each(count(2), 0..100, work);
    }
}
