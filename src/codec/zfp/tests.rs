//! Whole chunks: against `zfp-rs` over whole fields, which the C library's tests hold to its bytes, and on what no
//! encode has made.

use crate::codec::zfp::backend::Backend;
use crate::codec::zfp::mode::Mode;
use crate::data_type::{DataType, Scalar};
use crate::error::{Result, Status};
use crate::interface::{Call, CallOptions, Codec, Contexts, Pass, Transform};
use crate::json::Configuration;
use crate::representation::{ArrayRepresentation, ByteSize, Representation};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zfp_rs::{ZfpBitStream, ZfpConfig, ZfpDimensionality, ZfpField, ZfpScalar, ZfpStreamAlignment};

/// Those that give the same bytes.
fn our_backends() -> Vec<Backend> {
    if Backend::chosen() == Backend::ZfpRs { vec![Backend::ZfpRs] } else { vec![Backend::ZfpRs, Backend::chosen()] }
}

/// The laws, other than the bytes, that hold for each.
fn backends() -> Vec<Backend> {
    #[cfg_attr(not(feature = "zfp-sys"), expect(unused_mut, reason = "there are no more"))]
    let mut backends = our_backends();
    #[cfg(feature = "zfp-sys")]
    backends.push(Backend::CLibrary);
    backends
}

const SHAPES: [&[u64]; 14] = [
    &[],
    &[1],
    &[4],
    &[7],
    &[70],
    &[4, 8],
    &[5, 6],
    &[1, 9],
    &[4, 4, 8],
    &[3, 5, 6],
    &[9, 1, 1],
    &[4, 4, 4, 4],
    &[2, 3, 5, 3],
    &[5, 1, 6, 7],
];

fn modes() -> Vec<Value> {
    vec![
        json!({"mode": "reversible"}),
        json!({"mode": "fixed_rate", "rate": 10.5}),
        json!({"mode": "fixed_rate", "rate": 60}),
        json!({"mode": "fixed_precision", "precision": 17}),
        json!({"mode": "fixed_precision", "precision": 0}),
        json!({"mode": "fixed_accuracy", "tolerance": 0.03}),
        json!({"mode": "fixed_accuracy", "tolerance": 0}),
        json!({"mode": "expert", "minbits": 20, "maxbits": 400, "maxprec": 25, "minexp": -8}),
        json!({"mode": "expert", "minbits": 0, "maxbits": 5000, "maxprec": 64, "minexp": -1075}),
        json!({"mode": "expert", "minbits": 99, "maxbits": 99, "maxprec": 64, "minexp": -1080}),
    ]
}

pub(super) struct Bound {
    transform: Arc<dyn Transform>,
    size: ByteSize,
    decoded_size: usize,
    contexts: Contexts,
    options: CallOptions,
}

pub(super) fn bind(configuration: &Value, data_type: &str, shape: &[u64]) -> Result<Bound> {
    bind_to(Backend::chosen(), configuration, data_type, shape)
}

pub(super) fn bind_to(backend: Backend, configuration: &Value, data_type: &str, shape: &[u64]) -> Result<Bound> {
    let mode = Mode::parse(Configuration::new(configuration.as_object().cloned()))?;
    let data_type = DataType::from_name(data_type)?;
    let fill_value = Scalar(vec![0; data_type.size()].into());
    let decoded = ArrayRepresentation::new(data_type, shape.to_vec(), Some(fill_value))?;
    let decoded_size = decoded.size() as usize;
    let bound = (super::Zfp { mode, backend, header: None }).bind(&Representation::Array(decoded))?;
    let size = bound.encoded.size();
    match bound.pass {
        Pass::Transform(transform) => {
            Ok(Bound { transform, size, decoded_size, contexts: Contexts::default(), options: CallOptions::default() })
        }
        other => panic!("{other:?}"),
    }
}

