//! Elements that lie in memory in any order: views of them, and the copy from one view to another.
//!
//! A [`Layout`] says where the elements lie, and is checked against the size of the memory when it is made. A
//! [`Source`] reads through a layout, a [`Target`] writes through one. [`copy`] is the kernel of `transpose`, of boxes,
//! and of everything else that reads or writes the caller's strides: a transposition is a copy between permuted views.

mod blocks;
mod copy;
mod fill;
mod gather;
mod layout;
mod nest;
#[cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    allow(dead_code, reason = "only tiles use it")
)]
mod plane;
mod prefetch;
mod reversed;
mod strip;
#[cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    allow(dead_code, reason = "only tiles use it")
)]
mod table;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod tile;
mod view;
mod walk;

pub(crate) use copy::LARGE_SIZE;
pub use copy::{copy, split};
pub use fill::{all_equal, fill};
pub(crate) use gather::Gathered;
pub use layout::Layout;
pub(crate) use prefetch::{prefetch_bytes, prefetch_soon};
pub(crate) use strip::{MAX_BOXES, Strip, max_boxes};
pub use view::{Source, Target};
