//! What a processor does slowly, though it has the instructions.
#![expect(unsafe_code, reason = "asks the processor")]

use std::arch::x86_64::__cpuid;
use std::sync::OnceLock;

/// The family of a processor of AMD's or Hygon's; `None` for others.
fn amd_family() -> Option<u32> {
    // A virtual machine may take long to answer.
    static ANSWER: OnceLock<Option<u32>> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        #[allow(unused_unsafe, reason = "unsafe in older standard libraries")]
        // SAFETY: every processor of 64 bits has this instruction, and its leaves 0 and 1.
        let (name, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
        let family = (version >> 8 & 0xF) + (version >> 20 & 0xFF);
        matches!(&name.ebx.to_le_bytes(), b"Auth" | b"Hygo").then_some(family)
    })
}

/// Whether `pext` goes bit by bit: in Zen, Zen+ and Zen 2, families 17 and 18 (hexadecimal).
pub(crate) fn has_slow_pext() -> bool {
    matches!(amd_family(), Some(0x17 | 0x18))
}

/// Whether this is a Zen 4 or Zen 5, if it has AVX-512: families 19 and 1A (hexadecimal).
pub(crate) fn is_zen_4_or_5() -> bool {
    matches!(amd_family(), Some(0x19 | 0x1A))
}
