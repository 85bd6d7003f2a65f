//! Every copy against the definition: one element after the other.

use super::copy::copy_by;
use super::plane::{Kernel, TIERS, Tiles};
use super::*;
use crate::error::Status;
use crate::memory::LINE_SIZE;
use crate::simd::{Level, available, with_limit};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Sizes of elements that have kernels of their own, and others.
const ELEMENT_SIZES: [usize; 19] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 40];

/// An array in memory: dimensions in any order, gaps between them, backwards, from any byte on.
#[derive(Debug, Clone)]
struct Place {
    strides: Vec<i64>,
    offset: usize,
    memory_size: usize,
}

impl Place {
    /// `order`: the slowest dimension first. `gaps[i]`: elements that dimension i steps over beyond what the faster
    /// ones take, and bytes. `backwards[i]`: with a negative stride.
    fn new(shape: &[u64], size: usize, order: &[usize], gaps: &[(u64, u64)], backwards: &[bool], lead: usize) -> Self {
        let (mut reach, mut offset) = (size as i64, lead as i64);
        let mut strides = vec![0; shape.len()];
        for &dimension in order.iter().rev() {
            let (elements, bytes) = gaps[dimension];
            let stride = reach + elements as i64 * size as i64 + bytes as i64;
            let steps = shape[dimension].max(1) as i64 - 1;
            reach += steps * stride;
            strides[dimension] = if backwards[dimension] { -stride } else { stride };
            if backwards[dimension] {
                offset += steps * stride;
            }
        }
        Self { strides, offset: offset as usize, memory_size: lead + reach as usize + 3 }
    }

    fn layout(&self, shape: &[u64], size: usize) -> Layout {
        Layout::new(size, shape, Some(&self.strides), self.offset, self.memory_size).unwrap()
    }

    /// Where each element begins, in C order.
    fn positions(&self, shape: &[u64]) -> Vec<usize> {
        let count: u64 = shape.iter().product();
        let position = |mut index: u64| {
            let mut position = self.offset as i64;
            for (size, stride) in shape.iter().zip(&self.strides).rev() {
                position += (index % size) as i64 * stride;
                index /= size;
            }
            position as usize
        };
        (0..count).map(position).collect()
    }
}

#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    element_size: usize,
    source: Place,
    target: Place,
}

fn place(shape: Vec<u64>, size: usize) -> impl Strategy<Value = Place> {
    let rank = shape.len();
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let gap = prop_oneof![3 => Just((0, 0)), 1 => (0..3_u64, Just(0)), 1 => (Just(0), 0..5_u64)];
    let gaps = proptest::collection::vec(gap, rank);
    let backwards = proptest::collection::vec(proptest::bool::weighted(0.2), rank);
    (order, gaps, backwards, 0..70_usize)
        .prop_map(move |(order, gaps, backwards, lead)| Place::new(&shape, size, &order, &gaps, &backwards, lead))
}

fn case() -> impl Strategy<Value = Case> {
    let shape = (0..=6_usize).prop_flat_map(|rank| {
        let most = [1_u64, 300, 70, 20, 9, 6, 5][rank];
        proptest::collection::vec(prop_oneof![1 => 0..4_u64, 6 => 1..=most], rank)
    });
    (shape, proptest::sample::select(&ELEMENT_SIZES)).prop_flat_map(|(shape, element_size)| {
        (place(shape.clone(), element_size), place(shape.clone(), element_size))
            .prop_map(move |(source, target)| Case { shape: shape.clone(), element_size, source, target })
    })
}

fn noise(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let step = |_| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 56) as u8
    };
    (0..size).map(step).collect()
}

/// Runs random cases, more than once where a seed of the environment asks for it.
fn for_cases<T: std::fmt::Debug>(count: u32, strategy: impl Strategy<Value = T>, test: impl Fn(T)) {
    let config = Config { cases: count, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&strategy, |case| {
            test(case);
            Ok(())
        })
        .unwrap();
}

/// One case, by every tier.
fn check_copy(case: &Case) {
    let Case { shape, element_size: size, source, target } = case;
    let from = noise(source.memory_size, 1);
    let before = noise(target.memory_size, 2);
    let mut expected = before.clone();
    for (from_at, to_at) in source.positions(shape).into_iter().zip(target.positions(shape)) {
        expected[to_at..to_at + size].copy_from_slice(&from[from_at..from_at + size]);
    }
    let source = Source::new(&from, source.layout(shape, *size)).unwrap();
    for (tier, is_large) in available(TIERS).flat_map(|tier| [(tier, false), (tier, true)]) {
        let mut to = before.clone();
        let mut view = Target::new(&mut to, target.layout(shape, *size)).unwrap();
        let tiles = tier.kernel.tiles.map(|tiles| Tiles { instead: None, ..tiles });
        let kernel = Kernel { tiles, ..tier.kernel };
        // SAFETY: the tier is available.
        #[expect(unsafe_code, reason = "runs the kernel of each tier")]
        let copied = unsafe { copy_by(kernel, is_large, &source, &mut view) };
        copied.unwrap();
        assert!(to == expected, "{:?}, as a large one {is_large}: {case:?}", tier.level);
    }
}

