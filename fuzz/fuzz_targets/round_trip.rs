//! decode(encode(x)) is x for lossless chains. For casts it is a value that further round trips do not change, if it is
//! in range. Every way to encode gives the same bytes.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use zcodec::Status;
use zcodec::chain::CallOptions;
use zcodec_fuzz::structured::{ChainSpec, Promise};
use zcodec_fuzz::with_threads;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    chain: ChainSpec,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let Some(chain) = input.chain.build() else { return };
    let decoded = input.chain.elements(&chain, input.bytes);
    let options = CallOptions::default();
    let first = chain.encode_to_vec(&decoded, &options);
    let threaded = chain.encode_to_vec(&decoded, &with_threads(4));
    if input.chain.is_deterministic() {
        assert_eq!(first, threaded, "threads change the result");
    } else {
        assert_eq!(first.as_ref().err(), threaded.as_ref().err(), "threads change the result");
    }
    let encoded = match first {
        Ok(encoded) => encoded,
        Err(error) => {
            // Of numcodecs.fixedscaleoffset.
            let is_only_decoded = error.status() == Status::Unsupported && error.to_string().contains("only decoded");
            assert!(is_only_decoded || error.status() == Status::OutOfRange, "{error}");
            return;
        }
    };
    assert!(chain.encoded_bound(decoded.len() as u64).is_some_and(|bound| encoded.len() as u64 <= bound));
    let again = match chain.decode_to_vec(&encoded, &options) {
        Ok(again) => again,
        // A rounded value may be out of range on the way back.
        Err(error) if input.chain.promise() != Promise::Lossless => {
            assert_eq!(error.status(), Status::OutOfRange, "{error}");
            return;
        }
        Err(error) => panic!("what encode made does not decode: {error}"),
    };
    match input.chain.promise() {
        Promise::Lossless => assert_eq!(again, decoded),
        Promise::Stable => {
            let encoded_again = match chain.encode_to_vec(&again, &options) {
                Ok(encoded_again) => encoded_again,
                Err(error) if input.chain.clamps() && error.to_string().contains("Infinity, which") => {
                    assert_eq!(error.status(), Status::OutOfRange, "{error}");
                    return;
                }
                Err(error) => panic!("a decoded value cannot be encoded: {error}"),
            };
            let image = chain.decode_to_vec(&encoded_again, &options).expect("and it decodes");
            assert_eq!(image, again);
        }
        Promise::Size => assert_eq!(again.len(), decoded.len()),
    }
});
