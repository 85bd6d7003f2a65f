//! The parts of a cast: kernels, which are loops over blocks of elements.

use std::fmt::Debug;

/// Converts a block of elements.
pub(super) trait Kernel: Debug + Send + Sync {
    /// Converts every element. Whether any of them was refused: then the output is not to be used, and a slower way
    /// decides whether an element is at fault.
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool;

    /// Bytes per converted element.
    fn output_size(&self) -> usize;

    /// Applies a scalar map before the conversion.
    fn set_map(&mut self, map: &[Entry]);
}

/// An entry of a scalar map. It replaces elements whose bits under `mask` are `key`, or above `key` if it is for every
/// NaN. That covers one bit pattern, both zeros, and every NaN.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) mask: u64,
    pub(super) key: u64,
    pub(super) is_every_nan: bool,
    pub(super) mapped: u64,
}

/// A kernel that may refuse elements for no fault of theirs, and one that decides.
///
/// Most data has only numbers well inside the target's range. A quick kernel converts those and notes whether there
/// was anything else; only then the thorough one converts the block again.
#[derive(Debug)]
struct Optimistic {
    quick: Box<dyn Kernel>,
    thorough: Box<dyn Kernel>,
    /// Whether the quick kernel applies maps, too. Otherwise blocks with a map are left to the thorough one.
    quick_applies_maps: bool,
    is_mapped: bool,
}

pub(super) fn optimistic(quick: Box<dyn Kernel>, thorough: Box<dyn Kernel>) -> Box<dyn Kernel> {
    Box::new(Optimistic { quick, thorough, quick_applies_maps: false, is_mapped: false })
}

/// The same if both apply maps.
pub(super) fn optimistic_with_maps(quick: Box<dyn Kernel>, thorough: Box<dyn Kernel>) -> Box<dyn Kernel> {
    Box::new(Optimistic { quick, thorough, quick_applies_maps: true, is_mapped: false })
}

impl Kernel for Optimistic {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        let is_thorough = self.is_mapped && !self.quick_applies_maps;
        (is_thorough || self.quick.run(input, output)) && self.thorough.run(input, output)
    }

    fn output_size(&self) -> usize {
        self.thorough.output_size()
    }

    fn set_map(&mut self, map: &[Entry]) {
        self.is_mapped = !map.is_empty();
        if self.quick_applies_maps {
            self.quick.set_map(map);
        }
        self.thorough.set_map(map);
    }
}
