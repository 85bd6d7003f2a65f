//! Shared by the benchmarks: the memory copy as a yardstick, names, and input data.
//!
//! A benchmark's name is `codec/case/direction/size/contestant`. Each group of the same first four parts also runs
//! the contestant `copy`, a memory copy of the same decoded bytes; `table.py` prints the others as a ratio to it.

pub mod filters;
#[cfg(feature = "peers")]
pub mod peers;
pub mod turns;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Duration;
use zcodec::chain::CallOptions;

/// The contestants that are the chain, and how they call it: from 64 MiB on also with two threads.
pub fn chain_calls(size: usize) -> Vec<(&'static str, CallOptions)> {
    let mut calls = vec![("zcodec", CallOptions::default())];
    if size >= TWO_THREADS_SIZE {
        calls.push(("zcodec-2-threads", two_threads()));
    }
    calls
}

/// From this size on two threads are measured as well.
pub const TWO_THREADS_SIZE: usize = 64 << 20;

/// Chunk sizes: inside the second-level cache, about its size, past the last one.
pub const SIZES: [(&str, usize); 3] = [("64KiB", 64 << 10), ("1MiB", 1 << 20), ("64MiB", 64 << 20)];

/// Calls that may use two threads.
pub fn two_threads() -> CallOptions {
    CallOptions { max_threads: NonZeroUsize::new(2).expect("2 is not 0"), ..CallOptions::default() }
}

/// A group that begins with the memory copy of `decoded_size` bytes, and from 64 MiB on the same by two threads, half
/// each: what the memory lets two threads gain.
pub fn group<'a>(criterion: &'a mut Criterion, name: &str, decoded_size: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(decoded_size as u64));
    // Short, so that contestants meet the same weather on a shared machine; several runs even the rest out.
    group.sample_size(10).warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300));
    let (mut source, mut target) = (vec![0; decoded_size + PAGE_SIZE], vec![0; decoded_size + PAGE_SIZE]);
    let (source, target) = (page_aligned(&mut source, decoded_size), page_aligned(&mut target, decoded_size));
    source.copy_from_slice(&random_bytes(decoded_size));
    group.bench_function(BenchmarkId::from_parameter("copy"), |bencher| {
        bencher.iter(|| black_box(&mut target[..]).copy_from_slice(black_box(source)));
    });
    if decoded_size >= TWO_THREADS_SIZE {
        group.bench_function(BenchmarkId::from_parameter("copy-2-threads"), |bencher| {
            let half = decoded_size / 2;
            bencher.iter(|| {
                std::thread::scope(|scope| {
                    for (target, source) in target.chunks_mut(half).zip(source.chunks(half)) {
                        scope.spawn(|| black_box(target).copy_from_slice(black_box(source)));
                    }
                });
            });
        });
    }
    group
}

const PAGE_SIZE: usize = 4096;

/// This many bytes, beginning at a page: some processors copy at a tenth of the speed between some offsets in a page.
fn page_aligned(bytes: &mut [u8], size: usize) -> &mut [u8] {
    let start = bytes.as_ptr().align_offset(PAGE_SIZE);
    &mut bytes[start..start + size]
}

/// Bytes of the SplitMix64 generator: without any pattern.
pub fn random_bytes(size: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bytes.extend_from_slice(&(word ^ (word >> 31)).to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

/// Bytes of a measured field, over and over: the nuclei volume of `tests/data`.
pub fn field_bytes(size: usize) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/nuclei_uint16_8x256x256.npy");
    let file = std::fs::read(path).expect("the test data is there");
    file[128..].iter().copied().cycle().take(size).collect()
}

/// Bytes of measured temperatures in `float32`, over and over.
pub fn temperature_bytes(size: usize) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/air_potential_temperature_float32_15x100x100.npy");
    let file = std::fs::read(path).expect("the test data is there");
    file[128..].iter().copied().cycle().take(size).collect()
}

/// A smooth field with a little noise, between 200 and 300.
pub fn smooth(shape: &[usize]) -> impl Iterator<Item = f64> {
    let (shape, mut state) = (shape.to_vec(), 1_u64);
    (0..shape.iter().product()).map(move |index: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 40) as f64 / f64::from(1 << 24);
        let mut rest = index;
        let waves: f64 = shape
            .iter()
            .rev()
            .map(|size| {
                let position = (rest % size) as f64;
                rest /= size;
                (position * 0.05).sin()
            })
            .sum();
        250.0 + 10.0 * waves + 0.01 * noise
    })
}

/// What inner chunks of shards are compressed by.
pub const INNER_CODECS: [&str; 3] = ["zstd-3", "blosc-zstd-3", "none"];

/// The codecs after `bytes`, each with a comma before it, for one of [`INNER_CODECS`].
pub fn compressor(inner: &str, element_size: usize) -> String {
    match inner {
        "zstd-3" => r#",{"name":"zstd","configuration":{"level":3,"checksum":false}}"#.to_owned(),
        "blosc-zstd-3" => format!(
            r#",{{"name":"blosc","configuration":{{"cname":"zstd","clevel":3,"shuffle":"shuffle",
            "typesize":{element_size},"blocksize":0}}}}"#
        ),
        _ => String::new(),
    }
}
