//! Plans: one read of one stored object whose bytes the host fetches.

use super::call::{read_options, zcodec_call_options};
use super::caller_struct::CallerArray;
use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::index::zcodec_index;
use super::range::{known, zcodec_range};
use super::stage::{self, InUse, Staged};
use super::view::{read_box, read_target, zcodec_box, zcodec_view};
use crate::chain::{ByteRange, ReadPlan};
use crate::error::{Error, Result, Status};
use crate::memory::collect;
use std::ffi::c_void;

/// One read of one stored object, a chunk or a shard. Opaque. A plan says which byte ranges it needs, one stage at a
/// time; the host fetches them in any way and supplies them; the plan decodes each of them as soon as it is supplied.
/// Since 0.2.
#[derive(Debug)]
pub struct zcodec_plan {
    state: InUse<PlanState>,
}

#[derive(Debug)]
struct PlanState {
    plan: ReadPlan,
    ranges: Vec<zcodec_range>,
}

impl Staged for PlanState {
    const NAME: &'static str = "plan";

    fn next_stage(&mut self) -> Result<impl Iterator<Item = ByteRange>> {
        self.plan.next_stage()
    }

    fn end(&self) {
        self.plan.end();
    }

    fn ranges(&mut self) -> &mut Vec<zcodec_range> {
        &mut self.ranges
    }

    fn supply(&self, index: usize, bytes: &[u8]) -> Result<()> {
        self.plan.supply(index, bytes)
    }
}

/// Creates a plan that decodes box i of the chunk into view i, for each i < `count`. No two views may share a byte of
/// an element; they may interleave. `object_size` may be ZCODEC_SIZE_UNKNOWN; the range of an index at the end then
/// counts from the end. `index` is what zcodec_index_decode or zcodec_plan_index of an earlier plan gave, or NULL; with
/// it the plan does not ask for the index again. `options` may be NULL.
///
/// Boxes, views and options are copied; the memory of the views, call_data and the executor must stay valid until the
/// plan is freed. The chain and the index may be freed earlier. The plan uses the callbacks that the chain has now. On
/// success `*plan` is a handle that the caller frees with zcodec_plan_free; on failure it is NULL. INVALID_ARGUMENT and
/// UNSUPPORTED as for zcodec_decode_view; INVALID_ARGUMENT also if `index` belongs to another grid, UNSUPPORTED also if
/// there is an `index`, but the last codec of the chain is not sharding_indexed. CORRUPT_DATA: no chunk of the chain has
/// this size. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_plan_new(
    chain: *const zcodec_chain,
    options: *const zcodec_call_options,
    boxes: *const zcodec_box,
    views: *const zcodec_view,
    count: usize,
    object_size: u64,
    index: *const zcodec_index,
    plan: *mut *mut zcodec_plan,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (plan, chain, options) = unsafe {
            (ffi::out(plan, std::ptr::null_mut(), "plan")?, ffi::handle(chain, "chain")?, read_options(options)?)
        };
        // SAFETY: as above; the arrays are only read.
        let (boxes, views) = unsafe {
            (CallerArray::new(boxes.cast_mut(), count, "boxes")?, CallerArray::new(views.cast_mut(), count, "views")?)
        };
        chain.shape()?;
        let mut placed = Vec::new();
        placed.try_reserve_exact(count).map_err(|_| Error::out_of_memory())?;
        for position in 0..count {
            // SAFETY: as above; the memory of the view lives as long as the plan.
            placed.push(unsafe { read_placed_box(boxes.at(position), views.at(position), chain, position) }?);
        }
        // SAFETY: NULL or a live handle, says the header.
        let index = unsafe { index.as_ref() }.map(zcodec_index::share);
        let made = ReadPlan::new(chain.shared(), options, placed, known(object_size), index)?;
        *plan = ffi::make_handle(zcodec_plan { state: InUse::new(PlanState { plan: made, ranges: Vec::new() }) });
        Ok(())
    })
}

/// The box and the view at this position of their lists.
///
/// # Safety
/// They are as the header asks for, and the memory of the view outlives the object that gets the target.
unsafe fn read_placed_box(
    region: *const zcodec_box,
    view: *const zcodec_view,
    chain: &zcodec_chain,
    position: usize,
) -> Result<(Vec<u64>, crate::strided::Target<'static>)> {
    let of = |list: &str, error: Error| error.with_context(&format!("{list}[{position}]: "));
    // SAFETY: the same contract.
    let region = unsafe { read_box(region, chain) }.map_err(|error| of("boxes", error))?;
    // SAFETY: the same contract.
    let target = unsafe { read_target(view, &region.shape, chain) }.map_err(|error| of("views", error))?;
    Ok((region.start, target))
}

