//! Any text as metadata, in both constructors: it is refused, or makes a chain that answers every question, and that
//! can be made again from its own canonical metadata.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zcodec::chain::Chain;
use zcodec_fuzz::Texts;

fuzz_target!(|data: &[u8]| {
    if let Ok(chain) = Chain::from_zarr_json(data) {
        ask(&chain, Some(&chain.input().to_json().to_string()));
    }
    let texts = Texts::split(data);
    if let Ok(chain) = Chain::new(texts.codecs, texts.input) {
        let input = texts.input.map(|_| chain.input().to_json().to_string());
        ask(&chain, input.as_deref());
    }
});

fn ask(chain: &Chain, input: Option<&str>) {
    let canonical = chain.codecs_json().to_string();
    let again = Chain::new(canonical.as_bytes(), input.map(str::as_bytes)).expect("canonical metadata is valid");
    assert_eq!(again.codecs_json().to_string(), canonical);
    assert_eq!(again.output().to_json(), chain.output().to_json());
    assert_eq!(again.warnings_json(), chain.warnings_json());
    if let Some(size) = chain.decoded_size() {
        assert_eq!(again.encoded_bound(size), chain.encoded_bound(size));
    }
    let _ = chain.with_shape(&[3, 5]);
    let _ = chain.with_shape(&[]);
}
