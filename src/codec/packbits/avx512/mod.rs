//! AVX-512 with VBMI and VBMI2, which Ice Lake, Zen 4 and later processors have: 64 bytes of memory at a time.
//!
//! The fields of such a *group* are whole bytes when packed. Components after the last group, and fields that have no
//! kernel here, go to the AVX2 tier.
//!
//! On Zen 5, masked loads and stores do not trigger the hardware prefetcher, which costs half as much time again at
//! 64 MiB. So only the last loads are masked, and stores are prefetched: unmasked stores that overlap are slower in the
//! cache.

#![expect(unsafe_code, reason = "uses instructions that the level promises")]

mod bools;
mod pack;
mod unpack;

use super::avx2;
use super::blocks::{self, Blockwise, no_blocks};
use super::field::{Field, FieldKind};
use crate::interface::Elementwise;
use crate::simd::Level;
use pack::Pack;
use std::arch::x86_64::*;
use std::sync::Arc;
use unpack::Unpack;

type Blocks = blocks::BlockLoop<Avx512>;

/// The tables of the kernels for a field.
#[derive(Debug)]
struct Avx512 {
    field: Field,
    pack: Pack,
    unpack: Unpack,
}

pub(super) fn kernel(field: &Field) -> Option<Arc<dyn Elementwise>> {
    if field.kind == FieldKind::Raw || field.bits == field.size_bits() {
        return None;
    }
    let (pack, unpack) = (Pack::new(field), Unpack::new(field));
    let encode = pack.blocks.unwrap_or(no_blocks);
    let blocks: [Blocks; 2] = match (field.kind, field.size) {
        (FieldKind::Bool, _) => [bools::encode, bools::decode],
        (_, 1) => [encode, unpack::decode::<1>],
        (_, 2) => [encode, unpack::decode::<2>],
        (_, 4) => [encode, unpack::decode::<4>],
        _ => [encode, unpack::decode::<8>],
    };
    let tier = Avx512 { field: *field, pack, unpack };
    // SAFETY: the level has the instructions that each block names.
    let kernel = unsafe { Blockwise::new(Level::Avx512, field, tier, blocks, avx2::kernel(field)?) };
    Some(Arc::new(kernel?))
}

/// The bytes of a group when packed.
fn group_size(field: &Field) -> usize {
    64 / field.size * field.bits as usize / 8
}

/// Mask of the first `count` bytes of a register (1 to 64).
fn first_bytes(count: usize) -> __mmask64 {
    u64::MAX >> (64 - count)
}

/// Sets one of the lanes of `size` bytes.
fn set_lane(register: &mut [u8; 64], size: usize, index: usize, value: u64) {
    register[index * size..][..size].copy_from_slice(&value.to_le_bytes()[..size]);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: these are 64 readable bytes, and this load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(register: __m512i, bytes: &mut [u8; 64]) {
    // SAFETY: these are 64 writable bytes, and this store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register) }
}
