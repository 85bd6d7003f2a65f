//! `cast_value` in one direction, as a ratio to a memory copy of the larger side's bytes: the chain as it is, with
//! portable loops only, and by the scalar reference.
//!
//!     cargo bench --bench cast_value -- float32-int16      # those whose name has this text
//!     cargo bench --features peers --bench cast_value      # with the crate zarr-cast-value, for the types it has

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use zcodec::chain::{CallOptions, Chain};
use zcodec::codec::{Level, set_limit};
use zcodec_benches::{chain_calls, group, random_bytes};

const SIZES: [(&str, usize); 2] = [("1MiB", 1 << 20), ("64MiB", 64 << 20)];

/// Source and target, members of the configuration, and the source's element for a random number.
type Case = (&'static str, &'static str, &'static str, fn(u16) -> Vec<u8>);

const CASES: [Case; 27] = [
    ("float64", "uint8", r#""out_of_range":"clamp""#, float64),
    ("float64", "float32", "", float64),
    ("float64", "float32", r#""rounding":"towards-zero""#, float64),
    ("float64", "float32", r#""rounding":"towards-positive""#, float64),
    ("float64", "float32", r#""rounding":"towards-negative""#, float64),
    ("float64", "float32", r#""rounding":"nearest-away""#, float64),
    ("uint16", "uint8", r#""out_of_range":"wrap""#, |value| value.to_ne_bytes().to_vec()),
    ("int64", "int32", "", |value| i64::from(value).to_ne_bytes().to_vec()),
    ("int32", "int16", "", |value| i32::from(value as i16).to_ne_bytes().to_vec()),
    ("float32", "int16", "", float32),
    ("float32", "int16", r#""rounding":"towards-zero""#, float32),
    ("float32", "int16", r#""rounding":"towards-positive""#, float32),
    ("float32", "int16", r#""rounding":"towards-negative""#, float32),
    ("float32", "int16", r#""rounding":"nearest-away""#, float32),
    ("float32", "int16", r#""scalar_map":{"encode":[["NaN",-32768]]}"#, |value| {
        if value % 7 == 0 { f32::NAN.to_ne_bytes().to_vec() } else { float32(value) }
    }),
    ("float32", "uint8", r#""out_of_range":"clamp""#, float32),
    ("int16", "float32", "", |value| value.to_ne_bytes().to_vec()),
    ("int16", "float32", r#""scalar_map":{"encode":[[-32768,"NaN"]]}"#, |value| {
        (if value % 7 == 0 { i16::MIN } else { value as i16 }).to_ne_bytes().to_vec()
    }),
    ("uint16", "float64", "", |value| value.to_ne_bytes().to_vec()),
    ("float32", "float64", "", float32),
    ("float32", "float16", "", float32),
    ("float16", "float32", "", |value| (value & 0xBBFF).to_ne_bytes().to_vec()),
    ("float32", "bfloat16", "", float32),
    ("bfloat16", "float32", "", |value| (value & 0xBFFF).to_ne_bytes().to_vec()),
    ("float32", "float8_e4m3", "", |value| f32::from((value as i16) / 256).to_ne_bytes().to_vec()),
    ("uint8", "float32", "", |value| vec![value as u8]),
    ("int4", "float32", "", |value| vec![((value as i8) << 4 >> 4).cast_unsigned()]),
];

/// With a fraction, and inside `int16`.
fn float32(value: u16) -> Vec<u8> {
    (f32::from(value as i16) * 0.999).to_ne_bytes().to_vec()
}

fn float64(value: u16) -> Vec<u8> {
    (f64::from(value as i16) * 0.999).to_ne_bytes().to_vec()
}

/// The part of a configuration that goes into a name.
fn words(members: &str) -> String {
    let words = members.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
    let kept = words.filter(|word| !["", "rounding", "out_of_range", "scalar_map", "encode"].contains(word));
    kept.map(|word| format!("-{}", word.trim_start_matches('-'))).collect()
}

fn casts(criterion: &mut Criterion) {
    for (source, target, members, element) in CASES {
        for (size_name, size) in SIZES {
            let mut random = random_bytes(1 << 17).into_iter();
            let mut next = || element(u16::from_le_bytes([random.next().unwrap_or(1), random.next().unwrap_or(1)]));
            let pattern: Vec<Vec<u8>> = (0..1 << 16).map(|_| next()).collect();
            let source_size = pattern[0].len();
            let zero = format!(r#"{{"data_type":"{target}","shape":[1],"fill_value":0}}"#);
            let target_size =
                Chain::new(br#"[{"name":"bytes","configuration":{"endian":"little"}}]"#, Some(zero.as_bytes()))
                    .map(|chain| chain.decoded_size())
                    .expect("the target is a data type")
                    .expect("the input is an array") as usize;
            let count = size / source_size.max(target_size);
            let decoded: Vec<u8> = pattern.into_iter().cycle().take(count).flatten().collect();

            let comma = if members.is_empty() { "" } else { "," };
            let codecs =
                format!(r#"[{{"name":"cast_value","configuration":{{"data_type":"{target}"{comma}{members}}}}}]"#);
            let input = format!(r#"{{"data_type":"{source}","shape":[{count}],"fill_value":0}}"#);
            let bind = || Chain::new(codecs.as_bytes(), Some(input.as_bytes())).expect("the chain is valid");
            let options = CallOptions::default();
            let mut encoded = vec![0; count * target_size];
            let name = format!("cast_value/{source}-{target}{}/{size_name}", words(members));
            let mut group = group(criterion, &name, size);
            for (contestant, limit) in
                [("zcodec", None), ("portable", Some(Level::Portable)), ("reference", Some(Level::Reference))]
            {
                if limit == Some(Level::Reference) && size > 1 << 20 {
                    continue;
                }
                set_limit(limit);
                let chain = bind();
                chain.encode_into(&decoded, &mut encoded, &options).expect("the chunk encodes");
                group.bench_function(BenchmarkId::from_parameter(contestant), |bencher| {
                    bencher.iter(|| chain.encode_into(black_box(&decoded), black_box(&mut encoded), &options));
                });
                set_limit(None);
            }
            for (contestant, options) in chain_calls(size).into_iter().skip(1) {
                let chain = bind();
                group.bench_function(BenchmarkId::from_parameter(contestant), |bencher| {
                    bencher.iter(|| chain.encode_into(black_box(&decoded), black_box(&mut encoded), &options));
                });
            }
            #[cfg(feature = "peers")]
            if let Some(mut peer) = zcodec_benches::peers::cast(source, target, members, &decoded) {
                peer.run();
                assert!(peer.encoded() == encoded, "{name}: the peer differs");
                group.bench_function(BenchmarkId::from_parameter("zarr-cast-value"), |bencher| {
                    bencher.iter(|| peer.run());
                });
            }
            group.finish();
        }
    }
}

criterion_group!(benches, casts);
criterion_main!(benches);
