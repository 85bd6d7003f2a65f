//! The kernels of every tier against the definition.

use super::bound::{BoundCast, ScaledCast};
use super::map_index::MapIndex;
use super::pipeline::Pipeline;
use super::reference::{Cast, OutOfRange};
use super::tiers::{Kernels, TIERS};
use crate::codec::joint::Joint;
use crate::data_type::{Component, DataType, INTEGERS};
use crate::interface::Elementwise;
use crate::number::{FORMATS, Rounding, Scaling};
use crate::simd::{available, with_limit};
use proptest::prelude::*;

const ROUNDINGS: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::TowardsZero,
    Rounding::TowardsPositive,
    Rounding::TowardsNegative,
    Rounding::NearestAway,
];

fn data_types() -> Vec<DataType> {
    let names = INTEGERS.iter().map(|integer| integer.0).chain(FORMATS.iter().map(|format| format.name));
    names.map(|name| DataType::from_name(name).unwrap()).collect()
}

/// Every cast between two types.
fn casts(source: &DataType, target: &DataType) -> Vec<Cast> {
    let mut casts = Vec::new();
    for rounding in ROUNDINGS {
        for out_of_range in [OutOfRange::Error, OutOfRange::Clamp, OutOfRange::Wrap] {
            let (source, target) = (source.component(), target.component());
            casts.push(Cast { source, target, rounding, out_of_range, scalar_map: Vec::new() });
        }
    }
    casts
}

fn stored(component: Component, patterns: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; patterns.len() * component.size()];
    for (pattern, element) in patterns.iter().zip(bytes.chunks_exact_mut(component.size())) {
        component.store(*pattern, element);
    }
    bytes
}

/// A wrapping cast may leave huge floats to the reference.
fn may_be_left(cast: &Cast) -> bool {
    cast.out_of_range == OutOfRange::Wrap && matches!(cast.target, Component::Int { .. })
}

/// Runs a check with the kernels of every tier of this processor but the reference.
fn in_every_tier(mut check: impl FnMut(&Kernels, &str)) {
    for tier in available(TIERS) {
        if let Some(kernels) = &tier.kernel {
            // Portable loops are compiled for higher levels, too, unless this forbids it.
            with_limit(Some(tier.level), || check(kernels, &format!("tier {:?}", tier.level)));
        }
    }
}

fn check_pipeline(cast: &Cast, patterns: &[u64]) {
    in_every_tier(|kernels, name| check_pipeline_in(kernels, name, cast, patterns));
}

fn check_pipeline_in(kernels: &Kernels, name: &str, cast: &Cast, patterns: &[u64]) {
    let Some(pipeline) = Pipeline::new(cast, kernels) else { return };
    let (good, bad): (Vec<u64>, Vec<u64>) = patterns.iter().partition(|pattern| cast.cast(**pattern).is_some());
    let mut output = vec![0xA5; good.len() * cast.target.size()];
    let mut is_left = vec![false; good.len()];
    pipeline
        .run(&stored(cast.source, &good), &mut output, |first, block, _| {
            assert!(may_be_left(cast), "{cast:?}");
            let count = block.len() / cast.source.size();
            is_left[first..first + count].fill(true);
            Ok::<(), ()>(())
        })
        .unwrap();
    for ((output, pattern), _) in
        output.chunks(cast.target.size()).zip(&good).zip(&is_left).filter(|(_, is_left)| !**is_left)
    {
        let expected = stored(cast.target, &[cast.cast(*pattern).unwrap()]);
        assert_eq!(output, expected, "{name}, {pattern:#x}, {cast:?}");
    }
    for pattern in bad {
        let mut output = vec![0xA5; cast.target.size()];
        let result = pipeline.run(&stored(cast.source, &[pattern]), &mut output, |_, _, _| Err(()));
        assert!(result.is_err(), "{name}, {pattern:#x}, {cast:?}");
    }
}

