//! What should cost no more than a copy: `bytes`, `pad`, and a checksum on the way.

use crate::chunk::{BYTES, Way, beside_copy, chain, sizes};
use crate::table::{Line, Table};
use std::time::Duration;
use zcodec_benches::field_bytes;

pub(crate) fn measure(table: &mut Table) {
    let big = BYTES.replace("little", "big");
    let pad = r#"{"name":"pad","configuration":{"location":"start","nbytes":110}}"#;
    let cases = [
        ("bytes", "little-endian", format!("[{BYTES}]"), [0.9, 0.9]),
        ("bytes", "big-endian", format!("[{big}]"), [0.9, 0.9]),
        ("bytes", "pad", format!("[{BYTES},{pad}]"), [0.9, 0.9]),
        ("crc32c", "bytes", format!(r#"[{BYTES},"crc32c"]"#), [0.8, 0.85]),
    ];
    for (group, name, codecs, goals) in cases {
        for (way, word) in [(Way::Encode, "encode"), (Way::Decode, "decode")] {
            let case = format!("{name}-{word}");
            if !table.wants(group, &case) {
                continue;
            }
            for (size, bytes, goal) in sizes(goals) {
                let chain = chain(&codecs, "uint16", &[bytes / 2]);
                let line =
                    Line { group, case: &case, size, yardstick: "copy", goal: Some(goal), allowance: Duration::ZERO };
                beside_copy(table, line, &chain, &field_bytes(bytes), way);
            }
        }
    }
}
