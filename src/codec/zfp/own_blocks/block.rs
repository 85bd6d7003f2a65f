//! One block: zfp's `encode_block` and `decode_block`, of integers and floats, lossy and reversible.

use super::bits::{BitReader, BitWriter};
use super::float::{are_exact, exponent, exponent_bits, from_integers, has_finite_scale, to_integers, unbiased};
use super::kernel::{DecodingKernel, EncodingKernel, Kernel};
use super::values;
use crate::codec::zfp::mode::Parameters;
use zfp_rs::ZfpScalarType;

/// zfp's parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) minbits: u32,
    pub(super) maxbits: u32,
    pub(super) maxprec: u32,
    pub(super) minexp: i32,
    pub(super) is_reversible: bool,
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

    /// Fills a block that began there up to the least bits that it has.
    #[inline(always)]
    pub(super) fn pad(&self, sink: &mut BitWriter<'_>, start: u64) {
        let least = start + u64::from(self.minbits);
        if sink.position() < least {
            sink.put_zeros(least - sink.position());
        }
    }

    /// Skips what fills a block that began there.
    #[inline(always)]
    pub(super) fn skip_padding(&self, source: &mut BitReader<'_>, start: u64) {
        let least = start + u64::from(self.minbits);
        if source.position() < least {
            source.seek(least);
        }
    }

    /// The most bits of a block after its header.
    pub(super) fn bits_after(&self, header: u32) -> u32 {
        self.maxbits.saturating_sub(header)
    }

    /// The number of planes of a block of `N` floats that are coded: `precision` of zfp's `codecf.c`.
    fn precision<const N: usize>(&self, exponent: i32) -> u32 {
        let planes = i64::from(exponent) - i64::from(self.minexp) + slack::<N>();
        planes.clamp(0, self.maxprec.into()) as u32
    }
}

/// How many planes a block of `N` floats needs beyond those that its exponent tells: 2 (d + 1) in d dimensions.
pub(super) const fn slack<const N: usize>() -> i64 {
    N.ilog2() as i64 + 2
}

/// Writes the blocks whose values are these bytes, one after the other.
#[inline(always)]
pub(super) fn encode<K: EncodingKernel<N>, const N: usize>(
    kernel: K,
    sink: &mut BitWriter<'_>,
    limits: &Limits,
    scalar: ZfpScalarType,
    bytes: &[u8],
) {
    match scalar {
        ZfpScalarType::I32 => encode_all::<K, N, false, false>(kernel, sink, limits, bytes),
        ZfpScalarType::I64 => encode_all::<K, N, true, false>(kernel, sink, limits, bytes),
        ZfpScalarType::F32 => encode_all::<K, N, false, true>(kernel, sink, limits, bytes),
        ZfpScalarType::F64 => encode_all::<K, N, true, true>(kernel, sink, limits, bytes),
    }
}

#[inline(always)]
fn encode_all<K: EncodingKernel<N>, const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: K,
    sink: &mut BitWriter<'_>,
    limits: &Limits,
    bytes: &[u8],
) {
    let mut block = kernel.zeros();
    for bytes in bytes.chunks_exact(size_of_block::<N>(WIDE)) {
        let start = sink.position();
        kernel.load::<WIDE>(bytes, &mut block);
        if let Some(form) = as_integers::<K, N, WIDE, IS_FLOAT>(kernel, limits, &mut block) {
            let CodedPlanes { header: (header, length), top, kmin } =
                transform::<K, N, WIDE>(kernel, limits, form, &mut block);
            sink.put(header, length);
            kernel.encode_planes::<WIDE>(sink, &block, top, kmin, limits.bits_after(length));
        } else {
            sink.put(0, 1);
        }
        limits.pad(sink, start);
    }
}

/// The bytes of N values.
pub(super) const fn size_of_block<const N: usize>(wide: bool) -> usize {
    N * if wide { 8 } else { 4 }
}

/// The form in which the integers of a block are coded.
struct Form {
    /// How many planes are coded at most.
    precision: u32,
    /// What comes before the planes, and how many bits of it.
    header: (u64, u32),
}

/// Values to integers. `None` for a block of which only one bit is coded, 0.
#[inline(always)]
fn as_integers<K: Kernel<N>, const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: K,
    limits: &Limits,
    block: &mut K::Block,
) -> Option<Form> {
    if !IS_FLOAT {
        return Some(Form { precision: limits.maxprec, header: (0, 0) });
    }
    let biased = exponent::<K, N, WIDE>(kernel, block);
    if limits.is_reversible {
        reversible_integers::<K, N, WIDE>(kernel, limits, block, biased)
    } else {
        lossy_integers::<K, N, WIDE>(kernel, limits, block, biased)
    }
}

/// Reads as many blocks as these bytes hold.
#[inline(always)]
pub(super) fn decode<K: DecodingKernel<N>, const N: usize>(
    kernel: K,
    source: &mut BitReader<'_>,
    limits: &Limits,
    scalar: ZfpScalarType,
    bytes: &mut [u8],
) {
    match scalar {
        ZfpScalarType::I32 => decode_all::<K, N, false, false>(kernel, source, limits, bytes),
        ZfpScalarType::I64 => decode_all::<K, N, true, false>(kernel, source, limits, bytes),
        ZfpScalarType::F32 => decode_all::<K, N, false, true>(kernel, source, limits, bytes),
        ZfpScalarType::F64 => decode_all::<K, N, true, true>(kernel, source, limits, bytes),
    }
}

