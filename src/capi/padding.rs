//! Dynamic padding: callbacks of the caller for `pad` and `offset`.

use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use crate::chain::{CallData, Chain, PaddingHook, PathStep};
use crate::error::Error;
use crate::float_environment::with_host_environment;
use crate::interface::BoundShard;
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// Fills padding[0..padding_size), which is all zeros, for one chunk. `chunk` is the input of the codec: the bytes that
/// get the padding. `user_data` is that of zcodec_chain_set_padding, `call_data` that of the call's options. Returns 0
/// on success; any other value aborts the encode with CALLBACK_FAILED and is quoted in the message.
///
/// Callbacks of the chain's own codecs run on the thread that called zcodec_encode, zcodec_decode, or their forms for
/// views and buffers, whatever threads help. Inside shards, and in tasks, plans and writers, they run on the thread that
/// does the work. They run before the call returns, and never under a lock. If several threads use a chain, they run in
/// several threads at once. They may call the library, but not with the plan or the writer of the call that runs them:
/// such a call may fail with INVALID_ARGUMENT. They must return normally: no longjmp, no exception through C frames. The
/// pointers that they get are valid until they return.
pub type zcodec_padding_fn = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        call_data: *mut c_void,
        chunk: *const u8,
        chunk_size: usize,
        padding: *mut u8,
        padding_size: usize,
    ) -> i32,
>;

/// Checks the bytes that decoding is about to remove. `chunk` is what remains. Returns 0 to accept; any other value
/// aborts the decode with CORRUPT_DATA and is quoted in the message. The rules of zcodec_padding_fn hold.
pub type zcodec_padding_check_fn = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        call_data: *mut c_void,
        chunk: *const u8,
        chunk_size: usize,
        padding: *const u8,
        padding_size: usize,
    ) -> i32,
>;

/// The callbacks of one codec and their data, which is freed with the last chain that holds them.
#[derive(Debug)]
struct Callbacks {
    generate: zcodec_padding_fn,
    check: zcodec_padding_check_fn,
    user_data: *mut c_void,
    free_user_data: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: the header asks that the functions and `user_data` may be used from every thread that uses the chain, and
// that the chain may be freed in any thread.
unsafe impl Send for Callbacks {}
// SAFETY: as above.
unsafe impl Sync for Callbacks {}

impl Drop for Callbacks {
    fn drop(&mut self) {
        if let Some(free) = self.free_user_data {
            // SAFETY: the caller gave this function for this pointer, and it is called once.
            with_host_environment(|| unsafe { free(self.user_data) });
        }
    }
}

impl PaddingHook for Callbacks {
    fn generates(&self) -> bool {
        self.generate.is_some()
    }

    fn checks(&self) -> bool {
        self.check.is_some()
    }

    fn generate(&self, call_data: CallData, chunk: &[u8], padding: &mut [u8]) -> Result<(), i32> {
        let Some(generate) = self.generate else { return Ok(()) };
        // SAFETY: the slices are passed with their own lengths; the header says what the function may do.
        let code = with_host_environment(|| unsafe {
            generate(self.user_data, call_data.0, chunk.as_ptr(), chunk.len(), padding.as_mut_ptr(), padding.len())
        });
        if code == 0 { Ok(()) } else { Err(code) }
    }

