//! Packing: the fields of two neighbours move together, then those of two pairs, until each 64-bit lane holds one run
//! of bits; then the two lanes of a register do, by byte shuffles. Where a part of a [`Run`] ends within a byte, its
//! last byte is carried into the next part's first.

use super::{Blocks, Neon, load, repeat, right, shift};
use crate::codec::packbits::field::Field;
use crate::codec::packbits::runs::{Part, Run, step_count};
use std::arch::aarch64::*;

#[derive(Debug)]
pub(super) struct Pack {
    run: Run,
}

impl Pack {
    pub(super) fn new(field: &Field) -> Self {
        Self { run: Run::new(field) }
    }

    /// The kernel. `None` if the fields of a lane do not fit in it once they are shifted.
    pub(super) fn blocks(&self, field: &Field) -> Option<Blocks> {
        if self.run.lane_bits + self.run.most_shift() > 64 {
            return None;
        }
        Some(match (field.size, self.run.parts().len()) {
            (1, _) => encode::<1, 1>,
            (2, _) => encode::<2, 1>,
            (4, 1) => encode::<4, 1>,
            (4, _) => encode::<4, 2>,
            (_, 1) => encode::<8, 1>,
            (_, 2) => encode::<8, 2>,
            _ => encode::<8, 4>,
        })
    }
}

/// Packs whole runs.
#[target_feature(enable = "neon")]
fn encode<const SIZE: usize, const PARTS: usize>(kernel: &Neon, decoded: &[u8], encoded: &mut [u8]) -> usize {
    let run = &kernel.pack.run;
    let places: [Part; PARTS] = std::array::from_fn(|part| run.parts()[part]);
    let blocks = decoded.as_chunks::<16>().0.as_chunks::<PARTS>().0;
    let count = step_count(encoded.len(), run.packed_size, run.reach()).min(blocks.len());
    let lanes = Lanes::new(&kernel.field);
    let joins: [Join; PARTS] = places.map(|part| Join::new(run, part));
    assert!(places.iter().all(|part| part.start + 16 <= run.reach()));
    for (index, block) in blocks[..count].iter().enumerate() {
        let mut shared = vdupq_n_u8(0);
        for part in 0..PARTS {
            let folded = lanes.fold::<SIZE>(load(&block[part]));
            let packed = vorrq_u8(joins[part].join(folded), shared);
            shared = vqtbl1q_u8(packed, joins[part].carry);
            // SAFETY: from the start of each of `count` runs, `encoded` has `reach` bytes, which covers all these
            // stores. Each writes zeros after its part, where the next part belongs.
            unsafe { vst1q_u8(encoded.as_mut_ptr().add(index * run.packed_size + places[part].start), packed) };
        }
    }
    count * 16 * PARTS / SIZE
}

/// Folds the components of each 64-bit lane.
struct Lanes {
    /// Shifts that bring each field to bit 0.
    down: uint8x16_t,
    fields: uint8x16_t,
    /// Shifts that move the upper of two neighbours of 8, 16 and 32 bits next to the lower one.
    gaps: [uint8x16_t; 3],
}

impl Lanes {
    #[target_feature(enable = "neon")]
    fn new(field: &Field) -> Self {
        let (size_bits, bits) = (field.size_bits(), field.bits);
        let gap = |lane: u32| lane.saturating_sub(lane / size_bits * bits);
        Self {
            down: repeat(size_bits, right(field.first_bit)),
            fields: repeat(size_bits, (1 << bits) - 1),
            gaps: [8, 16, 32].map(|lane| repeat(2 * lane, right(gap(lane)))),
        }
    }

    /// The run of each lane, at its bottom.
    #[inline]
    #[target_feature(enable = "neon")]
    fn fold<const SIZE: usize>(&self, components: uint8x16_t) -> uint8x16_t {
        let fields = vandq_u8(shift::<SIZE>(components, self.down), self.fields);
        let pairs = if SIZE < 2 { close::<2>(fields, self.gaps[0]) } else { fields };
        let quads = if SIZE < 4 { close::<4>(pairs, self.gaps[1]) } else { pairs };
        if SIZE < 8 { close::<8>(quads, self.gaps[2]) } else { quads }
    }
}

/// In lanes of SIZE bytes, closes the gap between what is in the lower half and what is in the upper one.
#[inline]
#[target_feature(enable = "neon")]
fn close<const SIZE: usize>(lanes: uint8x16_t, gap: uint8x16_t) -> uint8x16_t {
    let lower_halves = repeat(8 * SIZE as u32, (1 << (4 * SIZE)) - 1);
    let upper = vbicq_u8(lanes, lower_halves);
    vorrq_u8(vandq_u8(lanes, lower_halves), shift::<SIZE>(upper, gap))
}

/// Puts the two lanes together: each is moved to the bit where it belongs, and then to its bytes.
struct Join {
    up: uint8x16_t,
    lower: uint8x16_t,
    upper: uint8x16_t,
    carry: uint8x16_t,
}

impl Join {
    #[target_feature(enable = "neon")]
    fn new(run: &Run, part: Part) -> Self {
        let ([first, second], [lower, upper]) = (run.lane_shifts(part), run.lane_bytes(part));
        let up = vcombine_u64(vdup_n_u64(first as u64), vdup_n_u64(second as u64));
        Self { up: vreinterpretq_u8_u64(up), lower: load(&lower), upper: load(&upper), carry: load(&run.carry(part)) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn join(&self, folded: uint8x16_t) -> uint8x16_t {
        let moved = shift::<8>(folded, self.up);
        vorrq_u8(vqtbl1q_u8(moved, self.lower), vqtbl1q_u8(moved, self.upper))
    }
}
