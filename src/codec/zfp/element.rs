//! Data types, by promotion to one of zfp's four: int32, int64, float32, float64.
//!
//! Specification, "Compression" and "Decompression". Integers of N < 32 bits are shifted so that they fill the range
//! that zfp takes; floats of fewer than 32 bits become float32, with the bits of a NaN moved along. Unsigned integers
//! of 32 and 64 bits are treated as signed ones: values over the largest signed number are refused on encode, and what
//! decodes to a negative value becomes 0.

use crate::number::{bfloat16_to_float32, float16_to_float32};
use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use std::fmt::{Debug, Display};
use std::marker::PhantomData;
use std::ops::BitOr;
use zfp_rs::ZfpScalar;

/// A data type: how an element lies in memory, and which value zfp sees.
pub(super) trait Element: Debug + Send + Sync + 'static {
    /// The size of an element in bytes.
    type Memory: Pod + Send + Sync;
    /// The value that zfp sees.
    type Scalar: ZfpScalar + Display;

    fn promote(&self, memory: Self::Memory) -> Self::Scalar;

    fn demote(&self, value: Self::Scalar) -> Self::Memory;

    /// [`demote`](Self::demote) of all values of a block.
    #[inline(always)] // into the loop over blocks, whose cost it shares
    fn demote_all<const N: usize>(&self, values: &[Self::Scalar; N]) -> [Self::Memory; N] {
        std::array::from_fn(|i| self.demote(values[i]))
    }

    /// The elements as values, if that is what they are and they are aligned.
    fn scalars(_cells: &[Self::Memory]) -> Option<&[Self::Scalar]> {
        None
    }

    /// The same to write to.
    fn scalars_mut(_cells: &mut [Self::Memory]) -> Option<&mut [Self::Scalar]> {
        None
    }

    /// Whether any value cannot round-trip and would corrupt its block.
    fn any_outside(values: &[Self::Scalar], is_lossless: bool) -> bool;

    /// The values that [`any_outside`](Self::any_outside) accepts, for messages.
    fn range(is_lossless: bool) -> String;

    /// A value for messages.
    fn show(value: Self::Scalar) -> String {
        value.to_string()
    }
}

/// One of zfp's own types.
pub(super) trait Scalar: ZfpScalar + Display + Debug + Send + Sync {
    type Bytes: Pod + Send + Sync;
    /// Whether one of the values does not survive a lossy mode.
    fn any_lossy(values: &[Self]) -> bool;
    const LOSSY_RANGE: &'static str;
}

impl Scalar for f32 {
    type Bytes = [u8; 4];
    const LOSSY_RANGE: &'static str = "finite values";

    fn any_lossy(values: &[Self]) -> bool {
        values.iter().fold(false, |any, value| any | !value.is_finite())
    }
}

impl Scalar for f64 {
    type Bytes = [u8; 8];
    const LOSSY_RANGE: &'static str = "finite values";

    fn any_lossy(values: &[Self]) -> bool {
        values.iter().fold(false, |any, value| any | !value.is_finite())
    }
}

impl Scalar for i32 {
    type Bytes = [u8; 4];
    const LOSSY_RANGE: &'static str = "values of a magnitude below 2^30";

    fn any_lossy(values: &[Self]) -> bool {
        any_beyond(values)
    }
}

impl Scalar for i64 {
    type Bytes = [u8; 8];
    const LOSSY_RANGE: &'static str = "values of a magnitude below 2^62";

    fn any_lossy(values: &[Self]) -> bool {
        any_beyond(values)
    }
}

/// The integers among [`Scalar`].
pub(super) trait Integer: Scalar + Ord + BitOr<Output = Self> {
    /// The largest magnitude that survives a lossy mode.
    const LARGEST: Self;
    const SIGNED_RANGE: &'static str;

    /// Negative where the magnitude is larger: either difference is then negative, or wraps around to negative.
    fn beyond(self) -> Self;
    /// Its digits as an unsigned number.
    fn unsigned(self) -> String;
}

impl Integer for i32 {
    const LARGEST: Self = (1 << 30) - 1;
    const SIGNED_RANGE: &'static str = "values up to 2147483647";

    fn beyond(self) -> Self {
        self.wrapping_add(Self::LARGEST) | Self::LARGEST.wrapping_sub(self)
    }

    fn unsigned(self) -> String {
        self.cast_unsigned().to_string()
    }
}

impl Integer for i64 {
    const LARGEST: Self = (1 << 62) - 1;
    const SIGNED_RANGE: &'static str = "values up to 9223372036854775807";

    fn beyond(self) -> Self {
        self.wrapping_add(Self::LARGEST) | Self::LARGEST.wrapping_sub(self)
    }

