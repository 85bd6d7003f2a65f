//! The small chunks among the conformance cases, cut at every byte and with every bit flipped: each ends in a status
//! that encoded bytes can cause, and no allocation is larger than what the codec needs for chunks of this size,
//! whatever the bytes claim. What C libraries allocate is not seen here. `src/codec/blosc/tests.rs` has the same for
//! `blosc`.
#![allow(unsafe_code, reason = "an allocator is unsafe to write")]

mod case;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use zcodec::Status;
use zcodec::chain::{CallOptions, Chain};
use zcodec::strided::Target;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// Records the largest allocation of a thread.
struct Noting;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.set(LARGEST.get().max(layout.size()));
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Noting = Noting;

/// Larger chunks have more of the same.
const MAX_ENCODED_SIZE: usize = 160;

/// Chunks of each codec with its configuration.
const CHUNKS_OF_EACH: usize = 2;

/// Files without small chunks of other implementations.
const WITHOUT_SMALL_CHUNKS: [&str; 6] = ["api", "blosc", "engine", "limits", "numcodecs_bitround", "zfp_out_of_range"];

/// What a decoder may allocate at once.
fn max_allocation(codecs: &str) -> usize {
    // bzip2 has tables for a block of up to 900,000 bytes.
    if codecs.contains("bz2") { 4 << 20 } else { 256 << 10 }
}

/// Decodes, and checks how that ends.
fn decode(chain: &Chain, encoded: &[u8], what: &str) {
    let mut decoded = vec![0xA5; chain.decoded_size().map_or(4 * MAX_ENCODED_SIZE, |size| size as usize)];
    LARGEST.set(0);
    let result = chain.decode_into(encoded, &mut decoded, &CallOptions::default());
    let largest = LARGEST.get();
    assert!(largest <= max_allocation(&chain.codecs_json().to_string()), "{what}: {largest} bytes at once");
    if let Err(error) = result {
        // The size of an array is known, and there is room for it.
        let may_lack_room = chain.decoded_size().is_none() && error.status() == Status::BufferTooSmall;
        let can_be = [Status::CorruptData, Status::OutOfRange, Status::Unsupported];
        // 32-bit addresses have no room for a window of LZMA from 2 GiB on.
        let has_no_room = usize::BITS < 64 && error.status() == Status::OutOfMemory;
        assert!(can_be.contains(&error.status()) || may_lack_room || has_no_room, "{what}: {error}");
    }
}

fn damage_all(file: &str) {
    let mut seen: Vec<(String, usize)> = Vec::new();
    let mut count = 0;
    for case in case::cases(file) {
        let Some(encoded) = case["encoded"].as_str().map(|text| STANDARD.decode(text).unwrap()) else { continue };
        if encoded.is_empty() || encoded.len() > MAX_ENCODED_SIZE || case.get("error").is_some() {
            continue;
        }
        let chain = case::new_chain(&case).unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        let key = format!("{}{}", chain.codecs_json(), case["input"]["data_type"]);
        let index = seen.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            seen.push((key, 0));
            seen.len() - 1
        });
        seen[index].1 += 1;
        if seen[index].1 > CHUNKS_OF_EACH {
            continue;
        }
        for size in 0..encoded.len() {
            decode(&chain, &encoded[..size], &format!("{}, cut to {size} bytes", case["name"]));
        }
        for bit in 0..8 * encoded.len() {
            let mut damaged = encoded.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            decode(&chain, &damaged, &format!("{}, bit {bit} flipped", case["name"]));
        }
        count += 1;
    }
    assert!(count > 0, "{file} has no small chunk");
}

macro_rules! files {
    ($($file:ident),+) => {
        const FILES: &[&str] = &[$(stringify!($file)),+];
        $(#[test]
        fn $file() {
            damage_all(stringify!($file));
        })+
    };
}
files!(
    bitround,
    bytes,
    cast_value,
    chains,
    conditional,
    crc32c,
    gzip,
    metadata,
    n5_default,
    numcodecs,
    numcodecs_astype,
    numcodecs_checksums,
    numcodecs_compressors,
    numcodecs_delta,
    numcodecs_fixedscaleoffset,
    numcodecs_lzma,
    numcodecs_packbits,
    numcodecs_pcodec,
    numcodecs_quantize,
    numcodecs_shuffle,
    numcodecs_zfpy,
    offset,
    packbits,
    pad,
    padding_callbacks,
    reshape,
    scale_offset,
    sharding_indexed,
    squeeze,
    transpose,
    zarr_json,
    zarr_v2,
    zfp,
    zstd
);

#[test]
fn no_file_is_left_out() {
    for name in case::names() {
        assert!(FILES.contains(&&*name) || WITHOUT_SMALL_CHUNKS.contains(&&*name), "{name}");
    }
}

/// A part of a chunk is decoded from its own bytes alone, except where a checksum is over all of them.
#[test]
fn a_checksum_is_checked_whatever_part_is_read() {
    let options = CallOptions::default();
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let shard = json!({"name": "sharding_indexed", "configuration":
        {"chunk_shape": [2, 4], "codecs": [bytes], "index_codecs": [bytes]}});
    let input = json!({"data_type": "uint16", "shape": [4, 4], "fill_value": 0}).to_string();
    let decoded: Vec<u8> = (1..33).collect();
    for checksum in ["crc32c", "numcodecs.crc32", "numcodecs.adler32", "numcodecs.fletcher32"] {
        for codecs in [json!([bytes, checksum]), json!([shard, checksum])] {
            let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.as_bytes())).unwrap();
            let mut encoded = chain.encode_to_vec(&decoded, &options).unwrap();
            let first_row = |encoded: &[u8]| {
                let mut part = [0; 8];
                let target = Target::contiguous(&mut part, 2, &[1, 4]).unwrap();
                chain.decode_view(encoded, &[0, 0], target, &options).map(|_| part)
            };
            assert_eq!(first_row(&encoded).unwrap(), decoded[..8], "{codecs}");
            encoded[20] ^= 1; // of the third row
            assert_eq!(first_row(&encoded).unwrap_err().status(), Status::CorruptData, "{codecs}");
        }
    }
}