#[inline(always)]
fn decode_all<K: DecodingKernel<N>, const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: K,
    source: &mut BitReader<'_>,
    limits: &Limits,
    bytes: &mut [u8],
) {
    let mut block = kernel.zeros();
    for bytes in bytes.chunks_exact_mut(size_of_block::<N>(WIDE)) {
        let start = source.position();
        let header = read_header::<N, WIDE, IS_FLOAT>(source, limits);
        if header.values == Values::Zeros {
            bytes.fill(0);
        } else {
            kernel.decode_integers::<WIDE>(source, header.kmin, header.budget, limits.is_reversible, &mut block);
            match header.values {
                Values::Scaled(exponent) => from_integers::<K, N, WIDE>(kernel, &mut block, exponent),
                Values::Bits => values::reinterpret::<K, N, WIDE>(kernel, &mut block),
                Values::Zeros | Values::Integers => {}
            }
            kernel.store::<WIDE>(&block, bytes);
        }
        limits.skip_padding(source, start);
    }
}

/// What the integers of a block are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// There are none.
    Zeros,
    Integers,
    /// Floats of this exponent.
    Scaled(i32),
    /// The bits of floats.
    Bits,
}

/// What is known of a block before its planes.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) values: Values,
    /// The lowest plane that is coded.
    pub(super) kmin: u32,
    /// The most bits that follow.
    pub(super) budget: u32,
}

#[inline(always)]
pub(super) fn read_header<const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    source: &mut BitReader<'_>,
    limits: &Limits,
) -> Header {
    let (mut values, mut length, mut precision) = (Values::Integers, 0, limits.maxprec);
    if IS_FLOAT {
        if source.take(1) == 0 {
            return Header { values: Values::Zeros, kmin: 0, budget: 0 };
        }
        if limits.is_reversible && source.take(1) == 1 {
            (values, length, precision) = (Values::Bits, 2, 0);
        } else {
            let exponent = unbiased(source.take(exponent_bits(WIDE)) as u32, WIDE);
            values = Values::Scaled(exponent);
            length = 1 + u32::from(limits.is_reversible) + exponent_bits(WIDE);
            precision = limits.precision::<N>(exponent);
        }
    }
    if limits.is_reversible {
        precision = source.take(precision_bits(WIDE)) as u32 + 1;
        length += precision_bits(WIDE);
    }
    Header { values, kmin: width(WIDE).saturating_sub(precision), budget: limits.bits_after(length) }
}

/// The bits of a precision, which reversible blocks begin with.
pub(super) const fn precision_bits(wide: bool) -> u32 {
    if wide { 6 } else { 5 }
}

/// How many bits an integer has.
pub(super) const fn width(wide: bool) -> u32 {
    if wide { 64 } else { 32 }
}

/// The planes of a block that are to be coded.
struct CodedPlanes {
    /// What comes before them, and how many bits of it.
    header: (u64, u32),
    /// The planes from this one on are zeros.
    top: u32,
    /// The lowest plane that is coded.
    kmin: u32,
}

/// Integers to coefficients. A reversible block has a precision of its own.
#[inline(always)]
fn transform<K: EncodingKernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    Form { mut precision, header: (mut header, mut length) }: Form,
    block: &mut K::Block,
) -> CodedPlanes {
    if limits.is_reversible {
        kernel.forward_transform::<WIDE, true>(block);
    } else {
        kernel.forward_transform::<WIDE, false>(block);
    }
    let all = values::any_bits::<K, N, WIDE>(kernel, block);
    let top = u64::BITS - all.leading_zeros();
    if limits.is_reversible {
        let lowest = all.trailing_zeros().min(width(WIDE));
        precision = (width(WIDE) - lowest).min(precision).max(1);
        header |= u64::from(precision - 1) << length;
        length += precision_bits(WIDE);
    }
    CodedPlanes { header: (header, length), top, kmin: width(WIDE).saturating_sub(precision) }
}

/// `None` for a block of which only one bit is coded.
#[inline(always)]
fn lossy_integers<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    block: &mut K::Block,
    biased: u32,
) -> Option<Form> {
    let exponent = unbiased(biased, WIDE);
    let precision = limits.precision::<N>(exponent);
    if biased == 0 || precision == 0 {
        return None;
    }
    to_integers::<K, N, WIDE>(kernel, block, exponent);
    Some(Form { precision, header: (u64::from(biased) << 1 | 1, 1 + exponent_bits(WIDE)) })
}

/// Scaled integers if they decode to the same values, otherwise the bits of the values. `None` for zeros.
#[inline(always)]
fn reversible_integers<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    block: &mut K::Block,
    biased: u32,
) -> Option<Form> {
    if biased == 0 && values::any_bits::<K, N, WIDE>(kernel, block) == 0 {
        return None;
    }
    let (precision, exponent) = (limits.maxprec, unbiased(biased, WIDE));
    if biased > 0 && has_finite_scale(exponent, WIDE) {
        let values = *block;
        to_integers::<K, N, WIDE>(kernel, block, exponent);
        if are_exact::<K, N, WIDE>(kernel, block, exponent, &values) {
            return Some(Form { precision, header: (u64::from(biased) << 2 | 0b01, 2 + exponent_bits(WIDE)) });
        }
        *block = values;
    }
    values::reinterpret::<K, N, WIDE>(kernel, block);
    Some(Form { precision, header: (0b11, 2) })
}
