//! Packing: rotations bring the fields of two components together, then those of two pairs, until a lane holds a run of
//! bits that is long enough, and begins at the bit of a byte where it belongs; byte permutations put the lanes
//! together.

use super::{Avx512, Blocks, first_bytes, group_size, load, set_lane};
use crate::codec::packbits::field::Field;
use std::arch::x86_64::*;

#[derive(Debug)]
pub(super) struct Pack {
    /// The kernel. `None` if packed bytes have parts of more than two lanes.
    pub(super) blocks: Option<Blocks>,
    /// The fields, after the first rotation of components, or after the shift of those of one byte.
    fields: [u8; 64],
    /// How far lanes of 16, 32 and 64 bits are rotated to the left.
    rotations: [[u8; 64]; 3],
    /// In each lane, the bits from its run's first on: below are those that rotation took over its top.
    runs: [u8; 64],
    /// Where packed bytes come from: the lane that a byte begins in, the next one, and what is below a run.
    sources: [Source; 3],
}

/// Packed bytes, and the bytes of the lanes that they are taken from.
#[derive(Debug, Clone, Copy)]
struct Source {
    /// Which packed bytes have a part from here.
    mask: __mmask64,
    bytes: [u8; 64],
}

impl Source {
    fn set(&mut self, packed: usize, byte: usize) {
        self.mask |= 1 << packed;
        self.bytes[packed] = byte as u8;
    }
}

/// Lanes with a run of bits in each.
#[derive(Debug, Clone, Copy)]
struct Lanes {
    /// The bytes of a lane.
    size: usize,
    /// The bits of its run, and the lowest of them.
    bits: u32,
    first_bit: u32,
}

impl Lanes {
    fn count(self) -> usize {
        64 / self.size
    }

    fn size_bits(self) -> u32 {
        8 * self.size as u32
    }

    /// The bit of a byte where a lane's run belongs.
    fn place(self, index: usize) -> u32 {
        index as u32 * self.bits % 8
    }

    /// Whether all runs stay in their lanes when they are where they belong.
    fn fit(self) -> bool {
        (0..self.count()).all(|index| self.place(index) + self.bits <= self.size_bits())
    }

    /// Whether a packed byte has parts of two lanes at most.
    fn fill_bytes(self) -> bool {
        self.bits >= 8 || self.bits == 4
    }
}

impl Pack {
    pub(super) fn new(field: &Field) -> Self {
        let mut new = Self {
            blocks: None,
            fields: [0; 64],
            rotations: [[0; 64]; 3],
            runs: [0; 64],
            sources: [Source { mask: 0, bytes: [0; 64] }; 3],
        };
        let components = Lanes { size: field.size, bits: field.bits, first_bit: field.first_bit };
        let mut lanes = components;
        if field.size == 1 {
            new.fields = [u8::MAX >> (8 - field.bits); 64];
            // Four of them are multiplied into one lane.
            lanes = Lanes { size: 4, bits: 4 * field.bits, first_bit: 0 };
        }
        while lanes.size < 8 && !(lanes.fill_bytes() && lanes.fit()) {
            // In the lower one of two lanes they go to the top, in the upper one to the bottom, and so meet.
            let top = lanes.size_bits() - lanes.bits;
            new.rotate(lanes, components, |index| if index % 2 == 0 { top } else { 0 });
            lanes = Lanes { size: 2 * lanes.size, bits: 2 * lanes.bits, first_bit: top };
        }
        new.rotate(lanes, components, |index| lanes.place(index));
        for index in 0..lanes.count() {
            set_lane(&mut new.runs, lanes.size, index, u64::MAX << lanes.place(index));
        }
        new.set_sources(lanes);
        new.blocks = lanes.fill_bytes().then_some(match (field.size, lanes.size) {
            (1, _) => encode::<1, 4>,
            (2, 2) => encode::<2, 2>,
            (2, 4) => encode::<2, 4>,
            (2, _) => encode::<2, 8>,
            (4, 4) => encode::<4, 4>,
            (4, _) => encode::<4, 8>,
            _ => encode::<8, 8>,
        });
        new
    }

    /// Rotates each run to the bit that `place` tells for a lane. Of components, no more than their fields is left.
    fn rotate(&mut self, lanes: Lanes, components: Lanes, place: impl Fn(usize) -> u32) {
        let size_bits = lanes.size_bits();
        let rotations = &mut self.rotations[lanes.size.ilog2() as usize - 1];
        for index in 0..lanes.count() {
            let place = place(index);
            set_lane(rotations, lanes.size, index, ((size_bits + place - lanes.first_bit) % size_bits).into());
            if lanes.size == components.size {
                let field = u64::MAX >> (64 - lanes.bits);
                let rotated = field << place | field >> 1 >> (size_bits - 1 - place);
                set_lane(&mut self.fields, lanes.size, index, rotated);
            }
        }
    }

