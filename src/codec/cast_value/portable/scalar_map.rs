//! Scalar maps of loops.

use super::lane::{Integer, Lane};
use super::loops::flag;
use crate::codec::cast_value::kernel::{Entry, Kernel};
use crate::simd::{Loop, vectorized};
use std::collections::BTreeMap;

/// The scalar map of a loop.
#[derive(Debug)]
pub(super) enum ScalarMap<S: Lane, T> {
    Empty,
    One(LaneEntry<S, T>),
    /// Each element is compared with each entry, the first one last: of those that match, the first wins.
    Few(Vec<LaneEntry<S, T>>),
    /// Each element is looked for.
    Many(Points<S, T>),
}

/// More entries than this are searched.
const MOST_COMPARED: usize = 32;

impl<S: Lane, T: Lane> ScalarMap<S, T> {
    pub(super) fn new(map: &[Entry]) -> Self {
        match map {
            [] => Self::Empty,
            [entry] => Self::One(LaneEntry::new(entry)),
            _ if map.len() <= MOST_COMPARED => Self::Few(map.iter().rev().map(LaneEntry::new).collect()),
            _ => Self::Many(Points::new(map)),
        }
    }

    /// Converts every element that the map does not match, and maps the others. Whether any was refused.
    pub(super) fn around(&self, input: &[u8], output: &mut [u8], convert: &mut Conversion<'_>) -> bool {
        let mut group = Group::<S, T>::new();
        let inputs = input.chunks(GROUP * size_of::<S::Bytes>());
        let outputs = output.chunks_mut(GROUP * size_of::<T::Bytes>());
        let mut is_refused = false;
        for (input, output) in inputs.zip(outputs) {
            group.load(input);
            self.apply(&mut group);
            if group.has_mapped() {
                is_refused |= group.convert_rest(input.len(), output, convert);
                group.store(output);
            } else {
                is_refused |= convert(input, output);
            }
        }
        is_refused
    }

    fn apply(&self, group: &mut Group<S, T>) {
        let mut compare = |entry: &LaneEntry<S, T>| match entry.is_every_nan {
            true => vectorized(Comparison::<_, _, true> { entry, group }),
            false => vectorized(Comparison::<_, _, false> { entry, group }),
        };
        match self {
            Self::Empty => {}
            Self::One(entry) => compare(entry),
            Self::Few(entries) => entries.iter().for_each(compare),
            Self::Many(points) => group.find(points),
        }
    }
}

/// Converts a block of elements. Whether any of them was refused.
type Conversion<'a> = dyn FnMut(&[u8], &mut [u8]) -> bool + 'a;

/// An [`Entry`] for the lanes of a conversion.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneEntry<S: Lane, T> {
    mask: S::Bits,
    key: S::Bits,
    pub(super) is_every_nan: bool,
    mapped: T,
}

impl<S: Lane, T: Lane> LaneEntry<S, T> {
    fn new(entry: &Entry) -> Self {
        Self {
            mask: S::Bits::truncate(entry.mask),
            key: S::Bits::truncate(entry.key),
            is_every_nan: entry.is_every_nan,
            mapped: T::from_bits(T::Bits::truncate(entry.mapped)),
        }
    }

    #[inline(always)]
    fn matches(&self, is_every_nan: bool, element: S) -> bool {
        let bits = element.bits() & self.mask;
        if is_every_nan { bits.is_above(self.key) } else { bits == self.key }
    }

    /// Replaces the converted element if the element matches. Loops pass a constant `is_every_nan`.
    #[inline(always)]
    pub(super) fn apply(&self, is_every_nan: bool, element: S, (converted, fault): (T, S::Bits)) -> (T, S::Bits) {
        let is_mapped = self.matches(is_every_nan, element);
        (if is_mapped { self.mapped } else { converted }, fault & flag(!is_mapped))
    }
}

/// Elements to which a map is applied together.
const GROUP: usize = 64;

/// Elements, and what those of them that are mapped become.
struct Group<S: Lane, T> {
    elements: [S; GROUP],
    mapped: [T; GROUP],
    /// All ones if the element is mapped, otherwise 0.
    is_mapped: [S::Bits; GROUP],
}

impl<S: Lane, T: Lane> Group<S, T> {
    fn new() -> Self {
        let zero = S::Bits::truncate(0);
        let mapped = [T::from_bits(T::Bits::truncate(0)); GROUP];
        Self { elements: [S::from_bits(zero); GROUP], mapped, is_mapped: [zero; GROUP] }
    }

    /// Begins with up to [`GROUP`] elements, none of which is mapped.
    fn load(&mut self, input: &[u8]) {
        for (element, input) in self.elements.iter_mut().zip(S::elements(input)) {
            *element = S::load(*input);
        }
        self.is_mapped = [S::Bits::truncate(0); GROUP];
    }

    fn find(&mut self, points: &Points<S, T>) {
        let lanes = self.elements.iter().zip(&mut self.mapped).zip(&mut self.is_mapped);
        for ((element, mapped), is_mapped) in lanes {
            if let Some(found) = points.find(*element) {
                (*mapped, *is_mapped) = (found, flag(true));
            }
        }
    }

    fn has_mapped(&self) -> bool {
        let zero = S::Bits::truncate(0);
        self.is_mapped.iter().fold(zero, |any, is_mapped| any | *is_mapped) != zero
    }

    /// Converts the elements that are not mapped, of those that were loaded from `size` bytes.
    fn convert_rest(&self, size: usize, output: &mut [u8], convert: &mut Conversion<'_>) -> bool {
        let mut input = [0; GROUP * size_of::<u64>()];
        let input = &mut input[..size];
        let lanes = self.elements.iter().zip(&self.is_mapped);
        let zero = S::Bits::truncate(0);
        let count = S::elements(input).len();
        // It stands in for those that are mapped, which might be refused.
        let Some((unmapped, _)) = lanes.clone().take(count).find(|(_, is_mapped)| **is_mapped == zero) else {
            return false;
        };
        vectorized(Rest { group: self, stand_in: *unmapped, input });
        convert(input, output)
    }

