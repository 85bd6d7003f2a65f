//! The codecs as a chain has them.

use super::tests::field;
use crate::Status;
use crate::chain::{CallOptions, Chain};
use crate::interface::Direction;
use crate::strided::{Layout, Target};
use serde_json::{Value, json};
use std::num::NonZeroUsize;

fn chain(name: &str, configuration: &Value) -> crate::Result<Chain> {
    let codecs = json!([{"name": name, "configuration": configuration}]);
    Chain::new(codecs.to_string().as_bytes(), None)
}

#[test]
fn a_configuration_is_kept_and_what_the_specification_does_not_have_is_refused() {
    let full = json!({"cname": "zstd", "clevel": 3, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0});
    let bare = json!({"cname": "lz4hc", "clevel": 0, "shuffle": "noshuffle", "blocksize": 1000});
    for configuration in [&full, &bare] {
        assert_eq!(chain("blosc", configuration).unwrap().codecs_json()[0]["configuration"], *configuration);
    }
    let mut with_threads = full.clone();
    with_threads["nthreads"] = json!(4);
    assert_eq!(chain("blosc", &with_threads).unwrap().codecs_json()[0]["configuration"], full);
    let cases = [
        ("nthreads", json!("4"), "nthreads is \"4\""),
        ("typesize", Value::Null, "typesize is null"),
        ("typesize", json!(256), "typesize is 256"),
        ("clevel", json!(-1), "clevel is -1"),
        ("cname", json!("LZ4"), "cname is \"LZ4\""),
        ("shuffle", json!(true), "shuffle is true"),
        ("blocksize", json!(1_u64 << 31), "blocksize is 2147483648"),
    ];
    for (member, value, text) in cases {
        let mut wrong = full.clone();
        wrong[member] = value;
        let error = chain("blosc", &wrong).unwrap_err();
        assert_eq!(error.status(), Status::InvalidMetadata);
        assert!(error.to_string().contains(text), "{error}");
    }
    for (member, is_needed) in [("typesize", true), ("blocksize", false), ("cname", true), ("shuffle", true)] {
        let mut less = full.clone();
        less.as_object_mut().unwrap().shift_remove(member);
        assert_eq!(chain("blosc", &less).is_err(), is_needed, "without {member}");
    }
}

#[test]
fn without_a_shuffle_the_size_of_an_element_is_ignored() {
    for type_size in [json!(0), json!(400), json!(4), Value::Null] {
        let mut configuration =
            json!({"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": type_size, "blocksize": 0});
        let chain = chain("blosc", &configuration).unwrap();
        if type_size.is_null() {
            configuration.as_object_mut().unwrap().shift_remove("typesize"); // the schema has no null
        }
        assert_eq!(chain.codecs_json()[0]["configuration"], configuration);
        let encoded = chain.encode_to_vec(&[1; 99], &CallOptions::default()).unwrap();
        assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()), Ok(vec![1; 99]));
    }
}

#[test]
fn numcodecs_has_defaults_and_shuffles_by_number() {
    let given = json!({"cname": "zstd", "clevel": 1, "shuffle": -1, "blocksize": 0});
    assert_eq!(chain("numcodecs.blosc", &given).unwrap().codecs_json()[0]["configuration"], given);
    let default = json!({"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0});
    assert_eq!(chain("numcodecs.blosc", &json!({})).unwrap().codecs_json()[0]["configuration"], default);
    assert!(chain("numcodecs.blosc", &json!({"shuffle": "shuffle"})).is_err());
    assert!(chain("numcodecs.blosc", &json!({"shuffle": 3})).is_err());
    let options = CallOptions::default();
    let automatic = chain("numcodecs.blosc", &given).unwrap().encode_to_vec(&field(1000), &options).unwrap();
    assert_eq!(automatic[2] & 7, 4, "bytes are shuffled by bits");
    let large = json!({"cname": "zstd", "clevel": 1, "shuffle": -1, "blocksize": 0, "typesize": 400});
    let automatic = chain("numcodecs.blosc", &large).unwrap().encode_to_vec(&field(1000), &options).unwrap();
    assert_eq!(automatic[2..4], [automatic[2] & !7 | 1, 1], "the filter is that of 400 bytes, the frame has 1");
}

#[test]
fn threads_decode_to_the_same_bytes_and_find_the_same_fault() {
    let configuration = json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 4096});
    let chain = chain("blosc", &configuration).unwrap();
    let decoded = field(3_000_001);
    let mut encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
    let with = |threads| CallOptions { max_threads: NonZeroUsize::new(threads).unwrap(), ..CallOptions::default() };
    for threads in [1, 2, 5] {
        assert!(chain.decode_to_vec(&encoded, &with(threads)).is_ok_and(|again| again == decoded), "{threads} threads");
    }
    // Where the last block but one begins.
    let block_size = u32::from_le_bytes(*encoded[8..].first_chunk().unwrap()) as usize;
    let start = 16 + 4 * (decoded.len() / block_size - 1);
    encoded[start..start + 4].fill(0xFF);
    let errors = [1, 2, 5].map(|threads| chain.decode_to_vec(&encoded, &with(threads)).unwrap_err());
    assert_eq!(errors[0].status(), Status::CorruptData);
    assert!(errors[0] == errors[1] && errors[0] == errors[2], "{errors:?}");
}

