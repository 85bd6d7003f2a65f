//! Elementwise codecs and transposes before a shard: encoding gives what they and the shard give one after the other.

use super::case::{Area, Choices, area, choices, cut, indices, memory, named, options, sharding};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use zcodec::chain::{CallOptions, Chain};
use zcodec::strided::Source;
use zcodec::{Error, Status};

const ENDIAN: &str = if cfg!(target_endian = "little") { "little" } else { "big" };

fn chain(codecs: &[Value], data_type: &str, shape: &[u64], fill_value: &Value) -> Chain {
    let input = json!({"data_type": data_type, "shape": shape, "fill_value": fill_value});
    Chain::new(json!(codecs).to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap()
}

fn threads(count: usize) -> CallOptions {
    CallOptions { max_threads: NonZeroUsize::new(count).unwrap(), ..options() }
}

/// Codecs before a shard, and what they make of an array.
#[derive(Debug)]
struct Before {
    codecs: Vec<Value>,
    data_type: &'static str,
    shape: Vec<u64>,
    /// The data type and the shape of the shard's array, and its fill value.
    shard_type: &'static str,
    shard_shape: Vec<u64>,
    shard_fill: f64,
}

/// The fill value of arrays that enter.
const FILL: u8 = 3;

impl Before {
    fn new(data_type: &'static str, shape: &[u64]) -> Self {
        let (shape, shard_shape) = (shape.to_vec(), shape.to_vec());
        Self { codecs: vec![], data_type, shape, shard_type: data_type, shard_shape, shard_fill: FILL.into() }
    }

    fn transpose(&mut self, order: &[usize]) {
        self.codecs.push(named("transpose", &json!({"order": order})));
        self.shard_shape = order.iter().map(|dimension| self.shard_shape[*dimension]).collect();
    }

    fn cast(&mut self, data_type: &'static str) {
        let configuration = json!({"data_type": data_type, "rounding": "towards-zero", "out_of_range": "clamp"});
        self.codecs.push(named("cast_value", &configuration));
        self.shard_type = data_type;
    }

    fn random(choices: &mut Choices, shape: &[u64]) -> Self {
        let mut before = Self::new(choices.pick(&["uint8", "uint16", "int32", "float32", "float64"]), shape);
        for _ in 0..1 + choices.below(4) {
            match choices.below(6) {
                0 => before.cast(choices.pick(&["float32", "uint16", "uint8", "int64", "float64"])),
                1 | 5 => before.transpose(&choices.order(before.shard_shape.len())),
                2 if before.shard_type.starts_with("float") => {
                    before.codecs.push(named("scale_offset", &json!({"offset": 1, "scale": 2})));
                    before.shard_fill = (before.shard_fill - 1.0) * 2.0;
                }
                3 if before.shard_type.starts_with("float") => {
                    before.codecs.push(named("bitround", &json!({"keepbits": 9})));
                }
                4 => {
                    // The same dimensions and one of size 1, or all elements in one.
                    let count = before.shard_shape.iter().product();
                    match choices.below(3) {
                        0 => before.shard_shape = vec![count],
                        _ => before.shard_shape.insert(choices.below(before.shard_shape.len() + 1), 1),
                    }
                    before.codecs.push(named("reshape", &json!({"shape": before.shard_shape})));
                }
                _ => {}
            }
        }
        before
    }

    /// These codecs, and then others.
    fn chain(&self, then: &[Value]) -> Chain {
        chain(&[&self.codecs, then].concat(), self.data_type, &self.shape, &json!(FILL))
    }

    /// What a chain of these codecs and then a shard, and perhaps more, has to give.
    fn encode(&self, then: &[Value], decoded: &[u8]) -> Result<Vec<u8>, Error> {
        let native = named("bytes", &json!({"endian": ENDIAN}));
        let values = self.chain(&[native]).encode_to_vec(decoded, &options())?;
        let fill =
            if self.shard_type.starts_with("float") { json!(self.shard_fill) } else { json!(self.shard_fill as u8) };
        chain(then, self.shard_type, &self.shard_shape, &fill).encode_to_vec(&values, &options())
    }
}

/// A shard whose inner chunks have these counts along the dimensions of its array, and perhaps a codec after it.
fn shard(choices: &mut Choices, shape: &[u64], grid: &[u64]) -> Vec<Value> {
    let inner: Vec<u64> = shape.iter().zip(grid).map(|(size, count)| size / count).collect();
    let bytes = named("bytes", &json!({"endian": choices.pick(&["little", "big"])}));
    let zstd = named("zstd", &json!({"level": 1, "checksum": false}));
    let order: Vec<usize> = (0..shape.len()).rev().collect();
    let codecs = match choices.below(5) {
        0 => json!([bytes]),
        1 => json!([bytes, zstd]),
        2 => json!([bytes, "crc32c"]),
        3 => json!([named("transpose", &json!({"order": order})), bytes]),
        _ => json!([named("cast_value", &json!({"data_type": "float64"})), sharding(&inner, &json!([bytes, zstd]))]),
    };
    let mut then = vec![sharding(&inner, &codecs)];
    match choices.below(5) {
        1 => then.push(zstd),
        2 => then.push(json!("crc32c")),
        _ => {}
    }
    then
}

/// Elements of small numbers, many of them the fill value.
fn elements(choices: &mut Choices, data_type: &str, count: u64) -> Vec<u8> {
    let (step, run) = (1 + choices.below(97) as u64, 1 + choices.below(60) as u64);
    let number = |index: u64| if (index / run).is_multiple_of(3) { FILL } else { (index * step % 200) as u8 };
    (0..count).flat_map(|index| bytes_of(data_type, number(index).into())).collect()
}

fn bytes_of(data_type: &str, number: f64) -> Vec<u8> {
    match data_type {
        "uint8" => vec![number as u8],
        "uint16" => (number as u16).to_ne_bytes().to_vec(),
        "int32" => (number as i32).to_ne_bytes().to_vec(),
        "float32" => (number as f32).to_ne_bytes().to_vec(),
        _ => number.to_ne_bytes().to_vec(),
    }
}

/// Encodes a box that lies anywhere; the rest of the chunk is the fill value.
fn encode_view(
    chain: &Chain,
    choices: &mut Choices,
    (start, shape): &Area,
    elements: &[u8],
    options: &CallOptions,
) -> Result<Vec<u8>, Error> {
    let mut view = memory(choices, shape, chain.element_size().unwrap());
    view.scatter(elements);
    let size = chain.decoded_size().unwrap();
    let mut encoded = vec![0; chain.encoded_bound(size).unwrap() as usize];
    let size = chain.encode_view(start, view.source(), &mut encoded, options)?;
    encoded.truncate(size);
    Ok(encoded)
}

/// The array of a box and the fill value around it.
fn filled(data_type: &str, shape: &[u64], area: &Area, whole: &[u8]) -> Vec<u8> {
    let fill = bytes_of(data_type, FILL.into());
    let mut array = fill.repeat(shape.iter().product::<u64>() as usize);
    for index in indices(shape, area) {
        let place = index * fill.len()..(index + 1) * fill.len();
        array[place.clone()].copy_from_slice(&whole[place]);
    }
    array
}

fn check(before: &Before, then: &[Value], choices: &mut Choices, count: usize) -> Result<(), TestCaseError> {
    let chain = before.chain(then);
    let shape = &before.shape;
    let decoded = elements(choices, before.data_type, shape.iter().product());
    let expected = before.encode(then, &decoded).unwrap();
    let encoded = chain.encode_to_vec(&decoded, &threads(count)).unwrap();
    prop_assert!(encoded == expected, "{:?}, {:?}", before, then);
    let whole = (vec![0; shape.len()], shape.clone());
    let encoded = encode_view(&chain, choices, &whole, &decoded, &threads(count)).unwrap();
    prop_assert!(encoded == expected, "a view: {:?}, {:?}", before, then);

    let part = area(choices, shape);
    let array = filled(before.data_type, shape, &part, &decoded);
    let expected = before.encode(then, &array).unwrap();
    let given = cut(&decoded, shape, &part, chain.element_size().unwrap());
    let encoded = encode_view(&chain, choices, &part, &given, &threads(count)).unwrap();
    prop_assert!(encoded == expected, "{:?}: {:?}, {:?}", part, before, then);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn codecs_and_a_shard_give_what_they_give_one_after_the_other(mut choices in choices()) {
        let shape: Vec<u64> = (0..1 + choices.below(3)).map(|_| 1 + choices.below(60) as u64).collect();
        let before = Before::random(&mut choices, &shape);
        let counts: Vec<u64> = before.shard_shape.iter().map(|size| divisor(*size, &mut choices)).collect();
        let then = shard(&mut choices, &before.shard_shape, &counts);
        let count = 1 + choices.below(3);
        check(&before, &then, &mut choices, count)?;
    }
}

/// One of the smaller divisors of a size.
fn divisor(size: u64, choices: &mut Choices) -> u64 {
    let divisors: Vec<u64> = (1..=size.min(6)).filter(|count| size.is_multiple_of(*count)).collect();
    choices.pick(&divisors)
}

/// Enough elements for several threads, and for strips.
#[test]
fn large_arrays_are_encoded_as_step_by_step() {
    for (shape, grid) in [([64, 96, 120], [2, 3, 5]), ([32, 256, 1088], [2, 8, 34])] {
        for order in [[0, 1, 2], [2, 0, 1], [2, 1, 0]] {
            let mut before = Before::new("uint16", &shape);
            before.cast("float32");
            before.transpose(&order);
            before.codecs.push(named("scale_offset", &json!({"offset": 1, "scale": 2})));
            before.shard_fill = 4.0;
            let grid: Vec<u64> = order.iter().map(|dimension| grid[*dimension]).collect();
            for (kind, count) in [(0, 1), (1, 2), (2, 3)] {
                let then = shard(&mut Choices::of(&[kind, kind]), &before.shard_shape, &grid);
                check(&before, &then, &mut Choices::of(&[9, 5, 2, 1, 1, 2, 3, 5, 8, 13, 60, 100]), count).unwrap();
            }
        }
    }
}

/// What a caller sees of an error.
fn parts(error: &Error) -> (Status, &'static str, Option<usize>, String, Option<u64>, String) {
    let (pointer, message) = (error.pointer(), error.to_string());
    (error.status(), error.code(), error.codec_index(), pointer, error.element_index(), message)
}

/// Two steps that refuse elements: one NaN, the next, of a transposed array, what is larger than 255.
fn strict(shape: &[u64]) -> Before {
    let mut before = Before::new("float32", shape);
    before.codecs.push(named("cast_value", &json!({"data_type": "int32", "rounding": "nearest-even"})));
    before.transpose(&(0..shape.len()).rev().collect::<Vec<_>>());
    before.codecs.push(named("cast_value", &json!({"data_type": "uint8"})));
    before.shard_type = "uint8";
    before
}

/// An inner chain that refuses what is larger than 127.
fn strict_shard(shape: &[u64]) -> Value {
    let cast = named("cast_value", &json!({"data_type": "int8"}));
    sharding(shape, &json!([cast, named("bytes", &json!({"endian": "little"}))]))
}

#[test]
fn the_first_element_at_fault_is_that_of_the_steps_one_after_the_other() {
    for shape in [[16, 24, 30], [64, 80, 64]] {
        let before = strict(&shape);
        let inner: Vec<u64> = before.shard_shape.iter().map(|size| size / 2).collect();
        let then = [strict_shard(&inner)];
        let chain = before.chain(&then);
        let count = shape.iter().product::<u64>() as usize;
        let whole = (vec![0; 3], shape.to_vec());
        // Elements in the last, the first and other inner chunks of either order.
        let places = [count - 1, 0, shape[2] as usize - 1, count / 2 + 7, count / 3];
        for (first, second) in places.iter().flat_map(|first| places.iter().map(move |second| (*first, *second))) {
            for numbers in [[f32::NAN, f32::NAN], [f32::NAN, 300.0], [300.0, 256.0], [200.0, 300.0], [200.0, 130.0]] {
                let mut values = vec![1_f32; count];
                [values[second], values[first]] = [numbers[1], numbers[0]];
                let decoded: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
                let native = named("bytes", &json!({"endian": ENDIAN}));
                let alone = before.chain(&[native]).encode_to_vec(&decoded, &options());
                for threads in [1, 2].map(threads) {
                    let error = chain.encode_to_vec(&decoded, &threads).unwrap_err();
                    match &alone {
                        Err(expected) => assert_eq!(parts(&error), parts(expected), "{shape:?}, {first}, {second}"),
                        // Then the shard is at fault.
                        Ok(_) => assert_eq!((error.codec_index(), error.status()), (Some(3), Status::OutOfRange)),
                    }
                    let choices = &mut Choices::of(&[1, 2, 1, 0, 1, 1]);
                    let of_view = encode_view(&chain, choices, &whole, &decoded, &threads).unwrap_err();
                    assert_eq!(parts(&of_view), parts(&error), "{shape:?}, {first}, {second}");
                }
            }
        }
    }
}

/// The elements are looked at even where there is no room for the shard.
#[test]
fn an_element_at_fault_counts_before_lacking_room() {
    let shape = [16, 24, 30];
    let before = strict(&shape);
    let bytes = named("bytes", &json!({"endian": "little"}));
    let zstd = named("zstd", &json!({"level": 1, "checksum": false}));
    let chain = before.chain(&[sharding(&[15, 12, 8], &json!([bytes, zstd]))]);
    let mut values = vec![1_f32; 16 * 24 * 30];
    let encode = |values: &[f32], capacity: usize, count: usize| {
        let source: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        chain.encode_view(
            &[0; 3],
            Source::contiguous(&source, 4, &shape).unwrap(),
            &mut vec![0; capacity],
            &threads(count),
        )
    };
    let bound = chain.encoded_bound(4 * 16 * 24 * 30).unwrap() as usize;
    let size = encode(&values, bound, 1).unwrap();
    for count in [1, 2] {
        for capacity in [0, 10, size - 1] {
            let error = encode(&values, capacity, count).unwrap_err();
            assert_eq!((error.status(), error.needed_capacity()), (Status::BufferTooSmall, Some(bound)));
        }
        assert_eq!(encode(&values, size, count), Ok(size));
    }
    values[11_000] = 256.0;
    for (capacity, count) in [(0, 1), (10, 1), (size - 1, 2), (bound, 2)] {
        let error = encode(&values, capacity, count).unwrap_err();
        assert_eq!((error.status(), error.codec_index()), (Status::OutOfRange, Some(2)), "{capacity}");
    }
}
