//! Unpacking: a byte shuffle brings the bytes of each field to its component, a shift for each component moves the
//! field's highest bit to the top, and one shift for all brings it to its place. Components of one byte are moved to
//! their place at once.
//!
//! A register has two halves of 16 bytes of components; each begins at a bit of its own in a byte of its own.

use super::{Avx2, Blocks, load, load_halves};
use crate::codec::packbits::field::{Field, FieldKind, in_each_lane};
use crate::codec::packbits::runs::{ZERO, step_count};
use std::arch::asm;
use std::arch::x86_64::*;

/// The constants that differ between the two registers of a step, if there are two.
#[derive(Debug, Clone, Copy)]
struct Register {
    /// Where the packed bytes of each half begin.
    starts: [usize; 2],
    /// The bytes that hold the upper end of each field; for components of a byte, of those at even places.
    high: [u8; 32],
    /// The byte before those, where a field begins in it; for components of a byte, of those at odd places.
    low: [u8; 32],
    /// How far left the `high` go; for components of 1 and 2 bytes, what they are multiplied with.
    high_shifts: [u8; 32],
    /// How far right the `low` go; for components of 1 and 2 bytes, what they are multiplied with.
    low_shifts: [u8; 32],
}

#[derive(Debug)]
pub(super) struct Unpack {
    registers: [Register; 2],
    register_count: usize,
    /// Whether a field has bytes in both `high` and `low`.
    is_split: bool,
    /// The packed bytes of a step.
    step_size: usize,
    /// The packed bytes that a step reads, from its beginning.
    reach: usize,
}

impl Unpack {
    pub(super) fn new(field: &Field) -> Self {
        // In 8-byte components with an odd number of bits, every second register begins within a byte.
        let register_count = if field.size == 8 && field.bits % 2 == 1 { 2 } else { 1 };
        let registers = [0, 1].map(|register| Register::new(field, register));
        Self {
            registers,
            register_count,
            is_split: registers[..register_count].iter().any(|register| register.low.iter().any(|byte| *byte != ZERO)),
            step_size: register_count * 32 / field.size * field.bits as usize / 8,
            reach: registers[register_count - 1].starts[1] + 16,
        }
    }

    /// The kernel. `None` if 16 bytes do not hold half a register.
    pub(super) fn blocks(&self, field: &Field) -> Option<Blocks> {
        let is_signed = field.kind == FieldKind::Signed;
        Some(match (field.size, self.is_split, is_signed) {
            (1, _, false) => decode::<1, true, false>,
            (1, _, true) => decode::<1, true, true>,
            (2, false, false) => decode::<2, false, false>,
            (2, false, true) => decode::<2, false, true>,
            (2, true, false) => decode::<2, true, false>,
            (2, true, true) => decode::<2, true, true>,
            (4, false, false) => decode::<4, false, false>,
            (4, false, true) => decode::<4, false, true>,
            (4, true, false) => decode::<4, true, false>,
            (4, true, true) => decode::<4, true, true>,
            (8, false, false) => decode::<8, false, false>,
            (8, false, true) => decode::<8, false, true>,
            (8, true, false) if field.bits < 63 => decode::<8, true, false>,
            (8, true, true) if field.bits < 63 => decode::<8, true, true>,
            _ => return None,
        })
    }
}

impl Register {
    fn new(field: &Field, register: usize) -> Self {
        let (size, bits) = (field.size, field.bits as usize);
        let half_bits = 16 / size * bits;
        let mut new =
            Self { starts: [0; 2], high: [ZERO; 32], low: [ZERO; 32], high_shifts: [0; 32], low_shifts: [0; 32] };
        for half in 0..2 {
            let half_start = (2 * register + half) * half_bits;
            new.starts[half] = half_start / 8;
            for index in 0..16 / size {
                let start = half_start % 8 + index * bits;
                let place = 16 * half + index * size;
                if size == 1 {
                    new.set_byte(place, start, field.first_bit as usize);
                } else {
                    new.set_component(place, size, start, bits);
                }
            }
        }
        new
    }

