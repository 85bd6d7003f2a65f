//! Codecs of the host, and what chains with them are made with. `host_codec` has what they do.

use super::caller_struct::{self, CallerStruct, members};
use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::host_codec::Host;
use crate::chain::{Chain, ChainOptions};
use crate::codec;
use crate::error::{Error, Result, Status};
use crate::interface::Registry;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// The built-in codecs, and those that were added. Opaque. Several threads may make chains with it at once, but not while
/// one of them adds a codec.
#[derive(Debug)]
pub struct zcodec_registry(Arc<Registry>);

/// Takes text from a callback. Opaque. It lives for the duration of the callback only.
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

    /// What was written.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`]: not all of it is here.
    pub(super) fn into_text(self) -> Result<Vec<u8>> {
        if self.is_cut { Err(Error::out_of_memory()) } else { Ok(self.text) }
    }

    /// What was written, for people.
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

/// What `encode` and `decode` of a zcodec_codec return if they need more room. Since 0.2.
pub const ZCODEC_CODEC_TOO_SMALL: i32 = 1;

/// A codec of the host. Set all members to 0 first, then `struct_size`, then the others; free_user_data, free_state and
/// encoded_bound may be NULL.
///
/// The functions run on the thread that does the work, before the call of the library returns, and never under a lock; a
/// chain that is used by several threads runs them in several threads at once, also on the same state. They may call the
/// library. They must return normally: no longjmp, no exception through C frames. What the pointers point to is theirs
/// for the duration of the call only. They must be fit for every thread that uses or frees a chain with the codec.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zcodec_codec {
    /// sizeof(zcodec_codec) of the caller: lets later versions grow it.
    pub struct_size: usize,
    /// The name in metadata: UTF-8, NUL-terminated. It is copied.
    pub name: *const c_char,
    /// What it takes and gives: a zcodec_kind.
    pub kind: i32,
    /// 0.
    pub reserved: u32,
    /// Handed to `bind`, and never followed.
    pub user_data: *mut c_void,
    /// Called on `user_data` once, when the registry and all that was made with the codec are gone.
    pub free_user_data: Option<unsafe extern "C" fn(user_data: *mut c_void)>,
    /// Binds the codec to what enters on encode.
    ///
    /// `configuration` is the codec's, a JSON object ("{}" if there is none); `input` is what enters, as
    /// zcodec_chain_output_json writes it. Neither is NUL-terminated. What leaves goes to `output` in the same form: an
    /// array, {"data_type": .., "shape": [..], "fill_value": ..}, if array->array is the kind; otherwise {"size": n} for
    /// bytes of a fixed size, or {"size": null}. `*state`, NULL before, is handed to the other functions.
    ///
    /// Returns 0; or any other number, and why in `message`: the chain cannot be made, INVALID_METADATA. An output that
    /// cannot be read is CALLBACK_FAILED. zcodec_chain_with_shape binds again.
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
    /// Called once for each `bind` that returned 0, on what it made, whether the chain came about or not.
    pub free_state: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// The most bytes that encoding makes of this many; UINT64_MAX: not known. It is not asked where `bind` said the size.
    pub encoded_bound: Option<unsafe extern "C" fn(state: *mut c_void, decoded_size: u64) -> u64>,
    /// Encodes a chunk. Arrays lie back to back in C order and native byte order, at any alignment, on either side.
    /// `call_data` is that of the call's options.
    ///
    /// Returns 0 and the size of what was written. ZCODEC_CODEC_TOO_SMALL: `encoded` is too small; `*encoded_size` may say
    /// what would do, otherwise it is taken to be twice as much. The call is then repeated with more room; if it is the
    /// caller's room that is too small, BUFFER_TOO_SMALL. Any other number, and why in `message`: OUT_OF_RANGE.
    ///
    /// CALLBACK_FAILED: the size is larger than the capacity, or not what `bind` said; more room is needed than `bind` or
    /// `encoded_bound` said; or it is asked for without end.
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
    /// Decodes a chunk: `encode` the other way round. Any other number than 0 and ZCODEC_CODEC_TOO_SMALL is CORRUPT_DATA;
    /// so is ZCODEC_CODEC_TOO_SMALL, or another size, where the decoded size is known: `decoded_capacity` is then that.
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
    const OLDEST_SIZE: usize = size_of::<Self>();
    const MEMBERS: &'static [(usize, usize)] = members!(
        zcodec_codec: struct_size: usize, name: *const c_char, kind: i32, reserved: u32, user_data: *mut c_void,
        free_user_data: Option<Free>, bind: Option<Bind>, free_state: Option<Free>,
        encoded_bound: Option<unsafe extern "C" fn(*mut c_void, u64) -> u64>, encode: Option<Code>,
        decode: Option<Code>
    );
}

/// What a chain is made with. Set all members to 0 first, then `struct_size`, then what is wanted.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zcodec_chain_options {
    /// sizeof(zcodec_chain_options) of the caller: lets later versions grow it.
    pub struct_size: usize,
    /// The codecs. NULL: the built-in ones.
    pub registry: *const zcodec_registry,
    /// The most bytes that a chunk may decode to. Metadata that asks for more is UNSUPPORTED, also that of
    /// zcodec_chain_with_shape; a chunk of bytes->bytes codecs that decodes to more is CORRUPT_DATA. 0: no limit.
    pub max_decoded_size: u64,
}

