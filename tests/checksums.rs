//! Checksums of payloads that are copied in parts, with other frames around them: as the definition has them.

use serde_json::{Value, json};
use zcodec::Status;
use zcodec::chain::{CallOptions, Chain};

/// Around the size of a part, and several of them.
const SIZES: [usize; 10] = [0, 1, 100, 4096, 8191, 8192, 8193, 16_384, 24_577, 100_000];

fn chain(codecs: &Value, size: usize) -> Chain {
    let input = json!({"data_type": "uint8", "shape": [size], "fill_value": 0});
    Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap()
}

/// RFC 3720, bit by bit.
fn crc32c(bytes: &[u8]) -> [u8; 4] {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = sum >> 1 ^ (0x82F6_3B78 & 0_u32.wrapping_sub(sum & 1));
        }
    }
    (!sum).to_le_bytes()
}

fn elements(size: usize) -> Vec<u8> {
    (0..size).map(|index| (index * index % 251) as u8).collect()
}

#[test]
fn a_checksum_is_that_of_all_bytes_before_it() {
    for size in SIZES {
        let decoded = elements(size);
        let mut expected = decoded.clone();
        for count in 1..=3 {
            expected.extend(crc32c(&expected));
            let codecs: Vec<Value> =
                std::iter::once(json!("bytes")).chain(std::iter::repeat_n(json!("crc32c"), count)).collect();
            let chain = chain(&Value::from(codecs), size);
            let encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).unwrap();
            assert_eq!(encoded, expected, "{size} bytes, {count} checksums");
            assert_eq!(chain.decode_to_vec(&encoded, &CallOptions::default()).unwrap(), decoded);
        }
    }
}

#[test]
fn a_damaged_byte_anywhere_is_told_by_the_checksum() {
    for size in SIZES {
        let chain = chain(&json!(["bytes", "crc32c", "crc32c"]), size);
        let encoded = chain.encode_to_vec(&elements(size), &CallOptions::default()).unwrap();
        let mut decoded = vec![0; size];
        for place in [0, size / 2, size, size + 3, size + 4, size + 7] {
            let mut damaged = encoded.clone();
            damaged[place] ^= 4;
            let error = chain.decode_into(&damaged, &mut decoded, &CallOptions::default()).unwrap_err();
            assert_eq!((error.status(), error.codec_index()), (Status::CorruptData, Some(2)), "{size} {place}");
            // The outer checksum is right now, the inner one is not.
            if place < size + 4 {
                damaged.truncate(size + 4);
                damaged.extend(crc32c(&damaged));
                let error = chain.decode_into(&damaged, &mut decoded, &CallOptions::default()).unwrap_err();
                assert_eq!((error.status(), error.codec_index()), (Status::CorruptData, Some(1)), "{size} {place}");
            }
        }
    }
}

#[test]
fn a_chunk_of_another_size_is_corrupt() {
    for size in SIZES {
        for other in [size.saturating_sub(1), size + 1] {
            if other == size {
                continue;
            }
            let encoded = chain(&json!(["bytes", "crc32c"]), other);
            let encoded = encoded.encode_to_vec(&elements(other), &CallOptions::default()).unwrap();
            let mut decoded = vec![0; size];
            let chain = chain(&json!(["bytes", "crc32c"]), size);
            let error = chain.decode_into(&encoded, &mut decoded, &CallOptions::default()).unwrap_err();
            assert_eq!(error.status(), Status::CorruptData, "{other} bytes for {size}");
        }
    }
}
