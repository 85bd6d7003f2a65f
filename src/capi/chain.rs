//! Creating and freeing chains.

use super::caller_struct::{self, CallerStruct, members};
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::registry::zcodec_registry;
use crate::chain::{Chain, ChainOptions};
use crate::codec;
use crate::error::Result;
use std::ffi::c_char;
use std::mem::offset_of;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A contiguous run of Zarr v3 codecs, bound to what enters it on encode. Opaque. Once its callbacks are set it never
/// changes, and any number of threads may use it at the same time.
#[derive(Debug)]
pub struct zcodec_chain(Arc<Chain>);

impl zcodec_chain {
    /// A handle that the caller of the library frees.
    pub(super) fn into_handle(chain: Arc<Chain>) -> *mut Self {
        ffi::make_handle(Self(chain))
    }

    /// The chain itself, for objects that outlive the handle.
    pub(super) fn shared(&self) -> &Arc<Chain> {
        &self.0
    }
}

impl Deref for zcodec_chain {
    type Target = Chain;

    fn deref(&self) -> &Chain {
        &self.0
    }
}

impl DerefMut for zcodec_chain {
    /// Copies the chain if something else still uses it, such as a plan, which then keeps the unchanged one.
    fn deref_mut(&mut self) -> &mut Chain {
        Arc::make_mut(&mut self.0)
    }
}

/// Options for creating a chain. Set all members to 0 first, then `struct_size`, then the ones you want. Since 0.2.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zcodec_chain_options {
    /// sizeof(zcodec_chain_options), as the caller was compiled; later versions may append members.
    pub struct_size: usize,
    /// The codecs that the chain may use. NULL: the built-in ones.
    pub registry: *const zcodec_registry,
    /// The most bytes that a chunk may decode to; 0: no limit. Metadata that asks for more is UNSUPPORTED, also in
    /// zcodec_chain_with_shape. A chunk of bytes->bytes codecs that decodes to more is CORRUPT_DATA.
    pub max_decoded_size: u64,
}

// SAFETY: integers and a pointer, in the layout of C; all zeros is a value.
unsafe impl CallerStruct for zcodec_chain_options {
    const NAME: &'static str = "zcodec_chain_options";
    const OLDEST_SIZE: usize = offset_of!(zcodec_chain_options, max_decoded_size) + size_of::<u64>();
    const MEMBERS: &'static [(usize, usize)] = members!(
        zcodec_chain_options: struct_size: usize, registry: *const zcodec_registry, max_decoded_size: u64
    );
}

/// Reads the options of a chain.
///
/// # Safety
/// `options` is NULL, or begins with a `struct_size` and has that many readable bytes; its registry is NULL or live.
unsafe fn read_chain_options(options: *const zcodec_chain_options) -> Result<ChainOptions> {
    // SAFETY: the same contract.
    let Some(options) = (unsafe { caller_struct::read_optional(options) })? else {
        return Ok(ChainOptions::default());
    };
    // SAFETY: NULL or a live registry.
    let registry = unsafe { options.registry.as_ref() };
    Ok(ChainOptions {
        registry: registry.map_or_else(codec::built_in, |registry| registry.shared()),
        max_decoded_size: Some(options.max_decoded_size).filter(|size| *size != 0),
    })
}

