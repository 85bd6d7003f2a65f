//! Packing: the fields of two components move together, then those of two pairs, until each 64-bit lane holds one run
//! of bits; then the two lanes of each half of a register do, by a byte shuffle where a lane is whole bytes.
//!
//! A half of a register is a part of a [`Run`]; the two halves work on two runs. Where a part ends within a byte, its
//! last byte is carried into the next part's first.

use super::{Avx2, Blocks, both_halves, load_halves};
use crate::codec::packbits::field::{Field, in_each_lane};
use crate::codec::packbits::runs::{Part, Run, step_count};
use std::arch::x86_64::*;

#[derive(Debug)]
pub(super) struct Pack {
    run: Run,
    /// The packed bytes that a step of two runs writes, from its beginning.
    reach: usize,
}

impl Pack {
    pub(super) fn new(field: &Field) -> Self {
        let run = Run::new(field);
        let reach = run.packed_size + run.reach();
        Self { run, reach }
    }

    /// The kernel. `None` if the fields of a lane do not fit in it once they are shifted.
    pub(super) fn blocks(&self, field: &Field) -> Option<Blocks> {
        let (shift, lane_bits) = (self.run.most_shift(), self.run.lane_bits);
        if lane_bits + shift > 64 {
            return None;
        }
        // The bits below a field would come along if they were not masked.
        let goes_down = shift <= Lanes::gap(field) as usize && (field.size < 4 || field.first_bit == 0);
        Some(match (field.size, self.run.parts().len(), lane_bits.is_multiple_of(8), goes_down) {
            (1, ..) if field.first_bit == 0 => encode::<1, 1, BYTES, true>,
            (1, ..) => encode::<1, 1, BYTES, false>,
            (2, _, true, _) if field.first_bit == 0 => encode::<2, 1, BYTES, true>,
            (2, _, true, _) => encode::<2, 1, BYTES, false>,
            (2, _, _, true) => encode::<2, 1, DOWN, false>,
            (2, _, _, false) => encode::<2, 1, DOWN_AND_UP, false>,
            (4, 1, true, _) => encode::<4, 1, BYTES, false>,
            (4, 1, _, true) => encode::<4, 1, DOWN, true>,
            (4, 1, _, false) => encode::<4, 1, DOWN_AND_UP, false>,
            (4, _, _, true) => encode::<4, 2, DOWN, true>,
            (4, _, _, false) => encode::<4, 2, DOWN_AND_UP, false>,
            (_, 1, true, _) => encode::<8, 1, BYTES, false>,
            (_, 1, _, true) => encode::<8, 1, DOWN, false>,
            (_, 1, _, false) => encode::<8, 1, DOWN_AND_UP, false>,
            (_, 2, _, true) => encode::<8, 2, DOWN, false>,
            (_, 2, _, false) => encode::<8, 2, DOWN_AND_UP, false>,
            (_, _, _, true) => encode::<8, 4, DOWN, false>,
            (_, _, _, false) => encode::<8, 4, DOWN_AND_UP, false>,
        })
    }
}

/// Runs of whole bytes: each lane begins at bit 0 of a byte, so that only bytes move.
const BYTES: u8 = 0;
/// One shift per lane moves its run to its bit.
const DOWN: u8 = 1;
/// Two shifts per lane: down to bit 0, then up to its bit.
const DOWN_AND_UP: u8 = 2;

/// Packs whole steps of two runs. `IS_LOW` says of components of 1, 2 and 4 bytes that the field begins at bit 0.
#[target_feature(enable = "avx2")]
fn encode<const SIZE: usize, const PARTS: usize, const WAY: u8, const IS_LOW: bool>(
    kernel: &Avx2,
    decoded: &[u8],
    encoded: &mut [u8],
) -> usize {
    let Pack { run, reach } = &kernel.pack;
    let run_decoded_size = 16 * PARTS;
    let step_size = 2 * run.packed_size;
    let steps = step_count(encoded.len(), step_size, *reach).min(decoded.len() / (2 * run_decoded_size));
    let places: [Part; PARTS] = std::array::from_fn(|part| run.parts()[part]);
    let lanes = Lanes::new(&kernel.field, IS_LOW);
    let joins: [Join; PARTS] = places.map(|part| Join::new(run, part, Lanes::gap(&kernel.field), WAY));
    assert!(places.iter().all(|part| run.packed_size + part.start + 16 <= *reach));
    for step in 0..steps {
        // SAFETY: `decoded` has `steps` steps of `2 * run_decoded_size` bytes.
        let first = unsafe { decoded.as_ptr().add(step * 2 * run_decoded_size) };
        let mut parts = [_mm256_setzero_si256(); PARTS];
        let mut shared = _mm256_setzero_si256();
        for part in 0..PARTS {
            // SAFETY: the two runs of a step have `PARTS` halves of 16 bytes each.
            let components = unsafe {
                if PARTS == 1 {
                    _mm256_loadu_si256(first.cast())
                } else {
                    load_halves(first.add(16 * part), first.add(run_decoded_size + 16 * part))
                }
            };
            let folded = lanes.fold::<SIZE, IS_LOW>(components);
            let joined = joins[part].join::<WAY>(folded);
            parts[part] = _mm256_or_si256(joined, shared);
            shared = _mm256_shuffle_epi8(parts[part], joins[part].carry);
        }
        // SAFETY: from the start of each of `steps` steps, `encoded` has `reach` bytes, which covers all these stores.
        // They are in this order because each writes zeros after its part, where the next part belongs.
        unsafe {
            let encoded = encoded.as_mut_ptr().add(step * step_size);
            for part in 0..PARTS {
                _mm_storeu_si128(encoded.add(places[part].start).cast(), _mm256_castsi256_si128(parts[part]));
            }
            for part in 0..PARTS {
                let second = encoded.add(run.packed_size + places[part].start);
                _mm_storeu_si128(second.cast(), _mm256_extracti128_si256::<1>(parts[part]));
            }
        }
    }
    steps * 2 * run_decoded_size / SIZE
}

