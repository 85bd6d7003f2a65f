//! The floating-point environment: results must not depend on how the host has set it.
//!
//! Rust assumes the default environment: rounding to nearest, subnormal numbers as they are, no traps. A host may have
//! another one: `fesetround`, a program linked with `-ffast-math`, `feenableexcept`. So every entry point does its work
//! in the default environment and then restores the host's, including its sticky flags; every callback does the
//! reverse. Kernels need not care.
//!
//! On x86-64 that is MXCSR, on x86 also the control word and the flags of the x87, on aarch64 FPCR and FPSR, on s390x
//! FPC, on RISC-V with Linux fcsr. A call reads it twice, at 3.7 ns each on a Zen 5 (the second time for the sticky
//! flags); a register is written only if it differs. WebAssembly has no such environment. Elsewhere the host must call
//! with the default environment.
#![allow(unsafe_code, reason = "reads and writes registers of the processor, on the architectures that it knows")]

use registers::Registers;
use std::cell::Cell;

thread_local! {
    /// The environment of the host while the library works on this thread.
    static HOST: Cell<Option<Registers>> = const { Cell::new(None) };
    /// Whether the host's own code runs on this thread, called by the library.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs work of the library in the default environment, and then restores the host's.
pub(crate) fn with_own_environment<T>(work: impl FnOnce() -> T) -> T {
    struct GiveBack {
        outer: Option<Registers>,
        outer_is_callback: bool,
    }
    impl Drop for GiveBack {
        fn drop(&mut self) {
            IN_CALLBACK.set(self.outer_is_callback);
            if let Some(host) = HOST.replace(self.outer) {
                host.replace(Registers::read());
            }
        }
    }
    let host = Registers::read();
    let _give_back = GiveBack { outer: HOST.replace(Some(host)), outer_is_callback: IN_CALLBACK.replace(false) };
    host.with_own_control().replace(host);
    apart(work)
}

/// Runs a callback of the host in the host's environment; changes that it makes persist.
pub(crate) fn with_host_environment<T>(callback: impl FnOnce() -> T) -> T {
    struct TakeBack {
        own: Registers,
    }
    impl Drop for TakeBack {
        fn drop(&mut self) {
            IN_CALLBACK.set(false);
            let host = Registers::read();
            HOST.set(Some(host));
            self.own.replace(host);
        }
    }
    let Some(host) = HOST.get() else { return callback() };
    let own = Registers::read();
    let _take_back = TakeBack { own };
    IN_CALLBACK.set(true);
    host.replace(own);
    apart(callback)
}

/// Whether this thread works for a call of the host, and not for a callback.
pub(crate) fn is_within_call() -> bool {
    HOST.get().is_some() && !IN_CALLBACK.get()
}

/// The environment of the host, for the library's own threads: callbacks run in it there, too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostEnvironment(Option<Registers>);

impl HostEnvironment {
    /// The environment of the call that this thread works for.
    pub(crate) fn current() -> Self {
        Self(HOST.get())
    }

    /// Makes a new thread work for the same call.
    pub(crate) fn adopt(self) {
        HOST.set(self.0);
        let found = Registers::read();
        found.with_own_control().replace(found);
    }
}

/// The compiler may move arithmetic across a change of the environment, but not out of a function that it cannot see
/// into.
#[inline(never)]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}

impl Registers {
    /// Writes the registers if they differ from those that were read.
    fn replace(self, found: Self) {
        if self != found {
            self.write();
        }
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod registers {
    use std::arch::asm;

    /// MXCSR. Bits 0 to 5 are the sticky flags.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Registers {
        mxcsr: u32,
        /// Function results of 32-bit x86 pass through the x87: its precision, traps and sticky flags count there.
        #[cfg(target_arch = "x86")]
        x87_control: u16,
        #[cfg(target_arch = "x86")]
        x87_flags: u16,
    }

    const FLAGS: u32 = 0x3F;
    /// All traps masked, rounding to nearest, neither FTZ nor DAZ.
    const OWN_MXCSR: u32 = 0x1F80;
    /// All traps masked, 64 bits of precision, rounding to nearest.
    #[cfg(target_arch = "x86")]
    const OWN_X87_CONTROL: u16 = 0x037F;
    /// The sticky flags in the status word of the x87.
    #[cfg(target_arch = "x86")]
    const X87_FLAGS: u16 = 0x7F;
    /// What the x87 makes of the flags and the traps: whether a trap is pending.
    #[cfg(target_arch = "x86")]
    const X87_PENDING: u16 = 0x8080;

    impl Registers {
        pub(super) fn read() -> Self {
            let mut mxcsr = 0_u32;
            // SAFETY: stores four bytes to `mxcsr`; every processor of the target has SSE.
            unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags)) };
            #[cfg(target_arch = "x86")]
            let [x87_control, x87_status] = {
                let mut words = [0_u16; 2];
                let [control, status] = words.each_mut().map(|word| &raw mut *word);
                // SAFETY: each stores two bytes to its word.
                unsafe {
                    asm!("fnstcw [{}]", "fnstsw [{}]", in(reg) control, in(reg) status,
                        options(nostack, preserves_flags));
                }
                words
            };
            Self {
                mxcsr,
                #[cfg(target_arch = "x86")]
                x87_control,
                #[cfg(target_arch = "x86")]
                x87_flags: x87_status & X87_FLAGS,
            }
        }

        pub(super) fn write(self) {
            // SAFETY: loads four bytes of `mxcsr`, which was read from the register or has only defined bits.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const self.mxcsr, options(nostack)) };
            // The flags are written with the whole environment only. With the control word alone, flags that were set in
            // between would trap where the host has traps on.
            #[cfg(target_arch = "x86")]
            {
                let mut environment = [0_u32; 7];
                // SAFETY: stores 28 bytes, the control and the status word first.
                unsafe { asm!("fnstenv [{}]", in(reg) &raw mut environment, options(nostack, preserves_flags)) };
                environment[0] = environment[0] & !0xFFFF | u32::from(self.x87_control);
                environment[1] = environment[1] & !u32::from(X87_FLAGS | X87_PENDING) | u32::from(self.x87_flags);
                // SAFETY: loads the same bytes. The control word and the flags were read from the registers, or are the
                // default; all else is as it was.
                unsafe { asm!("fldenv [{}]", in(reg) &raw const environment, options(nostack)) };
            }
        }

        pub(super) fn with_own_control(self) -> Self {
            Self {
                mxcsr: self.mxcsr & FLAGS | OWN_MXCSR,
                #[cfg(target_arch = "x86")]
                x87_control: OWN_X87_CONTROL,
                #[cfg(target_arch = "x86")]
                x87_flags: self.x87_flags,
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod registers {
    use std::arch::asm;

    /// FPCR, of which 0 is the default, and FPSR, the sticky flags.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Registers {
        control: u64,
        status: u64,
    }

    impl Registers {
        pub(super) fn read() -> Self {
            let (control, status);
            // SAFETY: reads two registers that every processor of the target has.
            unsafe {
                asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) status,
                    options(nomem, nostack, preserves_flags));
            }
            Self { control, status }
        }

        pub(super) fn write(self) {
            // SAFETY: the values were read from the registers, or are 0.
            unsafe {
                asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) self.control, in(reg) self.status,
                    options(nostack));
            }
        }

        pub(super) fn with_own_control(self) -> Self {
            Self { control: 0, ..self }
        }
    }
}

