//! Puts make the array that they make in memory, and an APPEND loses nothing.

use super::case::{Area, Case, Choices, area, choices, indices, memory, named, options, shard_case, sharding};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;
use zcodec::Status;
use zcodec::chain::{ByteRange, Chain, Piece, PieceBytes, ShardIndex, ShardLayout, Writer};
use zcodec::strided::Source;

/// A box and its elements.
type Put = (Area, Vec<u8>);

fn puts(case: &Case, choices: &mut Choices) -> Vec<Put> {
    let count = choices.below(5);
    let put = |_| {
        let area = if choices.below(5) == 4 {
            (vec![0; case.shape.len()], case.shape.clone())
        } else {
            area(choices, &case.shape)
        };
        let elements = case.elements(choices, &area.1);
        (area, elements)
    };
    (0..count).map(put).collect()
}

/// The same in memory.
fn patch(array: &mut [u8], case: &Case, puts: &[Put]) {
    for (area, elements) in puts {
        let places = indices(&case.shape, area).into_iter();
        for (index, element) in places.zip(elements.chunks_exact(case.element_size)) {
            array[index * case.element_size..][..case.element_size].copy_from_slice(element);
        }
    }
}

fn index(case: &Case, object: &[u8]) -> ShardIndex {
    let bytes = match case.chain.index_range().unwrap() {
        ByteRange::At { size, .. } => &object[..size as usize],
        ByteRange::Last(size) => &object[object.len() - size as usize..],
        ByteRange::From(_) => unreachable!("an index has a size"),
    };
    case.chain.decode_index(bytes, Some(object.len() as u64)).unwrap()
}

/// The pieces that a writer gives, and the size of the object.
fn write(
    case: &Case,
    choices: &mut Choices,
    old: Option<&[u8]>,
    puts: &[Put],
    layout: ShardLayout,
) -> (Vec<Piece>, usize) {
    let known = old.map(|object| (index(case, object).into(), object.len() as u64));
    let mut writer = Writer::new(&case.chain, options(), known).unwrap();
    for ((start, shape), elements) in puts {
        let mut view = memory(choices, shape, case.element_size);
        view.scatter(elements);
        writer.put(start, view.source()).unwrap();
    }
    let ranges: Vec<ByteRange> = writer.next_stage().unwrap().collect();
    for (index, range) in ranges.iter().enumerate().rev() {
        let ByteRange::At { offset, size } = range else { panic!("{range:?}") };
        writer.supply(index, &old.unwrap()[*offset as usize..(offset + size) as usize]).unwrap();
    }
    assert_eq!(writer.next_stage().unwrap().count(), 0);
    let (pieces, size) = writer.finish(layout).unwrap();
    (pieces.to_vec(), size as usize)
}

fn apply(object: &mut Vec<u8>, old: &[u8], pieces: &[Piece]) {
    for Piece { offset, bytes } in pieces {
        let bytes = match bytes {
            PieceBytes::Old(range) => &old[range.start as usize..range.end as usize],
            PieceBytes::New(bytes) => bytes.as_slice(),
        };
        let end = *offset as usize + bytes.len();
        object.resize(object.len().max(end), 0xEE);
        object[*offset as usize..end].copy_from_slice(bytes);
    }
}

#[test]
fn an_array_without_elements_has_a_writer() {
    let transpose = named("transpose", &json!({"order": [1, 0]}));
    let bytes = named("bytes", &json!({"endian": "little"}));
    for (shape, location) in
        [([0, 6], "end"), ([6, 0], "end"), ([0, 0], "end"), ([0, 6], "start"), ([6, 0], "start"), ([0, 0], "start")]
    {
        let mut shard = sharding(&[2, 3], &json!([bytes]));
        shard["configuration"]["index_location"] = json!(location);
        let codecs = json!([transpose, shard]);
        let input = json!({"data_type": "uint16", "shape": shape, "fill_value": 0});
        let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
        let chain = Arc::new(chain);
        let mut writer = Writer::new(&chain, options(), None).unwrap();
        assert_eq!(writer.next_stage().unwrap().count(), 0);
        let (pieces, _) = writer.finish(ShardLayout::Packed).unwrap();
        assert!(pieces.is_empty(), "{shape:?}: {pieces:?}");
        let mut object = Vec::new();
        apply(&mut object, &[], pieces);
        let message = writer.put(&[0, 0], Source::contiguous(&[], 2, &[0, 0]).unwrap()).unwrap_err().to_string();
        assert_eq!(message, "the writer is finished: it can only be freed");
        assert_eq!(object, chain.encode_to_vec(&[], &options()).unwrap(), "{shape:?}");
        assert!(chain.decode_to_vec(&object, &options()).unwrap().is_empty(), "{shape:?}");
    }
}

