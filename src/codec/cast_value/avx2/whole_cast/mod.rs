//! Casts by one loop from the source to the target, for blocks in which nothing unusual happens.
//!
//! A loop refuses a block that has a NaN, a number beyond the target, or one that its instructions do not convert; then
//! the kernels of the pipeline decide. A [`Source`] makes sixteen elements numbers in lanes of `f32`, a [`Target`]
//! makes them elements again. Elements of 64 bits that `f32` does not hold are converted in [`wide`].

mod float_target;
mod integer_target;
mod source;
mod wide;

use crate::codec::cast_value::kernel::{Entry, Kernel, optimistic};
use crate::codec::cast_value::portable::float::{NearestEven, with_mode};
use crate::codec::cast_value::portable::lane::{Integer, Lane};
use crate::codec::cast_value::reference::{Cast, OutOfRange};
use crate::data_type::Component;
use crate::number::{FloatId, Rounding};
use crate::simd::for_each_group;
use float_target::{ToBfloat16, ToFloat16, ToFloat32};
use integer_target::{Checked, Clamped, Range, ToLong, ToShort, ToWord, Wrapped};
use source::{Bfloat16, Float16, Float32, Float64, Long, Low, OddLong, OddWords, Rounded, Short, Words};
use std::arch::x86_64::*;

/// Elements that are converted together.
const GROUP: usize = 16;

/// Sixteen elements as numbers in lanes of `f32`.
trait Source {
    type Lane: Lane;

    /// The order of the numbers.
    const ORDER: Order;

    /// Sets a bit of `faults` if one of them is refused.
    ///
    /// # Safety
    /// The processor has AVX2 and F16C, and sixteen elements can be read from there.
    unsafe fn load(input: *const <Self::Lane as Lane>::Bytes, faults: &mut __m256i) -> [__m256; 2];
}

/// The order of sixteen numbers in two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// 0 to 7; 8 to 15.
    Linear,
    /// 0 to 3 and 8 to 11; 4 to 7 and 12 to 15: the instructions that unpack and pack work on each half of a register.
    Halved,
}

/// Sixteen elements from numbers in lanes of `f32`.
trait Target {
    type Lane: Lane;

    /// Sets a bit of `faults` if one of them is refused.
    ///
    /// # Safety
    /// The processor has AVX2 and F16C, and sixteen elements can be written to there.
    unsafe fn store(numbers: [__m256; 2], order: Order, output: *mut <Self::Lane as Lane>::Bytes, faults: &mut __m256i);
}

/// The loop of a cast; `None` if the pipeline has one loop for it anyway.
pub(in crate::codec::cast_value) fn kernel(cast: &Cast) -> Option<Box<dyn Kernel>> {
    match cast.source {
        Component::Int { bits: 8, signed: false } => from_short::<u8>(cast),
        Component::Int { bits: 8, signed: true } => from_short::<i8>(cast),
        Component::Int { bits: 16, signed: false } => from_short::<u16>(cast),
        Component::Int { bits: 16, signed: true } => from_short::<i16>(cast),
        Component::Int { bits: 32, signed: false } => from_word::<u32>(cast),
        Component::Int { bits: 32, signed: true } => from_word::<i32>(cast),
        Component::Int { bits: 64, signed } if float_id(cast.target)? == FloatId::Float64 => {
            Some(wide::to_float64(signed, cast.rounding))
        }
        Component::Int { bits: 64, signed: false } => from_long::<u64>(cast),
        Component::Int { bits: 64, signed: true } => from_long::<i64>(cast),
        Component::Int { .. } => None,
        source => match float_id(source)? {
            FloatId::Float16 => match float_id(cast.target) {
                // None is above the largest.
                Some(FloatId::Bfloat16) => Some(with_mode!(cast.rounding, M => {
                    Quick::boxed::<Float16<true>, ToBfloat16<M, false>>()
                })),
                _ => to_integer::<Float16<false>>(cast),
            },
            FloatId::Bfloat16 => to_short_float::<Bfloat16>(cast).or_else(|| to_integer::<Bfloat16>(cast)),
            // One loop narrows it to floats, and to integers of up to 16 bits except when wrapping.
            FloatId::Float32 => match (cast.target, cast.out_of_range) {
                (Component::Int { bits: 32.., .. }, _) | (_, OutOfRange::Wrap) => to_integer::<Float32>(cast),
                _ => None,
            },
            FloatId::Float64 => to_short_float::<Float64>(cast).or_else(|| wide::from_float64(cast)),
            _ => None,
        },
    }
}

fn float_id(component: Component) -> Option<FloatId> {
    match component {
        Component::Float(format) => Some(format.id),
        _ => None,
    }
}

/// Integers of 8 and 16 bits to floats of 16 bits. Those of 8 bits are exact in every mode.
fn from_short<T: Integer>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    let rounding = if T::BITS == 8 { Rounding::TowardsZero } else { cast.rounding };
    Some(with_mode!(rounding, M => match float_id(cast.target)? {
        FloatId::Float16 if T::BITS == 8 || T::IS_SIGNED => Quick::boxed::<Short<T, true>, ToFloat16<M, false>>(),
        FloatId::Float16 => Quick::boxed::<Short<T, true>, ToFloat16<M, true>>(),
        FloatId::Bfloat16 => Quick::boxed::<Short<T, false>, ToBfloat16<M, false>>(),
        _ => return None,
    }))
}

