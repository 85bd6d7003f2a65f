//! Any bytes through a chain that is always valid, and that may first have encoded them.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use zcodec::chain::CallOptions;
use zcodec_fuzz::decode_every_way;
use zcodec_fuzz::structured::ChainSpec;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    chain: ChainSpec,
    /// A change to an encoded chunk: this value is added to the byte at a position.
    damage: Vec<(u16, u8)>,
    cut: u8,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let Some(chain) = input.chain.build() else { return };
    decode_every_way(&chain, input.bytes);
    let decoded = input.chain.elements(&chain, input.bytes);
    if let Ok(mut encoded) = chain.encode_to_vec(&decoded, &CallOptions::default()) {
        for (position, added) in &input.damage {
            let position = usize::from(*position) % encoded.len().max(1);
            if let Some(byte) = encoded.get_mut(position) {
                *byte = byte.wrapping_add(*added);
            }
        }
        encoded.truncate(encoded.len() - encoded.len().min(usize::from(input.cut)));
        decode_every_way(&chain, &encoded);
    }
});
