//! Blocks of `n5_default` whose shape is not that of the chunk.

use serde_json::{Value, json};
use std::sync::Arc;
use zcodec::Status;
use zcodec::chain::{CallData, CallOptions, Chain, ChainOptions, PaddingHook};
use zcodec::strided::Target;

fn chain(compressor: Option<Value>, shape: [u64; 2], fill_value: Option<u64>) -> Chain {
    let mut codecs = vec![
        json!({"name": "transpose", "configuration": {"order": [1, 0]}}),
        json!({"name": "bytes", "configuration": {"endian": "big"}}),
    ];
    codecs.extend(compressor);
    let codecs = json!([{"name": "n5_default", "configuration": {"codecs": codecs}}]);
    let mut input = json!({"data_type": "uint16", "shape": shape});
    if let Some(fill_value) = fill_value {
        input["fill_value"] = json!(fill_value);
    }
    Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap()
}

fn compressors() -> [Option<Value>; 3] {
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}});
    [None, Some(json!({"name": "gzip", "configuration": {"level": 1}})), Some(zstd)]
}

/// The element at each position is different, wherever the block ends.
fn element(row: u64, column: u64) -> u16 {
    (1000 + 100 * row + column) as u16
}

/// A chunk of this shape, of which a block of another has set its part.
fn chunk(shape: [u64; 2], block: [u64; 2]) -> Vec<u8> {
    let elements = (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| (row, column)));
    let value = |(row, column)| if row < block[0] && column < block[1] { element(row, column) } else { 9 };
    elements.flat_map(|position| value(position).to_ne_bytes()).collect()
}

#[test]
fn blocks_of_every_shape_decode_in_every_box() {
    let options = CallOptions::default();
    for compressor in compressors() {
        let full = chain(compressor, [4, 5], Some(9));
        for block in (1..=4).flat_map(|rows| (1..=5).map(move |columns| [rows, columns])) {
            let border = full.with_shape(&block).unwrap();
            let encoded = border.encode_to_vec(&chunk(block, block), &options).unwrap();
            let sizes = [0, 0, 0, 2, 0, 0, 0, block[0] as u8, 0, 0, 0, block[1] as u8];
            assert_eq!(encoded[..12], sizes, "a truncated block");
            let decoded = full.decode_to_vec(&encoded, &options).unwrap();
            assert_eq!(decoded, chunk([4, 5], block), "{block:?}");
            // A reader of the border that meets a padded block.
            let padded = full.encode_to_vec(&chunk([4, 5], [4, 5]), &options).unwrap();
            assert_eq!(border.decode_to_vec(&padded, &options).unwrap(), chunk(block, block), "{block:?}");
            for (start, shape) in [([0, 0], [2, 2]), ([1, 2], [3, 3]), ([3, 0], [1, 5]), ([2, 2], [0, 1])] {
                let mut part = vec![0xA5; (2 * shape[0] * shape[1]) as usize];
                let target = Target::contiguous(&mut part, 2, &shape).unwrap();
                full.decode_view(&encoded, &start, target, &options).unwrap();
                let rows = (start[0]..start[0] + shape[0]).flat_map(|row| {
                    let first = (2 * (row * 5 + start[1])) as usize;
                    decoded[first..first + 2 * shape[1] as usize].to_vec()
                });
                assert_eq!(part, rows.collect::<Vec<u8>>(), "{block:?} {start:?} {shape:?}");
            }
        }
    }
}

#[test]
fn codecs_around_a_block_see_what_it_is() {
    let options = CallOptions::default();
    let codecs = json!([
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "n5_default", "configuration": {"codecs": [
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "bytes", "configuration": {"endian": "big"}}
        ]}},
        {"name": "gzip", "configuration": {"level": 1}},
        {"name": "crc32c"}
    ]);
    let input = json!({"data_type": "uint16", "shape": [4, 5], "fill_value": 9});
    let full = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
    let border = full.with_shape(&[2, 5]).unwrap();
    let encoded = border.encode_to_vec(&chunk([2, 5], [2, 5]), &options).unwrap();
    assert_eq!(full.decode_to_vec(&encoded, &options).unwrap(), chunk([4, 5], [2, 5]));
}