/// The ranges of the next stage, sorted by offset. `*count` is 0 when the views are complete. `*ranges` is valid until
/// the next call of this function, or until the plan is freed. INVALID_ARGUMENT: a range of the previous stage has not
/// been supplied, or an error has ended the plan. CORRUPT_DATA: the index names a range that cannot be, or an inner
/// chunk is missing and the chain has no fill value. Any failure except INVALID_ARGUMENT and NULL_ARGUMENT ends the
/// plan. No other thread may use the plan during this call. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_plan_next(
    plan: *mut zcodec_plan,
    ranges: *mut *const zcodec_range,
    count: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or a live handle, says the header.
    let state = unsafe { ffi::handle(plan.cast_const(), "plan") }.map(|plan| &plan.state);
    // SAFETY: the header asks the same of the caller.
    unsafe { stage::next(state, ranges, count, error) }
}

/// Supplies the bytes of range `i` of this stage, which are needed for this call only. They must not overlap the memory
/// of a view; this is not checked. Several threads may supply different ranges at once. When one of them fails, the
/// others may get INVALID_ARGUMENT, perhaps before that call returns: the other error is the cause.
///
/// INVALID_ARGUMENT: there is no range `i`, it was already supplied, or an error has ended the plan; the plan is
/// unchanged. CORRUPT_DATA: `size` is not the size of the range, or the bytes do not decode. Any failure except
/// INVALID_ARGUMENT and NULL_ARGUMENT ends the plan, which can then only be freed. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_plan_supply(
    plan: *mut zcodec_plan,
    i: usize,
    bytes: *const c_void,
    size: usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or a live handle, says the header.
    let state = unsafe { ffi::handle(plan.cast_const(), "plan") }.map(|plan| &plan.state);
    // SAFETY: the header asks the same of the caller.
    unsafe { stage::supply(state, i, bytes, size, error) }
}

/// Supplies all ranges of this stage, and decodes them on up to max_threads threads or by the executor. Range i has
/// `sizes[i]` bytes at `bytes[i]`. INVALID_ARGUMENT also after a zcodec_plan_supply of the same stage. Otherwise like
/// zcodec_plan_supply, but no other call may use the plan at the same time. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_plan_supply_all(
    plan: *mut zcodec_plan,
    bytes: *const *const c_void,
    sizes: *const usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let plan = unsafe { ffi::handle(plan.cast_const(), "plan") }?.state.shared()?;
        let count = plan.ranges.len();
        plan.plan.check()?;
        // SAFETY: as above: as many as the stage has ranges.
        let (bytes, sizes) = unsafe { (ffi::input(bytes, count, "bytes")?, ffi::input(sizes, count, "sizes")?) };
        let pieces = bytes.iter().zip(sizes).enumerate().map(|(index, (bytes, size))| {
            // SAFETY: as above.
            let piece = unsafe { ffi::input(bytes.cast::<u8>(), *size, "bytes") };
            piece.map_err(|error| error.with_context(&format!("range {index}: ")))
        });
        let pieces = collect(pieces).inspect_err(|error| {
            if error.status() == Status::OutOfMemory {
                plan.plan.end();
            }
        });
        plan.plan.supply_all(&pieces?)
    })
}

/// The index of the shard, for the host's cache. The caller frees `*index` with zcodec_index_free. If the chain has no
/// index, or a codec before the shard needs the whole of it, the call succeeds and `*index` is NULL. INVALID_ARGUMENT:
/// the index has not been supplied yet, or was not needed because every box is empty; or the plan has ended with an
/// error. Other threads may supply ranges during this call. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_plan_index(
    plan: *const zcodec_plan,
    index: *mut *mut zcodec_index,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (index, plan) = unsafe { (ffi::out(index, std::ptr::null_mut(), "index")?, ffi::handle(plan, "plan")?) };
        if let Some(known) = plan.state.shared()?.plan.index()? {
            *index = zcodec_index::into_handle(known);
        }
        Ok(())
    })
}

/// Frees a plan; no thread may be using it. NULL is fine. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_plan_free(plan: *mut zcodec_plan) {
    // SAFETY: NULL or a live handle that is not used again, says the header.
    unsafe { ffi::free_handle(plan) }
}