#[test]
fn threads_encode_to_the_same_frame() {
    for (compressor, filter, size) in [("lz4", "shuffle", 3_000_001), ("zstd", "bitshuffle", 2 << 20)] {
        let configuration =
            json!({"cname": compressor, "clevel": 3, "shuffle": filter, "typesize": 2, "blocksize": 65536});
        let chain = chain("blosc", &configuration).unwrap();
        let with = |threads| CallOptions { max_threads: NonZeroUsize::new(threads).unwrap(), ..CallOptions::default() };
        let decoded = field(size);
        let expected = chain.encode_to_vec(&decoded, &with(1)).unwrap();
        assert!(expected.len() < size);
        for threads in [2, 3, 5] {
            assert!(chain.encode_to_vec(&decoded, &with(threads)).unwrap() == expected, "{threads} threads");
            let mut exact = vec![0; expected.len()];
            assert_eq!(chain.encode_into(&decoded, &mut exact, &with(threads)), Ok(expected.len()));
            assert!(exact == expected, "{threads} threads and no byte too many");
            let error = chain.encode_into(&decoded, &mut exact[1..], &with(threads)).unwrap_err();
            assert_eq!(error.status(), Status::BufferTooSmall);
        }
    }
}

#[test]
fn a_chunk_is_divided_among_no_more_workers_than_pay_off() {
    let part_count = |level: u8, block_size: usize, size: u64| {
        let configuration = json!({"cname": "zstd", "clevel": level, "shuffle": "noshuffle", "blocksize": block_size});
        let codecs = json!(["bytes", {"name": "blosc", "configuration": configuration}]);
        array_chain(&codecs, "uint8", &[size]).part_count(Direction::Encode)
    };
    assert_eq!(part_count(3, 4096, 1 << 20), 4, "256 KiB for each");
    assert_eq!(part_count(3, 4096, (1 << 20) - 1), 3);
    assert_eq!(part_count(3, 1 << 19, 1 << 20), 2, "two blocks");
    assert_eq!(part_count(3, 1 << 20, 1 << 20), 1, "one block");
    assert_eq!(part_count(0, 4096, 1 << 20), 1, "a copy");
}

#[test]
fn a_frame_says_what_capacity_would_do() {
    let configuration = json!({"cname": "zstd", "clevel": 5, "shuffle": "noshuffle"});
    let chain = chain("blosc", &configuration).unwrap();
    let options = CallOptions::default();
    let encoded = chain.encode_to_vec(&field(5000), &options).unwrap();
    let error = chain.decode_into(&encoded, &mut [0; 4999], &options).unwrap_err();
    assert_eq!((error.status(), error.needed_capacity()), (Status::BufferTooSmall, Some(5000)));
}

fn array_chain(codecs: &Value, data_type: &str, shape: &[u64]) -> Chain {
    let input = json!({"data_type": data_type, "shape": shape, "fill_value": 0});
    Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap()
}

fn blosc(filter: &str, element_size: u8) -> Value {
    let configuration =
        json!({"cname": "lz4", "clevel": 5, "shuffle": filter, "typesize": element_size, "blocksize": 4096});
    json!({"name": "blosc", "configuration": configuration})
}

