//! Any bytes through any chain: `codecs NUL input NUL encoded`, with every set of instructions. The conformance cases are
//! its corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zcodec::chain::{CallOptions, Chain};
use zcodec::codec::set_limit;
use zcodec_fuzz::{LEVELS, Texts, decode_every_way, is_small};

fuzz_target!(|data: &[u8]| {
    let texts = Texts::split(data);
    let mut results = LEVELS.iter().map(|level| {
        // A chain chooses some of its loops when it is made.
        set_limit(*level);
        let chain = Chain::new(texts.codecs, texts.input).ok()?;
        if level.is_none() {
            decode_every_way(&chain, texts.rest);
        }
        let is_array = is_small(&chain) && chain.decoded_size().is_some();
        is_array.then(|| chain.decode_to_vec(texts.rest, &CallOptions::default()))
    });
    let first = results.next().expect("all that the processor has");
    if first.is_some() {
        results.for_each(|other| assert!(other == first, "sets of instructions differ"));
    }
});
