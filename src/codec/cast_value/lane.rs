//! What the fast kernels are made of: element types, and a loop over a block that notes if an element has no image.

use crate::simd::{Loop, vectorized};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, Shl, Shr};

/// Converts a block of elements.
pub(super) trait Pass: Debug + Send + Sync {
    /// Whether some element has no image, as far as this pass knows; what is written for it means nothing.
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool;

    /// Lays a scalar map over the conversion.
    fn set_map(&mut self, map: &[Entry]);
}

/// An entry of a scalar map: what replaces the image of elements whose bits, after `mask`, are `key`, or for every NaN,
/// above `key`. That finds a bit pattern, both zeros, or every NaN.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) mask: u64,
    pub(super) key: u64,
    pub(super) is_every_nan: bool,
    pub(super) mapped: u64,
}

/// A type that elements are loaded as, in native byte order, at any alignment.
pub(super) trait Lane: Copy + Debug + Send + Sync + 'static {
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

/// The low bits of 32, which are those of a `T`: a vector of these is chosen from, and counted in, before it is narrowed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Low<T> {
    bits: u32,
    stored: PhantomData<T>,
}

impl<T: Integer> Low<T> {
    #[inline(always)]
    pub(super) fn new(bits: u32) -> Self {
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
pub(super) trait Integer:
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

/// What happens to one element. `convert` must be `#[inline(always)]`.
pub(super) trait Convert {
    type Source: Lane;
    type Target: Lane;
    /// The image, and the fault: not zero if there is none.
    fn convert(&self, element: Self::Source) -> (Self::Target, Bits<Self>);
}

/// A fault if it is true.
#[inline(always)]
pub(super) fn flag<B: Integer>(is_bad: bool) -> B {
    B::truncate(u64::from(is_bad).wrapping_neg())
}

/// A fault is as wide as the element, so that a vector of elements has a vector of faults.
pub(super) type Bits<C> = <<C as Convert>::Source as Lane>::Bits;

struct Block<'a, C> {
    conversion: C,
    input: &'a [u8],
    output: &'a mut [u8],
}

impl<C: Convert> Loop for Block<'_, C> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut faults = Bits::<C>::truncate(0);
        for (output, input) in C::Target::elements_mut(self.output).iter_mut().zip(C::Source::elements(self.input)) {
            let (image, fault) = self.conversion.convert(C::Source::load(*input));
            *output = image.store();
            faults = faults | fault;
        }
        faults != Bits::<C>::truncate(0)
    }
}

/// An [`Entry`] for the lanes of a conversion.
#[derive(Debug)]
struct LaneEntry<S: Lane, T> {
    mask: S::Bits,
    key: S::Bits,
    is_every_nan: bool,
    mapped: T,
}

impl<S: Lane, T: Lane> LaneEntry<S, T> {
    fn new(entry: &Entry) -> Self {
        Self {
            mask: S::Bits::truncate(entry.mask),
            key: S::Bits::truncate(entry.key),
            is_every_nan: entry.is_every_nan,
            mapped: T::from_bits(T::Bits::truncate(entry.mapped)),
        }
    }

    /// Replaces the image of an element that matches.
    #[inline(always)]
    fn lay(&self, is_every_nan: bool, element: S, (image, fault): (T, S::Bits)) -> (T, S::Bits) {
        let bits = element.bits() & self.mask;
        let is_mapped = if is_every_nan { bits.is_above(self.key) } else { bits == self.key };
        (if is_mapped { self.mapped } else { image }, fault & flag(!is_mapped))
    }
}

/// A conversion under a map of one entry; the kind of entry is known when this is compiled.
struct Mapped<'a, C: Convert, const IS_EVERY_NAN: bool>(&'a C, &'a LaneEntry<C::Source, C::Target>);

impl<C: Convert, const IS_EVERY_NAN: bool> Convert for Mapped<'_, C, IS_EVERY_NAN> {
    type Source = C::Source;
    type Target = C::Target;

    #[inline(always)]
    fn convert(&self, element: C::Source) -> (C::Target, Bits<C>) {
        self.1.lay(IS_EVERY_NAN, element, self.0.convert(element))
    }
}

/// A conversion under any map.
struct ManyMapped<'a, C: Convert>(&'a C, &'a [LaneEntry<C::Source, C::Target>]);

impl<C: Convert> Convert for ManyMapped<'_, C> {
    type Source = C::Source;
    type Target = C::Target;

    #[inline(always)]
    fn convert(&self, element: C::Source) -> (C::Target, Bits<C>) {
        // The first entry that matches wins: it is laid last.
        let entries = self.1.iter().rev();
        entries.fold(self.0.convert(element), |image, entry| entry.lay(entry.is_every_nan, element, image))
    }
}

/// A conversion of every element of a block.
#[derive(Debug)]
struct Each<C: Convert> {
    conversion: C,
    map: Vec<LaneEntry<C::Source, C::Target>>,
}

impl<C: Convert> Convert for &C {
    type Source = C::Source;
    type Target = C::Target;

    #[inline(always)]
    fn convert(&self, element: C::Source) -> (C::Target, Bits<C>) {
        C::convert(self, element)
    }
}

impl<C: Convert + Debug + Send + Sync> Pass for Each<C> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        let conversion = &self.conversion;
        match self.map.as_slice() {
            [] => vectorized(Block { conversion, input, output }),
            [entry] if entry.is_every_nan => {
                vectorized(Block { conversion: Mapped::<_, true>(conversion, entry), input, output })
            }
            [entry] => vectorized(Block { conversion: Mapped::<_, false>(conversion, entry), input, output }),
            entries => Block { conversion: ManyMapped(conversion, entries), input, output }.run(),
        }
    }

    fn set_map(&mut self, map: &[Entry]) {
        self.map = map.iter().map(LaneEntry::new).collect();
    }
}

/// A pass of one conversion.
pub(super) fn each<C: Convert + Debug + Send + Sync + 'static>(conversion: C) -> Box<dyn Pass> {
    Box::new(Each { conversion, map: Vec::new() })
}

/// The images of the 256 sources that a byte can hold.
#[derive(Debug)]
pub(super) struct Table<T> {
    images: Box<[T; 256]>,
    is_bad: Box<[bool; 256]>,
    has_bad: bool,
}

impl<T: Integer> Table<T> {
    pub(super) fn pass(image: impl Fn(u8) -> Option<u64>) -> Box<dyn Pass> {
        let mut table =
            Self { images: Box::new([T::truncate(0); 256]), is_bad: Box::new([false; 256]), has_bad: false };
        for byte in 0..=255_u8 {
            let index = usize::from(byte);
            match image(byte) {
                Some(bits) => table.images[index] = T::truncate(bits),
                None => table.is_bad[index] = true,
            }
        }
        table.has_bad = table.is_bad.contains(&true);
        Box::new(table)
    }
}

impl<T: Integer> Pass for Table<T> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        for (output, input) in T::elements_mut(output).iter_mut().zip(input) {
            *output = self.images[usize::from(*input)].store();
        }
        self.has_bad && input.iter().fold(false, |is_bad, byte| is_bad | self.is_bad[usize::from(*byte)])
    }

    /// The table has it already.
    fn set_map(&mut self, _: &[Entry]) {}
}
