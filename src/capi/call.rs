//! Encoding and decoding one chunk.

use super::buffer::zcodec_buffer;
use super::caller_struct::{self, CallerStruct, members};
use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::executor::{HostExecutor, zcodec_executor};
use super::ffi;
use crate::chain::{CallData, CallOptions, Chain};
use crate::error::{Error, Result};
use crate::parallel::Executor;
use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Flag of zcodec_call_options: store inner chunks of a shard even if every element is the fill value. Since 0.2.
pub const ZCODEC_CALL_STORE_EMPTY: u64 = 1;

/// Options of a call. Set all members to 0 first, then `struct_size`, then the ones you want.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zcodec_call_options {
    /// sizeof(zcodec_call_options), as the caller was compiled; later versions may append members.
    pub struct_size: usize,
    /// Passed to the callbacks of this call; the library never dereferences it.
    pub call_data: *mut c_void,
    /// The number of threads that may work on the call. 0 or 1: the calling thread only. Results do not depend on it,
    /// with one exception: if shards in shards are encoded without enough room, and an element is at fault as well,
    /// either error may be reported.
    pub max_threads: u32,
    /// Threads of the host, used instead of the library's own; `max_threads` is then ignored. May be NULL. Since 0.2.
    pub executor: *const zcodec_executor,
    /// ZCODEC_CALL_STORE_EMPTY or 0. Unknown flags are INVALID_ARGUMENT. Since 0.2.
    pub flags: u64,
}

// SAFETY: integers and pointers, in the layout of C; all zeros is a value.
unsafe impl CallerStruct for zcodec_call_options {
    const NAME: &'static str = "zcodec_call_options";
    const OLDEST_SIZE: usize = size_of::<usize>(); // as 0.1 had it: members at the end may always be missing
    const MEMBERS: &'static [(usize, usize)] = members!(zcodec_call_options: struct_size: usize, call_data: *mut c_void, max_threads: u32,
                 executor: *const zcodec_executor, flags: u64);
}

/// Reads as much of the options as the caller has.
///
/// # Safety
/// `options` is NULL, or begins with a `struct_size` and has that many readable bytes.
pub(super) unsafe fn read_options(options: *const zcodec_call_options) -> Result<CallOptions> {
    // SAFETY: the same contract.
    let Some(options) = (unsafe { caller_struct::read_optional(options) })? else {
        return Ok(CallOptions::default());
    };
    if options.flags & !ZCODEC_CALL_STORE_EMPTY != 0 {
        return Err(Error::argument(format!(
            "flags is {:#x}, but this version of the library knows only ZCODEC_CALL_STORE_EMPTY (1)",
            options.flags
        )));
    }
    // SAFETY: NULL, or an executor as the header asks for.
    let executor = unsafe { caller_struct::read_optional(options.executor) }?;
    let executor = executor.map(|executor| HostExecutor::new(&executor)).transpose()?;
    Ok(CallOptions {
        stores_empty: options.flags & ZCODEC_CALL_STORE_EMPTY != 0,
        executor: executor.map(|executor| Arc::new(executor) as Arc<dyn Executor>),
        call_data: CallData(options.call_data),
        max_threads: NonZeroUsize::new(options.max_threads as usize).unwrap_or(NonZeroUsize::MIN),
    })
}

/// Encoding or decoding, and what messages call the arguments.
struct Coding {
    into: fn(&Chain, &[u8], &mut [u8], &CallOptions) -> Result<usize>,
    to_vec: fn(&Chain, &[u8], &CallOptions) -> Result<Vec<u8>>,
    input: &'static str,
    output: &'static str,
    output_size: &'static str,
}

const ENCODE: Coding = Coding {
    into: Chain::encode_into,
    to_vec: Chain::encode_to_vec,
    input: "decoded",
    output: "encoded",
    output_size: "encoded_size",
};

const DECODE: Coding = Coding {
    into: Chain::decode_into,
    to_vec: Chain::decode_to_vec,
    input: "encoded",
    output: "decoded",
    output_size: "decoded_size",
};

