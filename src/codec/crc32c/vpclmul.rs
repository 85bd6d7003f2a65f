//! The sum with VPCLMULQDQ, in vectors of AVX2 or AVX-512. Of each block, one part is folded by carry-less
//! multiplication, while three go through the `crc32` instruction, which other units of the processor do.
//!
//! * V. Gopal et al., *Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction*, Intel 2009.
//! * V. Gopal et al., *Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction*, Intel 2011.
//!
//! The lowest bit of a number is the coefficient of its highest power, as in each byte of the data.
#![expect(unsafe_code, reason = "loads and stores of vectors, and instructions that the processor was found to have")]

use super::lanes::{Avx2, Avx512, Lanes};
use crate::memory::{LINE_SIZE, size_before_line};

/// Bytes of a block that each of three `crc32` takes, per step. Two vectors are folded.
const SUMMED: usize = 16;

/// Of iSCSI: RFC 3720, section 12.1.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// Steps of a block. Its sums are put together at the end, which takes the time of some steps.
const LARGE: usize = 480;
const MEDIUM: usize = 56;
const SMALL: usize = 8;

/// What the bytes are written to, an `OUTPUT`: nothing.
const NONE: u8 = 0;

/// The target.
const COPY: u8 = 1;

/// The target, past the caches.
const STREAM: u8 = 2;

/// Copies of this many bytes and more go past the caches.
const LARGE_SIZE: usize = if cfg!(test) { 48 << 10 } else { 16 << 20 };

/// The vectors that this processor has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Vpclmul {
    Avx2(Avx2),
    Avx512(Avx512),
}

impl Vpclmul {
    /// The widest ones, if any.
    pub(super) fn available() -> Option<Self> {
        Avx512::available().map(Self::Avx512).or_else(|| Avx2::available().map(Self::Avx2))
    }

    /// The sum, before its last bits are inverted, after more bytes.
    pub(super) fn update(self, state: u32, source: &[u8]) -> u32 {
        match self {
            // SAFETY: the processor has these instructions.
            Self::Avx2(lanes) => unsafe { run_avx2::<NONE>(lanes, state, source, &mut []) },
            // SAFETY: the processor has these instructions.
            Self::Avx512(lanes) => unsafe { run_avx512::<NONE>(lanes, state, source, &mut []) },
        }
    }

    /// The same, copying the bytes to a target of their size.
    pub(super) fn copy(self, state: u32, source: &[u8], target: &mut [u8]) -> u32 {
        assert_eq!(source.len(), target.len());
        let is_large = source.len() >= LARGE_SIZE;
        match self {
            // SAFETY: the processor has these instructions.
            Self::Avx2(lanes) if is_large => unsafe { run_avx2::<STREAM>(lanes, state, source, target) },
            // SAFETY: the processor has these instructions.
            Self::Avx2(lanes) => unsafe { run_avx2::<COPY>(lanes, state, source, target) },
            // SAFETY: the processor has these instructions.
            Self::Avx512(lanes) if is_large => unsafe { run_avx512::<STREAM>(lanes, state, source, target) },
            // SAFETY: the processor has these instructions.
            Self::Avx512(lanes) => unsafe { run_avx512::<COPY>(lanes, state, source, target) },
        }
    }
}

#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq,sse4.2")]
fn run_avx2<const OUTPUT: u8>(lanes: Avx2, state: u32, source: &[u8], target: &mut [u8]) -> u32 {
    run::<Avx2, OUTPUT>(lanes, state, source, target)
}

#[target_feature(enable = "avx512f,vpclmulqdq,pclmulqdq,sse4.2")]
fn run_avx512<const OUTPUT: u8>(lanes: Avx512, state: u32, source: &[u8], target: &mut [u8]) -> u32 {
    run::<Avx512, OUTPUT>(lanes, state, source, target)
}

/// `target` is as long as `source` if there is an `OUTPUT`, or else empty.
#[inline(always)]
fn run<L: Lanes, const OUTPUT: u8>(lanes: L, mut state: u32, mut source: &[u8], mut target: &mut [u8]) -> u32 {
    if OUTPUT == STREAM {
        let size = size_before_line(target);
        if let (Some(first), Some(first_target)) = (source.split_off(..size), target.split_off_mut(..size)) {
            first_target.copy_from_slice(first);
            state = sum_rest(lanes, state, first);
        }
    }
    state = sum_blocks::<L, OUTPUT, LARGE>(lanes, state, &mut source, &mut target);
    state = sum_blocks::<L, OUTPUT, MEDIUM>(lanes, state, &mut source, &mut target);
    state = sum_blocks::<L, OUTPUT, SMALL>(lanes, state, &mut source, &mut target);
    if OUTPUT != NONE {
        target.copy_from_slice(source);
    }
    if OUTPUT == STREAM {
        lanes.fence();
    }
    sum_rest(lanes, state, source)
}

/// Takes bytes that make no block.
#[inline(always)]
fn sum_rest<L: Lanes>(lanes: L, state: u32, source: &[u8]) -> u32 {
    let (words, bytes) = source.as_chunks::<8>();
    let state = words.iter().fold(state.into(), |state, word| lanes.sum(state, u64::from_le_bytes(*word)));
    bytes.iter().fold(state as u32, |state, byte| lanes.sum_byte(state, *byte))
}