    /// A component of one byte: two bytes that hold its field, in lanes of two. A multiplication moves the field to its
    /// place: down to the lower byte in the upper half of the product, up to the upper byte in the lower half.
    fn set_byte(&mut self, place: usize, start: usize, first_bit: usize) {
        let (byte, bit) = ((start / 8) as u8, start % 8);
        let lane = place / 2 * 2;
        let (shuffle, shifts, bytes, factor) = if place % 2 == 1 {
            (&mut self.low, &mut self.low_shifts, [byte, byte + 1], 1_u16 << (8 + first_bit - bit))
        } else if bit > first_bit {
            (&mut self.high, &mut self.high_shifts, [byte, byte + 1], 1 << (16 + first_bit - bit))
        } else {
            // It has to go down a little: from the upper byte, where it is alone.
            (&mut self.high, &mut self.high_shifts, [ZERO, byte], 1 << (8 + first_bit - bit))
        };
        shuffle[lane..lane + 2].copy_from_slice(&bytes);
        shifts[lane..lane + 2].copy_from_slice(&factor.to_le_bytes());
    }

    fn set_component(&mut self, place: usize, size: usize, start: usize, bits: usize) {
        let end = start % 8 + bits;
        let is_split = end > 8 * size;
        let first_byte = start / 8 + usize::from(is_split);
        for byte in 0..size {
            // Beyond 16 bytes there is nothing of the field, for half a register is within them.
            self.high[place + byte] = if first_byte + byte < 16 { (first_byte + byte) as u8 } else { ZERO };
        }
        let left = 8 * (size + usize::from(is_split)) - end;
        if is_split {
            // For a multiplication whose upper half counts, the byte has to be the upper one.
            self.low[place + if size == 2 { 1 } else { 0 }] = (start / 8) as u8;
        }
        if size == 2 {
            let factor = (1_u16 << left).to_le_bytes();
            self.high_shifts[place..place + 2].copy_from_slice(&factor);
            self.low_shifts[place..place + 2].copy_from_slice(&factor);
            return;
        }
        self.high_shifts[place] = left as u8;
        self.low_shifts[place] = if is_split { (8 - left) as u8 } else { 0 };
    }
}

/// Unpacks whole registers.
#[target_feature(enable = "avx2")]
fn decode<const SIZE: usize, const IS_SPLIT: bool, const IS_SIGNED: bool>(
    kernel: &Avx2,
    encoded: &[u8],
    decoded: &mut [u8],
) -> usize {
    let Unpack { registers, register_count, step_size, reach, .. } = &kernel.unpack;
    let step_decoded_size = 32 * register_count;
    let steps = step_count(encoded.len(), *step_size, *reach).min(decoded.len() / step_decoded_size);
    let place = Place::new(&kernel.field);
    let registers = registers.map(|register| Loaded::new(&register));
    assert!(registers[..*register_count].iter().flat_map(|register| register.starts).all(|start| start + 16 <= *reach));
    for step in 0..steps {
        // SAFETY: from the start of each of `steps` steps, `encoded` has `reach` bytes, which covers all these loads,
        // and `decoded` has `register_count` times 32 bytes.
        unsafe {
            let encoded = encoded.as_ptr().add(step * step_size);
            let decoded = decoded.as_mut_ptr().add(step * step_decoded_size).cast::<__m256i>();
            let first = registers[0].gather::<SIZE, IS_SPLIT>(encoded);
            _mm256_storeu_si256(decoded, place.finish::<SIZE, IS_SIGNED>(first));
            if *register_count == 2 {
                let second = registers[1].gather::<SIZE, IS_SPLIT>(encoded);
                _mm256_storeu_si256(decoded.add(1), place.finish::<SIZE, IS_SIGNED>(second));
            }
        }
    }
    steps * step_decoded_size / SIZE
}

/// A [`Register`] in registers.
struct Loaded {
    starts: [usize; 2],
    high: __m256i,
    low: __m256i,
    high_shifts: __m256i,
    low_shifts: __m256i,
}

