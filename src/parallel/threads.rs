//! Threads of the library's own, which end before the call that started them returns.

#![expect(unsafe_code, reason = "threads that borrow, and calls of the C library")]

use crate::float_environment::HostEnvironment;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{Builder, JoinHandle, Result};

/// The stack size. It is set here so that `RUST_MIN_STACK` changes nothing. Kernels use a few KiB, see
/// `tests/posix/small_stack.c`; the rest is for debug builds and sanitizers.
const STACK_SIZE: usize = 512 << 10;

/// Runs `worker` on `threads` threads at once, the calling one being the first, but no more than there are processors. If
/// a thread cannot be started, there are fewer.
///
/// # Panics
/// If `worker` panics, on any thread.
pub(super) fn run_on_threads(threads: NonZeroUsize, worker: &(impl Fn() + Sync)) {
    let environment = HostEnvironment::current();
    let processors = Processors::current();
    let on_other_thread = move || {
        environment.adopt();
        worker();
    };
    let count = threads.get().min(processors.count()) - 1;
    let mut others = Others(Vec::new());
    if others.0.try_reserve_exact(count).is_ok() {
        for _ in 0..count {
            let builder = Builder::new().stack_size(STACK_SIZE);
            // SAFETY: what the thread borrows outlives this function, which joins the thread before it returns or unwinds.
            let Ok(thread) = (unsafe { builder.spawn_unchecked(on_other_thread) }) else { break };
            processors.take_off_ours(&thread);
            others.0.push(thread);
        }
    }
    let own = catch_unwind(AssertUnwindSafe(worker));
    if let Err(panic) = first_panic(own, others.join()) {
        resume_unwind(panic);
    }
}

/// Threads that are joined, not just at the end of their work, before this is gone.
struct Others(Vec<JoinHandle<()>>);

impl Others {
    /// Joins all threads.
    fn join(&mut self) -> Result<()> {
        let mut all = Ok(());
        while let Some(thread) = self.0.pop() {
            all = first_panic(all, thread.join());
        }
        all
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        std::mem::forget(self.join());
    }
}

/// The first of two panics. The other is never dropped, which might panic again.
fn first_panic(first: Result<()>, second: Result<()>) -> Result<()> {
    if first.is_ok() {
        return second;
    }
    std::mem::forget(second);
    first
}

/// The number of processors that the calling thread may use, at least 1.
pub(super) fn processors() -> usize {
    Processors::current().count()
}

#[cfg(target_os = "linux")]
use linux::Processors;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::c_ulong;
    use std::os::unix::thread::JoinHandleExt;
    use std::thread::JoinHandle;

    const WORD_BITS: usize = c_ulong::BITS as usize;

    /// 8192 processors, more than Linux can have.
    const WORDS: usize = 8192 / WORD_BITS;

    /// A set of processors.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Processors {
        mask: [c_ulong; WORDS],
    }

    impl Processors {
        /// Those that the calling thread may use; none if the system does not say.
        // Not `available_parallelism`: it reads files of /proc and /sys for the limits of a control group, and the
        // library opens no file.
        pub(super) fn current() -> Self {
            let mut mask = [0; WORDS];
            // SAFETY: `mask` is as large as said, and 0 is the calling thread.
            let result = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
            if result != 0 {
                mask = [0; WORDS];
            }
            Self { mask }
        }

        /// How many there are, at least 1.
        pub(super) fn count(&self) -> usize {
            self.mask.iter().map(|word| word.count_ones() as usize).sum::<usize>().max(1)
        }

        /// Moves a new thread that waits for the processor of the calling thread to another one.
        ///
        /// Linux prefers idle processors for new threads, but in a virtual machine one that has gone to sleep counts as
        /// taken away by the host. The new thread then waits for its parent, for milliseconds, until the load of the
        /// processors is balanced. Afterwards the thread may use all processors again.
        pub(super) fn take_off_ours(&self, thread: &JoinHandle<()>) {
            if thread.is_finished() {
                return;
            }
            // SAFETY: it takes no arguments.
            let Ok(ours) = usize::try_from(unsafe { libc::sched_getcpu() }) else { return };
            let mut others = *self;
            let Some(word) = others.mask.get_mut(ours / WORD_BITS) else { return };
            *word &= !(1 << (ours % WORD_BITS));
            if others.mask.iter().all(|word| *word == 0) {
                return;
            }
            // With musl, this is a number in the standard library and a pointer in libc.
            let thread = thread.as_pthread_t() as libc::pthread_t;
            for processors in [&others, self] {
                let (mask, size) = (&processors.mask, size_of_val(&processors.mask));
                // SAFETY: the thread has not been joined, and `mask` is as large as said. For a thread that has just ended,
                // the C library may name the calling one instead, which then may use the same processors as before, too.
                unsafe { libc::pthread_setaffinity_np(thread, size, mask.as_ptr().cast()) };
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
use other::Processors;

#[cfg(not(target_os = "linux"))]
mod other {
    use std::num::NonZeroUsize;
    use std::thread::{JoinHandle, available_parallelism};

    /// A number of processors.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Processors(usize);

    impl Processors {
        /// Those that the calling thread may use.
        pub(super) fn current() -> Self {
            Self(available_parallelism().map_or(1, NonZeroUsize::get))
        }

        /// How many there are, at least 1.
        pub(super) fn count(&self) -> usize {
            self.0
        }

        /// The system itself chooses well.
        pub(super) fn take_off_ours(&self, _thread: &JoinHandle<()>) {}
    }
}
