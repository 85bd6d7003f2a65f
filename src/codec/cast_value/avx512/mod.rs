//! The kernels that gain by AVX-512, where portable loops compiled for it do not suffice.
#![expect(unsafe_code, reason = "uses instructions that the level promises")]

use std::arch::x86_64::*;

pub(super) mod float16;
pub(super) mod integer64;
pub(super) mod narrow;
pub(super) mod short_float;

/// Modes of instructions that round, and raise no exception.
const TO_NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
const TOWARDS_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const TOWARDS_POSITIVE: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
const TOWARDS_NEGATIVE: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
