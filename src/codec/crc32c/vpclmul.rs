//! The sum with AVX2 and VPCLMULQDQ (Zen 3, Alder Lake and later). Of each block, one part is folded by carry-less
//! multiplication, while three go through the `crc32` instruction, which other units of the processor do.
//!
//! * V. Gopal et al., *Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction*, Intel 2009.
//! * V. Gopal et al., *Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction*, Intel 2011.
//!
//! The lowest bit of a number is the coefficient of its highest power, as in each byte of the data.
#![expect(unsafe_code, reason = "loads and stores of vectors, and instructions that the processor was found to have")]

use crate::simd::Level;
use std::arch::x86_64::*;

/// Bytes of a block that are folded, per step.
const FOLDED: usize = 64;

/// Bytes of a block that each of three `crc32` takes, per step.
const SUMMED: usize = 16;

/// Of iSCSI: RFC 3720, section 12.1.
const POLYNOMIAL: u32 = 0x82F6_3B78;

const STEP_SIZE: usize = FOLDED + 3 * SUMMED;

/// Steps of a block. Its sums are put together at the end, which takes the time of some steps.
const LARGE: usize = 480;
const MEDIUM: usize = 56;
const SMALL: usize = 8;

/// Whether the processor has the instructions, and not AVX-512, for which the crate has a loop of its own.
pub(super) fn is_best() -> bool {
    Level::Avx2.is_available()
        && !Level::Avx512.is_available()
        && is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("sse4.2")
}

/// The sum, before its last bits are inverted, after more bytes.
pub(super) fn update(state: u32, source: &[u8]) -> u32 {
    assert!(is_best());
    // SAFETY: the processor has these instructions.
    unsafe { run::<false>(state, source, &mut []) }
}

/// The same, copying the bytes.
pub(super) fn copy(state: u32, source: &[u8], target: &mut [u8]) -> u32 {
    assert!(is_best() && source.len() == target.len());
    // SAFETY: the processor has these instructions.
    unsafe { run::<true>(state, source, target) }
}

/// `target` is as long as `source` if it `COPIES`, or else empty.
#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq,sse4.2")]
fn run<const COPIES: bool>(mut state: u32, mut source: &[u8], mut target: &mut [u8]) -> u32 {
    state = sum_blocks::<COPIES, LARGE>(state, &mut source, &mut target);
    state = sum_blocks::<COPIES, MEDIUM>(state, &mut source, &mut target);
    state = sum_blocks::<COPIES, SMALL>(state, &mut source, &mut target);
    if COPIES {
        target.copy_from_slice(source);
    }
    let (words, bytes) = source.as_chunks::<8>();
    for word in words {
        state = _mm_crc32_u64(state.into(), u64::from_le_bytes(*word)) as u32;
    }
    for byte in bytes {
        state = _mm_crc32_u8(state, *byte);
    }
    state
}

/// Takes as many blocks of this size as there are.
#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq,sse4.2")]
fn sum_blocks<const COPIES: bool, const STEPS: usize>(
    mut state: u32,
    source: &mut &[u8],
    target: &mut &mut [u8],
) -> u32 {
    while let Some(block) = source.split_off(..STEPS * STEP_SIZE) {
        let target_block = if COPIES { target.split_off_mut(..block.len()) } else { None };
        state = sum_block::<COPIES, STEPS>(state, block, target_block.unwrap_or_default());
    }
    state
}

