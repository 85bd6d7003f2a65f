//! The codecs of the ground and the example chains of the pad and offset specifications, as a ratio to a memory copy
//! of the same decoded bytes.
//!
//!     cargo bench --bench chains -- pad/       # those whose name has this text

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use zcodec::chain::{CallOptions, Chain};
use zcodec_benches::{SIZES, field_bytes, group};

const TIFF_PREFIX: &str = "SUkqAAgAAAAIAAABAwABAAAAAAEAAAEBAwABAAAAAAEAAAIBAwABAAAAEAAAAAMBAwABAAAAAQAAAAYBAwABAAAAAQAAABEBBAABAAAAbgAAABYBAwABAAAAAAEAABcBBAABAAAAAAACAAAAAAA=";

/// Name, codecs, and the data type and innermost size of the array that enters; none for bytes.
fn cases() -> Vec<(&'static str, String, Option<&'static str>)> {
    let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
    let pad = r#"{"name":"pad","configuration":{"location":"start","nbytes":110}}"#;
    vec![
        ("pad", format!("[{pad}]"), None),
        ("offset", r#"[{"name":"offset","configuration":{"offset":12}}]"#.to_owned(), None),
        ("bytes-little", format!("[{bytes}]"), Some("uint16")),
        ("bytes-big", format!("[{}]", bytes.replace("little", "big")), Some("uint16")),
        ("bytes-pad", format!("[{bytes},{pad}]"), Some("uint16")),
        ("crc32c", r#"["crc32c"]"#.to_owned(), None),
        ("transpose", r#"[{"name":"transpose","configuration":{"order":[2,1,0]}}]"#.to_owned(), Some("uint16")),
        ("gzip-1", format!(r#"[{bytes},{{"name":"gzip","configuration":{{"level":1}}}}]"#), Some("uint16")),
        ("zstd-3", format!(r#"[{bytes},{{"name":"zstd","configuration":{{"level":3}}}}]"#), Some("uint16")),
        (
            "tiff",
            format!(r#"[{bytes},{{"name":"offset","configuration":{{"offset":110,"prefix":"{TIFF_PREFIX}"}}}}]"#),
            Some("uint16"),
        ),
        (
            "custom-header",
            r#"["bytes","gzip",{"name":"offset","configuration":{"offset":16,"prefix":"TVlfQ1VTVE9NX0hFQURFUg=="}}]"#
                .to_owned(),
            Some("uint8"),
        ),
        (
            "n5",
            r#"[{"name":"transpose","configuration":{"order":[2,1,0]}},{"name":"bytes","configuration":{"endian":"big"}},{"name":"zstd","configuration":{"level":3}},{"name":"offset","configuration":{"offset":16}}]"#
                .to_owned(),
            Some("uint16"),
        ),
    ]
}

fn chains(criterion: &mut Criterion) {
    for (name, codecs, data_type) in cases() {
        for (size_name, size) in SIZES {
            let input = data_type.map(|data_type| {
                let count = size / if data_type == "uint8" { 1 } else { 2 };
                format!(r#"{{"data_type":"{data_type}","shape":[{},32,64],"fill_value":0}}"#, count / (32 * 64))
            });
            let chain = Chain::new(codecs.as_bytes(), input.as_deref().map(str::as_bytes)).expect("the chain is valid");
            let options = CallOptions::default();
            let decoded = field_bytes(size);
            let encoded = chain.encode_to_vec(&decoded, &options).expect("the chunk encodes");
            assert_eq!(chain.decode_to_vec(&encoded, &options).as_ref(), Ok(&decoded), "{name} does not come back");
            let mut target = vec![0; chain.encoded_bound(size as u64).expect("the size is possible") as usize];
            let mut group_ = group(criterion, &format!("{name}/encode/{size_name}"), size);
            group_.bench_function(BenchmarkId::from_parameter("zcodec"), |bencher| {
                bencher.iter(|| chain.encode_into(black_box(&decoded), black_box(&mut target), &options));
            });
            group_.finish();
            let mut target = vec![0; size];
            let mut group_ = group(criterion, &format!("{name}/decode/{size_name}"), size);
            group_.bench_function(BenchmarkId::from_parameter("zcodec"), |bencher| {
                bencher.iter(|| chain.decode_into(black_box(&encoded), black_box(&mut target), &options));
            });
            group_.finish();
        }
    }
}

criterion_group!(benches, chains);
criterion_main!(benches);
