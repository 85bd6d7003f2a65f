//! `scale_offset`, and the chain that stores floats as integers, as a ratio to a memory copy of the decoded bytes.
//!
//!     cargo bench --bench scale_offset -- fused/       # those whose name has this text

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use zcodec::chain::{CallOptions, Chain};
use zcodec_benches::{SIZES, chain_calls, field_bytes, group};

/// Name, codecs, data type, and the elements that represent one of the field.
struct Case {
    name: &'static str,
    codecs: String,
    data_type: &'static str,
    element: fn(u16) -> Vec<u8>,
}

fn scale_offset(offset: &str, scale: &str) -> String {
    format!(r#"{{"name":"scale_offset","configuration":{{"offset":{offset},"scale":{scale}}}}}"#)
}

fn cases() -> Vec<Case> {
    let float_scale = scale_offset("300", "0.1");
    let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
    let to_uint8 = r#"{"name":"cast_value","configuration":{"data_type":"uint8","out_of_range":"clamp"}}"#;
    let to_int16 = r#"{"name":"cast_value","configuration":{"data_type":"int16","scalar_map":{"encode":[["NaN",-32768]],"decode":[[-32768,"NaN"]]}}}"#;
    let float = |value: u16| f32::from(value).to_ne_bytes().to_vec();
    vec![
        Case { name: "float32", codecs: format!("[{float_scale}]"), data_type: "float32", element: float },
        Case {
            name: "float64",
            codecs: format!("[{float_scale}]"),
            data_type: "float64",
            element: |value| f64::from(value).to_ne_bytes().to_vec(),
        },
        Case {
            name: "float16",
            codecs: format!("[{}]", scale_offset("3", "0.5")),
            data_type: "float16",
            element: |value| (0x3000 | (value % 0x1000)).to_ne_bytes().to_vec(),
        },
        Case {
            name: "int16",
            codecs: format!("[{}]", scale_offset("300", "7")),
            data_type: "int16",
            element: |value| (value % 4000).to_ne_bytes().to_vec(),
        },
        Case {
            name: "int32",
            codecs: format!("[{}]", scale_offset("300", "7")),
            data_type: "int32",
            element: |value| i32::from(value).to_ne_bytes().to_vec(),
        },
        Case {
            name: "int64",
            codecs: format!("[{}]", scale_offset("300", "7")),
            data_type: "int64",
            element: |value| i64::from(value).to_ne_bytes().to_vec(),
        },
        Case {
            name: "uint8",
            codecs: format!("[{}]", scale_offset("1", "2")),
            data_type: "uint8",
            element: |value| vec![1 + (value % 127) as u8],
        },
        Case {
            name: "fused/float32-uint8",
            codecs: format!("[{},{to_uint8},{bytes}]", scale_offset("300", "0.01")),
            data_type: "float32",
            element: float,
        },
        Case {
            name: "fused/float32-int16-nan",
            codecs: format!("[{},{to_int16},{bytes}]", scale_offset("30000", "0.9")),
            data_type: "float32",
            // A seventh of the field is NaN, as land is in a map of the sea.
            element: |value| if value % 7 == 0 { f32::NAN } else { f32::from(value) }.to_ne_bytes().to_vec(),
        },
    ]
}

/// The measured field as elements of this type.
fn elements(case: &Case, size: usize) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(size + 8);
    for value in field_bytes(size).as_chunks::<2>().0.iter().cycle() {
        decoded.extend_from_slice(&(case.element)(u16::from_le_bytes(*value)));
        if decoded.len() >= size {
            break;
        }
    }
    decoded.truncate(size);
    decoded
}

fn chains(criterion: &mut Criterion) {
    for case in cases() {
        for (size_name, size) in SIZES {
            let decoded = elements(&case, size);
            let element_size = (case.element)(1).len();
            let input =
                format!(r#"{{"data_type":"{}","shape":[{}],"fill_value":300}}"#, case.data_type, size / element_size);
            let input = if case.data_type == "uint8" { input.replace("300", "1") } else { input };
            let chain = Chain::new(case.codecs.as_bytes(), Some(input.as_bytes())).expect("the chain is valid");
            let options = CallOptions::default();
            let encoded = chain.encode_to_vec(&decoded, &options).expect("the chunk encodes");
            let again = chain.decode_to_vec(&encoded, &options).expect("the chunk decodes");
            // Floats alone come back with other last bits.
            if !case.name.starts_with("float") {
                let twice = chain.encode_to_vec(&again, &options);
                assert_eq!(twice.as_ref(), Ok(&encoded), "{} does not come back", case.name);
            }
            let mut target = vec![0; encoded.len()];
            let mut group_ = group(criterion, &format!("scale_offset/{}/encode/{size_name}", case.name), size);
            for (contestant, options) in chain_calls(size) {
                group_.bench_function(BenchmarkId::from_parameter(contestant), |bencher| {
                    bencher.iter(|| chain.encode_into(black_box(&decoded), black_box(&mut target), &options));
                });
            }
            group_.finish();
            let mut target = vec![0; size];
            let mut group_ = group(criterion, &format!("scale_offset/{}/decode/{size_name}", case.name), size);
            for (contestant, options) in chain_calls(size) {
                group_.bench_function(BenchmarkId::from_parameter(contestant), |bencher| {
                    bencher.iter(|| chain.decode_into(black_box(&encoded), black_box(&mut target), &options));
                });
            }
            group_.finish();
        }
    }
}

criterion_group!(benches, chains);
criterion_main!(benches);
