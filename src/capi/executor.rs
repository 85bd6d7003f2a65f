//! Threads of the host.

use super::caller_struct::{CallerStruct, members};
use crate::error::{Error, Result, Status};
use crate::parallel::Executor;
use std::ffi::c_void;
use std::mem::offset_of;
use std::num::NonZeroUsize;

/// Runs job `i` of a batch. `run` of the executor calls it, on any thread, and never after `run` has returned.
/// `job_data` is what `run` was given. Since 0.2.
pub type zcodec_job_fn = Option<unsafe extern "C" fn(job_data: *mut c_void, i: u32, worker: u32)>;

/// Threads of the host, used instead of the library's own. `run` and `user_data` must be usable from every thread that
/// makes a call with this executor. NULL_ARGUMENT: `run` is NULL. INVALID_ARGUMENT: `max_workers` is 0, or `reserved`
/// is not. Since 0.2.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zcodec_executor {
    /// sizeof(zcodec_executor), as the caller was compiled; later versions may append members.
    pub struct_size: usize,
    /// Passed to `run`; the library never dereferences it.
    pub user_data: *mut c_void,
    /// The number of jobs that may run at once, at least 1. It is not capped at the number of processors.
    pub max_workers: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Calls job(job_data, i, worker) once for each i < count, on any threads, and returns when all jobs have returned:
    /// 0, or any other number, which fails the call with CALLBACK_FAILED. `worker` is below max_workers; no two jobs of
    /// one `run` have the same worker at the same time. `run` may be called from several threads at once, but never
    /// from inside a job. It runs on the thread that called the library with these options; zcodec_plan_supply and
    /// zcodec_writer_supply use those of their plan or writer. Jobs never wait for one another.
    pub run: Option<
        unsafe extern "C" fn(user_data: *mut c_void, job: zcodec_job_fn, job_data: *mut c_void, count: u32) -> i32,
    >,
}

type Run = unsafe extern "C" fn(*mut c_void, zcodec_job_fn, *mut c_void, u32) -> i32;

// SAFETY: sizes, integers, pointers and an optional function, in the layout of C.
unsafe impl CallerStruct for zcodec_executor {
    const NAME: &'static str = "zcodec_executor";
    const OLDEST_SIZE: usize = offset_of!(zcodec_executor, run) + size_of::<Option<Run>>();
    const MEMBERS: &'static [(usize, usize)] = members!(
        zcodec_executor: struct_size: usize, user_data: *mut c_void, max_workers: u32, reserved: u32,
        run: Option<Run>
    );
}

/// An executor that has been read.
#[derive(Debug)]
pub(super) struct HostExecutor {
    user_data: *mut c_void,
    max_workers: NonZeroUsize,
    run: Run,
}

// SAFETY: the header asks that `run` and `user_data` may be used from several threads at once.
unsafe impl Send for HostExecutor {}
// SAFETY: as above.
unsafe impl Sync for HostExecutor {}

impl HostExecutor {
    /// # Errors
    /// A member has an invalid value.
    pub(super) fn new(executor: &zcodec_executor) -> Result<Self> {
        if executor.reserved != 0 {
            return Err(Error::argument(format!("reserved of the executor is {}, expected 0", executor.reserved)));
        }
        let max_workers = NonZeroUsize::new(executor.max_workers as usize)
            .ok_or_else(|| Error::argument("max_workers of the executor is 0, expected at least 1"))?;
        let run = executor.run.ok_or_else(|| Error::new(Status::NullArgument, "run of the executor is NULL"))?;
        Ok(Self { user_data: executor.user_data, max_workers, run })
    }
}

/// Called by the host: `job_data` is a job.
unsafe extern "C" fn run_job(job_data: *mut c_void, _i: u32, _worker: u32) {
    // SAFETY: `HostExecutor::run` passed this pointer, and what it points to lives until all jobs have returned.
    let job = unsafe { *job_data.cast::<&(dyn Fn() + Sync)>() };
    job();
}

impl Executor for HostExecutor {
    fn max_workers(&self) -> NonZeroUsize {
        self.max_workers
    }

    fn run(&self, count: u32, job: &(dyn Fn() + Sync)) -> Result<()> {
        let mut job = job;
        let job_data = (&raw mut job).cast();
        // SAFETY: the header says what the function may do; the job lives until it returns.
        match unsafe { (self.run)(self.user_data, Some(run_job), job_data, count) } {
            0 => Ok(()),
            code => Err(Error::new(Status::CallbackFailed, format!("the executor returned {code}"))),
        }
    }
}
