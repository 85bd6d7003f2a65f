//! Numbers as bit patterns: floating-point formats, rounding, integers of any width.
//!
//! Data types and codecs build on this; nothing here knows about Zarr, chunks or memory.

mod float16;
mod format;
mod integer;
mod rounding;
mod scaling;

pub use float16::{bfloat16_to_float32, float16_to_float32, round_to_bfloat16};
pub use format::{FLOAT32, FLOAT64, FORMATS, FloatFormat, FloatId, FloatValue, Special};
pub use integer::{integer_range, low_bits, sign_extended};
pub use rounding::{Finite, Rounded, Rounding};
pub use scaling::Operation;
pub(crate) use scaling::{Formula, Minus, Over, Plus, Scaling, Then, Times};
