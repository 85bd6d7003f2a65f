//! The instruction sets of this processor, as levels.

#[cfg(any(test, feature = "internals"))]
use std::cell::Cell;
use std::sync::OnceLock;

/// A set of instructions that kernels are written for. A processor that has a level has those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The scalar definition, which is written to be read.
    Reference,
    /// The instructions of every processor of this architecture.
    Portable,
    /// NEON, which almost every 64-bit Arm processor has.
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon,
    /// AVX2, FMA, F16C, BMI1, BMI2, LZCNT and POPCNT: Haswell, Zen and later.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, CD, DQ, VL, VBMI and VBMI2, and GFNI: Ice Lake, Zen 4 and later.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// Whether kernels of this level may run: the processor has its instructions, and no limit forbids them.
    #[inline]
    #[must_use]
    pub fn is_available(self) -> bool {
        limit().is_none_or(|limit| self <= limit) && self <= Self::highest()
    }

    /// The highest level of this processor. It is asked only once, because a virtual machine may take long to answer.
    #[inline]
    fn highest() -> Self {
        static HIGHEST: OnceLock<Level> = OnceLock::new();
        *HIGHEST.get_or_init(Self::ask_processor)
    }

    #[cfg(target_arch = "x86_64")]
    fn ask_processor() -> Self {
        let has_avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let has_avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("gfni");
        match (has_avx2, has_avx512) {
            (true, true) => Self::Avx512,
            (true, false) => Self::Avx2,
            (false, _) => Self::Portable,
        }
    }

    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    fn ask_processor() -> Self {
        if std::arch::is_aarch64_feature_detected!("neon") { Self::Neon } else { Self::Portable }
    }

    #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
    fn ask_processor() -> Self {
        Self::Portable
    }
}

#[cfg(any(test, feature = "internals"))]
thread_local! {
    static LIMIT: Cell<Option<Level>> = const { Cell::new(None) };
}

/// Limits this thread to a level and those before it, for fuzzing and benchmarks that compare levels. Results do not
/// depend on it.
#[cfg(feature = "internals")]
pub fn set_limit(limit: Option<Level>) {
    LIMIT.set(limit);
}

/// The same for one piece of work, also if it panics: the next test may run on this thread.
#[cfg(test)]
pub(crate) fn with_limit<T>(limit: Option<Level>, work: impl FnOnce() -> T) -> T {
    struct Restored(Option<Level>);
    impl Drop for Restored {
        fn drop(&mut self) {
            LIMIT.set(self.0);
        }
    }
    let _restored = Restored(LIMIT.replace(limit));
    work()
}

/// The limit of this thread.
#[inline]
pub(crate) fn limit() -> Option<Level> {
    #[cfg(any(test, feature = "internals"))]
    return LIMIT.get();
    #[cfg(not(any(test, feature = "internals")))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_level_above_the_limit_is_available() {
        let has_reference_only = || Level::Reference.is_available() && !Level::Portable.is_available();
        assert!(Level::Portable.is_available());
        with_limit(Some(Level::Reference), || assert!(has_reference_only()));
        assert!(!has_reference_only());
    }

    #[test]
    fn a_limit_ends_with_a_panic() {
        let panic = || with_limit(Some(Level::Reference), || std::panic::resume_unwind(Box::new(())));
        assert!(std::panic::catch_unwind(panic).is_err());
        assert_eq!(limit(), None);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_level_has_the_instructions_that_it_names() {
        let has = |features: &[bool]| !features.contains(&false);
        let avx2 = [
            is_x86_feature_detected!("avx2"),
            is_x86_feature_detected!("fma"),
            is_x86_feature_detected!("f16c"),
            is_x86_feature_detected!("bmi1"),
            is_x86_feature_detected!("bmi2"),
            is_x86_feature_detected!("lzcnt"),
            is_x86_feature_detected!("popcnt"),
        ];
        let avx512 = [
            is_x86_feature_detected!("avx512f"),
            is_x86_feature_detected!("avx512bw"),
            is_x86_feature_detected!("avx512cd"),
            is_x86_feature_detected!("avx512dq"),
            is_x86_feature_detected!("avx512vl"),
            is_x86_feature_detected!("avx512vbmi"),
            is_x86_feature_detected!("avx512vbmi2"),
            is_x86_feature_detected!("gfni"),
        ];
        assert_eq!(Level::Avx2.is_available(), has(&avx2));
        assert_eq!(Level::Avx512.is_available(), has(&avx2) && has(&avx512));
        with_limit(Some(Level::Portable), || {
            assert!(!Level::Avx2.is_available() && !Level::Avx512.is_available());
        });
    }
}
