//! A part of a chunk is decoded as that part of the whole.

use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::Arc;
use zcodec::Status;
use zcodec::chain::{CallOptions, Chain, ReadPlan, Representation, ShardLayout, Writer};
use zcodec::strided::{Source, Target};

fn chain(codecs: &Value, data_type: &str, shape: &[usize]) -> Chain {
    let fill_value = if data_type.starts_with("complex") { json!([0, 0]) } else { json!(0) };
    let input = json!({"data_type": data_type, "shape": shape, "fill_value": fill_value});
    Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap()
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * i % 251) as u8).collect()
}

/// Decodes the elements from `start` on that `decoded` has room for.
fn decode_elements(
    chain: &Chain,
    encoded: &[u8],
    start: u64,
    decoded: &mut [u8],
    options: &CallOptions,
) -> zcodec::Result<()> {
    let Representation::Array(array) = chain.input() else { panic!("an array enters") };
    let size = array.data_type().size();
    let count = (decoded.len() / size) as u64;
    chain.decode_view(encoded, &[start], Target::contiguous(decoded, size, &[count])?, options)
}

/// Codecs of all kinds of packed elements, each with its data type and the size of an element.
fn packed() -> [(&'static str, usize, Value); 8] {
    let to_uint4 = json!({"name": "cast_value", "configuration": {"data_type": "uint4", "out_of_range": "wrap"}});
    let packbits = |configuration: Value| json!({"name": "packbits", "configuration": configuration});
    let zstd = json!({"name": "zstd", "configuration": {"level": 1}});
    let pad = json!({"name": "pad", "configuration": {"location": "start", "nbytes": 3}});
    [
        ("uint8", 1, json!([packbits(json!({}))])),
        ("int8", 1, json!([packbits(json!({"first_bit": 2, "last_bit": 6, "padding_encoding": "first_byte"}))])),
        ("uint16", 2, json!([packbits(json!({"last_bit": 11}))])),
        ("int64", 8, json!([packbits(json!({"first_bit": 3, "last_bit": 42, "padding_encoding": "last_byte"}))])),
        ("complex64", 8, json!([packbits(json!({"first_bit": 9}))])),
        ("uint16", 2, json!([to_uint4, packbits(json!({}))])),
        ("int8", 1, json!([packbits(json!({"last_bit": 2})), zstd, pad])),
        ("int32", 4, json!([{"name": "bytes", "configuration": {"endian": "big"}}, pad])),
    ]
}

#[test]
fn every_range_is_decoded_as_that_part_of_the_whole() {
    const COUNT: usize = 67;
    let options = CallOptions::default();
    for (data_type, size, codecs) in packed() {
        let chain = chain(&codecs, data_type, &[COUNT]);
        let encoded = chain.encode_to_vec(&bytes(COUNT * size), &options).unwrap();
        let all = chain.decode_to_vec(&encoded, &options).unwrap();
        for start in 0..=COUNT {
            for end in start..=COUNT {
                let mut part = vec![0xA5; (end - start) * size];
                decode_elements(&chain, &encoded, start as u64, &mut part, &options).unwrap();
                assert_eq!(part, all[start * size..end * size], "{codecs} {start}..{end}");
            }
        }
    }
}

/// Rows are shorter than what a run by itself costs, so they are decoded with the gaps between them.
#[test]
fn every_box_is_decoded_as_that_part_of_the_whole() {
    const ROWS: usize = 4;
    const COLUMNS: usize = 9;
    let ranges = |size: usize| (0..size).flat_map(move |start| (start + 1..=size).map(move |end| start..end));
    let blosc = json!({"name": "blosc", "configuration": {
        "cname": "lz4", "clevel": 1, "shuffle": "noshuffle", "typesize": 1, "blocksize": 0,
    }});
    let options = CallOptions::default();
    for ((data_type, size, codecs), is_compressed) in
        packed().into_iter().flat_map(|case| [(case.clone(), false), (case, true)])
    {
        let mut codecs = codecs.as_array().unwrap().clone();
        if is_compressed {
            codecs.push(blosc.clone());
        }
        let chain = chain(&codecs.clone().into(), data_type, &[ROWS, COLUMNS]);
        let encoded = chain.encode_to_vec(&bytes(ROWS * COLUMNS * size), &options).unwrap();
        let all = chain.decode_to_vec(&encoded, &options).unwrap();
        for (rows, columns) in ranges(ROWS).flat_map(|rows| ranges(COLUMNS).map(move |columns| (rows.clone(), columns)))
        {
            let expected: Vec<u8> = rows
                .clone()
                .flat_map(|row| &all[(row * COLUMNS + columns.start) * size..(row * COLUMNS + columns.end) * size])
                .copied()
                .collect();
            let (start, shape) = ([rows.start as u64, columns.start as u64], [rows.len() as u64, columns.len() as u64]);
            let mut part = vec![0xA5; expected.len()];
            let target = Target::contiguous(&mut part, size, &shape).unwrap();
            chain.decode_view(&encoded, &start, target, &options).unwrap();
            assert_eq!(part, expected, "{codecs:?} {rows:?} {columns:?}");
            // The same box in column order.
            let mut part = vec![0xA5; expected.len()];
            let target = Target::contiguous(&mut part, size, &[shape[1], shape[0]]).unwrap().permuted(&[1, 0]).unwrap();
            chain.decode_view(&encoded, &start, target, &options).unwrap();
            for (index, element) in expected.chunks(size).enumerate() {
                let (row, column) = (index / columns.len(), index % columns.len());
                let place = (column * rows.len() + row) * size;
                assert_eq!(&part[place..place + size], element, "{codecs:?} {rows:?} {columns:?}, transposed");
            }
        }
    }
}

#[test]
fn elements_between_the_rows_of_a_box_may_have_no_decoded_value() {
    let codecs = json!([
        {"name": "cast_value", "configuration": {"data_type": "int16"}},
        {"name": "bytes", "configuration": {"endian": "little"}},
    ]);
    let chain = chain(&codecs, "uint8", &[6, 10]);
    let options = CallOptions::default();
    let decoded = bytes(60);
    let mut encoded = chain.encode_to_vec(&decoded, &options).unwrap();
    // Element (3, 1) cannot be represented now.
    encoded[2 * 31 + 1] = 0x7F;
    let decode = |start: [u64; 2], shape: [u64; 2]| {
        let mut part = vec![0; (shape[0] * shape[1]) as usize];
        let result = chain.decode_view(&encoded, &start, Target::contiguous(&mut part, 1, &shape)?, &options);
        result.map(|()| part)
    };
    let expected: Vec<u8> = (1..6).flat_map(|row| &decoded[10 * row + 2..10 * row + 9]).copied().collect();
    assert_eq!(decode([1, 2], [5, 7]).unwrap(), expected);
    let error = decode([1, 1], [5, 7]).unwrap_err();
    assert_eq!((error.status(), error.element_index()), (Status::OutOfRange, Some(31)));
}

#[test]
fn nothing_else_is_looked_at() {
    let codecs = json!([
        {"name": "cast_value", "configuration": {"data_type": "int16"}},
        {"name": "bytes", "configuration": {"endian": "little"}},
    ]);
    let chain = chain(&codecs, "uint8", &[40]);
    let options = CallOptions::default();
    let mut encoded = chain.encode_to_vec(&bytes(40), &options).unwrap();
    // Element 3 cannot be represented now.
    encoded[7] = 0x7F;
    let mut part = [0; 24];
    for start in [4, 5, 8, 16] {
        decode_elements(&chain, &encoded, start as u64, &mut part, &options).unwrap();
    }
    let error = decode_elements(&chain, &encoded, 1, &mut part, &options).unwrap_err();
    assert_eq!((error.status(), error.element_index()), (Status::OutOfRange, Some(3)));
}

#[test]
fn what_is_not_in_the_chunk_is_refused() {
    let packbits = chain(&json!([{"name": "packbits"}]), "uint16", &[10]);
    let options = CallOptions::default();
    let encoded = packbits.encode_to_vec(&bytes(20), &options).unwrap();
    for (start, size) in [(0, 22), (10, 2), (9, 4), (u64::MAX, 2), (u64::MAX, 0)] {
        let error = decode_elements(&packbits, &encoded, start, &mut vec![0; size], &options).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{start} {size}");
    }
    let error = decode_elements(&packbits, &encoded[1..], 0, &mut [0; 2], &options).unwrap_err();
    assert_eq!(error.status(), Status::CorruptData);
}

/// The index of an element may exceed a `usize` whose memory holds the packed bits.
#[test]
fn bits_are_found_past_2_to_the_32() {
    const PAST: u64 = 1 << 32;
    let input = json!({"data_type": "bool", "shape": [PAST + 20], "fill_value": false}).to_string();
    let chain = Chain::new(br#"["packbits"]"#, Some(input.as_bytes())).unwrap();
    let mut encoded = vec![0; (PAST / 8) as usize + 3]; // only what is touched takes memory
    let options = CallOptions::default();
    encoded[0] = 0xFF;
    *encoded.last_mut().unwrap() = 0b1010;
    for (start, expected) in [(PAST + 16, [0, 1, 0, 1]), (PAST + 15, [0, 0, 1, 0]), (PAST, [0; 4]), (5, [1, 1, 1, 0])] {
        let mut decoded = [0xA5; 4];
        decode_elements(&chain, &encoded, start, &mut decoded, &options).unwrap();
        assert_eq!(decoded, expected, "{start}");
    }
}

/// The product of the other sizes has no room in 64 bits, but no element is there.
#[test]
fn an_array_without_elements_may_have_sizes_of_any_product() {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let transpose = json!({"name": "transpose", "configuration": {"order": [2, 0, 1]}});
    let cast = json!({"name": "cast_value", "configuration": {"data_type": "int64"}});
    let shard = |inner: &Value| {
        json!({"name": "sharding_indexed", "configuration": {
            "chunk_shape": [1, 1, 1], "codecs": inner, "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        }})
    };
    let lists = [
        json!([bytes]),
        json!([transpose, bytes]),
        json!([cast, transpose, bytes]),
        json!([transpose, cast, bytes, "zstd"]),
        json!([{"name": "reshape", "configuration": {"shape": [[0, 1, 2]]}}, bytes]),
        json!(["packbits", {"name": "pad", "configuration": {"location": "end", "nbytes": 3}}]),
        json!([shard(&json!([bytes]))]),
        json!([transpose, cast, shard(&json!([transpose, bytes, "zstd"]))]),
    ];
    const LARGE: u64 = 1 << 40;
    let options = CallOptions { max_threads: NonZeroUsize::new(2).unwrap(), ..CallOptions::default() };
    for codecs in &lists {
        for shape in [[LARGE, LARGE, 0], [LARGE, 0, LARGE], [0, LARGE, LARGE]] {
            let what = format!("{codecs} {shape:?}");
            let input = json!({"data_type": "uint32", "shape": shape, "fill_value": 0}).to_string();
            let chain = Arc::new(Chain::new(codecs.to_string().as_bytes(), Some(input.as_bytes())).unwrap());
            let encoded = chain.encode_to_vec(&[], &options).unwrap();
            assert_eq!(chain.decode_to_vec(&encoded, &options), Ok(vec![]), "{what}");
            let part = shape.map(|size| size.min(LARGE - 1));
            for part in [shape, part] {
                let target = || Target::contiguous(&mut [], 4, &part).unwrap();
                let source = Source::contiguous(&[], 4, &part).unwrap();
                assert_eq!(chain.decode_view(&encoded, &[0; 3], target(), &options), Ok(()), "{what}");
                assert_eq!(chain.fill_view(target()), Ok(()), "{what}");
                assert_eq!(chain.is_fill_view(&source), Ok(true), "{what}");
                let mut again = vec![0; encoded.len() + 100];
                let size = chain.encode_view(&[0; 3], source, &mut again, &options).unwrap();
                assert_eq!(again[..size], encoded, "{what}");
                let parts = vec![(vec![0; 3], target())];
                let mut plan = ReadPlan::new(&chain, options.clone(), parts, None, None).unwrap();
                assert_eq!(plan.next_stage().unwrap().count(), 0, "{what}");
            }
            if codecs[0]["name"] == "sharding_indexed" {
                let mut writer = Writer::new(&chain, options.clone(), None).unwrap();
                writer.put(&[0; 3], Source::contiguous(&[], 4, &shape).unwrap()).unwrap();
                let (pieces, size) = writer.finish(ShardLayout::Packed).unwrap();
                assert_eq!((pieces.len(), size), (usize::from(size > 0), encoded.len() as u64), "{what}");
            }
        }
    }
}