    fn check(&self, call_data: CallData, chunk: &[u8], padding: &[u8]) -> Result<(), i32> {
        let Some(check) = self.check else { return Ok(()) };
        // SAFETY: the slices are passed with their own lengths; the header says what the function may do.
        let code = with_host_environment(|| unsafe {
            check(self.user_data, call_data.0, chunk.as_ptr(), chunk.len(), padding.as_ptr(), padding.len())
        });
        if code == 0 { Ok(()) } else { Err(code) }
    }
}

/// Sets callbacks that compute the padding of a `pad` or `offset` codec for each chunk, or check it on decode, or both.
///
/// `codec_index` counts from 0 in the chain's list of codecs. Without `generate` the configured bytes are written;
/// without `check` decoding checks nothing; with neither the codec again does what its metadata says. Both get
/// `user_data`. `free_user_data` (may be NULL) is called on it once, when nothing uses the callbacks any more: no
/// chain, no chain that zcodec_chain_with_shape or zcodec_chain_inner made from it, no plan and no writer. Replacing
/// the callbacks gives up this chain's share only; if it was the last, this call frees their data after it has set the
/// new ones. If this call fails, `free_user_data` is not called: the caller still owns `user_data`.
///
/// Both functions and `user_data` must be safe to use from every thread that uses the chain. No other thread may use
/// the chain during this call. INVALID_ARGUMENT: there is no pad or offset codec at this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_set_padding(
    chain: *mut zcodec_chain,
    codec_index: usize,
    generate: zcodec_padding_fn,
    check: zcodec_padding_check_fn,
    user_data: *mut c_void,
    free_user_data: Option<unsafe extern "C" fn(user_data: *mut c_void)>,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: NULL or a live handle that nobody else uses now, says the header.
        let chain = unsafe { ffi::handle_mut(chain, "chain") }?;
        let callbacks = Callbacks { generate, check, user_data, free_user_data };
        let replaced = set(chain, &[(None, codec_index)], callbacks);
        replaced.map(drop).map_err(|error| error.with_context(&format!("codec_index is {codec_index}, but ")))
    })
}

/// zcodec_chain_set_padding for any codec, also one inside sharding_indexed, its index, n5_default or conditional.
/// `path` is a NUL-terminated JSON Pointer (RFC 6901) into the codecs, such as "/2", "/0/configuration/codecs/1" or
/// "/0/configuration/index_codecs/1", as zcodec_error_path gives it; those in conditional and in an index since 0.2.4.
/// Callbacks inside shards run on the thread that codes the inner chunk or the index. Those inside conditional also run
/// for chunks that are then stored without its codecs. A check may run more than once for a chunk. Otherwise like
/// zcodec_chain_set_padding. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_set_padding_at(
    chain: *mut zcodec_chain,
    path: *const c_char,
    generate: zcodec_padding_fn,
    check: zcodec_padding_check_fn,
    user_data: *mut c_void,
    free_user_data: Option<unsafe extern "C" fn(user_data: *mut c_void)>,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: NULL or a live handle that nobody else uses now, says the header.
        let chain = unsafe { ffi::handle_mut(chain, "chain") }?;
        // SAFETY: NULL or NUL-terminated, says the header.
        let path = unsafe { ffi::text(path, "path") }?;
        let steps = parse_path(path)?;
        let replaced = set(chain, &steps, Callbacks { generate, check, user_data, free_user_data });
        replaced.map(drop).map_err(|error| error.with_context(&format!("path is {path:?}, but ")))
    })
}

/// Sets the callbacks, and returns those that were there. If that fails, the new ones are not freed: `user_data` still
/// belongs to the caller. Drop the old ones only when nothing borrows the chain: freeing their data may call the host,
/// which may use the chain.
fn set(chain: &mut Chain, path: &[PathStep], callbacks: Callbacks) -> crate::Result<Option<Arc<dyn PaddingHook>>> {
    match chain.check_padding_at(path) {
        Ok(()) => chain.set_padding_hook_at(path, Some(Arc::new(callbacks))),
        Err(error) => {
            std::mem::forget(callbacks);
            Err(error)
        }
    }
}

/// Parses a JSON Pointer into steps, outermost first: the member of the outer codec that holds a list of codecs, and
/// the index of a codec in that list.
fn parse_path(path: &str) -> crate::Result<Vec<PathStep>> {
    let wrong =
        || Error::argument(format!("path is {path:?}, expected one such as \"/0/configuration/codecs/1\" or \"/2\""));
    let mut parts = path.strip_prefix('/').ok_or_else(wrong)?.split('/');
    let mut steps = Vec::new();
    let mut list = None;
    while let Some(index) = parts.next() {
        let index = index.parse().ok().filter(|number: &usize| number.to_string() == index).ok_or_else(wrong)?;
        steps.push((list, index));
        match (parts.next(), parts.next()) {
            (None, None) => return Ok(steps),
            (Some("configuration"), Some(member)) => list = Some(BoundShard::list(member).ok_or_else(wrong)?),
            _ => return Err(wrong()),
        }
    }
    Err(wrong())
}
