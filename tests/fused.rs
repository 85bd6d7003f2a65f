//! A chain of elementwise codecs in one pass over tiles gives the results of the codecs one after the other, each on
//! the whole array: the same bytes, or the same codec and element at fault.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use zcodec::Status;
use zcodec::chain::{CallOptions, Chain, Representation};
use zcodec::data_type::{DataType, INTEGERS};
use zcodec::number::FORMATS;

/// More elements than a tile of any type has.
const MAX_COUNT: usize = 9_000;

/// Of codec and element.
type Fault = (usize, usize);

fn real_types() -> Vec<&'static str> {
    INTEGERS.iter().map(|integer| integer.0).chain(FORMATS.iter().map(|format| format.name)).collect()
}

fn codec() -> impl Strategy<Value = Value> {
    let scale_offset = (0..4_usize, 0..5_usize).prop_map(|(offset, scale)| {
        let members = [("offset", [json!(null), json!(0), json!(1), json!(-2)][offset].clone())]
            .into_iter()
            .chain([("scale", [json!(null), json!(1), json!(2), json!(-1), json!(0.1)][scale].clone())])
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        json!({"name": "scale_offset", "configuration": Value::Object(members)})
    });
    let cast_value =
        (prop::sample::select(real_types()), 0..3_usize, any::<bool>()).prop_map(|(name, range, has_map)| {
            let mut members = json!({"data_type": name, "rounding": "towards-zero"});
            if range > 0 {
                members["out_of_range"] = json!(["clamp", "wrap"][range - 1]);
            }
            if has_map {
                members["scalar_map"] = json!({"encode": [["NaN", 1]], "decode": [[2, 1]]});
            }
            json!({"name": "cast_value", "configuration": members})
        });
    prop_oneof![scale_offset, cast_value]
}

fn terminal() -> impl Strategy<Value = Option<Value>> {
    let bytes = |endian: &str| Some(json!({"name": "bytes", "configuration": {"endian": endian}}));
    let packbits = |range: Value| Some(json!({"name": "packbits", "configuration": range}));
    prop::sample::select(vec![
        None,
        bytes("little"),
        bytes("big"),
        packbits(json!({"padding_encoding": "first_byte"})),
        packbits(json!({"first_bit": 1, "last_bit": 3})),
    ])
}

fn chain(codecs: &[Value], input: &Value) -> zcodec::Result<Chain> {
    Chain::new(Value::from(codecs).to_string().as_bytes(), Some(input.to_string().as_bytes()))
}

/// As many of the codecs as can follow each other on this input.
fn resolvable(candidates: &[Value], input: &Value) -> Vec<Value> {
    let mut codecs = Vec::new();
    for candidate in candidates {
        codecs.push(candidate.clone());
        if chain(&codecs, input).is_err() {
            codecs.pop();
        }
    }
    codecs
}

/// Small numbers of a type, and now and then any bits at all.
fn elements(data_type: &DataType, choices: &[(u8, u64)]) -> Vec<u8> {
    let small: Vec<_> =
        (-3..=6).filter_map(|value| data_type.scalar_from_json("element", &json!(value)).ok()).collect();
    let mut bytes = Vec::new();
    for (kind, bits) in choices {
        if *kind == 0 {
            let start = bytes.len();
            bytes.resize(start + data_type.size(), 0);
            data_type.component().store(*bits, &mut bytes[start..]);
        } else {
            bytes.extend_from_slice(&small[usize::from(*kind) % small.len()].0);
        }
    }
    bytes
}

fn array_type(representation: &Representation) -> Option<&DataType> {
    match representation {
        Representation::Array(array) => Some(array.data_type()),
        Representation::Bytes(_) => None,
    }
}

/// Runs each codec by itself on the whole array. An element that cannot be represented ends the array for the codecs
/// that follow: the first element at fault counts, whichever codec refuses it.
fn one_by_one(
    order: impl Iterator<Item = usize>,
    element_size: impl Fn(usize) -> usize,
    run: impl Fn(usize, usize, &[u8]) -> zcodec::Result<Vec<u8>>,
    input: &[u8],
    mut count: usize,
) -> Result<Vec<u8>, Fault> {
    let mut bytes = input.to_vec();
    let mut fault = None;
    for index in order {
        let result = run(index, count, &bytes);
        bytes = match result {
            Ok(bytes) => bytes,
            Err(error) => {
                assert_eq!(error.status(), Status::OutOfRange, "{error}");
                count = error.element_index().expect("an element is at fault") as usize;
                fault = Some((index, count));
                run(index, count, &bytes[..count * element_size(index)]).expect("the elements before it are fine")
            }
        };
    }
    fault.map_or(Ok(bytes), Err)
}

