//! Packing and unpacking of bit ranges: the chain, each kernel tier alone, and a memory copy of the decoded bytes.
//!
//!     cargo bench --bench packbits -- bool/decode     # those whose name has this text
//!     cargo bench --features peers --bench packbits   # with the crate zarrs, on one thread

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use zcodec::chain::{CallOptions, Chain};
use zcodec::codec::{Level, packbits_kernels};
use zcodec_benches::{chain_calls, group, random_bytes};

const SIZES: [(&str, usize); 2] = [("1MiB", 1 << 20), ("64MiB", 64 << 20)];

/// Data type, bytes per element, first bit, last bit.
const CASES: [(&str, usize, u32, u32); 8] = [
    ("bool", 1, 0, 0),
    ("uint4", 1, 0, 3),
    ("int4", 1, 0, 3),
    ("uint8", 1, 0, 4),
    ("uint16", 2, 0, 11),
    ("float32", 4, 8, 31),
    ("int32", 4, 0, 16),
    ("uint64", 8, 0, 39),
];

fn packbits(criterion: &mut Criterion) {
    for (data_type, element_size, first_bit, last_bit) in CASES {
        for (size_name, size) in SIZES {
            let codecs =
                format!(r#"[{{"name":"packbits","configuration":{{"first_bit":{first_bit},"last_bit":{last_bit}}}}}]"#);
            let fill_value = if data_type == "bool" { "false" } else { "0" };
            let count = size / element_size;
            let input = format!(r#"{{"data_type":"{data_type}","shape":[{count}],"fill_value":{fill_value}}}"#);
            let chain = Chain::new(codecs.as_bytes(), Some(input.as_bytes())).expect("the chain is valid");
            let options = CallOptions::default();
            let mut decoded = random_bytes(size);
            if data_type == "bool" {
                decoded.iter_mut().for_each(|byte| *byte &= 1);
            }
            let encoded = chain.encode_to_vec(&decoded, &options).expect("the chunk encodes");
            let mut kernels = packbits_kernels(data_type, first_bit, last_bit).expect("the data type is known");
            if size > 1 << 20 {
                // One bit after the other takes seconds.
                kernels.retain(|(tier, _)| *tier != Level::Reference);
            }
            #[cfg(feature = "peers")]
            let peer = zcodec_benches::peers::Zarrs::new(&codecs, data_type, element_size, &[count]);
            let name = format!("packbits/{data_type}-bits-{first_bit}-{last_bit}");

            let mut target = vec![0; encoded.len()];
            let mut group_ = group(criterion, &format!("{name}/encode/{size_name}"), size);
            for (contestant, options) in chain_calls(size) {
                group_.bench_function(BenchmarkId::from_parameter(contestant), |bencher| {
                    bencher.iter(|| chain.encode_into(black_box(&decoded), black_box(&mut target), &options));
                });
            }
            for (tier, kernel) in &kernels {
                kernel.encode(&decoded, &mut target).expect("every element can be represented");
                assert!(target == encoded, "{name} {tier:?}");
                group_.bench_function(BenchmarkId::from_parameter(format!("{tier:?}").to_lowercase()), |bencher| {
                    bencher.iter(|| kernel.encode(black_box(&decoded), black_box(&mut target)));
                });
            }
            #[cfg(target_arch = "x86_64")]
            if data_type == "bool" && is_x86_feature_detected!("avx2") {
                group_.bench_function(BenchmarkId::from_parameter("reading"), |bencher| {
                    // SAFETY: the processor was asked.
                    bencher.iter(|| unsafe { read_and_write_an_eighth(black_box(&decoded), black_box(&mut target)) });
                });
            }
            #[cfg(feature = "peers")]
            if let Some(peer) = &peer {
                assert!(*peer.encode(&decoded) == encoded, "{name}: the peer differs");
                group_.bench_function(BenchmarkId::from_parameter("zarrs"), |bencher| {
                    bencher.iter(|| peer.encode(black_box(&decoded)));
                });
            }
            group_.finish();

            let expected = chain.decode_to_vec(&encoded, &options).expect("the chunk decodes");
            let mut target = vec![0; size];
            let mut group_ = group(criterion, &format!("{name}/decode/{size_name}"), size);
            for (contestant, options) in chain_calls(size) {
                group_.bench_function(BenchmarkId::from_parameter(contestant), |bencher| {
                    bencher.iter(|| chain.decode_into(black_box(&encoded), black_box(&mut target), &options));
                });
            }
            for (tier, kernel) in &kernels {
                kernel.decode(&encoded, &mut target).expect("every element can be represented");
                assert!(target == expected, "{name} {tier:?}");
                group_.bench_function(BenchmarkId::from_parameter(format!("{tier:?}").to_lowercase()), |bencher| {
                    bencher.iter(|| kernel.decode(black_box(&encoded), black_box(&mut target)));
                });
            }
            // zarrs extends a sign to the end of its byte only, the specification to all bits.
            #[cfg(feature = "peers")]
            if let Some(peer) = peer.as_ref().filter(|_| data_type != "int32") {
                assert!(*peer.decode(&encoded) == expected, "{name}: the peer differs");
                group_.bench_function(BenchmarkId::from_parameter("zarrs"), |bencher| {
                    bencher.iter(|| peer.decode(black_box(&encoded)));
                });
            }
            group_.finish();
        }
    }
}

/// A lower bound for packing bools: only reading them, alternating between two places, and writing an eighth as many
/// bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn read_and_write_an_eighth(decoded: &[u8], target: &mut [u8]) {
    let blocks = decoded.as_chunks::<32>().0.as_chunks::<8>().0;
    let (first_blocks, second_blocks) = blocks.split_at(blocks.len() / 2);
    let (first_targets, second_targets) = target.as_chunks_mut::<32>().0.split_at_mut(blocks.len() / 2);
    let merge = |rows: &[[u8; 32]; 8]| std::array::from_fn(|place| rows.iter().fold(0, |bits, row| bits | row[place]));
    for index in 0..blocks.len() / 2 {
        first_targets[index] = merge(&first_blocks[index]);
        second_targets[index] = merge(&second_blocks[index]);
    }
}

criterion_group!(benches, packbits);
criterion_main!(benches);
