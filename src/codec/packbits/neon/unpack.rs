//! Unpacking: a byte shuffle brings the bytes of each field to its component, a shift for each component moves the
//! field's highest bit to the top, and one shift for all brings it to its place.

use super::{Blocks, Neon, load, repeat, right, shift};
use crate::codec::packbits::field::{Field, FieldKind};
use crate::codec::packbits::runs::{ZERO, step_count};
use std::arch::aarch64::*;

/// The constants that differ between the one, two or four registers of a step.
#[derive(Debug, Clone, Copy)]
struct Register {
    /// Where its packed bytes begin.
    start: usize,
    /// The bytes that hold the upper end of each field.
    high: [u8; 16],
    /// The byte before those, where a field begins in it.
    low: [u8; 16],
    /// [Shifts](shift) of the `high`.
    high_shifts: [u8; 16],
    /// Shifts of the `low`.
    low_shifts: [u8; 16],
}

#[derive(Debug)]
pub(super) struct Unpack {
    registers: [Register; 4],
    register_count: usize,
    /// Whether a field has bytes in both `high` and `low`.
    is_split: bool,
    /// The packed bytes of a step.
    step_size: usize,
    /// The packed bytes that a step reads, from its beginning.
    reach: usize,
    /// Whether 16 bytes hold all that each register needs.
    is_fit: bool,
}

impl Unpack {
    pub(super) fn new(field: &Field) -> Self {
        let register_bits = 16 / field.size * field.bits as usize;
        let whole_bytes = |count: &usize| (count * register_bits).is_multiple_of(8);
        let register_count = [1, 2, 4].into_iter().find(whole_bytes).unwrap_or(4);
        let registers = [0, 1, 2, 3].map(|register| Register::new(field, register * register_bits));
        let used = &registers[..register_count];
        Self {
            registers,
            register_count,
            is_split: used.iter().any(|register| register.low.iter().any(|byte| *byte != ZERO)),
            step_size: register_count * register_bits / 8,
            reach: registers[register_count - 1].start + 16,
            is_fit: (0..register_count).all(|register| register * register_bits % 8 + register_bits <= 128),
        }
    }

    /// The kernel; `None` if 16 bytes do not hold a register.
    pub(super) fn blocks(&self, field: &Field) -> Option<Blocks> {
        if !self.is_fit {
            return None;
        }
        Some(match (field.size, self.is_split) {
            (1, false) => decode::<1, false>,
            (1, true) => decode::<1, true>,
            (2, false) => decode::<2, false>,
            (2, true) => decode::<2, true>,
            (4, false) => decode::<4, false>,
            (4, true) => decode::<4, true>,
            (_, false) => decode::<8, false>,
            (_, true) => decode::<8, true>,
        })
    }
}

impl Register {
    /// Of a register whose first field begins at this bit of the step.
    fn new(field: &Field, start_bit: usize) -> Self {
        let (size, bits) = (field.size, field.bits as usize);
        let mut new =
            Self { start: start_bit / 8, high: [ZERO; 16], low: [ZERO; 16], high_shifts: [0; 16], low_shifts: [0; 16] };
        for index in 0..16 / size {
            let start = start_bit % 8 + index * bits;
            let end = start % 8 + bits;
            let is_split = end > 8 * size;
            let (place, first_byte) = (index * size, start / 8 + usize::from(is_split));
            for byte in 0..size {
                new.high[place + byte] = (first_byte + byte) as u8;
            }
            let left = 8 * (size + usize::from(is_split)) - end;
            new.high_shifts[place] = left as u8;
            if is_split {
                new.low[place] = (start / 8) as u8;
                new.low_shifts[place] = right(8 - left as u32) as u8;
            }
        }
        new
    }
}

/// Unpacks whole steps.
#[target_feature(enable = "neon")]
fn decode<const SIZE: usize, const IS_SPLIT: bool>(kernel: &Neon, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let Unpack { registers, register_count, step_size, reach, .. } = &kernel.unpack;
    let registers = &registers.map(|register| Loaded::new(&register))[..*register_count];
    let place = Place::new(&kernel.field);
    let steps = decoded.as_chunks_mut::<16>().0.chunks_exact_mut(*register_count);
    let count = step_count(encoded.len(), *step_size, *reach).min(steps.len());
    assert!(registers.iter().all(|register| register.start + 16 <= *reach));
    for (index, step) in steps.take(count).enumerate() {
        for (register, block) in registers.iter().zip(step) {
            // SAFETY: from the start of each of `count` steps, `encoded` has `reach` bytes, which covers all these
            // loads.
            let packed = unsafe { vld1q_u8(encoded.as_ptr().add(index * step_size + register.start)) };
            let components = place.finish::<SIZE>(register.gather::<SIZE, IS_SPLIT>(packed));
            // SAFETY: `block` is 16 writable bytes, and this store needs no alignment.
            unsafe { vst1q_u8(block.as_mut_ptr(), components) };
        }
    }
    count * register_count * 16 / SIZE
}

/// A [`Register`] in registers.
struct Loaded {
    start: usize,
    high: uint8x16_t,
    low: uint8x16_t,
    high_shifts: uint8x16_t,
    low_shifts: uint8x16_t,
}

impl Loaded {
    #[target_feature(enable = "neon")]
    fn new(register: &Register) -> Self {
        Self {
            start: register.start,
            high: load(&register.high),
            low: load(&register.low),
            high_shifts: load(&register.high_shifts),
            low_shifts: load(&register.low_shifts),
        }
    }

    /// The fields at the top of their components; below lies what was packed before them.
    #[inline]
    #[target_feature(enable = "neon")]
    fn gather<const SIZE: usize, const IS_SPLIT: bool>(&self, packed: uint8x16_t) -> uint8x16_t {
        let top = shift::<SIZE>(vqtbl1q_u8(packed, self.high), self.high_shifts);
        if !IS_SPLIT {
            return top;
        }
        vorrq_u8(top, shift::<SIZE>(vqtbl1q_u8(packed, self.low), self.low_shifts))
    }
}

/// Where fields belong in their components.
struct Place {
    down: uint8x16_t,
    mask: uint8x16_t,
    sign: uint8x16_t,
}

impl Place {
    #[target_feature(enable = "neon")]
    fn new(field: &Field) -> Self {
        let lane = field.size_bits();
        let sign = if field.kind == FieldKind::Signed { 1 << field.last_bit() } else { 0 };
        Self {
            down: repeat(lane, right(lane - field.bits - field.first_bit)),
            mask: repeat(lane, ((1 << field.bits) - 1) << field.first_bit),
            sign: repeat(lane, sign),
        }
    }

    /// From the top of each component to its place, with what belongs around it.
    #[inline]
    #[target_feature(enable = "neon")]
    fn finish<const SIZE: usize>(&self, top: uint8x16_t) -> uint8x16_t {
        let fields = vandq_u8(shift::<SIZE>(top, self.down), self.mask);
        let flipped = veorq_u8(fields, self.sign);
        match SIZE {
            1 => vsubq_u8(flipped, self.sign),
            2 => vreinterpretq_u8_u16(vsubq_u16(vreinterpretq_u16_u8(flipped), vreinterpretq_u16_u8(self.sign))),
            4 => vreinterpretq_u8_u32(vsubq_u32(vreinterpretq_u32_u8(flipped), vreinterpretq_u32_u8(self.sign))),
            _ => vreinterpretq_u8_u64(vsubq_u64(vreinterpretq_u64_u8(flipped), vreinterpretq_u64_u8(self.sign))),
        }
    }
}
