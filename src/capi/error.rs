//! Statuses and error handles.

use super::ffi;
use crate::error::{Error, Status};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char};

/// Result of a call. Numeric values are part of the ABI: they are never renumbered, and later versions may add more.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum zcodec_status {
    /// Success.
    ZCODEC_STATUS_OK = 0,
    /// A pointer that must not be NULL was NULL.
    ZCODEC_STATUS_NULL_ARGUMENT = 1,
    /// A size, index or option of the call is wrong.
    ZCODEC_STATUS_INVALID_ARGUMENT = 2,
    /// The JSON or a codec's configuration is malformed.
    ZCODEC_STATUS_INVALID_METADATA = 3,
    /// Valid, but this codec, data type or combination is not supported.
    ZCODEC_STATUS_UNSUPPORTED = 4,
    /// The output buffer is too small; the size argument is set to a capacity that suffices.
    ZCODEC_STATUS_BUFFER_TOO_SMALL = 5,
    /// The size is not known in advance.
    ZCODEC_STATUS_UNKNOWN_SIZE = 6,
    /// The encoded bytes cannot be the output of this chain, or a padding check rejected them.
    ZCODEC_STATUS_CORRUPT_DATA = 7,
    /// An element cannot be represented in the target type.
    ZCODEC_STATUS_OUT_OF_RANGE = 8,
    /// A padding callback or the executor failed, or a codec of the host broke its rules.
    ZCODEC_STATUS_CALLBACK_FAILED = 9,
    /// Memory could not be allocated.
    ZCODEC_STATUS_OUT_OF_MEMORY = 10,
    /// A bug in the library; never undefined behaviour. Please report it.
    ZCODEC_STATUS_INTERNAL = 11,
}

/// A status that the caller passes, which may be any integer. The header calls it `zcodec_status`.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct StatusArgument(i32);

/// Why a call failed. Opaque. Independent of the chain and of the thread that it came from.
#[derive(Debug)]
pub struct zcodec_error {
    status: zcodec_status,
    message: Cow<'static, CStr>,
    code: Cow<'static, CStr>,
    path: Cow<'static, CStr>,
    codec_index: i64,
    element_index: i64,
}

/// Reporting a lack of memory must not allocate.
static OUT_OF_MEMORY: zcodec_error = zcodec_error {
    status: zcodec_status::ZCODEC_STATUS_OUT_OF_MEMORY,
    message: Cow::Borrowed(c"the memory that this chunk needs could not be allocated"),
    code: Cow::Borrowed(c""),
    path: Cow::Borrowed(c""),
    codec_index: -1,
    element_index: -1,
};

impl From<Status> for zcodec_status {
    fn from(status: Status) -> Self {
        match status {
            Status::NullArgument => Self::ZCODEC_STATUS_NULL_ARGUMENT,
            Status::InvalidArgument => Self::ZCODEC_STATUS_INVALID_ARGUMENT,
            Status::InvalidMetadata => Self::ZCODEC_STATUS_INVALID_METADATA,
            Status::Unsupported => Self::ZCODEC_STATUS_UNSUPPORTED,
            Status::BufferTooSmall => Self::ZCODEC_STATUS_BUFFER_TOO_SMALL,
            Status::UnknownSize => Self::ZCODEC_STATUS_UNKNOWN_SIZE,
            Status::CorruptData => Self::ZCODEC_STATUS_CORRUPT_DATA,
            Status::OutOfRange => Self::ZCODEC_STATUS_OUT_OF_RANGE,
            Status::CallbackFailed => Self::ZCODEC_STATUS_CALLBACK_FAILED,
            Status::OutOfMemory => Self::ZCODEC_STATUS_OUT_OF_MEMORY,
            Status::Internal => Self::ZCODEC_STATUS_INTERNAL,
        }
    }
}

impl zcodec_error {
    /// The handle of an error, which the caller of the library frees.
    pub(super) fn into_handle(error: &Error) -> *mut Self {
        if *error == Error::out_of_memory() {
            return (&raw const OUT_OF_MEMORY).cast_mut();
        }
        let index = |index: Option<u64>| index.and_then(|index| i64::try_from(index).ok()).unwrap_or(-1);
        let message = CString::new(cut(&error.to_string()).replace('\0', "\\0")).unwrap_or_default();
        ffi::make_handle(Self {
            status: error.status().into(),
            message: message.into(),
            code: CString::new(error.code()).unwrap_or_default().into(),
            path: CString::new(error.pointer()).unwrap_or_default().into(),
            codec_index: index(error.codec_index().map(|index| index as u64)),
            element_index: index(error.element_index()),
        })
    }
}

/// A message without its middle, if it is too long: its beginning says where, its end what was expected. Values in it
/// are short already; names and lists of them may still have a megabyte.
fn cut(message: &str) -> Cow<'_, str> {
    const MOST: usize = 2000;
    const END: usize = 500;
    if message.len() <= MOST {
        return message.into();
    }
    let (start, end) = (message.floor_char_boundary(MOST - END), message.ceil_char_boundary(message.len() - END));
    format!("{} ... {}", &message[..start], &message[end..]).into()
}