#[test]
fn every_tier_copies_rows_of_every_size() {
    for size in (1..=520).chain([1023, 1024, 1025, 4095, 4096, 4097]) {
        for (shape, order) in [(vec![3, size], vec![0, 1]), (vec![2, 3, size], vec![1, 0, 2])] {
            let outward: Vec<usize> = (0..shape.len()).collect();
            let gaps: Vec<_> = outward.iter().map(|i| (0, if i + 1 < shape.len() { 5 } else { 0 })).collect();
            let source = Place::new(&shape, 1, &order, &gaps, &vec![false; shape.len()], 3);
            let target = Place::new(&shape, 1, &outward, &gaps, &vec![false; shape.len()], 1);
            check_copy(&Case { shape, element_size: 1, source, target });
        }
    }
}

#[test]
fn every_tier_turns_planes_of_every_small_size() {
    for size in [1, 2, 3, 4, 6, 8, 12, 16] {
        let least = 16 / size as u64;
        let most = 5 * least + 1;
        for rows in 1..=most {
            for columns in (1..=most).filter(|columns| rows % least < 2 || columns % least < 2) {
                for backwards in [[false, false], [true, false], [false, true]] {
                    let shape = [rows, columns];
                    let gap = [(0, 0), (0, 0)];
                    let source = Place::new(&shape, size, &[0, 1], &gap, &backwards, 3);
                    let target = Place::new(&shape, size, &[1, 0], &gap, &[false, false], 0);
                    check_copy(&Case { shape: shape.to_vec(), element_size: size, source, target });
                }
            }
        }
    }
}

#[test]
fn rows_of_every_length_are_copied_in_reverse_order() {
    for size in [1, 2, 3, 4, 8, 12, 16] {
        for columns in (1..=70).chain([257, 1000]) {
            for (backwards, gap) in [([false, true], 5), ([true, true], 0), ([true, true], 1)] {
                let shape = [3, columns];
                let source = Place::new(&shape, size, &[0, 1], &[(0, gap), (0, 0)], &backwards, 3);
                for target_backwards in [[false, false], [true, false]] {
                    let target = Place::new(&shape, size, &[0, 1], &[(0, 0), (0, 0)], &target_backwards, 1);
                    let case = Case { shape: shape.to_vec(), element_size: size, source: source.clone(), target };
                    check_copy(&case);
                }
            }
        }
    }
}

#[test]
fn every_tier_turns_planes_whose_rows_collide_in_a_cache() {
    for size in [1, 2, 3, 4, 6, 8, 12, 16] {
        for step in [1024, 2048, 4096] {
            let shape = [600 / size as u64, 9 * 64 / size as u64 + 7];
            // Each row of either side begins a multiple of the step after the one before it.
            let gap = |count: u64| (0, step - count * size as u64 % step);
            let (from, to) = ([gap(shape[1]), (0, 0)], [(0, 0), gap(shape[0])]);
            let source = Place::new(&shape, size, &[0, 1], &from, &[false, false], 1);
            for lead in [0, 3, 48] {
                let target = Place::new(&shape, size, &[1, 0], &to, &[false, true], lead);
                check_copy(&Case { shape: shape.to_vec(), element_size: size, source: source.clone(), target });
            }
        }
    }
}

/// Axes of a few elements that are the fastest of one side or of both, and a longer one, in all orders.
#[test]
fn every_tier_copies_along_short_axes() {
    for shape in [&[70, 3][..], &[70, 3, 2], &[140, 2, 2], &[1030, 2], &[40, 3, 35], &[5, 40, 3, 33], &[4, 4, 37, 2]] {
        let rank = shape.len();
        let outward: Vec<usize> = (0..rank).collect();
        for order in permutations(rank) {
            for (backwards, gap) in (0..=rank).flat_map(|axis| [(axis, 0), (axis, 1)]) {
                for size in [1, 2, 3, 4, 8, 16, 40] {
                    let gaps: Vec<_> = order.iter().map(|axis| (if *axis == 0 { gap } else { 0 }, 0)).collect();
                    let reversed: Vec<_> = (0..rank).map(|axis| axis == backwards).collect();
                    let source = Place::new(shape, size, &order, &gaps, &reversed, 3);
                    let target = Place::new(shape, size, &outward, &vec![(0, 0); rank], &vec![false; rank], 1);
                    check_copy(&Case { shape: shape.to_vec(), element_size: size, source, target });
                }
            }
        }
    }
}