    fn set_sources(&mut self, lanes: Lanes) {
        let [first, next, wrapped] = &mut self.sources;
        let bits = lanes.bits as usize;
        for packed in 0..lanes.count() * bits / 8 {
            let lane = 8 * packed / bits;
            let byte = packed - lane * bits / 8;
            if byte == lanes.size {
                wrapped.set(packed, lane * lanes.size);
            } else {
                first.set(packed, lane * lanes.size + byte);
            }
            if lane + 1 < lanes.count() && (lane + 1) * bits < 8 * packed + 8 {
                next.set(packed, (lane + 1) * lanes.size);
            }
        }
    }
}

/// How far ahead of the stores lines are fetched, in bytes.
const AHEAD: usize = 1024;

/// For components of `SIZE` bytes, whose fields are folded into lanes of `LANE` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
fn encode<const SIZE: usize, const LANE: usize>(kernel: &Avx512, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let Avx512 { field, pack, .. } = kernel;
    let size = group_size(field);
    let mask = first_bytes(size);
    let steps = Steps::new(field, pack);
    let groups = decoded.as_chunks::<64>().0;
    let count = groups.len().min(encoded.len() / size);
    for (index, group) in groups[..count].iter().enumerate() {
        let bytes = steps.join(steps.fold::<SIZE, LANE>(load(group)));
        // SAFETY: `encoded` has `count` packed groups; what the mask leaves out is not written. Any address may be
        // fetched.
        unsafe {
            let packed = encoded.as_mut_ptr().add(index * size);
            _mm_prefetch::<_MM_HINT_ET0>(packed.wrapping_add(AHEAD).cast());
            _mm512_mask_storeu_epi8(packed.cast(), mask, bytes);
        };
    }
    count * 64 / SIZE
}

/// A [`Pack`] in registers.
struct Steps {
    first_bit: __m512i,
    /// 1 and 2 to the power of the field's bits, by turns, in bytes; and of two fields, in lanes of 16 bits.
    byte_factors: __m512i,
    word_factors: __m512i,
    fields: __m512i,
    rotations: [__m512i; 3],
    runs: __m512i,
    sources: [(__mmask64, __m512i); 3],
}

impl Steps {
    #[target_feature(enable = "avx512f")]
    fn new(field: &Field, pack: &Pack) -> Self {
        let bits = if field.size == 1 { field.bits } else { 0 };
        Self {
            first_bit: _mm512_set1_epi16(field.first_bit as i16),
            byte_factors: _mm512_set1_epi16(1 | 1 << (8 + bits)),
            word_factors: _mm512_set1_epi32(1 | 1 << (16 + 2 * bits)),
            fields: load(&pack.fields),
            rotations: pack.rotations.map(|rotation| load(&rotation)),
            runs: load(&pack.runs),
            sources: pack.sources.map(|source| (source.mask, load(&source.bytes))),
        }
    }

    /// A run of bits in each lane, rotated to its place.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
    fn fold<const SIZE: usize, const LANE: usize>(&self, group: __m512i) -> __m512i {
        let [of_16, of_32, of_64] = self.rotations;
        let mut lanes = match SIZE {
            1 => {
                let fields = _mm512_and_si512(_mm512_srlv_epi16(group, self.first_bit), self.fields);
                // The fields are the signed ones: they have 7 bits at most, and the factors up to 8.
                let pairs = _mm512_maddubs_epi16(self.byte_factors, fields);
                _mm512_madd_epi16(pairs, self.word_factors)
            }
            2 => _mm512_and_si512(_mm512_shldv_epi16(group, group, of_16), self.fields),
            4 => _mm512_and_si512(_mm512_rolv_epi32(group, of_32), self.fields),
            _ => _mm512_and_si512(_mm512_rolv_epi64(group, of_64), self.fields),
        };
        if SIZE < 4 && LANE >= 4 {
            lanes = _mm512_rolv_epi32(lanes, of_32);
        }
        if SIZE < 8 && LANE == 8 {
            lanes = _mm512_rolv_epi64(lanes, of_64);
        }
        lanes
    }

    /// The packed bytes of a group, from the first on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn join(&self, lanes: __m512i) -> __m512i {
        let [(_, first), (next_mask, next), (wrapped_mask, wrapped)] = self.sources;
        if next_mask == 0 {
            return _mm512_permutexvar_epi8(first, lanes);
        }
        if wrapped_mask == 0 {
            let bytes = _mm512_permutexvar_epi8(first, lanes);
            return _mm512_or_si512(bytes, _mm512_maskz_permutexvar_epi8(next_mask, next, lanes));
        }
        let runs = _mm512_and_si512(lanes, self.runs);
        let bytes = _mm512_maskz_permutexvar_epi8(!wrapped_mask, first, runs);
        let bytes = _mm512_or_si512(bytes, _mm512_maskz_permutexvar_epi8(next_mask, next, runs));
        let below_runs = _mm512_andnot_si512(self.runs, lanes);
        _mm512_or_si512(bytes, _mm512_maskz_permutexvar_epi8(wrapped_mask, wrapped, below_runs))
    }
}
