//! The codecs as a chain has them.

use super::tests::field;
use crate::Status;
use crate::chain::{CallOptions, Chain};
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
    let cases = [
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
fn a_frame_says_what_capacity_would_do() {
    let configuration = json!({"cname": "zstd", "clevel": 5, "shuffle": "noshuffle"});
    let chain = chain("blosc", &configuration).unwrap();
    let options = CallOptions::default();
    let encoded = chain.encode_to_vec(&field(5000), &options).unwrap();
    let error = chain.decode_into(&encoded, &mut [0; 4999], &options).unwrap_err();
    assert_eq!((error.status(), error.needed_capacity()), (Status::BufferTooSmall, Some(5000)));
}
