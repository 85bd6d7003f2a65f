//! Boxes of shards that are larger than caches, whose inner chunks go to their place, or come from it, together.

use super::case::{named, options, sharding};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::Arc;
use zcodec::Status;
use zcodec::chain::{CallOptions, Chain, Piece, PieceBytes, ReadPlan, ShardLayout, Writer};
use zcodec::strided::{Layout, Source, Target};

const SHAPE: [u64; 3] = [32, 256, 1088];

/// Strips of 16 inner chunks, and one of 2.
const INNER: [u64; 3] = [16, 32, 32];

/// A box of more than 16 MiB, all of whose sides cut inner chunks.
const PART: ([u64; 3], [u64; 3]) = ([0, 3, 7], [32, 250, 1070]);

fn chain(inner: &Value) -> Arc<Chain> {
    let index_codecs = json!([named("bytes", &json!({"endian": "little"}))]);
    let configuration = json!({"chunk_shape": INNER, "codecs": inner, "index_codecs": index_codecs});
    let codecs = json!([named("sharding_indexed", &configuration)]);
    let input = json!({"data_type": "uint16", "shape": SHAPE, "fill_value": 0});
    Arc::new(Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap())
}

/// Elements, and every seventh column of inner chunks empty.
fn elements() -> Vec<u16> {
    let [_, rows, columns] = SHAPE;
    let element = |index: u64| {
        let (plane, row, column) = (index / (rows * columns), index / columns % rows, index % columns);
        let is_empty = column / INNER[2] % 7 == 3;
        if is_empty { 0 } else { (plane * 31 + row * 7 + column) as u16 | 1 }
    };
    (0..SHAPE.iter().product()).map(element).collect()
}

/// Where an array of this shape lies in memory: where its first element begins, and its strides in bytes.
type Place = (usize, [i64; 3]);

fn places([planes, rows, columns]: [u64; 3]) -> Vec<Place> {
    let [planes, rows, columns] = [planes, rows, columns].map(u64::cast_signed);
    let in_order = |row: i64| [rows * row, row, 2];
    vec![
        // From a line on, from anywhere, and with gaps after rows, also such that they begin with lines.
        (0, in_order(2 * columns)),
        (16, in_order(2 * columns)),
        (6, in_order(2 * columns)),
        (48, in_order((2 * columns + 200) / 64 * 64)),
        (0, in_order(2 * columns + 10)),
        // Backwards, and in the other order.
        ((2 * columns * (rows - 1)) as usize, [2 * rows * columns, -2 * columns, 2]),
        (0, [2, 2 * planes, 2 * planes * rows]),
    ]
}

/// A box of the elements at this place, and a byte that is none of theirs everywhere else.
fn laid_out((start, shape): ([u64; 3], [u64; 3]), (offset, strides): Place) -> (Layout, Vec<u8>) {
    let whole = elements();
    let steps = |position: [u64; 3]| -> i64 {
        position.iter().zip(strides).map(|(index, stride)| index.cast_signed() * stride).sum()
    };
    let last: i64 = shape.iter().zip(strides).map(|(size, stride)| (size.cast_signed() - 1) * stride.max(0)).sum();
    let mut memory = vec![0xA5_u8; offset + last as usize + 64];
    for plane in 0..shape[0] {
        for row in 0..shape[1] {
            let first = ((start[0] + plane) * SHAPE[1] + start[1] + row) * SHAPE[2] + start[2];
            let row_at = offset as i64 + steps([plane, row, 0]);
            for (column, element) in whole[first as usize..][..shape[2] as usize].iter().enumerate() {
                let at = (row_at + column as i64 * strides[2]) as usize;
                memory[at..at + 2].copy_from_slice(&element.to_ne_bytes());
            }
        }
    }
    (Layout::new(2, &shape, Some(&strides), offset, memory.len()).unwrap(), memory)
}

