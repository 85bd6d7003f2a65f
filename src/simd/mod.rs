//! Kernels for several instruction sets: which of them this processor has, and how one of several is chosen.
//!
//! A family of kernels declares one table of [`Tier`]s, fastest first; what runs, what the tests compare and what the
//! benchmarks measure all come from it. Where the compiler's own vectors are enough, one [`Loop`] is compiled for more
//! than one instruction set.

mod level;
mod loops;
mod tier;

pub use level::Level;
#[cfg(any(test, feature = "internals"))]
pub use level::set_limit;
pub(crate) use loops::{Loop, vectorized};

pub(crate) use tier::best;
pub(crate) use tier::{Tier, available};