/// Creates a chain from a list of codecs.
///
/// `codecs_json` is a JSON array of Zarr v3 codec metadata objects or name strings. `input_json` describes what enters
/// on encode: {"data_type": .., "shape": [..], "fill_value": ..}; it is NULL with size 0 for a chain of bytes->bytes
/// codecs. Both are UTF-8, have their sizes in bytes, and need not be NUL-terminated; the chain keeps no reference to
/// them. "fill_value" may be left out since 0.2. What needs it is then UNSUPPORTED: zcodec_fill_view,
/// zcodec_is_fill_view, ZCODEC_TASK_MISSING, zcodec_encode_view of a part, new inner chunks of which only parts were
/// put, and blocks of n5_default that lack elements. Inner chunks are then always stored, and a missing one is
/// CORRUPT_DATA.
///
/// On success `*chain` is a handle that the caller frees with zcodec_chain_free; on failure it is NULL.
/// INVALID_METADATA: the JSON or a configuration is wrong. UNSUPPORTED: both are well-formed, but the codec, the data
/// type or the combination is not supported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_new(
    codecs_json: *const c_char,
    codecs_json_size: usize,
    input_json: *const c_char,
    input_json_size: usize,
    chain: *mut *mut zcodec_chain,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: as this function asks of the caller; options may be NULL.
    unsafe {
        zcodec_chain_new_with(
            std::ptr::null(),
            codecs_json,
            codecs_json_size,
            input_json,
            input_json_size,
            chain,
            error,
        )
    }
}

/// Creates a chain from a whole Zarr v3 array document (zarr.json): from its data_type, fill_value, codecs, and the
/// chunk shape of its regular chunk grid. For a rectilinear grid it takes the shape of the first chunk;
/// zcodec_chain_with_shape creates the chains of the others. UNSUPPORTED also for other chunk grids. A fill_value of
/// null, which some writers use for none, makes a chain without a fill value. Otherwise like zcodec_chain_new.
///
/// Since 0.2, a Zarr v2 document (.zarray) gives the list of v3 codecs that makes the same bytes, and a chain of it,
/// without a fill value if the document's is null. zcodec_chain_codecs_json shows the list: order F becomes
/// `transpose`, the filters and the compressor become codecs such as "numcodecs.zlib", and `bytes` follows the filters
/// that take arrays, unless the last of them makes bytes itself. The codec index and the path of an error refer to this
/// list, not to `filters` and `compressor`. An error about another member of the document, or about one of which no
/// codec can be made, has neither; its message names the member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_from_zarr_json(
    zarr_json: *const c_char,
    zarr_json_size: usize,
    chain: *mut *mut zcodec_chain,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: as this function asks of the caller; options may be NULL.
    unsafe { zcodec_chain_from_zarr_json_with(std::ptr::null(), zarr_json, zarr_json_size, chain, error) }
}

/// zcodec_chain_new with options: codecs of the host, or a limit. `options` may be NULL. UNSUPPORTED also if a chunk is
/// larger than `max_decoded_size`. CALLBACK_FAILED: a codec of the host broke its rules. Since 0.2.
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

/// zcodec_chain_from_zarr_json with the options of zcodec_chain_new_with. Since 0.2.
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

/// Creates a chain with the same codecs, data type, fill value and callbacks for chunks of another shape: border
/// chunks, rectilinear grids, N5 blocks. This is cheap, because nothing is parsed again. `shape` has `ndim` sizes.
///
/// On success `*reshaped` is a handle of its own, which the caller frees with zcodec_chain_free; on failure it is NULL.
/// The chains share the user_data of the callbacks, which is freed with the last of them. UNSUPPORTED for chains of
/// bytes->bytes codecs, and for a shape that exceeds the chain's max_decoded_size; INVALID_METADATA if the codecs do
/// not fit the shape. Codecs of the host are bound again; CALLBACK_FAILED: one broke its rules.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_with_shape(
    chain: *const zcodec_chain,
    shape: *const u64,
    ndim: usize,
    reshaped: *mut *mut zcodec_chain,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (reshaped, chain, shape) = unsafe {
            (
                ffi::out(reshaped, std::ptr::null_mut(), "reshaped")?,
                ffi::handle(chain, "chain")?,
                ffi::input(shape, ndim, "shape")?,
            )
        };
        *reshaped = zcodec_chain::into_handle(Arc::new(chain.with_shape(shape)?));
        Ok(())
    })
}

/// Frees a chain; no thread may be using it. NULL is fine. Errors and buffers that came from it stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_free(chain: *mut zcodec_chain) {
    // SAFETY: NULL or a live handle that is not used again, says the header.
    unsafe { ffi::free_handle(chain) }
}