/// Decodes a box to rows with `gap` elements between them, of which each dimension goes backwards if `is_reversed`.
fn decode_box(
    chain: &Chain,
    encoded: &[u8],
    (start, shape): (&[u64], &[u64]),
    (gap, is_reversed): (u64, bool),
    threads: usize,
) -> crate::Result<Vec<u8>> {
    let size = chain.element_size()?;
    let (mut strides, mut stride) = (Vec::new(), size as i64);
    for size in shape.iter().rev() {
        strides.insert(0, stride);
        stride *= (size + gap) as i64;
    }
    let mut memory = vec![0xA5; stride as usize];
    let steps = |size: &u64| (*size as i64 - 1).max(0);
    let last: i64 = strides.iter().zip(shape).map(|(stride, size)| stride * steps(size)).sum();
    let offset = if is_reversed && stride > 0 { last as usize } else { 0 };
    let signed: Vec<i64> = strides.iter().map(|stride| if is_reversed { -stride } else { *stride }).collect();
    let layout = Layout::new(size, shape, Some(&signed), offset, memory.len())?;
    let options = CallOptions { max_threads: NonZeroUsize::new(threads).unwrap(), ..CallOptions::default() };
    chain.decode_view(encoded, start, Target::new(&mut memory, layout)?, &options)?;
    let mut elements = Vec::new();
    for position in positions(shape) {
        let place: i64 = position.iter().zip(&signed).map(|(index, stride)| *index as i64 * stride).sum();
        let place = (offset as i64 + place) as usize;
        elements.extend_from_slice(&memory[place..place + size]);
        memory[place..place + size].fill(0xA5);
    }
    assert!(memory.iter().all(|byte| *byte == 0xA5), "bytes between the elements stay as they are");
    Ok(elements)
}

fn positions(shape: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
    let shape = shape.to_vec();
    (0..shape.iter().product::<u64>()).map(move |index| {
        let mut rest = index;
        let mut position: Vec<u64> = shape.iter().rev().map(|size| (rest % size, rest /= size).0).collect();
        position.reverse();
        position
    })
}

fn box_of(decoded: &[u8], element_size: usize, array: &[u64], start: &[u64], shape: &[u64]) -> Vec<u8> {
    let place = |position: Vec<u64>| {
        let place =
            position.iter().zip(start).zip(array).fold(0, |place, ((index, start), size)| place * size + start + index);
        place as usize * element_size
    };
    positions(shape).map(place).flat_map(|place| decoded[place..place + element_size].to_vec()).collect()
}

#[test]
fn every_box_of_every_chain_is_what_the_chunk_has_there() {
    let [little, big] = ["little", "big"].map(|endian| json!({"name": "bytes", "configuration": {"endian": endian}}));
    let transpose = json!({"name": "transpose", "configuration": {"order": [2, 0, 1]}});
    let cast = json!({"name": "cast_value", "configuration": {"data_type": "int32"}});
    let shard = json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [8, 15, 50], "codecs": [little, blosc("shuffle", 2)], "index_codecs": [little, "crc32c"]}});
    let packbits = json!({"name": "packbits", "configuration": {"last_bit": 12}});
    let chains = [
        (json!([little, blosc("shuffle", 2)]), "uint16"),
        (json!([little, blosc("noshuffle", 2)]), "uint16"),
        (json!([little, blosc("bitshuffle", 2)]), "uint16"),
        (json!([little, blosc("shuffle", 3), "crc32c"]), "uint16"),
        (json!([little, blosc("bitshuffle", 8), blosc("shuffle", 1)]), "uint16"),
        (json!([big, blosc("shuffle", 2)]), "uint16"),
        (json!([transpose, little, blosc("shuffle", 2)]), "uint16"),
        (json!([transpose, big, blosc("shuffle", 2)]), "uint16"),
        (json!([cast, big, blosc("shuffle", 4)]), "uint16"),
        (json!([packbits, blosc("shuffle", 2)]), "uint16"),
        (json!([transpose, packbits, blosc("bitshuffle", 2)]), "uint16"),
        (json!([little, "crc32c", blosc("shuffle", 2)]), "uint16"),
        (json!([shard]), "uint16"),
    ];
    let shape = [16, 30, 50];
    let numbers = field(48_000);
    let numbers = numbers.as_chunks().0.iter().map(|two| u16::from_le_bytes(*two) & 0x1FFF);
    let decoded: Vec<u8> = numbers.flat_map(u16::to_ne_bytes).collect();
    let boxes: [([u64; 3], [u64; 3]); 7] = [
        ([0, 0, 0], [16, 30, 50]),
        ([3, 4, 5], [9, 20, 40]),
        ([15, 29, 49], [1, 1, 1]),
        ([7, 0, 0], [3, 30, 50]),
        ([0, 11, 0], [16, 1, 50]),
        ([0, 0, 33], [16, 30, 1]),
        ([2, 3, 4], [0, 1, 2]),
    ];
    for (codecs, data_type) in chains {
        let chain = array_chain(&codecs, data_type, &shape);
        let encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
        for (start, part) in boxes {
            let expected = box_of(&decoded, 2, &shape, &start, &part);
            for lies in [(0, false), (1, false), (40, false), (0, true)] {
                let found = decode_box(&chain, &encoded, (&start, &part), lies, 1).unwrap();
                assert!(found == expected, "{codecs}: box {start:?} {part:?}, {lies:?}");
            }
        }
    }
}

