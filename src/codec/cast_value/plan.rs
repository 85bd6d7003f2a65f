//! Which fast kernels make a cast.

use super::lane::{Entry, Pass, Table};
use super::reference::{Cast, value};
use super::widen::{Step, identity, to_f32, to_f64, wide_to_f64};
use super::{integer, to_float, to_integer};
use crate::data_type::{Component, DataType, FloatValue};

/// So short that two blocks between steps stay in the cache.
pub(super) const BLOCK_COUNT: usize = 1024;

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
        let mut plan = Self { steps: steps(cast)?, source_size: cast.source.size(), target_size: cast.target.size() };
        if !cast.scalar_map.is_empty() {
            let entries = cast.scalar_map.iter().map(|entry| plan.entry(cast, *entry)).collect::<Option<Vec<_>>>()?;
            plan.steps.last_mut()?.0.set_map(&entries);
        }
        Some(plan)
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
        let highest = all >> 1;
        let (mask, above) = match component {
            Component::Float(_) if is_every_nan => (all & !sign, infinity),
            Component::Float(_) if key & !sign == 0 => (all & !sign, highest),
            _ => (all, highest),
        };
        Some(Entry { mask, key: key & mask, above, mapped: sign_extended(cast.target, mapped) })
    }

    /// Whether every element has an image, and `output` holds them, in blocks of up to [`BLOCK_COUNT`]: the index of
    /// a block that has not is given to `mend`. The reference may still know better.
    pub(super) fn run<E>(
        &self,
        input: &[u8],
        output: &mut [u8],
        mut mend: impl FnMut(usize, &[u8], &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut scratch: Scratch;
        let blocks =
            input.chunks(BLOCK_COUNT * self.source_size).zip(output.chunks_mut(BLOCK_COUNT * self.target_size));
        match self.steps.as_slice() {
            [] => output.copy_from_slice(input),
            [(only, _)] => {
                for (index, (input, output)) in blocks.enumerate() {
                    if only.run(input, output) {
                        mend(index, input, output)?;
                    }
                }
            }
            [before @ .., (last, _)] => {
                scratch = [[0; 8 * BLOCK_COUNT]; 2];
                for (index, (input, output)) in blocks.enumerate() {
                    if last.run(widened(before, input, output.len() / self.target_size, &mut scratch), output) {
                        mend(index, input, output)?;
                    }
                }
            }
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
