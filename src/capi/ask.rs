//! Queries about a chain.

use super::buffer::zcodec_buffer;
use super::chain::zcodec_chain;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::kind::zcodec_kind;
use crate::chain::Chain;
use crate::error::{Error, Result, Status};
use crate::interface::Kind;

/// The size in bytes of a decoded chunk. UNKNOWN_SIZE for a chain of bytes->bytes codecs; OUT_OF_MEMORY if the size
/// exceeds SIZE_MAX. `*size` is then 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_decoded_size(chain: *const zcodec_chain, size: *mut usize) -> zcodec_status {
    ffi::guard(None, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (size, chain) = unsafe { (ffi::out(size, 0, "size")?, ffi::handle(chain, "chain")?) };
        let unknown = || Error::new(Status::UnknownSize, "a chain of bytes->bytes codecs takes bytes of any size");
        *size = usize::try_from(chain.decoded_size().ok_or_else(unknown)?).map_err(|_| Error::out_of_memory())?;
        Ok(())
    })
}

/// An encoded_capacity that always suffices for a decoded chunk of `decoded_size` bytes. INVALID_ARGUMENT if the chain
/// expects another size, or if the bound is more than memory can have; UNKNOWN_SIZE if a codec of the host has no
/// bound. `*bound` is then 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_encoded_bound(
    chain: *const zcodec_chain,
    decoded_size: usize,
    bound: *mut usize,
) -> zcodec_status {
    ffi::guard(None, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (bound, chain) = unsafe { (ffi::out(bound, 0, "bound")?, ffi::handle(chain, "chain")?) };
        let is_right_size = chain.decoded_size().is_none_or(|expected| expected == decoded_size as u64);
        if is_right_size && !chain.has_encoded_bound(decoded_size as u64) {
            return Err(Error::new(Status::UnknownSize, "a codec of the host does not say how many bytes it makes"));
        }
        *bound = chain
            .encoded_bound(decoded_size as u64)
            .filter(|_| is_right_size)
            .and_then(|bound| usize::try_from(bound).ok())
            .ok_or_else(|| Error::argument(format!("decoded_size is {decoded_size}")))?;
        Ok(())
    })
}

/// The number of codecs in the chain; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_codec_count(chain: *const zcodec_chain) -> usize {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(chain, "chain") }.map_or(0, |chain| chain.codec_count())
}

/// The kind of the chain; ZCODEC_KIND_BYTES_TO_BYTES for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_kind(chain: *const zcodec_chain) -> zcodec_kind {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(chain, "chain") }.map_or(Kind::BytesToBytes, |chain| chain.kind()).into()
}

/// Describes a chain as JSON text.
///
/// # Safety
/// As the header asks of the callers.
unsafe fn describe(
    chain: *const zcodec_chain,
    json: *mut *mut zcodec_buffer,
    error: *mut *mut zcodec_error,
    ask: fn(&Chain) -> serde_json::Value,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || -> Result<()> {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (json, chain) = unsafe { (ffi::out(json, std::ptr::null_mut(), "json")?, ffi::handle(chain, "chain")?) };
        *json = zcodec_buffer::into_handle(ask(chain).to_string().into_bytes());
        Ok(())
    })
}

/// Describes what enters on encode, as JSON in the form of zcodec_chain_output_json: {"data_type": .., "shape": [..],
/// "fill_value": ..}, without fill_value if the chain has none; {"size": null, "bound": null} for a chain of
/// bytes->bytes codecs. The caller frees `*json` with zcodec_buffer_free; it is NULL on failure.
/// Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_input_json(
    chain: *const zcodec_chain,
    json: *mut *mut zcodec_buffer,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe { describe(chain, json, error, |chain| chain.input().to_json()) }
}

/// Describes what leaves on encode, as JSON: {"data_type": .., "shape": [..], "fill_value": ..} for an array, {"size":
/// n} for bytes of a fixed size, {"size": null, "bound": n or null} otherwise. fill_value is the input's fill value,
/// encoded by the chain. The caller frees `*json` with zcodec_buffer_free; it is NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_output_json(
    chain: *const zcodec_chain,
    json: *mut *mut zcodec_buffer,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe { describe(chain, json, error, |chain| chain.output().to_json()) }
}

/// The list of the chain's codecs in canonical form, ready to be stored as "codecs" in a zarr.json: aliases are
/// replaced by the names that they stand for, and members are written as the codec's own specification or library
/// writes them. A chain created from it does the same. Equal forms mean the same codecs; different ones may, too: some
/// codecs leave out a member that was left out, and others write its default. The caller frees `*json` with
/// zcodec_buffer_free; it is NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_codecs_json(
    chain: *const zcodec_chain,
    json: *mut *mut zcodec_buffer,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe { describe(chain, json, error, Chain::codecs_json) }
}

/// Warnings about valid metadata, as a JSON array of {"codec_index", "code", "message"}, and for a codec inside another
/// also its "path", in the form of zcodec_error_path (since 0.2.5). The codes: "lossy_int_to_float" for a cast_value
/// between types like int64 and float64, whose significand does not hold every value; "ignored_codec" for an unknown
/// codec with "must_understand": false; "assumed_little_endian" for `bytes` without endian after the data type
/// "structured". A later version may add codes. A careful writer refuses such metadata; a reader must accept it. "[]"
/// if there are none. The caller frees `*json` with zcodec_buffer_free; it is NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_chain_warnings_json(
    chain: *const zcodec_chain,
    json: *mut *mut zcodec_buffer,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: the header asks the same of the caller.
    unsafe { describe(chain, json, error, Chain::warnings_json) }
}