/// Checks that `decode` writes a box to all these places, and nothing between.
fn check(what: &str, (start, shape): ([u64; 3], [u64; 3]), decode: &dyn Fn(Target<'static>)) {
    for place in places(shape) {
        let (layout, expected) = laid_out((start, shape), place);
        let mut memory = vec![0xA5_u8; expected.len()];
        // SAFETY: the target is used within the call of `decode`, and the memory after it.
        decode(unsafe { Target::from_raw(memory.as_mut_ptr(), memory.len(), layout) }.unwrap());
        assert!(memory == expected, "{what}: {start:?}, {shape:?} to {place:?}");
    }
}

/// The same shard with its inner chunks in the opposite order.
fn reversed(encoded: &[u8]) -> Vec<u8> {
    let chunk_count: u64 = SHAPE.iter().zip(INNER).map(|(size, inner)| size / inner).product();
    let (chunks, index) = encoded.split_at(encoded.len() - 16 * chunk_count as usize);
    let mut entries: Vec<[u64; 2]> = index
        .chunks_exact(16)
        .map(|entry| [0, 8].map(|at| u64::from_le_bytes(*entry[at..].first_chunk().unwrap())))
        .collect();
    let mut object = Vec::new();
    for [offset, size] in entries.iter_mut().rev().filter(|entry| entry[0] != u64::MAX) {
        let chunk = &chunks[*offset as usize..(*offset + *size) as usize];
        *offset = object.len() as u64;
        object.extend_from_slice(chunk);
    }
    object.extend(entries.iter().flatten().flat_map(|number| number.to_le_bytes()));
    object
}

fn threads(count: usize) -> CallOptions {
    CallOptions { max_threads: NonZeroUsize::new(count).unwrap(), ..options() }
}

/// Reads by a plan that is supplied with all ranges of a stage at once.
fn read(chain: &Arc<Chain>, encoded: &[u8], start: [u64; 3], target: Target<'static>, options: CallOptions) {
    let size = encoded.len() as u64;
    let mut plan = ReadPlan::new(chain, options, vec![(start.to_vec(), target)], Some(size), None).unwrap();
    loop {
        let ranges: Vec<_> = plan.next_stage().unwrap().map(|range| super::read::place(range, size)).collect();
        if ranges.is_empty() {
            return;
        }
        let bytes: Vec<&[u8]> = ranges.iter().map(|[start, end]| &encoded[*start as usize..*end as usize]).collect();
        plan.supply_all(&bytes).unwrap();
    }
}

#[test]
fn inner_chunks_of_large_boxes_go_to_their_place() {
    let decoded: Vec<u8> = elements().iter().flat_map(|element| element.to_ne_bytes()).collect();
    let [little, big] = ["little", "big"].map(|endian| named("bytes", &json!({"endian": endian})));
    let zstd = named("zstd", &json!({"level": 1, "checksum": false}));
    let blosc = json!({"cname": "lz4", "clevel": 1, "shuffle": "shuffle", "typesize": 2, "blocksize": 0});
    for inner in [
        json!([little]),
        json!([big]),
        json!([little, "crc32c"]),
        json!([big, zstd]),
        json!([little, named("blosc", &blosc)]),
        json!([named("transpose", &json!({"order": [2, 0, 1]})), little]),
        json!([named("cast_value", &json!({"data_type": "uint32"})), little]),
        json!([sharding(&[8, 8, 16], &json!([little]))]),
    ] {
        let chain = chain(&inner);
        let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
        let reversed = reversed(&encoded);
        for part in [([0; 3], SHAPE), PART] {
            for count in [1, 2] {
                check(&format!("{inner} by {count}"), part, &|target| {
                    chain.decode_view(&encoded, &part.0, target, &threads(count)).unwrap();
                });
                check(&format!("plan of {inner} by {count}"), part, &|target| {
                    read(&chain, &encoded, part.0, target, threads(count));
                });
                check(&format!("plan of {inner}, in the opposite order, by {count}"), part, &|target| {
                    read(&chain, &reversed, part.0, target, threads(count));
                });
            }
        }
    }
}

/// The object of a writer that gets this box.
fn written(chain: &Arc<Chain>, start: [u64; 3], source: Source<'_>, options: CallOptions) -> Vec<u8> {
    let mut writer = Writer::new(chain, options, None).unwrap();
    writer.put(&start, source).unwrap();
    assert_eq!(writer.next_stage().unwrap().count(), 0);
    let (pieces, size) = writer.finish(ShardLayout::Packed).unwrap();
    let mut object = vec![0; size as usize];
    for Piece { offset, bytes } in pieces {
        let PieceBytes::New(bytes) = bytes else { panic!("there is no old object") };
        object[*offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }
    object
}

#[test]
fn inner_chunks_of_large_arrays_are_encoded_wherever_they_lie() {
    let decoded: Vec<u8> = elements().iter().flat_map(|element| element.to_ne_bytes()).collect();
    let [little, big] = ["little", "big"].map(|endian| named("bytes", &json!({"endian": endian})));
    for inner in [
        json!([little, "crc32c"]),
        json!([big, named("zstd", &json!({"level": 1, "checksum": false}))]),
        json!([named("cast_value", &json!({"data_type": "uint32"})), little]),
    ] {
        let chain = chain(&inner);
        let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
        assert!(chain.decode_to_vec(&encoded, &options()).unwrap() == decoded, "{inner}");
        for place in places(SHAPE) {
            let (layout, memory) = laid_out(([0; 3], SHAPE), place);
            for count in [1, 2] {
                let source = Source::new(&memory, layout.clone()).unwrap();
                let mut object = vec![0; chain.encoded_bound(decoded.len() as u64).unwrap() as usize];
                let size = chain.encode_view(&[0; 3], source.clone(), &mut object, &threads(count)).unwrap();
                assert!(object[..size] == encoded, "{inner} by {count}, from {place:?}");
                assert!(
                    written(&chain, [0; 3], source, threads(count)) == encoded,
                    "{inner} put by {count}, {place:?}"
                );
            }
        }
        // What cuts inner chunks: their rest is the fill value.
        let (start, shape) = PART;
        for place in places(shape) {
            let (layout, memory) = laid_out(PART, place);
            let source = Source::new(&memory, layout).unwrap();
            let [one, two] = [1, 2].map(|count| written(&chain, start, source.clone(), threads(count)));
            assert!(one == two, "{inner}, from {place:?}");
            check("what was put", PART, &|target| chain.decode_view(&one, &start, target, &options()).unwrap());
        }
    }
}

#[test]
fn a_damaged_inner_chunk_of_a_large_box_is_named() {
    let decoded: Vec<u8> = elements().iter().flat_map(|element| element.to_ne_bytes()).collect();
    let chain = chain(&json!([named("bytes", &json!({"endian": "little"})), "crc32c"]));
    let mut encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
    let size = encoded.len() as u64;
    let [first, end] = super::read::place(chain.index_range().unwrap(), size).map(|at| at as usize);
    let index = chain.decode_index(&encoded[first..end], Some(size)).unwrap();
    let damaged = index.entry_at(&[1, 2, 5]).unwrap().unwrap();
    encoded[damaged.start as usize + 100] ^= 1;
    let (start, shape) = PART;
    let mut memory = vec![0; 2 * shape.iter().product::<u64>() as usize];
    for count in [1, 2] {
        let target = Target::contiguous(&mut memory, 2, &shape).unwrap();
        for error in [
            chain.decode_to_vec(&encoded, &threads(count)).unwrap_err(),
            chain.decode_view(&encoded, &start, target, &threads(count)).unwrap_err(),
        ] {
            assert_eq!((error.status(), error.codec_index()), (Status::CorruptData, Some(0)));
            assert!(error.to_string().contains("\"crc32c\": in inner chunk [1, 2, 5]"), "{error}");
        }
    }
}
