//! Safe handles of libdeflate's compressor and decompressor.
//!
//! The crate `libdeflater` does the same, but hides where a gzip member ends.
#![expect(unsafe_code, reason = "calls a C library")]

use crate::error::{Error, Result};
use libdeflate_sys as sys;
use std::ptr::NonNull;

/// The format around the DEFLATE stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::codec) enum Container {
    /// RFC 1952.
    Gzip,
    /// RFC 1950.
    Zlib,
}

#[derive(Debug)]
pub(in crate::codec) struct Compressor(NonNull<sys::libdeflate_compressor>);

// SAFETY: the handle owns its memory and libdeflate keeps nothing of a thread.
unsafe impl Send for Compressor {}

impl Compressor {
    pub(in crate::codec) fn new(level: i32) -> Result<Self> {
        // SAFETY: any level may be asked for; NULL is handled.
        let handle = unsafe { sys::libdeflate_alloc_compressor(level) };
        NonNull::new(handle).map(Self).ok_or_else(Error::out_of_memory)
    }

    /// The size written; `None` if `encoded` cannot hold it.
    pub(in crate::codec) fn compress(
        &mut self,
        container: Container,
        decoded: &[u8],
        encoded: &mut [u8],
    ) -> Option<usize> {
        let compress = match container {
            Container::Gzip => sys::libdeflate_gzip_compress,
            Container::Zlib => sys::libdeflate_zlib_compress,
        };
        // SAFETY: the handle is live, and both slices are passed with their own lengths.
        let size = unsafe {
            compress(
                self.0.as_ptr(),
                decoded.as_ptr().cast(),
                decoded.len(),
                encoded.as_mut_ptr().cast(),
                encoded.len(),
            )
        };
        (size > 0).then_some(size)
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { sys::libdeflate_free_compressor(self.0.as_ptr()) }
    }
}

/// The most bytes that `decoded_size` bytes can encode to, at any level; `None` if that overflows.
pub(in crate::codec) fn compress_bound(container: Container, decoded_size: usize) -> Option<usize> {
    // The bound is the size and some 5 bytes for each block of a few thousand.
    decoded_size.checked_mul(2).filter(|size| isize::try_from(*size).is_ok())?;
    let bound = match container {
        Container::Gzip => sys::libdeflate_gzip_compress_bound,
        Container::Zlib => sys::libdeflate_zlib_compress_bound,
    };
    // SAFETY: a NULL compressor asks for the bound of every level.
    Some(unsafe { bound(std::ptr::null_mut(), decoded_size) })
}

#[derive(Debug)]
pub(in crate::codec) struct Decompressor(NonNull<sys::libdeflate_decompressor>);

// SAFETY: the handle owns its memory and libdeflate keeps nothing of a thread.
unsafe impl Send for Decompressor {}

/// How far one gzip member or zlib stream went.
pub(in crate::codec) struct Member {
    pub(in crate::codec) encoded_size: usize,
    pub(in crate::codec) decoded_size: usize,
}

pub(in crate::codec) enum Fault {
    TooSmall,
    Corrupt,
}

impl Decompressor {
    pub(in crate::codec) fn new() -> Result<Self> {
        // SAFETY: NULL is handled.
        let handle = unsafe { sys::libdeflate_alloc_decompressor() };
        NonNull::new(handle).map(Self).ok_or_else(Error::out_of_memory)
    }

    /// Decompresses the first gzip member or zlib stream of `encoded` into the beginning of `decoded`.
    pub(in crate::codec) fn decompress(
        &mut self,
        container: Container,
        encoded: &[u8],
        decoded: &mut [u8],
    ) -> std::result::Result<Member, Fault> {
        let decompress = match container {
            Container::Gzip => sys::libdeflate_gzip_decompress_ex,
            Container::Zlib => sys::libdeflate_zlib_decompress_ex,
        };
        let mut member = Member { encoded_size: 0, decoded_size: 0 };
        // SAFETY: the handle is live, both slices are passed with their own lengths, the results are writable.
        let result = unsafe {
            decompress(
                self.0.as_ptr(),
                encoded.as_ptr().cast(),
                encoded.len(),
                decoded.as_mut_ptr().cast(),
                decoded.len(),
                &mut member.encoded_size,
                &mut member.decoded_size,
            )
        };
        match result {
            sys::libdeflate_result_LIBDEFLATE_SUCCESS => Ok(member),
            sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Err(Fault::TooSmall),
            _ => Err(Fault::Corrupt),
        }
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}