#[test]
fn every_tier_copies_planes_of_which_one_side_collides_in_a_cache() {
    for size in [1, 2, 4, 8] {
        for (rows, columns, channels) in [(40, 20, 3), (33, 70, 1), (16, 16, 2), (70, 15, 2)] {
            let shape = [channels, columns, rows];
            // Source rows of 4096 bytes, of which each has pixels of one more channel.
            let gaps = [(0, 0), (1, 0), (0, 4096 - (columns * (channels + 1) - 1) * size)];
            let source = Place::new(&shape, size as usize, &[2, 1, 0], &gaps, &[false, true, false], 3);
            assert_eq!(source.strides[2], 4096);
            let none = ([(0, 0); 3], [false; 3]);
            let target = Place::new(&shape, size as usize, &[0, 1, 2], &none.0, &none.1, 1);
            let back = Case { shape: shape.to_vec(), element_size: size as usize, source, target };
            check_copy(&back);
            check_copy(&Case { source: back.target, target: back.source, ..back });
        }
    }
}

#[test]
fn a_copy_moves_each_element_to_its_place_and_touches_nothing_else() {
    for_cases(3000, case(), |case| check_copy(&case));
}

#[test]
fn parts_of_a_copy_are_the_copy() {
    for_cases(300, (case(), 1..9_usize), |(case, count)| {
        let Case { shape, element_size: size, source, target } = &case;
        let from = noise(source.memory_size, 1);
        let (mut whole, mut parted) = (noise(target.memory_size, 2), noise(target.memory_size, 2));
        let source = Source::new(&from, source.layout(shape, *size)).unwrap();
        copy(&source, &mut Target::new(&mut whole, target.layout(shape, *size)).unwrap()).unwrap();
        let parts = Target::new(&mut parted, target.layout(shape, *size)).unwrap();
        let parts = split(&source, parts, count).unwrap();
        assert!(parts.len() <= count);
        std::thread::scope(|scope| {
            for (source, mut target) in parts {
                scope.spawn(move || copy(&source, &mut target).unwrap());
            }
        });
        assert!(whole == parted, "{case:?}");
    });
}

#[test]
fn a_box_is_the_box_of_the_whole() {
    for_cases(500, (case(), proptest::collection::vec((0.0..1.0, 0.0..=1.0), 6)), |(case, cuts)| {
        let Case { shape, element_size: size, source, target } = &case;
        let cut = |(size, (start, end)): (&u64, &(f64, f64))| {
            let start = (*size as f64 * start) as u64;
            (start, ((size - start) as f64 * end).round() as u64)
        };
        let (start, part): (Vec<u64>, Vec<u64>) = shape.iter().zip(&cuts).map(cut).unzip();
        let from = noise(source.memory_size, 1);
        let mut to = noise(target.memory_size, 2);
        let mut expected = to.clone();
        let places = source.positions(shape).into_iter().zip(target.positions(shape));
        for (index, (from_at, to_at)) in places.enumerate() {
            let mut rest = index as u64;
            let is_inside = (0..shape.len()).rev().all(|i| {
                let index = rest % shape[i];
                rest /= shape[i];
                (start[i]..start[i] + part[i]).contains(&index)
            });
            if is_inside {
                expected[to_at..to_at + size].copy_from_slice(&from[from_at..from_at + size]);
            }
        }
        let source = Source::new(&from, source.layout(shape, *size)).unwrap().region(&start, &part).unwrap();
        let mut view = Target::new(&mut to, target.layout(shape, *size)).unwrap();
        copy(&source, &mut view.region(&start, &part).unwrap()).unwrap();
        assert!(to == expected, "{case:?} {start:?} {part:?}");
        let layout = target.layout(shape, *size).region(&start, &part).unwrap();
        let reach = target.positions(shape).into_iter().map(|at| at + size).max().unwrap_or(target.offset);
        assert!(layout.end() <= reach);
    });
}

#[test]
fn rows_are_the_elements_in_c_order() {
    for_cases(500, case(), |case| {
        let Case { shape, element_size: size, source, target } = &case;
        let from = noise(source.memory_size, 1);
        let expected: Vec<u8> =
            source.positions(shape).into_iter().flat_map(|at| from[at..at + size].iter().copied()).collect();
        let view = Source::new(&from, source.layout(shape, *size)).unwrap();
        assert_eq!(view.rows().flatten().copied().collect::<Vec<u8>>(), expected, "{case:?}");
        assert_eq!(view.as_slice().is_some(), view.is_contiguous());
        if let Some(bytes) = view.as_slice() {
            assert_eq!(bytes, expected);
        }
        let mut to = noise(target.memory_size, 2);
        let mut written = expected.iter();
        let mut view = Target::new(&mut to, target.layout(shape, *size)).unwrap();
        view.rows().flatten().for_each(|byte| *byte = *written.next().unwrap());
        assert_eq!(written.next(), None);
        let mut copied = noise(target.memory_size, 2);
        let mut view = Target::new(&mut copied, target.layout(shape, *size)).unwrap();
        copy(&Source::contiguous(&expected, *size, shape).unwrap(), &mut view).unwrap();
        assert!(to == copied, "{case:?}");
    });
}