/// `target` is as long as `source` if it `COPIES`.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq,sse4.2")]
fn sum_block<const COPIES: bool, const STEPS: usize>(state: u32, source: &[u8], target: &mut [u8]) -> u32 {
    let (folded, summed) = source.split_at(STEPS * FOLDED);
    let folded = folded.as_chunks::<FOLDED>().0;
    let [first, second, third] = [0, 1, 2].map(|part| &summed[part * STEPS * SUMMED..][..STEPS * SUMMED]);
    let [first, second, third] = [first, second, third].map(|part| part.as_chunks::<SUMMED>().0);
    assert!(folded.len() == STEPS && [first, second, third].iter().all(|part| part.len() == STEPS));
    assert!(!COPIES || target.len() == source.len());
    let target = target.as_mut_ptr();
    let distance = const { distance(FOLDED) };
    let (mut low, mut high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    let mut sums = [0; 3];
    for step in 0..STEPS {
        // SAFETY: half of the 64 bytes each.
        let (low_data, high_data) =
            unsafe { (load(folded[step].as_ptr()), load(folded[step].as_ptr().add(FOLDED / 2))) };
        low = _mm256_xor_si256(fold(low, distance), low_data);
        high = _mm256_xor_si256(fold(high, distance), high_data);
        if COPIES {
            // SAFETY: the target is as long as the source, where these bytes are in the same place.
            unsafe {
                store(target.add(step * FOLDED), low_data);
                store(target.add(step * FOLDED + FOLDED / 2), high_data);
            }
        }
        for (part, bytes) in [&first[step], &second[step], &third[step]].into_iter().enumerate() {
            let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
            sums[part] = _mm_crc32_u64(_mm_crc32_u64(sums[part], word(0)), word(8));
            if COPIES {
                let at = STEPS * FOLDED + (part * STEPS + step) * SUMMED;
                // SAFETY: as above.
                unsafe { target.add(at).cast::<[u8; SUMMED]>().write(*bytes) };
            }
        }
    }
    let before_last = product(state, const { factor(STEPS * STEP_SIZE) })
        ^ product(sum_of_lanes(low, high), const { factor(STEPS * 3 * SUMMED) })
        ^ product(sums[0] as u32, const { factor(STEPS * 2 * SUMMED) })
        ^ product(sums[1] as u32, const { factor(STEPS * SUMMED) });
    (_mm_crc32_u64(0, before_last) ^ sums[2]) as u32
}

/// Shifts the four lanes of a part by as many bytes as the [`distance`] was made for, each modulo the polynomial.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn fold(lanes: __m256i, [first, second]: [u64; 2]) -> __m256i {
    let factors = _mm256_set_epi64x(second as i64, first as i64, second as i64, first as i64);
    let products = (_mm256_clmulepi64_epi128::<0x00>(lanes, factors), _mm256_clmulepi64_epi128::<0x11>(lanes, factors));
    _mm256_xor_si256(products.0, products.1)
}

/// The sum of 64 bytes.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq,sse4.2")]
fn sum_of_lanes(low: __m256i, high: __m256i) -> u32 {
    let low = fold(low, const { distance(FOLDED / 2) });
    let both = _mm256_xor_si256(low, high);
    let first = _mm256_castsi256_si128(fold(both, const { distance(FOLDED / 4) }));
    let lane = _mm_xor_si128(first, _mm256_extracti128_si256::<1>(both));
    let words = [_mm_cvtsi128_si64(lane), _mm_extract_epi64::<1>(lane)];
    words.iter().fold(0, |sum, word| _mm_crc32_u64(sum, *word as u64)) as u32
}

/// What the `crc32` instruction takes to the sum of these bytes and as many zeros as the [`factor`] was made for.
#[inline]
#[target_feature(enable = "pclmulqdq")]
fn product(sum: u32, factor: u32) -> u64 {
    let [sum, factor] = [sum, factor].map(|number| _mm_cvtsi64_si128(number.into()));
    _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(sum, factor)) as u64
}

/// What the two halves of a lane are multiplied with to shift it by so many bytes.
const fn distance(size: usize) -> [u64; 2] {
    let bits = 8 * size as u32;
    // A product has one bit less than two words.
    [(power(bits + 63) as u64) << 32, (power(bits - 1) as u64) << 32]
}

/// What a sum is multiplied with to shift it by so many bytes. The product has one bit less than a word, and the `crc32`
/// instruction shifts it by 32 more.
const fn factor(size: usize) -> u32 {
    power(8 * size as u32 - 33)
}

/// This power of x modulo the polynomial.
const fn power(exponent: u32) -> u32 {
    let (mut power, mut done) = (1 << 31, 0);
    while done < exponent {
        power = (power >> 1) ^ if power & 1 == 1 { POLYNOMIAL } else { 0 };
        done += 1;
    }
    power
}

/// # Safety
/// 32 bytes can be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(source: *const u8) -> __m256i {
    // SAFETY: the caller's; a load needs no alignment.
    unsafe { _mm256_loadu_si256(source.cast()) }
}

/// # Safety
/// 32 bytes can be written.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(target: *mut u8, vector: __m256i) {
    // SAFETY: the caller's; a store needs no alignment.
    unsafe { _mm256_storeu_si256(target.cast(), vector) }
}
