//! Block by block, against the definition by `zfp-rs`.

use super::{Coder, OwnReader, OwnWriter, SLACK, TIERS};
use crate::codec::zfp::backend::{self, BlockReader, BlockWriter};
use crate::codec::zfp::grid::dimensionality_of;
use crate::codec::zfp::mode::Parameters;
use crate::simd::available;
use std::fmt::Debug;
use zfp_rs::{ZfpConfig, ZfpScalar};

fn parameters(minbits: u32, maxbits: u32, maxprec: u32, minexp: i32) -> Parameters {
    let config = ZfpConfig::expert(minbits, maxbits, maxprec, minexp).unwrap();
    Parameters { config, block_bits: 0, mode: "expert" }
}

const UNLIMITED: u32 = 16_658;

/// Of two blocks of 256 values of 64 bits.
const WORDS: usize = 2 * UNLIMITED as usize / 64 + 2;

/// Each in a way that the others are not.
fn all_parameters() -> Vec<Parameters> {
    let mut all = vec![
        parameters(1, UNLIMITED, 64, -1075),
        parameters(1, UNLIMITED, 64, -1074),
        parameters(1, UNLIMITED, 20, -1074),
        parameters(1, UNLIMITED, 1, -1075),
        parameters(700, 700, 64, -1074),
        parameters(900, UNLIMITED, 64, -1080),
        parameters(40, 300, 17, -3),
        parameters(1, UNLIMITED, 64, -20),
        parameters(1, UNLIMITED, 64, 40),
        parameters(1, UNLIMITED, 64, 200),
    ];
    all.extend((20..200).chain((200..1000).step_by(37)).map(|maxbits| parameters(1, maxbits, 64, -1074)));
    all.extend((20..900).step_by(53).map(|bits| parameters(bits, bits, 64, -1075)));
    all.extend([1, 11, 12, 13, 24, 32, 57, 64, 65, 128, 255, 512, 1024].map(|bits| parameters(bits, bits, 64, -1074)));
    all.extend([parameters(100, 100, 17, -1074), parameters(100, 100, 64, 3), parameters(200, 200, 64, -900)]);
    all
}

pub(super) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state ^ (*state >> 29)
}

/// A type in blocks of many kinds.
trait Sample: ZfpScalar + Debug {
    /// Of the top bits of a word.
    fn of_bits(bits: u64) -> Self;
    fn of_number(number: f64) -> Self;
    /// Replaces the values that a lossy mode does not take.
    fn within(self, is_lossless: bool) -> Self;
}

impl Sample for i32 {
    fn of_bits(bits: u64) -> Self {
        (bits >> 32) as Self
    }
    fn of_number(number: f64) -> Self {
        (number * 1e6) as Self
    }
    fn within(self, is_lossless: bool) -> Self {
        if is_lossless { self } else { self >> 2 }
    }
}

impl Sample for i64 {
    fn of_bits(bits: u64) -> Self {
        bits.cast_signed()
    }
    fn of_number(number: f64) -> Self {
        (number * 1e15) as Self
    }
    fn within(self, is_lossless: bool) -> Self {
        if is_lossless { self } else { self >> 2 }
    }
}

impl Sample for f32 {
    fn of_bits(bits: u64) -> Self {
        Self::from_bits((bits >> 32) as u32)
    }
    fn of_number(number: f64) -> Self {
        number as Self
    }
    fn within(self, is_lossless: bool) -> Self {
        if is_lossless || self.is_finite() { self } else { 3.0 }
    }
}

impl Sample for f64 {
    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
    fn of_number(number: f64) -> Self {
        number
    }
    fn within(self, is_lossless: bool) -> Self {
        if is_lossless || self.is_finite() { self } else { 3.0 }
    }
}

