//! Blocks coded by LLNL's C library.
//!
//! It writes and reads without checking where its memory ends. A block begins only where [`SLACK_WORDS`] and the bits
//! that it can take still lie before that end.

#![expect(unsafe_code, reason = "calls a C library")]

use super::backend::{BlockReader, BlockWriter};
use super::grid::dimensionality_of;
use super::mode::{Parameters, WORD_BITS};
use crate::error::{Error, Result};
use std::marker::PhantomData;
use zfp_rs::{ZfpDimensionality, ZfpScalar, ZfpScalarType};

/// More words than any block takes, padding to `minbits` aside.
const SLACK_WORDS: usize = 300;

/// The words that a reader or a writer needs after the last block.
pub(super) fn slack(parameters: &Parameters) -> usize {
    SLACK_WORDS + (u64::from(parameters.block_bits) / WORD_BITS) as usize
}

/// A stream of the C library on words that outlive it.
struct Stream<'a> {
    bits: *mut zfp_sys::bitstream,
    stream: *mut zfp_sys::zfp_stream,
    /// No block begins after this bit.
    end: u64,
    /// The least bits of a block.
    least: u64,
    words: PhantomData<&'a [u64]>,
}

impl Stream<'_> {
    /// # Safety
    /// `words` are `count` words, for writing if anything is written, and outlive the result.
    unsafe fn new(words: *mut u64, count: usize, parameters: &Parameters) -> Result<Self> {
        let end = (count - slack(parameters)) as u64 * WORD_BITS;
        let config = &parameters.config;
        // SAFETY: the caller promises `count` words; null results are checked before they are used.
        unsafe {
            let bits = zfp_sys::stream_open(words.cast(), 8 * count);
            let stream = if bits.is_null() { std::ptr::null_mut() } else { zfp_sys::zfp_stream_open(bits) };
            let new = Self { bits, stream, end, least: config.min_bits().into(), words: PhantomData };
            if stream.is_null() {
                return Err(Error::out_of_memory());
            }
            let [least, most, precision] = [config.min_bits(), config.max_bits(), config.max_prec()];
            if zfp_sys::zfp_stream_set_params(stream, least, most, precision, config.min_exp()) == 0 {
                return Err(Error::internal("the C library of zfp does not take the parameters"));
            }
            Ok(new)
        }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // SAFETY: each was opened by `new`, or is null.
        unsafe {
            if !self.stream.is_null() {
                zfp_sys::zfp_stream_close(self.stream);
            }
            if !self.bits.is_null() {
                zfp_sys::stream_close(self.bits);
            }
        }
    }
}

/// Writes into words of which [`slack`] stay free.
pub(super) struct CWriter<'a>(Stream<'a>);

impl<'a> CWriter<'a> {
    pub(super) fn new(words: &'a mut [u64], parameters: &Parameters) -> Result<Self> {
        // SAFETY: the words are borrowed for as long as the result lives.
        Ok(Self(unsafe { Stream::new(words.as_mut_ptr(), words.len(), parameters)? }))
    }

    fn position(&self) -> u64 {
        // SAFETY: the stream is open.
        unsafe { zfp_sys::stream_wtell(self.0.bits) }
    }
}

impl<T: ZfpScalar, const N: usize> BlockWriter<T, N> for CWriter<'_> {
    fn write(&mut self, blocks: &[[T; N]]) -> Result<()> {
        for values in blocks {
            let start = self.position();
            if start > self.0.end {
                return Err(Error::internal("zfp blocks took more bits than their bound"));
            }
            // SAFETY: the stream is open, with room for a block; the values are one of this type and dimensionality.
            unsafe { encode_block(self.0.stream, values) };
            // The C library forgets this for reversible blocks of zeros, which it then cannot read.
            if let Some(missing @ 1..) = (start + self.0.least).checked_sub(self.position()) {
                // SAFETY: the stream is open, with room for the least bits of a block.
                unsafe { zfp_sys::stream_pad(self.0.bits, missing) };
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        let bit_count = self.position();
        // SAFETY: the stream is open, with room for a word.
        unsafe { zfp_sys::zfp_stream_flush(self.0.stream) };
        Ok(bit_count)
    }
}

/// Reads from words of which the last [`slack`] are zeros that are not part of the stream.
pub(super) struct CReader<'a>(Stream<'a>);

impl<'a> CReader<'a> {
    /// From this bit on.
    pub(super) fn new(words: &'a [u64], start: u64, parameters: &Parameters) -> Result<Self> {
        // SAFETY: the words are borrowed for as long as the result lives, and nothing is written to them.
        let stream = unsafe { Stream::new(words.as_ptr().cast_mut(), words.len(), parameters)? };
        // SAFETY: the stream is open. A bit past the end is within the slack, or not a block's.
        unsafe { zfp_sys::stream_rseek(stream.bits, start.min(stream.end + 1)) };
        Ok(Self(stream))
    }
}

