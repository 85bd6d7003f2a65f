//! The embedded code of bit planes with BMI2.

mod groups;
pub(super) mod planes_of_16;
pub(super) mod planes_of_4;
pub(super) mod planes_of_64;

use std::arch::x86_64::__cpuid;
use std::sync::OnceLock;

/// AMD's and Hygon's first two Zen generations, families 17 and 18 (hexadecimal), do `pext` bit by bit.
pub(super) fn has_slow_pext() -> bool {
    // A virtual machine may take long to answer.
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        #[allow(unused_unsafe, reason = "unsafe in older standard libraries")]
        // SAFETY: every processor of 64 bits has this instruction, and its leaves 0 and 1.
        let (name, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
        let family = (version >> 8 & 0xF) + (version >> 20 & 0xFF);
        let is_intel = name.ebx.to_le_bytes() == *b"Genu";
        !is_intel && matches!(family, 0x17 | 0x18)
    })
}
