//! Many threads use one chain, or one writer and one plan, at the same time. `scripts/sanitize.sh` runs this under
//! ThreadSanitizer, and so `tests/engine/threads.rs`, where the threads are those of one call.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use zcodec::chain::{ByteRange, CallOptions, Chain, PieceBytes, ShardLayout, Writer};
use zcodec::strided::Source;

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

/// A shard of 64 inner chunks, each in two halves, for threads that put rows and supply what was there.
#[test]
fn many_threads_put_and_supply() {
    let codecs = br#"[{"name":"sharding_indexed","configuration":{"chunk_shape":[16,16],"codecs":["bytes","zstd"],
        "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},"crc32c"]}}]"#;
    let input = br#"{"data_type":"uint8","shape":[128,128],"fill_value":0}"#;
    let chain = Arc::new(Chain::new(codecs, Some(input)).unwrap());
    let mut expected: Vec<u8> = (0..128 * 128).map(|i| (i / 3) as u8).collect();
    let options = CallOptions::default();
    let old = chain.encode_to_vec(&expected, &options).unwrap();
    let index = |object: &[u8]| {
        let ByteRange::Last(size) = chain.index_range().unwrap() else { panic!("the index is at the end") };
        chain.decode_index(&object[object.len() - size as usize..], Some(object.len() as u64)).unwrap()
    };
    let mut writer = Writer::new(&chain, options.clone(), Some((Arc::new(index(&old)), old.len() as u64))).unwrap();
    // Rows 0 to 99: inner chunks that are put whole by eight threads, and those of the last rows in part.
    thread::scope(|scope| {
        for id in 0..THREADS {
            let writer = &writer;
            scope.spawn(move || {
                for row in (id..100).step_by(THREADS) {
                    let elements = vec![row as u8; 128];
                    writer.put(&[row as u64, 0], Source::contiguous(&elements, 1, &[1, 128]).unwrap()).unwrap();
                }
            });
        }
    });
    for (row, elements) in expected.chunks_exact_mut(128).take(100).enumerate() {
        elements.fill(row as u8);
    }
    let ranges: Vec<ByteRange> = writer.next_stage().unwrap().collect();
    assert_eq!(ranges.len(), 8);
    thread::scope(|scope| {
        for (id, range) in ranges.iter().enumerate() {
            let (writer, old) = (&writer, &old);
            scope.spawn(move || {
                let ByteRange::At { offset, size } = range else { panic!("{range:?}") };
                writer.supply(id, &old[*offset as usize..(offset + size) as usize]).unwrap();
            });
        }
    });
    let (pieces, size) = writer.finish(ShardLayout::Packed).unwrap();
    let mut made = Vec::new();
    for piece in pieces {
        match &piece.bytes {
            PieceBytes::Old(range) => made.extend_from_slice(&old[range.start as usize..range.end as usize]),
            PieceBytes::New(bytes) => made.extend_from_slice(bytes),
        }
    }
    assert_eq!(made.len() as u64, size);
    assert!(made == chain.encode_to_vec(&expected, &options).unwrap());
}
