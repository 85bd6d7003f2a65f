//! Portable loops compiled for more than the least processor.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls code that is compiled for instructions the processor was asked for")
)]

#[cfg(any(test, feature = "internals"))]
use std::cell::Cell;

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
    if has_avx2() {
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

/// Whether kernels may use AVX2, and F16C, which no processor with AVX2 lacks.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_avx2() -> bool {
    limit() <= Limit::Avx2 && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c")
}

/// What `scale_offset`, `cast_value` and `zfp` are held to, in tests and benchmarks that compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Whatever the processor has.
    None,
    /// AVX2, also where there is AVX-512.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other architectures have none"))]
    Avx2,
    /// What every processor of this architecture has.
    #[cfg_attr(not(any(test, feature = "internals")), expect(dead_code, reason = "set by tests and benchmarks"))]
    Portable,
    /// The scalar definition.
    Reference,
}

#[cfg(any(test, feature = "internals"))]
thread_local! {
    static LIMIT: Cell<Limit> = const { Cell::new(Limit::None) };
}

/// Sets the limit of this thread. Results do not depend on it.
#[cfg(any(test, feature = "internals"))]
pub fn set_limit(limit: Limit) {
    LIMIT.set(limit);
}

#[inline]
pub(crate) fn limit() -> Limit {
    #[cfg(any(test, feature = "internals"))]
    return LIMIT.get();
    #[cfg(not(any(test, feature = "internals")))]
    Limit::None
}
