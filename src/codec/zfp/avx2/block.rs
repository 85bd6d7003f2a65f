//! One block: zfp's `encode_block` and `decode_block`, of integers and floats, lossy and reversible.

use super::bits::{Sink, Source};
use super::float::{
    are_same, exponent, exponent_bits, from_integers, has_finite_scale, reinterpret, to_integers, unbiased,
};
use super::matrix::{from_planes, to_planes};
use super::planes;
use super::transform::{from_coefficients, to_coefficients};
use super::{Vectors, vector_count};
use crate::codec::zfp::mode::Parameters;
use std::arch::x86_64::*;
use zfp_rs::ZfpScalarType;

/// zfp's parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    minbits: u32,
    maxbits: u32,
    maxprec: u32,
    minexp: i32,
    is_reversible: bool,
}

impl Limits {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let config = &parameters.config;
        Self {
            minbits: config.min_bits(),
            maxbits: config.max_bits(),
            maxprec: config.max_prec(),
            minexp: config.min_exp(),
            is_reversible: parameters.is_lossless(),
        }
    }

    /// The most bits of a block behind its header.
    fn bits_behind(&self, header: u32) -> u32 {
        self.maxbits.saturating_sub(header)
    }

    /// How many planes of a block of floats are coded: `precision` of zfp's `codecf.c`, in three dimensions.
    fn precision(&self, exponent: i32) -> u32 {
        const SLACK: i64 = 2 * (3 + 1);
        let planes = i64::from(exponent) - i64::from(self.minexp) + SLACK;
        planes.clamp(0, self.maxprec.into()) as u32
    }
}

/// Writes a block of these bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn encode(sink: &mut Sink<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &[u8]) {
    let least = sink.position() + u64::from(limits.minbits);
    match scalar {
        ZfpScalarType::I32 => encode_integers::<false>(sink, limits, &load::<false>(bytes), limits.maxprec, 0),
        ZfpScalarType::I64 => encode_integers::<true>(sink, limits, &load::<true>(bytes), limits.maxprec, 0),
        ZfpScalarType::F32 => encode_floats::<false>(sink, limits, &load::<false>(bytes)),
        ZfpScalarType::F64 => encode_floats::<true>(sink, limits, &load::<true>(bytes)),
    }
    if sink.position() < least {
        sink.put_zeros(least - sink.position());
    }
}

/// Reads a block to these bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode(source: &mut Source<'_>, limits: &Limits, scalar: ZfpScalarType, bytes: &mut [u8]) {
    let least = source.position() + u64::from(limits.minbits);
    match scalar {
        ZfpScalarType::I32 => store::<false>(&decode_integers::<false>(source, limits, limits.maxprec, 0), bytes),
        ZfpScalarType::I64 => store::<true>(&decode_integers::<true>(source, limits, limits.maxprec, 0), bytes),
        ZfpScalarType::F32 => store::<false>(&decode_floats::<false>(source, limits), bytes),
        ZfpScalarType::F64 => store::<true>(&decode_floats::<true>(source, limits), bytes),
    }
    if source.position() < least {
        source.seek(least);
    }
}

/// The rows that the halves of a vector hold, of values of 32 bits: neighbours along z.
const fn rows(vector: usize) -> [usize; 2] {
    let first = vector / 4 * 8 + vector % 4;
    [first, first + 4]
}

/// A block of values of 64 bits in their order, or of 32 bits as [`rows`] tells.
#[inline]
#[target_feature(enable = "avx2")]
fn load<const WIDE: bool>(bytes: &[u8]) -> Vectors {
    let mut block = [_mm256_setzero_si256(); 16];
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
    block
}

/// The inverse of [`load`].
#[inline]
#[target_feature(enable = "avx2")]
fn store<const WIDE: bool>(block: &Vectors, bytes: &mut [u8]) {
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

/// The bits of a precision, which reversible blocks begin with.
const fn precision_bits(wide: bool) -> u32 {
    if wide { 6 } else { 5 }
}

/// How many bits an integer has.
const fn width(wide: bool) -> u32 {
    if wide { 64 } else { 32 }
}

/// Writes integers behind a header of so many bits.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn encode_integers<const WIDE: bool>(sink: &mut Sink<'_>, limits: &Limits, block: &Vectors, maxprec: u32, header: u32) {
    let coefficients =
        if limits.is_reversible { to_coefficients::<WIDE, true>(block) } else { to_coefficients::<WIDE, false>(block) };
    let all = any_bits::<WIDE>(&coefficients);
    let top = u64::BITS - all.leading_zeros();
    let (mut maxprec, mut budget) = (maxprec, limits.bits_behind(header));
    if limits.is_reversible {
        let lowest = all.trailing_zeros().min(width(WIDE));
        maxprec = (width(WIDE) - lowest).min(maxprec).max(1);
        sink.put((maxprec - 1).into(), precision_bits(WIDE));
        budget = limits.bits_behind(header + precision_bits(WIDE));
    }
    let kmin = width(WIDE).saturating_sub(maxprec);
    let mut planes = [0; 64];
    to_planes::<WIDE>(&coefficients, kmin, top, &mut planes);
    planes::encode(sink, &planes, width(WIDE), top, kmin, budget);
}