impl Bound {
    fn call(&mut self) -> Call<'_> {
        Call { options: &self.options, hooks: None, contexts: &mut self.contexts }
    }

    pub(super) fn encode(&mut self, decoded: &[u8]) -> Result<Vec<u8>> {
        let mut encoded = vec![0xA5; self.size.upper_bound().unwrap() as usize];
        let size = self.transform.clone().encode(decoded, &mut encoded, &mut self.call())?;
        encoded.truncate(size);
        Ok(encoded)
    }

    pub(super) fn decode(&mut self, encoded: &[u8]) -> Result<Vec<u8>> {
        let mut decoded = vec![0xA5; self.decoded_size];
        let size = self.transform.clone().decode(encoded, &mut decoded, &mut self.call())?;
        assert_eq!(size, self.decoded_size);
        Ok(decoded)
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// One of zfp's types, in fields that look like data.
pub(super) trait Sample: ZfpScalar + PartialEq + std::fmt::Debug {
    const NAME: &'static str;
    fn of(value: f64) -> Self;
    fn specials() -> Vec<Self>;
}

macro_rules! sample {
    ($type:ident, $specials:expr) => {
        impl Sample for $type {
            const NAME: &'static str = stringify!($type);
            fn of(value: f64) -> Self {
                value as $type
            }
            fn specials() -> Vec<Self> {
                $specials.to_vec()
            }
        }
    };
}

sample!(i32, [0, 1, -1, (1 << 30) - 1, -(1 << 30) + 1]);
sample!(i64, [0, 1, -1, (1 << 62) - 1, -(1 << 62) + 1]);
sample!(f32, [0.0, -0.0, 1e-20, f32::MAX, f32::MIN, 3.0e38, -1.0]);
sample!(f64, [0.0, -0.0, 1e-200, f64::MAX, f64::MIN, 1.0e308, -1.0]);

fn smooth<T: Sample>(count: usize) -> Vec<T> {
    let mut state = 7;
    (0..count)
        .map(|i| {
            let noise = (splitmix(&mut state) >> 40) as f64 / f64::from(1 << 24);
            T::of(1000.0 * (i as f64 * 0.01).sin() + noise)
        })
        .collect()
}

fn special<T: Sample>(count: usize) -> Vec<T> {
    let specials = T::specials();
    let mut state = 11;
    (0..count)
        .map(|i| if i % 90 < 70 { specials[splitmix(&mut state) as usize % specials.len()] } else { specials[0] })
        .collect()
}

pub(super) fn config<T: Sample>(mode: &Value, dims: ZfpDimensionality) -> ZfpConfig {
    let number = |member: &str| mode[member].as_f64().unwrap();
    match mode["mode"].as_str().unwrap() {
        "reversible" => ZfpConfig::reversible(),
        "fixed_rate" => {
            ZfpConfig::fixed_rate(number("rate"), T::SCALAR_TYPE, dims, ZfpStreamAlignment::Unaligned).unwrap()
        }
        "fixed_precision" => ZfpConfig::fixed_precision(number("precision") as u32),
        "fixed_accuracy" => ZfpConfig::fixed_accuracy(number("tolerance")),
        _ => ZfpConfig::expert(
            number("minbits") as u32,
            number("maxbits") as u32,
            number("maxprec") as u32,
            number("minexp") as i32,
        )
        .unwrap(),
    }
}

/// The sizes of a field from x on.
pub(super) fn dims_of(shape: &[u64]) -> [usize; 4] {
    let mut dims = [0; 4];
    dims[0] = 1;
    for (dim, size) in dims.iter_mut().zip(shape.iter().rev()) {
        *dim = *size as usize;
    }
    dims
}

pub(super) fn for_each_case<T: Sample>(mut check: impl FnMut(&Value, &[u64], &[T])) {
    for shape in SHAPES {
        let count = shape.iter().product::<u64>() as usize;
        for mode in modes() {
            check(&mode, shape, &smooth(count));
            check(&mode, shape, &special(count));
        }
    }
}

fn check_against_whole_fields<T: Sample>() {
    for_each_case::<T>(|mode, shape, values| {
        let dims = dims_of(shape);
        let field = ZfpField::new(values, dims).unwrap();
        let config = config::<T>(mode, field.dimensionality());
        let mut stream = ZfpBitStream::new(config.maximum_size(T::SCALAR_TYPE, dims).unwrap()).unwrap();
        stream.compress(&config, &field).unwrap();
        let decoded: &[u8] = bytemuck::cast_slice(values);
        let name = data_type_name::<T>();
        let encoded: Vec<u8> = stream.as_words().iter().flat_map(|word| word.to_le_bytes()).collect();
        let encoded_size = stream.as_bytes().len();
        stream.rewind();
        let mut expected = vec![T::default(); values.len()];
        stream.decompress(&config, &mut zfp_rs::ZfpFieldMut::new(&mut expected, dims).unwrap()).unwrap();
        for backend in our_backends() {
            let case = format!("{name} {shape:?} {mode} {backend:?}");
            let mut bound = bind_to(backend, mode, name, shape).unwrap();
            assert_eq!(bound.encode(decoded).unwrap(), encoded, "{case}");
            if let Some(size) = bound.size.size_when_written() {
                assert_eq!(size, encoded_size as u64, "{case}");
            }
            assert_eq!(bound.decode(&encoded).unwrap(), bytemuck::cast_slice::<T, u8>(&expected), "{case}");
        }
    });
}

pub(super) fn data_type_name<T: Sample>() -> &'static str {
    match T::NAME {
        "i32" => "int32",
        "i64" => "int64",
        "f32" => "float32",
        _ => "float64",
    }
}