/// The other tests compare what the kernels do, and pass over casts without one.
#[test]
fn every_tier_has_kernels() {
    let data_types = data_types();
    let of_source = |source| data_types.iter().flat_map(move |target| casts(source, target));
    let all: Vec<Cast> = data_types.iter().flat_map(of_source).collect();
    in_every_tier(|kernels, name| {
        let in_pipelines = all.iter().filter(|cast| Pipeline::new(cast, kernels).is_some()).count();
        let whole = all.iter().filter(|cast| (kernels.whole_cast)(cast).is_some()).count();
        let least_whole = if name.contains("Avx") { 700 } else { 0 };
        assert!(100 * in_pipelines > 98 * all.len(), "{name}: {in_pipelines} of {} casts have a pipeline", all.len());
        assert!(whole >= least_whole, "{name}: {whole} casts have one loop");
    });
}

#[test]
fn every_source_of_up_to_16_bits_is_cast_as_defined() {
    for source in data_types().iter().filter(|source| source.component().bits() <= 16) {
        let patterns: Vec<u64> = (0..1 << source.component().bits()).collect();
        for target in &data_types() {
            for cast in casts(source, target) {
                check_pipeline(&cast, &patterns);
            }
        }
    }
}

/// The bits of `value` and its neighbours in the source type.
fn around(component: Component, value: f64) -> Vec<u64> {
    match component {
        Component::Int { bits, .. } => {
            let mask = u64::MAX >> (64 - bits);
            let nearest = value as i128 as u64;
            (0..5).map(|step| nearest.wrapping_add(step).wrapping_sub(2) & mask).collect()
        }
        Component::Float(format) if format.bits == 32 => {
            let bits = (value as f32).to_bits();
            (0..5).map(|step| bits.wrapping_add(step).wrapping_sub(2).into()).collect()
        }
        _ => (0..5).map(|step| value.to_bits().wrapping_add(step).wrapping_sub(2)).collect(),
    }
}

/// Values of both types, ties between neighbours, bounds; each with its neighbours in the source, and both signs.
fn adversarial(source: Component, target: &DataType) -> Vec<u64> {
    let mut values: Vec<f64> = vec![0.0, f64::INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE, 5e-324];
    for exponent in (-160..160).chain([-1074, -1023, -1022, -149, -126, 1023]) {
        let power = 2_f64.powi(exponent);
        values.extend([1.0, 1.25, 1.5, 1.75].map(|factor| factor * power));
    }
    values.extend((0..70).map(|half| f64::from(half) / 2.0));
    if let Component::Float(format) = target.component() {
        let largest = format.largest_finite();
        let step = (largest / 300).max(1);
        for bits in (0..largest.div_ceil(step)).map(|index| index * step).chain([0, 1, largest - 2, largest - 1]) {
            let (below, above) = (format.to_f64(bits), format.to_f64(bits + 1));
            values.extend([below, above, below + (above - below) / 2.0]);
        }
        let past = format.to_f64(largest) + (format.to_f64(largest) - format.to_f64(largest - 1)) / 2.0;
        values.extend([past, 2.0 * past]);
    }
    for bits in [2, 4, 8, 16, 32, 50, 51, 52, 53, 63, 64] {
        let end = 2_f64.powi(bits);
        values.extend([end - 1.5, end - 1.0, end - 0.5, end, end + 0.5, end + 1.0]);
    }
    let mut patterns: Vec<u64> =
        values.iter().flat_map(|value| [*value, -*value]).flat_map(|v| around(source, v)).collect();
    if let Component::Float(format) = source {
        let infinity = format.infinity(false).unwrap();
        patterns.extend([infinity + 1, infinity + 2, infinity | format.sign_bit() | 77]);
    }
    patterns
}

#[test]
fn wide_sources_are_cast_as_defined_near_every_bound_and_tie() {
    for source in data_types().iter().filter(|source| source.component().bits() > 16) {
        for target in &data_types() {
            let patterns = adversarial(source.component(), target);
            for cast in casts(source, target) {
                check_pipeline(&cast, &patterns);
            }
        }
    }
}

/// Patterns of any length in bits.
fn scattered(component: Component) -> impl Iterator<Item = u64> {
    let mask = u64::MAX >> (64 - component.bits());
    (1..2000_u64).map(move |index| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31) >> (index % 64)) & mask)
}

