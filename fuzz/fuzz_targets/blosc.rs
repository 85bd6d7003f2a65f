//! Frames of Blosc: any bytes decode to a result, the same in parts; bytes come back from frames of every kind. With the
//! feature `blosc-src`, the C library decodes whatever decodes here, to the same bytes.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use zcodec::Status;
use zcodec::codec::blosc_internals::{Compressor, Decoder, Encoder, Filter, Frame, Settings};

#[derive(Debug, Arbitrary)]
enum Work<'a> {
    Decode {
        encoded: &'a [u8],
        split: u16,
    },
    Encode {
        compressor: u8,
        level: u8,
        filter: u8,
        element_size: u8,
        block_size: u16,
        flip: Option<u16>,
        decoded: &'a [u8],
    },
}

const COMPRESSORS: [Compressor; 6] =
    [Compressor::BloscLz, Compressor::Lz4, Compressor::Lz4Hc, Compressor::Snappy, Compressor::Zlib, Compressor::Zstd];

fuzz_target!(|work: Work<'_>| match work {
    Work::Decode { encoded, split } => {
        let mut frame = encoded.to_vec();
        decode(&mut frame, usize::from(split));
    }
    Work::Encode { compressor, level, filter, element_size, block_size, flip, decoded } => {
        let settings = Settings {
            compressor: COMPRESSORS[usize::from(compressor) % COMPRESSORS.len()],
            level: level % 10,
            filter: [Filter::None, Filter::Shuffle, Filter::Bitshuffle][usize::from(filter) % 3],
            element_size: element_size.max(1),
            block_size: usize::from(block_size),
        };
        let mut encoded = vec![0xA5; decoded.len() + 16];
        let size = Encoder::default().encode(&settings, decoded, &mut encoded).expect("the bound is enough");
        encoded.truncate(size);
        match flip {
            None => assert_eq!(decode(&mut encoded, size / 2).as_deref(), Some(decoded)),
            Some(bit) => {
                let bit = usize::from(bit) % (8 * size);
                encoded[bit / 8] ^= 1 << (bit % 8);
                decode(&mut encoded, size / 2);
            }
        }
    }
});

/// Decodes at once and in two parts, after the header's size is made right.
fn decode(encoded: &mut [u8], split: usize) -> Option<Vec<u8>> {
    let encoded_size = encoded.len() as u32;
    encoded.get_mut(12..16)?.copy_from_slice(&encoded_size.to_le_bytes());
    let frame = match Frame::new(encoded) {
        Ok(frame) if frame.decoded_size() <= 1 << 20 => frame,
        Ok(_) => return None,
        Err(error) => {
            assert_eq!(error.status(), Status::CorruptData, "{error}");
            return None;
        }
    };
    let size = frame.decoded_size();
    let mut decoder = Decoder::default();
    let mut decoded = vec![0x5A; size];
    let result = decoder.decode(&frame, 0..size, &mut decoded);
    let mut parts = vec![0xA5; size];
    let (first, second) = parts.split_at_mut(split.min(size));
    let first_result = decoder.decode(&frame, 0..first.len(), first);
    let both = first_result.and_then(|()| decoder.decode(&frame, first.len()..size, second));
    assert_eq!(both.is_ok(), result.is_ok(), "{both:?} in parts, {result:?} at once");
    match result {
        Ok(()) => {
            assert!(parts == decoded, "the parts differ");
            compare(encoded, &decoded);
            Some(decoded)
        }
        Err(error) => {
            assert_eq!(error.status(), Status::CorruptData, "{error}");
            None
        }
    }
}

#[cfg(not(feature = "blosc-src"))]
fn compare(_: &[u8], _: &[u8]) {}

/// libdeflate takes some Huffman codes that zlib refuses; a checksum follows them.
#[cfg(feature = "blosc-src")]
fn compare(encoded: &[u8], decoded: &[u8]) {
    const ZLIB: u8 = 3;
    let mut theirs = vec![0; decoded.len()];
    let mut size = 0;
    // SAFETY: both sides are passed with their sizes; the frame's own size was looked at.
    let result = unsafe {
        assert!(blosc_src::blosc_cbuffer_validate(encoded.as_ptr().cast(), encoded.len(), &mut size) >= 0);
        blosc_src::blosc_decompress_ctx(encoded.as_ptr().cast(), theirs.as_mut_ptr().cast(), size, 1)
    };
    if encoded[2] >> 5 == ZLIB && result < 0 {
        return;
    }
    assert_eq!(usize::try_from(result), Ok(decoded.len()), "the C library refuses");
    assert!(theirs == decoded, "the C library decodes to other bytes");
}
