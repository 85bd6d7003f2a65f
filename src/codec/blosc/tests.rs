use super::chunk::Chunk;
use super::compressor::Compressor;
use super::decode::Decoder;
use super::encode::{Encoder, Settings, check_size};
use super::frame::{Filter, Frame, HEADER_SIZE};
use crate::error::{Result, Status};
use crate::interface::Slabs;
use crate::parallel::{Executor, Workers};
use std::num::NonZeroUsize;

pub(super) const FILTERS: [Filter; 3] = [Filter::None, Filter::Shuffle, Filter::Bitshuffle];

/// Slowly growing integers of 2 bytes with some noise in the lower one.
pub(super) fn field(size: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let value = |index: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (index as u32 / 3).wrapping_add(state >> 29) as u16
    };
    let mut bytes: Vec<u8> = (0..size.div_ceil(2)).map(value).flat_map(u16::to_le_bytes).collect();
    bytes.truncate(size);
    bytes
}

pub(super) fn encode(settings: &Settings, decoded: &[u8]) -> Vec<u8> {
    let mut encoded = vec![0xA5; decoded.len() + HEADER_SIZE];
    let size = Encoder::default().encode(settings, decoded, &mut encoded).expect("the bound is enough");
    encoded.truncate(size);
    encoded
}

pub(super) fn decode(encoded: &[u8]) -> Result<Vec<u8>> {
    let frame = Frame::new(encoded)?;
    let mut decoded = vec![0x5A; frame.decoded_size()];
    Decoder::default().decode(&frame, 0..decoded.len(), &mut decoded)?;
    Ok(decoded)
}

/// Runs the jobs of workers one after the other.
#[derive(Debug)]
struct OneThread(NonZeroUsize);

impl Executor for OneThread {
    fn max_workers(&self) -> NonZeroUsize {
        self.0
    }

    fn run(&self, count: u32, job: &(dyn Fn() + Sync)) -> Result<()> {
        (0..count).for_each(|_| job());
        Ok(())
    }
}

/// Encodes into this capacity by up to this many workers: bytes at hand, and the same in slabs.
fn encode_by(count: usize, settings: &Settings, decoded: &[u8], capacity: usize) -> Result<Vec<u8>> {
    let count = NonZeroUsize::new(count).unwrap();
    let encode = |chunk: Chunk<'_>, executor: Option<&dyn Executor>| {
        let mut encoded = vec![0xA5; capacity];
        let size =
            Encoder::default().encode_by((Workers::new(count, executor), count), settings, chunk, &mut encoded)?;
        encoded.truncate(size);
        Ok(encoded)
    };
    // Of small chunks there are so many that threads for each would take minutes, and under qemu-user 24 GB of memory.
    let one_thread = OneThread(count);
    let executor = (decoded.len() < 10_000).then_some(&one_thread as &dyn Executor);
    let result = encode(Chunk::Memory(decoded), executor.filter(|_| count.get() > 2));
    for slab_size in [decoded.len() / 7 + 1, 3 * settings.block_size / 2 + 1, decoded.len()] {
        let numbers = 0..decoded.len().div_ceil(slab_size);
        let slabs = Slabs { size: slab_size, decoded_size: decoded.len(), numbers };
        let get = |number: usize, bytes: &mut [u8]| {
            bytes.copy_from_slice(&decoded[slabs.range(number)]);
            Ok(())
        };
        assert_eq!(encode(Chunk::Slabs(&slabs, &get), executor), result, "{settings:?}, slabs of {slab_size} bytes");
    }
    result
}

/// Bytes that no compressor makes smaller.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let byte = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..size).map(byte).collect()
}

fn settings(compressor: Compressor, filter: Filter, element_size: u8) -> Settings {
    Settings { compressor, level: 5, filter, element_size, block_size: 0 }
}

