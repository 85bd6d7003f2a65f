//! Codecs before a shard, and blocks of zfp: what a part gives, and what a plan asks for, compared with the whole.

use super::case::{Choices, area, choices, cut, indices, memory, named, options, sharding};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use zcodec::chain::{ByteRange, CallOptions, Chain, ReadPlan};
use zcodec::strided::Target;
use zcodec::{Error, Status};

fn chain(codecs: &Value, data_type: &str, shape: &[u64]) -> Arc<Chain> {
    let input = json!({"data_type": data_type, "shape": shape, "fill_value": 0});
    Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap().into()
}

/// Reads a box of an object by a plan; returns the ranges that it asks for.
fn read(chain: &Arc<Chain>, encoded: &[u8], start: &[u64], target: Target<'static>) -> Result<Vec<[u64; 2]>, Error> {
    let mut plan = ReadPlan::new(chain, options(), vec![(start.to_vec(), target)], Some(encoded.len() as u64), None)?;
    complete(&mut plan, encoded)
}

/// Supplies all that a plan asks for; returns the ranges.
fn complete(plan: &mut ReadPlan, encoded: &[u8]) -> Result<Vec<[u64; 2]>, Error> {
    let mut asked = Vec::new();
    loop {
        let ranges: Vec<ByteRange> = plan.next_stage()?.collect();
        if ranges.is_empty() {
            return Ok(asked);
        }
        for (index, range) in ranges.iter().enumerate() {
            let ByteRange::At { offset, size } = *range else { panic!("{range:?} of an object whose size is known") };
            plan.supply(index, &encoded[offset as usize..(offset + size) as usize])?;
            asked.push([offset, offset + size]);
        }
    }
}

/// In the other shape, 3 of 4 elements of two rows have the corners of a box of as many elements, but are not that box.
#[test]
fn a_box_with_the_corners_of_another_is_not_taken_for_it() {
    let codecs = json!([named("reshape", &json!({"shape": [8, 2]})), sharding(&[8, 2], &json!(["bytes"]))]);
    let chain = chain(&codecs, "uint8", &[2, 2, 4]);
    let encoded = chain.encode_to_vec(&(1..=16).collect::<Vec<u8>>(), &options()).unwrap();
    let mut found = [0; 6];
    let target = Target::contiguous(&mut found, 1, &[2, 1, 3]).unwrap();
    chain.decode_view(&encoded, &[0, 0, 0], target, &options()).unwrap();
    assert_eq!(found, [1, 2, 3, 9, 10, 11]);
}

/// The bytes that a plan asks for end with the last element of the box, within a row of the chunk: the rows are decoded
/// with what lies between them all the same, but with nothing of what lies before the first or after the last one.
#[test]
fn a_plan_of_short_rows_gives_the_same_as_all_of_the_chunk() {
    let big = named("bytes", &json!({"endian": "big"}));
    let packbits = |configuration: Value| named("packbits", &configuration);
    let flipped = named("transpose", &json!({"order": [1, 2, 0]}));
    let float = named("cast_value", &json!({"data_type": "float64"}));
    let shape = [6, 5, 7];
    let areas = |size: u64| (0..size).flat_map(move |start| [1, 2, size].map(|part| (start, part.min(size - start))));
    let mut choices = Choices::of(&[1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]);
    for (codecs, data_type, element_size, bits) in [
        (json!([packbits(json!({"first_bit": 1, "last_bit": 3}))]), "uint8", 1, 3),
        (json!([packbits(json!({"last_bit": 4}))]), "int8", 1, 5),
        (json!([big]), "uint16", 2, 16),
        (json!([packbits(json!({"last_bit": 10}))]), "uint16", 2, 11),
        (json!([flipped, big]), "int32", 4, 32),
        (json!([float, big]), "uint8", 1, 64),
        (json!([big]), "float64", 8, 64),
        (json!([big]), "complex128", 16, 128),
    ] {
        let input = json!({"data_type": data_type, "shape": shape});
        let reader: Arc<Chain> =
            Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap().into();
        let decoded: Vec<u8> = (0..210 * element_size).map(|number| (number * number % 127) as u8).collect();
        let encoded = reader.encode_to_vec(&decoded, &options()).unwrap();
        let decoded = reader.decode_to_vec(&encoded, &options()).unwrap();
        for (((first, planes), (second, rows)), (third, columns)) in areas(6)
            .flat_map(|planes| areas(5).map(move |rows| (planes, rows)))
            .flat_map(|outer| areas(7).map(move |columns| (outer, columns)))
        {
            let (start, part) = ([first, second, third], [planes, rows, columns]);
            let area = (start.to_vec(), part.to_vec());
            let expected = cut(&decoded, &shape, &area, element_size);
            let mut view = memory(&mut choices, &part, element_size);
            let asked = read(&reader, &encoded, &start, view.target()).unwrap();
            view.check(&expected).unwrap();
            if codecs[0]["name"] != "transpose" {
                let elements = indices(&shape, &area);
                let first = if bits % 8 == 0 { elements[0] } else { elements[0] / 8 * 8 };
                let span = [first * bits / 8, ((elements[elements.len() - 1] + 1) * bits).div_ceil(8)];
                assert_eq!(asked, [span.map(|at| at as u64)], "{codecs}: {area:?}");
            }
        }
    }
}

