//! A plan of an uncompressed block of N5 reads the header first, and then what spans the boxes, if that is little.

use super::case::{Area, Choices, area, choices, cut, memory, named, options, sharding};
use super::read::place;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use zcodec::chain::{Chain, ReadPlan};
use zcodec::strided::Target;
use zcodec::{Error, Status};

const HEADER: [u64; 2] = [0, 16];

fn chain(codecs: &Value, data_type: &str, shape: &[u64]) -> Arc<Chain> {
    let input = json!({"data_type": data_type, "shape": shape, "fill_value": 9});
    Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap().into()
}

fn n5(last: &[Value]) -> Value {
    let mut codecs = vec![named("transpose", &json!({"order": [2, 1, 0]})), named("bytes", &json!({"endian": "big"}))];
    codecs.extend_from_slice(last);
    named("n5_default", &json!({"codecs": codecs}))
}

fn padding(size: u64) -> Value {
    named("pad", &json!({"location": "start", "nbytes": size}))
}

/// Reads boxes by a plan; returns the ranges that it asks for.
fn read(
    chain: &Arc<Chain>,
    encoded: &[u8],
    boxes: Vec<(Vec<u64>, Target<'static>)>,
    is_size_known: bool,
) -> Result<Vec<[u64; 2]>, Error> {
    let (size, mut asked) = (encoded.len() as u64, Vec::new());
    let mut plan = ReadPlan::new(chain, options(), boxes, is_size_known.then_some(size), None)?;
    loop {
        let ranges: Vec<[u64; 2]> = plan.next_stage()?.map(|range| place(range, size)).collect();
        if ranges.is_empty() {
            return Ok(asked);
        }
        for (index, [start, end]) in ranges.iter().enumerate() {
            plan.supply(index, &encoded[*start as usize..*end as usize])?;
        }
        asked.extend(ranges);
    }
}

/// What spans the part of a box in a block of this shape, after the header.
fn span(block: &[u64], (start, shape): &Area) -> Option<[u64; 2]> {
    let ends: Vec<u64> = (0..3).map(|axis| (start[axis] + shape[axis]).min(block[axis])).collect();
    if (0..3).any(|axis| ends[axis] <= start[axis]) {
        return None;
    }
    let number = |at: [u64; 3]| (at[2] * block[1] + at[1]) * block[0] + at[0];
    let first = number([start[0], start[1], start[2]]);
    let last = number([ends[0] - 1, ends[1] - 1, ends[2] - 1]);
    Some([16 + 2 * first, 16 + 2 * (last + 1)])
}

/// Boxes of each size 1, 2 and the whole, at every place.
fn areas(shape: [u64; 3]) -> impl Iterator<Item = Area> {
    let along = |size: u64| (0..size).flat_map(move |start| [1, 2, size].map(|part| (start, part.min(size - start))));
    along(shape[0])
        .flat_map(move |a| along(shape[1]).map(move |b| (a, b)))
        .flat_map(move |(a, b)| along(shape[2]).map(move |c| (vec![a.0, b.0, c.0], vec![a.1, b.1, c.1])))
}

fn elements(chain: &Chain) -> Vec<u8> {
    (0..chain.decoded_size().unwrap()).map(|number| (number * 7 % 101) as u8).collect()
}

#[test]
fn a_plan_of_every_box_gives_the_same_as_all_of_a_block_of_any_shape() {
    let shape = [4, 5, 3];
    let whole = chain(&json!([n5(&[])]), "uint16", &shape);
    let mut choices = Choices::of(&[1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]);
    let blocks = (1..=4).flat_map(|a| (1..=5).flat_map(move |b| (1..=3).map(move |c| [a, b, c])));
    for (number, block) in blocks.enumerate() {
        let writer = whole.with_shape(&block).unwrap();
        let encoded = writer.encode_to_vec(&elements(&writer), &options()).unwrap();
        let decoded = whole.decode_to_vec(&encoded, &options()).unwrap();
        for (count, area) in areas(shape).enumerate().filter(|(count, _)| (count + number) % 5 == 0) {
            let mut view = memory(&mut choices, &area.1, 2);
            let is_size_known = count % 2 == 0;
            let asked = read(&whole, &encoded, vec![(area.0.clone(), view.target())], is_size_known).unwrap();
            view.check(&cut(&decoded, &shape, &area, 2)).unwrap();
            let size = encoded.len() as u64;
            let full = span(&shape, &area).map_or(0, |[start, end]| end - start);
            let is_small = full < 60 && (!is_size_known || full < (size - 16) / 2);
            let expected =
                if is_small { [HEADER].into_iter().chain(span(&block, &area)).collect() } else { vec![[0, size]] };
            assert_eq!(asked, expected, "{block:?} {area:?}");
        }
    }
}

#[test]
fn a_block_that_is_larger_than_the_chunk_is_cropped() {
    let whole = chain(&json!([n5(&[])]), "uint16", &[6, 5, 7]);
    let encoded = whole.encode_to_vec(&elements(&whole), &options()).unwrap();
    let mut choices = Choices::of(&[1, 2, 3, 5, 8, 13, 21]);
    for shape in [[3, 5, 7], [6, 2, 5], [2, 2, 6]] {
        let border = Arc::new(whole.with_shape(&shape).unwrap());
        let decoded = border.decode_to_vec(&encoded, &options()).unwrap();
        for area in areas(shape).step_by(7) {
            let mut view = memory(&mut choices, &area.1, 2);
            let asked = read(&border, &encoded, vec![(area.0.clone(), view.target())], true).unwrap();
            view.check(&cut(&decoded, &shape, &area, 2)).unwrap();
            if asked.len() > 1 {
                assert_eq!(asked, [HEADER, span(&[6, 5, 7], &area).unwrap()], "{shape:?} {area:?}");
            }
        }
    }
}

#[test]
fn codecs_around_the_elements_do_not_matter_unless_they_look_at_all_bytes() {
    let turned = named("transpose", &json!({"order": [1, 2, 0]}));
    let wider = named("cast_value", &json!({"data_type": "int32"}));
    let shard = sharding(&[3, 5, 4], &json!([n5(&[])]));
    let mut choices = Choices::of(&[1, 2, 3, 5, 8, 13, 21, 34, 55]);
    for (codecs, has_parts) in [
        (json!([turned, n5(&[])]), true),
        (json!([wider, n5(&[])]), true),
        (json!([turned, wider, n5(&[padding(5)]), padding(3)]), true),
        (json!([shard]), true),
        (json!([turned, n5(&[json!("crc32c")])]), false),
        (json!([n5(&[]), "crc32c"]), false),
        (json!([n5(&[named("gzip", &json!({"level": 1}))])]), false),
    ] {
        let shape = [6, 5, 8];
        let whole = chain(&codecs, "uint16", &shape);
        let is_shard = codecs[0]["name"] == "sharding_indexed";
        let granularity = if is_shard {
            [3, 5, 4]
        } else if has_parts {
            [1, 1, 1]
        } else {
            shape
        };
        assert_eq!(whole.granularity().unwrap(), granularity, "{codecs}");
        for block in [shape, [3, 5, 8], [6, 4, 1]] {
            let writer = if is_shard { (*whole).clone() } else { whole.with_shape(&block).unwrap() };
            let encoded = writer.encode_to_vec(&elements(&writer), &options()).unwrap();
            let decoded = whole.decode_to_vec(&encoded, &options()).unwrap();
            let mut is_partial = false;
            for area in areas(shape).step_by(11) {
                let mut view = memory(&mut choices, &area.1, 2);
                let asked = read(&whole, &encoded, vec![(area.0.clone(), view.target())], true).unwrap();
                view.check(&cut(&decoded, &shape, &area, 2)).unwrap();
                is_partial |= asked.iter().map(|[start, end]| end - start).sum::<u64>() < encoded.len() as u64;
            }
            assert_eq!(is_partial, has_parts, "{codecs} {block:?}");
        }
    }
}

#[test]
fn a_plan_of_a_damaged_block_ends_like_the_decode_of_the_box() {
    let shape = [4, 5, 3];
    let whole = chain(&json!([n5(&[])]), "uint16", &shape);
    let (mut status, mut header_first) = (Vec::new(), 0);
    for block in [shape, [4, 3, 2], [1, 5, 3]] {
        let writer = whole.with_shape(&block).unwrap();
        let good = writer.encode_to_vec(&elements(&writer), &options()).unwrap();
        let damaged = (0..16_usize).flat_map(|byte| [0, 1, 2, 3, 4, 5, 6, 255].map(|value| (byte, value)));
        let damaged = damaged.map(|(byte, value)| {
            let mut damaged = good.clone();
            damaged[byte] = value;
            damaged
        });
        let cut = (0..good.len()).map(|size| good[..size].to_vec());
        let longer = [1, 2, 200].map(|more| [good.clone(), vec![0; more]].concat());
        for encoded in damaged.chain(cut).chain(longer) {
            for area in [([0, 0, 0], [1, 1, 1]), ([1, 2, 0], [2, 2, 1]), ([3, 4, 2], [1, 1, 1]), ([0, 0, 0], shape)] {
                let (start, part) = (area.0.to_vec(), area.1.to_vec());
                let size = 2 * part.iter().product::<u64>() as usize;
                let mut expected = vec![0xA5; size];
                let target = Target::contiguous(&mut expected, 2, &part).unwrap();
                let decoded = whole.decode_view(&encoded, &start, target, &options());
                let mut view = memory(&mut Choices::of(&[]), &part, 2);
                let read = read(&whole, &encoded, vec![(start, view.target())], true);
                match (read, decoded) {
                    (Ok(asked), Ok(())) => {
                        view.check(&expected).unwrap();
                        header_first += usize::from(asked[0] == HEADER);
                    }
                    (Err(found), Err(error)) => {
                        assert_eq!(found, error, "{area:?} {:?}", &encoded[..encoded.len().min(16)]);
                        status.push(error.status());
                    }
                    (read, decoded) => panic!("{read:?}, but {decoded:?}, {area:?} {encoded:?}"),
                }
            }
        }
    }
    assert!(header_first > 50 && status.contains(&Status::Unsupported) && status.contains(&Status::CorruptData));
}

#[test]
fn the_payload_of_a_block_without_elements_is_checked() {
    for (last, has_payload) in
        [(vec![], false), (vec![named("gzip", &json!({"level": 1}))], true), (vec![json!("crc32c")], true)]
    {
        let whole = chain(&json!([n5(&last)]), "uint16", &[4, 5, 3]);
        let writer = whole.with_shape(&[4, 0, 3]).unwrap();
        let good = writer.encode_to_vec(&[], &options()).unwrap();
        assert_eq!(good.len() > 16, has_payload);
        assert_eq!(whole.decode_to_vec(&good, &options()).unwrap(), 9_u16.to_ne_bytes().repeat(60));
        let mut damaged = vec![[&good[..], &[0]].concat()];
        damaged.extend(has_payload.then(|| good[..good.len() - 1].to_vec()));
        // A block with elements, whose header lost a size.
        damaged.push(whole.encode_to_vec(&elements(&whole), &options()).unwrap());
        damaged[1 + usize::from(has_payload)][8..12].fill(0);
        for encoded in damaged {
            for chain in [&whole, &Arc::new(writer.clone())] {
                let error = chain.decode_to_vec(&encoded, &options()).unwrap_err();
                assert_eq!(error.status(), Status::CorruptData, "{last:?}: {error}");
            }
            let mut view = memory(&mut Choices::of(&[]), &[1, 1, 1], 2);
            let decoded = whole.decode_view(&encoded, &[0, 0, 0], view.target(), &options());
            let found = read(&whole, &encoded, vec![(vec![0, 0, 0], view.target())], true).map(drop);
            assert_eq!((&found, found.is_err()), (&decoded, true), "{last:?}");
        }
    }
}

#[test]
fn what_is_outside_of_a_block_needs_a_fill_value() {
    let input = json!({"data_type": "uint16", "shape": [40, 5, 3]});
    let whole: Arc<Chain> =
        Chain::new(json!([n5(&[])]).to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap().into();
    let writer = whole.with_shape(&[40, 3, 3]).unwrap();
    let encoded = writer.encode_to_vec(&elements(&writer), &options()).unwrap();
    for (start, is_inside) in [([1, 1, 1], true), ([1, 2, 1], false), ([1, 3, 1], false)] {
        let mut view = memory(&mut Choices::of(&[]), &[2, 2, 1], 2);
        let decoded = whole.decode_view(&encoded, &start, view.target(), &options());
        let found = read(&whole, &encoded, vec![(start.to_vec(), view.target())], true);
        assert_eq!(found.is_ok(), is_inside);
        assert_eq!(found.map(drop), decoded);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn boxes_of_one_plan_are_each_that_part_of_the_block(mut choices in choices()) {
        let shape = [9, 8, 7];
        let whole = chain(&json!([n5(&[])]), "uint16", &shape);
        let block = area(&mut choices, &shape).1;
        prop_assume!(block.iter().all(|size| *size > 0));
        let writer = whole.with_shape(&block).unwrap();
        let encoded = writer.encode_to_vec(&elements(&writer), &options()).unwrap();
        let decoded = whole.decode_to_vec(&encoded, &options()).unwrap();
        let areas: Vec<Area> = (0..3).map(|_| area(&mut choices, &shape)).collect();
        let mut views: Vec<_> = areas.iter().map(|area| memory(&mut choices, &area.1, 2)).collect();
        let boxes = areas.iter().zip(&mut views).map(|(area, view)| (area.0.clone(), view.target())).collect();
        read(&whole, &encoded, boxes, true).unwrap();
        for (area, view) in areas.iter().zip(&views) {
            view.check(&cut(&decoded, &shape, area, 2))?;
        }
    }
}