/// One element at a time, so that none is refused for the sake of another.
#[test]
fn one_loop_for_a_whole_cast_casts_as_defined_or_refuses() {
    for source_type in data_types().iter().filter(|source| source.component().bits() >= 8) {
        let source = source_type.component();
        for target in &data_types() {
            let patterns = match source.bits() {
                ..=16 => (0..1 << source.bits()).collect::<Vec<u64>>(),
                _ => adversarial(source, target).into_iter().chain(scattered(source)).collect(),
            };
            for cast in casts(source_type, target) {
                in_every_tier(|kernels, name| {
                    let Some(whole_cast) = (kernels.whole_cast)(&cast) else { return };
                    let (mut input, mut output) = (vec![0; source.size()], vec![0; cast.target.size()]);
                    let mut done_count = 0;
                    for pattern in &patterns {
                        source.store(*pattern, &mut input);
                        if !whole_cast.run(&input, &mut output) {
                            let result = cast.target.load(&output);
                            assert_eq!(Some(result), cast.cast(*pattern), "{name}, {pattern:#x}, {cast:?}");
                            done_count += 1;
                        }
                    }
                    assert!(done_count > patterns.len() / 64, "{name}, {cast:?}: {done_count}");
                });
            }
        }
    }
}

/// The bits of a float after scaling, by a product or a quotient.
fn scaled(component: Component, bits: u64, [offset, scale]: [f64; 2], goes_back: bool) -> u64 {
    if component.bits() == 32 {
        let (number, offset, scale) = (f32::from_bits(bits as u32), offset as f32, scale as f32);
        return if goes_back { number / scale + offset } else { (number - offset) * scale }.to_bits().into();
    }
    let number = f64::from_bits(bits);
    if goes_back { number / scale + offset } else { (number - offset) * scale }.to_bits()
}

/// Compares one direction with the definition. A joint loop must do everything if no element is at fault.
fn check_joint(
    name: &str,
    direction: impl Fn(&[u8], &mut [u8]) -> bool,
    (source, target): (Component, Component),
    patterns: &[u64],
    define: impl Fn(u64) -> Option<u64>,
) {
    let results: Vec<Option<u64>> = patterns.iter().map(|pattern| define(*pattern)).collect();
    let good: Vec<u64> =
        patterns.iter().zip(&results).filter_map(|(pattern, result)| result.map(|_| *pattern)).collect();
    let place = || format!("{name}, {source:?} to {target:?}, length {}", good.len());
    let mut output = vec![0xA5; good.len() * target.size()];
    assert!(direction(&stored(source, &good), &mut output), "{}: no element is at fault", place());
    let expected = stored(target, &results.iter().flatten().copied().collect::<Vec<_>>());
    assert_eq!(output, expected, "{}", place());
    for (pattern, _) in patterns.iter().zip(&results).filter(|(_, result)| result.is_none()) {
        let is_done = direction(&stored(source, &[*pattern]), &mut vec![0; target.size()]);
        assert!(!is_done, "{}: {pattern:#x} is at fault", place());
    }
}

