//! The C library 1.21 reads what is written here, and what it writes is read here.
#![expect(unsafe_code, reason = "calls a C library")]

use super::compressor::Compressor;
use super::decode::Decoder;
use super::encode::{Encoder, Settings};
use super::frame::{Filter, Frame};
use super::tests::{FILTERS, decode, encode, field};
use std::ffi::CString;

/// A frame of the C library.
fn c_encode(settings: &Settings, decoded: &[u8]) -> Vec<u8> {
    let mut encoded = vec![0; decoded.len() + 16];
    let name = CString::new(settings.compressor.name()).unwrap();
    let filter = FILTERS.iter().position(|filter| *filter == settings.filter).unwrap();
    // SAFETY: both sides are passed with their sizes, the name ends with a zero.
    let size = unsafe {
        blosc_src::blosc_compress_ctx(
            i32::from(settings.level),
            filter as i32,
            usize::from(settings.element_size),
            decoded.len(),
            decoded.as_ptr().cast(),
            encoded.as_mut_ptr().cast(),
            encoded.len(),
            name.as_ptr(),
            settings.block_size,
            1,
        )
    };
    encoded.truncate(usize::try_from(size).unwrap());
    encoded
}

/// Decodes with the C library; `None` if it refuses.
fn c_decode(encoded: &[u8]) -> Option<Vec<u8>> {
    let mut size = 0;
    // SAFETY: the frame is passed with its size, which is looked at first; the output has the size that the frame says.
    unsafe {
        if blosc_src::blosc_cbuffer_validate(encoded.as_ptr().cast(), encoded.len(), &mut size) < 0 {
            return None;
        }
        let mut decoded = vec![0x5A; size];
        let result = blosc_src::blosc_decompress_ctx(encoded.as_ptr().cast(), decoded.as_mut_ptr().cast(), size, 1);
        (usize::try_from(result) == Ok(size)).then_some(decoded)
    }
}

fn check(settings: &Settings, decoded: &[u8]) -> (usize, usize) {
    let size = decoded.len();
    let (ours, theirs) = (encode(settings, decoded), c_encode(settings, decoded));
    assert!(c_decode(&ours).is_some_and(|again| again == decoded), "C reads {size} bytes as {settings:?}");
    assert!(decode(&theirs).is_ok_and(|again| again == decoded), "{size} bytes that C wrote as {settings:?}");
    assert!(decode(&ours).is_ok_and(|again| again == decoded), "{size} bytes as {settings:?}");
    assert_eq!(ours[3..12], theirs[3..12], "sizes of the header, {size} bytes as {settings:?}");
    let flags = [ours[2], theirs[2]].map(|flags| flags & !super::frame::flag::STORED);
    assert_eq!(flags[0], flags[1], "flags, {size} bytes as {settings:?}");
    (ours.len(), theirs.len())
}

fn element_sizes() -> impl Iterator<Item = u8> {
    (1..=17).chain([255])
}

#[test]
fn frames_of_every_length_are_read_by_both_libraries() {
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            for element_size in element_sizes() {
                for size in (0..=300).step_by(if compressor == Compressor::Zstd { 7 } else { 1 }) {
                    let level = (size % 10) as u8;
                    check(&Settings { compressor, level, filter, element_size, block_size: 0 }, &field(size));
                }
            }
        }
    }
}

#[test]
fn frames_of_every_level_are_read_by_both_libraries() {
    let decoded = field(150_001);
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            for element_size in element_sizes() {
                for level in 0..=9 {
                    let is_slow = level > 6 && matches!(compressor, Compressor::Zstd | Compressor::Zlib);
                    if is_slow && !matches!(element_size, 2 | 7 | 255) {
                        continue;
                    }
                    check(&Settings { compressor, level, filter, element_size, block_size: 0 }, &decoded);
                }
            }
        }
    }
}

#[test]
fn frames_of_every_block_size_are_read_by_both_libraries() {
    let decoded = field(70_003);
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            for element_size in [1, 2, 3, 4, 8, 16, 17, 255] {
                for block_size in [1, 127, 128, 1000, 4096, 10_007, 65_536, 70_002, 70_003, 1 << 20, usize::MAX >> 33] {
                    check(&Settings { compressor, level: 3, filter, element_size, block_size }, &decoded);
                }
            }
        }
    }
}

