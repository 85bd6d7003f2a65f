use super::*;
use crate::error::Status;
use proptest::prelude::*;

fn codec(level: i32, checksum: bool) -> Zstd {
    Zstd { level, checksum }
}

fn encode(contexts: &mut Contexts, level: i32, checksum: bool, decoded: &[u8]) -> Vec<u8> {
    let mut encoded = vec![0xA5; encoded_bound(decoded.len()).unwrap()];
    let size = contexts.encode(codec(level, checksum), decoded, &mut encoded).unwrap();
    encoded.truncate(size);
    encoded
}

/// A frame that does not state its size, with blocks of their own.
fn without_stated_size(level: i32, window_log: u32, decoded: &[u8]) -> Vec<u8> {
    let mut compressor = CCtx::create();
    compressor.set_parameter(CParameter::CompressionLevel(level)).unwrap();
    compressor.set_parameter(CParameter::WindowLog(window_log)).unwrap();
    let mut encoded = vec![0; 2 * decoded.len() + 1000];
    let mut output = OutBuffer::around(&mut encoded[..]);
    for part in decoded.chunks(50_000) {
        compressor.compress_stream(&mut output, &mut InBuffer::around(part)).unwrap();
    }
    while compressor.end_stream(&mut output).unwrap() > 0 {}
    let size = output.pos();
    encoded.truncate(size);
    encoded
}

fn sample(size: usize) -> Vec<u8> {
    (0..size as u64).map(|i| (i * i / 1000 % 251) as u8).collect()
}

#[test]
fn a_frame_is_the_same_at_every_capacity_that_holds_it() {
    let mut contexts = Contexts::default();
    for size in [0, 1, 100, 5000, 200_000] {
        for (name, decoded) in [("text", sample(size)), ("zeros", vec![0; size]), ("noise", noise(size))] {
            for level in [-5, 1, 3, 9] {
                let expected = encode(&mut contexts, level, true, &decoded);
                let bound = encoded_bound(size).unwrap();
                let few = expected.len() + 1..expected.len() + 40;
                for capacity in few.chain([expected.len(), bound - 1, bound, bound + 1, 2 * bound + 100]) {
                    let mut encoded = vec![0; capacity];
                    let result = contexts.encode(codec(level, true), &decoded, &mut encoded);
                    assert_eq!(result, Ok(expected.len()), "{size} bytes of {name}, level {level}, {capacity}");
                    assert_eq!(
                        encoded[..expected.len()],
                        expected,
                        "{size} bytes of {name}, level {level}, {capacity}"
                    );
                }
                let mut small = vec![0; expected.len() - 1];
                let error = contexts.encode(codec(level, true), &decoded, &mut small).unwrap_err();
                assert_eq!(error.status(), Status::BufferTooSmall);
            }
        }
    }
}