fn blocks<T: Sample, const N: usize>() -> Vec<[T; N]> {
    let mut state = 5;
    let mut blocks = vec![[T::default(); N]];
    // Noise of every magnitude, and so of every number of significant bits.
    for shift in 0..64 {
        blocks.push(std::array::from_fn(|_| T::of_bits(next(&mut state) >> shift)));
        blocks.push(std::array::from_fn(|_| T::of_bits((next(&mut state).cast_signed() >> shift).cast_unsigned())));
        blocks.push(std::array::from_fn(|_| T::of_bits(next(&mut state) << shift)));
    }
    // Smooth, with noise and spikes.
    for noise in [0.0, 1e-6, 1e-3, 0.1] {
        for power in [-300, -50, -40, -30, 0, 5, 30] {
            let scale = 10_f64.powi(power);
            blocks.push(std::array::from_fn(|i| {
                let [x, y, z, w] = [i % 4, i / 4 % 4, i / 16 % 4, i / 64].map(|position| position as f64);
                let noise = noise * (next(&mut state) >> 11) as f64 / 2_f64.powi(53);
                T::of_number(scale * ((x * 0.1).sin() + y * 0.01 - z * 0.2 + w * 0.05 + noise))
            }));
        }
    }
    // Few bits, so that floats are integers of a scale: about where it is no longer finite, and among subnormals.
    for exponent in (-1074..-1060).chain(-966..-956).chain(-150..-120).chain(-102..-92) {
        let unit = 2_f64.powi(exponent + 40) / 2_f64.powi(40);
        blocks.push(std::array::from_fn(|i| T::of_number((i as f64 - 9.0) * unit)));
        blocks.push(std::array::from_fn(|i| T::of_number((i % 2) as f64 * unit)));
    }
    for place in 0..N {
        for value in [1.0, -3.5e-9, 0.1] {
            blocks.push(std::array::from_fn(|i| if i == place { T::of_number(value) } else { T::of_number(0.0) }));
            blocks.push(std::array::from_fn(|i| if i == place { T::of_number(-value) } else { T::of_number(2.0) }));
        }
    }
    blocks
}

/// Streams that nobody has written: more or less of ones, in runs that are shorter or longer.
fn streams() -> Vec<Vec<u64>> {
    let mut state = 9;
    let mut streams = vec![vec![0; 90], vec![u64::MAX; 90]];
    for length in 0..90 {
        streams.push((0..length).map(|_| next(&mut state)).collect());
    }
    for _ in 0..60 {
        let mut word = || next(&mut state);
        streams.push((0..90).map(|_| word() & word()).collect());
        streams.push((0..90).map(|_| word() & word() & word() & word()).collect());
        streams.push((0..90).map(|_| word() | word()).collect());
        streams.push((0..90).map(|_| word() | word() | word() | word()).collect());
        streams.push((0..90).map(|i| if i % 3 == 0 { word() } else { 0 }).collect());
    }
    streams
}

fn encode<T: ZfpScalar, const N: usize>(blocks: &[[T; N]], mut writer: impl BlockWriter<T, N>) -> u64 {
    writer.write(blocks).unwrap();
    writer.finish().unwrap()
}

/// The bits of a block, and where the next one begins.
fn decode<T: ZfpScalar, const N: usize>(reader: &mut impl BlockReader<T, N>) -> (Vec<u8>, u64) {
    let mut values = [T::default(); N];
    reader.read(std::slice::from_mut(&mut values)).unwrap();
    (bytemuck::cast_slice(&values).to_vec(), reader.position())
}

/// Those that code blocks of N values.
fn coders<const N: usize>() -> impl Iterator<Item = Coder> {
    available(TIERS).map(Coder).filter(|coder| coder.codes(dimensionality_of::<N>()))
}

fn check<T: Sample>() {
    assert!(coders::<64>().next().is_some() || Coder::best().is_none(), "every tier has three dimensions");
    check_blocks::<T, 4>();
    check_blocks::<T, 16>();
    check_blocks::<T, 64>();
    check_blocks::<T, 256>();
    check_run::<T, 4>();
    check_run::<T, 16>();
    check_run::<T, 64>();
    check_run::<T, 256>();
}

fn check_blocks<T: Sample, const N: usize>() {
    let (blocks, streams) = (blocks::<T, N>(), streams());
    for parameters in all_parameters() {
        let is_lossless = parameters.is_lossless();
        for pair in blocks.chunks(2) {
            let pair: Vec<[T; N]> = pair.iter().map(|block| block.map(|value| value.within(is_lossless))).collect();
            let mut theirs = [0; WORDS];
            let bit_count = encode(&pair, backend::CrateWriter::new(&mut theirs, &parameters));
            let words = bit_count.div_ceil(64) as usize;
            for coder in coders::<N>() {
                let mut ours = [0xA5A5; WORDS + SLACK];
                let our_count = encode(&pair, OwnWriter::new(coder, &mut ours, &parameters));
                assert_eq!(our_count, bit_count, "{coder:?} {parameters:?} {pair:?}");
                assert_eq!(ours[..words], theirs[..words], "{coder:?} {parameters:?} {pair:?}");
            }
            check_decode::<T, N>(&theirs[..words], 0, &parameters, pair.len());
        }
        for stream in &streams {
            for start in [0, 1, 61] {
                check_decode::<T, N>(stream, start, &parameters, 3);
            }
            // Tiers that read blocks of few values in lockstep take many of them.
            if N <= 16 && parameters.config.min_bits() == parameters.config.max_bits() {
                check_decode::<T, N>(stream, 5, &parameters, 70);
            }
        }
    }
}

