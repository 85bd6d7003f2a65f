//! Where packed components lie, for kernels that work on 16 bytes of components at a time.
//!
//! 16 bytes of components are a *part* of a *run*, whose packed size is whole bytes: one part, two or four. A part has
//! two lanes of 64 bits, each with the fields of its components one after the other.

use super::field::Field;

/// An index at which the byte shuffles of all processors give 0.
pub(super) const ZERO: u8 = 0x80;

/// 16 bytes of components.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Where it begins in the packed run.
    pub(super) start: usize,
    /// The bit in that byte.
    shift: usize,
}

#[derive(Debug)]
pub(super) struct Run {
    parts: [Part; 4],
    part_count: usize,
    /// The packed bits of a lane.
    pub(super) lane_bits: usize,
    /// In bytes.
    pub(super) packed_size: usize,
}

impl Run {
    pub(super) fn new(field: &Field) -> Self {
        let lane_bits = 8 / field.size * field.bits as usize;
        let part_bits = 2 * lane_bits;
        let parts = [0, 1, 2, 3].map(|part| Part { start: part * part_bits / 8, shift: part * part_bits % 8 });
        let part_count = [1, 2, 4].into_iter().find(|count| (count * part_bits).is_multiple_of(8)).unwrap_or(4);
        Self { parts, part_count, lane_bits, packed_size: part_count * part_bits / 8 }
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts[..self.part_count]
    }

    /// The bytes from the start of a run that are touched if each part is read or written as 16 bytes.
    pub(super) fn reach(&self) -> usize {
        self.parts[self.part_count - 1].start + 16
    }

    /// How far up each lane of a part goes, to begin at the bit of a byte where its packed bits do.
    pub(super) fn lane_shifts(&self, part: Part) -> [usize; 2] {
        [part.shift, (part.shift + self.lane_bits) % 8]
    }

    /// The largest of these shifts, for which lanes must have room.
    pub(super) fn most_shift(&self) -> usize {
        self.parts().iter().flat_map(|part| self.lane_shifts(*part)).max().unwrap_or(0)
    }

    /// For the packed bytes of a part, which bytes of each lane they take, once that has been shifted.
    pub(super) fn lane_bytes(&self, part: Part) -> [[u8; 16]; 2] {
        let shifts = self.lane_shifts(part);
        let starts = [0, (part.shift + self.lane_bits) / 8];
        [0, 1].map(|lane| {
            let size = (shifts[lane] + self.lane_bits).div_ceil(8);
            std::array::from_fn(|byte| match byte.checked_sub(starts[lane]) {
                Some(index) if index < size => (8 * lane + index) as u8,
                _ => ZERO,
            })
        })
    }

    /// For the packed bytes of the next part, the byte of this one that they share.
    pub(super) fn carry(&self, part: Part) -> [u8; 16] {
        let mut carry = [ZERO; 16];
        carry[0] = ((part.shift + 2 * self.lane_bits) / 8).min(15) as u8;
        carry
    }
}

/// The number of steps over `size` bytes, if each advances by `step` and touches `reach`.
pub(super) fn step_count(size: usize, step: usize, reach: usize) -> usize {
    size.checked_sub(reach).map_or(0, |room| room / step + 1)
}