#[test]
fn every_range_of_a_frame_decodes_by_itself() {
    let decoded = field(5000);
    let mut decoder = Decoder::default();
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            for (element_size, block_size) in [(2, 512), (3, 1000), (1, 130), (8, 4096)] {
                let settings = Settings { block_size, ..settings(compressor, filter, element_size) };
                let encoded = encode(&settings, &decoded);
                let frame = Frame::new(&encoded).unwrap();
                for (start, end) in [(0, 5000), (0, 0), (1, 2), (511, 513), (500, 4999), (4096, 5000), (5000, 5000)] {
                    let mut part = vec![0x5A; end - start];
                    decoder.decode(&frame, start..end, &mut part).unwrap();
                    assert!(part == decoded[start..end], "{settings:?} {start}..{end}");
                }
            }
        }
    }
}

#[test]
fn a_block_that_is_stored_is_read_by_a_decoder_that_has_read_nothing_else() {
    let decoded = [noise(1024), vec![7; 3072]].concat();
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            for element_size in [2, 64] {
                let settings = Settings { block_size: 256, ..settings(compressor, filter, element_size) };
                let encoded = encode(&settings, &decoded);
                let frame = Frame::new(&encoded).unwrap();
                for (start, end) in [(0, 256), (1, 9), (100, 300), (0, 1024), (1000, 2000)] {
                    let mut part = vec![0x5A; end - start];
                    Decoder::default().decode(&frame, start..end, &mut part).unwrap();
                    assert!(part == decoded[start..end], "{settings:?} {start}..{end}");
                }
            }
        }
    }
}

#[test]
fn a_range_needs_no_block_but_those_it_touches() {
    let decoded = field(4096);
    let settings = Settings { block_size: 1024, ..settings(Compressor::Zstd, Filter::Shuffle, 2) };
    let mut encoded = encode(&settings, &decoded);
    // The start of the third block.
    encoded[24..28].fill(0xFF);
    let frame = Frame::new(&encoded).unwrap();
    let mut decoder = Decoder::default();
    let mut part = [0; 2048];
    assert_eq!(decoder.decode(&frame, 0..2048, &mut part), Ok(()));
    assert!(part == decoded[..2048]);
    assert_eq!(decoder.decode(&frame, 3072..4096, &mut part[..1024]), Ok(()));
    let error = decoder.decode(&frame, 2047..2049, &mut part[..2]).unwrap_err();
    assert_eq!(error.status(), Status::CorruptData);
}

#[test]
fn a_result_does_not_depend_on_what_was_encoded_before() {
    let mut encoder = Encoder::default();
    for _ in 0..2 {
        for compressor in Compressor::ALL {
            for (level, size) in [(9, 3000), (1, 70_000), (5, 200), (5, 100_000)] {
                let settings = Settings { level, ..settings(compressor, Filter::Shuffle, 2) };
                let decoded = field(size);
                let mut encoded = vec![0; size + 16];
                let encoded_size = encoder.encode(&settings, &decoded, &mut encoded).unwrap();
                assert!(encoded[..encoded_size] == encode(&settings, &decoded), "{settings:?} {size}");
            }
        }
    }
}

#[test]
fn every_capacity_that_is_too_small_is_refused() {
    let mut encoder = Encoder::default();
    for compressor in Compressor::ALL {
        for size in [0, 10, 300] {
            let settings = settings(compressor, Filter::Shuffle, 2);
            let decoded = field(size);
            let encoded = encode(&settings, &decoded);
            for capacity in 0..encoded.len() {
                let error = encoder.encode(&settings, &decoded, &mut vec![0; capacity]).unwrap_err();
                assert_eq!(error.status(), Status::BufferTooSmall, "{settings:?} {size} {capacity}");
            }
            let mut exact = vec![0; encoded.len()];
            assert_eq!(encoder.encode(&settings, &decoded, &mut exact), Ok(encoded.len()));
            assert!(exact == encoded);
        }
    }
}