#[test]
fn a_fill_writes_the_element_everywhere_and_is_found_again() {
    for_cases(500, (case(), any::<bool>()), |(case, one_byte)| {
        let Case { shape, element_size: size, target, .. } = &case;
        let element = if one_byte { vec![7; *size] } else { noise(*size, 3) };
        let mut to = noise(target.memory_size, 2);
        let mut expected = to.clone();
        for at in target.positions(shape) {
            expected[at..at + size].copy_from_slice(&element);
        }
        fill(&mut Target::new(&mut to, target.layout(shape, *size)).unwrap(), &element).unwrap();
        assert!(to == expected, "{case:?}");
        let is_fill = |memory: &[u8]| {
            let view = Source::new(memory, target.layout(shape, *size)).unwrap();
            all_equal(&view, &element).unwrap()
        };
        assert!(is_fill(&to));
        for at in target.positions(shape).into_iter().step_by(7) {
            for byte in [at, at + size - 1] {
                to[byte] ^= 0x80;
                assert!(!is_fill(&to), "{case:?}, byte {byte}");
                to[byte] ^= 0x80;
            }
        }
    });
}

/// Blocks of every size with a gap after each, in rows with and without short axes: every byte counts.
#[test]
fn blocks_of_every_size_are_filled_and_found_again() {
    for block in (1..=40).chain([64, 255, 1023, 1024, 1025]) {
        let element = noise(1, 7);
        for (shape, order) in [
            (vec![130, block], [0, 1, 2]),
            (vec![1, block], [0, 1, 2]),
            (vec![2, 65, block], [0, 1, 2]),
            (vec![2, 65, block], [1, 0, 2]),
            (vec![20, 3, block], [0, 1, 2]),
        ] {
            let rank = shape.len();
            let order: Vec<usize> = if rank == 2 { vec![0, 1] } else { order.to_vec() };
            let gaps: Vec<_> = (0..rank).map(|axis| (0, if axis + 1 < rank { 1 + axis as u64 } else { 0 })).collect();
            let place = Place::new(&shape, 1, &order, &gaps, &vec![false; rank], 2);
            let mut memory = vec![!element[0]; place.memory_size];
            fill(&mut Target::new(&mut memory, place.layout(&shape, 1)).unwrap(), &element).unwrap();
            let positions = place.positions(&shape);
            assert_eq!(memory.iter().filter(|byte| **byte == element[0]).count(), positions.len());
            assert!(positions.iter().all(|at| memory[*at] == element[0]), "{shape:?}");
            let is_fill = |memory: &[u8]| {
                let source = Source::new(memory, place.layout(&shape, 1)).unwrap();
                all_equal(&source, &element).unwrap()
            };
            assert!(is_fill(&memory), "{shape:?}");
            // All bytes of the first and the last block, and some others.
            let ends = (0..block as usize).flat_map(|at| [at, positions.len() - 1 - at]);
            for index in ends.chain((0..positions.len()).step_by(97)) {
                memory[positions[index]] ^= 0x10;
                assert!(!is_fill(&memory), "{shape:?}, byte {index}");
                memory[positions[index]] ^= 0x10;
            }
        }
    }
}

#[test]
fn runs_of_every_length_are_filled() {
    for size in [1, 2, 3, 4, 8, 12, 16, 255, 511, 512, 513, 1023, 1024, 1025, 3000] {
        let element: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
        let most = 4000 / size + 1;
        for count in (0..=most).filter(|count| *count < 40 || count % 97 < 2 || *count == most) {
            let mut found = vec![0xA5; (count + 1) * size];
            let shape = [count as u64];
            fill(&mut Target::contiguous(&mut found[..count * size], size, &shape).unwrap(), &element).unwrap();
            assert!(found[..count * size] == element.repeat(count), "{count} of {size} bytes");
            assert!(found[count * size..].iter().all(|byte| *byte == 0xA5));
        }
    }
}

#[test]
fn every_order_of_up_to_four_dimensions_is_the_definition() {
    for shape in [&[][..], &[5], &[1], &[33, 70], &[3, 1], &[2, 3, 4], &[40, 3, 35], &[1, 4, 1], &[3, 2, 5, 4]] {
        let rank = shape.len();
        for order in permutations(rank) {
            for size in ELEMENT_SIZES {
                let none = (vec![(0, 0); rank], vec![false; rank]);
                let source = Place::new(shape, size, &(0..rank).collect::<Vec<_>>(), &none.0, &none.1, 0);
                let target = Place::new(shape, size, &order, &none.0, &none.1, 1);
                check_copy(&Case { shape: shape.to_vec(), element_size: size, source, target });
            }
        }
    }
}

