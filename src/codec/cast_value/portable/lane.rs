//! The element types of portable loops.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, Shl, Shr};

/// A type that elements are loaded as: native byte order, any alignment.
pub(in crate::codec::cast_value) trait Lane: Copy + Debug + Send + Sync + 'static {
    type Bytes: Copy;
    /// The unsigned integer of this size.
    type Bits: Integer;
    fn elements(bytes: &[u8]) -> &[Self::Bytes];
    fn elements_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;
    fn bits(self) -> Self::Bits;
    fn from_bits(bits: Self::Bits) -> Self;
}

macro_rules! lane {
    ($($lane:ty, $bits:ty;)*) => {$(
        impl Lane for $lane {
            type Bytes = [u8; size_of::<$lane>()];
            type Bits = $bits;
            #[inline(always)]
            fn elements(bytes: &[u8]) -> &[Self::Bytes] { bytes.as_chunks().0 }
            #[inline(always)]
            fn elements_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] { bytes.as_chunks_mut().0 }
            #[inline(always)]
            fn load(bytes: Self::Bytes) -> Self { Self::from_ne_bytes(bytes) }
            #[inline(always)]
            fn store(self) -> Self::Bytes { self.to_ne_bytes() }
            #[inline(always)]
            fn bits(self) -> $bits { <$bits>::from_ne_bytes(self.to_ne_bytes()) }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self { Self::from_ne_bytes(bits.to_ne_bytes()) }
        }
    )*};
}
lane! {
    u8, u8; i8, u8; u16, u16; i16, u16; u32, u32; i32, u32; u64, u64; i64, u64; f32, u32; f64, u64;
}

/// The low bits of a `u32`, stored as a `T`. Vectors are selected from in 32-bit lanes before they are narrowed, which
/// a conversion straight to `T` would not do.
#[derive(Debug, Clone, Copy)]
pub(in crate::codec::cast_value) struct Low<T> {
    bits: u32,
    stored: PhantomData<T>,
}

impl<T: Integer> Low<T> {
    #[inline(always)]
    pub(in crate::codec::cast_value) fn new(bits: u32) -> Self {
        Self { bits, stored: PhantomData }
    }
}

impl<T: Integer> Lane for Low<T> {
    type Bytes = T::Bytes;
    type Bits = u32;

    #[inline(always)]
    fn elements(bytes: &[u8]) -> &[T::Bytes] {
        T::elements(bytes)
    }

    #[inline(always)]
    fn elements_mut(bytes: &mut [u8]) -> &mut [T::Bytes] {
        T::elements_mut(bytes)
    }

    #[inline(always)]
    fn load(bytes: T::Bytes) -> Self {
        Self::new(T::load(bytes).extend() as u32)
    }

    #[inline(always)]
    fn store(self) -> T::Bytes {
        T::truncate(u64::from(self.bits)).store()
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        self.bits
    }

    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        Self::new(bits)
    }
}

/// An integer lane, seen through its value's low 64 bits.
pub(in crate::codec::cast_value) trait Integer:
    Lane + Ord + BitAnd<Output = Self> + BitOr<Output = Self> + Shl<u32, Output = Self> + Shr<u32, Output = Self>
{
    const BITS: u32;
    const IS_SIGNED: bool;
    /// Sign-extended, if it has a sign.
    fn extend(self) -> u64;
    fn truncate(bits: u64) -> Self;
    /// Compares them as signed numbers.
    fn is_above(self, other: Self) -> bool;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

macro_rules! integer {
    ($($lane:ty, $is_signed:literal, $signed:ty;)*) => {$(
        impl Integer for $lane {
            const BITS: u32 = <$lane>::BITS;
            const IS_SIGNED: bool = $is_signed;
            #[inline(always)]
            fn extend(self) -> u64 { self as u64 }
            #[inline(always)]
            fn truncate(bits: u64) -> Self { bits as Self }
            #[inline(always)]
            fn is_above(self, other: Self) -> bool { self as $signed > other as $signed }
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
        }
    )*};
}
integer! {
    u8, false, i8; i8, true, i8; u16, false, i16; i16, true, i16;
    u32, false, i32; i32, true, i32; u64, false, i64; i64, true, i64;
}
