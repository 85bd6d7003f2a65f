//! A whole shard, compared with the crate `zarrs`, as a Markdown table. Both sides allocate what they return.
//!
//!     cargo bench --features peers --bench shards

use std::hint::black_box;
use zcodec::chain::{CallOptions, Chain};
use zcodec_benches::peers::Zarrs;
use zcodec_benches::turns::{Contestant, in_turn};
use zcodec_benches::{INNER_CODECS, compressor, field_bytes, smooth, two_threads};

const ROUNDS: usize = 15;

fn main() {
    println!("| work | threads | zcodec, ms | times as fast as zarrs |");
    println!("| --- | ---: | ---: | ---: |");
    measure("nuclei", "uint16", 2, [256; 3], &field_bytes(32 << 20));
    let shape = [128, 256, 256];
    let field: Vec<u8> = smooth(&shape).flat_map(|value| (value as f32).to_ne_bytes()).collect();
    measure("field", "float32", 4, shape, &field);
}

fn measure(array: &str, data_type: &str, element_size: usize, shape: [usize; 3], decoded: &[u8]) {
    for inner in INNER_CODECS {
        let (name, compressor) = (format!("{array}, {inner}"), compressor(inner, element_size));
        let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
        let codecs = format!(
            r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":[32,32,32],
            "codecs":[{bytes}{compressor}],"index_codecs":[{bytes},"crc32c"]}}}}]"#
        );
        let input = format!(r#"{{"data_type":"{data_type}","shape":{shape:?},"fill_value":0}}"#);
        let chain = Chain::new(codecs.as_bytes(), Some(input.as_bytes())).expect("the chain is valid");
        let encoded = chain.encode_to_vec(decoded, &CallOptions::default()).expect("the shard encodes");
        for (threads, options) in [(1, CallOptions::default()), (2, two_threads())] {
            let peer = Zarrs::new(&codecs, data_type, element_size, &shape)
                .expect("zarrs has these codecs")
                .with_threads(threads);
            assert!(*peer.decode(&encoded) == *decoded, "{name}: zarrs decodes to something else");
            let theirs = peer.encode(decoded);
            assert!(
                chain.decode_to_vec(&theirs, &options).is_ok_and(|ours| ours == decoded),
                "{name}: what zarrs wrote decodes to something else"
            );
            row(
                &format!("{name}, read"),
                threads,
                &mut [
                    Box::new(|| drop(chain.decode_to_vec(black_box(&encoded), &options))),
                    Box::new(|| drop(peer.decode(black_box(&encoded)))),
                ],
            );
            row(
                &format!("{name}, write"),
                threads,
                &mut [
                    Box::new(|| drop(chain.encode_to_vec(black_box(decoded), &options))),
                    Box::new(|| drop(peer.encode(black_box(decoded)))),
                ],
            );
        }
    }
}

fn row(work: &str, threads: usize, contestants: &mut [Contestant<'_>]) {
    let medians = in_turn(contestants, ROUNDS);
    println!("| {work} | {threads} | {:.1} | {:.2} |", medians.seconds * 1e3, 1.0 / medians.ratios[1]);
}