fn fault(error: &zcodec::Error) -> Fault {
    assert_eq!(error.status(), Status::OutOfRange, "{error}");
    let element = error.element_index().expect("an element is at fault");
    (error.codec_index().expect("a codec is at fault"), element as usize)
}

/// The chains of two codecs or more.
static FUSED_COUNT: AtomicUsize = AtomicUsize::new(0);

#[test]
fn one_pass_is_codec_by_codec() {
    check_chains();
    let count = FUSED_COUNT.load(Ordering::Relaxed);
    assert!(count > 250, "{count} chains have two codecs or more");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    fn check_chains(
        first in prop::sample::select(real_types()),
        candidates in prop::collection::vec(codec(), 1..6),
        terminal in terminal(),
        pattern in prop::collection::vec((any::<u8>(), any::<u64>()), 1..2_000),
        count in 0..MAX_COUNT,
        // Few elements are of any bits: most chains would refuse one of the first.
        is_wild in any::<bool>(),
    ) {
        let first = DataType::from_name(first).unwrap();
        let input = json!({"data_type": first.name(), "shape": [count], "fill_value": 1});
        let candidates: Vec<Value> = candidates.into_iter().chain(terminal).collect();
        let codecs = resolvable(&candidates, &input);
        prop_assume!(!codecs.is_empty());
        FUSED_COUNT.fetch_add(usize::from(codecs.len() > 1), Ordering::Relaxed);
        let whole = chain(&codecs, &input).unwrap();
        let options = CallOptions::default();
        let choices = |seed: usize| -> Vec<(u8, u64)> {
            let mut choices: Vec<_> = pattern.iter().cycle().skip(seed).take(count).copied().collect();
            for (index, choice) in choices.iter_mut().enumerate() {
                choice.0 = if is_wild && index % 5_003 == 4_000 { 0 } else { choice.0.max(1) };
            }
            choices
        };
        let single: Vec<Chain> = codecs
            .iter()
            .zip(whole.representations())
            .map(|(codec, input)| chain(std::slice::from_ref(codec), &input.to_json()).unwrap())
            .collect();
        let of_count = |index: usize, count: usize| single[index].with_shape(&[count as u64]).unwrap();
        let decoded_size = |index: usize| array_type(whole.representations()[index]).unwrap().size();

        let decoded = elements(&first, &choices(0));
        let expected = one_by_one(
            0..codecs.len(),
            decoded_size,
            |index, count, bytes| of_count(index, count).encode_to_vec(bytes, &options),
            &decoded,
            count,
        );
        let found = whole.encode_to_vec(&decoded, &options).map_err(|error| fault(&error));
        prop_assert_eq!(&found, &expected, "encode {:?} by {:?}", &input, &codecs);

        // Of the encoded side itself, so that decoding meets elements that no encode gave.
        let last_array = whole.representations().into_iter().rev().find_map(array_type).unwrap();
        let mut encoded = elements(last_array, &choices(7));
        let last = codecs.len() - 1;
        if array_type(whole.output()).is_none() {
            encoded = of_count(last, count).encode_to_vec(&encoded, &options).unwrap();
        }
        let encoded_size = |index: usize| array_type(whole.representations()[index + 1]).unwrap_or(last_array).size();
        let expected = one_by_one(
            (0..codecs.len()).rev(),
            encoded_size,
            |index, count, bytes| of_count(index, count).decode_to_vec(bytes, &options),
            &encoded,
            count,
        );
        let found = whole.decode_to_vec(&encoded, &options).map_err(|error| fault(&error));
        prop_assert_eq!(&found, &expected, "decode {:?} by {:?}", &input, &codecs);
    }
}