/// An inner chunk of the old object may be bytes of its index.
#[test]
fn an_inner_chunk_that_a_new_index_would_overwrite_is_moved() {
    let mut shard = sharding(&[4], &json!(["bytes"]));
    shard["configuration"]["index_location"] = json!("start");
    let input = json!({"data_type": "uint8", "shape": [8], "fill_value": 0});
    let codecs = json!([shard]).to_string();
    let chain = Arc::new(Chain::new(codecs.as_bytes(), Some(input.to_string().as_bytes())).unwrap());
    let mut old: Vec<u8> = [32_u64, 4, 0, 4].iter().flat_map(|number| number.to_le_bytes()).collect();
    old.extend([1, 2, 3, 4]);
    assert_eq!(chain.decode_to_vec(&old, &options()).unwrap(), [1, 2, 3, 4, 32, 0, 0, 0]);

    let index = Arc::new(chain.decode_index(&old[..32], Some(36)).unwrap());
    let mut writer = Writer::new(&chain, options(), Some((index, 36))).unwrap();
    writer.put(&[0], Source::contiguous(&[5, 6, 7, 8], 1, &[4]).unwrap()).unwrap();
    let mut appended = old.clone();
    apply(&mut appended, &old, writer.finish(ShardLayout::Append).unwrap().0);
    assert_eq!(chain.decode_to_vec(&appended, &options()).unwrap(), [5, 6, 7, 8, 32, 0, 0, 0]);
}

/// zarr-python hands the fill value on as it is, so that missing inner chunks have another value than the array's.
#[test]
fn inner_chunks_that_nobody_puts_have_the_fill_value_after_codecs_that_do_not_encode_it() {
    let floats = |values: [f32; 8]| values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>();
    let bytes = named("bytes", &json!({"endian": "little"}));
    let scaled = json!({"offset": 100, "scale": 1, "dtype": "<f4", "astype": "<i4"});
    let codecs = json!([named("numcodecs.fixedscaleoffset", &scaled), sharding(&[4], &json!([bytes]))]);
    let input = json!({"data_type": "float32", "shape": [8], "fill_value": 0});
    let chain = Arc::new(Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap());

    // zarr-python 3.1.6 leaves out the first inner chunk of these values, and reads them so.
    let values = floats([100.0, 100.0, 100.0, 100.0, 1.0, 2.0, 3.0, 4.0]);
    let encoded = chain.encode_to_vec(&values, &options()).unwrap();
    let stored: Vec<u8> = [-99_i32, -98, -97, -96].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(encoded[..16], stored);
    let ByteRange::Last(index_size) = chain.index_range().unwrap() else { panic!("the index is at the end") };
    assert_eq!(encoded.len() as u64, 16 + index_size);
    assert_eq!(chain.decode_to_vec(&encoded, &options()).unwrap(), values);

    let empty = json!({"data_type": "float32", "shape": [0], "fill_value": 0});
    let empty = Arc::new(Chain::new(codecs.to_string().as_bytes(), Some(empty.to_string().as_bytes())).unwrap());
    let mut writer = Writer::new(&empty, options(), None).unwrap();
    assert!(writer.finish(ShardLayout::Packed).unwrap().0.is_empty(), "there are no inner chunks");

    for (start, put, expected) in [
        (4, vec![1.0_f32, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]),
        (5, vec![100.0], [0.0, 0.0, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0]),
        (0, vec![], [0.0; 8]),
        (0, vec![100.0; 8], [100.0; 8]),
    ] {
        let mut writer = Writer::new(&chain, options(), None).unwrap();
        let elements: Vec<u8> = put.iter().flat_map(|value| value.to_ne_bytes()).collect();
        writer.put(&[start], Source::contiguous(&elements, 4, &[put.len() as u64]).unwrap()).unwrap();
        let (pieces, size) = writer.finish(ShardLayout::Packed).unwrap();
        assert!(size > index_size, "{put:?}: a missing object has another value");
        let mut object = Vec::new();
        apply(&mut object, &[], pieces);
        assert_eq!(chain.decode_to_vec(&object, &options()).unwrap(), floats(expected), "{put:?} at {start}");
    }
}