#[test]
fn scaling_and_a_cast_in_one_loop_are_both_one_after_the_other() {
    for (float, scaling) in [("float32", [300.0, 0.1]), ("float32", [-0.0, 1e30]), ("float64", [-1e-3, 1e3])] {
        let float = DataType::from_name(float).unwrap();
        let operands = scaling.map(|operand: f64| match float.size() {
            4 => (operand as f32).to_bits().into(),
            _ => operand.to_bits(),
        });
        let nan = if float.size() == 4 { 0x7FC0_0000 } else { 0x7FF8 << 48 };
        for integer in INTEGERS.iter().map(|integer| DataType::from_name(integer.0).unwrap()) {
            for (cast, map) in
                casts(&float, &integer).into_iter().flat_map(|cast| [(cast.clone(), None), (cast, Some(1))])
            {
                let maps: [Vec<(u64, u64)>; 2] =
                    map.map_or_else(Default::default, |one| [vec![(nan, one)], vec![(one, nan)]]);
                let [encode_map, decode_map] = maps;
                let back = Cast { source: cast.target, target: cast.source, scalar_map: decode_map, ..cast.clone() };
                let cast = Cast { scalar_map: encode_map, ..cast };
                let [offset, scale] = operands;
                in_every_tier(|kernels, name| {
                    let Some(joint) = ScaledCast::new(kernels, &cast, &back, Scaling { offset, scale }) else {
                        let is_narrow = cast.target.bits() <= 8 * float.size() as u32 / 2;
                        assert!(!is_narrow || cast.out_of_range == OutOfRange::Wrap || scaling[1] > 1e9, "{cast:?}");
                        return;
                    };
                    let types = (cast.source, cast.target);
                    check_joint(
                        name,
                        |i, o| joint.encode(i, o),
                        types,
                        &adversarial(cast.source, &integer),
                        |bits| cast.cast(scaled(cast.source, bits, scaling, false)),
                    );
                    check_joint(
                        name,
                        |i, o| joint.decode(i, o),
                        (types.1, types.0),
                        &adversarial(cast.target, &float),
                        |bits| back.cast(bits).map(|bits| scaled(cast.source, bits, scaling, true)),
                    );
                });
            }
        }
    }
}

fn check_bound(cast: &Cast, names: (&str, &str), patterns: &[u64]) {
    let results: Vec<Option<u64>> = patterns.iter().map(|pattern| cast.cast(*pattern)).collect();
    let good: Vec<u64> = results.iter().map_while(|result| *result).collect();
    let fault = (good.len() < results.len()).then_some(good.len() as u64);
    let (input, expected) = (stored(cast.source, patterns), stored(cast.target, &good));
    in_every_tier(|kernels, name| {
        let place = || format!("{name}, {} to {}, length {}: {cast:?}", names.0, names.1, patterns.len());
        let bound = bound(Some(kernels), cast, names);
        let mut output = vec![0xA5; patterns.len() * cast.target.size()];
        let result = bound.encode(&input, &mut output);
        assert_eq!(result.err().and_then(|error| error.element_index()), fault, "{}", place());
        assert_eq!(output[..expected.len()], expected, "{}", place());
    });
}

fn bound(tier: Option<&Kernels>, cast: &Cast, names: (&str, &str)) -> BoundCast {
    let [source, target] = [names.0, names.1].map(|name| DataType::from_name(name).unwrap());
    let back = Cast { source: cast.target, target: cast.source, scalar_map: Vec::new(), ..cast.clone() };
    BoundCast::in_tier(tier, cast.clone(), back, &source, &target)
}

fn component(name: &str) -> Component {
    DataType::from_name(name).unwrap().component()
}

#[test]
fn the_first_element_at_fault_is_named_wherever_it_stands() {
    for (source, target, good, bad) in [
        ("float32", "uint8", 0x4040_0000, 0x4380_0000),
        ("float64", "int64", 0x4008_0000_0000_0000, 0x43E0_0000_0000_0000),
        ("int64", "int32", 5, 1 << 31),
        ("uint8", "int4", 7, 8),
        ("float32", "float8_e8m0fnu", 0x4040_0000, 0),
    ] {
        let [from, to] = [source, target].map(component);
        for policy in [OutOfRange::Error, OutOfRange::Clamp] {
            let cast =
                Cast { source: from, target: to, rounding: ROUNDINGS[0], out_of_range: policy, scalar_map: vec![] };
            for index in [0, 1, 511, 512, 1030, 1299] {
                let mut patterns = vec![good; 1300];
                patterns[index] = bad;
                patterns[1299] = bad;
                check_bound(&cast, (source, target), &patterns);
            }
        }
    }
}

#[test]
fn every_length_is_cast_as_defined() {
    let names =
        ["uint4", "int8", "uint16", "int32", "int64", "float8_e4m3", "float16", "bfloat16", "float32", "float64"];
    for source in names {
        for target in names {
            let types = [source, target].map(|name| DataType::from_name(name).unwrap());
            // Elements of a period that no vector has, so that a displaced one shows.
            let patterns: Vec<u64> = (0..100)
                .map(|i| types[0].scalar_from_json("element", &serde_json::json!(i % 7)).unwrap())
                .map(|scalar| types[0].component().load(&scalar.0))
                .collect();
            let cast = casts(&types[0], &types[1]).swap_remove(0);
            for length in 0..patterns.len() {
                check_bound(&cast, (source, target), &patterns[..length]);
            }
        }
    }
}