/// Reads integers behind a header of so many bits. A reversible block has its own precision instead of `maxprec`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decode_integers<const WIDE: bool>(source: &mut Source<'_>, limits: &Limits, maxprec: u32, header: u32) -> Vectors {
    let (mut maxprec, mut budget) = (maxprec, limits.bits_behind(header));
    if limits.is_reversible {
        maxprec = source.take(precision_bits(WIDE)) as u32 + 1;
        budget = limits.bits_behind(header + precision_bits(WIDE));
    }
    let mut planes = [0; 64];
    let kmin = width(WIDE).saturating_sub(maxprec);
    let lowest = planes::decode(source, &mut planes, width(WIDE), kmin, budget);
    let coefficients = from_planes::<WIDE>(&planes, lowest);
    if limits.is_reversible {
        from_coefficients::<WIDE, true>(coefficients)
    } else {
        from_coefficients::<WIDE, false>(coefficients)
    }
}

/// The bits that any of the integers has.
#[inline]
#[target_feature(enable = "avx2")]
fn any_bits<const WIDE: bool>(coefficients: &Vectors) -> u64 {
    let mut all = _mm256_setzero_si256();
    for vector in &coefficients[..const { vector_count(WIDE) }] {
        all = _mm256_or_si256(all, *vector);
    }
    let [a, b, c, d]: [u64; 4] = bytemuck::cast(all);
    let all = a | b | c | d;
    if WIDE { all } else { (all | all >> 32) & u64::from(u32::MAX) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn encode_floats<const WIDE: bool>(sink: &mut Sink<'_>, limits: &Limits, values: &Vectors) {
    let biased = exponent::<WIDE>(values);
    if limits.is_reversible {
        return encode_reversibly::<WIDE>(sink, limits, values, biased);
    }
    let exponent = unbiased(biased, WIDE);
    let precision = limits.precision(exponent);
    if biased == 0 || precision == 0 {
        sink.put(0, 1);
        return;
    }
    let header = 1 + exponent_bits(WIDE);
    sink.put(u64::from(biased) << 1 | 1, header);
    encode_integers::<WIDE>(sink, limits, &to_integers::<WIDE>(values, exponent), precision, header);
}

/// As integers if they give the same values back, else by their bits.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn encode_reversibly<const WIDE: bool>(sink: &mut Sink<'_>, limits: &Limits, values: &Vectors, biased: u32) {
    let exponent = unbiased(biased, WIDE);
    if biased == 0 && are_same::<WIDE>(values, &[_mm256_setzero_si256(); 16]) {
        sink.put(0, 1);
        return;
    }
    if biased > 0 && has_finite_scale(exponent, WIDE) {
        let integers = to_integers::<WIDE>(values, exponent);
        if are_same::<WIDE>(values, &from_integers::<WIDE>(&integers, exponent)) {
            let header = 2 + exponent_bits(WIDE);
            sink.put(u64::from(biased) << 2 | 0b01, header);
            return encode_integers::<WIDE>(sink, limits, &integers, limits.maxprec, header);
        }
    }
    sink.put(0b11, 2);
    encode_integers::<WIDE>(sink, limits, &reinterpret::<WIDE>(values), limits.maxprec, 2);
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decode_floats<const WIDE: bool>(source: &mut Source<'_>, limits: &Limits) -> Vectors {
    if source.take(1) == 0 {
        return [_mm256_setzero_si256(); 16];
    }
    if limits.is_reversible && source.take(1) == 1 {
        return reinterpret::<WIDE>(&decode_integers::<WIDE>(source, limits, 0, 2));
    }
    let exponent = unbiased(source.take(exponent_bits(WIDE)) as u32, WIDE);
    let header = 1 + u32::from(limits.is_reversible) + exponent_bits(WIDE);
    let integers = decode_integers::<WIDE>(source, limits, limits.precision(exponent), header);
    from_integers::<WIDE>(&integers, exponent)
}