#[test]
fn every_mode_gives_the_bytes_and_the_values_of_the_whole_field() {
    check_against_whole_fields::<i32>();
    check_against_whole_fields::<i64>();
    check_against_whole_fields::<f32>();
    check_against_whole_fields::<f64>();
}

const ALL_TYPES: [&str; 27] = [
    "int2",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint2",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "bfloat16",
    "float16",
    "float32",
    "float64",
];

/// Bytes that are elements of this type as they lie in memory.
fn canonical(data_type: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    let component = DataType::from_name(data_type).unwrap().component();
    for cell in bytes.chunks_mut(component.size()) {
        component.store(component.load(cell), cell);
    }
    // The upper half of unsigned types of 32 and 64 bits is out of range.
    if ["uint32", "uint64"].contains(&data_type) {
        let top = component.size() - 1;
        let top = if cfg!(target_endian = "big") { 0 } else { top };
        bytes.iter_mut().skip(top).step_by(component.size()).for_each(|byte| *byte &= 0x7F);
    }
    bytes
}

fn random(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    (0..size).map(|_| splitmix(&mut state) as u8).collect()
}

#[test]
fn reversible_mode_returns_all_bits_of_every_type() {
    for data_type in ALL_TYPES {
        for shape in SHAPES {
            for mode in [json!({"mode": "reversible"}), modes().remove(8)] {
                let mut bound = bind(&mode, data_type, shape).unwrap();
                let decoded = canonical(data_type, random(bound.decoded_size, 3));
                if mode["mode"] == "expert" && shape.len() > 2 {
                    continue; // blocks of noise take more than its 5000 bits
                }
                let encoded = bound.encode(&decoded).unwrap();
                assert_eq!(bound.decode(&encoded).unwrap(), decoded, "{data_type} {shape:?} {mode}");
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    for backend in backends() {
        let shapes: [&[u64]; 4] = [&[200_001], &[1, 401, 500], &[3, 240, 280], &[70, 30, 110]];
        for shape in shapes {
            let values: Vec<f32> = smooth(shape.iter().product::<u64>() as usize);
            let decoded: &[u8] = bytemuck::cast_slice(&values);
            for mode in modes().into_iter().step_by(2) {
                let mut bound = bind_to(backend, &mode, "float32", shape).unwrap();
                let encoded = bound.encode(decoded).unwrap();
                let expected = bound.decode(&encoded).unwrap();
                for threads in [2, 3] {
                    bound.options.max_threads = NonZeroUsize::new(threads).unwrap();
                    assert!(bound.encode(decoded).unwrap() == encoded, "{shape:?} {mode}, {threads} threads");
                    assert!(bound.decode(&encoded).unwrap() == expected, "{shape:?} {mode}, {threads} threads");
                }
            }
        }
    }
}

#[test]
fn calls_that_alternate_keep_the_memory_of_both_directions() {
    let mut bound = bind(&json!({"mode": "reversible"}), "uint8", &[5, 6, 7]).unwrap();
    let decoded = random(bound.decoded_size, 1);
    for _ in 0..2 {
        let mut shifted = vec![0; 1];
        shifted.extend(bound.encode(&decoded).unwrap());
        assert_eq!(bound.decode(&shifted[1..]).unwrap(), decoded);
        let scratch = bound.contexts.get(|| Ok(super::Scratch::default())).unwrap();
        assert!(!scratch.parts.is_empty() && !scratch.words.is_empty());
    }
}

#[test]
fn the_first_element_out_of_range_is_named_whatever_the_threads() {
    let shape = [64, 64, 64];
    let mut values: Vec<f32> = smooth(64 * 64 * 64);
    for index in [200_000, 130_001, 5] {
        values[index] = f32::NAN;
        for threads in [1, 4] {
            let mut bound = bind(&json!({"mode": "fixed_precision", "precision": 20}), "float32", &shape).unwrap();
            bound.options.max_threads = NonZeroUsize::new(threads).unwrap();
            let error = bound.encode(bytemuck::cast_slice(&values)).unwrap_err();
            assert_eq!(error.status(), Status::OutOfRange);
            assert_eq!(error.element_index(), Some(index as u64), "{threads} threads");
            assert_eq!(
                error.to_string(),
                format!("element {index} is NaN, but mode fixed_precision keeps only finite values of float32")
            );
        }
    }
    let mut bound = bind(&json!({"mode": "reversible"}), "uint32", &[2]).unwrap();
    let error = bound.encode(bytemuck::cast_slice(&[7_u32, u32::MAX])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "element 1 is 4294967295, but mode reversible keeps only values up to 2147483647 of uint32"
    );
}

#[test]
fn every_alignment_gives_the_same() {
    let mut bound = bind(&json!({"mode": "reversible"}), "float64", &[5, 6, 7]).unwrap();
    let values: Vec<f64> = smooth(210);
    let encoded = bound.encode(bytemuck::cast_slice(&values)).unwrap();
    for shift in 1..8 {
        let mut decoded = vec![0; shift];
        decoded.extend_from_slice(bytemuck::cast_slice(&values));
        let mut output = vec![0; shift + encoded.len()];
        let transform = bound.transform.clone();
        assert_eq!(
            transform.encode(&decoded[shift..], &mut output[shift..], &mut bound.call()).unwrap(),
            encoded.len()
        );
        assert_eq!(output[shift..], encoded);
        let mut back = vec![0; decoded.len()];
        transform.decode(&output[shift..], &mut back[shift..], &mut bound.call()).unwrap();
        assert_eq!(back, decoded);
    }
}

#[test]
fn every_capacity_that_is_too_small_is_reported() {
    for (mode, shape) in modes().into_iter().flat_map(|mode| [(mode.clone(), &[9, 10][..]), (mode, &[3, 5, 6])]) {
        let mut bound = bind(&mode, "float32", shape).unwrap();
        let values: Vec<f32> = smooth(90);
        let decoded: &[u8] = bytemuck::cast_slice(&values);
        let size = bound.encode(decoded).unwrap().len();
        for capacity in 0..size {
            let mut encoded = vec![0; capacity];
            let error = bound.transform.clone().encode(decoded, &mut encoded, &mut bound.call()).unwrap_err();
            assert_eq!(error.status(), Status::BufferTooSmall, "{mode}, capacity {capacity} of {size}");
        }
        let mut encoded = vec![0; size];
        assert_eq!(bound.transform.clone().encode(decoded, &mut encoded, &mut bound.call()).unwrap(), size);
    }
}

/// A stream that no encoder made: it decodes or is corrupt, in little time.
fn check_hostile(bound: &mut Bound, encoded: &[u8]) {
    let start = Instant::now();
    match bound.decode(encoded) {
        Ok(decoded) => assert_eq!(decoded.len(), bound.decoded_size),
        Err(error) => assert_eq!(error.status(), Status::CorruptData, "{error}"),
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn streams_cut_at_every_byte_are_corrupt_or_decode_to_something() {
    for backend in backends() {
        for data_type in ["int32", "float32", "float64", "uint8", "float16", "float8_e5m2"] {
            for mode in modes() {
                for shape in [&[6, 7][..], &[3, 5, 3]] {
                    let mut bound = bind_to(backend, &mode, data_type, shape).unwrap();
                    let decoded = vec![0x3C; bound.decoded_size];
                    let encoded = bound.encode(&decoded).unwrap();
                    for size in 0..encoded.len() {
                        check_hostile(&mut bound, &encoded[..size]);
                        if bound.size.size_when_written().is_some() && size + 8 <= encoded.len() {
                            let error = bound.decode(&encoded[..size]).unwrap_err();
                            assert_eq!(error.status(), Status::CorruptData, "{mode}, {size} bytes");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn flipped_bits_and_random_streams_do_no_harm() {
    for backend in backends() {
        for data_type in ["int32", "int64", "float32", "float64", "int4", "bfloat16", "float8_e8m0fnu"] {
            for mode in modes() {
                for shape in [&[6_u64, 7][..], &[3, 5, 3], &[3, 3, 3, 3]] {
                    let mut bound = bind_to(backend, &mode, data_type, shape).unwrap();
                    let mut encoded = bound.encode(&vec![1; bound.decoded_size]).unwrap();
                    for bit in 0..8 * encoded.len() {
                        encoded[bit / 8] ^= 1 << (bit % 8);
                        check_hostile(&mut bound, &encoded);
                        encoded[bit / 8] ^= 1 << (bit % 8);
                    }
                    let most = bound.size.upper_bound().unwrap() as usize;
                    for seed in 0..40 {
                        let size = (seed as usize * most / 39).min(most);
                        check_hostile(&mut bound, &random(size, seed));
                        check_hostile(&mut bound, &vec![0xFF; size]);
                    }
                }
            }
        }
    }
}

#[test]
fn a_stream_over_the_bound_is_corrupt() {
    for backend in backends() {
        for mode in modes() {
            let mut bound = bind_to(backend, &mode, "float32", &[3, 5, 6]).unwrap();
            let most = bound.size.upper_bound().unwrap();
            let error = bound.decode(&vec![0; most as usize + 1]).unwrap_err();
            assert_eq!(error.status(), Status::CorruptData, "{mode}");
        }
    }
}

#[test]
fn the_last_word_may_be_cut_short() {
    for backend in backends() {
        for mode in [json!({"mode": "reversible"}), json!({"mode": "fixed_rate", "rate": 5})] {
            let mut bound = bind_to(backend, &mode, "float32", &[5, 6]).unwrap();
            let values: Vec<f32> = smooth(30);
            let encoded = bound.encode(bytemuck::cast_slice(&values)).unwrap();
            let decoded = bound.decode(&encoded).unwrap();
            let used = encoded.iter().rposition(|byte| *byte != 0).unwrap() + 1;
            let used = used.max(encoded.len() - 7);
            for size in used..encoded.len() {
                assert_eq!(
                    bound.decode(&encoded[..size]).unwrap(),
                    decoded,
                    "{mode}, {size} of {} bytes",
                    encoded.len()
                );
            }
        }
    }
}

#[test]
fn a_fixed_rate_that_was_computed_for_three_dimensions_is_read() {
    let mode = json!({"mode": "fixed_rate", "rate": 8});
    for shape in [&[9_u64][..], &[5, 6], &[2, 3, 5, 3]] {
        let values: Vec<f32> = smooth(shape.iter().product::<u64>() as usize);
        let config = ZfpConfig::fixed_rate(8.0, f32::SCALAR_TYPE, ZfpDimensionality::D3, ZfpStreamAlignment::Unaligned);
        let config = config.unwrap();
        let dims = dims_of(shape);
        let mut stream = ZfpBitStream::new(1 << 16).unwrap();
        stream.compress(&config, &ZfpField::new(&values, dims).unwrap()).unwrap();
        let encoded: Vec<u8> = stream.as_words().iter().flat_map(|word| word.to_le_bytes()).collect();
        stream.rewind();
        let mut expected = vec![0_f32; values.len()];
        stream.decompress(&config, &mut zfp_rs::ZfpFieldMut::new(&mut expected, dims).unwrap()).unwrap();
        let mut bound = bind(&mode, "float32", shape).unwrap();
        assert_ne!(bound.size.size_when_written(), Some(encoded.len() as u64), "{shape:?}");
        assert_eq!(bound.decode(&encoded).unwrap(), bytemuck::cast_slice::<f32, u8>(&expected), "{shape:?}");
    }
}

/// A damaged block of a reversible stream may say that it has more bit planes than `maxprec` allows.
#[test]
fn only_blocks_that_are_bounded_also_in_damaged_streams_have_a_fixed_size() {
    let expert = |minbits: u32, maxbits: u32, maxprec: u32, minexp: i32| {
        let [minbits, maxbits, maxprec] = [minbits, maxbits, maxprec].map(|number| json!(number));
        json!({"mode": "expert", "minbits": minbits, "maxbits": maxbits, "maxprec": maxprec, "minexp": minexp})
    };
    for (mode, is_fixed) in [
        (expert(94, 94, 4, -1075), true),
        (expert(94, 16_658, 4, -1075), false),
        (expert(600, 16_658, 64, -1075), true),
        (expert(88, 16_658, 4, -1074), true),
        (expert(87, 16_658, 4, -1074), false),
    ] {
        let bound = bind(&mode, "float32", &[64, 64]).unwrap();
        assert_eq!(bound.size.size_when_written().is_some(), is_fixed, "{mode}");
    }
}

#[test]
fn no_elements_are_no_bytes() {
    for shape in [&[0_u64][..], &[4, 0], &[0, 3, 3], &[u64::MAX, 0]] {
        for mode in modes() {
            let mut bound = bind(&mode, "float32", shape).unwrap();
            assert_eq!(bound.encode(&[]).unwrap(), [0; 0], "{shape:?} {mode}");
            assert_eq!(bound.decode(&[]).unwrap(), [0; 0], "{shape:?} {mode}");
            assert!(bound.decode(&[0]).is_err(), "{shape:?} {mode}");
        }
    }
}

#[test]
fn five_dimensions_and_types_without_numbers_are_unsupported() {
    let mode = json!({"mode": "reversible"});
    let error = bind(&mode, "float32", &[1, 2, 1, 2, 2]).err().unwrap();
    assert_eq!(error.status(), Status::Unsupported);
    assert!(error.to_string().contains("reshape") && error.to_string().contains("squeeze"), "{error}");
    for data_type in ["bool", "complex64", "complex_float16", "r16"] {
        assert_eq!(bind(&mode, data_type, &[4]).err().unwrap().status(), Status::Unsupported, "{data_type}");
    }
}
