//! `float16` to `f32`, twice as many at a time as by F16C.

use crate::codec::cast_value::avx2::TierLoop;
use crate::codec::cast_value::kernel::Kernel;
use crate::simd::for_each_group;
use std::arch::x86_64::*;

/// `float16` to `f32`; refuses NaN.
pub(in crate::codec::cast_value) fn widen() -> Option<Box<dyn Kernel>> {
    Some(Box::new(TierLoop(widen_all)))
}

#[target_feature(enable = "avx512f")]
fn widen_all(input: &[[u8; 2]], output: &mut [[u8; 4]]) -> bool {
    let mut faults = 0;
    for_each_group(input, output, [0; 4], |input: &[[u8; 2]; 16], output: &mut [[u8; 4]; 16]| {
        // SAFETY: `input` is 32 readable bytes, and this load needs no alignment.
        let numbers = _mm512_cvtph_ps(unsafe { _mm256_loadu_si256(input.as_ptr().cast()) });
        faults |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(numbers, numbers);
        // SAFETY: `output` is 64 writable bytes, and this store needs no alignment.
        unsafe { _mm512_storeu_ps(output.as_mut_ptr().cast(), numbers) };
    });
    faults != 0
}
