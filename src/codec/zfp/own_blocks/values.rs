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

/// Whether all bits are the same.
#[inline(always)]
pub(super) fn are_same<K: Kernel<N>, const N: usize, const WIDE: bool>(kernel: K, a: &K::Block, b: &K::Block) -> bool {
    let (a, b) = (&a.as_ref()[..K::vector_count(WIDE)], &b.as_ref()[..K::vector_count(WIDE)]);
    let mut differences = kernel.zero();
    for (a, b) in a.iter().zip(b) {
        differences = kernel.or(differences, kernel.xor(*a, *b));
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
pub(super) fn scale<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    values: &K::Block,
    factor: f64,
) -> K::Block {
    map::<K, N, WIDE>(kernel, values, |vector| kernel.multiply::<WIDE>(vector, factor))
}

/// Floats times a factor as integers: [`Lanes::truncate`](super::lanes::Lanes::truncate).
#[inline(always)]
pub(super) fn truncate<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    values: &K::Block,
    factor: f64,
) -> K::Block {
    map::<K, N, WIDE>(kernel, values, |vector| kernel.truncate::<WIDE>(kernel.multiply::<WIDE>(vector, factor)))
}

/// Integers as floats, rounded to nearest, times a factor.
#[inline(always)]
pub(super) fn to_floats<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    integers: &K::Block,
    factor: f64,
) -> K::Block {
    map::<K, N, WIDE>(kernel, integers, |vector| kernel.multiply::<WIDE>(kernel.to_floats::<WIDE>(vector), factor))
}

/// Floats as integers in the same order, by sign and magnitude, and back.
#[inline(always)]
pub(super) fn reinterpret<K: Kernel<N>, const N: usize, const WIDE: bool>(kernel: K, values: &K::Block) -> K::Block {
    map::<K, N, WIDE>(kernel, values, |vector| kernel.reinterpret::<WIDE>(vector))
}

#[inline(always)]
fn map<K: Kernel<N>, const N: usize, const WIDE: bool>(
    kernel: K,
    block: &K::Block,
    change: impl Fn(K::Vector) -> K::Vector,
) -> K::Block {
    let mut changed = kernel.zeros();
    for (changed, vector) in changed.as_mut()[..K::vector_count(WIDE)].iter_mut().zip(block.as_ref()) {
        *changed = change(*vector);
    }
    changed
}
