//! Values of memory to vectors and back.

use std::arch::x86_64::*;

/// Of values of 64 bits, the halves of a vector hold rows of four: that of its index, and its neighbour of two further
/// along z.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load<const WIDE: bool>(bytes: &[u8], block: &mut [__m512i]) {
    if !WIDE {
        for (vector, bytes) in block.iter_mut().zip(bytes.as_chunks::<64>().0) {
            *vector = bytemuck::cast(*bytes);
        }
    } else if let Some(bytes) = bytes.as_chunks::<32>().0.first_chunk::<16>() {
        for (index, vector) in block[..8].iter_mut().enumerate() {
            let (low, high) = (bytemuck::cast(bytes[index]), bytemuck::cast(bytes[index + 8]));
            *vector = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        }
    }
}

/// The inverse of [`load`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store<const WIDE: bool>(block: &[__m512i], bytes: &mut [u8]) {
    if !WIDE {
        for (bytes, vector) in bytes.as_chunks_mut::<64>().0.iter_mut().zip(block) {
            *bytes = bytemuck::cast(*vector);
        }
    } else if let Some(bytes) = bytes.as_chunks_mut::<32>().0.first_chunk_mut::<16>() {
        for (index, vector) in block[..8].iter().enumerate() {
            bytes[index] = bytemuck::cast(_mm512_castsi512_si256(*vector));
            bytes[index + 8] = bytemuck::cast(_mm512_extracti64x4_epi64::<1>(*vector));
        }
    }
}
