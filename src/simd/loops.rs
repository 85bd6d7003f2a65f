//! Portable loops, also compiled for AVX2 and AVX-512.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls code compiled for instructions that the processor was found to have")
)]

#[cfg(target_arch = "x86_64")]
use super::Level;

/// A loop that the compiler vectorises. `run` must be `#[inline(always)]`, so that it is compiled for the instruction
/// set of each caller.
pub(crate) trait Loop {
    /// The result of the loop.
    type Output;
    /// Runs the loop.
    fn run(self) -> Self::Output;
}

/// Runs a loop with the widest vectors that the processor has.
#[inline]
pub(crate) fn vectorized<L: Loop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if Level::Avx512.is_available() {
        // SAFETY: the processor has these parts of AVX-512.
        return unsafe { with_avx512(work) };
    }
    #[cfg(target_arch = "x86_64")]
    if Level::Avx2.is_available() {
        // SAFETY: the processor has AVX2 and FMA.
        return unsafe { with_avx2(work) };
    }
    work.run()
}

/// Whether these loops have an instruction that multiplies and adds, rounding once. Without one, `mul_add` is a call.
pub(crate) fn has_fused_multiply_add() -> bool {
    #[cfg(target_arch = "x86_64")]
    return Level::Avx2.is_available();
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(target_arch = "aarch64")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<L: Loop>(work: L) -> L::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
fn with_avx512<L: Loop>(work: L) -> L::Output {
    work.run()
}
