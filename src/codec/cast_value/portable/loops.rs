//! Loops over a block: a conversion for each element, with or without a scalar map.
//!
//! Every element is converted, and faults are gathered without a branch.

use super::lane::{Integer, Lane};
use super::scalar_map::{LaneEntry, ScalarMap};
use crate::codec::cast_value::kernel::{Entry, Kernel};
use crate::simd::{Loop, vectorized};
use std::fmt::Debug;

/// The conversion of one element. `convert` must be `#[inline(always)]`.
pub(in crate::codec::cast_value) trait Convert {
    type Source: Lane;
    type Target: Lane;
    /// The converted element and its fault, which is not 0 if the element was refused.
    fn convert(&self, element: Self::Source) -> (Self::Target, Bits<Self>);
}

/// The fault of an element. It has one bit: where faults of all ones depend on several conditions, the compiler does not
/// vectorise the loops that gather them.
#[inline(always)]
pub(in crate::codec::cast_value) fn fault<B: Integer>(is_bad: bool) -> B {
    B::truncate(is_bad.into())
}

/// All ones if true.
#[inline(always)]
pub(in crate::codec::cast_value) fn flag<B: Integer>(is_true: bool) -> B {
    B::truncate(u64::from(is_true).wrapping_neg())
}

/// A fault is as wide as the element, so that a vector of elements has a vector of faults.
pub(in crate::codec::cast_value) type Bits<C> = <<C as Convert>::Source as Lane>::Bits;

struct Block<'a, C> {
    conversion: C,
    input: &'a [u8],
    output: &'a mut [u8],
}

impl<C: Convert> Loop for Block<'_, C> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut faults = Bits::<C>::truncate(0);
        for (output, input) in C::Target::elements_mut(self.output).iter_mut().zip(C::Source::elements(self.input)) {
            let (converted, fault) = self.conversion.convert(C::Source::load(*input));
            *output = converted.store();
            faults = faults | fault;
        }
        faults != Bits::<C>::truncate(0)
    }
}

/// A conversion with a map of one entry, whose kind is known at compile time.
struct Mapped<'a, C: Convert, const IS_EVERY_NAN: bool>(&'a C, &'a LaneEntry<C::Source, C::Target>);

impl<C: Convert, const IS_EVERY_NAN: bool> Convert for Mapped<'_, C, IS_EVERY_NAN> {
    type Source = C::Source;
    type Target = C::Target;

    #[inline(always)]
    fn convert(&self, element: C::Source) -> (C::Target, Bits<C>) {
        self.1.apply(IS_EVERY_NAN, element, self.0.convert(element))
    }
}

/// A conversion of every element of a block.
#[derive(Debug)]
struct Each<C: Convert> {
    conversion: C,
    map: ScalarMap<C::Source, C::Target>,
}

impl<C: Convert> Convert for &C {
    type Source = C::Source;
    type Target = C::Target;

    #[inline(always)]
    fn convert(&self, element: C::Source) -> (C::Target, Bits<C>) {
        C::convert(self, element)
    }
}

impl<C: Convert + Debug + Send + Sync> Kernel for Each<C> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        let conversion = &self.conversion;
        match &self.map {
            ScalarMap::Empty => vectorized(Block { conversion, input, output }),
            ScalarMap::One(entry) if entry.is_every_nan => {
                vectorized(Block { conversion: Mapped::<_, true>(conversion, entry), input, output })
            }
            ScalarMap::One(entry) => {
                vectorized(Block { conversion: Mapped::<_, false>(conversion, entry), input, output })
            }
            map => map.around(input, output, &mut |input, output| vectorized(Block { conversion, input, output })),
        }
    }

    fn output_size(&self) -> usize {
        size_of::<<C::Target as Lane>::Bytes>()
    }

    fn set_map(&mut self, map: &[Entry]) {
        self.map = ScalarMap::new(map);
    }
}

/// The kernel of a conversion.
pub(in crate::codec::cast_value) fn each<C: Convert + Debug + Send + Sync + 'static>(conversion: C) -> Box<dyn Kernel> {
    Box::new(Each { conversion, map: ScalarMap::Empty })
}