// SAFETY: a size, a pointer and an integer, in the layout of C.
unsafe impl CallerStruct for zcodec_chain_options {
    const NAME: &'static str = "zcodec_chain_options";
    const OLDEST_SIZE: usize = size_of::<Self>();
    const MEMBERS: &'static [(usize, usize)] = members!(
        zcodec_chain_options: struct_size: usize, registry: *const zcodec_registry, max_decoded_size: u64
    );
}

/// Reads the options of a chain.
///
/// # Safety
/// `options` is NULL, or begins with a `struct_size` and has as many readable bytes; its registry is NULL or a live one.
unsafe fn read_chain_options(options: *const zcodec_chain_options) -> Result<ChainOptions> {
    // SAFETY: the same contract.
    let Some(options) = (unsafe { caller_struct::read_optional(options) })? else {
        return Ok(ChainOptions::default());
    };
    // SAFETY: NULL or a live registry.
    let registry = unsafe { options.registry.as_ref() };
    Ok(ChainOptions {
        registry: registry.map_or_else(codec::built_in, |registry| Arc::clone(&registry.0)),
        max_decoded_size: Some(options.max_decoded_size).filter(|size| *size != 0),
    })
}

/// Adds to the text of a callback; several calls write one text. OUT_OF_MEMORY: nothing was added. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_sink_write(sink: *mut zcodec_sink, bytes: *const c_void, size: usize) -> zcodec_status {
    ffi::guard(None, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (sink, bytes) = unsafe { (ffi::handle_mut(sink, "sink")?, ffi::input(bytes.cast(), size, "bytes")?) };
        sink.write(bytes)
    })
}

/// Makes a registry of the built-in codecs, to which codecs of the host can be added. On success `*registry` is a handle
/// that the caller frees with zcodec_registry_free; on failure it is NULL. `error` may be NULL. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_registry_new(
    registry: *mut *mut zcodec_registry,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what this conversion asks of us.
        let registry = unsafe { ffi::out(registry, std::ptr::null_mut(), "registry") }?;
        *registry = Box::into_raw(Box::new(zcodec_registry(codec::built_in())));
        Ok(())
    })
}

/// Adds a codec of the host. `codec` is needed for the call only; the functions and `user_data` are kept. If this call
/// fails, `free_user_data` is not called: `user_data` stays the caller's.
///
/// No other thread may use the registry during this call. INVALID_ARGUMENT: the name is empty or taken, a function is
/// missing, or `kind` is none. `error` may be NULL. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_registry_add(
    registry: *mut zcodec_registry,
    codec: *const zcodec_codec,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (registry, codec) = unsafe { (ffi::handle_mut(registry, "registry")?, caller_struct::read(codec)?) };
        if codec.name.is_null() {
            return Err(Error::new(Status::NullArgument, "the name of the codec is NULL"));
        }
        // SAFETY: not NULL; NUL-terminated, says the header.
        let name = unsafe { CStr::from_ptr(codec.name) }.to_str();
        let name = name.map_err(|_| Error::argument("the name of the codec is not UTF-8"))?;
        registry.0.check_name(name)?;
        // From here on nothing fails: what frees `user_data` is made.
        let host = Host::new(&codec)?;
        Arc::make_mut(&mut registry.0).add(name, move |configuration, _| Ok(host.codec(configuration)))
    })
}

/// Frees a registry; no thread may be using it. NULL is fine. Chains keep what they use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_registry_free(registry: *mut zcodec_registry) {
    if !registry.is_null() {
        // SAFETY: it came from `zcodec_registry_new`, and the caller frees it once.
        let registry = unsafe { Box::from_raw(registry) };
        ffi::guard(None, || {
            drop(registry);
            Ok(())
        });
    }
}

/// zcodec_chain_new with options: codecs of the host, a limit. `options` may be NULL. UNSUPPORTED also for a chunk that is
/// larger than `max_decoded_size`. CALLBACK_FAILED: a codec of the host did what it must not. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_new_with(
    options: *const zcodec_chain_options,
    codecs_json: *const c_char,
    codecs_json_size: usize,
    input_json: *const c_char,
    input_json_size: usize,
    chain: *mut *mut zcodec_chain,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (chain, options, codecs, input) = unsafe {
            (
                ffi::out(chain, std::ptr::null_mut(), "chain")?,
                read_chain_options(options)?,
                ffi::input(codecs_json.cast(), codecs_json_size, "codecs_json")?,
                ffi::input(input_json.cast(), input_json_size, "input_json")?,
            )
        };
        let input = (!input_json.is_null()).then_some(input);
        *chain = zcodec_chain::into_handle(Arc::new(Chain::with_options(&options, codecs, input)?));
        Ok(())
    })
}

/// zcodec_chain_from_zarr_json with options, as zcodec_chain_new_with has them. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_from_zarr_json_with(
    options: *const zcodec_chain_options,
    zarr_json: *const c_char,
    zarr_json_size: usize,
    chain: *mut *mut zcodec_chain,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (chain, options, zarr_json) = unsafe {
            (
                ffi::out(chain, std::ptr::null_mut(), "chain")?,
                read_chain_options(options)?,
                ffi::input(zarr_json.cast(), zarr_json_size, "zarr_json")?,
            )
        };
        *chain = zcodec_chain::into_handle(Arc::new(Chain::from_zarr_json_with(&options, zarr_json)?));
        Ok(())
    })
}