    fn unsigned(self) -> String {
        self.cast_unsigned().to_string()
    }
}

fn any_beyond<T: Integer>(values: &[T]) -> bool {
    values.iter().fold(T::default(), |signs, value| signs | value.beyond()) < T::default()
}

/// int32, int64, float32 and float64.
#[derive(Debug)]
pub(super) struct Native<S>(PhantomData<S>);

impl<S> Native<S> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<S: Scalar> Element for Native<S> {
    type Memory = S::Bytes;
    type Scalar = S;

    fn promote(&self, memory: S::Bytes) -> S {
        bytemuck::cast(memory)
    }

    fn demote(&self, value: S) -> S::Bytes {
        bytemuck::cast(value)
    }

    fn scalars(cells: &[S::Bytes]) -> Option<&[S]> {
        bytemuck::try_cast_slice(cells).ok()
    }

    fn scalars_mut(cells: &mut [S::Bytes]) -> Option<&mut [S]> {
        bytemuck::try_cast_slice_mut(cells).ok()
    }

    fn any_outside(values: &[S], is_lossless: bool) -> bool {
        !is_lossless && S::any_lossy(values)
    }

    fn range(_: bool) -> String {
        S::LOSSY_RANGE.to_owned()
    }
}

/// uint32 and uint64.
#[derive(Debug)]
pub(super) struct Unsigned<S>(PhantomData<S>);

impl<S> Unsigned<S> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<S: Integer> Element for Unsigned<S> {
    type Memory = S::Bytes;
    type Scalar = S;

    fn promote(&self, memory: S::Bytes) -> S {
        bytemuck::cast(memory)
    }

    fn demote(&self, value: S) -> S::Bytes {
        bytemuck::cast(value.max(S::default()))
    }

    fn any_outside(values: &[S], is_lossless: bool) -> bool {
        let any_negative = values.iter().fold(S::default(), |signs, value| signs | *value) < S::default();
        any_negative || (!is_lossless && S::any_lossy(values))
    }

    fn range(is_lossless: bool) -> String {
        if is_lossless { S::SIGNED_RANGE } else { S::LOSSY_RANGE }.to_owned()
    }

    fn show(value: S) -> String {
        value.unsigned()
    }
}

/// Integers of N = 2, 4, 8 or 16 bits, in int32.
#[derive(Debug)]
pub(super) struct Promoted<M> {
    /// Up to the top of a word of 16 bits: what lies above the N bits drops out.
    to_top: u32,
    /// The sign bit, if unsigned: flipping it subtracts 2^(N-1).
    flip: u16,
    /// 2^(N-1) if unsigned, otherwise 0.
    offset: u16,
    memory: PhantomData<M>,
}

impl<M> Promoted<M> {
    pub(super) fn new(bits: u32, is_signed: bool) -> Self {
        let (flip, offset) = if is_signed { (0, 0) } else { (1 << 15, 1 << (bits - 1)) };
        Self { to_top: 16 - bits, flip, offset, memory: PhantomData }
    }

    /// intN: `value << (31 - N)`; uintN: `(value - 2^(N-1)) << (31 - N)`.
    #[inline(always)] // as `demote`, into the loops over values, so that these become vectors
    fn promote(&self, value: u16) -> i32 {
        // In words of 32 bits, which take fewer instructions.
        ((u32::from(value) << (16 + self.to_top)) ^ u32::from(self.flip) << 16).cast_signed() >> 1
    }

    /// intN: `clamp(value >> (31 - N), -2^(N-1), 2^(N-1) - 1)`; uintN: 2^(N-1) more.
    #[inline(always)]
    fn demote(&self, value: i32) -> u16 {
        (to_top(value) >> self.to_top).cast_unsigned().wrapping_add(self.offset)
    }

    /// [`demote`](Self::demote) of all values of a block; `cell` makes an element in memory.
    #[inline(always)] // as `demote`
    fn demote_block<C: Zeroable + Copy, const N: usize>(
        &self,
        values: &[i32; N],
        cell: impl Fn(u16) -> C + Copy,
    ) -> [C; N] {
        let mut cells = [C::zeroed(); N];
        let ((groups, rest), (cell_groups, cell_rest)) = (values.as_chunks(), cells.as_chunks_mut());
        for (values, cells) in groups.iter().zip(cell_groups) {
            self.demote_16(values, cells, cell);
        }
        for (value, place) in rest.iter().zip(cell_rest) {
            *place = cell(self.demote(*value));
        }
        cells
    }

