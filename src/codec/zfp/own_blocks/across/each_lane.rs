//! Instructions on each lane, beside those of [`Lanes`].

use super::super::lanes::Lanes;

/// Lanes have 32 bits, or if `WIDE` 64.
pub(in super::super) trait EachLane: Lanes {
    /// Which lanes.
    type Mask: Copy;

    fn all<const WIDE: bool>(self, number: i64) -> Self::Vector;
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Of signed numbers.
    fn smaller<const WIDE: bool>(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Of signed numbers.
    fn larger<const WIDE: bool>(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn equal<const WIDE: bool>(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
    /// Of signed numbers.
    fn less<const WIDE: bool>(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn not(self, mask: Self::Mask) -> Self::Mask;
    /// Whether there is a lane among those that [`less`](Self::less) found.
    fn any(self, mask: Self::Mask) -> bool;
    /// The lanes of `a` that the mask has, and the others of `b`.
    fn select<const WIDE: bool>(self, mask: Self::Mask, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// By a number of bits for each lane; 0 where it is negative, or not less than the bits of a lane.
    fn shifted_left<const WIDE: bool>(self, numbers: Self::Vector, counts: Self::Vector) -> Self::Vector;
    /// By a number of bits for each lane, with zeros from above.
    fn shifted_right<const WIDE: bool>(self, numbers: Self::Vector, counts: Self::Vector) -> Self::Vector;
    /// Those of 0 are all bits of a lane.
    fn leading_zeros<const WIDE: bool>(self, numbers: Self::Vector) -> Self::Vector;
    /// Ones in the places below the highest one of each number; none where it is 0.
    #[inline(always)]
    fn below_first_ones<const WIDE: bool>(self, numbers: Self::Vector) -> Self::Vector {
        let below_sign = self.all::<WIDE>(if WIDE { i64::MAX } else { i32::MAX.into() });
        self.shifted_right::<WIDE>(below_sign, self.leading_zeros::<WIDE>(numbers))
    }
    /// Of floats.
    fn product<const WIDE: bool>(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
}
