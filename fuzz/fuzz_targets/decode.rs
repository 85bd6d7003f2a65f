//! Any bytes through any chain: `codecs NUL input NUL encoded`. The conformance cases are its corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zcodec::chain::Chain;
use zcodec_fuzz::{Texts, decode_every_way};

fuzz_target!(|data: &[u8]| {
    let texts = Texts::split(data);
    if let Ok(chain) = Chain::new(texts.codecs, texts.input) {
        decode_every_way(&chain, texts.rest);
    }
});