impl<T: ZfpScalar, const N: usize> BlockReader<T, N> for CReader<'_> {
    fn read(&mut self, blocks: &mut [[T; N]]) -> Result<()> {
        for values in blocks {
            if BlockReader::<T, N>::position(self) <= self.0.end {
                // SAFETY: the stream is open, and has a block's words; the values are of this type and dimensionality.
                unsafe { decode_block(self.0.stream, values) };
            }
        }
        Ok(())
    }

    fn position(&self) -> u64 {
        // SAFETY: the stream is open.
        unsafe { zfp_sys::stream_rtell(self.0.bits) }
    }
}

/// # Safety
/// The stream is open, and has room for a block.
unsafe fn encode_block<T: ZfpScalar, const N: usize>(stream: *mut zfp_sys::zfp_stream, values: &[T; N]) {
    use ZfpDimensionality::{D1, D2, D3, D4};
    use ZfpScalarType::{F32, F64, I32, I64};
    let block = values.as_ptr();
    // SAFETY: the same is asked of the caller; the block has the type and the size of each function's argument.
    unsafe {
        match (T::SCALAR_TYPE, const { dimensionality_of::<N>() }) {
            (I32, D1) => zfp_sys::zfp_encode_block_int32_1(stream, block.cast()),
            (I32, D2) => zfp_sys::zfp_encode_block_int32_2(stream, block.cast()),
            (I32, D3) => zfp_sys::zfp_encode_block_int32_3(stream, block.cast()),
            (I32, D4) => zfp_sys::zfp_encode_block_int32_4(stream, block.cast()),
            (I64, D1) => zfp_sys::zfp_encode_block_int64_1(stream, block.cast()),
            (I64, D2) => zfp_sys::zfp_encode_block_int64_2(stream, block.cast()),
            (I64, D3) => zfp_sys::zfp_encode_block_int64_3(stream, block.cast()),
            (I64, D4) => zfp_sys::zfp_encode_block_int64_4(stream, block.cast()),
            (F32, D1) => zfp_sys::zfp_encode_block_float_1(stream, block.cast()),
            (F32, D2) => zfp_sys::zfp_encode_block_float_2(stream, block.cast()),
            (F32, D3) => zfp_sys::zfp_encode_block_float_3(stream, block.cast()),
            (F32, D4) => zfp_sys::zfp_encode_block_float_4(stream, block.cast()),
            (F64, D1) => zfp_sys::zfp_encode_block_double_1(stream, block.cast()),
            (F64, D2) => zfp_sys::zfp_encode_block_double_2(stream, block.cast()),
            (F64, D3) => zfp_sys::zfp_encode_block_double_3(stream, block.cast()),
            (F64, D4) => zfp_sys::zfp_encode_block_double_4(stream, block.cast()),
        };
    }
}

/// # Safety
/// The stream is open, and has the words of a block.
unsafe fn decode_block<T: ZfpScalar, const N: usize>(stream: *mut zfp_sys::zfp_stream, values: &mut [T; N]) {
    use ZfpDimensionality::{D1, D2, D3, D4};
    use ZfpScalarType::{F32, F64, I32, I64};
    let block = values.as_mut_ptr();
    // SAFETY: the same is asked of the caller; the block has the type and the size of each function's argument.
    unsafe {
        match (T::SCALAR_TYPE, const { dimensionality_of::<N>() }) {
            (I32, D1) => zfp_sys::zfp_decode_block_int32_1(stream, block.cast()),
            (I32, D2) => zfp_sys::zfp_decode_block_int32_2(stream, block.cast()),
            (I32, D3) => zfp_sys::zfp_decode_block_int32_3(stream, block.cast()),
            (I32, D4) => zfp_sys::zfp_decode_block_int32_4(stream, block.cast()),
            (I64, D1) => zfp_sys::zfp_decode_block_int64_1(stream, block.cast()),
            (I64, D2) => zfp_sys::zfp_decode_block_int64_2(stream, block.cast()),
            (I64, D3) => zfp_sys::zfp_decode_block_int64_3(stream, block.cast()),
            (I64, D4) => zfp_sys::zfp_decode_block_int64_4(stream, block.cast()),
            (F32, D1) => zfp_sys::zfp_decode_block_float_1(stream, block.cast()),
            (F32, D2) => zfp_sys::zfp_decode_block_float_2(stream, block.cast()),
            (F32, D3) => zfp_sys::zfp_decode_block_float_3(stream, block.cast()),
            (F32, D4) => zfp_sys::zfp_decode_block_float_4(stream, block.cast()),
            (F64, D1) => zfp_sys::zfp_decode_block_double_1(stream, block.cast()),
            (F64, D2) => zfp_sys::zfp_decode_block_double_2(stream, block.cast()),
            (F64, D3) => zfp_sys::zfp_decode_block_double_3(stream, block.cast()),
            (F64, D4) => zfp_sys::zfp_decode_block_double_4(stream, block.cast()),
        };
    }
}
