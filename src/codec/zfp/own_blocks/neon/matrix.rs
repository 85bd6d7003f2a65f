//! Coefficients in memory to bit planes and back.
//!
//! Bytes of the same significance stand together, in the order of the coefficients, when the 8 by 8 bits of each 8 of
//! them are transposed.

use super::super::order::OF_64;
use super::super::planes_of_words::Planes;
use std::arch::aarch64::*;

/// Bytes of the same significance.
type Bytes = [uint8x16_t; 4];

/// From which place each byte comes.
const TO_ORDER: [u8; 64] = OF_64;
const FROM_ORDER: [u8; 64] = {
    let mut sources = [0; 64];
    let mut i = 0;
    while i < 64 {
        sources[OF_64[i] as usize] = i as u8;
        i += 1;
    }
    sources
};

/// The planes from `kmin` to `top` of coefficients, which fill their part of these bytes.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn to_planes<const WIDE: bool>(coefficients: &[u8; 512], kmin: u32, top: u32, planes: &mut Planes<1>) {
    let by_significance = bytes_of::<WIDE>(coefficients);
    let planes: &mut [[[u64; 1]; 8]] = planes.as_chunks_mut().0;
    for byte in kmin as usize / 8..(top as usize).div_ceil(8) {
        let [a, b, c, d] = permuted(by_significance[byte], &TO_ORDER);
        let [a, b, c, d] =
            unzip(unzip(unzip([transpose_bits(a), transpose_bits(b), transpose_bits(c), transpose_bits(d)])));
        let planes: &mut [u64; 8] = bytemuck::cast_mut(&mut planes[byte]);
        // SAFETY: these are 64 writable bytes.
        unsafe {
            vst1q_u64(planes[0..].as_mut_ptr(), vreinterpretq_u64_u8(a));
            vst1q_u64(planes[2..].as_mut_ptr(), vreinterpretq_u64_u8(b));
            vst1q_u64(planes[4..].as_mut_ptr(), vreinterpretq_u64_u8(c));
            vst1q_u64(planes[6..].as_mut_ptr(), vreinterpretq_u64_u8(d));
        }
    }
}

/// The coefficients of planes, of which those below `lowest` are zeros.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn from_planes<const WIDE: bool>(planes: &Planes<1>, lowest: u32, coefficients: &mut [u8; 512]) {
    let zero = vdupq_n_u8(0);
    let mut by_significance = [[zero; 4]; 8];
    let planes: &[[[u64; 1]; 8]] = planes.as_chunks().0;
    for byte in lowest as usize / 8..if WIDE { 8 } else { 4 } {
        let planes: &[u64; 8] = bytemuck::cast_ref(&planes[byte]);
        // SAFETY: these are 64 readable bytes.
        let rows = unsafe {
            [
                vreinterpretq_u8_u64(vld1q_u64(planes[0..].as_ptr())),
                vreinterpretq_u8_u64(vld1q_u64(planes[2..].as_ptr())),
                vreinterpretq_u8_u64(vld1q_u64(planes[4..].as_ptr())),
                vreinterpretq_u8_u64(vld1q_u64(planes[6..].as_ptr())),
            ]
        };
        let [a, b, c, d] = zip(zip(zip(rows)));
        let bytes = [transpose_bits(a), transpose_bits(b), transpose_bits(c), transpose_bits(d)];
        by_significance[byte] = permuted(bytes, &FROM_ORDER);
    }
    store_bytes::<WIDE>(&by_significance, coefficients);
}

/// The bytes of all coefficients by their significance.
#[inline]
#[target_feature(enable = "neon")]
fn bytes_of<const WIDE: bool>(coefficients: &[u8; 512]) -> [Bytes; 8] {
    let zero = vdupq_n_u8(0);
    let mut bytes = [[zero; 4]; 8];
    for quarter in 0..4 {
        // SAFETY: each load reads 64 bytes of the 256, or if `WIDE` 512, that the coefficients fill.
        unsafe {
            if WIDE {
                let first = vld4q_u8(coefficients[128 * quarter..].as_ptr());
                let second = vld4q_u8(coefficients[128 * quarter + 64..].as_ptr());
                // Every fourth byte of a number of eight.
                for (byte, (first, second)) in in_turn(first).into_iter().zip(in_turn(second)).enumerate() {
                    bytes[byte][quarter] = vuzp1q_u8(first, second);
                    bytes[byte + 4][quarter] = vuzp2q_u8(first, second);
                }
            } else {
                let four = vld4q_u8(coefficients[64 * quarter..].as_ptr());
                for (byte, register) in in_turn(four).into_iter().enumerate() {
                    bytes[byte][quarter] = register;
                }
            }
        }
    }
    bytes
}