impl Coding {
    /// Runs a chain into the caller's memory.
    ///
    /// # Safety
    /// The arguments are as the header asks for.
    unsafe fn run_into(
        &self,
        chain: *const zcodec_chain,
        options: *const zcodec_call_options,
        (input, input_size): (*const c_void, usize),
        (output, capacity): (*mut c_void, usize),
        output_size: *mut usize,
        error: *mut *mut zcodec_error,
    ) -> zcodec_status {
        // SAFETY: NULL or writable, says the header.
        let error = unsafe { ffi::optional_out(error) };
        ffi::guard(error, || {
            // SAFETY: the header asks of the caller what these conversions ask of us.
            let (output_size, chain, options) = unsafe {
                (ffi::out(output_size, 0, self.output_size)?, ffi::handle(chain, "chain")?, read_options(options)?)
            };
            ffi::check_overlap((input.cast(), input_size), (output.cast_const().cast(), capacity))?;
            // SAFETY: as above, and the two share no byte.
            let (input, output) = unsafe {
                (ffi::input(input.cast(), input_size, self.input)?, ffi::output(output.cast(), capacity, self.output)?)
            };
            let result = (self.into)(chain, input, output, &options);
            *output_size = ffi::reported_size(&result);
            result.map(drop)
        })
    }

    /// Runs a chain into memory of the library.
    ///
    /// # Safety
    /// The arguments are as the header asks for.
    unsafe fn run_to_buffer(
        &self,
        chain: *const zcodec_chain,
        options: *const zcodec_call_options,
        (input, input_size): (*const c_void, usize),
        output: *mut *mut zcodec_buffer,
        error: *mut *mut zcodec_error,
    ) -> zcodec_status {
        // SAFETY: NULL or writable, says the header.
        let error = unsafe { ffi::optional_out(error) };
        ffi::guard(error, || {
            // SAFETY: the header asks of the caller what these conversions ask of us.
            let (output, chain, options, input) = unsafe {
                (
                    ffi::out(output, std::ptr::null_mut(), self.output)?,
                    ffi::handle(chain, "chain")?,
                    read_options(options)?,
                    ffi::input(input.cast(), input_size, self.input)?,
                )
            };
            *output = zcodec_buffer::into_handle((self.to_vec)(chain, input, &options)?);
            Ok(())
        })
    }
}

/// Encodes one chunk into the caller's memory.
///
/// `decoded` holds the elements back to back, in C order and native byte order; for a chain of bytes->bytes codecs, any
/// bytes. On success `encoded` begins with the encoded chunk and `*encoded_size` is its size in bytes. The buffers may
/// have any alignment and must not overlap; NULL with size 0 is an empty buffer.
///
/// BUFFER_TOO_SMALL: `*encoded_size` is a capacity that suffices (zcodec_chain_encoded_bound gives one in advance), or
/// twice the capacity if a codec of the host does not say how much it needs. INVALID_ARGUMENT: `decoded_size` is not
/// the size that the chain expects, or the buffers overlap; nothing was written. OUT_OF_RANGE: a codec cannot represent
/// an element in the type that it converts to. UNSUPPORTED: the format of a codec has no chunks as large as this one,
/// such as one of 2 GiB for blosc. CALLBACK_FAILED: a padding callback failed, a codec of the host broke its rules, or
/// the executor failed. OUT_OF_MEMORY. After any failure the content of `encoded` is unspecified, and `*encoded_size`
/// is 0 except for BUFFER_TOO_SMALL.
///
/// Any number of threads may encode and decode with one chain at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_encode(
    chain: *const zcodec_chain,
    decoded: *const c_void,
    decoded_size: usize,
    encoded: *mut c_void,
    encoded_capacity: usize,
    encoded_size: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe {
        ENCODE.run_into(
            chain,
            std::ptr::null(),
            (decoded, decoded_size),
            (encoded, encoded_capacity),
            encoded_size,
            error,
        )
    }
}

