//! `blosc`: its filters compared with a memory copy and, with the feature `blosc-src`, frames with the C library.

use crate::table::{Line, Table};
use std::hint::black_box;
use std::time::Duration;
use zcodec::codec::blosc_internals::Shuffle;
use zcodec_benches::field_bytes;
use zcodec_benches::filters::FILTERS;

/// What is fast enough, of a memory copy.
const GOALS: [f64; 4] = [0.7, 0.7, 0.4, 0.4];

/// In the second-level cache; the second is that of a usual block.
const SIZES: [(&str, usize); 2] = [("64KiB", 64 << 10), ("256KiB", 256 << 10)];

pub(crate) fn measure(table: &mut Table) {
    for (size_name, size) in SIZES {
        for ((name, filter), goal) in FILTERS.into_iter().zip(GOALS) {
            for element_size in [2, 4, 8] {
                let case = format!("{name}-{element_size}");
                if table.wants("blosc, filters", &case) {
                    let (decoded, mut target, mut copied) = (field_bytes(size), vec![0; size], vec![0; size]);
                    let (_, shuffle) = Shuffle::all(element_size).next().expect("there is a portable tier");
                    let mut tile = vec![0; shuffle.tile_size()];
                    let line = Line {
                        group: "blosc, filters",
                        case: &case,
                        size: size_name,
                        yardstick: "copy",
                        goal: Some(goal),
                        allowance: Duration::ZERO,
                    };
                    table.measure(
                        line,
                        || black_box(&mut copied[..]).copy_from_slice(black_box(&decoded)),
                        || filter(&shuffle, black_box(&decoded), black_box(&mut target), &mut tile),
                    );
                }
            }
        }
    }
    #[cfg(feature = "blosc-src")]
    frames::measure(table);
}

#[cfg(feature = "blosc-src")]
mod frames;