fn real_data() -> [(&'static str, u8, Vec<u8>); 4] {
    let read = |name: &str| -> Vec<u8> {
        let path = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/{}"), name);
        let file = std::fs::read(path).expect("the test data is there");
        file[128..].iter().copied().cycle().take(4 << 20).collect()
    };
    let labels = read("nuclei_labels_uint8_8x256x256.npy");
    let wide_labels = labels.iter().flat_map(|label| u64::from(*label).to_le_bytes()).collect();
    [
        ("labels", 1, labels),
        ("int64 labels", 8, wide_labels),
        ("uint16", 2, read("nuclei_uint16_8x256x256.npy")),
        ("float32", 4, read("air_potential_temperature_float32_15x100x100.npy")),
    ]
}

/// The largest size of a frame, if that of the C library has `theirs` bytes.
fn bound(name: &str, settings: &Settings, theirs: usize) -> f64 {
    let are_labels = name.ends_with("labels");
    let times = match (settings.compressor, settings.level, settings.filter) {
        // libdeflate adapts to what changes less often than zlib does, which bytes without a filter show.
        (Compressor::Zlib, 3, Filter::None) => 1.03,
        // No level of libdeflate finds as much in the time of zlib's level 9.
        (Compressor::Zlib, 9, Filter::None) if are_labels => 1.2,
        // Written as LZ4 that tries every place. The C library's LZ4 skips some at these levels, which may be smaller.
        (Compressor::Lz4Hc, level, _) if are_labels || level == 6 => 1.03,
        _ => 1.01,
    };
    // Frames of labels are small.
    theirs as f64 * times + if are_labels { 10.0 } else { 0.0 }
}

/// The bound that the project promises, with the exceptions that docs/differences.md lists.
#[test]
fn frames_of_real_data_are_at_most_one_percent_larger_than_those_of_the_c_library() {
    let mut larger = Vec::new();
    for (name, element_size, decoded) in real_data() {
        for compressor in Compressor::ALL {
            for filter in FILTERS {
                for level in [1, 3, 5, 6, 7, 8, 9] {
                    for size in [64 << 10, 600_000] {
                        let settings = Settings { compressor, level, filter, element_size, block_size: 0 };
                        let (ours, mut theirs) = check(&settings, &decoded[..size]);
                        if compressor == Compressor::Lz4Hc {
                            // Written as LZ4, so compared with that.
                            theirs =
                                c_encode(&Settings { compressor: Compressor::Lz4, ..settings }, &decoded[..size]).len();
                        }
                        let ratio = ours as f64 / theirs as f64;
                        if ours as f64 > bound(name, &settings, theirs) {
                            larger.push(format!("{name} {size} {settings:?}: {ours} bytes, C {theirs}: {ratio:.4}"));
                        }
                    }
                }
            }
        }
    }
    assert!(larger.is_empty(), "{}", larger.join("\n"));
}

#[test]
fn damaged_frames_decode_to_the_same_bytes_or_are_refused() {
    let mut encoder = Encoder::default();
    let mut decoder = Decoder::default();
    for compressor in Compressor::ALL {
        for filter in FILTERS {
            let settings = Settings { compressor, level: 5, filter, element_size: 2, block_size: 300 };
            let decoded = field(800);
            let mut encoded = vec![0; 816];
            let size = encoder.encode(&settings, &decoded, &mut encoded).unwrap();
            encoded.truncate(size);
            for bit in 0..size * 8 {
                let mut damaged = encoded.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let Ok(frame) = Frame::new(&damaged) else { continue };
                let mut ours = vec![0x5A; frame.decoded_size()];
                if decoder.decode(&frame, 0..ours.len(), &mut ours).is_ok() {
                    // libdeflate takes some Huffman codes that zlib refuses; a checksum follows them.
                    let is_intact = compressor == Compressor::Zlib && ours == decoded;
                    let is_same = c_decode(&damaged).is_some_and(|theirs| theirs == ours);
                    assert!(is_same || is_intact, "{settings:?}, bit {bit}");
                }
            }
        }
    }
}
