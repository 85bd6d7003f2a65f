//! What the fast kernels are made of: element types, and a loop over a block that counts elements without an image.

use crate::codec::simd::{Loop, vectorized};
use std::fmt::Debug;
use std::ops::{AddAssign, BitAnd, BitOr, Shl, Shr};

/// Converts a block of elements.
pub(super) trait Pass: Debug + Send + Sync {
    /// The number of elements without an image; what is written for them means nothing. The caller keeps a block so
    /// short that any counter holds its length.
    fn run(&self, input: &[u8], output: &mut [u8]) -> u64;
}

/// A type that elements are loaded as, in native byte order, at any alignment.
pub(super) trait Lane: Copy + Debug + Send + Sync + 'static {
    type Bytes: Copy;
    /// As wide as the lane, so that counting stays in vectors of the same shape.
    type Count: From<bool> + Into<u64> + AddAssign + Copy;
    fn elements(bytes: &[u8]) -> &[Self::Bytes];
    fn elements_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;
}

macro_rules! lane {
    ($($lane:ty, $count:ty;)*) => {$(
        impl Lane for $lane {
            type Bytes = [u8; size_of::<$lane>()];
            type Count = $count;
            #[inline(always)]
            fn elements(bytes: &[u8]) -> &[Self::Bytes] { bytes.as_chunks().0 }
            #[inline(always)]
            fn elements_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] { bytes.as_chunks_mut().0 }
            #[inline(always)]
            fn load(bytes: Self::Bytes) -> Self { Self::from_ne_bytes(bytes) }
            #[inline(always)]
            fn store(self) -> Self::Bytes { self.to_ne_bytes() }
        }
    )*};
}
lane! {
    u8, u16; i8, u16; u16, u16; i16, u16; u32, u32; i32, u32; u64, u64; i64, u64; f32, u32; f64, u64;
}

/// An integer lane, seen through its value's low 64 bits.
pub(super) trait Integer:
    Lane + Ord + BitAnd<Output = Self> + BitOr<Output = Self> + Shl<u32, Output = Self> + Shr<u32, Output = Self>
{
    const BITS: u32;
    const IS_SIGNED: bool;
    /// Sign-extended, if it has a sign.
    fn extend(self) -> u64;
    fn truncate(bits: u64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

macro_rules! integer {
    ($($lane:ty, $is_signed:literal;)*) => {$(
        impl Integer for $lane {
            const BITS: u32 = <$lane>::BITS;
            const IS_SIGNED: bool = $is_signed;
            #[inline(always)]
            fn extend(self) -> u64 { self as u64 }
            #[inline(always)]
            fn truncate(bits: u64) -> Self { bits as Self }
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
        }
    )*};
}
integer! {
    u8, false; i8, true; u16, false; i16, true; u32, false; i32, true; u64, false; i64, true;
}

/// What happens to one element. `convert` must be `#[inline(always)]`.
pub(super) trait Convert: Copy + Debug + Send + Sync + 'static {
    type Source: Lane;
    type Target: Lane;
    /// The image, and whether there is none.
    fn convert(&self, element: Self::Source) -> (Self::Target, bool);
}

/// A conversion of every element of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Each<C>(pub(super) C);

struct Block<'a, C> {
    conversion: &'a C,
    input: &'a [u8],
    output: &'a mut [u8],
}

impl<C: Convert> Loop for Block<'_, C> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let mut bad = <C::Source as Lane>::Count::from(false);
        for (output, input) in C::Target::elements_mut(self.output).iter_mut().zip(C::Source::elements(self.input)) {
            let (image, is_bad) = self.conversion.convert(C::Source::load(*input));
            *output = image.store();
            bad += is_bad.into();
        }
        bad.into()
    }
}

impl<C: Convert> Pass for Each<C> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> u64 {
        vectorized(Block { conversion: &self.0, input, output })
    }
}

/// A pass of one conversion.
pub(super) fn each<C: Convert>(conversion: C) -> Box<dyn Pass> {
    Box::new(Each(conversion))
}

/// The images of the 256 sources that a byte can hold.
#[derive(Debug)]
pub(super) struct Table<T> {
    images: Box<[T; 256]>,
    is_bad: Box<[bool; 256]>,
}

impl<T: Integer> Table<T> {
    pub(super) fn pass(image: impl Fn(u8) -> Option<u64>) -> Box<dyn Pass> {
        let mut table = Self { images: Box::new([T::truncate(0); 256]), is_bad: Box::new([false; 256]) };
        for byte in 0..=255_u8 {
            let index = usize::from(byte);
            match image(byte) {
                Some(bits) => table.images[index] = T::truncate(bits),
                None => table.is_bad[index] = true,
            }
        }
        Box::new(table)
    }
}

impl<T: Integer> Pass for Table<T> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> u64 {
        for (output, input) in T::elements_mut(output).iter_mut().zip(input) {
            *output = self.images[usize::from(*input)].store();
        }
        if self.is_bad.contains(&true) {
            return input.iter().map(|byte| u64::from(self.is_bad[usize::from(*byte)])).sum();
        }
        0
    }
}