/// Columns after a reshape are many short runs, so many that all of the chunk takes less time; rows are few.
#[test]
fn boxes_of_many_and_of_few_runs_after_a_reshape_are_parts_of_the_whole() {
    let bytes = named("bytes", &json!({"endian": "big"}));
    let reshape = named("reshape", &json!({"shape": [[0], [1, 2]]}));
    let flipped = named("transpose", &json!({"order": [1, 0]}));
    let cast = named("cast_value", &json!({"data_type": "uint32"}));
    let shape = [32, 16, 32];
    let decoded: Vec<u8> = (0..32 * 16 * 32_u16).flat_map(u16::to_ne_bytes).collect();
    for codecs in [
        json!([reshape, sharding(&[8, 128], &json!([bytes]))]),
        json!([cast, reshape, sharding(&[8, 128], &json!([bytes]))]),
        json!([reshape, flipped, bytes]),
        json!([reshape, flipped, cast, bytes]),
    ] {
        let chain = chain(&codecs, "uint16", &shape);
        let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
        let mut choices = Choices::of(&[1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]);
        for (start, part) in [
            ([0_u64, 0, 5], [32_u64, 16, 1]),
            ([0, 0, 5], [32, 16, 11]),
            ([3, 1, 0], [17, 15, 2]),
            ([3, 1, 0], [2, 15, 2]),
            ([31, 3, 30], [1, 1, 2]),
            ([4, 2, 0], [9, 3, 32]),
            ([4, 0, 0], [9, 16, 32]),
        ] {
            let expected = cut(&decoded, &shape, &(start.to_vec(), part.to_vec()), 2);
            let mut view = memory(&mut choices, &part, 2);
            chain.decode_view(&encoded, &start, view.target(), &options()).unwrap();
            assert_eq!(view.elements(), expected, "{codecs}: {start:?} {part:?}");
        }
    }
}

/// Elements that are transposed after a reshape.
#[test]
fn a_plan_after_a_reshape_asks_for_what_spans_the_box() {
    let bytes = named("bytes", &json!({"endian": "little"}));
    let order = |order: &[u64]| named("transpose", &json!({"order": order}));
    let reshape = named("reshape", &json!({"shape": [8, 16, 32]}));
    let cast = named("cast_value", &json!({"data_type": "uint32"}));
    let decoded: Vec<u8> = (0..64 * 64_u16).flat_map(u16::to_ne_bytes).collect();
    for (codecs, element_size) in [
        (json!([reshape, order(&[0, 2, 1]), bytes]), 2),
        (json!([reshape, order(&[0, 2, 1]), cast, bytes]), 4),
        (json!([cast, reshape, order(&[0, 2, 1]), order(&[0, 2, 1]), bytes]), 4),
    ] {
        let chain = chain(&codecs, "uint16", &[64, 64]);
        let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
        // Eight rows are a plane after the reshape. Few elements in far places are read with all that lies between.
        for (start, shape, planes) in [
            ([16_u64, 0], [8_u64, 64], 2..3),
            ([14, 0], [4, 64], 1..3),
            ([20, 0], [1, 32], 2..3),
            ([7, 5], [2, 59], 0..8),
            ([3, 9], [58, 3], 0..8),
        ] {
            let expected = cut(&decoded, &[64, 64], &(start.to_vec(), shape.to_vec()), 2);
            let mut view = memory(&mut Choices::none(), &shape, 2);
            chain.decode_view(&encoded, &start, view.target(), &options()).unwrap();
            assert_eq!(view.elements(), expected, "{codecs}: {start:?} {shape:?}");
            let mut view = memory(&mut Choices::none(), &shape, 2);
            let asked = read(&chain, &encoded, &start, view.target()).unwrap();
            assert_eq!(view.elements(), expected, "{codecs}: {start:?} {shape:?}");
            let most = planes.start * 512 * element_size..planes.end * 512 * element_size;
            assert!(asked.iter().all(|[first, end]| most.start <= *first && *end <= most.end), "{codecs}: {asked:?}");
        }
    }
}

