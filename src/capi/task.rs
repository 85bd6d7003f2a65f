//! Many chunks in one call.

use super::call::{read_options, zcodec_call_options};
use super::caller_struct::{CallerArray, CallerStruct, members};
use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::view::{read_box, read_source, read_target, zcodec_box, zcodec_view};
use crate::chain::{CallData, CallOptions, Chain};
use crate::error::{Error, Result};
use crate::interface::Direction;
use crate::memory;
use crate::parallel::{divides_by_items, worth_using};
use crate::strided::{Source, Target};
use std::ffi::c_void;
use std::mem::offset_of;
use std::num::NonZeroUsize;

/// Flag of zcodec_task for decoding: the chunk does not exist; fill its view with the fill value. Since 0.2.
pub const ZCODEC_TASK_MISSING: u32 = 1;

/// One of many chunks. Set all members to 0 first, then `struct_size`, then the ones you want. Since 0.2.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zcodec_task {
    /// sizeof(zcodec_task), as the caller was compiled; later versions may append members.
    pub struct_size: usize,
    /// The chain of this chunk.
    pub chain: *const zcodec_chain,
    /// Passed to the callbacks of this task.
    pub call_data: *mut c_void,
    /// Decode: the encoded chunk.
    pub encoded: *const c_void,
    /// Decode: the size of `encoded`. Encode: a result, as in zcodec_encode.
    pub encoded_size: usize,
    /// Encode: where the encoded chunk goes.
    pub encoded_to: *mut c_void,
    /// Encode: the bytes that there is room for.
    pub encoded_capacity: usize,
    /// The box of the chunk. NULL: all of it.
    pub r#box: *const zcodec_box,
    /// Where the elements of the box lie.
    pub view: *const zcodec_view,
    /// ZCODEC_TASK_MISSING, or 0.
    pub flags: u32,
    /// A result: the zcodec_status of this task.
    pub status: i32,
    /// A result: why the task failed, or NULL. The caller frees every error.
    pub error: *mut zcodec_error,
}

// SAFETY: sizes, integers and pointers, in the layout of C.
unsafe impl CallerStruct for zcodec_task {
    const NAME: &'static str = "zcodec_task";
    const OLDEST_SIZE: usize = offset_of!(zcodec_task, error) + size_of::<*mut zcodec_error>();
    const MEMBERS: &'static [(usize, usize)] = members!(
        zcodec_task: struct_size: usize, chain: *const zcodec_chain, call_data: *mut c_void, encoded: *const c_void,
        encoded_size: usize, encoded_to: *mut c_void, encoded_capacity: usize, r#box: *const zcodec_box,
        view: *const zcodec_view, flags: u32, status: i32, error: *mut zcodec_error
    );
}

/// A task that has been read.
struct Work<'a> {
    chain: &'a Chain,
    call_data: CallData,
    start: Vec<u64>,
    data: Data<'a>,
}

enum Data<'a> {
    Missing(Target<'a>),
    Decode(&'a [u8], Target<'a>),
    Encode(Source<'a>, &'a mut [u8]),
}

impl Work<'_> {
    /// Does the work; returns the size of what was encoded.
    fn run(self, options: &CallOptions) -> Result<usize> {
        let options = CallOptions { call_data: self.call_data, ..options.clone() };
        match self.data {
            Data::Missing(target) => self.chain.fill_box(&self.start, target).map(|()| 0),
            Data::Decode(encoded, target) => self.chain.decode_view(encoded, &self.start, target, &options).map(|()| 0),
            Data::Encode(source, encoded) => self.chain.encode_view(&self.start, source, encoded, &options),
        }
    }

    /// The size of its elements in bytes.
    fn size(&self) -> usize {
        let layout = match &self.data {
            Data::Missing(target) | Data::Decode(_, target) => target.layout(),
            Data::Encode(source, _) => source.layout(),
        };
        // The elements of a source may share bytes, so that their size may exceed memory.
        usize::try_from(layout.size()).unwrap_or(usize::MAX)
    }
}

