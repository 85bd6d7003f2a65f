//! The struct that describes a codec of the host, and the sink that its functions write text to. `host_codec` runs them.

use super::caller_struct::{CallerStruct, members};
use super::error::zcodec_status;
use super::ffi;
use crate::error::{Error, Result};
use std::ffi::{c_char, c_void};
use std::mem::offset_of;

/// Receives text from a callback. Opaque. Valid for the duration of the callback only. Since 0.2.
#[derive(Debug, Default)]
pub struct zcodec_sink {
    text: Vec<u8>,
    is_cut: bool,
}

impl zcodec_sink {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.text.try_reserve(bytes.len()).is_err() {
            self.is_cut = true;
            return Err(Error::out_of_memory());
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    /// The text that was written.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory): some of it was lost.
    pub(super) fn into_text(self) -> Result<Vec<u8>> {
        if self.is_cut { Err(Error::out_of_memory()) } else { Ok(self.text) }
    }

    /// The text that was written, for a message.
    pub(super) fn into_message(self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }
}

/// See [`zcodec_codec::bind`].
pub(super) type Bind = unsafe extern "C" fn(
    *mut c_void,
    *const c_char,
    usize,
    *const c_char,
    usize,
    *mut zcodec_sink,
    *mut zcodec_sink,
    *mut *mut c_void,
) -> i32;

/// See [`zcodec_codec::encode`] and [`zcodec_codec::decode`].
pub(super) type Code = unsafe extern "C" fn(
    *mut c_void,
    *mut c_void,
    *const c_void,
    usize,
    *mut c_void,
    usize,
    *mut usize,
    *mut zcodec_sink,
) -> i32;

/// See [`zcodec_codec::free_user_data`] and [`zcodec_codec::free_state`].
pub(super) type Free = unsafe extern "C" fn(*mut c_void);

/// Returned by `encode` and `decode` of a zcodec_codec when the output buffer is too small. Since 0.2.
pub const ZCODEC_CODEC_TOO_SMALL: i32 = 1;

/// A codec of the host. Set all members to 0 first, then `struct_size`, then the others. free_user_data, free_state and
/// encoded_bound may be NULL.
///
/// The functions run on the thread that does the work, before the call into the library returns, and never under a
/// lock. If several threads use a chain, they run in several threads at once, also with the same state; they must be
/// safe to call from every thread that uses or frees a chain with the codec. They may call the library, but not with
/// the plan or the writer of the call that runs them: such a call may fail with INVALID_ARGUMENT. They must return
/// normally: no longjmp, no exception through C frames. The pointers that they get are valid until they return. Since
/// 0.2.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zcodec_codec {
    /// sizeof(zcodec_codec), as the caller was compiled; later versions may append members.
    pub struct_size: usize,
    /// The name in metadata, UTF-8 and NUL-terminated. It is copied.
    pub name: *const c_char,
    /// The kind of the codec, a zcodec_kind.
    pub kind: i32,
    /// Must be 0.
    pub reserved: u32,
    /// Passed to `bind`; the library never dereferences it.
    pub user_data: *mut c_void,
    /// Called once on `user_data`, when the registry and everything that was created with the codec has been freed.
    pub free_user_data: Option<unsafe extern "C" fn(user_data: *mut c_void)>,
    /// Binds the codec to what enters on encode.
    ///
    /// `configuration` is the codec's configuration, a JSON object ("{}" if there is none). `input` describes what
    /// enters, in the form of zcodec_chain_output_json. Neither is NUL-terminated. The function writes to `output` what
    /// leaves, in the same form: {"data_type": .., "shape": [..], "fill_value": ..} if the kind is array->array;
    /// otherwise {"size": n} for bytes of a fixed size, or {"size": null}. It may set `*state`, which is NULL before
    /// and is passed to the other functions.
    ///
    /// Returns 0 on success. Any other number means that the chain cannot be created (INVALID_METADATA); `message` then
    /// gets the reason. An output that cannot be parsed is CALLBACK_FAILED. zcodec_chain_with_shape calls `bind` again,
    /// except for codecs inside a shard, whose input stays the same. Decoding calls it for each block of n5_default
    /// whose shape is not that of the chunk; such a refusal is CORRUPT_DATA.
    pub bind: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            configuration: *const c_char,
            configuration_size: usize,
            input: *const c_char,
            input_size: usize,
            output: *mut zcodec_sink,
            message: *mut zcodec_sink,
            state: *mut *mut c_void,
        ) -> i32,
    >,
    /// Called once on the state of each `bind` that returned 0, even if the chain could not be created.
    pub free_state: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// The most bytes that `decoded_size` bytes may encode to; UINT64_MAX if unknown. Not called if `bind` gave a size.
    pub encoded_bound: Option<unsafe extern "C" fn(state: *mut c_void, decoded_size: u64) -> u64>,
    /// Encodes a chunk. Elements lie back to back in C order and native byte order, at any alignment, on both sides.
    /// Those that enter lie in memory as this header says, whatever the caller passed: a bool is 0 or 1. `call_data`
    /// comes from the options of the call.
    ///
    /// Returns 0 after setting `*encoded_size` to the number of bytes written. Returns ZCODEC_CODEC_TOO_SMALL if
    /// `encoded` is too small, perhaps after setting `*encoded_size` to the capacity needed; otherwise the library
    /// assumes twice the capacity, at least 64. It then repeats the call with a larger buffer, or, if the buffer is the
    /// caller's, fails with BUFFER_TOO_SMALL. Any other number is OUT_OF_RANGE; `message` then gets the reason.
    ///
    /// The call fails with CALLBACK_FAILED if the size is not set, exceeds the capacity, or is not the one that `bind`
    /// gave, if the function needs more than `bind` or `encoded_bound` promised, or if it asks for a little more again
    /// and again.
    pub encode: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            call_data: *mut c_void,
            decoded: *const c_void,
            decoded_size: usize,
            encoded: *mut c_void,
            encoded_capacity: usize,
            encoded_size: *mut usize,
            message: *mut zcodec_sink,
        ) -> i32,
    >,
    /// Decodes a chunk: the inverse of `encode`, with the same rules, except for these. Any number except 0 and
    /// ZCODEC_CODEC_TOO_SMALL is CORRUPT_DATA. Where the decoded size is known, `decoded_capacity` is that size, and
    /// ZCODEC_CODEC_TOO_SMALL or a smaller size is CORRUPT_DATA, too: the encoded bytes may be the reason. A size that
    /// is not set or exceeds the capacity is CALLBACK_FAILED, as it is for `encode`. If a chain of bytes->bytes codecs
    /// gets ZCODEC_CODEC_TOO_SMALL without a size, it repeats the call with larger buffers of its own, to name the
    /// capacity with BUFFER_TOO_SMALL.
    pub decode: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            call_data: *mut c_void,
            encoded: *const c_void,
            encoded_size: usize,
            decoded: *mut c_void,
            decoded_capacity: usize,
            decoded_size: *mut usize,
            message: *mut zcodec_sink,
        ) -> i32,
    >,
}