#[test]
fn a_fault_says_what_the_element_is_and_what_the_target_has() {
    use OutOfRange::{Clamp, Error, Wrap};
    for (source, target, out_of_range, bits, expected) in [
        (
            "float64",
            "uint8",
            Error,
            300_f64.to_bits(),
            "is 300.0, outside uint8 (0 to 255), and out_of_range is not set",
        ),
        ("int64", "int4", Error, -9_i64 as u64, "is -9, outside int4 (-8 to 7), and out_of_range is not set"),
        (
            "uint32",
            "float16",
            Error,
            65520,
            "is 65520, outside float16 (-65504.0 to 65504.0), and out_of_range is not set",
        ),
        (
            "uint32",
            "float16",
            Wrap,
            65520,
            "is 65520, outside float16 (-65504.0 to 65504.0), and out_of_range is \"wrap\", which is for integers",
        ),
        ("float32", "uint8", Clamp, 0x7FC0_0001, "is NaN, which uint8 does not have, and scalar_map does not map it"),
        (
            "float32",
            "float8_e4m3fn",
            Clamp,
            0xFF80_0000,
            "is -Infinity, which float8_e4m3fn does not have, and scalar_map does not map it",
        ),
        ("float16", "int8", Wrap, 0x7C00, "is Infinity, which int8 does not have, and scalar_map does not map it"),
    ] {
        let types = [source, target].map(|name| DataType::from_name(name).unwrap());
        let [from, to] = [&types[0], &types[1]].map(DataType::component);
        let cast = Cast { source: from, target: to, rounding: ROUNDINGS[0], out_of_range, scalar_map: vec![] };
        in_every_tier(|kernels, name| {
            let bound = bound(Some(kernels), &cast, (source, target));
            let message = bound.encode(&stored(from, &[bits]), &mut vec![0; to.size()]).unwrap_err().to_string();
            assert!(message.ends_with(expected), "{name}: {message}");
        });
    }
}

#[test]
fn maps_are_applied_to_every_conversion() {
    // The canonical NaN, another one, both zeros, an infinity, ordinary numbers; the first entry that matches wins.
    let maps: [&[(u64, u64)]; 5] = [
        &[(0x7FC0_0000, 3)],
        &[(0x7FC0_0001, 1), (0x7FC0_0000, 2), (0x7FC0_0002, 3)],
        &[(0x7FC0_0000, 2), (0x7FC0_0001, 1), (0, 1), (0x8000_0000, 3)],
        &[(0x7F80_0000, 1), (0x3F80_0000, 2), (0x3F80_0000, 3), (0x4380_0000, 1)],
        &[(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (9, 1), (0x7FC0_0000, 0)],
    ];
    let sources = [
        0x7FC0_0000,
        0x7FC0_0001,
        0x7FC0_0002,
        0xFFC0_0001,
        0,
        0x8000_0000,
        0x7F80_0000,
        0xFF80_0000,
        0x3F80_0000,
        0x4380_0000,
        0x4000_0000,
        5,
    ];
    for map in maps {
        for target in ["int2", "uint8", "int16", "float16", "float64", "float8_e4m3fn", "uint64"] {
            for mut cast in casts(&DataType::from_name("float32").unwrap(), &DataType::from_name(target).unwrap()) {
                cast.scalar_map = map.to_vec();
                for first in 0..sources.len() {
                    let mut patterns = vec![0x3F80_0000; 700];
                    for (i, pattern) in patterns.iter_mut().enumerate().skip(100) {
                        *pattern = sources[(first + i % 3) % sources.len()];
                    }
                    check_bound(&cast, ("float32", target), &patterns);
                }
            }
        }
    }
}

/// Keys of every kind among many, and elements that are keys, their neighbours and others.
#[test]
fn maps_of_any_length_are_applied() {
    for source in ["int8", "uint16", "int16", "int32", "uint64", "float16", "bfloat16", "float32", "float64"] {
        let component = component(source);
        let mask = u64::MAX >> (64 - component.bits());
        let top = 1 << (component.bits() - 1);
        let special = match component {
            Component::Float(format) => {
                let nan = format.nan().unwrap();
                vec![nan | 1, nan, nan | 2, nan, top, 0, format.infinity(true).unwrap()]
            }
            _ => vec![top, 0, mask, 0, top - 1],
        };
        let spread = |index: u64| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 3) & mask;
        let others: Vec<u64> = (0..60).map(spread).collect();
        let keys: Vec<u64> = others[..20].iter().chain(&special).chain(&others[20..40]).copied().collect();
        let near = keys.iter().flat_map(|key| [*key, key ^ 1, key ^ top]);
        let patterns: Vec<u64> = near.chain(others.iter().copied()).collect();
        for target in ["uint8", "int16", "float16", "float64"] {
            let cast =
                casts(&DataType::from_name(source).unwrap(), &DataType::from_name(target).unwrap()).swap_remove(1);
            assert_eq!(cast.out_of_range, OutOfRange::Clamp);
            for (begin, length) in (0..keys.len()).flat_map(|i| [2, 3, 32, 33, 60].map(|length| (i, length))) {
                let pairs = keys.iter().cycle().skip(begin).take(length).enumerate();
                let scalar_map: Vec<_> = pairs.map(|(i, key)| (*key, i as u64 % 100)).collect();
                let cast = Cast { scalar_map, ..cast.clone() };
                let castable: Vec<u64> = patterns.iter().copied().filter(|bits| cast.cast(*bits).is_some()).collect();
                check_bound(&cast, (source, target), &castable);
            }
        }
    }
}