/// All blocks by one call, as the tiers that take some at a time see them.
fn check_run<T: Sample, const N: usize>() {
    let blocks = blocks::<T, N>();
    let (fixed, others): (Vec<_>, Vec<_>) = all_parameters()
        .into_iter()
        .partition(|parameters| parameters.config.min_bits() == parameters.config.max_bits());
    for parameters in fixed.into_iter().chain(others.into_iter().step_by(3)) {
        let run: Vec<[T; N]> =
            blocks.iter().map(|block| block.map(|value| value.within(parameters.is_lossless()))).collect();
        let mut theirs = vec![0; run.len() * WORDS / 2];
        let bit_count = encode(&run, backend::CrateWriter::new(&mut theirs, &parameters));
        let words = bit_count.div_ceil(64) as usize;
        for coder in coders::<N>() {
            let mut ours = vec![0xA5A5; words + SLACK];
            let our_count = encode(&run, OwnWriter::new(coder, &mut ours, &parameters));
            assert_eq!(our_count, bit_count, "{coder:?} {parameters:?}");
            assert!(ours[..words] == theirs[..words], "{coder:?} {parameters:?}");
        }
        check_decode::<T, N>(&theirs[..words], 0, &parameters, run.len());
    }
}

fn check_decode<T: Sample, const N: usize>(words: &[u64], start: u64, parameters: &Parameters, count: usize) {
    for coder in coders::<N>() {
        let mut ours = OwnReader::new(coder, words, start, parameters);
        let mut theirs = backend::CrateReader::new(words, start, parameters);
        for _ in 0..count {
            let (ours, theirs) = (decode::<T, N>(&mut ours), decode::<T, N>(&mut theirs));
            assert_eq!(ours, theirs, "{coder:?} {parameters:?} from {start}: {words:x?}");
        }
        let (mut ours, mut run) = (OwnReader::new(coder, words, start, parameters), vec![[T::default(); N]; count]);
        BlockReader::<T, N>::read(&mut ours, &mut run).unwrap();
        let position = BlockReader::<T, N>::position(&theirs);
        assert_eq!(BlockReader::<T, N>::position(&ours), position, "{coder:?} {parameters:?} from {start}: {words:x?}");
        theirs = backend::CrateReader::new(words, start, parameters);
        for block in run {
            let (ours, theirs) = (bytemuck::cast_slice::<T, u8>(&block), decode::<T, N>(&mut theirs).0);
            assert_eq!(ours, theirs, "{coder:?} {parameters:?} from {start}: {words:x?}");
        }
    }
}

#[test]
fn blocks_of_int32_are_those_of_the_definition() {
    check::<i32>();
}

#[test]
fn blocks_of_int64_are_those_of_the_definition() {
    check::<i64>();
}

#[test]
fn blocks_of_float32_are_those_of_the_definition() {
    check::<f32>();
}

#[test]
fn blocks_of_float64_are_those_of_the_definition() {
    check::<f64>();
}

#[test]
fn integers_of_64_bits_are_rounded_to_the_nearest_float() {
    let mut state = 7;
    let near_powers = (0..64).flat_map(|power| (-3..=3).map(move |step| (1_i64 << power).wrapping_add(step)));
    // The last bit that a float holds, and the tie below it.
    let near_ties = (0..10).flat_map(|power| (0..16).map(move |step| (1_i64 << 62) + (step << power)));
    let random = (0..20_000).map(|index| next(&mut state).cast_signed() >> (index % 64));
    let all: Vec<i64> =
        near_powers.chain(near_ties).chain(random).flat_map(|value| [value, value.wrapping_neg()]).collect();
    for block in all.as_chunks::<64>().0 {
        let expected = block.map(|value| value as f64);
        for tier in available(TIERS) {
            let mut floats = [0.0; 64];
            let (integers, bytes) = (bytemuck::cast_slice(block), bytemuck::cast_slice_mut(&mut floats));
            // SAFETY: the tier is available.
            unsafe { (tier.kernel.to_floats)(integers, bytes) };
            assert_eq!(floats, expected, "{:?}", tier.level);
        }
    }
}
