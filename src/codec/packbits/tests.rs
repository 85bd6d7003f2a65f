//! Every tier against the definition, and the definition against examples worked out by hand.

use super::field::FieldKind;
use super::{Field, TIERS, parse, reference};
use crate::data_type::{DataType, Scalar};
use crate::error::{Result, Status};
use crate::interface::{Context, Elementwise, Pass};
use crate::json::Configuration;
use crate::representation::{ArrayRepresentation, Representation};
use crate::simd::{Level, available};
use serde_json::{Value, json};
use std::sync::Arc;

/// Bytes around the output, which no kernel may change.
const GUARD: u8 = 0xA5;
const GUARD_SIZE: usize = 64;

fn random_bytes(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..size).map(|_| byte()).collect()
}

/// Runs a kernel into a dirty, unaligned output of this size, and checks that nothing around it changes.
fn run(size: usize, offset: usize, kernel: impl FnOnce(&mut [u8]) -> Result<()>) -> Vec<u8> {
    let mut output = vec![GUARD; offset + size + GUARD_SIZE];
    kernel(&mut output[offset..offset + size]).expect("a kernel has no errors");
    let is_guard = |bytes: &[u8]| bytes.iter().all(|byte| *byte == GUARD);
    assert!(is_guard(&output[..offset]) && is_guard(&output[offset + size..]), "wrote outside");
    output[offset..offset + size].to_vec()
}

fn every_kernel(field: &Field) -> impl Iterator<Item = (Level, Arc<dyn Elementwise>)> {
    available(TIERS).filter_map(move |tier| Some((tier.level, (tier.kernel)(field)?)))
}

/// Compares each tier with the definition, on components in `source` and packed bytes in `source`.
fn compare(field: &Field, source: &[u8], lengths: impl Iterator<Item = usize> + Clone) {
    let kernels: Vec<_> = every_kernel(field).collect();
    for length in lengths {
        let (decoded_size, packed_size) = (length * field.size, field.packed_size(length).expect("it is small"));
        let offset = length % 37;
        let decoded = &source[offset..offset + decoded_size];
        let encoded = &source[offset..offset + packed_size];
        let mut expected_encoded = vec![0; packed_size];
        reference::encode(field, decoded, &mut expected_encoded);
        let mut expected_decoded = vec![0; decoded_size];
        reference::decode(field, encoded, &mut expected_decoded);
        for (level, kernel) in &kernels {
            let place = || format!("tier {level:?}, {field:?}, length {length}");
            let packed = run(packed_size, offset, |output| kernel.encode(decoded, output));
            assert_eq!(packed, expected_encoded, "encode: {}", place());
            let unpacked = run(decoded_size, offset, |output| kernel.decode(encoded, output));
            assert_eq!(unpacked, expected_decoded, "decode: {}", place());
        }
    }
}

fn field(kind: FieldKind, size: usize, first_bit: u32, last_bit: u32) -> Field {
    Field { kind, size, first_bit, bits: last_bit - first_bit + 1 }
}