/// A truncated block of a chain without a fill value lacks elements of the chunk, but not those of these boxes.
#[test]
fn boxes_inside_a_truncated_block_need_no_fill_value() {
    let options = CallOptions::default();
    let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let add = json!({"name": "scale_offset", "configuration": {"offset": 7}});
    let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let block = json!({"name": "n5_default", "configuration": {"codecs": [transpose, bytes]}});
    for before in [vec![], vec![&transpose], vec![&add], vec![&add, &transpose, &add]] {
        let codecs: Vec<&Value> = before.iter().copied().chain([&block]).collect();
        let input = json!({"data_type": "uint16", "shape": [4, 5]});
        let full = Chain::new(json!(codecs).to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
        let border = full.with_shape(&[2, 3]).unwrap();
        let encoded = border.encode_to_vec(&chunk([2, 3], [2, 3]), &options).unwrap();
        let decode = |start: [u64; 2], shape: [u64; 2]| {
            let mut part = vec![0; (2 * shape[0] * shape[1]) as usize];
            let target = Target::contiguous(&mut part, 2, &shape).unwrap();
            full.decode_view(&encoded, &start, target, &options).map(|()| part)
        };
        assert_eq!(decode([0, 0], [2, 3]).unwrap(), chunk([2, 3], [2, 3]), "{codecs:?}");
        let elements: Vec<u8> = [element(1, 1), element(1, 2)].iter().flat_map(|value| value.to_ne_bytes()).collect();
        assert_eq!(decode([1, 1], [1, 2]).unwrap(), elements, "{codecs:?}");
        for (start, shape) in [([0, 0], [3, 3]), ([2, 0], [1, 1]), ([0, 0], [4, 5])] {
            let error = decode(start, shape).unwrap_err();
            assert_eq!((error.status(), error.code()), (Status::Unsupported, "no_fill_value"), "{codecs:?} {start:?}");
        }
    }
}

/// The same after a reshape: the elements of a box are anywhere in the block. The boxes that the block has are found by
/// decoding it with a fill value.
#[test]
fn boxes_inside_a_truncated_block_are_found_after_a_reshape() {
    let options = CallOptions::default();
    let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let reshape = |shape: Value| json!({"name": "reshape", "configuration": {"shape": shape}});
    let add = json!({"name": "scale_offset", "configuration": {"offset": 7}});
    let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let block = json!({"name": "n5_default", "configuration": {"codecs": [transpose, bytes]}});
    let crc32c = json!("crc32c");
    let writer = chain(None, [4, 6], None).with_shape(&[3, 4]).unwrap();
    let encoded = writer.encode_to_vec(&chunk([3, 4], [3, 4]), &options).unwrap();
    let checksum = Chain::new(br#"["crc32c"]"#, None).unwrap();
    for (shape, codecs) in [
        ([24, 1], json!([reshape(json!([4, 6])), block])),
        ([8, 3], json!([add, reshape(json!([4, 6])), add, block])),
        ([3, 8], json!([reshape(json!([4, 6])), block, crc32c])),
        ([2, 12], json!([transpose, reshape(json!([6, 4])), transpose, block])),
        ([2, 12], json!([reshape(json!([8, 3])), transpose, reshape(json!([4, 6])), block])),
    ] {
        let encoded = if codecs.to_string().contains("crc32c") {
            checksum.encode_to_vec(&encoded, &options).unwrap()
        } else {
            encoded.clone()
        };
        let reader = |fill_value: Option<u16>| {
            let mut input = json!({"data_type": "uint16", "shape": shape});
            fill_value.inspect(|fill_value| input["fill_value"] = json!(fill_value));
            Arc::new(Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap())
        };
        let decode = |chain: &Chain, start: [u64; 2], part: [u64; 2]| {
            let mut decoded = vec![0; (2 * part[0] * part[1]) as usize];
            let target = Target::contiguous(&mut decoded, 2, &part).unwrap();
            chain.decode_view(&encoded, &start, target, &options).map(|()| decoded)
        };
        let (with_fill, without, mut count) = (reader(Some(99)), reader(None), 0);
        let areas = (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| [row, column]));
        for start in areas {
            for part in (1..=shape[0] - start[0]).flat_map(|rows| (1..=shape[1] - start[1]).map(move |n| [rows, n])) {
                let expected = decode(&with_fill, start, part).unwrap();
                // Every element of the block is above 900, also after two additions.
                let is_inside = expected.as_chunks().0.iter().all(|value| u16::from_ne_bytes(*value) > 900);
                match decode(&without, start, part) {
                    Ok(decoded) => assert!(is_inside && decoded == expected, "{codecs} {start:?} {part:?}"),
                    Err(error) => {
                        let found = (error.status(), error.code());
                        assert_eq!(found, (Status::Unsupported, "no_fill_value"), "{codecs} {start:?} {part:?}");
                        assert!(!is_inside, "{codecs} {start:?} {part:?}");
                        let whole = without.decode_to_vec(&encoded, &options).unwrap_err();
                        assert_eq!(error.to_string(), whole.to_string());
                    }
                }
                count += usize::from(is_inside);
            }
        }
        assert!(count > 12, "{codecs}: {count} boxes");
    }
}

#[test]
fn what_no_block_can_be_ends_in_a_status() {
    let options = CallOptions::default();
    for compressor in compressors() {
        let full = chain(compressor.clone(), [4, 5], Some(9));
        let encoded = full.encode_to_vec(&chunk([4, 5], [4, 5]), &options).unwrap();
        for size in 0..encoded.len() {
            let error = full.decode_to_vec(&encoded[..size], &options).unwrap_err();
            assert_eq!(error.status(), Status::CorruptData, "{compressor:?} {size}");
        }
        for (byte, value, status) in [
            (1, 1, Status::Unsupported),
            (0, 1, Status::Unsupported),
            (3, 3, Status::CorruptData),
            (7, 5, Status::CorruptData),
            (8, 255, Status::CorruptData),
            (7, 3, Status::CorruptData),
        ] {
            let mut damaged = encoded.clone();
            damaged[byte] = value;
            let error = full.decode_to_vec(&damaged, &options).unwrap_err();
            assert_eq!(error.status(), status, "{compressor:?} byte {byte}: {error}");
        }
        if compressor.is_some() {
            let mut damaged = encoded.clone();
            damaged[12..].fill(0xFF);
            let error = full.decode_to_vec(&damaged, &options).unwrap_err();
            assert_eq!(error.pointer(), "/0/configuration/codecs/2", "{error}");
        }
    }
    let truncated = chain(None, [2, 5], None).encode_to_vec(&chunk([2, 5], [2, 5]), &options).unwrap();
    let error = chain(None, [4, 5], None).decode_to_vec(&truncated, &options).unwrap_err();
    assert_eq!(error.status(), Status::Unsupported, "no fill value: {error}");
}

#[test]
fn lists_that_are_no_n5_are_refused() {
    let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let same = json!({"name": "transpose", "configuration": {"order": [0, 1]}});
    let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    for (codecs, data_type, row_count, status) in [
        (json!([transpose]), "uint16", 4, Status::InvalidMetadata),
        (json!([same, bytes]), "uint16", 4, Status::InvalidMetadata),
        (json!([bytes, gzip]), "uint16", 4, Status::InvalidMetadata),
        (json!([transpose, {"name": "packbits"}]), "uint16", 4, Status::InvalidMetadata),
        (json!([transpose, bytes, gzip, gzip]), "uint16", 4, Status::InvalidMetadata),
        (json!([transpose, bytes]), "float16", 4, Status::Unsupported),
        (json!([transpose, bytes]), "bool", 4, Status::Unsupported),
        (json!([transpose, bytes]), "uint16", 1_u64 << 32, Status::Unsupported),
    ] {
        let fill_value = if data_type == "bool" { json!(false) } else { json!(0) };
        let input = json!({"data_type": data_type, "shape": [row_count, 5], "fill_value": fill_value});
        let list = json!([{"name": "n5_default", "configuration": {"codecs": codecs}}]);
        let error = Chain::new(list.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap_err();
        assert_eq!(error.status(), status, "{codecs} {data_type}: {error}");
    }
}

/// The codec before them does not move a byte, but they have another shape than what enters the chain.
#[test]
fn codecs_with_a_shape_come_back_after_a_reshape() {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let inner = [json!({"name": "transpose", "configuration": {"order": [1, 0]}}), json!("bytes")];
    let n5 = json!({"name": "n5_default", "configuration": {"codecs": inner}});
    let shard = json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [3, 2], "codecs": [little], "index_codecs": [little, "crc32c"]}});
    let zfp = json!({"name": "zfp", "configuration": {"mode": "fixed_rate", "rate": 32}});
    let turned = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let reshaped = json!({"name": "reshape", "configuration": {"shape": [12, 2]}});
    let cases = [
        (json!([turned, n5]), vec![1, 24], "uint8"),
        (json!([reshaped, n5]), vec![4, 3, 2], "uint8"),
        (json!([reshaped, shard]), vec![4, 3, 2], "uint8"),
        (json!([reshaped, shard, "crc32c"]), vec![6, 4], "uint8"),
        (json!([reshaped, zfp]), vec![4, 3, 2], "float32"),
    ];
    for (codecs, shape, data_type) in cases {
        let input = json!({"data_type": data_type, "shape": shape, "fill_value": 0});
        let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
        let size = if data_type == "uint8" { 1 } else { 4 };
        let decoded: Vec<u8> = match size {
            1 => (1..=24).collect(),
            _ => (0..24).flat_map(|index| ((index / 4) as f32).to_ne_bytes()).collect(),
        };
        let options = CallOptions::default();
        let encoded = chain.encode_to_vec(&decoded, &options).unwrap();
        let again = chain.decode_to_vec(&encoded, &options).unwrap();
        assert!(again == decoded || size == 4, "{codecs}: {again:?}");
        // The last two elements along the last dimension.
        let last = shape.len() - 1;
        let (mut start, mut part) = (vec![0; shape.len()], vec![1; shape.len()]);
        (start[last], part[last]) = (shape[last] - 2, 2);
        let mut found = vec![0xA5; 2 * size];
        chain.decode_view(&encoded, &start, Target::contiguous(&mut found, size, &part).unwrap(), &options).unwrap();
        let first = (shape[last] as usize - 2) * size;
        assert_eq!(found, again[first..first + 2 * size], "{codecs}");
    }
}