impl Loaded {
    #[target_feature(enable = "avx2")]
    fn new(register: &Register) -> Self {
        Self {
            starts: register.starts,
            high: load(&register.high),
            low: load(&register.low),
            high_shifts: load(&register.high_shifts),
            low_shifts: load(&register.low_shifts),
        }
    }

    /// The fields at the top of their components, those of one byte in their places; around them lies what was packed
    /// beside them.
    ///
    /// # Safety
    /// From each of the starts in `encoded`, 16 bytes are readable.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn gather<const SIZE: usize, const IS_SPLIT: bool>(&self, encoded: *const u8) -> __m256i {
        // SAFETY: the same is asked of the caller.
        let halves = unsafe { load_halves(encoded.add(self.starts[0]), encoded.add(self.starts[1])) };
        let high = _mm256_shuffle_epi8(halves, self.high);
        let top = match SIZE {
            1 => upper_product(high, self.high_shifts),
            2 => _mm256_mullo_epi16(high, self.high_shifts),
            4 => _mm256_sllv_epi32(high, self.high_shifts),
            _ => _mm256_sllv_epi64(high, self.high_shifts),
        };
        if !IS_SPLIT {
            return top;
        }
        let low = _mm256_shuffle_epi8(halves, self.low);
        match SIZE {
            1 => {
                let odd = _mm256_mullo_epi16(low, self.low_shifts);
                _mm256_blendv_epi8(top, odd, _mm256_set1_epi16(-256))
            }
            2 => _mm256_or_si256(top, upper_product(low, self.low_shifts)),
            4 => _mm256_or_si256(top, _mm256_srlv_epi32(low, self.low_shifts)),
            _ => _mm256_or_si256(top, _mm256_srlv_epi64(low, self.low_shifts)),
        }
    }
}

/// Where fields belong in their components.
struct Place {
    shift: __m128i,
    mask: __m256i,
    sign: __m256i,
}

impl Place {
    #[target_feature(enable = "avx2")]
    fn new(field: &Field) -> Self {
        let lane = field.size_bits();
        let mask = in_each_lane(lane, ((1 << field.bits) - 1) << field.first_bit);
        Self {
            shift: _mm_cvtsi32_si128((lane - field.bits - field.first_bit).cast_signed()),
            mask: _mm256_set1_epi64x(mask.cast_signed()),
            sign: _mm256_set1_epi64x(in_each_lane(lane, 1 << field.last_bit()).cast_signed()),
        }
    }

    /// From the top of each component to its place, with what belongs around it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn finish<const SIZE: usize, const IS_SIGNED: bool>(&self, top: __m256i) -> __m256i {
        let shifted = match SIZE {
            1 => top,
            2 => _mm256_srl_epi16(top, self.shift),
            4 => _mm256_srl_epi32(top, self.shift),
            _ => _mm256_srl_epi64(top, self.shift),
        };
        let fields = _mm256_and_si256(shifted, self.mask);
        if !IS_SIGNED {
            return fields;
        }
        let flipped = _mm256_xor_si256(fields, self.sign);
        match SIZE {
            1 => _mm256_sub_epi8(flipped, self.sign),
            2 => _mm256_sub_epi16(flipped, self.sign),
            4 => _mm256_sub_epi32(flipped, self.sign),
            _ => _mm256_sub_epi64(flipped, self.sign),
        }
    }
}

/// The upper halves of unsigned products. LLVM knows the intrinsic as a multiplication of wider numbers, of which it
/// takes one out of the loop, and then does not find the instruction again.
#[inline]
#[target_feature(enable = "avx2")]
fn upper_product(a: __m256i, b: __m256i) -> __m256i {
    let product;
    // SAFETY: one instruction of AVX2 that reads and writes nothing but these registers.
    unsafe {
        asm!(
            "vpmulhuw {}, {}, {}",
            lateout(ymm_reg) product,
            in(ymm_reg) a,
            in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    product
}
