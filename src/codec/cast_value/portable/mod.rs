//! Casts by loops that the compiler vectorises, for every processor.

mod divisor;
pub(super) mod float;
mod float64_to_float32;
pub(super) mod float_to_integer;
pub(super) mod integer;
pub(super) mod integer_to_float;
pub(super) mod lane;
pub(super) mod loops;
pub(super) mod narrow;
pub(super) mod scalar_map;
pub(super) mod scaled;
pub(super) mod table;
pub(super) mod widen;