fn noise(size: usize) -> Vec<u8> {
    (0..size).map(|i: usize| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[test]
fn contexts_keep_nothing_of_the_codec_before() {
    let mut shared = Contexts::default();
    let decoded = sample(30_000);
    for (level, checksum) in [(1, false), (19, true), (3, false), (-7, true), (3, true), (1, false)] {
        let alone = encode(&mut Contexts::default(), level, checksum, &decoded);
        assert_eq!(encode(&mut shared, level, checksum, &decoded), alone, "level {level}, checksum {checksum}");
    }
}

#[test]
fn the_size_of_frames_is_known_without_holding_them() {
    let mut contexts = Contexts::default();
    for size in [0, 1, 100, 300_000, 3_000_000] {
        let decoded = sample(size);
        let stated = encode(&mut contexts, 3, true, &decoded);
        let unstated = without_stated_size(3, 18, &decoded);
        let skippable = [b"\x51\x2a\x4d\x18\x03\0\0\0".as_slice(), b"abc"].concat();
        assert_eq!(frames(&stated).unwrap().stated_size, Some(size as u64));
        assert_eq!(frames(&unstated).unwrap().stated_size, (size == 0).then_some(0)); // libzstd says so at the end
        for (list, copies) in
            [(vec![&stated], 1), (vec![&unstated], 1), (vec![&skippable, &stated, &unstated, &skippable, &unstated], 3)]
        {
            let encoded: Vec<u8> = list.into_iter().flatten().copied().collect();
            assert_eq!(contexts.decoded_capacity(&encoded), Ok(copies * size as u64));
            assert!(frames(&encoded).unwrap().size_limit >= copies * size as u64);
            if size > 0 {
                let error = contexts.decode(&encoded, &mut vec![0; size - 1]).unwrap_err();
                assert_eq!(error.needed_capacity(), Some(copies as usize * size));
            }
            let mut again = vec![0; copies as usize * size];
            assert_eq!(contexts.decode(&encoded, &mut again), Ok(again.len()));
            assert!(again.chunks_exact(size.max(1)).all(|copy| copy == decoded));
        }
    }
}

#[test]
fn the_limit_of_a_large_window_takes_no_memory() {
    let decoded = sample(1_000_000);
    let encoded = without_stated_size(3, 25, &decoded);
    assert!(frames(&encoded).unwrap().window_size > 1 << MAX_COUNTING_WINDOW_LOG);
    let capacity = Contexts::default().decoded_capacity(&encoded).unwrap();
    assert_eq!(capacity, frames(&encoded).unwrap().size_limit);
    // Each block counts as a whole one, and libzstd makes smaller ones.
    assert!((1_000_000..=4_000_000).contains(&capacity), "{capacity}");
}

#[test]
fn damaged_frames_are_corrupt_whatever_the_capacity() {
    // One flipped bit of 500 bytes: libzstd asks for more room at every capacity.
    const FLIPPED: [u8; 75] = [
        40, 181, 47, 253, 96, 244, 0, 13, 2, 0, 4, 2, 0, 0, 0, 0, 0, 1, 2, 3, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 5, 5,
        5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 13, 0, 129, 136, 4, 72, 36, 64, 34, 1, 19, 5, 8, 224, 44, 16, 32, 145, 0, 137,
        102, 54, 172, 4, 120, 33, 0, 1, 92, 56, 46,
    ];
    let mut contexts = Contexts::default();
    assert_eq!(frames(&FLIPPED).unwrap().size_limit, 500);
    for capacity in [500, 501, 1 << 20] {
        let error = contexts.decode(&FLIPPED, &mut vec![0; capacity]).unwrap_err();
        assert_eq!(error.status(), Status::CorruptData, "{capacity}");
    }
    // A frame that states 2^60 bytes, with an empty block.
    let claims = [0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0x10, 1, 0, 0];
    for error in [contexts.decoded_capacity(&claims).unwrap_err(), frames(&claims).unwrap_err()] {
        assert_eq!(
            error.to_string(),
            "a zstd frame states 1152921504606846976 bytes, but its blocks hold no more than 0"
        );
    }
}

/// A find of mutations: libzstd calls every output too small for this frame, which says that it has 2944 bytes.
#[test]
fn a_frame_with_more_than_it_says_is_corrupt() {
    let encoded = [0x28, 0xB5, 0x2F, 0xFD, 0x60, 0x80, 0x0A, 0x45, 0, 0, 8, 0, 1, 0, 0xB4, 0xF3, 0x81, 0x12];
    for (capacity, status) in
        [(100, Status::BufferTooSmall), (3000, Status::CorruptData), (1 << 20, Status::CorruptData)]
    {
        let found = Contexts::default().decode(&encoded, &mut vec![0; capacity]);
        assert_eq!(found.map_err(|error| error.status()), Err(status), "{capacity}");
    }
}

/// A frame of blocks, each with its type, its size and its bytes.
fn frame_of_blocks(header: &[u8], blocks: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let mut frame = [&[0x28, 0xB5, 0x2F, 0xFD], header].concat();
    for (index, (kind, size, bytes)) in blocks.iter().enumerate() {
        let is_last = u32::from(index + 1 == blocks.len());
        frame.extend_from_slice(&(is_last | kind << 1 | size << 3).to_le_bytes()[..3]);
        frame.extend_from_slice(bytes);
    }
    frame
}

/// libzstd decodes them in one go, but not piece by piece.
#[test]
fn a_block_over_the_maximum_of_its_frame_is_corrupt_whatever_the_capacity() {
    const RAW: u32 = 0;
    const REPEATED: u32 = 1;
    let (small_window, large_window, stated) = ([0, 0], [0, 0x60], [0x60, 0xF4, 0]); // 1 KiB; 4 MiB; 500 bytes
    let bytes = vec![7; (128 << 10) + 1];
    for (header, maximum) in [(&small_window[..], 1 << 10), (&large_window[..], 128 << 10), (&stated[..], 500)] {
        for size in [maximum, maximum + 1] {
            for block in [(RAW, size, &bytes[..size as usize]), (REPEATED, size, &bytes[..1])] {
                let encoded = frame_of_blocks(header, &[block]);
                let what = format!("size {size} of {maximum}, type {}", block.0);
                for capacity in [0, size as usize - 1, size as usize, 1 << 20] {
                    let result = Contexts::default().decode(&encoded, &mut vec![0; capacity]);
                    match result.map_err(|error| (error.status(), error.needed_capacity(), error.to_string())) {
                        Err((Status::CorruptData, _, message)) if size > maximum => assert_eq!(
                            message,
                            format!(
                                "a zstd block has the size {size}, but the blocks of its frame have no more than \
                                 {maximum} bytes"
                            ),
                            "{what}"
                        ),
                        Err((Status::BufferTooSmall, needed, _)) if size == maximum && capacity < size as usize => {
                            assert_eq!(needed, Some(size as usize), "{what}");
                        }
                        Ok(found) if size == maximum => assert_eq!(found, size as usize, "{what}"),
                        other => panic!("{what}, capacity {capacity}: {other:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn frames_that_say_their_sizes_are_added_up() {
    let frame = |size: usize| encode(&mut Contexts::default(), 3, false, &vec![7; size]);
    let skippable = [0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let all = [&frame(70_000)[..], &skippable, &frame(5)].concat();
    assert_eq!(frames(&all).unwrap().stated_size, Some(70_005));
    assert!(frames(&all[..all.len() - 1]).is_err());
    assert!(frames(b"no frame").is_err());
}

/// numcodecs takes them, and so does its name here.
#[test]
fn levels_over_the_highest_are_the_highest() {
    let decoded = sample(30_000);
    let highest = encode(&mut Contexts::default(), 22, false, &decoded);
    assert_eq!(encode(&mut Contexts::default(), i32::MAX, false, &decoded), highest);
}

#[test]
fn every_cut_is_corrupt() {
    let mut contexts = Contexts::default();
    let decoded = sample(20_000);
    for encoded in [encode(&mut contexts, 3, true, &decoded), without_stated_size(3, 18, &decoded)] {
        for size in 1..encoded.len() {
            let cut = &encoded[..size];
            assert_eq!(frames(cut).unwrap_err().status(), Status::CorruptData, "{size}");
            assert_eq!(contexts.decoded_capacity(cut).unwrap_err().status(), Status::CorruptData, "{size}");
            assert_eq!(contexts.count(cut).unwrap_err().status(), Status::CorruptData, "{size}");
            assert_eq!(contexts.decode(cut, &mut [0; 100]).unwrap_err().status(), Status::CorruptData, "{size}");
        }
    }
}

proptest! {
    /// Of what libzstd decodes, the limit is none too low, and counting agrees.
    #[test]
    fn flipped_bits_never_decode_to_more_than_the_limit(
        size in 0_usize..3000, flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 0..3), stated: bool
    ) {
        let mut contexts = Contexts::default();
        let decoded = sample(size);
        let mut encoded =
            if stated { encode(&mut contexts, 1, false, &decoded) } else { without_stated_size(1, 12, &decoded) };
        for (at, bit) in flips {
            let at = at.index(encoded.len());
            encoded[at] ^= 1_u8 << bit;
        }
        if let Ok(size) = contexts.decode(&encoded, &mut vec![0; 1 << 20]) {
            prop_assert!(size as u64 <= frames(&encoded).unwrap().size_limit);
            prop_assert!(size as u64 <= contexts.decoded_capacity(&encoded).unwrap());
        }
    }
}
