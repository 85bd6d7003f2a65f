//! Large arrays in strides: threads share them, and change nothing.

use super::case::{Choices, memory, named, options, sharding};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::Arc;
use zcodec::chain::{CallOptions, Chain, Executor};
use zcodec::strided::Target;
use zcodec::{Error, Status};

const SHAPE: [u64; 3] = [70, 90, 110];

fn chain(codecs: &Value, data_type: &str) -> Chain {
    let input = json!({"data_type": data_type, "shape": SHAPE, "fill_value": 0});
    Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap()
}

fn threads(count: usize) -> CallOptions {
    CallOptions { max_threads: NonZeroUsize::new(count).unwrap(), ..options() }
}

/// Choices of a view whose first dimension is the fastest, with gaps, and whose second runs backwards.
fn view() -> Choices {
    Choices::of(&[0, 0, 0, 0, 0, 1, 1, 2, 0, 0])
}

fn cast(data_type: &str) -> Value {
    json!({"name": "cast_value", "configuration": {"data_type": data_type}})
}

const BYTES: &str = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;

#[test]
fn threads_that_share_a_view_change_nothing() {
    let bytes: Value = serde_json::from_str(BYTES).unwrap();
    let transpose = json!({"name": "transpose", "configuration": {"order": [1, 2, 0]}});
    let packbits = json!({"name": "packbits", "configuration": {"last_bit": 6}});
    for codecs in [
        json!([bytes]),
        json!([transpose, bytes]),
        json!([cast("uint32"), bytes]),
        json!([transpose, cast("uint32"), bytes, "crc32c"]),
        json!([packbits]),
        json!([bytes, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]),
    ] {
        let chain = chain(&codecs, "uint16");
        let count = SHAPE.iter().product::<u64>() as usize;
        let decoded: Vec<u8> = (0..count).flat_map(|index| (index as u16 % 113).to_ne_bytes()).collect();
        let mut source = memory(&mut view(), &SHAPE, 2);
        source.scatter(&decoded);
        let expected = chain.encode_to_vec(&decoded, &options()).unwrap();
        for count in [1, 2, 5] {
            let mut encoded = vec![0; expected.len()];
            chain.encode_view(&[0; 3], source.source(), &mut encoded, &threads(count)).unwrap();
            assert!(encoded == expected, "{codecs} by {count}");
            let mut target = memory(&mut view(), &SHAPE, 2);
            chain.decode_view(&encoded, &[0; 3], target.target(), &threads(count)).unwrap();
            target.check(&decoded).unwrap();
        }
    }
}

#[test]
fn the_first_element_at_fault_is_the_same_on_any_number_of_threads() {
    let bytes: Value = serde_json::from_str(BYTES).unwrap();
    let (wide, narrow) = (chain(&json!([cast("uint16"), bytes]), "uint32"), chain(&json!([bytes]), "uint16"));
    let count = SHAPE.iter().product::<u64>() as usize;
    let mut decoded = vec![0_u32; count];
    for at in [400_000, 650_003, 692_999] {
        decoded[at] = 1 << 20;
    }
    let decoded: Vec<u8> = decoded.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let mut source = memory(&mut view(), &SHAPE, 4);
    source.scatter(&decoded);
    // What no uint16 gives on decode.
    let signed = chain(&json!([cast("int16"), bytes]), "uint16");
    let mut negative = vec![1_i16; count];
    negative[500_001] = -1;
    negative[690_000] = -2;
    let negative: Vec<u8> = negative.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let encoded = narrow.encode_to_vec(&negative, &options()).unwrap();
    for count in [1, 2, 5] {
        let check = |error: Error, element: u64| {
            assert_eq!((error.status(), error.element_index()), (Status::OutOfRange, Some(element)), "by {count}");
        };
        let mut place = vec![0; 2 * decoded.len()];
        check(wide.encode_view(&[0; 3], source.source(), &mut place, &threads(count)).unwrap_err(), 400_000);
        let mut target = memory(&mut view(), &SHAPE, 2);
        check(signed.decode_view(&encoded, &[0; 3], target.target(), &threads(count)).unwrap_err(), 500_001);
    }
}

