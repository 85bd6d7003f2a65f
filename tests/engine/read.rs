//! A part of a chunk is that part of the whole, and a plan asks for no more than it needs.

use super::case::{Area, Case, Choices, any_case, area, choices, cut, indices, memory, named, options, sharding};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zcodec::Status;
use zcodec::chain::{ByteRange, CallData, Chain, ChainOptions, PaddingHook, ReadPlan};
use zcodec::strided::Target;

/// Reads by a plan; returns the ranges that it asks for.
fn read(
    chain: &Arc<Chain>,
    encoded: &[u8],
    start: &[u64],
    target: Target<'static>,
    is_size_known: bool,
) -> Vec<[u64; 2]> {
    let (size, mut asked) = (encoded.len() as u64, Vec::new());
    let boxes = vec![(start.to_vec(), target)];
    let mut plan = ReadPlan::new(chain, options(), boxes, is_size_known.then_some(size), None).unwrap();
    loop {
        let ranges: Vec<[u64; 2]> = plan.next_stage().unwrap().map(|range| place(range, size)).collect();
        if ranges.is_empty() {
            return asked;
        }
        // The last first: any order is right.
        for (index, [start, end]) in ranges.iter().enumerate().rev() {
            plan.supply(index, &encoded[*start as usize..*end as usize]).unwrap();
        }
        asked.extend(ranges);
    }
}

pub(super) fn place(range: ByteRange, size: u64) -> [u64; 2] {
    match range {
        ByteRange::At { offset, size } => [offset, offset + size],
        ByteRange::From(offset) => [offset, size],
        ByteRange::Last(count) => [size - count, size],
    }
}