/// Integers of 32 bits to floats, first as integers of `i32`.
fn from_word<T: Integer>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    let words = from_words::<Low<T>>(cast)?;
    Some(match float_id(cast.target)? {
        FloatId::Float32 if !T::IS_SIGNED => {
            optimistic(words, with_mode!(cast.rounding, M => Quick::boxed::<Long<T, M>, ToFloat32>()))
        }
        FloatId::Bfloat16 if !T::IS_SIGNED => {
            optimistic(words, with_mode!(cast.rounding, M => Quick::boxed::<OddLong<T>, ToBfloat16<M, false>>()))
        }
        _ => words,
    })
}

/// Integers of 64 bits to floats of up to 32, first as integers of `i32`.
fn from_long<T: Integer>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    let words = from_words::<Low<T>>(cast)?;
    Some(with_mode!(cast.rounding, M => match float_id(cast.target)? {
        FloatId::Float32 => optimistic(words, Quick::boxed::<Long<T, M>, ToFloat32>()),
        FloatId::Bfloat16 => optimistic(words, Quick::boxed::<OddLong<T>, ToBfloat16<M, false>>()),
        _ => words,
    }))
}

fn from_words<W: Words>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    Some(with_mode!(cast.rounding, M => match float_id(cast.target)? {
        FloatId::Float32 => Quick::boxed::<Rounded<W, M>, ToFloat32>(),
        // What is rounded here is above the largest.
        FloatId::Float16 => Quick::boxed::<Rounded<W, NearestEven>, ToFloat16<M, true>>(),
        FloatId::Bfloat16 => Quick::boxed::<OddWords<W>, ToBfloat16<M, false>>(),
        _ => return None,
    }))
}

/// Floats to floats of 16 bits.
fn to_short_float<S: Source>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    Some(with_mode!(cast.rounding, M => match float_id(cast.target)? {
        FloatId::Float16 => Quick::boxed::<S, ToFloat16<M, true>>(),
        FloatId::Bfloat16 => Quick::boxed::<S, ToBfloat16<M, true>>(),
        _ => return None,
    }))
}

/// From floats to integers that fill their bytes.
fn to_integer<S: Source>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    match cast.out_of_range {
        OutOfRange::Error => to_integer_in::<S, Checked>(cast),
        OutOfRange::Clamp => to_integer_in::<S, Clamped>(cast),
        OutOfRange::Wrap => to_integer_in::<S, Wrapped>(cast),
    }
}

fn to_integer_in<S: Source, R: Range>(cast: &Cast) -> Option<Box<dyn Kernel>> {
    let Component::Int { bits, signed } = cast.target else { return None };
    Some(with_mode!(cast.rounding, M => match (bits, signed) {
        (8, false) => Quick::boxed::<S, ToShort<u8, M, R>>(),
        (8, true) => Quick::boxed::<S, ToShort<i8, M, R>>(),
        (16, false) => Quick::boxed::<S, ToShort<u16, M, R>>(),
        (16, true) => Quick::boxed::<S, ToShort<i16, M, R>>(),
        (32, false) => Quick::boxed::<S, ToWord<u32, M, R>>(),
        (32, true) => Quick::boxed::<S, ToWord<i32, M, R>>(),
        (64, false) => Quick::boxed::<S, ToLong<u64, M, R>>(),
        (64, true) => Quick::boxed::<S, ToLong<i64, M, R>>(),
        _ => return None,
    }))
}

/// Converts every element; whether any was refused. It is safe to call on a processor that has its instructions.
type Run = unsafe fn(&[u8], &mut [u8]) -> bool;

/// A loop: the table of tiers gives it only where the processor has its instructions.
#[derive(Debug)]
struct Quick {
    run: Run,
    output_size: usize,
}

impl Quick {
    fn boxed<S: Source, T: Target>() -> Box<dyn Kernel> {
        Box::new(Self { run: convert_all::<S, T>, output_size: size_of::<T::Lane>() })
    }
}

impl Kernel for Quick {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        // SAFETY: the processor has the instructions of the loop.
        unsafe { (self.run)(input, output) }
    }

    fn output_size(&self) -> usize {
        self.output_size
    }

    /// Never mapped: the kernels of the pipeline are.
    fn set_map(&mut self, _: &[Entry]) {}
}

#[target_feature(enable = "avx2,f16c")]
fn convert_all<S: Source, T: Target>(input: &[u8], output: &mut [u8]) -> bool {
    let mut faults = _mm256_setzero_si256();
    let (input, output) = (S::Lane::elements(input), T::Lane::elements_mut(output));
    for_each_group(input, output, blank::<T::Lane>(), |input: &[_; GROUP], output: &mut [_; GROUP]| {
        // SAFETY: both groups have sixteen elements, and this loop runs where its instructions are enabled.
        unsafe {
            let numbers = S::load(input.as_ptr(), &mut faults);
            T::store(numbers, S::ORDER, output.as_mut_ptr(), &mut faults);
        }
    });
    _mm256_testz_si256(faults, faults) == 0
}

fn blank<L: Lane>() -> L::Bytes {
    L::from_bits(L::Bits::truncate(0)).store()
}
