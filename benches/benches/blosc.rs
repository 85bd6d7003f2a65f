//! The filters alone, each tier, compared with a memory copy; and frames of every compressor and filter, whole chains,
//! compared with the C library. Both decode what the C library wrote, if it is there; `encoded` sizes are printed once.
//!
//!     cargo bench --bench blosc -- shuffle/
//!     cargo bench --features blosc-src --bench blosc -- blosc/zstd

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use zcodec::chain::{CallOptions, Chain};
use zcodec::codec::blosc_internals::Shuffle;
use zcodec_benches::filters::FILTERS;
use zcodec_benches::{field_bytes, group, temperature_bytes};

fn kernels(criterion: &mut Criterion) {
    for (size_name, size) in [("16KiB", 16 << 10), ("64KiB", 64 << 10), ("256KiB", 256 << 10)] {
        let decoded = field_bytes(size);
        let mut target = vec![0; size];
        for element_size in [2, 4, 8] {
            for (name, filter) in FILTERS {
                let mut group = group(criterion, &format!("shuffle/{name}-{element_size}/any/{size_name}"), size);
                for (tier, shuffle) in Shuffle::all(element_size) {
                    let mut tile = vec![0; shuffle.tile_size()];
                    group.bench_function(BenchmarkId::from_parameter(format!("{tier:?}").to_lowercase()), |bencher| {
                        bencher.iter(|| filter(&shuffle, black_box(&decoded), black_box(&mut target), &mut tile));
                    });
                }
                group.finish();
            }
        }
    }
}

fn frames(criterion: &mut Criterion) {
    let fields = [("uint16", 2, field_bytes as fn(usize) -> Vec<u8>), ("float32", 4, temperature_bytes)];
    for (data_type, element_size, bytes) in fields {
        for (size_name, size) in [("64KiB", 64 << 10), ("4MiB", 4 << 20)] {
            let decoded = bytes(size);
            for compressor in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
                for filter in ["noshuffle", "shuffle", "bitshuffle"] {
                    let name = format!("blosc/{compressor}-5-{filter}-{data_type}");
                    frame(criterion, &name, size_name, &decoded, (compressor, filter, element_size));
                }
            }
        }
    }
}

fn frame(criterion: &mut Criterion, name: &str, size_name: &str, decoded: &[u8], what: (&str, &str, usize)) {
    let (compressor, filter, element_size) = what;
    let codecs = format!(
        r#"[{{"name":"blosc","configuration":{{"cname":"{compressor}","clevel":5,"shuffle":"{filter}",
        "typesize":{element_size},"blocksize":0}}}}]"#
    );
    let chain = Chain::new(codecs.as_bytes(), None).expect("the chain is valid");
    let options = CallOptions::default();
    let size = decoded.len();
    let mut target = vec![0; size + 16];
    let ours = chain.encode_to_vec(decoded, &options).expect("the chunk encodes");
    #[cfg(feature = "blosc-src")]
    let encoded = {
        let theirs = c_library::encode(what, decoded);
        println!(
            "{name}/{size_name}: {} bytes, C {}, {:.4}",
            ours.len(),
            theirs.len(),
            ours.len() as f64 / theirs.len() as f64
        );
        theirs
    };
    #[cfg(not(feature = "blosc-src"))]
    let encoded = ours;
    assert!(chain.decode_to_vec(&encoded, &options).is_ok_and(|again| again == decoded), "{name}");

    let mut group_ = group(criterion, &format!("{name}/encode/{size_name}"), size);
    group_.bench_function(BenchmarkId::from_parameter("zcodec"), |bencher| {
        bencher.iter(|| chain.encode_into(black_box(decoded), black_box(&mut target), &options));
    });
    #[cfg(feature = "blosc-src")]
    group_.bench_function(BenchmarkId::from_parameter("c-blosc"), |bencher| {
        bencher.iter(|| c_library::encode_into(what, black_box(decoded), black_box(&mut target)));
    });
    group_.finish();
    let mut group_ = group(criterion, &format!("{name}/decode/{size_name}"), size);
    group_.bench_function(BenchmarkId::from_parameter("zcodec"), |bencher| {
        bencher.iter(|| chain.decode_into(black_box(&encoded), black_box(&mut target[..size]), &options));
    });
    #[cfg(feature = "blosc-src")]
    group_.bench_function(BenchmarkId::from_parameter("c-blosc"), |bencher| {
        bencher.iter(|| c_library::decode_into(black_box(&encoded), black_box(&mut target[..size])));
    });
    group_.finish();
}

#[cfg(feature = "blosc-src")]
mod c_library {
    use std::ffi::CString;

    pub fn encode((compressor, filter, element_size): (&str, &str, usize), decoded: &[u8]) -> Vec<u8> {
        let mut encoded = vec![0; decoded.len() + 16];
        let size = encode_into((compressor, filter, element_size), decoded, &mut encoded);
        encoded.truncate(size);
        encoded
    }

    pub fn encode_into(what: (&str, &str, usize), decoded: &[u8], encoded: &mut [u8]) -> usize {
        let (compressor, filter, element_size) = what;
        let filter = ["noshuffle", "shuffle", "bitshuffle"].iter().position(|name| *name == filter);
        let compressor = CString::new(compressor).expect("a name has no zeros");
        // SAFETY: both sides are passed with their sizes, the name ends with a zero.
        let size = unsafe {
            blosc_src::blosc_compress_ctx(
                5,
                filter.expect("the filter is known") as i32,
                element_size,
                decoded.len(),
                decoded.as_ptr().cast(),
                encoded.as_mut_ptr().cast(),
                encoded.len(),
                compressor.as_ptr(),
                0,
                1,
            )
        };
        usize::try_from(size).expect("the chunk encodes")
    }

    pub fn decode_into(encoded: &[u8], decoded: &mut [u8]) {
        // SAFETY: the frame is one of this library; the output is passed with its size.
        let size = unsafe {
            blosc_src::blosc_decompress_ctx(encoded.as_ptr().cast(), decoded.as_mut_ptr().cast(), decoded.len(), 1)
        };
        assert_eq!(usize::try_from(size), Ok(decoded.len()));
    }
}

criterion_group!(benches, kernels, frames);
criterion_main!(benches);
