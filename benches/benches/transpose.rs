//! `transpose`, and any other copy between strides, as a ratio to a memory copy of the same bytes.
//!
//!     cargo bench --bench transpose -- 2-byte/reversal       # those whose name has this text

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use zcodec::codec::{Level, set_limit};
use zcodec::strided::{Source, Target, copy, split};
use zcodec_benches::{TWO_THREADS_SIZE, field_bytes, group};

const SIZES: [(&str, usize); 2] = [("1MiB", 1 << 20), ("64MiB", 64 << 20)];

/// A shape of about this many elements, and an order of its dimensions.
struct Case {
    name: String,
    shape: Vec<u64>,
    order: Vec<usize>,
}

/// The case of N5, Julia and Fiji: all dimensions reversed, with sizes that are powers of two.
fn reversals(count: u64) -> Vec<Case> {
    let case = |rank: u32| {
        let side = 1_u64 << (count.ilog2() / rank);
        let mut shape = vec![side; rank as usize];
        shape[0] = count / side.pow(rank - 1);
        Case { name: format!("reversal-{rank}d"), shape, order: (0..rank as usize).rev().collect() }
    };
    (2..=4).map(case).collect()
}

/// Sizes that are prime, or at least odd: none fits vectors or cache lines. A small array of five dimensions has small ones.
fn primes(count: u64) -> Vec<Case> {
    let is_large = count > 1 << 20;
    let case = |first: &[u64], order: &[usize]| {
        let last = (count / first.iter().product::<u64>()).max(17) | 1;
        let shape: Vec<u64> = first.iter().copied().chain([last]).collect();
        let name = order.iter().map(usize::to_string).collect::<Vec<_>>().join("-");
        Case { name: format!("prime-{name}"), shape, order: order.to_vec() }
    };
    let three: &[u64] = if is_large { &[131, 127] } else { &[61, 53] };
    let four: &[u64] = if is_large { &[37, 61, 131] } else { &[17, 19, 23] };
    let five: &[u64] = if is_large { &[17, 19, 23, 29] } else { &[5, 7, 11, 13] };
    let orders3 = [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let orders4 = [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]];
    let orders5 = [[4, 3, 2, 1, 0], [1, 3, 0, 4, 2], [2, 4, 0, 3, 1]];
    let mut cases: Vec<Case> = orders3.iter().map(|order| case(three, order)).collect();
    cases.extend(orders4.iter().map(|order| case(four, order)));
    cases.extend(orders5.iter().map(|order| case(five, order)));
    cases
}

fn transpose(criterion: &mut Criterion) {
    for element_size in [1_usize, 2, 4, 8, 16, 3, 12] {
        for (size_name, size) in SIZES {
            let count = (size / element_size) as u64;
            let cases = if element_size.is_power_of_two() { reversals(count) } else { Vec::new() };
            for case in cases.into_iter().chain(primes(count)) {
                run(criterion, &case, element_size, size_name);
            }
        }
    }
}

fn run(criterion: &mut Criterion, case: &Case, element_size: usize, size_name: &str) {
    let size = case.shape.iter().product::<u64>() as usize * element_size;
    let target_shape: Vec<u64> = case.order.iter().map(|dimension| case.shape[*dimension]).collect();
    let (decoded, mut encoded, mut again) = (field_bytes(size), vec![0; size], vec![0; size]);
    let source = Source::contiguous(&decoded, element_size, &case.shape).expect("the shape fits");
    let source = source.permuted(&case.order).expect("the order is one");
    let mut target = Target::contiguous(&mut encoded, element_size, &target_shape).expect("the shape fits");
    copy(&source, &mut target).expect("the shapes are equal");
    let back = Target::contiguous(&mut again, element_size, &case.shape).expect("the shape fits");
    let there = Source::contiguous(&encoded, element_size, &target_shape).expect("the shape fits");
    copy(&there, &mut back.permuted(&case.order).expect("the order is one")).expect("the shapes are equal");
    assert!(again == decoded, "{} does not come back", case.name);

    let name = format!("transpose/{element_size}-byte/{}/{size_name}", case.name);
    let mut target = Target::contiguous(&mut encoded, element_size, &target_shape).expect("the shape fits");
    let mut group_ = group(criterion, &name, size);
    for (contestant, limit) in limits() {
        set_limit(limit);
        group_.bench_function(BenchmarkId::from_parameter(contestant), |bencher| {
            bencher.iter(|| copy(black_box(&source), black_box(&mut target)));
        });
    }
    set_limit(None);
    if size >= TWO_THREADS_SIZE / 2 {
        group_.bench_function(BenchmarkId::from_parameter("zcodec-2-threads"), |bencher| {
            bencher.iter(|| {
                let parts = split(&source, target.reborrow(), 2).expect("the shapes are equal");
                std::thread::scope(|scope| {
                    for (source, mut target) in parts {
                        scope.spawn(move || copy(&source, &mut target));
                    }
                });
            });
        });
    }
    group_.finish();
}

/// The contestants that are the tiers.
fn limits() -> Vec<(&'static str, Option<Level>)> {
    vec![
        ("zcodec", None),
        #[cfg(target_arch = "x86_64")]
        ("avx2", Some(Level::Avx2)),
        ("portable", Some(Level::Portable)),
        ("reference", Some(Level::Reference)),
    ]
}

criterion_group!(benches, transpose);
criterion_main!(benches);
