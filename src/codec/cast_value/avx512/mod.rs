//! The kernels that gain by AVX-512, where portable loops compiled for it do not suffice.
#![allow(unsafe_code)]

pub(super) mod bfloat16;
pub(super) mod float16;
pub(super) mod integer64;
pub(super) mod short_float;