/// Takes as many blocks of this size as there are.
#[inline(always)]
fn sum_blocks<L: Lanes, const OUTPUT: u8, const STEPS: usize>(
    lanes: L,
    mut state: u32,
    source: &mut &[u8],
    target: &mut &mut [u8],
) -> u32 {
    const { assert!((STEPS * (2 * L::SIZE + 3 * SUMMED)).is_multiple_of(LINE_SIZE), "blocks are whole lines") };
    while let Some(block) = source.split_off(..STEPS * (2 * L::SIZE + 3 * SUMMED)) {
        let target_block = if OUTPUT != NONE { target.split_off_mut(..block.len()) } else { None };
        state = sum_block::<L, OUTPUT, STEPS>(lanes, state, block, target_block.unwrap_or_default());
    }
    state
}

/// `target` is as long as `source` if there is an `OUTPUT`, and begins with a cache line if it is to `STREAM`.
#[inline(always)]
fn sum_block<L: Lanes, const OUTPUT: u8, const STEPS: usize>(
    lanes: L,
    state: u32,
    source: &[u8],
    target: &mut [u8],
) -> u32 {
    let folded_size = const { STEPS * 2 * L::SIZE };
    let (folded, summed) = source.split_at(folded_size);
    let [first, second, third] = [0, 1, 2].map(|part| &summed[part * STEPS * SUMMED..][..STEPS * SUMMED]);
    let [first, second, third] = [first, second, third].map(|part| part.as_chunks::<SUMMED>().0);
    assert!([first, second, third].iter().all(|part| part.len() == STEPS));
    assert!(OUTPUT == NONE || target.len() == source.len());
    assert!(OUTPUT != STREAM || target.as_ptr().addr().is_multiple_of(LINE_SIZE));
    let target = target.as_mut_ptr();
    let distance = const { distance(2 * L::SIZE) };
    let (mut low, mut high) = (lanes.zero(), lanes.zero());
    let mut sums = [0; 3];
    for step in 0..STEPS {
        let at = step * 2 * L::SIZE;
        // SAFETY: two vectors of the folded part.
        let (low_data, high_data) =
            unsafe { (lanes.load(folded.as_ptr().add(at)), lanes.load(folded.as_ptr().add(at + L::SIZE))) };
        low = lanes.multiply_add(low, distance, low_data);
        high = lanes.multiply_add(high, distance, high_data);
        if OUTPUT != NONE {
            // SAFETY: the target is as long as the source, where these bytes are in the same place. All parts of a block
            // begin with a cache line if it does, which `run` has seen to.
            unsafe {
                let (low_target, high_target) = (target.add(at), target.add(at + L::SIZE));
                if OUTPUT == STREAM {
                    lanes.stream(low_target, low_data);
                    lanes.stream(high_target, high_data);
                } else {
                    lanes.store(low_target, low_data);
                    lanes.store(high_target, high_data);
                }
            }
        }
        for (part, bytes) in [&first[step], &second[step], &third[step]].into_iter().enumerate() {
            let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
            sums[part] = lanes.sum(lanes.sum(sums[part], word(0)), word(8));
            if OUTPUT != NONE {
                let at = folded_size + (part * STEPS + step) * SUMMED;
                // SAFETY: as above.
                unsafe {
                    let target = target.add(at);
                    if OUTPUT == STREAM {
                        lanes.stream_bytes(target, bytes);
                    } else {
                        target.cast::<[u8; SUMMED]>().write(*bytes);
                    }
                }
            }
        }
    }
    let before_last = lanes.product(state, const { factor(STEPS * (2 * L::SIZE + 3 * SUMMED)) })
        ^ lanes.product(sum_of_lanes(lanes, low, high), const { factor(STEPS * 3 * SUMMED) })
        ^ lanes.product(sums[0] as u32, const { factor(STEPS * 2 * SUMMED) })
        ^ lanes.product(sums[1] as u32, const { factor(STEPS * SUMMED) });
    (lanes.sum(0, before_last) ^ sums[2]) as u32
}

/// The sum of the bytes of two vectors.
#[inline(always)]
fn sum_of_lanes<L: Lanes>(lanes: L, low: L::Vector, high: L::Vector) -> u32 {
    let both = lanes.multiply_add(low, const { distance(L::SIZE) }, high);
    let mut bytes = [0; 64];
    let bytes = &mut bytes[..L::SIZE];
    // SAFETY: there is room for one vector.
    unsafe { lanes.store(bytes.as_mut_ptr(), both) };
    bytes.as_chunks::<8>().0.iter().fold(0, |sum, word| lanes.sum(sum, u64::from_le_bytes(*word))) as u32
}

/// What the two halves of a lane are multiplied by to shift it by this many bytes.
const fn distance(size: usize) -> [u64; 2] {
    let bits = 8 * size as u32;
    // A product has one bit less than two words.
    [(power(bits + 63) as u64) << 32, (power(bits - 1) as u64) << 32]
}

/// What a sum is multiplied by to shift it by this many bytes. The product has one bit less than a word, and the
/// `crc32` instruction shifts it by 32 more.
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