#[test]
fn a_block_has_no_more_elements_than_the_largest_chunk_of_the_chain() {
    let options = CallOptions::default();
    for compressor in compressors() {
        let tall = chain(compressor.clone(), [300, 1], Some(9));
        let wide = tall.with_shape(&[1, 300]).unwrap();
        let square = chain(compressor, [300, 300], Some(9));
        let encoded = square.encode_to_vec(&chunk([300, 300], [300, 300]), &options).unwrap();
        let error = wide.decode_to_vec(&encoded, &options).unwrap_err();
        assert_eq!(error.status(), Status::CorruptData, "{error}");
        let padded = tall.encode_to_vec(&chunk([300, 1], [300, 1]), &options).unwrap();
        assert_eq!(wide.decode_to_vec(&padded, &options).unwrap(), chunk([1, 300], [1, 1]));
    }
}

#[derive(Debug)]
struct Writing;

impl PaddingHook for Writing {
    fn checks(&self) -> bool {
        false
    }

    fn generates(&self) -> bool {
        true
    }

    fn generate(&self, _: CallData, chunk: &[u8], padding: &mut [u8]) -> Result<(), i32> {
        padding.fill(chunk.len() as u8);
        Ok(())
    }

    fn check(&self, _: CallData, _: &[u8], _: &[u8]) -> Result<(), i32> {
        Ok(())
    }
}