    #[inline(never)] // among the loops over rows it does not become vectors
    fn demote_16<C>(&self, values: &[i32; 16], cells: &mut [C; 16], cell: impl Fn(u16) -> C) {
        let at_top = values.map(to_top);
        for (place, value) in cells.iter_mut().zip(at_top) {
            *place = cell((value >> self.to_top).cast_unsigned().wrapping_add(self.offset));
        }
    }
}

/// The upper 16 bits of a number of 31, or the nearest number that they can be.
#[inline(always)]
fn to_top(value: i32) -> i16 {
    (value >> 15).clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

impl Element for Promoted<[u8; 1]> {
    type Memory = [u8; 1];
    type Scalar = i32;

    fn promote(&self, [byte]: [u8; 1]) -> i32 {
        self.promote(byte.into())
    }

    fn demote(&self, value: i32) -> [u8; 1] {
        [self.demote(value) as u8]
    }

    #[inline(always)] // as in the trait
    fn demote_all<const N: usize>(&self, values: &[i32; N]) -> [[u8; 1]; N] {
        self.demote_block(values, |value| [value as u8])
    }

    fn any_outside(_: &[i32], _: bool) -> bool {
        false
    }

    fn range(_: bool) -> String {
        "every value".to_owned()
    }
}

impl Element for Promoted<[u8; 2]> {
    type Memory = [u8; 2];
    type Scalar = i32;

    fn promote(&self, bytes: [u8; 2]) -> i32 {
        self.promote(u16::from_ne_bytes(bytes))
    }

    fn demote(&self, value: i32) -> [u8; 2] {
        self.demote(value).to_ne_bytes()
    }

    #[inline(always)] // as in the trait
    fn demote_all<const N: usize>(&self, values: &[i32; N]) -> [[u8; 2]; N] {
        self.demote_block(values, u16::to_ne_bytes)
    }

    fn any_outside(_: &[i32], _: bool) -> bool {
        false
    }

    fn range(_: bool) -> String {
        "every value".to_owned()
    }
}

/// float16, in float32.
#[derive(Debug)]
pub(super) struct Float16;

impl Element for Float16 {
    type Memory = [u8; 2];
    type Scalar = f32;

    fn promote(&self, bytes: [u8; 2]) -> f32 {
        float16_to_float32(u16::from_ne_bytes(bytes))
    }

    fn demote(&self, value: f32) -> [u8; 2] {
        if value.is_nan() {
            let bits = value.to_bits();
            let payload = (bits >> 13) as u16 & 0x03FF;
            let quiet = if payload == 0 { 0x0200 } else { 0 };
            return ((bits >> 16) as u16 & 0x8000 | 0x7C00 | payload | quiet).to_ne_bytes();
        }
        f16::from_f32(value).to_bits().to_ne_bytes()
    }

    fn any_outside(values: &[f32], is_lossless: bool) -> bool {
        Native::any_outside(values, is_lossless)
    }

    fn range(is_lossless: bool) -> String {
        Native::<f32>::range(is_lossless)
    }
}

/// bfloat16, in float32.
#[derive(Debug)]
pub(super) struct Bfloat16;

impl Element for Bfloat16 {
    type Memory = [u8; 2];
    type Scalar = f32;

    fn promote(&self, bytes: [u8; 2]) -> f32 {
        bfloat16_to_float32(u16::from_ne_bytes(bytes))
    }

    fn demote(&self, value: f32) -> [u8; 2] {
        if value.is_nan() {
            let bits = (value.to_bits() >> 16) as u16;
            let quiet = if bits & 0x007F == 0 { 0x0040 } else { 0 };
            return (bits | quiet).to_ne_bytes();
        }
        bf16::from_f32(value).to_bits().to_ne_bytes()
    }

    fn any_outside(values: &[f32], is_lossless: bool) -> bool {
        Native::any_outside(values, is_lossless)
    }

    fn range(is_lossless: bool) -> String {
        Native::<f32>::range(is_lossless)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths() -> impl Iterator<Item = (u32, bool)> {
        [2, 4, 8, 16].into_iter().flat_map(|bits| [(bits, true), (bits, false)])
    }

    #[test]
    fn every_small_integer_is_promoted_by_the_formula_and_comes_back() {
        for (bits, is_signed) in widths() {
            let element = Promoted::<()>::new(bits, is_signed);
            let half = 1_i32 << (bits - 1);
            for value in if is_signed { -half..half } else { 0..2 * half } {
                let expected = if is_signed { value } else { value - half } << (31 - bits);
                assert_eq!(element.promote(value as u16), expected, "{value} of {bits} bits, signed: {is_signed}");
                assert_eq!(element.demote(expected), value as u16, "{value} of {bits} bits, signed: {is_signed}");
                let dirty = value as u16 ^ u16::MAX.checked_shl(bits).unwrap_or(0);
                assert_eq!(element.promote(dirty), expected, "the bits above {bits} are not read");
            }
        }
    }

    #[test]
    fn demotion_clamps_by_the_formula() {
        for (bits, is_signed) in widths() {
            let element = Promoted::<()>::new(bits, is_signed);
            let half = 1_i64 << (bits - 1);
            let steps = (0..1 << 16).map(|high: u32| (high << 16 | high & 0xFFFF).cast_signed());
            for value in steps.chain([i32::MIN, -1, 0, 1, i32::MAX]) {
                let shifted = i64::from(value >> (31 - bits));
                let expected =
                    if is_signed { shifted.clamp(-half, half - 1) } else { (shifted + half).clamp(0, 2 * half - 1) };
                assert_eq!(element.demote(value), expected as u16, "{value} to {bits} bits, signed: {is_signed}");
            }
        }
    }

    #[test]
    fn every_16_bit_float_comes_back_to_the_bit() {
        for bits in 0..=u16::MAX {
            let bytes = bits.to_ne_bytes();
            let (half, brain) = (Float16.promote(bytes), Bfloat16.promote(bytes));
            assert_eq!(Float16.demote(half), bytes, "{bits:#x}");
            assert_eq!(Bfloat16.demote(brain), bytes, "{bits:#x}");
            assert_eq!(half.is_nan(), f16::from_bits(bits).is_nan(), "{bits:#x}");
            assert!(half.is_nan() || half == f16::from_bits(bits).to_f32(), "{bits:#x}");
            assert!(brain.is_nan() || brain == bf16::from_bits(bits).to_f32(), "{bits:#x}");
        }
    }

    #[test]
    fn floats_round_to_nearest_even_and_over_the_largest_to_infinity() {
        for (value, half) in [(65519.0, 65504.0), (65520.0, f32::INFINITY), (2049.0, 2048.0), (2051.0, 2052.0)] {
            assert_eq!(Float16.promote(Float16.demote(value)), half, "{value}");
            assert_eq!(Float16.promote(Float16.demote(-value)), -half, "-{value}");
        }
        for (value, brain) in [(f32::MAX, f32::INFINITY), (257.0, 256.0), (259.0, 260.0)] {
            assert_eq!(Bfloat16.promote(Bfloat16.demote(value)), brain, "{value}");
        }
        assert!(Float16.promote(Float16.demote(f32::from_bits(0x7F80_0001))).is_nan());
        assert!(Bfloat16.promote(Bfloat16.demote(f32::from_bits(0x7F80_0001))).is_nan());
    }

    #[test]
    fn unsigned_values_from_negative_ones_are_0() {
        let element = Unsigned::<i32>::new();
        for (value, expected) in [(-1, 0), (i32::MIN, 0), (0, 0), (7, 7), (i32::MAX, i32::MAX as u32)] {
            assert_eq!(u32::from_ne_bytes(element.demote(value)), expected);
        }
    }

    #[test]
    fn the_range_ends_where_it_says() {
        let large = (1 << 30) - 1;
        for (value, lossy, lossless) in
            [(large, true, true), (-large, true, true), (large + 1, false, true), (-large - 1, false, true)]
        {
            assert_eq!(!Native::any_outside(&[0, value, 1], false), lossy, "{value}");
            assert_eq!(!Native::any_outside(&[0, value, 1], true), lossless, "{value}");
        }
        for (value, lossy, lossless) in [(large, true, true), (large + 1, false, true), (-1, false, false)] {
            assert_eq!(!Unsigned::any_outside(&[0, value, 1], false), lossy, "{value}");
            assert_eq!(!Unsigned::any_outside(&[0, value, 1], true), lossless, "{value}");
        }
        let large = (1_i64 << 62) - 1;
        for (value, lossy) in [(large, true), (-large, true), (large + 1, false), (i64::MIN, false), (i64::MAX, false)]
        {
            assert_eq!(!Native::any_outside(&[0, value, 1], false), lossy, "{value}");
            assert_eq!(!Unsigned::any_outside(&[0, value, 1], false), lossy && value >= 0, "{value}");
            assert_eq!(!Unsigned::any_outside(&[0, value, 1], true), value >= 0, "{value}");
        }
        for (value, lossy) in [(f32::MAX, true), (-0.0, true), (f32::NAN, false), (f32::NEG_INFINITY, false)] {
            assert_eq!(!Native::any_outside(&[0.0, value, 1.0], false), lossy, "{value}");
            assert!(!Native::any_outside(&[0.0, value, 1.0], true), "{value}");
            assert_eq!(!Native::any_outside(&[0.0, f64::from(value), 1.0], false), lossy, "{value}");
        }
    }
}