/// Element (16 a + b, c) of the chunk is (2 b + a / 2, 64 (a % 2) + c) of what the last codec gets.
#[test]
fn a_plan_after_two_reshapes_asks_for_what_the_box_touches() {
    let reshape = |shape: Value| named("reshape", &json!({"shape": shape}));
    let transpose = named("transpose", &json!({"order": [1, 0, 2]}));
    let bytes = named("bytes", &json!({"endian": "little"}));
    let zfp = named("zfp", &json!({"mode": "fixed_rate", "rate": 8}));
    let shape = [64, 64];
    let decoded: Vec<u8> = (0..64 * 64_u16).flat_map(|index| f32::from(index).sqrt().to_ne_bytes()).collect();
    // Inner chunks have 1024 bytes, and blocks 16; there are 4 and 32 of them in a row. A box is a row of each array.
    for (last, expected) in [
        (sharding(&[8, 32], &json!([bytes])), [[4352, 4416], [12_544, 12_608]].as_slice()),
        (zfp, &[[1024, 1088], [3072, 3136]]),
        (bytes.clone(), &[[5120, 5184], [13_312, 13_376]]),
    ] {
        let codecs = json!([reshape(json!([4, 16, 64])), transpose, reshape(json!([32, 128])), last]);
        let chain = chain(&codecs, "float32", &shape);
        let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
        let whole = chain.decode_to_vec(&encoded, &options()).unwrap();
        for (start, wanted) in [([5_u64, 0], expected[0]), ([13, 0], expected[1])] {
            let area = (start.to_vec(), vec![1, 16]);
            let mut view = memory(&mut Choices::none(), &area.1, 4);
            chain.decode_view(&encoded, &start, view.target(), &options()).unwrap();
            assert_eq!(view.elements(), cut(&whole, &shape, &area, 4), "{codecs}: {start:?}");
            let mut view = memory(&mut Choices::none(), &area.1, 4);
            let asked = read(&chain, &encoded, &start, view.target()).unwrap();
            assert_eq!(view.elements(), cut(&whole, &shape, &area, 4), "{codecs}: {start:?}");
            assert_eq!(asked.last(), Some(&wanted), "{codecs}: {start:?}");
            assert!(asked.len() <= 2, "{codecs}: {asked:?}"); // the index of the shard first
        }
    }
}