/// Packs the components of each 64-bit lane.
struct Lanes {
    /// Right, or left for components of 4 and 8 bytes that are not masked.
    extract: __m128i,
    mask: __m256i,
    pair: __m256i,
    pair_shift: __m128i,
    quad: __m256i,
    lane: __m256i,
}

impl Lanes {
    /// How far above the bottom of a lane the folded run begins.
    fn gap(field: &Field) -> u32 {
        match field.size {
            8 => 64 - field.bits,
            4 => 32 - field.bits,
            size => 32 - 4 / size as u32 * field.bits,
        }
    }

    #[target_feature(enable = "avx2")]
    fn new(field: &Field, is_low: bool) -> Self {
        let (size_bits, bits) = (field.size_bits(), field.bits);
        let count = |bits: u32| _mm_cvtsi32_si128(bits.cast_signed());
        // In each lane, the lower half goes to the top, or the upper half to the bottom, and then both down together.
        let gap = |half: u32, bits: u32| half.saturating_sub(bits);
        let lane_gap = Self::gap(field);
        let lane = if size_bits < 32 || is_low { u64::from(lane_gap) } else { u64::from(lane_gap) << 32 };
        let (pair, quad) = match size_bits {
            8 => (1 | 1 << (bits + 8), 1 | 1 << (2 * bits + 16)),
            16 => (1 << gap(16, bits) | 1 << 16, 0),
            _ => (0_u64, 0_u64),
        };
        let mask = in_each_lane(size_bits, (1 << bits) - 1);
        Self {
            extract: count(if size_bits < 32 { field.first_bit } else { size_bits - bits - field.first_bit }),
            mask: _mm256_set1_epi64x(mask.cast_signed()),
            pair: if size_bits == 8 {
                _mm256_set1_epi16(pair as u16 as i16)
            } else {
                _mm256_set1_epi32(pair as u32 as i32)
            },
            pair_shift: count(gap(16, bits)),
            quad: _mm256_set1_epi32(quad as u32 as i32),
            lane: _mm256_set1_epi64x(lane.cast_signed()),
        }
    }

    /// The run of each lane, [`gap`](Self::gap) bits above its bottom.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn fold<const SIZE: usize, const IS_LOW: bool>(&self, components: __m256i) -> __m256i {
        let masked = || {
            let low = if IS_LOW { components } else { _mm256_srl_epi16(components, self.extract) };
            _mm256_and_si256(low, self.mask)
        };
        match SIZE {
            1 => {
                let fields = masked();
                // The factors are the unsigned side: they go up to 128, fields to 127.
                let quads = _mm256_madd_epi16(_mm256_maddubs_epi16(self.pair, fields), self.quad);
                _mm256_sllv_epi32(quads, self.lane)
            }
            2 => {
                let fields = masked();
                let pairs = _mm256_srl_epi32(_mm256_mullo_epi16(fields, self.pair), self.pair_shift);
                _mm256_sllv_epi32(pairs, self.lane)
            }
            4 if IS_LOW => _mm256_sllv_epi32(_mm256_and_si256(components, self.mask), self.lane),
            4 => {
                let fields = _mm256_sll_epi32(components, self.extract);
                _mm256_srlv_epi32(fields, self.lane)
            }
            _ => _mm256_sll_epi64(components, self.extract),
        }
    }
}

/// Puts the two lanes of each half together: each is moved to the bit where it belongs, and then to its bytes.
struct Join {
    down: __m256i,
    up: __m256i,
    lower: __m256i,
    upper: __m256i,
    /// Both at once, if they share no byte.
    bytes: __m256i,
    carry: __m256i,
}

impl Join {
    #[target_feature(enable = "avx2")]
    fn new(run: &Run, part: Part, gap: u32, way: u8) -> Self {
        let [lower, upper] = run.lane_bytes(part);
        let gap = i64::from(gap);
        let [first, second] = run.lane_shifts(part).map(|shift| shift as i64);
        let (down, up) = if way == DOWN { ([gap - first, gap - second], [0; 2]) } else { ([gap; 2], [first, second]) };
        Self {
            down: _mm256_setr_epi64x(down[0], down[1], down[0], down[1]),
            up: _mm256_setr_epi64x(up[0], up[1], up[0], up[1]),
            lower: both_halves(&lower),
            upper: both_halves(&upper),
            bytes: both_halves(&std::array::from_fn(|byte| lower[byte].min(upper[byte]))),
            carry: both_halves(&run.carry(part)),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn join<const WAY: u8>(&self, folded: __m256i) -> __m256i {
        let down = _mm256_srlv_epi64(folded, self.down);
        if WAY == BYTES {
            return _mm256_shuffle_epi8(down, self.bytes);
        }
        let moved = if WAY == DOWN { down } else { _mm256_sllv_epi64(down, self.up) };
        _mm256_or_si256(_mm256_shuffle_epi8(moved, self.lower), _mm256_shuffle_epi8(moved, self.upper))
    }
}