fn permutations(rank: usize) -> Vec<Vec<usize>> {
    if rank == 0 {
        return vec![vec![]];
    }
    let insert = |order: Vec<usize>| {
        (0..rank).map(move |at| {
            let mut longer = order.clone();
            longer.insert(at, rank - 1);
            longer
        })
    };
    permutations(rank - 1).into_iter().flat_map(insert).collect()
}

#[test]
fn permuted_views_have_their_dimensions_in_that_order() {
    let memory: Vec<u8> = (0..24).collect();
    let view = Source::contiguous(&memory, 1, &[2, 3, 4]).unwrap().permuted(&[2, 0, 1]).unwrap();
    assert_eq!((view.shape(), view.layout().strides()), (&[4, 2, 3][..], &[1, 12, 4][..]));
    let mut target = vec![0; 24];
    copy(&view, &mut Target::contiguous(&mut target, 1, &[4, 2, 3]).unwrap()).unwrap();
    assert_eq!(target[..7], [0, 4, 8, 12, 16, 20, 1]);
    for wrong in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 3]] {
        assert_eq!(view.permuted(wrong).unwrap_err().status(), Status::InvalidArgument);
    }
}

#[test]
fn dimensions_of_size_1_come_and_go() {
    let memory: Vec<u8> = (0..24).collect();
    let view = Source::contiguous(&memory, 1, &[4, 1, 6]).unwrap();
    let arranged = view.arranged(&[None, Some(2), Some(0), None]).unwrap();
    assert_eq!((arranged.shape(), arranged.layout().strides()), (&[1, 6, 4, 1][..], &[0, 1, 6, 0][..]));
    assert_eq!(arranged.rows().flatten().take(5).copied().collect::<Vec<u8>>(), [0, 6, 12, 18, 1]);
    for wrong in [&[Some(0), Some(0)][..], &[Some(0)], &[Some(0), Some(2), Some(3)], &[]] {
        assert_eq!(view.arranged(wrong).unwrap_err().status(), Status::Internal, "{wrong:?}");
    }
}

#[test]
fn a_shape_changes_where_strides_can_do_that() {
    let offsets = |layout: &Layout| -> Vec<isize> {
        let (size, rows) = layout.rows();
        rows.flat_map(|row| (0..size).map(move |byte| layout.offset() as isize + row + byte as isize)).collect()
    };
    let shapes = [&[24][..], &[4, 6], &[6, 4], &[2, 3, 4], &[4, 3, 2], &[1, 24, 1], &[3, 8], &[2, 2, 6], &[4, 1, 6]];
    for before in shapes {
        for order in permutations(before.len()) {
            for (gap, is_backwards) in [(0, false), (1, false), (0, true), (2, true)] {
                let gaps: Vec<(u64, u64)> =
                    (0..before.len()).map(|dimension| (gap * (dimension as u64 % 2), 0)).collect();
                let place = Place::new(before, 1, &order, &gaps, &vec![is_backwards; before.len()], 3);
                let layout = place.layout(before, 1);
                let expected = offsets(&layout);
                for after in shapes {
                    // The stride along a dimension is what a step along it adds to the offset.
                    let step = |dimension: usize| {
                        let next: u64 = after[dimension + 1..].iter().product();
                        if after[dimension] > 1 { (expected[next as usize] - expected[0]) as i64 } else { 0 }
                    };
                    let strides: Vec<i64> = (0..after.len()).map(step).collect();
                    let other = Layout::new(1, after, Some(&strides), place.offset, place.memory_size).ok();
                    let other = other.filter(|other| offsets(other) == expected);
                    assert_eq!(layout.reshaped(after), other, "{layout:?} as {after:?}");
                }
            }
        }
    }
    let layout = Layout::new(1, &[4, 6], None, 0, 24).unwrap();
    assert_eq!([layout.reshaped(&[4, 5]), layout.reshaped(&[5, 6]), layout.reshaped(&[2, 4, 6])], [None, None, None]);
}

fn refusal(size: usize, shape: &[u64], strides: Option<&[i64]>, offset: usize, memory_size: usize) -> String {
    let error = Layout::new(size, shape, strides, offset, memory_size).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument);
    error.to_string()
}

