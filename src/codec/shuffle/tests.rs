use super::{Shuffle, reference};
use crate::memory::{LINE_SIZE, size_before_line};
use crate::simd::Level;

/// Lengths in elements: every one of a few vectors, and around a tile.
fn counts() -> impl Iterator<Item = usize> {
    (0..=150).chain([192, 255, 256, 257, 512, 520, 1024, 1032, 4095, 4096, 4104, 8200, 12_304])
}

fn bytes(size: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..size).map(next).collect()
}

/// Calls `check` for each tier, element size and length, with dirty output: nothing may rely on zeros.
fn on_every_tier(check: impl Fn(Level, Shuffle, u8, &[u8], &mut Vec<u8>)) {
    for element_size in (1..=40).chain([47, 48, 64, 65, 127, 128, 254, 255]) {
        let limit = if matches!(element_size, 1 | 2 | 4 | 8 | 16) { usize::MAX } else { 70_000 };
        for count in counts().filter(|count| count * usize::from(element_size) < limit) {
            for rest in [0, usize::from(element_size) / 2] {
                let decoded = bytes(count * usize::from(element_size) + rest);
                for (tier, shuffle) in Shuffle::all(element_size) {
                    check(tier, shuffle, element_size, &decoded, &mut vec![0xA5; decoded.len()]);
                }
            }
        }
    }
}

#[test]
fn every_tier_shuffles_like_the_reference_at_every_length() {
    on_every_tier(|tier, shuffle, element_size, decoded, target| {
        let size = decoded.len();
        let shuffled = reference::shuffle(usize::from(element_size), decoded);
        shuffle.shuffle(decoded, target);
        assert!(*target == shuffled, "tier {tier:?}, element size {element_size}, shuffles {size} bytes");
        target.fill(0x5A);
        shuffle.unshuffle(&shuffled, target);
        assert!(*target == decoded, "tier {tier:?}, element size {element_size}, unshuffles {size} bytes");
    });
}

#[test]
fn every_tier_shuffles_bits_like_the_reference_at_every_length() {
    on_every_tier(|tier, shuffle, element_size, decoded, target| {
        let size = decoded.len();
        let shuffled = reference::bitshuffle(usize::from(element_size), decoded);
        let mut tile = vec![0xA5; shuffle.tile_size()];
        shuffle.bitshuffle(decoded, target, &mut tile);
        assert!(*target == shuffled, "tier {tier:?}, element size {element_size}, shuffles {size} bytes");
        target.fill(0x5A);
        shuffle.bitunshuffle(&shuffled, target, &mut tile);
        assert!(*target == decoded, "tier {tier:?}, element size {element_size}, unshuffles {size} bytes");
    });
}

#[test]
fn every_tier_moves_to_memory_at_any_place_of_a_cache_line() {
    for element_size in [1, 2, 3, 4, 6, 8, 16, 20, 63] {
        let size = usize::from(element_size);
        for count in [512, 576, 1024, 4096, 4608, 16_384] {
            let decoded = bytes(count * size + size / 2);
            let shuffled = [reference::shuffle(size, &decoded), reference::bitshuffle(size, &decoded)];
            for (tier, shuffle) in Shuffle::all(element_size) {
                for place in [0, 1, 2, 8, 12, 16, 17, 32, 48, 63] {
                    let mut memory = vec![0; decoded.len() + 2 * LINE_SIZE];
                    let begin = size_before_line(&memory) + place;
                    let target = &mut memory[begin..][..decoded.len()];
                    let mut tile = vec![0xA5; shuffle.tile_size()];
                    let case = format!("tier {tier:?}, {count} elements of {element_size}, at {place}");
                    target.fill(0xA5);
                    shuffle.shuffle(&decoded, target);
                    assert!(target == shuffled[0], "{case}: shuffles");
                    target.fill(0x5A);
                    shuffle.unshuffle(&shuffled[0], target);
                    assert!(target == decoded, "{case}: unshuffles");
                    target.fill(0xA5);
                    shuffle.bitshuffle(&decoded, target, &mut tile);
                    assert!(target == shuffled[1], "{case}: shuffles bits");
                    target.fill(0x5A);
                    shuffle.bitunshuffle(&shuffled[1], target, &mut tile);
                    assert!(target == decoded, "{case}: unshuffles bits");
                    let outside = [&memory[..begin], &memory[begin + decoded.len()..]];
                    assert!(outside.into_iter().flatten().all(|byte| *byte == 0), "{case}: writes nothing else");
                }
            }
        }
    }
}

#[test]
fn every_part_is_what_the_whole_has_there() {
    for element_size in [1, 2, 3, 4, 8, 16, 17, 255] {
        let size = usize::from(element_size);
        for count in [0, 1, 7, 8, 64, 100, 136, 600] {
            let decoded = bytes(count * size + size / 2);
            let shuffled = [reference::shuffle(size, &decoded), reference::bitshuffle(size, &decoded)];
            let ends = [0, 1, size, 8 * size, 9 * size - 1, 70 * size + 1, count * size, decoded.len()];
            let places: Vec<usize> = ends.into_iter().filter(|end| *end <= decoded.len()).collect();
            for (tier, shuffle) in Shuffle::all(element_size) {
                let mut tile = vec![0xA5; shuffle.tile_size()];
                for (start, end) in places.iter().flat_map(|start| places.iter().map(move |end| (*start, *end))) {
                    let Some(part_size) = end.checked_sub(start) else { continue };
                    let mut part = vec![0xA5; part_size];
                    shuffle.unshuffle_part(&shuffled[0], start, &mut part);
                    assert!(
                        part == decoded[start..end],
                        "{tier:?}, {count} elements of {size}: bytes {start} to {end}"
                    );
                    part.fill(0x5A);
                    shuffle.bitunshuffle_part(&shuffled[1], start, &mut part, &mut tile);
                    assert!(
                        part == decoded[start..end],
                        "{tier:?}, {count} elements of {size}: bits, {start} to {end}"
                    );
                }
            }
        }
    }
}

/// Worked out by hand.
#[test]
fn the_reference_is_what_the_filters_are() {
    assert_eq!(reference::shuffle(2, &[1, 2, 3, 4, 5, 6, 7]), [1, 3, 5, 2, 4, 6, 7]);
    assert_eq!(reference::bitshuffle(1, &[1, 0, 0, 0, 0, 0, 0, 3]), [0x81, 0x80, 0, 0, 0, 0, 0, 0]);
    assert_eq!(reference::bitshuffle(1, &[1, 2, 3]), [1, 2, 3]);
}
