//! Boxes and views of any numbers through the C interface: no byte outside `memory` is written, and what is decoded lies
//! where the numbers say.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::ptr::{null, null_mut};
use zcodec::capi::{
    zcodec_box, zcodec_chain_free, zcodec_chain_new, zcodec_decode_view, zcodec_encode_view, zcodec_status, zcodec_view,
};

#[derive(Debug, Arbitrary)]
struct Input {
    chain: u8,
    start: Option<[Number; 2]>,
    shape: Option<[Number; 2]>,
    strides: Option<[Number; 2]>,
    offset: Number,
    memory_size: u8,
    ndim: u8,
}

/// Mostly small, sometimes at a limit.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Number {
    Small(i8),
    Limit(bool, i8),
    Any(i64),
}

impl Number {
    fn get(self) -> i64 {
        match self {
            Self::Small(number) => i64::from(number),
            Self::Limit(is_most, number) => (if is_most { i64::MAX } else { i64::MIN }).wrapping_add(i64::from(number)),
            Self::Any(number) => number,
        }
    }
}

const CODECS: [&str; 4] = [
    r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#,
    r#"["packbits"]"#,
    r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "little"}}, "zstd"]"#,
    r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [3, 2],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#,
];
const INPUT: &str = r#"{"data_type": "uint16", "shape": [6, 4], "fill_value": 7}"#;
const SHAPE: [u64; 2] = [6, 4];
const GUARD: usize = 64;

fuzz_target!(|input: Input| {
    let codecs = CODECS[usize::from(input.chain) % CODECS.len()];
    let mut chain = null_mut();
    // SAFETY: texts with their sizes; no error is wanted.
    let made = unsafe {
        zcodec_chain_new(
            codecs.as_ptr().cast(),
            codecs.len(),
            INPUT.as_ptr().cast(),
            INPUT.len(),
            &mut chain,
            null_mut(),
        )
    };
    assert_eq!(made, zcodec_status::ZCODEC_STATUS_OK);
    let unsigned = |numbers: [Number; 2]| numbers.map(|number| number.get() as u64);
    let (start, shape) = (input.start.map(unsigned), input.shape.map(unsigned));
    let strides = input.strides.map(|numbers| numbers.map(Number::get));
    let ndim = if input.ndim < 250 { 2 } else { usize::from(input.ndim % 4) };
    let pointer = |numbers: &Option<[u64; 2]>| numbers.as_ref().map_or(null(), |numbers| numbers.as_ptr());
    let part =
        zcodec_box { struct_size: size_of::<zcodec_box>(), ndim, start: pointer(&start), shape: pointer(&shape) };
    let memory_size = usize::from(input.memory_size);
    let mut memory = vec![0xA5_u8; memory_size + 2 * GUARD];
    let view = zcodec_view {
        struct_size: size_of::<zcodec_view>(),
        memory: memory[GUARD..].as_mut_ptr().cast(),
        memory_size,
        offset: input.offset.get() as usize,
        ndim,
        strides: strides.as_ref().map_or(null(), |strides| strides.as_ptr()),
    };
    let mut encoded = [0_u8; 1024];
    let mut size = 0;
    // SAFETY: the structs are as the header asks for, except that their numbers may be any.
    let status = unsafe {
        let encode = zcodec_encode_view;
        let status =
            encode(chain, null(), &part, &view, encoded.as_mut_ptr().cast(), encoded.len(), &mut size, null_mut());
        let whole: Vec<u16> = (0..24).collect();
        let mut whole_size = 0;
        let mut bytes = [0_u8; 1024];
        let elements = whole.as_ptr().cast();
        let (to, room) = (bytes.as_mut_ptr().cast(), bytes.len());
        let made = zcodec::capi::zcodec_encode(chain, elements, 48, to, room, &mut whole_size, null_mut());
        assert_eq!(made, zcodec_status::ZCODEC_STATUS_OK);
        let decoded = zcodec_decode_view(chain, null(), bytes.as_ptr().cast(), whole_size, &part, &view, null_mut());
        assert_eq!(decoded, status, "encode and decode judge a view differently");
        zcodec_chain_free(chain);
        status
    };
    let (before, rest) = memory.split_at(GUARD);
    let (inside, after) = rest.split_at(memory_size);
    assert!(before.iter().chain(after).all(|byte| *byte == 0xA5), "a byte outside memory is written");
    if status != zcodec_status::ZCODEC_STATUS_OK {
        assert_eq!(status, zcodec_status::ZCODEC_STATUS_INVALID_ARGUMENT);
        assert!(inside.iter().all(|byte| *byte == 0xA5), "a refused view is written");
        return;
    }
    // The last element to be written is there, whatever shared its bytes.
    let start = start.unwrap_or_default();
    let shape = shape.unwrap_or_else(|| [0, 1].map(|i| SHAPE[i] - start[i]));
    let strides = strides.unwrap_or([2 * shape[1] as i64, 2]);
    let place = |row: u64, column: u64| {
        let steps = i128::from(strides[0]) * i128::from(row) + i128::from(strides[1]) * i128::from(column);
        usize::try_from(i128::from(input.offset.get()) + steps).expect("within memory")
    };
    // A stride of a dimension with one place may be any number.
    let [row_stride, stride] = strides.map(i64::unsigned_abs);
    let are_apart = stride >= 2 && row_stride >= stride.saturating_mul(2 * SHAPE[1]);
    for row in 0..shape[0] {
        for column in 0..shape[1] {
            let at = place(row, column);
            let found = u16::from_ne_bytes([inside[at], inside[at + 1]]);
            let expected = ((start[0] + row) * SHAPE[1] + start[1] + column) as u16;
            assert!(found == expected || !are_apart, "element ({row}, {column})");
        }
    }
});