/// Decodes one chunk into the caller's memory.
///
/// `encoded` is exactly one chunk. On success `decoded` begins with its elements back to back, in C order and native
/// byte order (for a chain of bytes->bytes codecs, with the bytes), and `*decoded_size` is their size in bytes. The
/// buffers may have any alignment and must not overlap; NULL with size 0 is an empty buffer.
///
/// BUFFER_TOO_SMALL: `*decoded_size` is the capacity needed, or one that suffices if the encoded bytes do not tell; for
/// an array, `decoded` was not written to. INVALID_ARGUMENT: the buffers overlap; nothing was written. CORRUPT_DATA:
/// these bytes cannot be the output of this chain, or a padding check rejected them. OUT_OF_RANGE: a codec cannot
/// represent an element in the type that it converts to. UNSUPPORTED: the chunk uses a feature of the format that this
/// build lacks, or is a block of N5 that lacks elements, and the chain has no fill value for them. CALLBACK_FAILED: a
/// codec of the host broke its rules, or the executor failed. OUT_OF_MEMORY. After any failure the content of `decoded`
/// is unspecified, and `*decoded_size` is 0 except for BUFFER_TOO_SMALL.
///
/// Any number of threads may encode and decode with one chain at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_decode(
    chain: *const zcodec_chain,
    encoded: *const c_void,
    encoded_size: usize,
    decoded: *mut c_void,
    decoded_capacity: usize,
    decoded_size: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe {
        DECODE.run_into(
            chain,
            std::ptr::null(),
            (encoded, encoded_size),
            (decoded, decoded_capacity),
            decoded_size,
            error,
        )
    }
}

/// zcodec_encode with options, such as data for the callbacks, or threads. `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_encode_with(
    chain: *const zcodec_chain,
    options: *const zcodec_call_options,
    decoded: *const c_void,
    decoded_size: usize,
    encoded: *mut c_void,
    encoded_capacity: usize,
    encoded_size: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe {
        ENCODE.run_into(chain, options, (decoded, decoded_size), (encoded, encoded_capacity), encoded_size, error)
    }
}

/// zcodec_decode with options, such as data for the callbacks, or threads. `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_decode_with(
    chain: *const zcodec_chain,
    options: *const zcodec_call_options,
    encoded: *const c_void,
    encoded_size: usize,
    decoded: *mut c_void,
    decoded_capacity: usize,
    decoded_size: *mut usize,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe {
        DECODE.run_into(chain, options, (encoded, encoded_size), (decoded, decoded_capacity), decoded_size, error)
    }
}

/// zcodec_encode into memory that the library allocates. On success `*encoded` is a buffer with exactly the encoded
/// chunk, which the caller frees with zcodec_buffer_free; on failure it is NULL. The statuses are those of
/// zcodec_encode except BUFFER_TOO_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_encode_to_buffer(
    chain: *const zcodec_chain,
    decoded: *const c_void,
    decoded_size: usize,
    encoded: *mut *mut zcodec_buffer,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe { ENCODE.run_to_buffer(chain, std::ptr::null(), (decoded, decoded_size), encoded, error) }
}

/// zcodec_encode_to_buffer with options, such as data for the callbacks, or threads. `options` may be NULL. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_encode_to_buffer_with(
    chain: *const zcodec_chain,
    options: *const zcodec_call_options,
    decoded: *const c_void,
    decoded_size: usize,
    encoded: *mut *mut zcodec_buffer,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe { ENCODE.run_to_buffer(chain, options, (decoded, decoded_size), encoded, error) }
}

/// zcodec_decode into memory that the library allocates. On success `*decoded` is a buffer with exactly the decoded
/// chunk, which the caller frees with zcodec_buffer_free; on failure it is NULL. The statuses are those of
/// zcodec_decode except BUFFER_TOO_SMALL. A chain of bytes->bytes codecs does not know the size in advance: its buffer
/// grows with the output, and only max_decoded_size of zcodec_chain_options limits it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_decode_to_buffer(
    chain: *const zcodec_chain,
    encoded: *const c_void,
    encoded_size: usize,
    decoded: *mut *mut zcodec_buffer,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe { DECODE.run_to_buffer(chain, std::ptr::null(), (encoded, encoded_size), decoded, error) }
}

/// zcodec_decode_to_buffer with options, such as data for the callbacks, or threads. `options` may be NULL. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_decode_to_buffer_with(
    chain: *const zcodec_chain,
    options: *const zcodec_call_options,
    encoded: *const c_void,
    encoded_size: usize,
    decoded: *mut *mut zcodec_buffer,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe { DECODE.run_to_buffer(chain, options, (encoded, encoded_size), decoded, error) }
}
