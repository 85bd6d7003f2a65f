//! Paddings that callbacks make and check, on chunks large enough for several threads, on the library's own threads and on
//! those of an executor: as many callbacks as chunks, all bytes as the callbacks want them, and a callback that fails
//! fails the call.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use zcodec::Status;
use zcodec::chain::{CallData, CallOptions, Chain, Executor, PaddingHook};
use zcodec_fuzz::with_threads;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    shards: [u8; 2],
    inner_rows: u8,
    padding_size: u8,
    compresses: bool,
    uses_executor: bool,
    /// The call of the callback that fails, and the number it returns.
    generate_fails: Option<(u8, i8)>,
    check_fails: Option<(u8, i8)>,
    seed: u8,
    bytes: &'a [u8],
}

/// Makes paddings from the chunk, and refuses others.
#[derive(Debug, Default)]
struct Hook {
    generated: AtomicU32,
    checked: AtomicU32,
    generate_fails: Option<(u8, i8)>,
    check_fails: Option<(u8, i8)>,
}

fn byte(chunk: &[u8], at: usize) -> u8 {
    chunk.iter().fold(at as u8, |sum, byte| sum.rotate_left(1) ^ byte)
}

fn outcome(fails: Option<(u8, i8)>, call: u32) -> Result<(), i32> {
    match fails {
        Some((at, number)) if number != 0 && u32::from(at % 8) == call => Err(number.into()),
        _ => Ok(()),
    }
}

impl PaddingHook for Hook {
    fn generates(&self) -> bool {
        true
    }

    fn checks(&self) -> bool {
        true
    }

    fn generate(&self, _call_data: CallData, chunk: &[u8], padding: &mut [u8]) -> Result<(), i32> {
        assert!(padding.iter().all(|byte| *byte == 0), "the padding is not all zeros");
        padding.iter_mut().enumerate().for_each(|(at, padding)| *padding = byte(&chunk[..chunk.len().min(64)], at));
        outcome(self.generate_fails, self.generated.fetch_add(1, Ordering::Relaxed))
    }

    fn check(&self, _call_data: CallData, chunk: &[u8], padding: &[u8]) -> Result<(), i32> {
        let is_right =
            padding.iter().enumerate().all(|(at, padding)| *padding == byte(&chunk[..chunk.len().min(64)], at));
        assert!(is_right, "a padding that no callback made");
        outcome(self.check_fails, self.checked.fetch_add(1, Ordering::Relaxed))
    }
}

/// Two threads of the host, and sometimes fewer jobs than asked for.
#[derive(Debug)]
struct Host;

impl Executor for Host {
    fn max_workers(&self) -> NonZeroUsize {
        NonZeroUsize::MIN.saturating_add(2)
    }

    fn run(&self, count: u32, job: &(dyn Fn() + Sync)) -> zcodec::Result<()> {
        std::thread::scope(|scope| {
            (1..count).for_each(|_| drop(scope.spawn(job)));
            job();
        });
        Ok(())
    }
}

/// A shard of up to 4 by 4 inner chunks of 64 KiB and more, each with a padding.
fn chain(input: &Input<'_>) -> Option<Chain> {
    let rows = 16 + usize::from(input.inner_rows % 16);
    let shape = input.shards.map(|count| 1 + usize::from(count % 4));
    let pad = json!({"name": "pad", "configuration": {"location": "end", "nbytes": input.padding_size}});
    let mut inner = vec![json!("bytes"), pad];
    if input.compresses {
        inner.push(json!({"name": "zstd", "configuration": {"level": -5}}));
    }
    let shard = json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [rows, 4096], "codecs": inner, "index_codecs": ["bytes", "crc32c"]}}]);
    let decoded = json!({"data_type": "uint8", "shape": [shape[0] * rows, shape[1] * 4096], "fill_value": 255});
    Chain::new(shard.to_string().as_bytes(), Some(decoded.to_string().as_bytes())).ok()
}

fuzz_target!(|input: Input<'_>| {
    let Some(mut chain) = chain(&input) else { return };
    let hook =
        Arc::new(Hook { generate_fails: input.generate_fails, check_fails: input.check_fails, ..Hook::default() });
    let set =
        chain.set_padding_hook_at(&[(None, 0), (Some("codecs"), 1)], Some(Arc::clone(&hook) as Arc<dyn PaddingHook>));
    set.expect("there is a pad codec");
    let options = match input.uses_executor {
        true => CallOptions { executor: Some(Arc::new(Host)), ..CallOptions::default() },
        false => with_threads(3),
    };
    let size = chain.decoded_size().expect("an array") as usize;
    let mut decoded: Vec<u8> = (0..size).map(|at| (at / 1000) as u8 ^ input.seed).collect();
    for (to, from) in decoded.iter_mut().zip(input.bytes) {
        *to = *from;
    }
    let encoded = match chain.encode_to_vec(&decoded, &options) {
        Ok(encoded) => encoded,
        Err(error) => {
            assert!(error.status() == Status::CallbackFailed && input.generate_fails.is_some(), "{error}");
            return;
        }
    };
    match chain.decode_to_vec(&encoded, &options) {
        Ok(again) => {
            assert!(again == decoded, "a shard does not come back");
            assert_eq!(hook.checked.load(Ordering::Relaxed), hook.generated.load(Ordering::Relaxed), "callbacks");
        }
        Err(error) => assert!(error.status() == Status::CorruptData && input.check_fails.is_some(), "{error}"),
    }
});