#[cfg(target_arch = "s390x")]
mod registers {
    use std::arch::asm;

    /// FPC. From the most significant byte: trap masks, sticky flags, data exception code, rounding modes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Registers(u32);

    const FLAGS_AND_CODE: u32 = 0x00FF_FF00;

    impl Registers {
        pub(super) fn read() -> Self {
            let fpc;
            // SAFETY: reads a register that every processor of the target has.
            unsafe { asm!("efpc {}", out(reg) fpc, options(nomem, nostack, preserves_flags)) };
            Self(fpc)
        }

        pub(super) fn write(self) {
            // SAFETY: the value was read from the register, or has fewer bits set.
            unsafe { asm!("sfpc {}", in(reg) self.0, options(nostack)) };
        }

        pub(super) fn with_own_control(self) -> Self {
            Self(self.0 & FLAGS_AND_CODE)
        }
    }
}

// Stable Rust does not tell whether there are floating-point registers. Where there is Linux, there are.
#[cfg(all(any(target_arch = "riscv64", target_arch = "riscv32"), target_os = "linux"))]
mod registers {
    use std::arch::asm;

    /// fcsr: the flags are its bits 0 to 4, the rounding mode is its bits 5 to 7. There are no traps.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Registers(usize);

    const FLAGS: usize = 0x1F;

    impl Registers {
        pub(super) fn read() -> Self {
            let fcsr;
            // SAFETY: reads a register that the target has.
            unsafe { asm!("frcsr {}", out(reg) fcsr, options(nomem, nostack, preserves_flags)) };
            Self(fcsr)
        }

        pub(super) fn write(self) {
            // SAFETY: the value was read from the register, or has fewer bits set.
            unsafe { asm!("fscsr {}", in(reg) self.0, options(nostack)) };
        }

        pub(super) fn with_own_control(self) -> Self {
            Self(self.0 & FLAGS)
        }
    }
}

#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "aarch64",
    target_arch = "s390x",
    all(any(target_arch = "riscv64", target_arch = "riscv32"), target_os = "linux")
)))]
mod registers {
    /// Nothing is known of this architecture.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Registers;

    impl Registers {
        pub(super) fn read() -> Self {
            Self
        }

        pub(super) fn write(self) {}

        pub(super) fn with_own_control(self) -> Self {
            self
        }
    }
}