/// The inverse of [`bytes_of`].
#[inline]
#[target_feature(enable = "neon")]
fn store_bytes<const WIDE: bool>(bytes: &[Bytes; 8], coefficients: &mut [u8; 512]) {
    for quarter in 0..4 {
        let [a, b, c, d] = [bytes[0][quarter], bytes[1][quarter], bytes[2][quarter], bytes[3][quarter]];
        // SAFETY: each store writes 64 bytes of the 256, or if `WIDE` 512, that the coefficients fill.
        unsafe {
            if WIDE {
                let [e, f, g, h] = [bytes[4][quarter], bytes[5][quarter], bytes[6][quarter], bytes[7][quarter]];
                let first = uint8x16x4_t(vzip1q_u8(a, e), vzip1q_u8(b, f), vzip1q_u8(c, g), vzip1q_u8(d, h));
                let second = uint8x16x4_t(vzip2q_u8(a, e), vzip2q_u8(b, f), vzip2q_u8(c, g), vzip2q_u8(d, h));
                vst4q_u8(coefficients[128 * quarter..].as_mut_ptr(), first);
                vst4q_u8(coefficients[128 * quarter + 64..].as_mut_ptr(), second);
            } else {
                vst4q_u8(coefficients[64 * quarter..].as_mut_ptr(), uint8x16x4_t(a, b, c, d));
            }
        }
    }
}

#[inline(always)]
fn in_turn(uint8x16x4_t(a, b, c, d): uint8x16x4_t) -> [uint8x16_t; 4] {
    [a, b, c, d]
}

/// Each byte from its source.
#[inline]
#[target_feature(enable = "neon")]
fn permuted(bytes: Bytes, sources: &[u8; 64]) -> Bytes {
    // SAFETY: each load reads 16 of the 64 bytes.
    let [a, b, c, d] = unsafe {
        [
            vld1q_u8(sources[0..].as_ptr()),
            vld1q_u8(sources[16..].as_ptr()),
            vld1q_u8(sources[32..].as_ptr()),
            vld1q_u8(sources[48..].as_ptr()),
        ]
    };
    let bytes = uint8x16x4_t(bytes[0], bytes[1], bytes[2], bytes[3]);
    [vqtbl4q_u8(bytes, a), vqtbl4q_u8(bytes, b), vqtbl4q_u8(bytes, c), vqtbl4q_u8(bytes, d)]
}

/// Turns the address of a byte among 64, its register and its place in that, right by one bit.
#[inline]
#[target_feature(enable = "neon")]
fn unzip([a, b, c, d]: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
    [vuzp1q_u8(a, b), vuzp1q_u8(c, d), vuzp2q_u8(a, b), vuzp2q_u8(c, d)]
}

/// The inverse of [`unzip`].
#[inline]
#[target_feature(enable = "neon")]
fn zip([a, b, c, d]: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
    [vzip1q_u8(a, c), vzip2q_u8(a, c), vzip1q_u8(b, d), vzip2q_u8(b, d)]
}

/// Bit i of byte j of each 8 bytes becomes bit j of byte i.
#[inline]
#[target_feature(enable = "neon")]
fn transpose_bits(bytes: uint8x16_t) -> uint8x16_t {
    let bits = vreinterpretq_u64_u8(bytes);
    let bits = exchange::<7>(bits, 0x00AA_00AA_00AA_00AA);
    let bits = exchange::<14>(bits, 0x0000_CCCC_0000_CCCC);
    vreinterpretq_u8_u64(exchange::<28>(bits, 0x0000_0000_F0F0_F0F0))
}

/// Exchanges the bits of the mask with those so far above them.
#[inline]
#[target_feature(enable = "neon")]
fn exchange<const DISTANCE: i32>(bits: uint64x2_t, mask: u64) -> uint64x2_t {
    let differences = vandq_u64(veorq_u64(bits, vshrq_n_u64::<DISTANCE>(bits)), vdupq_n_u64(mask));
    veorq_u64(veorq_u64(bits, differences), vshlq_n_u64::<DISTANCE>(differences))
}
