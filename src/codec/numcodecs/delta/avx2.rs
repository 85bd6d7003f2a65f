//! AVX2: the sums of 32 bytes of integers at a time.
#![expect(unsafe_code, reason = "uses instructions that the level promises")]

use std::arch::x86_64::*;

/// The bytes of a half register.
const HALF: usize = 16;

#[target_feature(enable = "avx2")]
pub(super) fn sums(element_size: usize, differences: &[u8], before: &[u8; 8], sums: &mut [u8]) -> usize {
    match element_size {
        1 => sums_of::<1>(differences, before, sums),
        2 => sums_of::<2>(differences, before, sums),
        4 => sums_of::<4>(differences, before, sums),
        _ => sums_of::<8>(differences, before, sums),
    }
}

/// Each register is summed by itself; only the sum of all before it waits for that of the last one.
#[inline]
#[target_feature(enable = "avx2")]
fn sums_of<const SIZE: usize>(differences: &[u8], before: &[u8; 8], sums: &mut [u8]) -> usize {
    let last = load(const { &last_element(SIZE) });
    let mut first = [0; 32];
    first[HALF - SIZE..HALF].copy_from_slice(&before[..SIZE]);
    let mut total = _mm256_shuffle_epi8(both_halves::<0x00>(load(&first)), last);
    let groups = differences.as_chunks().0;
    for (group, sums) in groups.iter().zip(sums.as_chunks_mut().0) {
        let here = sums_in::<SIZE>(load(group), last);
        store(add::<SIZE>(here, total), sums);
        total = add::<SIZE>(total, _mm256_shuffle_epi8(both_halves::<0x11>(here), last));
    }
    32 * groups.len()
}

/// The sums within a register: within each half first, by steps of one element, of two, and so on.
#[inline]
#[target_feature(enable = "avx2")]
fn sums_in<const SIZE: usize>(mut register: __m256i, last: __m256i) -> __m256i {
    if SIZE <= 1 {
        register = add::<SIZE>(register, _mm256_slli_si256::<1>(register));
    }
    if SIZE <= 2 {
        register = add::<SIZE>(register, _mm256_slli_si256::<2>(register));
    }
    if SIZE <= 4 {
        register = add::<SIZE>(register, _mm256_slli_si256::<4>(register));
    }
    register = add::<SIZE>(register, _mm256_slli_si256::<8>(register));
    // Zeros in the lower half, and the lower one in the upper.
    let lower = both_halves::<0x08>(register);
    add::<SIZE>(register, _mm256_shuffle_epi8(lower, last))
}

#[inline]
#[target_feature(enable = "avx2")]
fn add<const SIZE: usize>(first: __m256i, second: __m256i) -> __m256i {
    match SIZE {
        1 => _mm256_add_epi8(first, second),
        2 => _mm256_add_epi16(first, second),
        4 => _mm256_add_epi32(first, second),
        _ => _mm256_add_epi64(first, second),
    }
}

/// The halves that each digit names: 0 the lower one, 1 the upper one, 8 zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn both_halves<const HALVES: i32>(register: __m256i) -> __m256i {
    _mm256_permute2x128_si256::<HALVES>(register, register)
}

/// Which bytes of a half repeat its last element.
const fn last_element(size: usize) -> [u8; 32] {
    let mut indices = [0; 32];
    let mut index = 0;
    while index < 32 {
        indices[index] = (HALF - size + index % size) as u8;
        index += 1;
    }
    indices
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: these are 32 readable bytes, and this load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(register: __m256i, bytes: &mut [u8; 32]) {
    // SAFETY: these are 32 writable bytes, and this store needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), register) }
}