/// The bytes of the index, and of the inner chunks that a box touches.
fn needed(case: &Case, encoded: &[u8], area: &Area) -> Option<Vec<[u64; 2]>> {
    let cells = case.shard.as_ref()?;
    // All of it, if there are too many to find each by itself.
    if !cells.are_found(area.1.iter().product()) {
        return None;
    }
    let size = encoded.len() as u64;
    let index_place = place(case.chain.index_range().unwrap(), size);
    let [first, end] = index_place.map(|at| at as usize);
    let index = case.chain.decode_index(&encoded[first..end], Some(size)).unwrap();
    let touched: BTreeSet<Vec<u64>> = indices(&case.shape, area).into_iter().map(|index| cells.of(index)).collect();
    let chunks = touched.iter().filter_map(|cell| index.entry_at(cell).unwrap()).map(|chunk| [chunk.start, chunk.end]);
    Some(std::iter::once(index_place).chain(chunks).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_part_is_that_part_of_the_whole(mut choices in choices()) {
        let case = any_case(&mut choices);
        let shape = case.shape.clone();
        let decoded = case.elements(&mut choices, &shape);
        let encoded = case.chain.encode_to_vec(&decoded, &options()).unwrap();
        prop_assert_eq!(&case.chain.decode_to_vec(&encoded, &options()).unwrap(), &decoded, "{}", case.codecs);
        for is_size_known in [false, true, true] {
            let area = area(&mut choices, &case.shape);
            let expected = cut(&decoded, &case.shape, &area, case.element_size);
            let mut view = memory(&mut choices, &area.1, case.element_size);
            case.chain.decode_view(&encoded, &area.0, view.target(), &options()).unwrap();
            view.check(&expected)?;
            let mut view = memory(&mut choices, &area.1, case.element_size);
            let asked = read(&case.chain, &encoded, &area.0, view.target(), is_size_known);
            view.check(&expected)?;
            if let Some(needed) = needed(&case, &encoded, &area) {
                for byte in asked.iter().flat_map(|[start, end]| *start..*end) {
                    prop_assert!(
                        needed.iter().any(|[start, end]| (*start..*end).contains(&byte)),
                        "byte {byte} of {needed:?} for {area:?} of {}", case.codecs
                    );
                }
            }
        }
    }
}

#[test]
fn boxes_keep_the_shape_that_enters_whatever_shape_comes_to_the_shard() {
    let reshape = |shape: Value| named("reshape", &json!({"shape": shape}));
    let transpose = named("transpose", &json!({"order": [1, 0]}));
    let sharding = |chunk_shape: [u64; 2]| sharding(&chunk_shape, &json!(["bytes"]));
    for (shape, codecs) in [
        (vec![24], json!([reshape(json!([4, 6])), sharding([2, 3])])),
        (vec![8, 3], json!([reshape(json!([4, 6])), sharding([2, 3])])),
        (vec![1, 4, 6], json!(["squeeze", sharding([2, 3])])),
        (vec![1, 24], json!([transpose, sharding([6, 1])])),
        (vec![4, 6], json!([transpose, reshape(json!([8, 3])), sharding([2, 3])])),
        (vec![4, 6], json!([transpose, reshape(json!([8, 3])), transpose, sharding([1, 4])])),
        (vec![3, 8], json!([reshape(json!([2, 12])), reshape(json!([6, 4])), sharding([2, 2])])),
        (vec![3, 8], json!([reshape(json!([2, 12])), transpose, reshape(json!([6, 4])), sharding([2, 2])])),
        (vec![2, 12], json!([sharding([2, 6]), "crc32c"])),
        (vec![24], json!([reshape(json!([4, 6])), transpose, "bytes"])),
        (vec![3, 8], json!([reshape(json!([4, 6])), transpose, "bytes", "zstd"])),
    ] {
        let input = json!({"data_type": "uint8", "shape": shape, "fill_value": 0});
        let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
        let decoded: Vec<u8> = (1..25).collect();
        let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
        assert_eq!(chain.decode_to_vec(&encoded, &options()).unwrap(), decoded, "{codecs}");
        let last = shape.len() - 1;
        for start in 0..shape[last] {
            let mut area = (vec![0; shape.len()], shape.clone());
            (area.0[last], area.1[last]) = (start, shape[last] - start);
            let expected = cut(&decoded, &shape, &area, 1);
            let mut part = vec![0; expected.len()];
            let target = Target::contiguous(&mut part, 1, &area.1).unwrap();
            chain.decode_view(&encoded, &area.0, target, &options()).unwrap();
            assert_eq!(part, expected, "{codecs} from {start}");
        }
    }
}

/// The smallest box that is worth asking for is that of whole inner chunks or blocks, whatever reshape is before them.
#[test]
fn the_granularity_before_a_reshape_is_of_whole_inner_chunks() {
    let reshape = named("reshape", &json!({"shape": [16, 6, 24]}));
    let transpose = named("transpose", &json!({"order": [2, 0, 1]}));
    let sharding = |chunk_shape: [u64; 3]| sharding(&chunk_shape, &json!([named("bytes", &json!({"endian": "big"}))]));
    let zfp = named("zfp", &json!({"mode": "fixed_rate", "rate": 8}));
    for (codecs, granularity, chunk_count) in [
        (json!([reshape, transpose, named("bytes", &json!({"endian": "big"}))]), [1, 1], None),
        (json!([reshape, sharding([2, 6, 8])]), [12, 8], Some(8 * 3)),
        (json!([reshape, sharding([1, 3, 8])]), [3, 8], Some(16 * 2 * 3)),
        // Inner chunks of which a box of rows has parts only.
        (json!([reshape, sharding([2, 3, 8])]), [96, 8], Some(8 * 2 * 3)),
        (json!([reshape, zfp]), [96, 4], None),
    ] {
        let input = json!({"data_type": "float32", "shape": [96, 24], "fill_value": 0});
        let chain = chain_of(&codecs, &input, ChainOptions::default());
        assert_eq!(chain.granularity().unwrap(), granularity, "{codecs}");
        let Some(chunk_count) = chunk_count else { continue };
        let decoded: Vec<u8> = (0..96 * 24).flat_map(|index| (1.0 + (index % 100) as f32).to_ne_bytes()).collect();
        let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
        for start in [[0, 0], [96 - granularity[0], 24 - granularity[1]]] {
            let area = (start.to_vec(), granularity.to_vec());
            let mut view = memory(&mut Choices::none(), &granularity, 4);
            let asked = read(&chain, &encoded, &start, view.target(), true);
            view.check(&cut(&decoded, &[96, 24], &area, 4)).unwrap();
            let asked_size: u64 = asked.iter().map(|[start, end]| end - start).sum();
            assert_eq!(asked_size, 16 * chunk_count + 4 * granularity.iter().product::<u64>(), "{codecs} {start:?}");
        }
    }
}

fn shard(input: &Value, chunk_shape: &[u64], more: &[Value]) -> Arc<Chain> {
    let mut codecs = vec![sharding(chunk_shape, &json!(["bytes"]))];
    codecs.extend_from_slice(more);
    chain_of(&json!(codecs), input, ChainOptions::default())
}

fn chain_of(codecs: &Value, input: &Value, options: ChainOptions) -> Arc<Chain> {
    let (codecs, input) = (codecs.to_string(), input.to_string());
    Arc::new(Chain::with_options(&options, codecs.as_bytes(), Some(input.as_bytes())).unwrap())
}

fn entries(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn target(size: usize) -> Target<'static> {
    Target::contiguous(Box::leak(vec![9; size].into_boxed_slice()), 1, &[size as u64]).unwrap()
}

#[test]
fn a_given_index_is_checked_against_the_size_of_the_object() {
    let chain = shard(&json!({"data_type": "uint8", "shape": [8], "fill_value": 0}), &[4], &[]);
    let index = Arc::new(chain.decode_index(&entries(&[0, 4, 1000, 4]), None).unwrap());
    let mut plan = ReadPlan::new(&chain, options(), vec![(vec![0], target(8))], Some(36), Some(index)).unwrap();
    let error = plan.next_stage().map(drop).unwrap_err();
    assert_eq!(error.status(), Status::CorruptData, "{error}");
}

#[test]
fn far_boxes_of_one_plan_need_no_memory_for_what_lies_between_them() {
    let end = 1_u64 << 40;
    let input = json!({"data_type": "uint8", "shape": [end], "fill_value": 7});
    let chain = shard(&input, &[1 << 30], &[json!("crc32c")]);
    let checksum = Chain::new(br#"["crc32c"]"#, None).unwrap();
    let encoded = checksum.encode_to_vec(&vec![0xFF; 16 << 10], &options()).unwrap();
    let boxes = vec![(vec![0], target(3)), (vec![end - 3], target(3))];
    let mut plan = ReadPlan::new(&chain, options(), boxes, Some(encoded.len() as u64), None).unwrap();
    assert_eq!(plan.next_stage().unwrap().count(), 1);
    plan.supply(0, &encoded).unwrap();
    assert_eq!(plan.next_stage().unwrap().count(), 0);
}

#[test]
fn a_chunk_that_is_cut_off_gives_the_same_error_whoever_has_the_memory() {
    let transpose = named("transpose", &json!({"order": [1, 0]}));
    let pad = named("pad", &json!({"location": "end", "nbytes": 30}));
    let offset = named("offset", &json!({"offset": 3, "prefix": "AAAA"}));
    let shard = sharding(&[2, 2], &json!(["bytes"]));
    for codecs in [json!([transpose, shard, pad]), json!([transpose, shard, offset, pad]), json!([transpose, shard])] {
        let input = json!({"data_type": "uint8", "shape": [4, 4], "fill_value": 0});
        let chain = chain_of(&codecs, &input, ChainOptions::default());
        let encoded = chain.encode_to_vec(&[7; 16], &options()).unwrap();
        for size in 0..=encoded.len() {
            let of_the_caller = chain.decode_into(&encoded[..size], &mut [0; 16], &options());
            let of_the_library = chain.decode_to_vec(&encoded[..size], &options());
            assert_eq!(of_the_library.map(|decoded| decoded.len()), of_the_caller, "{codecs}, {size} bytes");
        }
    }
}

#[test]
fn an_inner_chain_has_the_limit_of_its_shard() {
    let codecs = json!([sharding(&[4], &json!(["bytes"]))]);
    let limited = ChainOptions { max_decoded_size: Some(100), ..ChainOptions::default() };
    let chain = chain_of(&codecs, &json!({"data_type": "uint8", "shape": [8], "fill_value": 0}), limited);
    for chain in [&chain, &chain.inner().unwrap()] {
        assert!(chain.with_shape(&[100]).is_ok());
        assert_eq!(chain.with_shape(&[1000]).unwrap_err().status(), Status::Unsupported);
    }
}

#[test]
fn an_entry_that_passes_the_largest_offset_is_corrupt() {
    let mut outer = sharding(&[4], &json!([sharding(&[2], &json!(["bytes"]))]));
    outer["configuration"]["index_location"] = json!("start");
    let pad = named("pad", &json!({"location": "start", "nbytes": 100}));
    let input = json!({"data_type": "uint8", "shape": [4], "fill_value": 0});
    let chain = chain_of(&json!([outer, pad]), &input, ChainOptions::default());
    let mut plan = ReadPlan::new(&chain, options(), vec![(vec![0], target(4))], None, None).unwrap();
    assert_eq!(plan.next_stage().unwrap().collect::<Vec<_>>(), [ByteRange::At { offset: 100, size: 16 }]);
    let supplied = plan.supply(0, &entries(&[u64::MAX - 139, 110]));
    let error = supplied.and_then(|()| plan.next_stage().map(drop)).unwrap_err();
    assert_eq!(error.status(), Status::CorruptData, "{error}");

    // Nobody knows how long this object is, but no range ends after byte 2^64 - 2.
    let index = shard(&input, &[4], &[]).decode_index(&entries(&[u64::MAX - 4, 4]), None).unwrap();
    assert_eq!(index.entry_at(&[0]).unwrap_err().status(), Status::CorruptData);
}

#[test]
fn codecs_that_change_the_index_are_refused_when_a_shard_is_written() {
    let little = named("bytes", &json!({"endian": "little"}));
    for index_codecs in [
        json!([named("packbits", &json!({"last_bit": 7}))]),
        json!([named("packbits", &json!({"last_bit": 31}))]),
        json!([named("bitround", &json!({"keepbits": 1})), little]),
        json!([named("numcodecs.astype", &json!({"encode_dtype": "|u1", "decode_dtype": "<u8"})), little]),
    ] {
        let mut sharding = sharding(&[100], &json!(["bytes"]));
        sharding["configuration"]["index_codecs"] = index_codecs;
        let input = json!({"data_type": "uint8", "shape": [1000], "fill_value": 0});
        let chain = chain_of(&json!([sharding]), &input, ChainOptions::default());
        let decoded: Vec<u8> =
            (0..1000).map(|number| if number < 700 { (number % 199 + 1) as u8 } else { 0 }).collect();
        let error = chain.encode_to_vec(&decoded, &options()).unwrap_err();
        assert_eq!(error.status(), Status::OutOfRange, "{error}");
        assert!(error.to_string().contains("of the index"), "{error}");
    }
}

#[test]
fn codecs_that_could_change_the_index_but_do_not_write_a_shard() {
    let mut sharding = sharding(&[4], &json!(["bytes"]));
    sharding["configuration"]["index_codecs"] = json!([named("packbits", &json!({"last_bit": 31}))]);
    let input = json!({"data_type": "uint8", "shape": [8], "fill_value": 0});
    let chain = chain_of(&json!([sharding]), &input, ChainOptions::default());
    let encoded = chain.encode_to_vec(&[1; 8], &options()).unwrap();
    assert_eq!(chain.decode_to_vec(&encoded, &options()).unwrap(), [1; 8]);
}

/// Counts the chunks whose padding is checked, and may refuse the first.
#[derive(Debug, Default)]
struct Counting {
    count: AtomicUsize,
    refuses_first: bool,
}

impl PaddingHook for Counting {
    fn checks(&self) -> bool {
        true
    }

    fn generates(&self) -> bool {
        false
    }

    fn generate(&self, _: CallData, _: &[u8], _: &mut [u8]) -> Result<(), i32> {
        Ok(())
    }

    fn check(&self, _: CallData, _: &[u8], _: &[u8]) -> Result<(), i32> {
        let is_first = self.count.fetch_add(1, Ordering::Relaxed) == 0;
        if is_first && self.refuses_first { Err(5) } else { Ok(()) }
    }
}

/// How often the padding at this place is checked while these elements are read, each as a box of its own.
fn checks(mut chain: Chain, path: &[(Option<&'static str>, usize)], elements: &[u64]) -> usize {
    let count = Arc::new(Counting::default());
    chain.set_padding_hook_at(path, Some(Arc::<Counting>::clone(&count) as Arc<dyn PaddingHook>)).unwrap();
    let chain = Arc::new(chain);
    let decoded: Vec<u8> = (0..chain.decoded_size().unwrap()).map(|index| (index % 251) as u8).collect();
    let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
    let memory: &'static mut [u8] = vec![0xA5; elements.len()].leak();
    let first = memory.as_ptr();
    let targets = memory.chunks_mut(1).map(|byte| Target::contiguous(byte, 1, &[1]).unwrap());
    let boxes = elements.iter().map(|element| vec![*element]).zip(targets).collect();
    let mut plan = ReadPlan::new(&chain, options(), boxes, Some(encoded.len() as u64), None).unwrap();
    loop {
        let ranges: Vec<[u64; 2]> =
            plan.next_stage().unwrap().map(|range| place(range, encoded.len() as u64)).collect();
        if ranges.is_empty() {
            break;
        }
        for (index, [start, end]) in ranges.iter().enumerate() {
            plan.supply(index, &encoded[*start as usize..*end as usize]).unwrap();
        }
    }
    drop(plan);
    // SAFETY: the memory lives for ever, and what wrote to it is gone.
    let found = unsafe { std::slice::from_raw_parts(first, elements.len()) };
    let expected: Vec<u8> = elements.iter().map(|element| decoded[*element as usize]).collect();
    assert_eq!(found, expected);
    count.count.load(Ordering::Relaxed)
}

#[test]
fn a_plan_of_many_boxes_decodes_each_chunk_once() {
    let gzip = named("gzip", &json!({"level": 1}));
    let pad = named("pad", &json!({"location": "start", "nbytes": 3}));
    let input = json!({"data_type": "uint8", "shape": [10_000], "fill_value": 0});
    let near: Vec<u64> = (40..140).collect();
    let far: Vec<u64> = (0..100).map(|number| number * 97).collect();
    for elements in [&near, &far] {
        let chain = chain_of(&json!(["bytes", gzip, pad]), &input, ChainOptions::default());
        let chain = Arc::into_inner(chain).unwrap();
        assert_eq!(checks(chain, &[(None, 2)], elements), 1, "a chunk");
        let inner = sharding(&[5000], &json!(["bytes", gzip, pad]));
        let chain = Arc::into_inner(chain_of(&json!([inner]), &input, ChainOptions::default())).unwrap();
        let touched = if elements[99] < 5000 { 1 } else { 2 };
        assert_eq!(checks(chain, &[(None, 0), (Some("codecs"), 2)], elements), touched, "inner chunks");
        let outer = sharding(&[5000], &json!(["bytes"]));
        let chain = Arc::into_inner(chain_of(&json!([outer, gzip, pad]), &input, ChainOptions::default())).unwrap();
        assert_eq!(checks(chain, &[(None, 2)], elements), 1, "a shard with codecs after it");
    }
}

/// Also where strips refuse the inner chunks: their rows are short, or begin between lines.
#[test]
fn a_shard_larger_than_caches_has_each_padding_checked_once() {
    let pad = named("pad", &json!({"location": "start", "nbytes": 3}));
    let input = json!({"data_type": "uint8", "shape": [4096, 4096], "fill_value": 0});
    let decoded: Vec<u8> = (0..4096 * 4096).map(|index| (index % 251 + 1) as u8).collect();
    for (shape, offset) in [([64, 64], 0), ([64, 64], 8), ([256, 16], 0), ([256, 16], 1)] {
        let codecs = json!([sharding(&shape, &json!(["bytes", pad]))]);
        let mut chain = Arc::into_inner(chain_of(&codecs, &input, ChainOptions::default())).unwrap();
        let encoded = chain.encode_to_vec(&decoded, &options()).unwrap();
        let count = Arc::new(Counting::default());
        let hook = Arc::<Counting>::clone(&count) as Arc<dyn PaddingHook>;
        chain.set_padding_hook_at(&[(None, 0), (Some("codecs"), 1)], Some(hook)).unwrap();
        let mut memory = vec![0; decoded.len() + 128];
        let first = memory.as_ptr().align_offset(64) + offset;
        let target = &mut memory[first..first + decoded.len()];
        assert_eq!(chain.decode_into(&encoded, target, &options()), Ok(decoded.len()));
        assert!(*target == decoded[..], "{shape:?} {offset}");
        assert_eq!(count.count.load(Ordering::Relaxed), 4096, "{shape:?} {offset}");
    }
}

/// Boxes that are near each other are decoded at once, but a missing chunk between them is not theirs.
#[test]
fn what_no_box_of_a_plan_touches_is_no_fault_of_it() {
    let zstd = named("zstd", &json!({"level": 1}));
    let input = json!({"data_type": "uint8", "shape": [3], "fill_value": 7});
    let encoded = shard(&input, &[1], std::slice::from_ref(&zstd)).encode_to_vec(&[1, 7, 3], &options()).unwrap();
    let chain = shard(&json!({"data_type": "uint8", "shape": [3]}), &[1], &[zstd]);
    let views = [0, 1, 2].map(|at| (vec![at], target(1)));
    let read = |boxes: &[usize]| {
        let boxes = boxes.iter().map(|at| (views[*at].0.clone(), target(1))).collect();
        let mut plan = ReadPlan::new(&chain, options(), boxes, Some(encoded.len() as u64), None)?;
        while plan.next_stage()?.count() > 0 {
            plan.supply(0, &encoded)?;
        }
        Ok::<_, zcodec::Error>(())
    };
    assert_eq!(read(&[0, 2]), Ok(()));
    assert_eq!(read(&[0, 1, 2]).unwrap_err().status(), Status::CorruptData);
}

#[test]
fn the_index_of_a_shard_that_bytes_stand_around_is_not_the_hosts() {
    let input = json!({"data_type": "uint8", "shape": [8], "fill_value": 0});
    let chain = shard(&input, &[4], &[named("pad", &json!({"location": "start", "nbytes": 3}))]);
    let encoded = chain.encode_to_vec(&[1; 8], &options()).unwrap();
    let size = encoded.len() as u64;
    let mut plan = ReadPlan::new(&chain, options(), vec![(vec![0], target(8))], Some(size), None).unwrap();
    assert!(plan.index().unwrap().is_none());
    let ranges: Vec<[u64; 2]> = plan.next_stage().unwrap().map(|range| place(range, size)).collect();
    plan.supply(0, &encoded[ranges[0][0] as usize..ranges[0][1] as usize]).unwrap();
    assert!(plan.index().unwrap().is_none());
}

#[test]
fn a_plan_that_needs_the_whole_shard_has_no_index_even_if_one_is_given() {
    let delta = named("numcodecs.delta", &json!({"dtype": "|u1"}));
    let input = json!({"data_type": "uint8", "shape": [8], "fill_value": 0});
    let chain = chain_of(&json!([delta, sharding(&[4], &json!(["bytes"]))]), &input, ChainOptions::default());
    let encoded = chain.encode_to_vec(&[1, 2, 3, 4, 5, 6, 7, 8], &options()).unwrap();
    let size = encoded.len() as u64;
    let [first, end] = place(chain.index_range().unwrap(), size).map(|at| at as usize);
    let index = Arc::new(chain.decode_index(&encoded[first..end], Some(size)).unwrap());
    for index in [None, Some(index)] {
        let plan = ReadPlan::new(&chain, options(), vec![(vec![0], target(8))], Some(size), index).unwrap();
        assert!(plan.index().unwrap().is_none());
    }
}

#[test]
fn a_chunk_that_a_callback_refuses_is_not_tried_again() {
    let gzip = named("gzip", &json!({"level": 1}));
    let pad = named("pad", &json!({"location": "start", "nbytes": 4}));
    let input = json!({"data_type": "uint8", "shape": [100], "fill_value": 0});
    let mut chain = chain_of(&json!(["bytes", gzip, pad]), &input, ChainOptions::default());
    let encoded = chain.encode_to_vec(&[1; 100], &options()).unwrap();
    let hook = Arc::new(Counting { refuses_first: true, ..Counting::default() });
    Arc::get_mut(&mut chain).unwrap().set_padding_hook(2, Some(Arc::clone(&hook) as _)).unwrap();
    let boxes = vec![(vec![0], target(40)), (vec![50], target(40))];
    let mut plan = ReadPlan::new(&chain, options(), boxes, Some(encoded.len() as u64), None).unwrap();
    assert_eq!(plan.next_stage().unwrap().count(), 1);
    assert_eq!(plan.supply_all(&[&encoded]).unwrap_err().status(), Status::CorruptData);
    assert_eq!(hook.count.load(Ordering::Relaxed), 1);
}

/// Whatever comes before the shard.
#[test]
fn bytes_too_few_for_the_index_are_corrupt_however_large_the_array_is() {
    let side = 1_u64 << 23;
    for before in [None, Some(named("transpose", &json!({"order": [1, 0]})))] {
        let codecs: Vec<Value> = before.into_iter().chain([sharding(&[side / 8, side], &json!(["bytes"]))]).collect();
        let input = json!({"data_type": "uint8", "shape": [side, side], "fill_value": 0});
        let chain = chain_of(&json!(codecs), &input, ChainOptions::default());
        let error = chain.decode_to_vec(&[0; 10], &options()).unwrap_err();
        assert_eq!(error.status(), Status::CorruptData, "{error}");
    }
}
