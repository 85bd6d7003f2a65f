//! Values of a block, vector by vector.

use super::kernel::Kernel;

/// The bits that any of them has.
#[inline(always)]
pub(super) fn any_bits<K: Kernel<N>, const N: usize, const WIDE: bool>(kernel: K, block: &K::Block) -> u64 {
    let mut all = kernel.zero();
    for vector in &block.as_ref()[..K::vector_count(WIDE)] {
        all = kernel.or(all, *vector);
    }
    kernel.any_bits::<WIDE>(all)
}

/// Whether integers times a factor have the same bits as these floats.
#[inline(always)]
pub(super) fn are_floats<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    integers: &K::Block,
    factor: f64,
    floats: &K::Block,
) -> bool {
    let count = K::vector_count(WIDE);
    let mut differences = kernel.zero();
    for (integers, floats) in integers.as_ref()[..count].iter().zip(&floats.as_ref()[..count]) {
        let found = kernel.multiply::<WIDE>(kernel.to_floats::<WIDE>(*integers), factor);
        differences = kernel.or(differences, kernel.xor(found, *floats));
    }
    kernel.is_zero(differences)
}

/// The bits of the largest magnitude of floats. NaNs do not count.
#[inline(always)]
pub(super) fn largest_magnitude<K: Kernel<N>, const N: usize, const WIDE: bool>(kernel: K, values: &K::Block) -> u64 {
    let mut largest = kernel.zero();
    for vector in &values.as_ref()[..K::vector_count(WIDE)] {
        largest = kernel.larger_magnitude::<WIDE>(largest, *vector);
    }
    kernel.largest::<WIDE>(largest)
}

/// Floats times a factor.
#[inline(always)]
pub(super) fn scale<K: Kernel<N>, const N: usize, const WIDE: bool>(kernel: K, values: &mut K::Block, factor: f64) {
    change::<K, N, WIDE>(values, |vector| kernel.multiply::<WIDE>(vector, factor));
}

/// Floats times a factor to integers: [`Lanes::truncate`](super::lanes::Lanes::truncate).
#[inline(always)]
pub(super) fn truncate<K: Kernel<N>, const N: usize, const WIDE: bool>(kernel: K, values: &mut K::Block, factor: f64) {
    change::<K, N, WIDE>(values, |vector| kernel.truncate::<WIDE>(kernel.multiply::<WIDE>(vector, factor)));
}

/// Integers to floats, rounded to nearest, times a factor.
#[inline(always)]
pub(super) fn to_floats<K: Kernel<N>, const N: usize, const WIDE: bool>(kernel: K, block: &mut K::Block, factor: f64) {
    change::<K, N, WIDE>(block, |vector| kernel.multiply::<WIDE>(kernel.to_floats::<WIDE>(vector), factor));
}

/// Floats to integers in the same order, by sign and magnitude, and back.
#[inline(always)]
pub(super) fn reinterpret<K: Kernel<N>, const N: usize, const WIDE: bool>(kernel: K, values: &mut K::Block) {
    change::<K, N, WIDE>(values, |vector| kernel.reinterpret::<WIDE>(vector));
}

#[inline(always)]
fn change<K: Kernel<N>, const N: usize, const WIDE: bool>(
    block: &mut K::Block,
    changed: impl Fn(K::Vector) -> K::Vector,
) {
    for vector in &mut block.as_mut()[..K::vector_count(WIDE)] {
        *vector = changed(*vector);
    }
}
