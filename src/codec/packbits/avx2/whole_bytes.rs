//! Fields that are whole bytes of their components: a byte shuffle packs them, and unpacks them where zeros go around.
//! Fields of a few neighbours that are whole bytes together are joined, and packed the same way.

use super::{Avx2, Blocks, both_halves, load_halves};
use crate::codec::packbits::field::{Field, FieldKind};
use crate::codec::packbits::runs::{ZERO, step_count};
use std::arch::x86_64::*;

/// A unit that is packed as whole bytes: a component, or the joined fields of 4 bytes of components.
struct Unit {
    joined: usize,
    /// In bytes.
    size: usize,
    first_byte: usize,
    packed_size: usize,
}

impl Unit {
    fn new(field: &Field) -> Option<Self> {
        let (size, bits) = (field.size, field.bits as usize);
        let joined = |count| Self { joined: count, size: 4, first_byte: 0, packed_size: count * bits / 8 };
        match size {
            _ if bits.is_multiple_of(8) && field.first_bit.is_multiple_of(8) => {
                Some(Self { joined: 1, size, first_byte: field.first_bit as usize / 8, packed_size: bits / 8 })
            }
            1 if bits.is_multiple_of(2) => Some(joined(4)),
            2 if bits.is_multiple_of(4) => Some(joined(2)),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct WholeBytes {
    /// For 16 packed bytes, those of 16 bytes of units.
    pack: [u8; 16],
    /// For 16 bytes of units, those of packed ones.
    unpack: [u8; 16],
    /// The packed bytes of 16 bytes of components; 0 if there is no kernel for them.
    packed_size: usize,
}

impl WholeBytes {
    pub(super) fn new(field: &Field) -> Self {
        let mut new = Self { pack: [ZERO; 16], unpack: [ZERO; 16], packed_size: 0 };
        let Some(unit) = Unit::new(field) else { return new };
        new.packed_size = 16 / unit.size * unit.packed_size;
        for index in 0..16 / unit.size {
            for byte in 0..unit.packed_size {
                let (packed, place) = (index * unit.packed_size + byte, index * unit.size + unit.first_byte + byte);
                new.pack[packed] = place as u8;
                new.unpack[place] = packed as u8;
            }
        }
        new
    }

    pub(super) fn encode_blocks(field: &Field) -> Option<Blocks> {
        Some(match (Unit::new(field)?.joined, field.first_bit == 0) {
            (4, true) => encode::<4, true>,
            (4, false) => encode::<4, false>,
            (2, true) => encode::<2, true>,
            (2, false) => encode::<2, false>,
            _ => encode::<1, true>,
        })
    }

    /// Only of components that are units, and not where a sign is extended.
    pub(super) fn decode_blocks(field: &Field) -> Option<Blocks> {
        (Unit::new(field)?.joined == 1 && field.kind != FieldKind::Signed).then_some(decode)
    }
}

/// `JOINED` components of 4 bytes are joined, or each is taken as it is. `IS_LOW` says of those that are joined that
/// their fields begin at bit 0.
#[target_feature(enable = "avx2")]
fn encode<const JOINED: usize, const IS_LOW: bool>(kernel: &Avx2, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let WholeBytes { pack, packed_size, .. } = &kernel.whole_bytes;
    let (blocks, pack) = (decoded.as_chunks::<32>().0, both_halves(pack));
    let join = Join::new(&kernel.field);
    let count = step_count(encoded.len(), 2 * packed_size, packed_size + 16).min(blocks.len());
    for (index, block) in blocks[..count].iter().enumerate() {
        // SAFETY: `block` is 32 readable bytes. From the start of each of `count` steps, `encoded` has
        // `packed_size + 16` bytes, which covers both stores.
        unsafe {
            let joined = join.join::<JOINED, IS_LOW>(_mm256_loadu_si256(block.as_ptr().cast()));
            let packed = _mm256_shuffle_epi8(joined, pack);
            let encoded = encoded.as_mut_ptr().add(2 * index * packed_size);
            _mm_storeu_si128(encoded.cast(), _mm256_castsi256_si128(packed));
            _mm_storeu_si128(encoded.add(*packed_size).cast(), _mm256_extracti128_si256::<1>(packed));
        }
    }
    32 * count / kernel.field.size
}

/// Joins the fields of 4 bytes of components, one after the other from bit 0.
struct Join {
    first_bit: __m128i,
    mask: __m256i,
    /// The factors of two neighbours, which are then added.
    bytes: __m256i,
    words: __m256i,
}

impl Join {
    #[target_feature(enable = "avx2")]
    fn new(field: &Field) -> Self {
        let bits = field.bits % 16;
        let (mask, words) = if field.size == 1 {
            (((1 << bits) - 1) * 0x0101, 1 | 1 << (16 + 2 * bits % 16))
        } else {
            ((1 << bits) - 1, 1 | 1 << (16 + bits))
        };
        Self {
            first_bit: _mm_cvtsi32_si128(field.first_bit.cast_signed()),
            mask: _mm256_set1_epi16(mask),
            bytes: _mm256_set1_epi16(1 | 1 << (8 + bits % 8)),
            words: _mm256_set1_epi32(words),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn join<const JOINED: usize, const IS_LOW: bool>(&self, components: __m256i) -> __m256i {
        if JOINED == 1 {
            return components;
        }
        let low = if IS_LOW { components } else { _mm256_srl_epi16(components, self.first_bit) };
        let fields = _mm256_and_si256(low, self.mask);
        // Both factors and fields are positive where they are signed: bytes have up to 6 bits, words up to 12.
        let words = if JOINED == 4 { _mm256_maddubs_epi16(self.bytes, fields) } else { fields };
        _mm256_madd_epi16(words, self.words)
    }
}

#[target_feature(enable = "avx2")]
fn decode(kernel: &Avx2, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let WholeBytes { unpack, packed_size, .. } = &kernel.whole_bytes;
    let (blocks, unpack) = (decoded.as_chunks_mut::<32>().0, both_halves(unpack));
    let count = step_count(encoded.len(), 2 * packed_size, packed_size + 16).min(blocks.len());
    for (index, block) in blocks[..count].iter_mut().enumerate() {
        // SAFETY: from the start of each of `count` steps, `encoded` has `packed_size + 16` bytes, which covers both
        // loads; `block` is 32 writable bytes.
        unsafe {
            let encoded = encoded.as_ptr().add(2 * index * packed_size);
            let halves = load_halves(encoded, encoded.add(*packed_size));
            _mm256_storeu_si256(block.as_mut_ptr().cast(), _mm256_shuffle_epi8(halves, unpack));
        }
    }
    32 * count / kernel.field.size
}
