//! NEON: 16 bytes of memory at a time, for all widths except a few that do not fit a register.
//!
//! Each kernel handles whole blocks as long as it may read or write a whole register; the rest goes to the portable
//! tier.

#![expect(unsafe_code, reason = "uses instructions that the level promises")]

mod bools;
mod nibbles;
mod pack;
mod unpack;

use super::blocks::{self, Blockwise, no_blocks};
use super::field::{Field, FieldKind, in_each_lane};
use super::portable;
use crate::interface::Elementwise;
use crate::simd::Level;
use pack::Pack;
use std::arch::aarch64::*;
use std::sync::Arc;
use unpack::Unpack;

type Blocks = blocks::BlockLoop<Neon>;

/// The tables of the kernels for a field.
#[derive(Debug)]
struct Neon {
    field: Field,
    pack: Pack,
    unpack: Unpack,
}

pub(super) fn kernel(field: &Field) -> Option<Arc<dyn Elementwise>> {
    if field.kind == FieldKind::Raw || field.bits == field.size_bits() {
        return None;
    }
    let (pack, unpack) = (Pack::new(field), Unpack::new(field));
    let blocks: [Blocks; 2] = match (field.kind, field.size, field.bits) {
        (FieldKind::Bool, ..) => [bools::encode, bools::decode],
        (_, 1, 4) => [nibbles::encode, nibbles::decode],
        _ => [pack.blocks(field).unwrap_or(no_blocks), unpack.blocks(field).unwrap_or(no_blocks)],
    };
    let tier = Neon { field: *field, pack, unpack };
    // SAFETY: the level has the instructions that each block names.
    let kernel = unsafe { Blockwise::new(Level::Neon, field, tier, blocks, portable::kernel(field)?) };
    Some(Arc::new(kernel?))
}

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: these are 16 readable bytes, and this load needs no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// A value in each lane of this many bits.
#[inline]
#[target_feature(enable = "neon")]
fn repeat(lane_bits: u32, value: u64) -> uint8x16_t {
    vreinterpretq_u8_u64(vdupq_n_u64(in_each_lane(lane_bits, value)))
}

/// Lanes of `SIZE` bytes, each shifted left by the lowest byte of its count, or right if that is negative.
#[inline]
#[target_feature(enable = "neon")]
fn shift<const SIZE: usize>(lanes: uint8x16_t, counts: uint8x16_t) -> uint8x16_t {
    match SIZE {
        1 => vshlq_u8(lanes, vreinterpretq_s8_u8(counts)),
        2 => vreinterpretq_u8_u16(vshlq_u16(vreinterpretq_u16_u8(lanes), vreinterpretq_s16_u8(counts))),
        4 => vreinterpretq_u8_u32(vshlq_u32(vreinterpretq_u32_u8(lanes), vreinterpretq_s32_u8(counts))),
        _ => vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(lanes), vreinterpretq_s64_u8(counts))),
    }
}

/// The count of a shift to the right, as a byte.
fn right(bits: u32) -> u64 {
    u64::from((-(bits as i8)).cast_unsigned())
}
