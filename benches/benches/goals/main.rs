//! The table of goals: each line compares one piece of work with a yardstick in the same run, and has the least ratio
//! that is fast enough. `make bench` runs it; the result goes to standard output as Markdown and to
//! `target/goals.json`.
//!
//!     cargo bench --bench goals                                    # compared with a memory copy and zfp-rs
//!     cargo bench --features blosc-src,zfp-sys --bench goals       # also with the C libraries
//!     cargo bench --bench goals -- transpose cast_value            # groups or cases whose name has one of these texts

mod blosc;
mod bytes;
mod cast_value;
mod chunk;
mod engine;
mod packbits;
mod scale_offset;
mod table;
mod transpose;
mod zfp;

use table::Table;

fn main() {
    let texts = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let mut table = Table::new(texts);
    for group in [
        transpose::measure,
        cast_value::measure,
        scale_offset::measure,
        packbits::measure,
        bytes::measure,
        zfp::measure,
        blosc::measure,
        engine::measure,
    ] {
        group(&mut table);
    }
    table.finish();
}