/// What a codec before a shard refuses, by the element in the array that it gets: the first in C order of the box, whatever
/// the order of inner chunks, and on any number of threads.
#[test]
fn the_first_element_that_a_codec_before_a_shard_refuses_is_named() {
    let bytes = named("bytes", &json!({"endian": "little"}));
    let transpose = named("transpose", &json!({"order": [1, 0]}));
    let cast = named("cast_value", &json!({"data_type": "uint16"}));
    let shape = [600, 600];
    let flat = sharding(&[50, 60], &json!([bytes]));
    let nested = sharding(&[200, 300], &json!([transpose, sharding(&[60, 50], &json!([bytes]))]));
    for shard in [&flat, &nested] {
        for (codecs, is_transposed) in [
            (json!([cast, shard]), false),
            (json!([cast, transpose, shard]), true),
            (json!([transpose, cast, shard]), true),
        ] {
            // Written without the cast, with values that it cannot bring back, in array order of the cast's input.
            let written: Vec<Value> =
                codecs.as_array().unwrap().iter().filter(|codec| codec["name"] != "cast_value").cloned().collect();
            let is_cast_last = is_transposed && codecs[0]["name"] == "transpose";
            let mut values = vec![7_u16; 600 * 600];
            let bad = [(70, 3), (60, 299), (60, 301), (400, 0)];
            bad.iter().for_each(|(row, column)| values[row * 600 + column] = 300);
            let decoded: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            let encoded = chain(&Value::from(written), "uint16", &shape).encode_to_vec(&decoded, &options()).unwrap();
            let chain = chain(&codecs, "uint8", &shape);
            // The index counts in what the cast received.
            let index = |row: u64, column: u64| if is_cast_last { column * 600 + row } else { row * 600 + column };
            let codec = usize::from(is_cast_last);
            let check = |error: Error, areas: &[(u64, u64)]| {
                let expected = areas.iter().map(|(row, column)| index(*row, *column)).min();
                let found = (error.status(), error.codec_index(), error.element_index());
                assert_eq!(found, (Status::OutOfRange, Some(codec), expected), "{codecs}: {error}");
                assert_eq!(error.pointer(), format!("/{codec}"));
            };
            let all = [(70, 3), (60, 299), (60, 301), (400, 0)];
            for threads in [1, 3] {
                let options = CallOptions { max_threads: NonZeroUsize::new(threads).unwrap(), ..options() };
                check(chain.decode_to_vec(&encoded, &options).unwrap_err(), &all);
                let mut part = vec![0; 570 * 599];
                let target = Target::contiguous(&mut part, 1, &[570, 599]).unwrap();
                check(chain.decode_view(&encoded, &[30, 1], target, &options).unwrap_err(), &all[..3]);
            }
            let mut view = memory(&mut Choices::none(), &[40, 20], 1);
            check(read(&chain, &encoded, &[50, 290], view.target()).unwrap_err(), &[(60, 299)]);
        }
    }
}

/// The same of elements that lie in another order within an inner chunk, or within a chunk that is no shard.
#[test]
fn the_first_element_is_named_whatever_order_a_tile_has() {
    let bytes = named("bytes", &json!({"endian": "little"}));
    let cast = named("cast_value", &json!({"data_type": "uint16"}));
    let transposes: Vec<Value> =
        [[1, 2, 0], [2, 0, 1], [0, 2, 1]].map(|o| named("transpose", &json!({"order": o}))).into();
    let [turn, back, swap] = &transposes[..] else { unreachable!() };
    let shape = [2, 3, 2];
    for codecs in [
        json!([cast, turn, bytes]),
        json!([cast, turn, back, bytes]),
        json!([cast, turn, swap, bytes]),
        json!([cast, swap, sharding(&[2, 2, 3], &json!([bytes]))]),
        json!([cast, turn, sharding(&[3, 1, 2], &json!([swap, bytes]))]),
        json!([cast, swap, sharding(&[2, 2, 3], &json!([bytes])), named("gzip", &json!({"level": 1}))]),
        json!([sharding(&[2, 3, 2], &json!([cast, turn, back, bytes]))]),
        json!([sharding(&[2, 3, 2], &json!([cast, turn, sharding(&[3, 2, 2], &json!([bytes]))]))]),
    ] {
        // Written without the cast, with values that it cannot bring back.
        let without = serde_json::from_str(&codecs.to_string().replace(&format!("{cast},"), "")).unwrap();
        let (writer, reader) = (chain(&without, "uint16", &shape), chain(&codecs, "uint8", &shape));
        for bad in (0..12).flat_map(|first| (first + 1..12).map(move |second| [first, second])) {
            let values = (0..12).map(|index| if bad.contains(&index) { 300_u16 } else { 7 });
            let decoded: Vec<u8> = values.flat_map(u16::to_ne_bytes).collect();
            let encoded = writer.encode_to_vec(&decoded, &options()).unwrap();
            let check = |error: Error, expected: u64| {
                assert_eq!(
                    (error.status(), error.element_index()),
                    (Status::OutOfRange, Some(expected)),
                    "{codecs} {bad:?}"
                );
            };
            check(reader.decode_to_vec(&encoded, &options()).unwrap_err(), bad[0]);
            let mut view = memory(&mut Choices::of(&[1, 2, 3]), &shape, 1);
            check(reader.decode_view(&encoded, &[0, 0, 0], view.target(), &options()).unwrap_err(), bad[0]);
            // A plan names what came first of several inner chunks.
            let is_one = !codecs.to_string().contains("[3,1,2]");
            let planned = read(&reader, &encoded, &[0, 0, 0], view.target()).unwrap_err();
            let other = planned.element_index().filter(|element| !is_one && *element == bad[1]);
            check(planned, other.unwrap_or(bad[0]));
            if let Some(last) = bad.into_iter().find(|index| *index >= 6 && (is_one || bad[0] < 6)) {
                let mut half = memory(&mut Choices::none(), &[1, 3, 2], 1);
                check(reader.decode_view(&encoded, &[1, 0, 0], half.target(), &options()).unwrap_err(), last);
                check(read(&reader, &encoded, &[1, 0, 0], half.target()).unwrap_err(), last);
            }
        }
    }
}

