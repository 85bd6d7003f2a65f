//! Which fast kernels make a cast.

use super::lane::{Entry, Pass, Table};
use super::reference::{Cast, value};
use super::scaled::scaled_back;
use super::widen::{self, Step, identity, to_f32, to_f64, wide_to_f64};
use super::{integer, to_float, to_integer};
use crate::codec::scale_offset::Scaling;
use crate::data_type::{Component, DataType, FloatValue};

/// Elements of a block: so few that two blocks between steps stay in the first-level cache.
const BLOCK_COUNT: usize = 1024;

/// Elements of a block where there is one step: so many that beginning a block costs little.
const LONG_BLOCK_COUNT: usize = 8192;

/// The blocks between steps; one of these serves a whole run, for clearing it costs as much as a step.
type Scratch = [[u8; 8 * BLOCK_COUNT]; 2];

/// The steps from source to target; the last lays the scalar map over what it makes.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
    source_size: usize,
    target_size: usize,
}

impl Plan {
    /// The plan of a cast; none if only the reference can do it.
    pub(super) fn new(cast: &Cast) -> Option<Self> {
        let plan = Self { steps: steps(cast)?, source_size: cast.source.size(), target_size: cast.target.size() };
        let entries = cast.scalar_map.iter().map(|entry| plan.entry(cast, *entry));
        let entries = entries.collect::<Option<_>>()?;
        plan.set_map(entries)
    }

    /// The loop of scaling and a cast of floats to integers. Where the cast wants neither infinities nor NaN, what
    /// scaling loses is a fault of the cast as well; so only NaN, which scaling keeps, may be mapped.
    pub(super) fn scaled(cast: &Cast, scaling: Scaling) -> Option<Self> {
        let Component::Float(format) = cast.source else { return None };
        let pass = match format.name {
            "float32" if to_integer::fits_f32(cast) => to_integer::scaled_pass::<f32>(cast, scaling)?,
            "float64" if to_integer::fits_f64(cast) => to_integer::scaled_pass::<f64>(cast, scaling)?,
            _ => return None,
        };
        let plan = Self::of_one(cast, pass);
        let entries = cast.scalar_map.iter().map(|entry| plan.entry(cast, *entry).filter(|entry| entry.is_every_nan));
        let entries = entries.collect::<Option<_>>()?;
        plan.set_map(entries)
    }

    /// The loop of a cast of integers to floats and scaling back.
    pub(super) fn scaled_back(cast: &Cast, scaling: Scaling) -> Option<Self> {
        let plan = Self::of_one(cast, widen::from_integer(cast.source, cast.target, scaling)?);
        let mapped = |bits: u64| match cast.target.bits() {
            32 => Some(scaled_back(f32::from_bits(bits as u32), scaling)?.to_bits().into()),
            _ => Some(scaled_back(f64::from_bits(bits), scaling)?.to_bits()),
        };
        let entries = cast.scalar_map.iter().map(|(key, image)| plan.entry(cast, (*key, mapped(*image)?)));
        let entries = entries.collect::<Option<_>>()?;
        plan.set_map(entries)
    }

    fn of_one(cast: &Cast, pass: Box<dyn Pass>) -> Self {
        let (source_size, target_size) = (cast.source.size(), cast.target.size());
        Self { steps: vec![(pass, target_size)], source_size, target_size }
    }

    fn set_map(mut self, entries: Vec<Entry>) -> Option<Self> {
        if !entries.is_empty() {
            self.steps.last_mut()?.0.set_map(&entries);
        }
        Some(self)
    }

    /// Whether every element is its own image.
    pub(super) fn is_copy(&self) -> bool {
        self.steps.is_empty()
    }

    /// An entry of the map as the last step meets it; none if the steps before it lose what the key needs.
    fn entry(&self, cast: &Cast, (key, mapped): (u64, u64)) -> Option<Entry> {
        let mut bytes = vec![0; self.source_size];
        cast.source.store(key, &mut bytes);
        let is_nan = value(cast.source, key) == FloatValue::Nan;
        let is_every_nan = is_nan && matches!(cast.source, Component::Float(format) if format.nan() == Some(key));
        let mut component = cast.source;
        for (pass, size) in &self.steps[..self.steps.len() - 1] {
            if component.bits() == 64 || (is_nan && !is_every_nan) {
                return None;
            }
            let mut wide = vec![0; *size];
            pass.run(&bytes, &mut wide);
            bytes = wide;
            component = DataType::from_name(if *size == 4 { "float32" } else { "float64" }).ok()?.component();
        }
        let key = component.load(&bytes);
        let all = u64::MAX >> (64 - component.bits());
        let (sign, infinity) = match component {
            Component::Float(format) => (format.sign_bit(), format.infinity(false)?),
            _ => (0, 0),
        };
        let mapped = sign_extended(cast.target, mapped);
        Some(match component {
            Component::Float(_) if is_every_nan => Entry { mask: all & !sign, key: infinity, is_every_nan, mapped },
            Component::Float(_) if key & !sign == 0 => Entry { mask: all & !sign, key: 0, is_every_nan, mapped },
            _ => Entry { mask: all, key, is_every_nan: false, mapped },
        })
    }

