//! Portable loops compiled for more than the least processor.
#![expect(unsafe_code, reason = "calls code that is compiled for instructions the processor was asked for")]

/// A loop that the compiler vectorises. `run` must be `#[inline(always)]`, so that it is compiled for whatever
/// instruction set it is called with.
pub(crate) trait Loop {
    /// What it results in.
    type Output;
    /// Runs the loop.
    fn run(self) -> Self::Output;
}

/// Runs a loop with the widest vectors that the processor has.
#[inline]
pub(crate) fn vectorized<L: Loop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { with_avx2(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<L: Loop>(work: L) -> L::Output {
    work.run()
}