/// A host deletes an object that is only an index: what it then reads is the fill value.
#[test]
fn a_shard_whose_missing_inner_chunks_are_not_the_fill_value_stores_one() {
    let bytes = named("bytes", &json!({"endian": "little"}));
    let astype = named("numcodecs.astype", &json!({"decode_dtype": "<f8", "encode_dtype": "<i4"}));
    let scaled = json!({"offset": 3, "scale": 2, "dtype": "<f8", "astype": "<i4"});
    let scaled = named("numcodecs.fixedscaleoffset", &scaled);
    let nested = sharding(&[4], &json!([sharding(&[2], &json!([bytes]))]));
    let flat = sharding(&[4], &json!([bytes]));
    for (codecs, fill_value, missing, stores_one) in [
        (json!([astype, flat]), json!(1.3), 1.0, true),
        (json!([astype, nested]), json!(1.3), 1.0, true),
        (json!([astype, flat]), json!(2), 2.0, false),
        (json!([named("bitround", &json!({"keepbits": 2})), flat]), json!(1.3), 1.25, true),
        (json!([named("cast_value", &json!({"data_type": "int32"})), flat]), json!(-0.0), 0.0, true),
        (json!([named("cast_value", &json!({"data_type": "int32"})), flat]), json!(0), 0.0, false),
        (json!([scaled, flat]), json!(1.5), 3.5, true),
        (json!([flat]), json!(1.3), 1.3, false),
        (json!([flat]), json!("NaN"), f64::NAN, false),
    ] {
        for location in ["start", "end"] {
            let mut codecs = codecs.clone();
            codecs.as_array_mut().unwrap().last_mut().unwrap()["configuration"]["index_location"] = json!(location);
            let input = json!({"data_type": "float64", "shape": [8], "fill_value": fill_value});
            let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
            let chain = Arc::new(chain);
            let values = [missing; 8].iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>();
            let old = chain.encode_to_vec(&values, &options()).unwrap();
            assert_eq!(chain.decode_to_vec(&old, &options()).unwrap(), values, "{codecs}");
            let index_size = old.len() as u64;
            // A new shard, an old one that is only packed, and an old one whose inner chunks are all put.
            for (has_old, is_put) in [(false, true), (true, false), (true, true)] {
                let index =
                    has_old.then(|| (Arc::new(chain.decode_index(&old, Some(index_size)).unwrap()), index_size));
                let mut writer = Writer::new(&chain, options(), index).unwrap();
                if is_put {
                    writer.put(&[0], Source::contiguous(&values, 8, &[8]).unwrap()).unwrap();
                }
                let (pieces, size) = writer.finish(ShardLayout::Packed).unwrap();
                assert_eq!(size > index_size, stores_one, "{codecs}, {fill_value}, {has_old}");
                let mut object = Vec::new();
                apply(&mut object, &old, pieces);
                assert_eq!(object.len() as u64, size);
                assert_eq!(chain.decode_to_vec(&object, &options()).unwrap(), values, "{codecs}, {fill_value}");
            }
        }
    }
}

