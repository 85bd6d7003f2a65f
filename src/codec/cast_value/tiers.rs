//! The tiers of casts, fastest first, for the library, the tests and the benchmarks.

#[cfg(target_arch = "x86_64")]
use super::avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::kernel::Kernel;
use super::portable::float_to_integer::ToInteger;
use super::portable::narrow::SmallFloat;
use super::reference::Cast;
#[cfg(target_arch = "x86_64")]
use super::reference::OutOfRange;
#[cfg(target_arch = "x86_64")]
use crate::data_type::Component;
use crate::number::Rounding;
#[cfg(target_arch = "x86_64")]
use crate::simd::Level::{Avx2, Avx512};
use crate::simd::Level::{Portable, Reference};
use crate::simd::Tier;
use std::fmt::Debug;

/// The kernels that a tier has instead of portable loops.
#[derive(Debug)]
pub(super) struct Kernels {
    /// Floats to integers, given the portable kernel.
    pub(super) float_to_integer: fn(&ToInteger, Box<dyn Kernel>) -> Box<dyn Kernel>,
    /// `float16` to `f32`; refuses NaN.
    pub(super) widen_float16: fn() -> Option<Box<dyn Kernel>>,
    /// `f32` to `float16`, for numbers up to the largest of them; refuses others.
    pub(super) narrow_float16: fn(Rounding) -> Option<Box<dyn Kernel>>,
    /// `f32` to floats of up to 8 bits, for numbers up to the largest of them; refuses others.
    pub(super) narrow_small_float: fn(SmallFloat, Rounding) -> Option<Box<dyn Kernel>>,
    /// The whole cast in one loop, without its scalar map; refuses what is unusual.
    pub(super) whole_cast: fn(&Cast) -> Option<Box<dyn Kernel>>,
}

#[cfg(target_arch = "x86_64")]
const AVX2: Kernels = Kernels {
    float_to_integer: avx2::float_to_integer::kernel,
    widen_float16: avx2::float16::widen,
    narrow_float16: avx2::float16::narrow,
    narrow_small_float: avx2::small_float::narrow,
    whole_cast: avx2::whole_cast::kernel,
};

/// `None` is the reference, which has no kernels. Portable loops are also compiled for AVX2 and AVX-512.
pub(super) static TIERS: &[Tier<Option<Kernels>>] = &[
    #[cfg(target_arch = "x86_64")]
    Tier {
        level: Avx512,
        kernel: Some(Kernels {
            // Except for clamping, the loops of AVX2 take fewer steps than the portable ones do with AVX-512.
            float_to_integer: |to, portable| match to.out_of_range {
                OutOfRange::Clamp => portable,
                _ => avx2::float_to_integer::kernel(to, portable),
            },
            widen_float16: avx512::float16::widen,
            narrow_float16: avx512::narrow::narrow_float16,
            // AVX-512 converts between floats and integers of 64 bits.
            whole_cast: |cast| match (cast.source, cast.target) {
                (Component::Int { bits: 64, signed }, Component::Float(format)) if format.bits == 64 => {
                    Some(avx512::integer64::to_float64(signed, cast.rounding))
                }
                (Component::Float(format), Component::Int { bits: 64, signed })
                    if format.bits == 64
                        && (cast.rounding, cast.out_of_range) == (Rounding::TowardsZero, OutOfRange::Error) =>
                {
                    Some(avx512::integer64::truncate_float64(signed))
                }
                (source, target) if source.bits() == 64 && target.bits() == 64 => None,
                _ => avx512::narrow::whole_cast(cast)
                    .or_else(|| avx512::short_float::to_integer(cast))
                    .or_else(|| avx2::whole_cast::kernel(cast)),
            },
            ..AVX2
        }),
    },
    #[cfg(target_arch = "x86_64")]
    Tier { level: Avx2, kernel: Some(AVX2) },
    Tier {
        level: Portable,
        kernel: Some(Kernels {
            float_to_integer: |_, portable| portable,
            widen_float16: || None,
            narrow_float16: |_| None,
            narrow_small_float: |_, _| None,
            whole_cast: |_| None,
        }),
    },
    Tier { level: Reference, kernel: None },
];
