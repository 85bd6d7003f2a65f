//! The embedded code of bit planes with BMI2.

pub(super) mod groups;
pub(super) mod planes_of_16;
pub(super) mod planes_of_4;
pub(super) mod planes_of_64;
