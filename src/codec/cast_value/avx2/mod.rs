//! Casts by instructions of AVX2 and F16C.
#![expect(unsafe_code, reason = "uses instructions that the level promises")]

pub(super) mod float16;
pub(super) mod float_to_integer;
pub(super) mod quick;
pub(super) mod small_float;