#[test]
fn threads_share_the_blocks_of_a_box() {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let shape = [16, 200, 250];
    let decoded = field(1_600_000);
    for codecs in [json!([little, blosc("shuffle", 2)]), json!(["packbits", blosc("bitshuffle", 2)])] {
        let chain = array_chain(&codecs, "uint16", &shape);
        let mut encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
        let (start, part) = ([1, 2, 3], [14, 190, 240]);
        let expected = box_of(&decoded, 2, &shape, &start, &part);
        for threads in [1, 2, 5] {
            for lies in [(0, false), (7, false), (0, true)] {
                let found = decode_box(&chain, &encoded, (&start, &part), lies, threads).unwrap();
                assert!(found == expected, "{codecs}, {threads} threads, {lies:?}");
            }
        }
        // Two blocks begin outside the frame: the first is reported, whichever thread finds it.
        let block_size = u32::from_le_bytes(*encoded[8..].first_chunk().unwrap()) as usize;
        let block_count = decoded.len().div_ceil(block_size);
        assert!(block_count > 10, "blocks of {block_size} bytes");
        encoded[16 + 4 * (block_count / 2)..][..4].fill(0xFF);
        encoded[16 + 4 * (block_count / 5)..][..4].copy_from_slice(&[0xFE, 0xFF, 0xFF, 0xFF]);
        let errors = [1, 2, 5].map(|threads| decode_box(&chain, &encoded, (&start, &part), (7, false), threads));
        let errors = errors.map(|result| result.map(drop).unwrap_err());
        assert_eq!((errors[0].status(), errors[0].codec_index()), (Status::CorruptData, Some(1)));
        assert!(errors[0] == errors[1] && errors[0] == errors[2], "{errors:?}");
    }
}

#[test]
fn a_box_needs_no_block_but_those_it_touches() {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let decoded = field(64 * 1024 * 2);
    for (codecs, start, part) in [
        (json!([little, blosc("shuffle", 2)]), [10, 0], [6, 1024]),
        (json!([little, blosc("bitshuffle", 2)]), [10, 5], [1, 900]),
        (json!([transpose, little, blosc("shuffle", 2)]), [0, 300], [64, 20]),
        (
            json!([{"name": "cast_value", "configuration": {"data_type": "int32"}}, little, blosc("shuffle", 4)]),
            [7, 9],
            [5, 5],
        ),
    ] {
        let chain = array_chain(&codecs, "uint16", &[64, 1024]);
        let mut encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
        // The last block begins outside the frame.
        let [decoded_size, block_size] =
            [4, 8].map(|place| u32::from_le_bytes(*encoded[place..].first_chunk().unwrap()) as usize);
        encoded[16 + 4 * (decoded_size.div_ceil(block_size) - 1)..][..4].fill(0xFF);
        let found = decode_box(&chain, &encoded, (&start, &part), (0, false), 1).unwrap();
        assert!(found == box_of(&decoded, 2, &[64, 1024], &start, &part), "{codecs}");
        assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()).unwrap_err().status(), Status::CorruptData);
        assert_eq!(chain.granularity().unwrap(), [64, 1024], "all bytes are read");
    }
}

#[test]
fn a_box_of_a_frame_of_another_size_is_refused_like_the_chunk() {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let codecs = json!([little, blosc("shuffle", 2)]);
    let encoded = array_chain(&codecs, "uint16", &[31, 100]).encode_to_vec(&field(6200), &CallOptions::default());
    let chain = array_chain(&codecs, "uint16", &[30, 100]);
    let encoded = encoded.unwrap();
    let whole = chain.decode_to_vec(&encoded, &CallOptions::default()).unwrap_err();
    assert_eq!(decode_box(&chain, &encoded, (&[1, 1], &[2, 3]), (0, false), 1).unwrap_err(), whole);
}
