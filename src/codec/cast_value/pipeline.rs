//! The kernels of a cast, run one after another.

use super::kernel::{Entry, Kernel};
use super::portable::float_to_integer::ToInteger;
use super::portable::integer_to_float::{scaled_back_kernel, wide_to_f64};
use super::portable::scalar_map::map_first;
use super::portable::scaled::scaled_back;
use super::portable::table::Table;
use super::portable::widen::{identity, to_f32, to_f32_for, to_f64};
use super::portable::{integer, narrow};
use super::reference::{Cast, value};
use super::tiers::Kernels;
use crate::data_type::Component;
use crate::number::{FLOAT32, FLOAT64, FloatId, FloatValue, Scaling};

/// Bytes of a block between kernels: few enough that two of them stay in the first-level cache.
const BLOCK_SIZE: usize = 6 << 10;

/// Elements per block with one kernel: enough that starting a block costs little.
const LONG_BLOCK_COUNT: usize = 8192;

/// The blocks between kernels. One serves a whole run, because clearing it costs as much as a kernel.
type Scratch = [[u8; BLOCK_SIZE]; 2];

/// The kernels from source to target, each on what the one before it made. The last applies the scalar map.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// One loop for blocks in which nothing is unusual.
    whole_cast: Option<Box<dyn Kernel>>,
    kernels: Vec<Box<dyn Kernel>>,
    source_size: usize,
    target_size: usize,
}

impl Pipeline {
    /// The kernels of a cast; `None` if only the reference can do it.
    pub(super) fn new(cast: &Cast, tier: &Kernels) -> Option<Self> {
        let pipeline = Self::of(cast, kernels(cast, tier)?);
        // A table has the map already.
        let map: &[_] = if has_table(cast) { &[] } else { &cast.scalar_map };
        let Some(entries) = map.iter().map(|entry| pipeline.entry(cast, *entry)).collect::<Option<_>>() else {
            return Self::after_map(cast, tier);
        };
        let whole_cast = if cast.scalar_map.is_empty() { (tier.whole_cast)(cast) } else { None };
        Self { whole_cast, ..pipeline }.with_map(entries)
    }

    /// One loop for scaling and a cast of floats to integers. The cast refuses infinities and NaN, so it refuses what
    /// scaling makes infinite. Scaling keeps NaN, so only NaN may be mapped.
    pub(super) fn scaled(cast: &Cast, scaling: Scaling<u64>, tier: &Kernels) -> Option<Self> {
        let Component::Float(format) = cast.source else { return None };
        let is_wide = matches!(format.id, FloatId::Float32 | FloatId::Float64);
        let to = ToInteger::new(format.id, cast, Some(scaling)).filter(|to| is_wide && to.fits())?;
        let pipeline = Self::of(cast, vec![(tier.float_to_integer)(&to, to.kernel()?)]);
        let entries =
            cast.scalar_map.iter().map(|entry| pipeline.entry(cast, *entry).filter(|entry| entry.is_every_nan));
        let entries = entries.collect::<Option<_>>()?;
        pipeline.with_map(entries)
    }

    /// One loop for a cast of integers to floats and scaling back.
    pub(super) fn scaled_back(cast: &Cast, scaling: Scaling<u64>) -> Option<Self> {
        let pipeline = Self::of(cast, vec![scaled_back_kernel(cast.source, cast.target, scaling)?]);
        let mapped = |bits: u64| match cast.target.bits() {
            32 => Some(scaled_back(f32::from_bits(bits as u32), scaling)?.to_bits().into()),
            _ => Some(scaled_back(f64::from_bits(bits), scaling)?.to_bits()),
        };
        let entries = cast.scalar_map.iter().map(|(key, value)| pipeline.entry(cast, (*key, mapped(*value)?)));
        let entries = entries.collect::<Option<_>>()?;
        pipeline.with_map(entries)
    }

    /// The map before all kernels, for a cast whose first kernels lose the difference between a key and other values.
    fn after_map(cast: &Cast, tier: &Kernels) -> Option<Self> {
        let unmapped = Self::new(&Cast { scalar_map: Vec::new(), ..cast.clone() }, tier)?;
        let kernel = map_first(cast.source.size(), cast.target.size(), Box::new(Unmapped(unmapped)))?;
        let entries = cast.scalar_map.iter().map(|pair| entry(cast, &[], *pair)).collect::<Option<_>>()?;
        Self::of(cast, vec![kernel]).with_map(entries)
    }

