//! AVX2: 32 bytes of memory at a time, for all widths except a few that do not fit a register.
//!
//! Each kernel handles whole blocks as long as it may read or write a whole register; the rest goes to the portable
//! tier. `pext` and `pdep` would move 8 bytes at a time, and slowly on older processors.

#![expect(unsafe_code, reason = "uses instructions that the level promises")]

mod bools;
mod nibbles;
mod pack;
mod unpack;
mod whole_bytes;

use super::blocks::{self, Blockwise, no_blocks};
use super::field::{Field, FieldKind};
use super::portable;
use crate::interface::Elementwise;
use crate::simd::Level;
use pack::Pack;
use std::arch::x86_64::*;
use std::sync::Arc;
use unpack::Unpack;
use whole_bytes::WholeBytes;

type Blocks = blocks::BlockLoop<Avx2>;

/// The tables of the kernels for a field.
#[derive(Debug)]
struct Avx2 {
    field: Field,
    pack: Pack,
    unpack: Unpack,
    whole_bytes: WholeBytes,
}

pub(super) fn kernel(field: &Field) -> Option<Arc<dyn Elementwise>> {
    if field.kind == FieldKind::Raw || field.bits == field.size_bits() {
        return None;
    }
    let (pack, unpack, whole_bytes) = (Pack::new(field), Unpack::new(field), WholeBytes::new(field));
    let blocks: [Blocks; 2] = match (field.kind, field.size, field.bits) {
        (FieldKind::Bool, ..) => [bools::encode, bools::decode],
        (_, 1, 4) => [nibbles::encode, nibbles::decode],
        _ => {
            let encode = WholeBytes::encode_blocks(field).or_else(|| pack.blocks(field));
            let decode = WholeBytes::decode_blocks(field).or_else(|| unpack.blocks(field));
            [encode.unwrap_or(no_blocks), decode.unwrap_or(no_blocks)]
        }
    };
    let tier = Avx2 { field: *field, pack, unpack, whole_bytes };
    // SAFETY: the level has the instructions that each block names.
    let kernel = unsafe { Blockwise::new(Level::Avx2, field, tier, blocks, portable::kernel(field)?) };
    Some(Arc::new(kernel?))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: these are 32 readable bytes, and this load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// A register of two halves.
///
/// # Safety
/// From each pointer on, 16 bytes are readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_halves(low: *const u8, high: *const u8) -> __m256i {
    // SAFETY: the same is asked of the caller; these loads need no alignment.
    unsafe {
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(_mm_loadu_si128(low.cast())), _mm_loadu_si128(high.cast()))
    }
}

/// A register with these bytes in each half.
#[inline]
#[target_feature(enable = "avx2")]
fn both_halves(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: 16 readable bytes.
    unsafe { load_halves(bytes.as_ptr(), bytes.as_ptr()) }
}
