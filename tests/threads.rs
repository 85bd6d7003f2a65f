//! Many threads use one chain at the same time, in every way. `scripts/sanitize.sh` runs this under ThreadSanitizer.

use std::num::NonZeroUsize;
use std::thread;
use zcodec::chain::{CallOptions, Chain};

const THREADS: usize = 8;
const ROUNDS: usize = 20;
const SIZE: usize = 2 * 512 * 512;

#[test]
fn many_threads_share_a_chain_and_its_reshaped_copies() {
    let codecs = br#"[{"name":"transpose","configuration":{"order":[1,0]}},
        {"name":"bytes","configuration":{"endian":"big"}},"zstd","crc32c"]"#;
    let input = br#"{"data_type":"uint16","shape":[512,512],"fill_value":0}"#;
    let chain = &Chain::new(codecs, Some(input)).unwrap();
    thread::scope(|scope| {
        for id in 0..THREADS {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let max_threads = NonZeroUsize::new(1 + round % 3).unwrap();
                    let options = CallOptions { max_threads, ..CallOptions::default() };
                    one_round(chain, SIZE, id + round, &options);
                    let border = chain.with_shape(&[10, 20]).unwrap();
                    one_round(&border, 400, id * round, &options);
                }
            });
        }
    });
}

fn one_round(chain: &Chain, size: usize, seed: usize, options: &CallOptions) {
    let decoded: Vec<u8> = (0..size).map(|i| (i / 5 * (seed + 1)) as u8).collect();
    let mut encoded = chain.encode_to_vec(&decoded, options).unwrap();
    let mut again = vec![0; size];
    assert_eq!(chain.decode_into(&encoded, &mut again, options), Ok(size));
    assert!(again == decoded, "a chunk of {size} bytes, seed {seed}");
    encoded[0] ^= 1;
    assert!(chain.decode_into(&encoded, &mut again, options).is_err());
}