    fn of(cast: &Cast, kernels: Vec<Box<dyn Kernel>>) -> Self {
        Self { whole_cast: None, kernels, source_size: cast.source.size(), target_size: cast.target.size() }
    }

    fn with_map(mut self, entries: Vec<Entry>) -> Option<Self> {
        if !entries.is_empty() {
            self.kernels.last_mut()?.set_map(&entries);
        }
        Some(self)
    }

    /// Whether the cast changes no element.
    pub(super) fn is_copy(&self) -> bool {
        self.kernels.is_empty()
    }

    /// An entry of the map as the last kernel sees it; `None` if earlier kernels lose the difference between its key
    /// and other values.
    fn entry(&self, cast: &Cast, pair: (u64, u64)) -> Option<Entry> {
        entry(cast, &self.kernels[..self.kernels.len() - 1], pair)
    }

    /// Casts every element. A block that has a refused element goes to `by_reference`, with the index of its first element.
    pub(super) fn run<E>(
        &self,
        input: &[u8],
        output: &mut [u8],
        mut by_reference: impl FnMut(usize, &[u8], &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(whole_cast) = &self.whole_cast else { return self.run_kernels(0, input, output, &mut by_reference) };
        let (mut block_count, mut refused_count) = (0, 0);
        for (input, output) in self.blocks(LONG_BLOCK_COUNT, input, output) {
            // Where most blocks are unusual, it is tried on a quarter of them.
            let is_tried = 4 * refused_count <= block_count + 3;
            let is_refused = is_tried && whole_cast.run(input, output);
            if !is_tried || is_refused {
                self.run_kernels(block_count * LONG_BLOCK_COUNT, input, output, &mut by_reference)?;
            }
            (block_count, refused_count) = (block_count + 1, refused_count + usize::from(is_refused));
        }
        Ok(())
    }

    fn blocks<'a>(
        &self,
        count: usize,
        input: &'a [u8],
        output: &'a mut [u8],
    ) -> impl Iterator<Item = (&'a [u8], &'a mut [u8])> {
        input.chunks(count * self.source_size).zip(output.chunks_mut(count * self.target_size))
    }

    /// As [`run`](Self::run), by the kernels one after another, of elements from the index `first` on.
    fn run_kernels<E>(
        &self,
        first: usize,
        input: &[u8],
        output: &mut [u8],
        by_reference: &mut impl FnMut(usize, &[u8], &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let [before @ .., last] = self.kernels.as_slice() else {
            output.copy_from_slice(input);
            return Ok(());
        };
        let widest = before.iter().map(|kernel| kernel.output_size()).max();
        let count = widest.map_or(LONG_BLOCK_COUNT, |size| BLOCK_SIZE / size);
        let blocks = self.blocks(count, input, output);
        let mut run = |lanes: &[u8], index: usize, input: &[u8], output: &mut [u8]| {
            if last.run(lanes, output) { by_reference(first + index * count, input, output) } else { Ok(()) }
        };
        if before.is_empty() {
            return blocks.enumerate().try_for_each(|(index, (input, output))| run(input, index, input, output));
        }
        let mut scratch: Scratch = [[0; BLOCK_SIZE]; 2];
        for (index, (input, output)) in blocks.enumerate() {
            run(widened(before, input, output.len() / self.target_size, &mut scratch), index, input, output)?;
        }
        Ok(())
    }
}

/// A pipeline without a map, as a kernel of another one that applies the map before it.
#[derive(Debug)]
struct Unmapped(Pipeline);

impl Kernel for Unmapped {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        self.0.run(input, output, |_, _, _| Err(())).is_err()
    }

    fn output_size(&self) -> usize {
        self.0.target_size
    }

    fn set_map(&mut self, _: &[Entry]) {}
}

/// An entry of the map after these kernels; `None` if they lose the difference between its key and other values.
fn entry(cast: &Cast, kernels: &[Box<dyn Kernel>], (key, mapped): (u64, u64)) -> Option<Entry> {
    let mut bytes = vec![0; cast.source.size()];
    cast.source.store(key, &mut bytes);
    let is_nan = value(cast.source, key) == FloatValue::Nan;
    let is_every_nan = is_nan && matches!(cast.source, Component::Float(format) if format.nan() == Some(key));
    let mut component = cast.source;
    for kernel in kernels {
        if component.bits() == 64 || (is_nan && !is_every_nan) {
            return None;
        }
        let mut wide = vec![0; kernel.output_size()];
        // Widening refuses no element: only the last kernel does.
        kernel.run(&bytes, &mut wide);
        component = Component::Float(if wide.len() == 4 { FLOAT32 } else { FLOAT64 });
        bytes = wide;
    }
    let key = component.load(&bytes);
    let all = u64::MAX >> (64 - component.bits());
    let (sign, infinity) = match component {
        Component::Float(format) => (format.sign_bit(), format.infinity(false)?),
        _ => (0, 0),
    };
    let mapped = cast.target.extended(mapped);
    Some(match component {
        Component::Float(_) if is_every_nan => Entry { mask: all & !sign, key: infinity, is_every_nan, mapped },
        Component::Float(_) if key & !sign == 0 => Entry { mask: all & !sign, key: 0, is_every_nan, mapped },
        _ => Entry { mask: all, key, is_every_nan: false, mapped },
    })
}

