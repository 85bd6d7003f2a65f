//! `scale_offset` alone, and with `cast_value` and `packbits` in one pass.

use crate::chunk::{Way, beside_copy, chain_with_fill, elements, sizes};
use crate::table::{Line, Table};
use std::time::Duration;

struct Case {
    group: &'static str,
    name: &'static str,
    data_type: &'static str,
    element_size: usize,
    codecs: String,
    ways: &'static [Way],
    goals: [f64; 2],
}

const BOTH: &[Way] = &[Way::Encode, Way::Decode];
const DECODE: &[Way] = &[Way::Decode];

fn scale_offset(offset: &str, scale: &str) -> String {
    format!(r#"{{"name":"scale_offset","configuration":{{"offset":{offset},"scale":{scale}}}}}"#)
}

fn cases() -> Vec<Case> {
    let alone = |group, data_type, element_size, offset, scale, ways, goals| Case {
        group,
        name: data_type,
        data_type,
        element_size,
        codecs: format!("[{}]", scale_offset(offset, scale)),
        ways,
        goals,
    };
    let mut cases = Vec::new();
    for (data_type, size) in [("int8", 1), ("uint8", 1), ("int32", 4), ("uint32", 4)] {
        cases.push(alone("scale_offset, 8 and 32 bits", data_type, size, "3", "2", BOTH, [0.7, 0.9]));
    }
    for (data_type, size) in [("int64", 8), ("uint64", 8), ("float16", 2), ("bfloat16", 2)] {
        cases.push(alone("scale_offset, 64-bit integers and half floats", data_type, size, "3", "2", BOTH, [0.4, 0.8]));
    }
    for (data_type, size) in [("int16", 2), ("uint16", 2)] {
        cases.push(alone("scale_offset, 16 bits", data_type, size, "3", "7", BOTH, [0.45, 0.8]));
    }
    for (data_type, size) in [("float32", 4), ("float64", 8)] {
        cases.push(alone("scale_offset, floats: encode", data_type, size, "300", "0.1", &[Way::Encode], [0.8, 0.8]));
        cases.push(alone("scale_offset, floats: decode", data_type, size, "300", "0.1", DECODE, [0.45, 0.8]));
        cases.push(alone("scale_offset, exact reciprocal", data_type, size, "300", "0.25", DECODE, [0.8, 0.95]));
    }
    for (data_type, size) in [("int8", 1), ("int16", 2), ("int32", 4), ("uint8", 1), ("uint16", 2), ("uint32", 4)] {
        cases.push(alone("scale_offset, exact division", data_type, size, "1", "7", DECODE, [0.8, 0.95]));
    }
    cases.extend(fused());
    cases
}

fn fused() -> [Case; 3] {
    let cast = |members| format!(r#"{{"name":"cast_value","configuration":{{"data_type":{members}}}}}"#);
    let packbits = |last_bit| format!(r#"{{"name":"packbits","configuration":{{"last_bit":{last_bit}}}}}"#);
    let case = |name, data_type, element_size, codecs| Case {
        group: "scale_offset, cast_value, packbits in one pass",
        name,
        data_type,
        element_size,
        codecs,
        ways: BOTH,
        goals: [0.7, 0.9],
    };
    let scaled = scale_offset("0", "0.5");
    [
        case("float32-uint8-7-bits", "float32", 4, format!("[{scaled},{},{}]", cast(r#""uint8""#), packbits(6))),
        case("float32-uint16-12-bits", "float32", 4, format!("[{scaled},{},{}]", cast(r#""uint16""#), packbits(11))),
        case("float64-int16-12-bits", "float64", 8, format!("[{scaled},{},{}]", cast(r#""int16""#), packbits(11))),
    ]
}

pub(crate) fn measure(table: &mut Table) {
    for case in cases() {
        for way in case.ways {
            let name = format!("{}-{}", case.name, if *way == Way::Encode { "encode" } else { "decode" });
            if !table.wants(case.group, &name) {
                continue;
            }
            for (size, bytes, goal) in sizes(case.goals) {
                let count = bytes / case.element_size;
                // Codecs scale the fill value, too.
                let chain = chain_with_fill(&case.codecs, case.data_type, &[count], "4");
                // Inside every type, before and after the codecs.
                let decoded = elements(case.data_type, count, |index| 3.0 + (index * 7 % 15) as f64);
                let line = Line {
                    group: case.group,
                    case: &name,
                    size,
                    yardstick: "copy",
                    goal: Some(goal),
                    allowance: Duration::ZERO,
                };
                beside_copy(table, line, &chain, &decoded, *way);
            }
        }
    }
}
