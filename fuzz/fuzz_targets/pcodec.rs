//! Any bytes as a pco stream of any type: `type, count (2 bytes), stream`. No other target fuzzes its decoder this way.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zcodec::chain::Chain;
use zcodec_fuzz::decode_every_way;

const TYPES: [&str; 11] =
    ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"];

fuzz_target!(|data: &[u8]| {
    let Some(([kind, low, high], stream)) = data.split_first_chunk() else { return };
    let data_type = TYPES[usize::from(*kind) % TYPES.len()];
    let count = u16::from_le_bytes([*low, *high]);
    let input = format!(r#"{{"data_type":"{data_type}","shape":[{count}],"fill_value":0}}"#);
    if let Ok(chain) = Chain::new(br#"["numcodecs.pcodec"]"#, Some(input.as_bytes())) {
        decode_every_way(&chain, stream);
    }
});
