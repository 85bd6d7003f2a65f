//! One chunk and its chain: what most lines of the table measure.

use crate::table::{Line, Table};
use std::cell::RefCell;
use std::hint::black_box;
use zcodec::chain::{CallOptions, Chain};
use zcodec_benches::two_threads;

pub(crate) const MIB: usize = 1 << 20;
/// The sizes of the table, with the goal that belongs to each.
pub(crate) fn sizes(goals: [f64; 2]) -> [(&'static str, usize, f64); 2] {
    [("1MiB", MIB, goals[0]), ("64MiB", 64 * MIB, goals[1])]
}

/// A chain of these codecs for an array.
pub(crate) fn chain(codecs: &str, data_type: &str, shape: &[usize]) -> Chain {
    let fill_value = match data_type {
        "bool" => "false",
        "complex64" | "complex128" => "[0,0]",
        raw if raw.starts_with('r') => return raw_chain(codecs, raw, shape),
        _ => "0",
    };
    chain_with_fill(codecs, data_type, shape, fill_value)
}

fn raw_chain(codecs: &str, data_type: &str, shape: &[usize]) -> Chain {
    let bits: usize = data_type[1..].parse().expect("r is followed by the number of bits");
    chain_with_fill(codecs, data_type, shape, &format!("{:?}", vec![0; bits / 8]))
}

/// The same with this fill value.
pub(crate) fn chain_with_fill(codecs: &str, data_type: &str, shape: &[usize], fill_value: &str) -> Chain {
    let input = format!(r#"{{"data_type":"{data_type}","shape":{shape:?},"fill_value":{fill_value}}}"#);
    Chain::new(codecs.as_bytes(), Some(input.as_bytes())).unwrap_or_else(|error| panic!("{codecs} of {input}: {error}"))
}

pub(crate) const BYTES: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;

/// `value` of each number from 0 on, cast to the data type by the library itself.
pub(crate) fn elements(data_type: &str, count: usize, value: impl Fn(usize) -> f64) -> Vec<u8> {
    // A period that no power of two divides; long enough that nothing learns it.
    let period = count.min(65_521);
    let float64: Vec<u8> = (0..period).flat_map(|i| value(i).to_ne_bytes()).collect();
    let once = if data_type == "float64" {
        float64
    } else {
        let cast = format!(
            r#"[{{"name":"cast_value","configuration":{{"data_type":"{data_type}","out_of_range":"clamp"}}}}]"#
        );
        let cast = chain(&cast, "float64", &[period]);
        cast.encode_to_vec(&float64, &CallOptions::default()).expect("the values are in range")
    };
    let element_size = once.len() / period;
    once.into_iter().cycle().take(count * element_size).collect()
}

/// Which way a chunk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Encode,
    Decode,
}

/// Measures the chain on the chunk, compared with a memory copy of as many bytes as its larger side has.
pub(crate) fn beside_copy(table: &mut Table, line: Line<'_>, chain: &Chain, decoded: &[u8], way: Way) {
    let options = CallOptions::default();
    let encoded = chain.encode_to_vec(decoded, &options).expect("the chunk encodes");
    let larger = vec![1_u8; decoded.len().max(encoded.len())];
    let mut copied = vec![0_u8; larger.len()];
    let copy = || black_box(&mut copied[..]).copy_from_slice(black_box(&larger));
    match way {
        Way::Encode => {
            let bound = chain.encoded_bound(decoded.len() as u64).expect("the size is possible");
            let mut target = vec![0; bound as usize];
            table.measure(line, copy, || {
                chain.encode_into(black_box(decoded), black_box(&mut target), &options).expect("it encodes");
            });
        }
        Way::Decode => {
            let mut target = vec![0; decoded.len()];
            table.measure(line, copy, || {
                chain.decode_into(black_box(&encoded), black_box(&mut target), &options).expect("it decodes");
            });
        }
    }
}

/// Measures two threads compared with one.
pub(crate) fn two_beside_one(table: &mut Table, line: Line<'_>, chain: &Chain, decoded: &[u8]) {
    let encode = encoder(chain, decoded);
    table.measure(line, || encode(&CallOptions::default()), || encode(&two_threads()));
}

/// The same, where what a memory copy of the chunk gains by two threads is enough.
pub(crate) fn two_beside_one_or_copy(table: &mut Table, line: Line<'_>, chain: &Chain, decoded: &[u8]) {
    let encode = encoder(chain, decoded);
    let copied = RefCell::new(vec![0; decoded.len()]);
    let copy = |parts: usize| {
        let size = decoded.len().div_ceil(parts);
        let mut target = copied.borrow_mut();
        std::thread::scope(|scope| {
            let mut parts = target.chunks_mut(size).zip(black_box(decoded).chunks(size));
            let own = parts.next();
            for (target, source) in parts {
                scope.spawn(|| black_box(target).copy_from_slice(source));
            }
            if let Some((target, source)) = own {
                black_box(target).copy_from_slice(source);
            }
        });
    };
    table.measure_gain(
        line,
        [Box::new(|| encode(&CallOptions::default())), Box::new(|| encode(&two_threads()))],
        [Box::new(|| copy(1)), Box::new(|| copy(2))],
    );
}

fn encoder<'a>(chain: &'a Chain, decoded: &'a [u8]) -> impl Fn(&CallOptions) + 'a {
    let bound = chain.encoded_bound(decoded.len() as u64).expect("the size is possible");
    let target = RefCell::new(vec![0; bound as usize]);
    move |options| {
        chain.encode_into(black_box(decoded), &mut target.borrow_mut(), options).expect("it encodes");
    }
}
