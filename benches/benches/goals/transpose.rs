//! `transpose`: what N5, Julia and Fiji ask for, and permutations of sizes that fit nothing.

use crate::chunk::{BYTES, MIB, Way, beside_copy, chain, sizes, two_beside_one_or_copy};
use crate::table::{Line, Table};
use std::time::Duration;
use zcodec_benches::field_bytes;

const TYPES: [(&str, usize); 7] =
    [("uint8", 1), ("uint16", 2), ("float32", 4), ("float64", 8), ("complex128", 16), ("r24", 3), ("r96", 12)];

pub(crate) fn measure(table: &mut Table) {
    for (data_type, element_size) in TYPES {
        let reversal = if element_size == 1 { [0.35, 0.5] } else { [0.5, 0.6] };
        for (size_name, size, goal) in sizes(reversal).into_iter().filter(|_| [1, 2, 4, 8].contains(&element_size)) {
            for (shape, order) in reversals(size / element_size) {
                run(table, ("transpose, reversal", size_name, goal), data_type, &shape, &order);
            }
        }
        for (size_name, size, goal) in sizes([0.3, 0.4]) {
            for (shape, order) in primes(size / element_size, size > MIB) {
                run(table, ("transpose, prime sizes", size_name, goal), data_type, &shape, &order);
            }
        }
    }
}

fn run(table: &mut Table, (group, size, goal): (&str, &str, f64), data_type: &str, shape: &[usize], order: &[usize]) {
    let case = format!("{data_type}-{order:?}").replace(", ", "-");
    if !table.wants(group, &case) {
        return;
    }
    let codecs = format!(r#"[{{"name":"transpose","configuration":{{"order":{order:?}}}}},{BYTES}]"#);
    let chain = chain(&codecs, data_type, shape);
    let decoded = field_bytes(chain.decoded_size().expect("the input is an array") as usize);
    let line = Line { group, case: &case, size, yardstick: "copy", goal: Some(goal), allowance: Duration::ZERO };
    beside_copy(table, line.clone(), &chain, &decoded, Way::Encode);
    if size == "64MiB" && data_type == "uint16" {
        let group = "transpose, two threads";
        two_beside_one_or_copy(
            table,
            Line { group, yardstick: "one thread", goal: Some(1.6), ..line },
            &chain,
            &decoded,
        );
    }
}

/// All dimensions the other way round, of sizes that are powers of two.
fn reversals(count: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let case = |rank: u32| {
        let side = 1_usize << (count.ilog2() / rank);
        let mut shape = vec![side; rank as usize];
        shape[0] = count / side.pow(rank - 1);
        (shape, (0..rank as usize).rev().collect())
    };
    (2..=4).map(case).collect()
}

/// Sizes that are prime, from 17 to 131, and a last one that makes up the count.
fn primes(count: usize, is_large: bool) -> Vec<(Vec<usize>, Vec<usize>)> {
    let three: &[usize] = if is_large { &[131, 127] } else { &[61, 53] };
    let four: &[usize] = if is_large { &[37, 61, 131] } else { &[17, 19, 23] };
    // A megabyte of five dimensions has no room for sizes of 17.
    let five: &[usize] = if is_large { &[17, 19, 23, 29] } else { &[5, 7, 11, 13] };
    let orders: [(&[usize], &[usize]); 11] = [
        (three, &[0, 2, 1]),
        (three, &[1, 0, 2]),
        (three, &[1, 2, 0]),
        (three, &[2, 0, 1]),
        (three, &[2, 1, 0]),
        (four, &[3, 2, 1, 0]),
        (four, &[1, 3, 0, 2]),
        (four, &[2, 0, 3, 1]),
        (five, &[4, 3, 2, 1, 0]),
        (five, &[1, 3, 0, 4, 2]),
        (five, &[2, 4, 0, 3, 1]),
    ];
    let case = |(first, order): (&[usize], &[usize])| {
        let last = (count / first.iter().product::<usize>()).max(17) | 1;
        (first.iter().copied().chain([last]).collect(), order.to_vec())
    };
    orders.into_iter().map(case).collect()
}