#[test]
fn a_fill_value_that_cannot_be_encoded_is_an_error_where_it_is_needed() {
    let bytes = named("bytes", &json!({"endian": "little"}));
    let scaled = json!({"offset": 273.15, "scale": 100, "dtype": "<f4", "astype": "<i2"});
    let codecs = json!([named("numcodecs.fixedscaleoffset", &scaled), sharding(&[4], &json!([bytes]))]);
    let input = json!({"data_type": "float32", "shape": [8], "fill_value": "NaN"});
    let chain = Arc::new(Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap());
    let values: Vec<u8> = (0..8_u8).flat_map(|step| (280.0 + f32::from(step)).to_ne_bytes()).collect();
    let put = |writer: &Writer, elements: std::ops::Range<u64>| {
        let bytes = &values[4 * elements.start as usize..4 * elements.end as usize];
        let source = Source::contiguous(bytes, 4, &[elements.end - elements.start]).unwrap();
        writer.put(&[elements.start], source).unwrap();
    };

    for elements in [0..2, 0..4, 0..7] {
        let mut writer = Writer::new(&chain, options(), None).unwrap();
        put(&writer, elements.clone());
        let error = writer.finish(ShardLayout::Packed).unwrap_err();
        assert_eq!(error.status(), Status::OutOfRange, "{elements:?}: {error}");
        assert_eq!(error.codec_index(), Some(0), "{elements:?}: {error}");
        assert!(error.to_string().contains("the fill value of elements that were not put is NaN"), "{error}");
    }

    let mut writer = Writer::new(&chain, options(), None).unwrap();
    put(&writer, 0..6);
    put(&writer, 6..8);
    let (pieces, size) = writer.finish(ShardLayout::Packed).unwrap();
    let mut object = Vec::new();
    apply(&mut object, &[], pieces);
    assert_eq!(object, chain.encode_to_vec(&values, &options()).unwrap());

    // The inner chunks of an old shard that are missing are what they are when it is read.
    let ByteRange::Last(index_size) = chain.index_range().unwrap() else { panic!("the index is at the end") };
    let index = chain.decode_index(&object[(size - index_size) as usize..], Some(size)).unwrap();
    let mut writer = Writer::new(&chain, options(), Some((Arc::new(index), size))).unwrap();
    put(&writer, 0..4);
    writer.finish(ShardLayout::Packed).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn puts_make_the_array_that_they_make_in_memory(mut choices in choices()) {
        let case = shard_case(&mut choices);
        let mut array = case.empty();
        let mut old: Option<Vec<u8>> = None;
        for _ in 0..3 {
            let puts = puts(&case, &mut choices);
            patch(&mut array, &case, &puts);
            // Packed, the object is what encoding all of the array gives, whatever came before.
            let (pieces, size) = write(&case, &mut choices, old.as_deref(), &puts, ShardLayout::Packed);
            let mut packed = Vec::new();
            apply(&mut packed, old.as_deref().unwrap_or(&[]), &pieces);
            prop_assert_eq!(packed.len(), size);
            prop_assert!(pieces.is_sorted_by(|a, b| a.offset + a.bytes.size() == b.offset), "{:?}", pieces);
            let encoded = case.chain.encode_to_vec(&array, &options()).unwrap();
            prop_assert_eq!(&packed, &encoded, "{}", case.codecs);

            let (pieces, size) = write(&case, &mut choices, old.as_deref(), &puts, ShardLayout::Append);
            let before = old.take().unwrap_or_default();
            let mut appended = before.clone();
            for piece in &pieces {
                // Before each piece, the last one included, the old object is still there.
                prop_assert!(appended[..before.len()] == before[..], "{}", case.codecs);
                apply(&mut appended, &before, std::slice::from_ref(piece));
            }
            prop_assert_eq!(appended.len(), size);
            let decoded = case.chain.decode_to_vec(&appended, &options()).unwrap();
            prop_assert_eq!(&decoded, &array, "{}", case.codecs);
            old = Some(appended);
        }
    }
}

#[test]
fn a_shard_that_cannot_be_written_in_parts_is_the_fault_of_the_codec_before_it() {
    let shard = sharding(&[2, 2], &json!(["bytes"]));
    let delta = named("numcodecs.delta", &json!({"dtype": "|u1"}));
    let transpose = named("transpose", &json!({"order": [1, 0]}));
    let reshape = named("reshape", &json!({"shape": [4, 4]}));
    for (codecs, path) in [
        (json!([reshape, shard]), "/0"),
        (json!([transpose, reshape, shard]), "/1"),
        (json!([delta, reshape, shard]), "/0"),
    ] {
        let input = json!({"data_type": "uint8", "shape": [2, 8], "fill_value": 0});
        let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
        let error = Writer::new(&Arc::new(chain), options(), None).unwrap_err();
        assert_eq!((error.status(), error.pointer().as_str()), (Status::Unsupported, path), "{error}");
    }
}