/// Maps with zeros, NaNs and others in every order; all elements of up to 8 bits, every 127th of the others, and all
/// keys.
#[test]
fn the_index_of_a_map_finds_what_the_definition_finds() {
    let shorts = FORMATS.iter().filter(|format| format.bits <= 16).map(|format| format.name).chain(["int16", "uint8"]);
    for source in shorts.map(component) {
        let all = u64::MAX >> (64 - source.bits());
        let nan = if let Component::Float(format) = source { format.nan() } else { None };
        let nan = nan.unwrap_or(all);
        let top = all ^ all >> 1;
        let keys = [0, top, nan, (nan + 1) & all, (nan ^ top) & all, 1];
        for order in 0..keys.len().pow(4) {
            let entries = (0..4).map(|i| (keys[order / keys.len().pow(i) % keys.len()], 0x7E37_0000 + u64::from(i)));
            let (scalar_map, target) = (entries.collect(), component("float64"));
            let cast = Cast { source, target, rounding: ROUNDINGS[0], out_of_range: OutOfRange::Error, scalar_map };
            let index = MapIndex::new(&cast);
            for bits in (0..=all).step_by(if all > 0xFF { 127 } else { 1 }).chain(keys) {
                let found = index.find(bits).or_else(|| cast.convert(bits));
                assert_eq!(found, cast.cast(bits), "{bits:#x} by {:?} of {source:?}", cast.scalar_map);
            }
        }
    }
}

proptest! {
    #[test]
    fn any_elements_are_cast_as_defined(
        patterns in proptest::collection::vec(any::<u64>(), 1..1200),
        types in (0..27_usize, 0..27_usize),
        cast in 0..15_usize,
        map in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..4),
    ) {
        let all = data_types();
        let (source, target) = (&all[types.0], &all[types.1]);
        let mask = |component: Component, bits: u64| bits & (u64::MAX >> (64 - component.bits()));
        let mut cast = casts(source, target).swap_remove(cast);
        let patterns: Vec<u64> = patterns.iter().map(|bits| mask(cast.source, *bits)).collect();
        cast.scalar_map = map.iter().map(|(key, mapped)| (mask(cast.source, *key), mask(cast.target, *mapped))).collect();
        if let Some(first) = cast.scalar_map.first_mut() {
            first.0 = patterns[patterns.len() / 2];
        }
        check_bound(&cast, (source.name(), target.name()), &patterns);
    }
}
