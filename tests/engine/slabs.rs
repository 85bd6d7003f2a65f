//! Chunks larger than caches whose codec decodes them slab by slab to strides, or encodes them so from there.

use super::case::{named, options};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use zcodec::Error;
use zcodec::chain::{CallOptions, Chain};
use zcodec::strided::{Layout, Source, Target};

/// A chain for float32, and a smooth field with noise that enters it.
fn chunk(codecs: &[Value], shape: &[u64]) -> (Chain, Vec<u8>) {
    let input = json!({"data_type": "float32", "shape": shape, "fill_value": 0});
    let chain = Chain::new(json!(codecs).to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
    let element = |index: u64| (index as f32 * 1e-3).sin() * 50.0 + (index * 2_654_435_761 % 1000) as f32 * 1e-3;
    let decoded = (0..shape.iter().product()).flat_map(|index| element(index).to_ne_bytes()).collect();
    (chain, decoded)
}

/// Where an array of elements of 4 bytes begins, and its strides: in C order with gaps after rows, backwards, with the
/// other order of dimensions, and with the first dimension last.
fn places(shape: &[u64]) -> Vec<(usize, Vec<i64>)> {
    let in_order = |order: &mut dyn Iterator<Item = usize>, gap: i64| {
        let (mut strides, mut step) = (vec![0; shape.len()], 4);
        for (number, dimension) in order.enumerate() {
            strides[dimension] = step;
            step = step * shape[dimension].cast_signed() + if number == 0 { gap } else { 0 };
        }
        strides
    };
    let rank = shape.len();
    let gaps = in_order(&mut (0..rank).rev(), 12);
    let back: Vec<i64> = gaps.iter().map(|stride| -stride).collect();
    let last = shape.iter().zip(&gaps).map(|(size, stride)| (size.cast_signed() - 1) * stride).sum::<i64>();
    vec![
        (0, gaps),
        (last as usize, back),
        (0, in_order(&mut (0..rank), 0)),
        (8, in_order(&mut std::iter::once(0).chain((1..rank).rev()), 4)),
    ]
}

/// The elements at this place, and a byte that is none of theirs everywhere else.
fn laid_out(decoded: &[u8], shape: &[u64], (offset, strides): &(usize, Vec<i64>)) -> (Layout, Vec<u8>) {
    let last: i64 = shape.iter().zip(strides).map(|(size, stride)| (size.cast_signed() - 1) * (*stride).max(0)).sum();
    let mut memory = vec![0xA5; offset + last as usize + 16];
    let mut position = vec![0; shape.len()];
    for element in decoded.chunks_exact(4) {
        let at: i64 = position.iter().zip(strides).map(|(index, stride): (&u64, _)| index.cast_signed() * stride).sum();
        let at = (*offset as i64 + at) as usize;
        memory[at..at + 4].copy_from_slice(element);
        for dimension in (0..shape.len()).rev() {
            position[dimension] += 1;
            if position[dimension] < shape[dimension] {
                break;
            }
            position[dimension] = 0;
        }
    }
    (Layout::new(4, shape, Some(strides), *offset, memory.len()).unwrap(), memory)
}

/// Boxes that lack the first index, and the last two, of the slowest dimension, of the fastest one, and of all.
fn boxes(shape: &[u64]) -> Vec<(Vec<u64>, Vec<u64>)> {
    let slowest = shape.iter().position(|size| *size > 1).unwrap();
    let lacks = |lacking: &dyn Fn(usize) -> bool| {
        let (mut start, mut part) = (vec![0; shape.len()], shape.to_vec());
        for dimension in (0..shape.len()).filter(|dimension| lacking(*dimension) && shape[*dimension] > 3) {
            (start[dimension], part[dimension]) = (1, shape[dimension] - 3);
        }
        (start, part)
    };
    let mut late = lacks(&|_| false);
    (late.0[slowest], late.1[slowest]) = (shape[slowest] / 2, shape[slowest] / 3 + 1);
    vec![
        lacks(&|dimension| dimension == slowest),
        lacks(&|dimension| dimension + 1 == shape.len()),
        lacks(&|_| true),
        late,
    ]
}

/// The elements of a box.
fn cut(decoded: &[u8], shape: &[u64], start: &[u64], part: &[u64]) -> Vec<u8> {
    let source = Source::contiguous(decoded, 4, shape).unwrap().region(start, part).unwrap();
    source.rows().flatten().copied().collect()
}

fn threads(count: usize) -> CallOptions {
    CallOptions { max_threads: NonZeroUsize::new(count).unwrap(), ..options() }
}

/// Checks that views get what a buffer gets, and nothing between.
fn check(codecs: &[Value], shape: &[u64]) {
    let (chain, values) = chunk(codecs, shape);
    let encoded = chain.encode_to_vec(&values, &options()).unwrap();
    let decoded = chain.decode_to_vec(&encoded, &options()).unwrap();
    check_views(&chain, &encoded, &decoded, shape, codecs);
    let damaged = &encoded[..encoded.len() / 3];
    let error = chain.decode_to_vec(damaged, &options()).unwrap_err();
    let (layout, mut memory) = laid_out(&decoded, shape, &places(shape)[0]);
    let target = Target::new(&mut memory, layout).unwrap();
    assert_eq!(chain.decode_view(damaged, &vec![0; shape.len()], target, &options()).unwrap_err(), error, "{codecs:?}");
}

/// Checks that views of a chunk, and of boxes in it, get these elements.
fn check_views(chain: &Chain, encoded: &[u8], decoded: &[u8], shape: &[u64], codecs: &[Value]) {
    for place in places(shape) {
        let (layout, expected) = laid_out(decoded, shape, &place);
        for count in [1, 3] {
            let mut memory = vec![0xA5; expected.len()];
            let target = Target::new(&mut memory, layout.clone()).unwrap();
            chain.decode_view(encoded, &vec![0; shape.len()], target, &threads(count)).unwrap();
            assert!(memory == expected, "{codecs:?}, {shape:?} to {place:?} by {count}");
        }
    }
    for (start, part) in boxes(shape) {
        let of_part = cut(decoded, shape, &start, &part);
        for (place, count) in places(&part).into_iter().zip([1, 3, 2, 1]) {
            let (layout, expected) = laid_out(&of_part, &part, &place);
            let mut memory = vec![0xA5; expected.len()];
            let target = Target::new(&mut memory, layout).unwrap();
            chain.decode_view(encoded, &start, target, &threads(count)).unwrap();
            assert!(memory == expected, "{codecs:?}, {start:?} {part:?} of {shape:?} to {place:?} by {count}");
        }
    }
}

/// Checks a chunk of elements of 4 bytes that go through elementwise codecs before a transform, which decodes and encodes
/// the chunk slab by slab: it has the elements and bytes, or the fault, that these codecs find in all of what the
/// transform gets.
fn check_before(data_type: &str, shape: &[u64], before: &[Value], transform: (&Chain, &Value), packed: &[u8]) {
    let codecs: Vec<Value> = before.iter().chain([transform.1]).cloned().collect();
    let input = json!({"data_type": data_type, "shape": shape, "fill_value": 3}).to_string();
    let chain_of = |codecs: &[Value]| Chain::new(json!(codecs).to_string().as_bytes(), Some(input.as_bytes())).unwrap();
    let (chain, before) = (chain_of(&codecs), chain_of(before));
    let encoded = transform.0.encode_to_vec(packed, &options()).unwrap();
    let packed = transform.0.decode_to_vec(&encoded, &options()).unwrap();
    let whole = vec![0; shape.len()];
    match before.decode_to_vec(&packed, &options()) {
        Ok(decoded) => {
            for count in [1, 3] {
                let mut memory = vec![0xA5; decoded.len()];
                chain.decode_into(&encoded, &mut memory, &threads(count)).unwrap();
                assert!(memory == decoded, "{codecs:?}, {shape:?} by {count}");
                assert!(chain.decode_to_vec(&encoded, &threads(count)).unwrap() == decoded, "{codecs:?}, {shape:?}");
            }
            check_views(&chain, &encoded, &decoded, shape, &codecs);
            check_encode_before(&chain, (&before, transform.0), &decoded, shape, &codecs);
        }
        Err(expected) => {
            for count in [1, 3] {
                let mut memory = vec![0; 4 * shape.iter().product::<u64>() as usize];
                let error = chain.decode_into(&encoded, &mut memory, &threads(count)).unwrap_err();
                assert_eq!(error, expected, "{codecs:?}, {shape:?} by {count}");
                let (layout, mut memory) = laid_out(&memory, shape, &places(shape)[1]);
                let target = Target::new(&mut memory, layout).unwrap();
                let error = chain.decode_view(&encoded, &whole, target, &threads(count)).unwrap_err();
                assert_eq!(error, expected, "{codecs:?}, {shape:?} to a view by {count}");
            }
        }
    }
}

/// Checks that a chunk is encoded to the bytes that the codecs make of it one after the other, and that the first element
/// which one of them refuses is at fault. The transform, which has another place when it is alone, refuses NaN.
fn check_encode_before(chain: &Chain, parts: (&Chain, &Chain), decoded: &[u8], shape: &[u64], codecs: &[Value]) {
    let mut faulty = decoded.to_vec();
    let count = decoded.len() / 4;
    for index in [count - 1, count / 3, count / 2] {
        faulty[4 * index..4 * index + 4].copy_from_slice(&0x7FFF_FFFF_u32.to_ne_bytes());
    }
    for elements in [decoded, &faulty] {
        let packed = parts.0.encode_to_vec(elements, &options());
        let is_of_before = packed.is_err();
        let expected = packed.and_then(|packed| parts.1.encode_to_vec(&packed, &options()));
        let is_expected = |found: &Result<Vec<u8>, Error>| match (found, &expected) {
            (Err(found), Err(expected)) if !is_of_before => found.status() == expected.status(),
            _ => *found == expected,
        };
        for threads in [threads(1), threads(3)] {
            assert!(is_expected(&chain.encode_to_vec(elements, &threads)), "{codecs:?}, {shape:?}");
            for place in places(shape) {
                let (layout, memory) = laid_out(elements, shape, &place);
                let source = Source::new(&memory, layout).unwrap();
                let mut encoded = vec![0; chain.encoded_bound(elements.len() as u64).unwrap() as usize];
                let found = chain.encode_view(&vec![0; shape.len()], source, &mut encoded, &threads);
                let found = found.map(|size| encoded[..size].to_vec());
                assert!(is_expected(&found), "{codecs:?}, {shape:?} from {place:?}: {:?}", found.err());
            }
        }
    }
}

/// Checks that a chunk is the same bytes wherever its elements lie, also if a part of it is the fill value, and that the
/// same element is at fault.
fn check_encode(codecs: &[Value], shape: &[u64], refuses_nan: bool) {
    let (chain, values) = chunk(codecs, shape);
    let bound = chain.encoded_bound(values.len() as u64).unwrap() as usize;
    let encode_to = |capacity: usize, decoded: &[u8], (start, part): (&[u64], &[u64]), place: &_, count: usize| {
        let (layout, memory) = laid_out(decoded, part, place);
        let mut encoded = vec![0xA5; capacity];
        let source = Source::new(&memory, layout).unwrap();
        let size = chain.encode_view(start, source, &mut encoded, &threads(count))?;
        encoded.truncate(size);
        Ok(encoded)
    };
    let encode = |decoded: &[u8], start: &[u64], part: &[u64], place: &_, count: usize| {
        encode_to(bound, decoded, (start, part), place, count)
    };
    let (encoded, whole) = (chain.encode_to_vec(&values, &options()), vec![0; shape.len()]);
    for place in places(shape) {
        for count in [1, 3] {
            let found = encode(&values, &whole, shape, &place, count);
            assert!(found == encoded, "{codecs:?}, {shape:?} from {place:?} by {count}");
        }
    }
    for (start, part) in boxes(shape) {
        let of_part = cut(&values, shape, &start, &part);
        let mut padded = vec![0; values.len()];
        let mut target = Target::contiguous(&mut padded, 4, shape).unwrap();
        let source = Source::contiguous(&of_part, 4, &part).unwrap();
        zcodec::strided::copy(&source, &mut target.region(&start, &part).unwrap()).unwrap();
        let encoded = chain.encode_to_vec(&padded, &options());
        for (place, count) in places(&part).into_iter().zip([1, 3, 2, 1]) {
            let found = encode(&of_part, &start, &part, &place, count);
            assert!(found == encoded, "{codecs:?}, {start:?} {part:?} of {shape:?} from {place:?} by {count}");
        }
    }
    let capacity = encoded.as_ref().unwrap().len() - 1;
    let expected = chain.encode_into(&values, &mut vec![0; capacity], &options()).unwrap_err();
    let error = encode_to(capacity, &values, (&whole, shape), &places(shape)[0], 3).unwrap_err();
    assert_eq!(error, expected, "{codecs:?}, {shape:?}");
    let mut faulty = values.clone();
    for index in [values.len() / 4 - 1, values.len() / 7, values.len() / 6] {
        faulty[4 * index..4 * index + 4].copy_from_slice(&f32::NAN.to_ne_bytes());
    }
    let expected = chain.encode_to_vec(&faulty, &options());
    assert_eq!(expected.is_err(), refuses_nan, "{codecs:?}");
    for count in [1, 3] {
        let found = encode(&faulty, &whole, shape, &places(shape)[0], count);
        assert!(
            found == expected,
            "{codecs:?}, {shape:?} by {count}: {:?}, expected {:?}",
            found.err(),
            expected.err()
        );
    }
}

#[test]
fn slabs_of_zfp_are_those_of_the_whole() {
    for configuration in [
        json!({"mode": "reversible"}),
        json!({"mode": "fixed_rate", "rate": 9}),
        json!({"mode": "fixed_precision", "precision": 11}),
        json!({"mode": "fixed_accuracy", "tolerance": 0.01}),
    ] {
        let zfp = [named("zfp", &configuration)];
        for shape in [&[300_001][..], &[1031, 389], &[4, 1031, 201], &[61, 71, 73], &[1, 131, 2099], &[13, 9, 51, 50]] {
            check(&zfp, shape);
            check_encode(&zfp, shape, configuration["mode"] != "reversible");
        }
        for (shape, reshaped) in [
            (&[1000, 400][..], json!([250, 1600])),
            (&[1000, 400], json!([10, 100, 400])),
            (&[50, 20, 400], json!([1000, 400])),
            (&[50, 20, 400], json!([400_000])),
        ] {
            let codecs = [named("reshape", &json!({"shape": reshaped})), zfp[0].clone()];
            check(&codecs, shape);
            check_encode(&codecs, shape, configuration["mode"] != "reversible");
        }
    }
    let zfpy =
        json!({"mode": 4, "tolerance": 1e-2, "rate": -1, "precision": -1, "compression_kwargs": {"tolerance": 1e-2}});
    let zfpy = [named("numcodecs.zfpy", &zfpy)];
    check(&zfpy, &[61, 71, 73]);
    check_encode(&zfpy, &[61, 71, 73], true);
}

#[test]
fn slabs_of_blosc_are_those_of_the_whole() {
    let little = named("bytes", &json!({"endian": "little"}));
    for (compressor, level, filter, element_size, block_size) in [
        ("lz4", 5, "shuffle", 4, 0),
        ("zstd", 1, "bitshuffle", 4, 10_000),
        ("blosclz", 5, "noshuffle", 1, 3000),
        ("zlib", 1, "shuffle", 3, 77_777),
        ("lz4", 0, "noshuffle", 4, 0),
    ] {
        let blosc = json!({
            "cname": compressor, "clevel": level, "shuffle": filter, "typesize": element_size, "blocksize": block_size
        });
        let codecs = [little.clone(), named("blosc", &blosc)];
        for shape in [&[300_001][..], &[1031, 389], &[1, 5000, 61], &[61, 71, 73]] {
            check(&codecs, shape);
            check_encode(&codecs, shape, false);
        }
    }
}

#[test]
fn slabs_go_through_the_codecs_before() {
    let big = named("bytes", &json!({"endian": "big"}));
    let cast = |data_type: &str| named("cast_value", &json!({"data_type": data_type}));
    let scaled = named("scale_offset", &json!({"scale": 0.5, "offset": 3}));
    let reversed = |rank: usize| named("transpose", &json!({"order": (0..rank).rev().collect::<Vec<_>>()}));
    let blosc = json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 70_000});
    let blosc = named("blosc", &blosc);
    let bytes = Chain::new(json!([blosc]).to_string().as_bytes(), None).unwrap();
    for (number, shape) in [&[2_200_001][..], &[1531, 1489], &[1, 131, 129, 131]].into_iter().enumerate() {
        let count = shape.iter().product::<u64>();
        let words = |of: &dyn Fn(u64) -> u64| -> Vec<u8> {
            (0..count).flat_map(|index| (of(index) as u16).to_be_bytes()).collect()
        };
        let smooth = words(&|index| index / 3 % 31_000);
        let befores = [
            vec![scaled.clone(), cast("int16"), big.clone()],
            vec![reversed(shape.len()), cast("int16"), big.clone()],
            vec![cast("int16"), reversed(shape.len()), big.clone()],
        ];
        check_before("float32", shape, &befores[number], (&bytes, &blosc), &smooth);
        let four: Vec<u8> = smooth.iter().chain(&smooth).copied().collect();
        check_before("int32", shape, std::slice::from_ref(&big), (&bytes, &blosc), &four);
        // Some elements are negative.
        let faulty =
            words(&|index| if [count - 1, count / 2, count / 3].contains(&index) { 0xF000 } else { index % 99 });
        check_before("uint32", shape, &[cast("int16"), big.clone()], (&bytes, &blosc), &faulty);
        check_before("uint32", shape, &[reversed(shape.len()), cast("int16"), big.clone()], (&bytes, &blosc), &faulty);
    }
    for configuration in [json!({"mode": "reversible"}), json!({"mode": "fixed_rate", "rate": 11})] {
        let zfp = [named("zfp", &configuration)];
        for shape in [&[1_100_001][..], &[1031, 1089], &[103, 101, 107]] {
            let (chain, values) = chunk(&zfp, shape);
            check_before("int32", shape, &[cast("float32")], (&chain, &zfp[0]), &values);
            check_before("float32", shape, std::slice::from_ref(&scaled), (&chain, &zfp[0]), &values);
            let axes: Vec<u64> = shape.iter().rev().copied().collect();
            let (chain, values) = chunk(&zfp, &axes);
            check_before("float32", shape, &[scaled.clone(), reversed(shape.len())], (&chain, &zfp[0]), &values);
        }
    }
}
