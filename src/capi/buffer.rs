//! Memory that the library allocates.

use super::ffi;

/// Bytes that the library allocated: an encoded or decoded chunk, or JSON text. Opaque.
#[derive(Debug)]
pub struct zcodec_buffer(Vec<u8>);

impl zcodec_buffer {
    /// A handle that the caller of the library frees.
    pub(super) fn into_handle(bytes: Vec<u8>) -> *mut Self {
        ffi::make_handle(Self(bytes))
    }
}

/// The bytes of a buffer; they stay valid until it is freed. JSON text is UTF-8 and not NUL-terminated. NULL for NULL.
/// The pointer of an empty buffer must not be dereferenced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_buffer_data(buffer: *const zcodec_buffer) -> *const u8 {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(buffer, "buffer") }.map_or(std::ptr::null(), |buffer| buffer.0.as_ptr())
}

/// The number of bytes of a buffer; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_buffer_size(buffer: *const zcodec_buffer) -> usize {
    // SAFETY: NULL or a live handle, says the header.
    unsafe { ffi::handle(buffer, "buffer") }.map_or(0, |buffer| buffer.0.len())
}

/// Frees a buffer. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_buffer_free(buffer: *mut zcodec_buffer) {
    // SAFETY: NULL or a live handle that is not used again, says the header.
    unsafe { ffi::free_handle(buffer) }
}
