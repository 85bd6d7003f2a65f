//! One block: zfp's `encode_block` and `decode_block`, of integers and floats, lossy and reversible.

use super::bits::{Sink, Source};
use super::float::{exponent, exponent_bits, from_integers, has_finite_scale, to_integers, unbiased};
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
    pub(super) fn pad(&self, sink: &mut Sink<'_>, start: u64) {
        let least = start + u64::from(self.minbits);
        if sink.position() < least {
            sink.put_zeros(least - sink.position());
        }
    }

    /// Skips what fills a block that began there.
    #[inline(always)]
    pub(super) fn skip_padding(&self, source: &mut Source<'_>, start: u64) {
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

/// A block whose planes are to be coded.
struct Transformed<C> {
    /// What comes before the planes, and how many bits of it.
    header: (u64, u32),
    coefficients: C,
    /// The planes from this one on are zeros.
    top: u32,
    /// The lowest plane that is coded.
    kmin: u32,
}

/// Writes the blocks whose values are these bytes, one after the other.
#[inline(always)]
pub(super) fn encode<K: EncodingKernel<N>, const N: usize>(
    kernel: K,
    sink: &mut Sink<'_>,
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
    sink: &mut Sink<'_>,
    limits: &Limits,
    bytes: &[u8],
) {
    for bytes in bytes.chunks_exact(size_of_block::<N>(WIDE)) {
        let start = sink.position();
        if let Some(block) = transform::<K, N, WIDE, IS_FLOAT>(kernel, limits, bytes) {
            let (header, length) = block.header;
            sink.put(header, length);
            let budget = limits.bits_after(length);
            kernel.encode_planes::<WIDE>(sink, &block.coefficients, block.top, block.kmin, budget);
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

/// `None` for a block of which only one bit is coded, 0.
#[inline(always)]
fn transform<K: EncodingKernel<N>, const N: usize, const WIDE: bool, const IS_FLOAT: bool>(
    kernel: K,
    limits: &Limits,
    bytes: &[u8],
) -> Option<Transformed<K::Coefficients>> {
    let values = kernel.load::<WIDE>(bytes);
    if IS_FLOAT {
        transform_floats::<K, N, WIDE>(kernel, limits, &values)
    } else {
        Some(transform_integers::<K, N, WIDE>(kernel, limits, &values, limits.maxprec, (0, 0)))
    }
}

/// Reads as many blocks as these bytes hold.
#[inline(always)]
pub(super) fn decode<K: DecodingKernel<N>, const N: usize>(
    kernel: K,
    source: &mut Source<'_>,
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
    source: &mut Source<'_>,
    limits: &Limits,
    bytes: &mut [u8],
) {
    for bytes in bytes.chunks_exact_mut(size_of_block::<N>(WIDE)) {
        let start = source.position();
        let header = read_header::<N, WIDE, IS_FLOAT>(source, limits);
        if header.values == Values::Zeros {
            bytes.fill(0);
        } else {
            let coefficients = kernel.decode_planes::<WIDE>(source, header.kmin, header.budget);
            restore::<K, N, WIDE>(kernel, limits, header.values, &coefficients, bytes);
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
    source: &mut Source<'_>,
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

/// Coefficients to the bytes of values, which are not [`Values::Zeros`].
#[inline(always)]
fn restore<K: DecodingKernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    values: Values,
    coefficients: &K::Coefficients,
    bytes: &mut [u8],
) {
    let integers = if limits.is_reversible {
        kernel.inverse_transform::<WIDE, true>(coefficients)
    } else {
        kernel.inverse_transform::<WIDE, false>(coefficients)
    };
    let values = match values {
        Values::Scaled(exponent) => from_integers::<K, N, WIDE>(kernel, &integers, exponent),
        Values::Bits => values::reinterpret::<K, N, WIDE>(kernel, &integers),
        Values::Zeros | Values::Integers => integers,
    };
    kernel.store::<WIDE>(&values, bytes);
}

/// The bits of a precision, which reversible blocks begin with.
pub(super) const fn precision_bits(wide: bool) -> u32 {
    if wide { 6 } else { 5 }
}

/// How many bits an integer has.
pub(super) const fn width(wide: bool) -> u32 {
    if wide { 64 } else { 32 }
}

/// Integers after this header. A reversible block has a precision of its own up to `maxprec`.
#[inline(always)]
fn transform_integers<K: EncodingKernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    integers: &K::Block,
    mut maxprec: u32,
    (mut header, mut length): (u64, u32),
) -> Transformed<K::Coefficients> {
    let coefficients = if limits.is_reversible {
        kernel.forward_transform::<WIDE, true>(integers)
    } else {
        kernel.forward_transform::<WIDE, false>(integers)
    };
    let all = kernel.significant_bits::<WIDE>(&coefficients);
    let top = u64::BITS - all.leading_zeros();
    if limits.is_reversible {
        let lowest = all.trailing_zeros().min(width(WIDE));
        maxprec = (width(WIDE) - lowest).min(maxprec).max(1);
        header |= u64::from(maxprec - 1) << length;
        length += precision_bits(WIDE);
    }
    let kmin = width(WIDE).saturating_sub(maxprec);
    Transformed { header: (header, length), coefficients, top, kmin }
}

#[inline(always)]
fn transform_floats<K: EncodingKernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    values: &K::Block,
) -> Option<Transformed<K::Coefficients>> {
    let biased = exponent::<K, N, WIDE>(kernel, values);
    let Integers { block, precision, header } = if limits.is_reversible {
        reversible_integers::<K, N, WIDE>(kernel, limits, values, biased)?
    } else {
        lossy_integers::<K, N, WIDE>(kernel, limits, values, biased)?
    };
    Some(transform_integers::<K, N, WIDE>(kernel, limits, &block, precision, header))
}

/// The form in which floats are coded.
struct Integers<B> {
    block: B,
    /// How many planes are coded at most.
    precision: u32,
    header: (u64, u32),
}

/// `None` for a block of which only one bit is coded.
#[inline(always)]
fn lossy_integers<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    values: &K::Block,
    biased: u32,
) -> Option<Integers<K::Block>> {
    let exponent = unbiased(biased, WIDE);
    let precision = limits.precision::<N>(exponent);
    (biased > 0 && precision > 0).then(|| Integers {
        block: to_integers::<K, N, WIDE>(kernel, values, exponent),
        precision,
        header: (u64::from(biased) << 1 | 1, 1 + exponent_bits(WIDE)),
    })
}

/// Scaled integers if they decode to the same values, otherwise the bits of the values. `None` for zeros.
#[inline(always)]
fn reversible_integers<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    limits: &Limits,
    values: &K::Block,
    biased: u32,
) -> Option<Integers<K::Block>> {
    if biased == 0 && values::any_bits::<K, N, WIDE>(kernel, values) == 0 {
        return None;
    }
    let (precision, exponent) = (limits.maxprec, unbiased(biased, WIDE));
    if biased > 0 && has_finite_scale(exponent, WIDE) {
        let block = to_integers::<K, N, WIDE>(kernel, values, exponent);
        if values::are_same::<K, N, WIDE>(kernel, values, &from_integers::<K, N, WIDE>(kernel, &block, exponent)) {
            let header = (u64::from(biased) << 2 | 0b01, 2 + exponent_bits(WIDE));
            return Some(Integers { block, precision, header });
        }
    }
    Some(Integers { block: values::reinterpret::<K, N, WIDE>(kernel, values), precision, header: (0b11, 2) })
}