/// Calls with this many bytes in and out, at these offsets from some address; nothing around the output may change.
fn at(offset: usize, input: &[u8], output_size: usize, call: impl FnOnce(&[u8], &mut [u8])) -> Vec<u8> {
    let (mut source, mut target) = (vec![0; offset], vec![0xA5; offset / 3 + output_size + 64]);
    source.extend_from_slice(input);
    let place = offset / 3..offset / 3 + output_size;
    call(&source[offset..], &mut target[place.clone()]);
    let found = target[place.clone()].to_vec();
    target[place].fill(0xA5);
    assert!(target.iter().all(|byte| *byte == 0xA5), "wrote outside");
    found
}

#[test]
fn large_chunks_are_the_same_at_every_address() {
    let cast_value = json!({"name": "cast_value", "configuration": {"data_type": "uint8"}});
    let scale_offset = json!({"name": "scale_offset", "configuration": {"offset": -1, "scale": 2}});
    let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let packbits = |last_bit: u32| json!({"name": "packbits", "configuration": {"last_bit": last_bit}});
    let cases = [
        ("uint8", 1, vec![packbits(4)]),
        ("uint16", 2, vec![packbits(11)]),
        ("uint32", 4, vec![packbits(16)]),
        ("uint16", 2, vec![bytes.clone()]),
        ("float64", 8, vec![bytes]),
        ("float32", 4, vec![scale_offset.clone()]),
        ("float32", 4, vec![cast_value.clone(), packbits(6)]),
        ("float32", 4, vec![scale_offset, cast_value]),
    ];
    let options = CallOptions::default();
    for (data_type, size, codecs) in cases {
        // An odd number, of more bytes than are worth aligning, packed and not.
        let count = 70_001 / size;
        let chain = chain(&codecs, &json!({"data_type": data_type, "shape": [count], "fill_value": 0})).unwrap();
        let number = |index: usize| index * 7 % 60 + 2;
        let decoded: Vec<u8> = match data_type {
            "float32" => (0..count).flat_map(|index| (number(index) as f32).to_ne_bytes()).collect(),
            "float64" => (0..count).flat_map(|index| (number(index) as f64).to_ne_bytes()).collect(),
            "uint32" => (0..count).flat_map(|index| (number(index) as u32 * 1021).to_ne_bytes()).collect(),
            "uint16" => (0..count).flat_map(|index| (number(index) as u16 * 51).to_ne_bytes()).collect(),
            _ => (0..count).map(|index| number(index) as u8 / 2).collect(),
        };
        let encoded = chain.encode_to_vec(&decoded, &options).unwrap();
        for offset in 0..64 {
            let found = at(offset, &decoded, encoded.len(), |decoded, encoded| {
                chain.encode_into(decoded, encoded, &options).unwrap();
            });
            assert!(found == encoded, "encode {codecs:?} at {offset}");
            let found = at(offset, &encoded, decoded.len(), |encoded, decoded| {
                chain.decode_into(encoded, decoded, &options).unwrap();
            });
            assert!(found == decoded, "decode {codecs:?} at {offset}");
        }
    }
}

#[test]
fn the_element_at_fault_is_the_same_at_every_address() {
    let codecs = [json!({"name": "cast_value", "configuration": {"data_type": "uint8"}})];
    let count = 20_000;
    let chain = chain(&codecs, &json!({"data_type": "float32", "shape": [count], "fill_value": 0})).unwrap();
    for offset in (0..64).step_by(4) {
        for position in [0, 1, 11, 12, 15, 16, 9_999, count - 1] {
            let mut decoded = vec![0; 4 * count];
            decoded[4 * position..4 * position + 4].copy_from_slice(&256_f32.to_ne_bytes());
            at(offset, &decoded, count, |decoded, encoded| {
                let error = chain.encode_into(decoded, encoded, &CallOptions::default()).unwrap_err();
                assert_eq!(fault(&error), (0, position), "at {offset}");
            });
        }
    }
}

