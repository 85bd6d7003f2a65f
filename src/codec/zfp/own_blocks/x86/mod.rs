//! What AVX2 and AVX-512 share.
//!
//! * [`cubes`]: blocks of three and four dimensions.
//! * The others: the embedded code of bit planes, with BMI2.

pub(super) mod cubes;
pub(super) mod groups;
pub(super) mod planes_of_16;
pub(super) mod planes_of_4;
pub(super) mod planes_of_64;