#[test]
fn layouts_that_leave_their_memory_are_refused_with_the_numbers() {
    assert_eq!(
        refusal(8, &[3, 5], Some(&[40, -8]), 16, 1000),
        "dimension 1, 5 elements with the stride -8, reaches byte -16 from offset 16, outside memory_size 1000"
    );
    assert_eq!(
        refusal(2, &[3, 5], Some(&[10, 2]), 1, 30),
        "dimension 1, 5 elements with the stride 2, reaches byte 30 from offset 1, outside memory_size 30"
    );
    assert_eq!(
        refusal(2, &[3, 5], None, 1, 30),
        "dimension 1, 5 elements with the stride 2, reaches byte 30 from offset 1, outside memory_size 30"
    );
    assert_eq!(
        refusal(8, &[], Some(&[]), 3, 10),
        "the first element has 8 bytes at offset 3, which end outside memory_size 10"
    );
    assert_eq!(refusal(1, &[0], Some(&[1]), 11, 10), "offset 11 is outside memory_size 10");
    assert_eq!(refusal(1, &[2, 3], Some(&[1]), 0, 10), "there are 1 strides, but the shape has 2 dimensions");
    assert_eq!(
        refusal(4, &[2, 1 << 62, 4], None, 0, 100),
        "the shape [2, 4611686018427387904, 4] of elements of 4 bytes does not fit memory_size 100"
    );
}

#[test]
fn numbers_at_the_ends_of_their_types_are_refused_or_harmless() {
    const MOST: u64 = u64::MAX;
    for stride in [i64::MIN, i64::MIN + 1, -1, 1, i64::MAX] {
        for size in [2, 3, 1 << 32, 1 << 63, MOST - 1, MOST] {
            for offset in [0, 1, 99, usize::MAX] {
                let may_fit = size <= 3 && stride.unsigned_abs() == 1 && offset < 100;
                for shape in [&[size][..], &[size, size]] {
                    let layout = Layout::new(8, shape, Some(&[stride, stride][..shape.len()]), offset, 100);
                    assert!(layout.is_err() || may_fit, "{shape:?} {stride} {offset}");
                }
            }
        }
    }
    assert!(Layout::new(usize::MAX, &[], None, 0, usize::MAX).is_ok());
    assert!(Layout::new(usize::MAX, &[2], None, 0, usize::MAX).is_err());
    // Where no step is taken, the stride may be anything.
    let wild = Layout::new(4, &[1, 3], Some(&[i64::MIN, 4]), 0, 12).unwrap();
    assert_eq!(wild.strides(), [0, 4]);
    assert!(wild.region(&[0, 3], &[1, 0]).unwrap().is_empty());
    let none = Layout::new(4, &[MOST, 0, MOST], Some(&[i64::MIN, i64::MAX, i64::MIN]), 7, 7).unwrap();
    assert!(none.is_empty() && none.contiguous_size() == Some(0));
    assert!(none.region(&[MOST, 0, 5], &[0, 0, 9]).is_ok());
    assert!(none.region(&[MOST, 0, 5], &[1, 0, 9]).is_err());
    assert_eq!(Source::new(&[0; 7], none).unwrap().rows().count(), 0);
}

#[test]
fn a_stride_of_zero_reads_one_element_again_and_cannot_be_written() {
    let memory = [1_u8, 2, 3];
    let layout = Layout::new(1, &[4, 3], Some(&[0, 1]), 0, 3).unwrap();
    let source = Source::new(&memory, layout.clone()).unwrap();
    let mut target = [0; 12];
    copy(&source, &mut Target::contiguous(&mut target, 1, &[4, 3]).unwrap()).unwrap();
    assert_eq!(target, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
    let error = Target::new(&mut target, layout).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument);
    // More than could ever be copied.
    let endless = Layout::new(1, &[u64::MAX / 2, u64::MAX / 2], Some(&[0, 0]), 1, 3).unwrap();
    assert!(all_equal(&Source::new(&memory, endless.clone()).unwrap(), &[2]).unwrap());
    assert!(!all_equal(&Source::new(&memory, endless).unwrap(), &[3]).unwrap());
}

#[test]
fn layouts_are_refused_by_smaller_memory() {
    let layout = Layout::new(2, &[3], Some(&[-2]), 4, 6).unwrap();
    assert!(Source::new(&[0; 6], layout.clone()).is_ok());
    let error = Source::new(&[0; 5], layout).unwrap_err();
    assert_eq!(error.to_string(), "the view reaches byte 5, outside memory_size 5");
}

#[test]
fn boxes_outside_and_other_shapes_are_refused() {
    let memory = [0; 12];
    let view = Source::contiguous(&memory, 1, &[3, 4]).unwrap();
    for (start, shape) in [(&[0][..], &[1][..]), (&[1, 0], &[3, 1]), (&[0, u64::MAX], &[1, 1]), (&[0, 5], &[1, 0])] {
        assert_eq!(view.region(start, shape).unwrap_err().status(), Status::InvalidArgument);
    }
    let mut other = [0; 12];
    let mut target = Target::contiguous(&mut other, 1, &[4, 3]).unwrap();
    assert_eq!(copy(&view, &mut target).unwrap_err().status(), Status::Internal);
    assert_eq!(fill(&mut target, &[1, 2]).unwrap_err().status(), Status::Internal);
    assert!(target.split(2, 0).is_err());
}

