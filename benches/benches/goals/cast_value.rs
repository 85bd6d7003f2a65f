//! `cast_value`: every pair of types of its common ones, in every mode.

use crate::chunk::{MIB, Way, beside_copy, chain, elements, sizes, two_beside_one};
use crate::table::{Line, Table};
use std::time::Duration;

/// Bytes of an element follow the name.
const TYPES: [(&str, usize); 12] = [
    ("int8", 1),
    ("int16", 2),
    ("int32", 4),
    ("int64", 8),
    ("uint8", 1),
    ("uint16", 2),
    ("uint32", 4),
    ("uint64", 8),
    ("float16", 2),
    ("bfloat16", 2),
    ("float32", 4),
    ("float64", 8),
];

const ROUNDINGS: [&str; 5] = ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"];

pub(crate) fn measure(table: &mut Table) {
    for source in TYPES {
        for target in TYPES.into_iter().filter(|target| *target != source) {
            for (mode, is_first) in modes(source.0, target.0) {
                pair(table, source, target, &mode, is_first);
            }
        }
    }
    two_threads(table);
}

fn is_float(name: &str) -> bool {
    name.contains("float")
}

/// Members of the configuration; the first of them is the one that is also measured at 64 MiB.
fn modes(source: &str, target: &str) -> Vec<(String, bool)> {
    let mut modes = vec![String::new()];
    if is_float(source) || is_float(target) {
        modes.extend(ROUNDINGS[1..].iter().map(|rounding| format!(r#","rounding":"{rounding}""#)));
    }
    if !is_float(source) || !is_float(target) {
        modes.push(r#","out_of_range":"clamp""#.to_owned());
    }
    if !is_float(target) {
        modes.push(r#","out_of_range":"wrap""#.to_owned());
    }
    modes.into_iter().enumerate().map(|(index, mode)| (mode, index == 0)).collect()
}

fn pair(table: &mut Table, source: (&str, usize), target: (&str, usize), mode: &str, is_first: bool) {
    let is_wide = |(name, size): (&str, usize)| size == 8 && !is_float(name);
    let between_wide = (source.0 == "float64" && is_wide(target)) || (is_wide(source) && target.0 == "float64");
    let (group, goals) = if between_wide {
        ("cast_value, float64 and 64-bit integers", [0.6, 0.9])
    } else {
        ("cast_value, every pair and mode", [0.5, 0.8])
    };
    let words: String = mode.split('"').filter(|word| word.contains(char::is_alphabetic)).skip(1).collect();
    let case = format!("{}-{}{}{words}", source.0, target.0, if words.is_empty() { "" } else { "-" });
    if !table.wants(group, &case) {
        return;
    }
    let codecs = format!(r#"[{{"name":"cast_value","configuration":{{"data_type":"{}"{mode}}}}}]"#, target.0);
    for (size_name, size, goal) in sizes(goals) {
        if size > MIB && !is_first {
            continue;
        }
        let count = size / source.1.max(target.1);
        let decoded = elements(source.0, count, value);
        let chain = chain(&codecs, source.0, &[count]);
        let line = Line {
            group,
            case: &case,
            size: size_name,
            yardstick: "copy",
            goal: Some(goal),
            allowance: Duration::ZERO,
        };
        beside_copy(table, line, &chain, &decoded, Way::Encode);
    }
}

/// With fractions, and inside every type.
fn value(index: usize) -> f64 {
    (index.wrapping_mul(2_654_435_761) % 997) as f64 / 8.0
}

fn two_threads(table: &mut Table) {
    let group = "cast_value, two threads";
    if table.wants(group, "float32-int16") {
        let count = 16 * MIB;
        let codecs = r#"[{"name":"cast_value","configuration":{"data_type":"int16"}}]"#;
        let (chain, decoded) = (chain(codecs, "float32", &[count]), elements("float32", count, value));
        let line = Line {
            group,
            case: "float32-int16",
            size: "64MiB",
            yardstick: "one thread",
            goal: Some(1.8),
            allowance: Duration::ZERO,
        };
        two_beside_one(table, line, &chain, &decoded);
    }
}
