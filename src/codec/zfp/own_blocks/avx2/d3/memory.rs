//! Values of memory to vectors and back.

use std::arch::x86_64::*;

/// The rows that the halves of a vector hold, of values of 32 bits: neighbours along z.
const fn rows(vector: usize) -> [usize; 2] {
    let first = vector / 4 * 8 + vector % 4;
    [first, first + 4]
}

/// A block of values of 64 bits in their order, or of 32 bits as [`rows`] tells.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn load<const WIDE: bool>(bytes: &[u8], block: &mut [__m256i]) {
    if WIDE {
        for (vector, bytes) in block.iter_mut().zip(bytes.as_chunks::<32>().0) {
            *vector = bytemuck::cast(*bytes);
        }
    } else if let Some(bytes) = bytes.as_chunks::<16>().0.first_chunk::<16>() {
        for (index, vector) in block[..8].iter_mut().enumerate() {
            let [low, high] = rows(index).map(|row| bytemuck::cast(bytes[row]));
            *vector = _mm256_set_m128i(high, low);
        }
    }
}

/// The inverse of [`load`].
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn store<const WIDE: bool>(block: &[__m256i], bytes: &mut [u8]) {
    if WIDE {
        for (bytes, vector) in bytes.as_chunks_mut::<32>().0.iter_mut().zip(block) {
            *bytes = bytemuck::cast(*vector);
        }
    } else if let Some(bytes) = bytes.as_chunks_mut::<16>().0.first_chunk_mut::<16>() {
        for (index, vector) in block[..8].iter().enumerate() {
            let [low, high] = rows(index);
            bytes[low] = bytemuck::cast(_mm256_castsi256_si128(*vector));
            bytes[high] = bytemuck::cast(_mm256_extracti128_si256::<1>(*vector));
        }
    }
}