#[test]
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
fn neon_is_among_the_tiers() {
    for field in
        [field(FieldKind::Bool, 1, 0, 0), field(FieldKind::Signed, 1, 2, 5), field(FieldKind::Unsigned, 8, 3, 60)]
    {
        assert!(every_kernel(&field).any(|(level, _)| level == Level::Neon), "{field:?}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn avx512_is_among_the_tiers_where_the_processor_has_it() {
    let has_it = is_x86_feature_detected!("avx512vbmi2");
    for field in
        [field(FieldKind::Bool, 1, 0, 0), field(FieldKind::Signed, 1, 2, 5), field(FieldKind::Unsigned, 8, 3, 60)]
    {
        assert_eq!(every_kernel(&field).any(|(level, _)| level == Level::Avx512), has_it, "{field:?}");
    }
}

fn every_field(size: usize) -> impl Iterator<Item = Field> {
    let bits = 8 * size as u32;
    let ranges = (0..bits).flat_map(move |first| (first..bits).map(move |last| (first, last)));
    ranges.flat_map(move |(first, last)| {
        [FieldKind::Signed, FieldKind::Unsigned].map(|kind| field(kind, size, first, last))
    })
}

const LONG: [usize; 3] = [1021, 4096, 6007];

#[test]
fn every_tier_packs_bools_like_the_definition_at_every_length() {
    let mut source = random_bytes(1 << 16, 1);
    source.iter_mut().step_by(3).for_each(|byte| *byte = 0);
    compare(&field(FieldKind::Bool, 1, 0, 0), &source, (0..=600).chain(LONG));
}

#[test]
fn every_tier_is_the_definition_in_every_range_of_8_bits_at_every_length() {
    let source = random_bytes(1 << 16, 2);
    every_field(1).for_each(|field| compare(&field, &source, (0..=200).chain(LONG)));
}

#[test]
fn every_tier_is_the_definition_in_every_range_of_16_bits_at_every_length() {
    let source = random_bytes(1 << 16, 3);
    every_field(2).for_each(|field| compare(&field, &source, (0..=200).chain([4099])));
}

#[test]
fn every_tier_is_the_definition_in_every_range_of_32_bits() {
    let source = random_bytes(1 << 16, 4);
    for (index, field) in every_field(4).enumerate() {
        compare(&field, &source, (index % 13..=200).step_by(13).chain([1031]));
    }
}

#[test]
fn every_tier_is_the_definition_in_every_range_of_64_bits() {
    let source = random_bytes(1 << 16, 5);
    for (index, field) in every_field(8).enumerate() {
        compare(&field, &source, (index % 61..=200).step_by(61).chain([(index % 4 == 0).into(), 259]));
    }
}

#[test]
fn every_tier_is_the_definition_at_every_length_for_wide_components() {
    let source = random_bytes(1 << 16, 6);
    for bits in 1..=64_u32 {
        for kind in [FieldKind::Signed, FieldKind::Unsigned] {
            compare(&field(kind, 8, (64 - bits) / 3, (64 - bits) / 3 + bits - 1), &source, 0..=200);
            if bits <= 32 {
                compare(&field(kind, 4, (32 - bits) / 3, (32 - bits) / 3 + bits - 1), &source, 0..=200);
            }
        }
    }
}

#[test]
fn every_tier_is_the_definition_in_large_arrays_at_every_address() {
    let source = random_bytes(1 << 16, 8);
    for size in [1, 2, 4, 8] {
        for (first_bit, last_bit) in [(0, 0), (0, 3), (1, 5), (0, 8 * size - 2)] {
            let lengths = 5000 / size as usize..5000 / size as usize + 37;
            compare(&field(FieldKind::Signed, size as usize, first_bit, last_bit), &source, lengths);
        }
    }
    compare(&field(FieldKind::Bool, 1, 0, 0), &source, 5000..5037);
}

#[test]
fn raw_elements_are_little_endian_numbers() {
    let field = field(FieldKind::Raw, 3, 4, 15);
    compare(&field, &random_bytes(1 << 12, 7), 0..=50);
    let mut encoded = [0; 3];
    reference::encode(&field, &[0x10, 0x32, 0xFF, 0x50, 0x76, 0xFF], &mut encoded);
    assert_eq!(encoded, [0x21, 0x53, 0x76]);
}

fn bind(data_type: &str, configuration: &Value) -> Result<(Arc<dyn Elementwise>, usize)> {
    let codec = parse(Configuration::new(configuration.as_object().cloned()), &Context::new(crate::codec::built_in()))?;
    let data_type = DataType::from_name(data_type)?;
    let fill_value = Scalar(vec![0; data_type.size()].into());
    let decoded = Representation::Array(ArrayRepresentation::new(data_type, vec![1], Some(fill_value))?);
    match codec.bind(&decoded)?.pass {
        Pass::Elementwise { kernels, .. } => Ok((Arc::clone(&kernels[0].kernel), kernels[0].encoded_bits)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_last_packed_bit_is_the_sign_of_an_integer_and_of_nothing_else() {
    let cases = [
        ("int4", json!({}), 4, 0b1001, vec![0b1111_1001]),
        ("uint4", json!({}), 4, 0b1001, vec![0b0000_1001]),
        ("int4", json!({"first_bit": 1, "last_bit": 2}), 2, 0b10, vec![0b1111_1100]),
        ("int8", json!({"first_bit": 2, "last_bit": 4}), 3, 0b101, vec![0b1111_0100]),
        ("int16", json!({"first_bit": 4, "last_bit": 8}), 5, 0b1_0001, 0xFF10_u16.to_ne_bytes().to_vec()),
        ("uint16", json!({"first_bit": 4, "last_bit": 8}), 5, 0b1_0001, 0x0110_u16.to_ne_bytes().to_vec()),
        ("float32", json!({"first_bit": 30}), 2, 0b10, 0x8000_0000_u32.to_ne_bytes().to_vec()),
        ("complex_float4_e2m1fn", json!({}), 8, 0x93, vec![0x03, 0x09]),
    ];
    for (data_type, configuration, encoded_bits, encoded, decoded) in cases {
        let (kernel, bits) = bind(data_type, &configuration).expect("it is valid");
        assert_eq!(bits, encoded_bits, "{data_type} {configuration}");
        let found = run(decoded.len(), 1, |output| kernel.decode(&[encoded], output));
        assert_eq!(found, decoded, "{data_type} {configuration}");
        assert_eq!(run(1, 1, |output| kernel.encode(&decoded, output)), [encoded], "{data_type} {configuration}");
    }
}

#[test]
fn aliases_are_read_and_the_names_of_the_text_are_written() {
    let read = json!({"start_bit": 1, "end_bit": 6, "padding_encoding": "end_byte"});
    let written = json!({"padding_encoding": "last_byte", "first_bit": 1, "last_bit": 6});
    for configuration in [&read, &written] {
        let context = Context::new(crate::codec::built_in());
        let codec = parse(Configuration::new(configuration.as_object().cloned()), &context).unwrap();
        assert_eq!(codec.configuration().map(Value::from), Some(written.clone()));
    }
}

#[test]
fn whole_components_are_copied() {
    for data_type in ["int8", "float8_e5m2", "r24"] {
        assert!(bind(data_type, &json!({})).expect("it is valid").0.is_copy(), "{data_type}");
    }
    assert!(!bind("bool", &json!({})).expect("it is valid").0.is_copy());
}

#[test]
fn metadata_that_fits_no_component_is_refused_with_its_value() {
    let cases = [
        ("uint8", json!({"last_bit": 9}), "last_bit is 9, but uint8 has bits 0 to 7"),
        ("complex64", json!({"first_bit": 32}), "first_bit is 32, but a component of complex64 has bits 0 to 31"),
        ("int8", json!({"first_bit": 3, "last_bit": 2}), "last_bit is 2, less than first_bit, which is 3"),
        ("int8", json!({"start_bit": 3, "end_bit": 2}), "end_bit is 2, less than start_bit, which is 3"),
        ("uint8", json!({"start_bit": 8}), "start_bit is 8, but uint8 has bits 0 to 7"),
        ("int8", json!({"first_bit": 3, "start_bit": 3}), "first_bit and start_bit are the same"),
        ("int8", json!({"end_bit": null, "last_bit": null}), "last_bit and end_bit are the same"),
        ("int8", json!({"end_bit": "3"}), "end_bit is \"3\", expected"),
        ("int8", json!({"padding_encoding": null}), "padding_encoding is null, expected"),
        ("int8", json!({"bits": 3}), "unknown member \"bits\""),
    ];
    for (data_type, configuration, message) in cases {
        let error = bind(data_type, &configuration).expect_err(message);
        assert_eq!(error.status(), Status::InvalidMetadata, "{configuration}");
        assert!(error.to_string().contains(message), "{configuration}: {error}");
    }
}