    /// Writes what the mapped elements become.
    fn store(&self, output: &mut [u8]) {
        vectorized(Store { group: self, output });
    }
}

/// Writes the elements that are not mapped, and for others an element that stands in for them.
struct Rest<'a, S: Lane, T> {
    group: &'a Group<S, T>,
    stand_in: S,
    input: &'a mut [u8],
}

impl<S: Lane, T: Lane> Loop for Rest<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let zero = S::Bits::truncate(0);
        let lanes = self.group.elements.iter().zip(&self.group.is_mapped);
        for (input, (element, is_mapped)) in S::elements_mut(self.input).iter_mut().zip(lanes) {
            *input = if *is_mapped == zero { *element } else { self.stand_in }.store();
        }
    }
}

/// Writes what the mapped elements become over their places.
struct Store<'a, S: Lane, T> {
    group: &'a Group<S, T>,
    output: &'a mut [u8],
}

impl<S: Lane, T: Lane> Loop for Store<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let zero = S::Bits::truncate(0);
        let lanes = self.group.mapped.iter().zip(&self.group.is_mapped);
        for (output, (mapped, is_mapped)) in T::elements_mut(self.output).iter_mut().zip(lanes) {
            let converted = T::load(*output);
            *output = if *is_mapped == zero { converted } else { *mapped }.store();
        }
    }
}

/// A comparison of a group with an entry.
struct Comparison<'a, S: Lane, T, const IS_EVERY_NAN: bool> {
    entry: &'a LaneEntry<S, T>,
    group: &'a mut Group<S, T>,
}

impl<S: Lane, T: Lane, const IS_EVERY_NAN: bool> Loop for Comparison<'_, S, T, IS_EVERY_NAN> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // By value, so that the compiler sees that the loop does not change it.
        let (entry, group) = (*self.entry, self.group);
        let lanes = group.elements.iter().zip(&mut group.mapped).zip(&mut group.is_mapped);
        for ((element, mapped), is_mapped) in lanes {
            let matches = entry.matches(IS_EVERY_NAN, *element);
            *mapped = if matches { entry.mapped } else { *mapped };
            *is_mapped = *is_mapped | flag(matches);
        }
    }
}

/// A kernel that applies a map before others, which have none.
#[derive(Debug)]
struct MapFirst<S: Lane, T> {
    map: ScalarMap<S, T>,
    others: Box<dyn Kernel>,
}

impl<S: Lane, T: Lane> Kernel for MapFirst<S, T> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        self.map.around(input, output, &mut |input, output| self.others.run(input, output))
    }

    fn output_size(&self) -> usize {
        size_of::<T::Bytes>()
    }

    fn set_map(&mut self, map: &[Entry]) {
        self.map = ScalarMap::new(map);
    }
}

/// Applies a map before other kernels, from elements of one size in bytes to those of another. `None` for a size that
/// has tables.
pub(in crate::codec::cast_value) fn map_first(
    source_size: usize,
    target_size: usize,
    others: Box<dyn Kernel>,
) -> Option<Box<dyn Kernel>> {
    match source_size {
        2 => Some(map_first_of::<u16>(target_size, others)),
        4 => Some(map_first_of::<u32>(target_size, others)),
        8 => Some(map_first_of::<u64>(target_size, others)),
        _ => None,
    }
}

fn map_first_of<S: Lane>(target_size: usize, others: Box<dyn Kernel>) -> Box<dyn Kernel> {
    match target_size {
        1 => Box::new(MapFirst { map: ScalarMap::<S, u8>::Empty, others }),
        2 => Box::new(MapFirst { map: ScalarMap::<S, u16>::Empty, others }),
        4 => Box::new(MapFirst { map: ScalarMap::<S, u32>::Empty, others }),
        _ => Box::new(MapFirst { map: ScalarMap::<S, u64>::Empty, others }),
    }
}

/// The map from single patterns of bits, sorted by them, and from every other NaN.
#[derive(Debug)]
pub(super) struct Points<S: Lane, T> {
    bits: Vec<S::Bits>,
    mapped: Vec<T>,
    every_nan: Option<LaneEntry<S, T>>,
}

impl<S: Lane, T: Lane> Points<S, T> {
    /// Of entries that match the same element, the first wins.
    fn new(map: &[Entry]) -> Self {
        let mut points = BTreeMap::new();
        let mut every_nan: Option<LaneEntry<S, T>> = None;
        for entry in map {
            let lanes = LaneEntry::new(entry);
            if entry.is_every_nan {
                every_nan = every_nan.or(Some(lanes));
                continue;
            }
            // Bits outside the mask are all zeros or all ones: a zero has two signs, and a lane may extend that of a
            // short integer.
            for bits in [lanes.key, lanes.key | S::Bits::truncate(!entry.mask)] {
                if !every_nan.is_some_and(|nan| nan.matches(true, S::from_bits(bits))) {
                    points.entry(bits).or_insert(lanes.mapped);
                }
            }
        }
        let (bits, mapped) = points.into_iter().unzip();
        Self { bits, mapped, every_nan }
    }

    #[inline(always)]
    fn find(&self, element: S) -> Option<T> {
        match self.bits.binary_search(&element.bits()) {
            Ok(index) => Some(self.mapped[index]),
            Err(_) => self.every_nan.filter(|nan| nan.matches(true, element)).map(|nan| nan.mapped),
        }
    }
}
