//! Fields that are whole bytes of their components: a byte shuffle packs them, and unpacks them where zeros go around.

use super::{Avx2, Blocks, both_halves, load_halves};
use crate::codec::packbits::field::{Field, Kind};
use crate::codec::packbits::runs::{ZERO, step_count};
use std::arch::x86_64::*;

#[derive(Debug)]
pub(super) struct WholeBytes {
    /// For 16 packed bytes, those of 16 bytes of components.
    pack: [u8; 16],
    /// For 16 bytes of components, those of packed ones.
    unpack: [u8; 16],
    /// The packed bytes of 16 bytes of components.
    packed_size: usize,
}

impl WholeBytes {
    /// Of use only for fields that have one of the kernels below.
    pub(super) fn new(field: &Field) -> Self {
        let (field_size, first_byte) = (field.bits as usize / 8, field.first_bit as usize / 8);
        let packed_size = 16 / field.size * field_size;
        let (mut pack, mut unpack) = ([ZERO; 16], [ZERO; 16]);
        for component in 0..16 / field.size {
            for byte in 0..field_size {
                let (packed, place) = (component * field_size + byte, component * field.size + first_byte + byte);
                pack[packed] = place as u8;
                unpack[place] = packed as u8;
            }
        }
        Self { pack, unpack, packed_size }
    }

    pub(super) fn encode_blocks(field: &Field) -> Option<Blocks> {
        are_whole_bytes(field).then_some(encode)
    }

    /// Not where a sign is extended.
    pub(super) fn decode_blocks(field: &Field) -> Option<Blocks> {
        (are_whole_bytes(field) && field.kind != Kind::Signed).then_some(decode)
    }
}

fn are_whole_bytes(field: &Field) -> bool {
    field.bits.is_multiple_of(8) && field.first_bit.is_multiple_of(8)
}

#[target_feature(enable = "avx2")]
fn encode(kernel: &Avx2, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let WholeBytes { pack, packed_size, .. } = &kernel.whole_bytes;
    let (blocks, pack) = (decoded.as_chunks::<32>().0, both_halves(pack));
    let count = step_count(encoded.len(), 2 * packed_size, packed_size + 16).min(blocks.len());
    for (index, block) in blocks[..count].iter().enumerate() {
        // SAFETY: `block` is 32 readable bytes. From the beginning of each of so many steps, `encoded` has
        // `packed_size + 16` bytes, which is behind the second of these stores.
        unsafe {
            let packed = _mm256_shuffle_epi8(_mm256_loadu_si256(block.as_ptr().cast()), pack);
            let encoded = encoded.as_mut_ptr().add(2 * index * packed_size);
            _mm_storeu_si128(encoded.cast(), _mm256_castsi256_si128(packed));
            _mm_storeu_si128(encoded.add(*packed_size).cast(), _mm256_extracti128_si256::<1>(packed));
        }
    }
    32 * count / kernel.field.size
}

#[target_feature(enable = "avx2")]
fn decode(kernel: &Avx2, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let WholeBytes { unpack, packed_size, .. } = &kernel.whole_bytes;
    let (blocks, unpack) = (decoded.as_chunks_mut::<32>().0, both_halves(unpack));
    let count = step_count(encoded.len(), 2 * packed_size, packed_size + 16).min(blocks.len());
    for (index, block) in blocks[..count].iter_mut().enumerate() {
        // SAFETY: from the beginning of each of so many steps, `encoded` has `packed_size + 16` bytes, which is behind
        // the second of these loads; `block` is 32 writable bytes.
        unsafe {
            let encoded = encoded.as_ptr().add(2 * index * packed_size);
            let halves = load_halves(encoded, encoded.add(*packed_size));
            _mm256_storeu_si256(block.as_mut_ptr().cast(), _mm256_shuffle_epi8(halves, unpack));
        }
    }
    32 * count / kernel.field.size
}
