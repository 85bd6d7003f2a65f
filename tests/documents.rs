//! Arrays that zarr-python 3.4 wrote, in formats 2 and 3, read by their own metadata documents.
//! `tests/readers/write_documents.py` made them.

use serde_json::Value;
use std::path::Path;
use zcodec::chain::{CallOptions, Chain, Representation};

fn bytes(hexadecimal: &Value) -> Vec<u8> {
    let digits = hexadecimal.as_str().unwrap();
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

/// Elements in little-endian order, in that of this machine.
fn to_native(chain: &Chain, mut elements: Vec<u8>) -> Vec<u8> {
    let Representation::Array(array) = chain.input() else { panic!("an array enters") };
    if cfg!(target_endian = "big") {
        for element in elements.chunks_exact_mut(array.data_type().size()) {
            let mut rest = element;
            for part in array.data_type().parts() {
                let (components, after) = rest.split_at_mut(part.size());
                rest = after;
                if part.component.has_byte_order() {
                    components.chunks_exact_mut(part.component.size()).for_each(<[u8]>::reverse);
                }
            }
        }
    }
    elements
}

#[test]
fn arrays_of_zarr_python_are_read_by_their_documents() {
    let options = CallOptions::default();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/zarr_python_documents.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    let mut count = 0;
    for line in lines.lines() {
        let array: Value = serde_json::from_str(line).unwrap();
        let (name, document) = (&array["name"], array["document"].to_string());
        if !cfg!(feature = "blosc") && document.contains("blosc") {
            continue;
        }
        let chain = Chain::from_zarr_json(document.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let decoded = to_native(&chain, bytes(&array["decoded"]));
        assert_eq!(chain.decode_to_vec(&bytes(&array["encoded"]), &options).as_deref(), Ok(&*decoded), "{name}");
        let encoded = chain.encode_to_vec(&decoded, &options).unwrap();
        assert_eq!(chain.decode_to_vec(&encoded, &options).as_deref(), Ok(&*decoded), "{name}");
        // The JSON that a chain returns creates the same chain again.
        let again = Chain::new(
            chain.codecs_json().to_string().as_bytes(),
            Some(chain.input().to_json().to_string().as_bytes()),
        );
        assert_eq!(again.unwrap().encode_to_vec(&decoded, &options), Ok(encoded), "{name}");
        count += 1;
    }
    assert!(count > 40, "{count} arrays");
}

#[test]
fn an_unknown_filter_of_zarr_v2_is_named_at_its_place() {
    for (order, index) in [("C", 0), ("F", 1)] {
        let document = serde_json::json!({
            "zarr_format": 2, "shape": [4, 4], "chunks": [4, 4], "dtype": "<i4", "fill_value": 0, "order": order,
            "compressor": null, "filters": [{"id": "mine"}, {"id": "delta", "dtype": "<i4"}],
        });
        let error = Chain::from_zarr_json(document.to_string().as_bytes()).expect_err("no codec has this name");
        assert_eq!((error.code(), error.codec_index()), ("unknown_codec", Some(index)), "{error}");
        assert!(error.to_string().contains("\"numcodecs.mine\""), "{error}");
    }
}
