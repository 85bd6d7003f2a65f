//! Kernels for several instruction sets: which of these this processor has, and how a kernel is chosen.
//!
//! A family of kernels declares one table of [`Tier`]s, fastest first; the library runs, the tests compare and the
//! benchmarks measure the kernels of that table. (`crc32c` and `scale_offset`'s `float16` have none, and ask for a
//! level.) Where the compiler's own vectors are good enough, one [`Loop`] is compiled for several instruction sets.

#[cfg(target_arch = "x86_64")]
mod groups;
mod level;
mod loops;
#[cfg(target_arch = "x86_64")]
mod processor;
mod tier;

#[cfg(target_arch = "x86_64")]
pub(crate) use groups::for_each_group;
pub use level::Level;
#[cfg(feature = "internals")]
pub use level::set_limit;
#[cfg(test)]
pub(crate) use level::with_limit;
pub(crate) use loops::{Loop, has_fused_multiply_add, vectorized};
#[cfg(target_arch = "x86_64")]
pub(crate) use processor::{has_slow_pext, is_zen_4_or_5};

pub(crate) use tier::best;
pub(crate) use tier::{Tier, available};