/// Reads a task.
///
/// # Safety
/// Its members are as the header asks for, during all of `'a`.
unsafe fn read_work<'a>(task: &zcodec_task, direction: Direction) -> Result<Work<'a>> {
    let is_missing = task.flags & ZCODEC_TASK_MISSING != 0;
    if task.flags & !ZCODEC_TASK_MISSING != 0 || (is_missing && direction == Direction::Encode) {
        return Err(Error::argument(format!(
            "flags is {:#x}, expected 0, or ZCODEC_TASK_MISSING for decoding",
            task.flags
        )));
    }
    // SAFETY: the same contract.
    let chain: &'a zcodec_chain = unsafe { ffi::handle(task.chain, "chain") }?;
    // SAFETY: the same contract.
    let part = unsafe { read_box(task.r#box, chain) }?;
    // SAFETY: the header asks of the caller what these conversions ask of us, and what is written is apart from what is
    // read.
    let data = unsafe {
        match direction {
            Direction::Encode => {
                let source = read_source(task.view, &part.shape, chain)?;
                if source.overlaps(task.encoded_to.cast_const().cast(), task.encoded_capacity) {
                    return Err(ffi::overlap());
                }
                Data::Encode(source, ffi::output(task.encoded_to.cast(), task.encoded_capacity, "encoded_to")?)
            }
            Direction::Decode if is_missing => Data::Missing(read_target(task.view, &part.shape, chain)?),
            Direction::Decode => {
                let target = read_target(task.view, &part.shape, chain)?;
                if target.overlaps(task.encoded.cast(), task.encoded_size) {
                    return Err(ffi::overlap());
                }
                Data::Decode(ffi::input(task.encoded.cast(), task.encoded_size, "encoded")?, target)
            }
        }
    };
    Ok(Work { chain, call_data: CallData(task.call_data), start: part.start, data })
}

/// Runs all tasks, even if some fail.
///
/// # Safety
/// As the header asks of the callers.
unsafe fn run_tasks(
    tasks: *mut zcodec_task,
    count: usize,
    options: *const zcodec_call_options,
    direction: Direction,
) -> Result<()> {
    // SAFETY: the same contract.
    let (options, tasks) = unsafe { (read_options(options)?, CallerArray::new(tasks, count, "tasks")?) };
    for index in 0..count {
        // SAFETY: the same contract.
        unsafe { tasks.read(index) }.map_err(|error| error.with_context(&format!("tasks[{index}]: ")))?;
    }
    for index in 0..count {
        // The status if a panic ends the call.
        let (status, error) = (zcodec_status::ZCODEC_STATUS_INTERNAL, std::ptr::null_mut());
        // SAFETY: the same contract.
        unsafe { write_members(tasks.at(index), direction, status, error, 0) };
    }
    // SAFETY: the same contract.
    let results = unsafe { task_results(&tasks, &options, direction) };
    let mut first = Ok(());
    for index in 0..count {
        // An error that is not of one task is that of each: what the threads did is not known.
        let result = results.as_ref().map_or_else(Err, |results| results[index].as_ref());
        let (status, error, size) = match result {
            Ok(size) => (zcodec_status::ZCODEC_STATUS_OK, std::ptr::null_mut(), *size),
            Err(error) => {
                (error.status().into(), zcodec_error::into_handle(error), error.needed_capacity().unwrap_or(0))
            }
        };
        // SAFETY: the same contract.
        unsafe { write_members(tasks.at(index), direction, status, error, size) };
        first = first.and(result.map(drop).map_err(Error::clone));
    }
    first
}

/// The result of each task: the size of what was encoded.
///
/// # Errors
/// The executor's, and no memory for the list.
///
/// # Safety
/// As the header asks of the callers.
unsafe fn task_results(
    tasks: &CallerArray<zcodec_task>,
    options: &CallOptions,
    direction: Direction,
) -> Result<Vec<Result<usize>>> {
    let count = tasks.count();
    let mut works = Vec::new();
    works.try_reserve_exact(count).map_err(|_| Error::out_of_memory())?;
    for index in 0..count {
        // SAFETY: the same contract.
        works.push(unsafe { tasks.read(index).and_then(|task| read_work(&task, direction)) });
    }
    let size = works.iter().flatten().fold(0_usize, |size, work| size.saturating_add(work.size()));
    let workers = options.workers().count_for(size);
    let run = |work: Result<Work<'_>>, options: &CallOptions| work.and_then(|work| work.run(options));
    let large = works.iter().flatten().filter(|work| worth_using(work.size()).get() > 1);
    let part_count = large.map(|work| work.chain.part_count(direction)).min().unwrap_or(1);
    if !divides_by_items(workers, count as u64, part_count) {
        // Threads share the parts of each task.
        return memory::collect(works.into_iter().map(|work| Ok(run(work, options))));
    }
    let single = options.single_threaded();
    let workers = NonZeroUsize::new(count).map_or(workers, |count| count.min(workers));
    options.workers().map(workers, works.into_iter(), |work| Ok(run(work, &single)))
}

/// Writes the results of a task.
///
/// # Safety
/// `task` points to a task of the caller that can be written.
unsafe fn write_members(
    task: *mut zcodec_task,
    direction: Direction,
    status: zcodec_status,
    error: *mut zcodec_error,
    encoded_size: usize,
) {
    // SAFETY: see above; members of a struct that the caller has whole.
    unsafe {
        (&raw mut (*task).status).write(status as i32);
        (&raw mut (*task).error).write(error);
        if direction == Direction::Encode {
            (&raw mut (*task).encoded_size).write(encoded_size);
        }
    }
}

/// Decodes many chunks, each as zcodec_decode_view would. `options` may be NULL; its call_data is ignored.
///
/// Runs all tasks, even if some fail. Sets `status` and `error` of each task, and returns the status of the first task
/// that failed, otherwise OK. Threads share the tasks; if there are more threads than tasks, and the codecs can divide
/// a chunk, they share the parts of one task after the other. No task may write a byte, of an element of its view or of
/// its `encoded_to`, that another task reads or writes, which is not checked; views may interleave. No other thread may
/// use the tasks during this call. The caller frees the error of each task. If the executor fails, CALLBACK_FAILED is
/// the status of every task that it was running: of all tasks if the threads share them, of one if they share its parts.
/// OUT_OF_MEMORY for the list of results is the status of every task.
///
/// INVALID_ARGUMENT or NULL_ARGUMENT with nothing written, so that `status` and `error` are as before the call: `tasks`
/// is NULL, or a struct_size, the options or their executor are invalid. A caller that uses the structs again sets both
/// to 0 before each call. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_decode_tasks(
    tasks: *mut zcodec_task,
    count: usize,
    options: *const zcodec_call_options,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    ffi::guard(None, || unsafe { run_tasks(tasks, count, options, Direction::Decode) })
}

/// Encodes many chunks, each as zcodec_encode_view would, into `encoded_to`. Otherwise like zcodec_decode_tasks. Since
/// 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_encode_tasks(
    tasks: *mut zcodec_task,
    count: usize,
    options: *const zcodec_call_options,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    ffi::guard(None, || unsafe { run_tasks(tasks, count, options, Direction::Encode) })
}