#[test]
fn a_padding_inside_a_block_takes_callbacks() {
    let options = CallOptions::default();
    let pad = json!({"name": "pad", "configuration": {"location": "end", "nbytes": 2}});
    let mut full = chain(Some(pad), [4, 5], Some(9));
    let path = [(None, 0), (Some("codecs"), 2)];
    full.set_padding_hook_at(&path, Some(Arc::new(Writing))).unwrap();
    assert_eq!(full.encode_to_vec(&chunk([4, 5], [4, 5]), &options).unwrap()[12 + 40..], [40, 40]);
    let border = full.with_shape(&[2, 5]).unwrap();
    assert_eq!(border.encode_to_vec(&chunk([2, 5], [2, 5]), &options).unwrap()[12 + 20..], [20, 20]);
    let error = full.set_padding_hook_at(&[(None, 0), (Some("codecs"), 1)], None).unwrap_err();
    assert_eq!(error.pointer(), "/0/configuration/codecs/1", "{error}");
}

/// The limit is for the chunk; `cast_value` makes the elements of its block larger.
#[test]
fn a_truncated_block_of_wide_elements_decodes_under_a_limit() {
    let codecs = json!([
        {"name": "cast_value", "configuration": {"data_type": "float64"}},
        {"name": "n5_default", "configuration": {"codecs": [
            {"name": "transpose", "configuration": {"order": [0]}},
            {"name": "bytes", "configuration": {"endian": "big"}},
        ]}},
    ]);
    let input = json!({"data_type": "uint8", "shape": [100], "fill_value": 9});
    let limits = ChainOptions { max_decoded_size: Some(100), ..ChainOptions::default() };
    let (codecs, input) = (codecs.to_string(), input.to_string());
    let full = Chain::with_options(&limits, codecs.as_bytes(), Some(input.as_bytes())).unwrap();
    let options = CallOptions::default();
    let encoded = full.with_shape(&[50]).unwrap().encode_to_vec(&[7; 50], &options).unwrap();
    assert_eq!(full.decode_to_vec(&encoded, &options).unwrap(), [[7; 50], [9; 50]].concat());
}