#[test]
fn the_parts_of_a_split_layout_are_its_boxes() {
    let split_count = std::cell::Cell::new(0);
    for_cases(1000, (case(), 0..6_usize, any::<u64>()), |(case, dimension, at)| {
        let Case { shape, element_size: size, source, .. } = case;
        let layout = source.layout(&shape, size);
        let at = shape.get(dimension).map_or(at, |size| at % (size + 2));
        if dimension >= shape.len() || at > shape[dimension] {
            assert!(layout.split(dimension, at).is_err());
            return;
        }
        let (mut first, mut second, mut start) = (shape.clone(), shape.clone(), vec![0; shape.len()]);
        let zeros = start.clone();
        (first[dimension], second[dimension], start[dimension]) = (at, shape[dimension] - at, at);
        let boxes = (layout.region(&zeros, &first).unwrap(), layout.region(&start, &second).unwrap());
        assert_eq!(layout.split(dimension, at).unwrap(), boxes, "{shape:?} at {at} of {dimension}");
        split_count.set(split_count.get() + 1);
    });
    assert!(split_count.get() > 300, "{} layouts were split", split_count.get());
}

#[test]
fn a_layout_that_spans_all_of_memory_is_split() {
    const FAR: isize = isize::MAX - 8;
    for stride in [FAR as i64, -(FAR as i64)] {
        let offset = if stride < 0 { FAR as usize } else { 0 };
        let layout = Layout::new(4, &[2], Some(&[stride]), offset, usize::MAX).unwrap();
        for at in 0..=2 {
            let (first, second) = layout.clone().split(0, at).unwrap();
            assert_eq!(first, layout.region(&[0], &[at]).unwrap());
            assert_eq!(second, layout.region(&[at], &[2 - at]).unwrap());
        }
    }
}

/// Boxes side by side along the last dimension of an array, the last one perhaps narrower.
#[derive(Debug, Clone)]
struct Row {
    shape: Vec<u64>,
    width: u64,
    element_size: usize,
    target: Place,
}

fn row() -> impl Strategy<Value = Row> {
    let outer = proptest::collection::vec(1..5_u64, 0..4);
    let width = proptest::sample::select(vec![1_u64, 7, 16, 32, 64, 256]);
    let size = proptest::sample::select(vec![1_usize, 2, 4, 8, 16]);
    let rest = prop_oneof![3 => Just(0_u64), 1 => 0..3_u64];
    (outer, width, 1..20_u64, size, rest).prop_flat_map(|(mut shape, width, count, size, rest)| {
        shape.push(width * count + rest);
        // Rows that begin with lines, with vectors, or anywhere.
        let in_order = {
            let (shape, rank) = (shape.clone(), shape.len());
            let gap = prop_oneof![6 => Just(0_u64), 3 => Just(64), 2 => Just(16), 1 => Just(3)];
            let lead = prop_oneof![6 => Just(0_usize), 2 => Just(16), 2 => Just(48), 1 => Just(5)];
            let gaps = proptest::collection::vec(gap.prop_map(|bytes| (0, bytes)), rank - 1);
            let backwards = proptest::collection::vec(proptest::bool::weighted(0.2), rank - 1);
            (gaps, backwards, lead).prop_map(move |(mut gaps, mut backwards, lead)| {
                gaps.push((0, 0));
                backwards.push(false);
                Place::new(&shape, size, &(0..rank).collect::<Vec<_>>(), &gaps, &backwards, lead)
            })
        };
        let target = prop_oneof![4 => in_order, 1 => place(shape.clone(), size)];
        target.prop_map(move |target| Row { shape: shape.clone(), width, element_size: size, target })
    })
}

#[test]
fn boxes_of_a_strip_go_to_their_place_by_every_tier() {
    for limit in [None, Some(Level::Portable)] {
        with_limit(limit, boxes_of_a_strip_go_to_their_place);
    }
}