#[test]
fn every_truncation_of_a_frame_is_refused() {
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            let encoded = encode(&settings(compressor, filter, 2), &field(400));
            for size in 0..encoded.len() {
                assert_eq!(decode(&encoded[..size]).unwrap_err().status(), Status::CorruptData);
                // The same with a header that admits it.
                let mut cut = encoded[..size].to_vec();
                if let Some(field) = cut.get_mut(12..16) {
                    field.copy_from_slice(&(size as u32).to_le_bytes());
                    assert_eq!(decode(&cut).unwrap_err().status(), Status::CorruptData);
                }
            }
        }
    }
}

#[test]
fn every_flipped_bit_ends_in_a_result() {
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            let encoded = encode(&Settings { block_size: 300, ..settings(compressor, filter, 2) }, &field(800));
            for bit in 0..encoded.len() * 8 {
                let mut damaged = encoded.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let plausible = Frame::new(&damaged).map_or(0, |frame| frame.decoded_size());
                assert!(plausible <= damaged.len() << 15, "{plausible} bytes of memory for {}", damaged.len());
                if let Err(error) = decode(&damaged) {
                    assert_eq!(error.status(), Status::CorruptData, "{error}");
                }
            }
        }
    }
}

#[test]
fn every_header_that_is_wrong_is_refused_with_its_value() {
    let encoded = encode(&settings(Compressor::BloscLz, Filter::Shuffle, 2), &field(1000));
    let cases: [(usize, &[u8], &str); 15] = [
        (0, &[3], "Blosc 2"),
        (0, &[5], "Blosc 2"),
        (0, &[1], "version of the format is 1"),
        (1, &[2], "version 2 of its compressor"),
        (2, &[0x09], "flags 0x09"),
        (2, &[0xA1], "compressor 5"),
        (2, &[0x03], "stored"),
        (3, &[0], "elements of 0"),
        (4, &[0xFF, 0xFF, 0xFF, 0xFF], "4294967295 decoded bytes"),
        (4, &[0, 0, 0, 0x10], "more than"),
        (4, &[0, 0, 0, 0x40, 1, 0, 0, 0], "in blocks of 1,"), // whose starts take 4 GiB
        (8, &[0, 0, 0, 0], "blocks of 0"),
        (8, &[0xFF, 0xFF, 0xFF, 0xFF], "blocks of 4294967295"),
        (8, &[1, 0, 0, 0], "blocks of 1,"),
        (8, &[0x0F, 0x03, 0, 0], "splits blocks of 783"),
    ];
    for (place, bytes, text) in cases {
        let mut wrong = encoded.clone();
        wrong[place..place + bytes.len()].copy_from_slice(bytes);
        let error = decode(&wrong).expect_err(text);
        assert_eq!(error.status(), Status::CorruptData);
        assert!(error.to_string().contains(text), "{error}");
    }
    let error = decode(&[&encoded[..], &[0]].concat()).unwrap_err();
    assert!(error.to_string().contains("by its header"), "{error}");
}

/// Such a stream takes the time of its length, and could be that of every block of a frame.
#[test]
fn a_stream_much_longer_than_what_it_decodes_to_is_refused() {
    for (empty_block_count, expected) in [(10, Ok(b"A".to_vec())), (1000, Err(Status::CorruptData))] {
        let empty_blocks = [0, 0, 0, 0xFF, 0xFF].repeat(empty_block_count);
        let last_block = [1, 1, 0, 0xFE, 0xFF, b'A'];
        let stream = [&[0x78, 1][..], &empty_blocks, &last_block, &[0, 0x42, 0, 0x42]].concat();
        let stream_size = stream.len() as u32;
        let numbers = [1, 1, 24 + stream_size, 20, stream_size].map(u32::to_le_bytes).concat();
        let frame = [&[2, 1, 0x70, 1][..], &numbers, &stream].concat();
        assert_eq!(decode(&frame).map_err(|error| error.status()), expected);
    }
}