/// The bytes of the words that hold these blocks, of as many bits each.
fn words(block: u64, bits: u64) -> [u64; 2] {
    [block * bits / 64 * 8, ((block + 1) * bits).div_ceil(64) * 8]
}

/// The block of 4 along each dimension that an element of an array of this shape lies in, after a transposition.
fn block_of(mut index: usize, shape: &[u64], order: &[usize]) -> u64 {
    let mut position = vec![0; shape.len()];
    for (at, size) in position.iter_mut().zip(shape).rev() {
        *at = index as u64 % size;
        index /= *size as usize;
    }
    order.iter().fold(0, |block, dimension| block * shape[*dimension].div_ceil(4) + position[*dimension] / 4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_of_zfp_at_a_fixed_rate_asks_for_the_blocks_of_the_box(mut choices in choices()) {
        let rank = 1 + choices.below(4);
        let shape: Vec<u64> = (0..rank).map(|_| 1 + choices.below(if rank == 4 { 9 } else { 21 }) as u64).collect();
        // A stream whose blocks have the bits of three dimensions, as one writer makes them, is that of another rate.
        let is_foreign = rank != 3 && choices.below(3) == 0;
        let rate = if is_foreign { choices.pick(&[1, 2, 4]) } else { choices.pick(&[3, 8, 13, 16]) };
        let bits = f64::from(rate) * if is_foreign { 64.0 } else { 4_f64.powi(rank as i32) };
        let zfp = |rate: f64| named("zfp", &json!({"mode": "fixed_rate", "rate": rate}));
        let lead = choices.pick(&[0_u64, 0, 5]);
        let mut codecs = vec![zfp(rate.into())];
        let mut order: Vec<usize> = (0..rank).collect();
        match choices.below(4) {
            1 => {
                order = choices.order(rank);
                codecs.insert(0, named("transpose", &json!({"order": order})));
            }
            2 => codecs.insert(0, named("scale_offset", &json!({"scale": 2}))),
            _ => {}
        }
        let mut before = shape.clone();
        if choices.below(2) == 1 {
            let count = shape.iter().product::<u64>();
            before = choices.pick(&[vec![count], shape.iter().rev().copied().collect(), [&[1], &shape[..]].concat()]);
            codecs.insert(0, named("reshape", &json!({"shape": shape})));
        }
        if lead > 0 {
            codecs.push(named("pad", &json!({"location": "start", "nbytes": lead})));
        }
        let mut written = codecs.clone();
        *written.iter_mut().find(|codec| codec["name"] == "zfp").unwrap() = zfp(bits / 4_f64.powi(rank as i32));
        let (codecs, written) = (Value::from(codecs), Value::from(written));
        let (chain, writer) = (chain(&codecs, "float32", &before), chain(&written, "float32", &before));
        let count = shape.iter().product::<u64>();
        let decoded: Vec<u8> = (0..count).flat_map(|index| (index as f32 * 0.1).sin().to_ne_bytes()).collect();
        let encoded = writer.encode_to_vec(&decoded, &options()).unwrap();
        // A stream as long as one of the field's own dimensions is read as that.
        prop_assume!(!is_foreign || encoded.len() != chain.encode_to_vec(&decoded, &options()).unwrap().len());
        let whole = chain.decode_to_vec(&encoded, &options()).unwrap();
        prop_assert_eq!(&whole, &writer.decode_to_vec(&encoded, &options()).unwrap());
        for _ in 0..3 {
            let area = area(&mut choices, &before);
            let expected = cut(&whole, &before, &area, 4);
            let mut view = memory(&mut choices, &area.1, 4);
            chain.decode_view(&encoded, &area.0, view.target(), &options()).unwrap();
            prop_assert_eq!(&view.elements(), &expected);
            let mut view = memory(&mut choices, &area.1, 4);
            let asked = read(&chain, &encoded, &area.0, view.target()).unwrap();
            prop_assert_eq!(&view.elements(), &expected);
            let elements = indices(&before, &area).into_iter();
            let touched: BTreeSet<u64> = elements.map(|index| block_of(index, &shape, &order)).collect();
            let needed: Vec<[u64; 2]> = touched.iter().map(|block| words(*block, (bits as u64).max(9))).collect();
            for [start, end] in &asked {
                for byte in *start..*end {
                    let is_needed = needed.iter().any(|[first, last]| (first + lead..last + lead).contains(&byte));
                    prop_assert!(is_needed, "byte {byte} of {asked:?} for {area:?} of {before:?}: {codecs}");
                }
            }
            prop_assert!(asked.windows(2).all(|pair| pair[0][1] <= pair[1][0]), "{asked:?}");
        }
    }
}

#[test]
fn a_plan_of_zfp_asks_once_for_blocks_that_follow_each_other() {
    let codecs = json!([named("zfp", &json!({"mode": "fixed_rate", "rate": 8}))]);
    let chain = chain(&codecs, "float32", &[64, 64, 64]);
    let decoded: Vec<u8> = (0..64_u32.pow(3)).flat_map(|index| (index as f32 * 0.1).sin().to_ne_bytes()).collect();
    let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
    // 64 bytes a block, 16 of them along each axis.
    for (start, shape, expected) in [
        ([0, 0, 0], [64, 64, 64], vec![[0, 262_144]]),
        ([9, 0, 0], [6, 64, 64], vec![[2 * 16_384, 4 * 16_384]]),
        ([9, 20, 0], [1, 8, 64], vec![[2 * 16_384 + 5 * 1024, 2 * 16_384 + 7 * 1024]]),
        ([9, 20, 7], [1, 6, 2], vec![[37_952, 38_080], [38_976, 39_104]]),
    ] {
        let mut view = memory(&mut Choices::none(), &shape, 4);
        assert_eq!(read(&chain, &encoded, &start, view.target()).unwrap(), expected, "{shape:?} at {start:?}");
        let area = (start.to_vec(), shape.to_vec());
        let whole = chain.decode_to_vec(&encoded, &options()).unwrap();
        assert_eq!(view.elements(), cut(&whole, &[64, 64, 64], &area, 4));
    }
}

/// Boxes that are boxes of the other shape, too, and runs that are none: blocks in a row are one range.
#[test]
fn a_plan_of_zfp_after_a_reshape_asks_for_the_blocks_of_the_box() {
    let codecs =
        json!([named("reshape", &json!({"shape": [64, 64]})), named("zfp", &json!({"mode": "fixed_rate", "rate": 8}))]);
    let shape = [8, 8, 64];
    let chain = chain(&codecs, "float32", &shape);
    let decoded: Vec<u8> = (0..64_u32 * 64).flat_map(|index| (index as f32 * 0.1).sin().to_ne_bytes()).collect();
    let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
    let whole = chain.decode_to_vec(&encoded, &options()).unwrap();
    // 16 bytes a block, 16 of them in a row.
    for (start, part, expected) in [
        ([0, 0, 0], [8, 8, 64], vec![[0, 4096]]),
        ([1, 0, 0], [1, 8, 64], vec![[512, 1024]]),
        ([0, 0, 8], [8, 8, 4], (0..16).map(|row| [row * 256 + 32, row * 256 + 48]).collect()),
        ([1, 4, 0], [2, 1, 8], vec![[768, 800], [1280, 1312]]),
    ] {
        let mut view = memory(&mut Choices::none(), &part, 4);
        assert_eq!(read(&chain, &encoded, &start, view.target()).unwrap(), expected, "{part:?} at {start:?}");
        assert_eq!(view.elements(), cut(&whole, &shape, &(start.to_vec(), part.to_vec()), 4));
    }
}

/// Whatever the size of the object is, a plan reads what `decode_view` reads, or says the same about it.
#[test]
fn a_plan_of_zfp_refuses_what_decoding_refuses() {
    let codecs = json!([named("zfp", &json!({"mode": "fixed_rate", "rate": 16}))]);
    let chain = chain(&codecs, "float32", &[9, 22]);
    let decoded: Vec<u8> = (0..9 * 22).flat_map(|index| (index as f32).to_ne_bytes()).collect();
    let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
    for size in (0..=encoded.len() + 9).rev() {
        let mut object = encoded.clone();
        object.resize(size, 0);
        let (mut part, mut view) = (vec![0; 4 * 12], memory(&mut Choices::none(), &[3, 4], 4));
        let target = Target::contiguous(&mut part, 4, &[3, 4]).unwrap();
        let direct = chain.decode_view(&object, &[2, 7], target, &options());
        let planned = read(&chain, &object, &[2, 7], view.target());
        assert_eq!(planned.as_ref().map(drop), direct.as_ref().map(drop), "{size} bytes");
        if direct.is_ok() {
            assert_eq!(view.elements(), part);
        }
    }
}

/// Each would take a few frames of the stack for the one before it.
#[test]
fn thousands_of_reshapes_take_no_stack() {
    let pair = [named("transpose", &json!({"order": [1, 0]})), named("reshape", &json!({"shape": [16, 32]}))];
    let mut codecs: Vec<Value> = pair.iter().cycle().take(20_000).cloned().collect();
    codecs.push(named("bytes", &json!({})));
    let chain = chain(&json!(codecs), "uint8", &[16, 32]);
    let decoded: Vec<u8> = (0..512_u32).map(|index| (index % 251) as u8).collect();
    let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
    let mut view = memory(&mut Choices::none(), &[1, 1], 1);
    chain.decode_view(&encoded, &[7, 9], view.target(), &options()).unwrap();
    assert_eq!(view.elements(), decoded[7 * 32 + 9..][..1]);
    let mut view = memory(&mut Choices::none(), &[1, 1], 1);
    assert_eq!(read(&chain, &encoded, &[7, 9], view.target()).unwrap(), [[0, 512]]);
    assert_eq!(view.elements(), decoded[7 * 32 + 9..][..1]);
}

/// What one index would have said, the whole shard says: the host gets no index, and no error.
#[test]
fn a_plan_that_reads_the_whole_shard_has_no_index() {
    let reshape = |shape: Value| named("reshape", &json!({"shape": shape}));
    let transpose = named("transpose", &json!({"order": [1, 0]}));
    let codecs = json!([
        transpose,
        reshape(json!([64, 64])),
        transpose,
        reshape(json!([32, 128])),
        sharding(&[8, 8], &json!(["bytes"]))
    ]);
    let chain = chain(&codecs, "uint8", &[32, 128]);
    let decoded: Vec<u8> = (0..64 * 64_u32).map(|index| (index % 251) as u8).collect();
    let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
    for (shape, has_index) in [([1_u64, 1], true), ([32, 128], false)] {
        let mut view = memory(&mut Choices::none(), &shape, 1);
        let boxes = vec![(vec![0, 0], view.target())];
        let mut plan = ReadPlan::new(&chain, options(), boxes, Some(encoded.len() as u64), None).unwrap();
        complete(&mut plan, &encoded).unwrap();
        assert_eq!(plan.index().unwrap().is_some(), has_index, "{shape:?}");
        drop(plan);
        assert_eq!(view.elements(), cut(&decoded, &[32, 128], &(vec![0, 0], shape.to_vec()), 1), "{shape:?}");
    }
}

/// What is around the chunk has 2^64 bytes.
#[test]
fn a_plan_of_a_chunk_that_no_object_can_hold_is_refused_whether_its_size_is_known_or_not() {
    let pad = |nbytes: u64| named("pad", &json!({"location": "start", "nbytes": nbytes}));
    let chain = chain(&json!(["bytes", pad(u64::MAX), pad(1)]), "uint8", &[4]);
    for size in [Some(5), Some(u64::MAX - 1), None] {
        let mut view = memory(&mut Choices::none(), &[2], 1);
        let plan = ReadPlan::new(&chain, options(), vec![(vec![0], view.target())], size, None);
        assert_eq!(plan.unwrap_err().status(), Status::CorruptData, "{size:?}");
    }
}