/// Rows that begin where a line does, and after each vector in it.
#[test]
fn boxes_of_a_strip_may_begin_anywhere_in_a_line() {
    for limit in [None, Some(Level::Portable)] {
        for (width, count, shift) in [64, 96, 128]
            .iter()
            .flat_map(|width| (2..9).flat_map(move |count| (0..4).map(move |k| (*width, count, 16 * k))))
        {
            let (rows, row_size) = (6, width * count);
            let elements = noise(rows * row_size, 1);
            let mut to = noise(rows * row_size + 2 * LINE_SIZE, 2);
            let begin = to.as_ptr().align_offset(LINE_SIZE) + shift;
            let mut expected = to.clone();
            expected[begin..begin + elements.len()].copy_from_slice(&elements);
            let mut memory = Vec::new();
            with_limit(limit, || {
                let target = &mut to[begin..begin + elements.len()];
                let mut rest = Target::contiguous(target, 1, &[rows as u64, row_size as u64]).unwrap();
                let mut strip = Strip::new(&mut memory);
                for number in 0..count {
                    let (target, after) = rest.split(1, width as u64).unwrap();
                    rest = after;
                    let room = strip.add(target).unwrap().unwrap();
                    for (row, bytes) in room.chunks_exact_mut(width).enumerate() {
                        bytes.copy_from_slice(&elements[row * row_size + number * width..][..width]);
                    }
                }
                strip.finish();
            });
            assert!(to == expected, "{count} boxes of {width} bytes from {shift} on");
        }
    }
}

fn boxes_of_a_strip_go_to_their_place() {
    let in_strips = std::cell::Cell::new(0);
    for_cases(1500, row(), |Row { shape, width, element_size: size, target }| {
        let count = shape.iter().product::<u64>() as usize;
        let elements = noise(count * size, 1);
        // Memory that begins with a line, wherever the allocator put it.
        let mut to = noise(target.memory_size + LINE_SIZE, 2);
        let begin = to.as_ptr().align_offset(LINE_SIZE);
        let to = &mut to[begin..begin + target.memory_size];
        let mut expected = to.to_vec();
        for (element, at) in elements.chunks_exact(size).zip(target.positions(&shape)) {
            expected[at..at + size].copy_from_slice(element);
        }
        let whole = Source::contiguous(&elements, size, &shape).unwrap();
        let last = shape.len() - 1;
        let (mut start, mut box_shape) = (vec![0; shape.len()], shape.clone());
        let mut boxes = Vec::new();
        while start[last] < shape[last] {
            box_shape[last] = width.min(shape[last] - start[last]);
            let mut contents = vec![0; box_shape.iter().product::<u64>() as usize * size];
            let source = whole.region(&start, &box_shape).unwrap();
            copy(&source, &mut Target::contiguous(&mut contents, size, &box_shape).unwrap()).unwrap();
            boxes.push((box_shape.clone(), contents));
            start[last] += width;
        }
        let mut memory = Vec::new();
        let mut rest = Target::new(to, target.layout(&shape, size)).unwrap();
        let mut strip = Strip::new(&mut memory);
        for (number, (box_shape, contents)) in boxes.iter().enumerate() {
            let (target, after) = rest.split(last, box_shape[last]).unwrap();
            rest = after;
            let direct = match number % 5 {
                // Elements that are at hand, and those that are decoded.
                0 => strip.add_elements(contents, target).unwrap(),
                4 if number % 3 == 0 => Some(target),
                _ => match strip.add(target).unwrap() {
                    Ok(memory) => {
                        memory.copy_from_slice(contents);
                        None
                    }
                    Err(target) => Some(target),
                },
            };
            match direct {
                Some(mut target) => copy(&Source::contiguous(contents, size, box_shape).unwrap(), &mut target).unwrap(),
                None => in_strips.set(in_strips.get() + 1),
            }
        }
        strip.finish();
        assert!(to == expected, "{shape:?} in boxes of {width}, elements of {size} bytes: {target:?}");
    });
    assert!(in_strips.get() > 1000, "{} boxes were in strips", in_strips.get());
}

#[test]
fn boxes_of_a_row_are_copied_together() {
    let gathered_count = std::cell::Cell::new(0);
    for_cases(1500, row(), |Row { shape, width, element_size: size, target: place }| {
        let (mut shape, last) = (shape, place.strides.len() - 1);
        shape[last] -= shape[last] % width;
        let from = noise(place.memory_size, 3);
        let source = Source::new(&from, place.layout(&shape, size)).unwrap();
        let mut memory = Vec::new();
        let Some(gathered) = Gathered::new(&source, width, 512, &mut memory).unwrap() else { return };
        let (mut start, mut box_shape) = (vec![0; shape.len()], shape.clone());
        box_shape[last] = width;
        for number in 0..shape[last] / width {
            start[last] = number * width;
            let mut expected = vec![0; box_shape.iter().product::<u64>() as usize * size];
            let part = source.region(&start, &box_shape).unwrap();
            copy(&part, &mut Target::contiguous(&mut expected, size, &box_shape).unwrap()).unwrap();
            assert!(gathered.get(number as usize) == expected, "box {number} of {width}, {shape:?}, {place:?}");
        }
        gathered_count.set(gathered_count.get() + 1);
    });
    assert!(gathered_count.get() > 100, "{} rows were gathered", gathered_count.get());
}