#[test]
fn chunks_that_no_frame_can_hold_are_refused() {
    let most = i32::MAX as u64 - 16;
    assert_eq!((check_size(0), check_size(most)), (Ok(()), Ok(())));
    for size in [most + 1, u64::MAX] {
        assert_eq!(check_size(size).unwrap_err().status(), Status::Unsupported);
    }
}

/// Data of this size in blocks of 512 bytes: some that compresses, some that does not, and both in turn.
fn data_in_blocks(size: usize) -> Vec<(&'static str, Vec<u8>)> {
    let (smooth, noise) = (field(size), noise(size));
    let mixed = |is_noise: &dyn Fn(usize) -> bool| {
        (0..size).map(|place| if is_noise(place / 512) { noise[place] } else { smooth[place] }).collect()
    };
    vec![
        ("one stream compresses, late", mixed(&|block| block + 1 != size / 512)),
        ("the last byte repeats", mixed(&|block| block < size / 512)),
        ("the beginning compresses", mixed(&|block| block > 0)),
        ("every third block compresses", mixed(&|block| block % 3 != 1)),
        ("the middle does not", mixed(&|block| (3..7).contains(&block))),
        ("nothing compresses", noise.clone()),
        ("everything compresses", smooth),
        ("zeros", vec![0; size]),
    ]
}

#[test]
fn a_frame_does_not_depend_on_the_number_of_workers() {
    let cases = [(2, 512), (4, 256), (3, 1000), (1, 130), (64, 512), (8, 4096), (255, 600), (2, 0)];
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            for (number, (element_size, block_size)) in cases.into_iter().enumerate() {
                let level = [5, 1, 3, 7, 5, 0, 4, 6][(number + compressor as usize) % 8];
                let settings = Settings { level, block_size, ..settings(compressor, filter, element_size) };
                for size in [100, 128, 511, 512, 513, 1024, 5000, 5120, 5632] {
                    for (what, decoded) in data_in_blocks(size) {
                        let expected = encode(&settings, &decoded);
                        for count in 2..=5 {
                            let found = encode_by(count, &settings, &decoded, size + 16).unwrap();
                            assert!(found == expected, "{settings:?}, {size} bytes, {what}, {count} workers");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn large_blocks_are_encoded_to_the_same_frame_by_any_number_of_workers() {
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            for (element_size, size) in [(4, 300_000), (1, 262_144), (7, 200_001)] {
                let settings = Settings { block_size: 40_000, level: 4, ..settings(compressor, filter, element_size) };
                for decoded in [field(size), noise(size), [noise(size / 2), field(size / 2)].concat()] {
                    let expected = encode(&settings, &decoded);
                    for count in 2..=5 {
                        let found = encode_by(count, &settings, &decoded, decoded.len() + 16).unwrap();
                        assert!(found == expected, "{settings:?}, {size} bytes, {count} workers");
                    }
                }
            }
        }
    }
}

#[test]
fn workers_need_the_same_capacity_as_one_does() {
    let size = 2700;
    for compressor in Compressor::ALL {
        for (filter, element_size) in [(Filter::None, 1), (Filter::Shuffle, 4), (Filter::Bitshuffle, 2)] {
            let settings = Settings { block_size: 512, ..settings(compressor, filter, element_size) };
            for (what, decoded) in data_in_blocks(size) {
                let expected = encode(&settings, &decoded);
                let near = expected.len().saturating_sub(6)..expected.len() + 6;
                let capacities = [0, 1, 15, 16, 17, 39, 40, 41, 700, 1400, 2000].into_iter().chain(near);
                for capacity in capacities.chain(size - 2..size + 18) {
                    for count in [1, 2, 3, 5] {
                        let found = encode_by(count, &settings, &decoded, capacity);
                        let found = found.map_err(|error| error.status());
                        let expected =
                            if capacity < expected.len() { Err(Status::BufferTooSmall) } else { Ok(expected.clone()) };
                        assert!(found == expected, "{settings:?}, {what}, {capacity} bytes, {count} workers");
                    }
                }
            }
        }
    }
}