/// Runs one or two kernels on a block of `count` elements.
fn widened<'a>(kernels: &[Box<dyn Kernel>], input: &[u8], count: usize, [first, second]: &'a mut Scratch) -> &'a [u8] {
    let first = &mut first[..count * kernels[0].output_size()];
    // Widening refuses no element.
    kernels[0].run(input, first);
    match kernels {
        [_, then] => {
            let second = &mut second[..count * then.output_size()];
            then.run(first, second);
            second
        }
        _ => first,
    }
}

fn kernels(cast: &Cast, tier: &Kernels) -> Option<Vec<Box<dyn Kernel>>> {
    let is_mapped = !cast.scalar_map.is_empty();
    let is_integer = matches!(cast.source, Component::Int { .. });
    match (cast.source, cast.target) {
        _ if has_table(cast) => Some(vec![table(cast)]),
        (source, target) if source == target => {
            Some(if is_mapped { vec![identity(target.size())] } else { Vec::new() })
        }
        (Component::Int { .. }, Component::Int { .. }) => Some(vec![integer::kernel(cast)?]),
        (source, Component::Int { .. }) => float_to_integer(source, cast, tier),
        (source, Component::Float(format)) => match (format.id, to_f32(source, tier)) {
            (FloatId::Float64, _) if is_integer && source.bits() == 64 => {
                Some(vec![wide_to_f64(source, cast.rounding)?])
            }
            (FloatId::Float64, _) => to_f64(source, tier),
            (FloatId::Float32, Some(kernels)) => Some(kernels),
            (_, Some(kernels)) => then(kernels, narrow::from_f32(cast, tier)?),
            (target, None) => match to_f32_for(source, target).filter(|_| !is_mapped) {
                Some(kernel) => then(vec![kernel], narrow::from_f32(cast, tier)?),
                None => then(to_f64(source, tier)?, narrow::from_f64(cast)?),
            },
        },
        _ => None,
    }
}

fn has_table(cast: &Cast) -> bool {
    cast.source.bits() <= 8 && !has_loop(cast)
}

/// Whether a loop over vectors beats a table for a source of up to 8 bits: from integers to wide floats, and from those
/// that fill their bytes to integers and floats of 16 bits.
fn has_loop(cast: &Cast) -> bool {
    let Component::Int { bits, .. } = cast.source else { return false };
    let is_wide_enough = match cast.target {
        Component::Int { .. } => bits == 8,
        Component::Float(format) => format.bits >= 32 || (format.bits == 16 && bits == 8),
        _ => false,
    };
    is_wide_enough && cast.scalar_map.is_empty()
}

/// Through lanes of `f32` if these suffice.
fn float_to_integer(source: Component, cast: &Cast, tier: &Kernels) -> Option<Vec<Box<dyn Kernel>>> {
    let to = ToInteger::new(FloatId::Float32, cast, None)?;
    let (kernels, to) = match to_f32(source, tier).filter(|_| to.fits()) {
        Some(kernels) => (kernels, to),
        None => (to_f64(source, tier)?, ToInteger { source: FloatId::Float64, ..to }),
    };
    then(kernels, (tier.float_to_integer)(&to, to.kernel()?))
}

fn then(mut kernels: Vec<Box<dyn Kernel>>, last: Box<dyn Kernel>) -> Option<Vec<Box<dyn Kernel>>> {
    kernels.push(last);
    Some(kernels)
}

/// Every source of up to 8 bits: the reference, tabulated.
fn table(cast: &Cast) -> Box<dyn Kernel> {
    let stored = |byte: u8| Some(cast.target.extended(cast.cast(cast.source.load(&[byte]))?));
    match cast.target.size() {
        1 => Table::<u8>::kernel(stored),
        2 => Table::<u16>::kernel(stored),
        4 => Table::<u32>::kernel(stored),
        _ => Table::<u64>::kernel(stored),
    }
}