// SAFETY: sizes, integers, pointers and optional functions, in the layout of C.
unsafe impl CallerStruct for zcodec_codec {
    const NAME: &'static str = "zcodec_codec";
    const OLDEST_SIZE: usize = offset_of!(zcodec_codec, decode) + size_of::<Option<Code>>();
    const MEMBERS: &'static [(usize, usize)] = members!(
        zcodec_codec: struct_size: usize, name: *const c_char, kind: i32, reserved: u32, user_data: *mut c_void,
        free_user_data: Option<Free>, bind: Option<Bind>, free_state: Option<Free>,
        encoded_bound: Option<unsafe extern "C" fn(*mut c_void, u64) -> u64>, encode: Option<Code>,
        decode: Option<Code>
    );
}

/// Appends UTF-8 text for the caller of a callback. Only the callback that received the sink may call this, on its own
/// thread, any number of times. In a message, invalid UTF-8 is replaced by U+FFFD. NULL_ARGUMENT, OUT_OF_MEMORY:
/// nothing was appended. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_sink_write(sink: *mut zcodec_sink, bytes: *const c_void, size: usize) -> zcodec_status {
    ffi::guard(None, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (sink, bytes) = unsafe { (ffi::handle_mut(sink, "sink")?, ffi::input(bytes.cast(), size, "bytes")?) };
        sink.write(bytes)
    })
}
