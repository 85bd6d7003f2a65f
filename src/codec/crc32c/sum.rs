//! The sum of bytes: by our own loop where that is faster, or else by the crate.

#[cfg(target_arch = "x86_64")]
use super::vpclmul::Vpclmul;
use crate::interface::RunningChecksum;
use crate::memory;
use crc_fast::{CrcAlgorithm, Digest, checksum};

/// A small part of a first-level cache.
const PART_SIZE: usize = 8192;

/// CRC-32C of these bytes.
pub(in crate::codec) fn crc32c(payload: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(vpclmul) = Vpclmul::available() {
        return !vpclmul.update(u32::MAX, payload);
    }
    checksum(CrcAlgorithm::Crc32Iscsi, payload) as u32
}

/// The sum of bytes that are copied.
pub(super) fn running() -> Box<dyn RunningChecksum> {
    #[cfg(target_arch = "x86_64")]
    if let Some(vpclmul) = Vpclmul::available() {
        return Box::new(InOneLoop { vpclmul, state: u32::MAX });
    }
    Box::new(ByParts(Digest::new(CrcAlgorithm::Crc32Iscsi)))
}

#[derive(Debug)]
struct ByParts(Digest);

impl RunningChecksum for ByParts {
    fn copy(&mut self, source: &[u8], target: &mut [u8]) {
        for (target, source) in target.chunks_mut(PART_SIZE).zip(source.chunks(PART_SIZE)) {
            // The sum reads the source ahead of the copy.
            self.0.update(source);
            memory::copy(source, target);
        }
    }

    fn stored(&self) -> [u8; 4] {
        (self.0.finalize() as u32).to_le_bytes()
    }
}

#[cfg(target_arch = "x86_64")]
#[derive(Debug)]
struct InOneLoop {
    vpclmul: Vpclmul,
    /// The sum with its bits inverted.
    state: u32,
}

#[cfg(target_arch = "x86_64")]
impl RunningChecksum for InOneLoop {
    fn copy(&mut self, source: &[u8], target: &mut [u8]) {
        self.state = self.vpclmul.copy(self.state, source, target);
    }

    fn stored(&self) -> [u8; 4] {
        (!self.state).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Level, with_limit};

    const LIMITS: &[Option<Level>] = &[
        None,
        #[cfg(target_arch = "x86_64")]
        Some(Level::Avx2),
        Some(Level::Portable),
    ];

    /// Every length up to some small blocks, and around larger ones, in two parts, with other bytes around.
    #[test]
    fn every_length_is_summed_and_copied_as_the_crate_sums_it() {
        let bytes: Vec<u8> = (0..180_000_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
        let large =
            [6_271, 6_272, 7_169, 9_855, 9_856, 53_759, 53_760, 53_761, 80_641, 84_479, 84_480, 107_520, 169_000];
        for limit in LIMITS {
            with_limit(*limit, || {
                for size in (0..3_000).chain(large) {
                    for start in [0, 1, 13] {
                        let source = &bytes[start..start + size];
                        let expected = checksum(CrcAlgorithm::Crc32Iscsi, source) as u32;
                        assert_eq!(crc32c(source), expected, "{size} bytes");
                        let (mut sum, mut target) = (running(), vec![0xA5; size + 2]);
                        let (first, last) = source.split_at(size / 3);
                        let (first_target, last_target) = target[1..=size].split_at_mut(size / 3);
                        sum.copy(first, first_target);
                        sum.copy(last, last_target);
                        assert_eq!(sum.stored(), expected.to_le_bytes(), "{size} bytes");
                        let is_only_source_copied =
                            target[1..=size] == *source && target[0] == 0xA5 && target[size + 1] == 0xA5;
                        assert!(is_only_source_copied, "{size} bytes");
                    }
                }
            });
        }
    }

    /// RFC 3720, appendix B.4.
    #[test]
    fn the_examples_of_the_rfc_have_their_checksums() {
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }
}
