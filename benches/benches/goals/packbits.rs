//! `packbits` of the fields that masks and detectors have.

use crate::chunk::{Way, beside_copy, chain, sizes};
use crate::table::{Line, Table};
use std::time::Duration;
use zcodec_benches::random_bytes;

/// At 1 MiB and at 64 MiB; 0 for none.
type Goals = [f64; 2];

/// Data type, bytes per element, first and last bit, goals of encode and of decode.
const CASES: [(&str, usize, u32, u32, Goals, Goals); 8] = [
    ("bool", 1, 0, 0, [2.0, 1.5], [1.0, 0.9]),
    ("uint4", 1, 0, 3, [1.0, 0.9], [1.0, 0.9]),
    ("int4", 1, 0, 3, [1.0, 0.9], [1.0, 0.9]),
    ("uint8", 1, 0, 4, [0.8, 0.8], [0.8, 0.8]),
    ("uint16", 2, 0, 11, [0.8, 0.8], [0.8, 0.8]),
    ("float32", 4, 8, 31, [0.8, 0.8], [0.8, 0.8]),
    ("int32", 4, 0, 16, [0.7, 0.0], [0.7, 0.0]),
    ("uint64", 8, 0, 39, [0.7, 0.0], [0.7, 0.0]),
];

pub(crate) fn measure(table: &mut Table) {
    for (data_type, element_size, first_bit, last_bit, encode, decode) in CASES {
        for (way, word, goals) in [(Way::Encode, "encode", encode), (Way::Decode, "decode", decode)] {
            let case = format!("{data_type}-bits-{first_bit}-{last_bit}-{word}");
            if !table.wants("packbits", &case) {
                continue;
            }
            for (size, bytes, goal) in sizes(goals) {
                let codecs = format!(
                    r#"[{{"name":"packbits","configuration":{{"first_bit":{first_bit},"last_bit":{last_bit}}}}}]"#
                );
                let chain = chain(&codecs, data_type, &[bytes / element_size]);
                let mut decoded = random_bytes(bytes);
                if data_type == "bool" {
                    decoded.iter_mut().for_each(|byte| *byte &= 1);
                }
                let goal = Some(goal).filter(|goal| *goal > 0.0);
                let line =
                    Line { group: "packbits", case: &case, size, yardstick: "copy", goal, allowance: Duration::ZERO };
                beside_copy(table, line, &chain, &decoded, way);
            }
        }
    }
}