/// Chunks of more than one tile whose elements lie in memory in another order than in the encoded bytes.
#[test]
fn transposed_chunks_have_the_bytes_and_the_faults_of_their_definition() {
    let shapes: [(&[usize], &[usize]); 4] = [
        (&[90, 70, 150], &[2, 1, 0]),
        (&[300_001, 3], &[1, 0]),
        (&[9, 4, 100, 240], &[3, 0, 2, 1]),
        (&[40, 41, 42, 7], &[1, 3, 2, 0]),
    ];
    for (shape, order) in shapes {
        let count: usize = shape.iter().product();
        let encoded_shape: Vec<usize> = order.iter().map(|axis| shape[*axis]).collect();
        // Where each element of the encoded array lies in memory.
        let places: Vec<usize> = (0..count)
            .map(|mut index| {
                let mut position = vec![0; shape.len()];
                for (axis, size) in order.iter().zip(&encoded_shape).rev() {
                    position[*axis] = index % size;
                    index /= size;
                }
                position.iter().zip(shape).fold(0, |place, (at, size)| place * size + at)
            })
            .collect();
        let input = json!({"data_type": "uint16", "shape": shape, "fill_value": 0});
        let transpose = json!({"name": "transpose", "configuration": {"order": order}});
        let options = CallOptions::default();
        let mut elements: Vec<u16> = (0..count).map(|index| (index * 7 % 32_000) as u16).collect();
        let bytes_of =
            |elements: &[u16]| elements.iter().flat_map(|element| element.to_ne_bytes()).collect::<Vec<u8>>();

        let big = json!({"name": "bytes", "configuration": {"endian": "big"}});
        let swapped = chain(&[transpose.clone(), big], &input).unwrap();
        let expected: Vec<u8> = places.iter().flat_map(|place| elements[*place].to_be_bytes()).collect();
        assert!(swapped.encode_to_vec(&bytes_of(&elements), &options).unwrap() == expected, "{shape:?} {order:?}");
        assert!(swapped.decode_to_vec(&expected, &options).unwrap() == bytes_of(&elements), "{shape:?} {order:?}");

        // Runs that begin and end within bytes.
        for (first_bit, last_bit) in [(0, 14), (3, 3), (2, 13), (0, 10)] {
            let range = json!({"first_bit": first_bit, "last_bit": last_bit});
            let packed =
                chain(&[transpose.clone(), json!({"name": "packbits", "configuration": range})], &input).unwrap();
            let bits = last_bit - first_bit + 1;
            let mask = ((1_u32 << bits) - 1) as u16;
            let mut expected = vec![0; (count * bits).div_ceil(8)];
            for (number, place) in places.iter().enumerate() {
                let value = elements[*place] >> first_bit & mask;
                for bit in 0..bits {
                    let at = number * bits + bit;
                    expected[at / 8] |= (value as usize >> bit & 1) as u8 * (1 << (at % 8));
                }
            }
            let case = format!("{shape:?} {order:?}, bits {first_bit} to {last_bit}");
            assert!(packed.encode_to_vec(&bytes_of(&elements), &options).unwrap() == expected, "{case}");
            let kept: Vec<u16> = elements.iter().map(|element| element & mask << first_bit).collect();
            assert!(packed.decode_to_vec(&expected, &options).unwrap() == bytes_of(&kept), "{case}");
        }

        let cast = json!({"name": "cast_value", "configuration": {"data_type": "int16"}});
        let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
        let checked = chain(&[transpose, cast, little], &input).unwrap();
        let mut encoded = checked.encode_to_vec(&bytes_of(&elements), &options).unwrap();
        assert!(checked.decode_to_vec(&encoded, &options).unwrap() == bytes_of(&elements), "{shape:?} {order:?}");
        // The later of two faults comes first in the tiles of some order.
        for [first, second] in [[count - 2, count - 1], [1, encoded_shape[1] + 1], [count / 3, count / 2]] {
            let kept = (elements[places[first]], elements[places[second]]);
            (elements[places[first]], elements[places[second]]) = (40_000, 40_001);
            let error = checked.encode_to_vec(&bytes_of(&elements), &options).unwrap_err();
            assert_eq!(error.status(), Status::OutOfRange);
            assert_eq!(error.element_index(), Some(first as u64), "{shape:?} {order:?}");
            (elements[places[first]], elements[places[second]]) = kept;

            let kept = encoded.clone();
            encoded[2 * first + 1] |= 0x80;
            encoded[2 * second + 1] |= 0x80;
            let error = checked.decode_to_vec(&encoded, &options).unwrap_err();
            assert_eq!(error.element_index(), Some(first as u64), "{shape:?} {order:?}");
            encoded = kept;
        }
    }
}
