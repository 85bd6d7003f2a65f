//! `blosc`: its filters beside a memory copy and, with the feature `blosc-src`, frames beside the C library.

use crate::table::{Line, Table};
use std::hint::black_box;
use std::time::Duration;
use zcodec::codec::blosc_internals::Shuffle;
use zcodec_benches::field_bytes;

type Filter = (&'static str, fn(&Shuffle, &[u8], &mut [u8]), f64);

const FILTERS: [Filter; 4] = [
    ("shuffle", Shuffle::shuffle, 0.7),
    ("unshuffle", Shuffle::unshuffle, 0.7),
    ("bitshuffle", Shuffle::bitshuffle, 0.4),
    ("bitunshuffle", Shuffle::bitunshuffle, 0.4),
];

pub(crate) fn measure(table: &mut Table) {
    for (name, filter, goal) in FILTERS {
        for element_size in [2, 4, 8] {
            let case = format!("{name}-{element_size}");
            if table.wants("blosc, filters", &case) {
                let (decoded, mut target, mut copied) = (field_bytes(64 << 10), vec![0; 64 << 10], vec![0; 64 << 10]);
                let (_, shuffle) = Shuffle::all(element_size).next().expect("there is a portable tier");
                let line = Line {
                    group: "blosc, filters",
                    case: &case,
                    size: "64KiB",
                    yardstick: "copy",
                    goal: Some(goal),
                    allowance: Duration::ZERO,
                };
                table.measure(
                    line,
                    || black_box(&mut copied[..]).copy_from_slice(black_box(&decoded)),
                    || filter(&shuffle, black_box(&decoded), black_box(&mut target)),
                );
            }
        }
    }
    #[cfg(feature = "blosc-src")]
    frames::measure(table);
}

#[cfg(feature = "blosc-src")]
mod frames;