#[test]
fn a_shard_without_room_fails_alike_on_any_number_of_threads() {
    let bytes: Value = serde_json::from_str(BYTES).unwrap();
    let gzip = named("gzip", &json!({"level": 1}));
    let count = SHAPE.iter().product::<u64>() as usize;
    let mut decoded = vec![7_u32; count];
    decoded[count - 1] = 1 << 20;
    let decoded: Vec<u8> = decoded.iter().flat_map(|value| value.to_ne_bytes()).collect();
    for inner in [json!([cast("uint16"), bytes]), json!([cast("uint16"), bytes, gzip])] {
        let shard = chain(&json!([sharding(&[SHAPE[0], 1, SHAPE[2]], &inner)]), "uint32");
        let room = shard.encoded_bound(decoded.len() as u64).unwrap() as usize;
        for capacity in [0, room / 2, room - 1, room] {
            let mut place = vec![0; capacity];
            let statuses = [1, 2, 5].map(|count| shard.encode_into(&decoded, &mut place, &threads(count)).unwrap_err());
            let [one, two, five] = statuses.map(|error| (error.status(), error.needed_capacity()));
            assert!(one == two && two == five, "{one:?}, {two:?}, {five:?} with room for {capacity} bytes");
        }
    }
}

/// A host whose threads are gone.
#[derive(Debug)]
struct Failing;

impl Executor for Failing {
    fn max_workers(&self) -> NonZeroUsize {
        NonZeroUsize::new(4).unwrap()
    }

    fn run(&self, _: u32, _: &(dyn Fn() + Sync)) -> Result<(), Error> {
        Err(Error::new(Status::CallbackFailed, "no threads"))
    }
}

/// Also where elements that nobody asked for are decoded together with those of the box.
#[test]
fn an_executor_that_fails_fails_the_call() {
    let codecs = json!([cast("float64"), serde_json::from_str::<Value>(BYTES).unwrap()]);
    let input = json!({"data_type": "uint8", "shape": [4000, 100], "fill_value": 0});
    let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
    let encoded = chain.encode_to_vec(&[1; 400_000], &options()).unwrap();
    let options = CallOptions { executor: Some(Arc::new(Failing)), ..options() };
    let mut decoded = vec![0; 4000 * 98];
    let target = Target::contiguous(&mut decoded, 1, &[4000, 98]).unwrap();
    let error = chain.decode_view(&encoded, &[0, 1], target, &options).unwrap_err();
    assert_eq!(error.status(), Status::CallbackFailed, "{error}");
}

/// Boxes of a shard of which all, some or no inner chunks are missing, on any number of threads.
#[test]
fn missing_inner_chunks_are_filled_wherever_they_lie() {
    let bytes: Value = serde_json::from_str(BYTES).unwrap();
    let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let shape = [600, 660];
    let input = json!({"data_type": "uint16", "shape": shape, "fill_value": 7});
    let without_value = json!({"data_type": "uint16", "shape": shape});
    // Only the inner chunks from row 150 to 199 and from 300 to 349 are stored; the last two of their columns are not.
    let is_stored = |row: u64, column: u64| matches!(row / 50, 3 | 6) && column < 600;
    let value = |row: u64, column: u64| if is_stored(row, column) { (row * 31 + column) as u16 | 8 } else { 7 };
    let elements = |start: [u64; 2], part: [u64; 2]| -> Vec<u8> {
        let rows = start[0]..start[0] + part[0];
        let places = rows.flat_map(|row| (start[1]..start[1] + part[1]).map(move |column| (row, column)));
        places.flat_map(|(row, column)| value(row, column).to_ne_bytes()).collect()
    };
    for (codecs, name) in [
        (json!([sharding(&[50, 30], &json!([bytes]))]), "[0, 1]"),
        (json!([transpose, sharding(&[30, 50], &json!([bytes]))]), "[1, 0]"),
        (json!([cast("uint32"), sharding(&[50, 30], &json!([bytes]))]), "[0, 1]"),
    ] {
        let make =
            |input: &Value| Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
        let (chain, strict) = (make(&input), make(&without_value));
        let encoded = chain.encode_to_vec(&elements([0, 0], [600, 660]), &options()).unwrap();
        for (start, part) in [
            ([0_u64, 0], [600_u64, 660]),
            ([0, 31], [150, 500]),
            ([7, 601], [500, 59]),
            ([149, 599], [52, 2]),
            ([351, 3], [249, 657]),
            ([151, 1], [9, 13]),
        ] {
            for count in [1, 3] {
                let mut target = memory(&mut Choices::of(&[1, 0, 1, 2, 0, 1]), &part, 2);
                chain.decode_view(&encoded, &start, target.target(), &threads(count)).unwrap();
                assert_eq!(target.elements(), elements(start, part), "{codecs} by {count}: {start:?} {part:?}");
            }
        }
        for count in [1, 3] {
            let mut target = memory(&mut Choices::none(), &[150, 500], 2);
            let error = strict.decode_view(&encoded, &[0, 31], target.target(), &threads(count)).unwrap_err();
            assert_eq!(error.status(), Status::CorruptData);
            assert!(error.to_string().contains(&format!("inner chunk {name} is missing")), "{error}");
        }
    }
}