/// The name of a status, such as "ZCODEC_STATUS_OK"; "ZCODEC_STATUS_UNKNOWN" for any other number. Static text.
#[unsafe(no_mangle)]
pub extern "C" fn zcodec_status_name(status: StatusArgument) -> *const c_char {
    let name = match status.0 {
        0 => c"ZCODEC_STATUS_OK",
        1 => c"ZCODEC_STATUS_NULL_ARGUMENT",
        2 => c"ZCODEC_STATUS_INVALID_ARGUMENT",
        3 => c"ZCODEC_STATUS_INVALID_METADATA",
        4 => c"ZCODEC_STATUS_UNSUPPORTED",
        5 => c"ZCODEC_STATUS_BUFFER_TOO_SMALL",
        6 => c"ZCODEC_STATUS_UNKNOWN_SIZE",
        7 => c"ZCODEC_STATUS_CORRUPT_DATA",
        8 => c"ZCODEC_STATUS_OUT_OF_RANGE",
        9 => c"ZCODEC_STATUS_CALLBACK_FAILED",
        10 => c"ZCODEC_STATUS_OUT_OF_MEMORY",
        11 => c"ZCODEC_STATUS_INTERNAL",
        _ => c"ZCODEC_STATUS_UNKNOWN",
    };
    name.as_ptr()
}

/// The status that the failed call returned. NULL_ARGUMENT for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_error_status(error: *const zcodec_error) -> zcodec_status {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(error, "error") }.map_or(zcodec_status::ZCODEC_STATUS_NULL_ARGUMENT, |error| error.status)
}

/// The message for people: the codec and its index, the JSON member or the element at fault, the value found and
/// what was expected. UTF-8, NUL-terminated; valid until the error is freed. Empty for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_error_message(error: *const zcodec_error) -> *const c_char {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(error, "error") }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// The reason for programs: a word that never changes, such as "unknown_codec", "duplicate_member", "checksum" or
/// "out_of_range"; docs/errors.md lists them. Empty if there is none, or for NULL. Valid until the error is freed.
/// Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_error_code(error: *const zcodec_error) -> *const c_char {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(error, "error") }.map_or(c"".as_ptr(), |error| error.code.as_ptr())
}

/// The place of the codec at fault: a JSON Pointer (RFC 6901) into the list of codecs, such as "/2", or
/// "/0/configuration/codecs/1" for a codec inside another one. For a .zarray document, the list is the one that
/// zcodec_chain_from_zarr_json derives. Empty if no codec is at fault, or for NULL. Valid until the error is freed.
/// Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_error_path(error: *const zcodec_error) -> *const c_char {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(error, "error") }.map_or(c"".as_ptr(), |error| error.path.as_ptr())
}

/// The index of the codec at fault in the chain, from 0. If it is inside another codec, such as sharding_indexed, the
/// index of the outermost one. -1 if no codec is at fault, or for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_error_codec_index(error: *const zcodec_error) -> i64 {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(error, "error") }.map_or(-1, |error| error.codec_index)
}

/// The first element at fault, whatever the number of threads; in a plan, the first in one of the boxes that need the
/// range that was supplied. -1 if no element is at fault, or for NULL. It counts from 0 in C order in the whole array
/// that enters the codec of zcodec_error_codec_index on encode. The codecs before that one, such as transpose, may have
/// changed the order of the caller's elements. For a codec inside a shard it counts in the array of the shard.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_error_element_index(error: *const zcodec_error) -> i64 {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(error, "error") }.map_or(-1, |error| error.element_index)
}

/// Frees an error. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_error_free(error: *mut zcodec_error) {
    if !std::ptr::eq(error, &OUT_OF_MEMORY) {
        // SAFETY: NULL or a live handle that is not static and not used again, says the header.
        unsafe { ffi::free_handle(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::CodecPlace;

    #[test]
    fn lack_of_memory_is_one_static_handle_that_may_be_freed() {
        let error = zcodec_error::into_handle(&Error::out_of_memory());
        assert_eq!(error, zcodec_error::into_handle(&Error::out_of_memory()));
        // SAFETY: the handle is live, and freeing the static one does nothing.
        unsafe {
            zcodec_error_free(error);
            assert_eq!(zcodec_error_status(error), zcodec_status::ZCODEC_STATUS_OUT_OF_MEMORY);
        }
    }

    #[test]
    fn a_long_message_loses_its_middle_between_characters() {
        assert_eq!(cut("short"), "short");
        for shift in 0..4 {
            let message = format!("{}{}", "x".repeat(shift), "é—😀".repeat(1000));
            let cut = cut(&message);
            assert!(cut.len() <= 2010 && cut.contains(" ... "), "{}", cut.len());
            let (start, end) = cut.split_once(" ... ").unwrap();
            assert!(message.starts_with(start) && message.ends_with(end));
        }
    }

    #[test]
    fn a_message_with_a_nul_is_not_cut() {
        let error = zcodec_error::into_handle(&CodecPlace::new(3, &"x".into()).blame(Error::metadata("a\0b")));
        // SAFETY: the handle is live until it is freed.
        unsafe {
            assert_eq!(CStr::from_ptr(zcodec_error_message(error)), c"codecs[3] \"x\": a\\0b");
            assert_eq!(zcodec_error_codec_index(error), 3);
            assert_eq!(zcodec_error_element_index(error), -1);
            zcodec_error_free(error);
        }
    }
}
