//! Integers of up to 64 bits, in two's complement.

/// The least and the largest value of an integer type.
pub fn integer_range(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The low `width` bits (1 to 64), zeros above them.
pub const fn low_bits(bits: u64, width: u32) -> u64 {
    bits & (u64::MAX >> (64 - width))
}

/// The value of the low `width` bits (1 to 64).
pub const fn sign_extended(bits: u64, width: u32) -> i64 {
    let shift = 64 - width;
    (bits << shift).cast_signed() >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_width_comes_back_from_its_low_bits() {
        for width in 1..=10 {
            let (least, most) = integer_range(width, true);
            for value in least as i64..=most as i64 {
                assert_eq!(sign_extended(low_bits(value.cast_unsigned(), width), width), value, "{width} bits");
            }
        }
        assert_eq!(sign_extended(u64::MAX - 1, 64), -2);
        assert_eq!(low_bits(u64::MAX, 64), u64::MAX);
    }
}
