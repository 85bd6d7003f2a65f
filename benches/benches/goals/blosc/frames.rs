//! Whole frames compared with c-blosc 1.21, one thread, measured data.

use crate::table::{Line, Table};
use std::ffi::CString;
use std::hint::black_box;
use std::time::Duration;
use zcodec::chain::{CallOptions, Chain};
use zcodec_benches::turns::Contestant;
use zcodec_benches::{field_bytes, temperature_bytes};

/// Compressor, and what is fast enough compared with the C library: encode, decode.
const COMPRESSORS: [(&str, f64, f64); 4] =
    [("blosclz", 1.0, 1.1), ("lz4", 0.8, 0.9), ("zlib", 1.0, 2.0), ("zstd", 1.0, 1.1)];

/// The room beyond the chunk that the C library asks for. With more, it stores block after block instead of the frame.
const OVERHEAD: usize = 16;

/// Where the header of a frame has its flags, and the flag of a frame whose bytes are stored as they are. Decoding one
/// is a copy, so that its goal is a part of a memory copy.
const FLAGS: usize = 2;
const STORED: u8 = 2;
const STORED_GOAL: f64 = 0.9;

const FILTERS: [&str; 3] = ["noshuffle", "shuffle", "bitshuffle"];

pub(super) fn measure(table: &mut Table) {
    let fields = [("uint16", 2, field_bytes as fn(usize) -> Vec<u8>), ("float32", 4, temperature_bytes)];
    for (data_type, element_size, bytes) in fields {
        for (size, count) in [("64KiB", 64 << 10), ("4MiB", 4 << 20)] {
            for (compressor, encode, decode) in COMPRESSORS {
                for filter in FILTERS {
                    let case = format!("{compressor}-5-{filter}-{data_type}");
                    if table.wants("blosc, frames", &case) {
                        let frame = CFrame { compressor, filter, element_size };
                        let group = "blosc, frames: encode";
                        let line = Line {
                            group,
                            case: &case,
                            size,
                            yardstick: "c-blosc",
                            goal: Some(encode),
                            allowance: Duration::ZERO,
                        };
                        run(table, &line, decode, &frame, &bytes(count));
                    }
                }
            }
        }
    }
}

fn run(table: &mut Table, line: &Line<'_>, decode_goal: f64, frame: &CFrame<'_>, decoded: &[u8]) {
    let CFrame { compressor, filter, element_size } = frame;
    let codecs = format!(
        r#"[{{"name":"blosc","configuration":{{"cname":"{compressor}","clevel":5,"shuffle":"{filter}",
        "typesize":{element_size},"blocksize":0}}}}]"#
    );
    let chain = Chain::new(codecs.as_bytes(), None).expect("the chain is valid");
    let options = CallOptions::default();
    let (mut ours, mut theirs) = (vec![0; decoded.len() + OVERHEAD], vec![0; decoded.len() + OVERHEAD]);
    table.measure(
        line.clone(),
        || {
            frame.encode(black_box(decoded), black_box(&mut theirs));
        },
        || {
            chain.encode_into(black_box(decoded), black_box(&mut ours), &options).expect("it encodes");
        },
    );
    let size = frame.encode(decoded, &mut theirs);
    let encoded = &theirs[..size];
    let is_stored = encoded[FLAGS] & STORED != 0;
    let (mut ours, mut again, mut copied) = (vec![0; decoded.len()], vec![0; decoded.len()], vec![0; decoded.len()]);
    chain.decode_into(encoded, &mut ours, &options).expect("it decodes");
    assert!(ours == decoded, "{}: decoded to something else", line.case);
    let line = Line { group: "blosc, frames: decode", goal: (!is_stored).then_some(decode_goal), ..line.clone() };
    let mut yardsticks: Vec<(Line<'_>, Contestant<'_>)> =
        vec![(line.clone(), Box::new(|| CFrame::decode(black_box(encoded), black_box(&mut again))))];
    if is_stored {
        let copy = Line { yardstick: "copy", goal: Some(STORED_GOAL), ..line };
        yardsticks.push((copy, Box::new(|| black_box(&mut copied[..]).copy_from_slice(black_box(decoded)))));
    }
    table.measure_all(yardsticks, || {
        chain.decode_into(black_box(encoded), black_box(&mut ours), &options).expect("it decodes");
    });
}

/// What the C library is told.
struct CFrame<'a> {
    compressor: &'a str,
    filter: &'a str,
    element_size: usize,
}

impl CFrame<'_> {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> usize {
        let filter = FILTERS.iter().position(|name| *name == self.filter).expect("the filter is known");
        let compressor = CString::new(self.compressor).expect("a name has no zeros");
        // SAFETY: both sides are passed with their sizes, the name ends with a zero.
        let size = unsafe {
            blosc_src::blosc_compress_ctx(
                5,
                filter as i32,
                self.element_size,
                decoded.len(),
                decoded.as_ptr().cast(),
                encoded.as_mut_ptr().cast(),
                encoded.len(),
                compressor.as_ptr(),
                0,
                1,
            )
        };
        usize::try_from(size).expect("the chunk encodes")
    }

    fn decode(encoded: &[u8], decoded: &mut [u8]) {
        // SAFETY: the frame is one of this library; the output is passed with its size.
        let size = unsafe {
            blosc_src::blosc_decompress_ctx(encoded.as_ptr().cast(), decoded.as_mut_ptr().cast(), decoded.len(), 1)
        };
        assert_eq!(usize::try_from(size), Ok(decoded.len()));
    }
}