    /// Casts every element. A block of them in which one has no image is given to `mend`, with the index of its first
    /// element; the reference may still know better.
    pub(super) fn run<E>(
        &self,
        input: &[u8],
        output: &mut [u8],
        mut mend: impl FnMut(usize, &[u8], &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let [before @ .., (last, _)] = self.steps.as_slice() else {
            output.copy_from_slice(input);
            return Ok(());
        };
        let count = if before.is_empty() { LONG_BLOCK_COUNT } else { BLOCK_COUNT };
        let blocks = input.chunks(count * self.source_size).zip(output.chunks_mut(count * self.target_size));
        let mut run = |lanes: &[u8], index: usize, input: &[u8], output: &mut [u8]| {
            if last.run(lanes, output) { mend(index * count, input, output) } else { Ok(()) }
        };
        if before.is_empty() {
            return blocks.enumerate().try_for_each(|(index, (input, output))| run(input, index, input, output));
        }
        let mut scratch: Scratch = [[0; 8 * BLOCK_COUNT]; 2];
        for (index, (input, output)) in blocks.enumerate() {
            run(widened(before, input, output.len() / self.target_size, &mut scratch), index, input, output)?;
        }
        Ok(())
    }
}

/// One or two steps on a block of so many elements.
fn widened<'a>(steps: &[Step], input: &[u8], count: usize, [first, second]: &'a mut Scratch) -> &'a [u8] {
    let (first, second) = (&mut first[..count * steps[0].1], &mut second[..count * steps[steps.len() - 1].1]);
    steps[0].0.run(input, first);
    match steps {
        [_, (then, _)] => {
            then.run(first, second);
            second
        }
        _ => first,
    }
}

fn steps(cast: &Cast) -> Option<Vec<Step>> {
    let size = cast.target.size();
    let is_mapped = !cast.scalar_map.is_empty();
    let is_wide_float = matches!(cast.target, Component::Float(format) if format.bits >= 32);
    let is_integer = matches!(cast.source, Component::Int { .. });
    match (cast.source, cast.target) {
        // A loop over vectors beats a table only in making wide floats of integers.
        (source, _) if source.bits() <= 8 && !(is_integer && is_wide_float && !is_mapped) => {
            Some(vec![(table(cast), size)])
        }
        (source, target) if source == target => Some(if is_mapped { vec![(identity(size), size)] } else { Vec::new() }),
        (Component::Int { .. }, Component::Int { .. }) => Some(vec![(integer::pass(cast)?, size)]),
        (source, Component::Int { .. }) => match to_f32(source).filter(|_| to_integer::fits_f32(cast)) {
            Some(steps) => then(steps, to_integer::pass::<f32>(cast)?, size),
            None => then(to_f64(source)?, to_integer::pass::<f64>(cast)?, size),
        },
        (source, Component::Float(format)) => match (format.name, to_f32(source)) {
            ("float64", _) if is_integer && source.bits() == 64 => {
                Some(vec![(wide_to_f64(source, cast.rounding)?, size)])
            }
            ("float64", _) => to_f64(source),
            ("float32", Some(steps)) => Some(steps),
            (_, Some(steps)) => then(steps, to_float::pass::<f32>(cast)?, size),
            (_, None) => then(to_f64(source)?, to_float::pass::<f64>(cast)?, size),
        },
        _ => None,
    }
}

fn then(mut steps: Vec<Step>, pass: Box<dyn Pass>, size: usize) -> Option<Vec<Step>> {
    steps.push((pass, size));
    Some(steps)
}

/// Every source of up to 8 bits: the reference, tabulated.
fn table(cast: &Cast) -> Box<dyn Pass> {
    let stored = |byte: u8| Some(sign_extended(cast.target, cast.cast(cast.source.load(&[byte]))?));
    match cast.target.size() {
        1 => Table::<u8>::pass(stored),
        2 => Table::<u16>::pass(stored),
        4 => Table::<u32>::pass(stored),
        _ => Table::<u64>::pass(stored),
    }
}

/// The bits as they lie in memory.
fn sign_extended(component: Component, bits: u64) -> u64 {
    match component {
        Component::Int { bits: width, signed: true } => (((bits << (64 - width)) as i64) >> (64 - width)) as u64,
        _ => bits,
    }
}
