//! Which fast kernels make a cast.

use super::lane::{Pass, Table};
use super::patch::sign_extended;
use super::reference::Cast;
use super::widen::{Step, to_f32, to_f64, wide_to_f64};
use super::{integer, patch, to_float, to_integer};
use crate::data_type::Component;

/// So short that two blocks between steps stay in the cache, and that a 16-bit counter holds their length.
pub(super) const BLOCK_COUNT: usize = 512;

/// The blocks between steps; one of these serves a whole run, for clearing it costs as much as a step.
pub(super) type Scratch = [[u8; 8 * BLOCK_COUNT]; 2];

/// An empty one.
pub(super) const SCRATCH: Scratch = [[0; 8 * BLOCK_COUNT]; 2];

/// The steps from source to target, and the scalar map over what they make.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
    patch: Option<Box<dyn Pass>>,
}

impl Plan {
    /// The plan of a cast; none if only the reference can do it.
    pub(super) fn new(cast: &Cast) -> Option<Self> {
        let steps = steps(cast)?;
        let mut plan = Self { steps, patch: None };
        if !cast.scalar_map.is_empty() && cast.source.bits() > 8 {
            plan.patch = Some(patch::pass(cast, |bits| plan.is_bad(cast, bits))?);
        }
        Some(plan)
    }

    fn is_bad(&self, cast: &Cast, bits: u64) -> bool {
        let (mut input, mut output) = ([0; 8], [0; 8]);
        let input = &mut input[..cast.source.size()];
        cast.source.store(bits, input);
        self.convert(input, &mut output[..cast.target.size()], &mut SCRATCH.clone()) > 0
    }

    /// Whether every element of a block of up to [`BLOCK_COUNT`] has an image, and `output` holds them. If not, the
    /// reference may still know better.
    pub(super) fn run(&self, input: &[u8], output: &mut [u8], scratch: &mut Scratch) -> bool {
        let bad = self.convert(input, output, scratch);
        let excused = self.patch.as_ref().map_or(0, |patch| patch.run(input, output));
        bad == excused
    }

    /// The steps without the scalar map: how many elements of a block have no image, as far as they know.
    pub(super) fn convert(&self, input: &[u8], output: &mut [u8], [first, second]: &mut Scratch) -> u64 {
        match self.steps.as_slice() {
            [] => {
                output.copy_from_slice(input);
                0
            }
            [(only, _)] => only.run(input, output),
            [(one, size), (last, last_size)] => {
                let wide = &mut first[..output.len() / last_size * size];
                one.run(input, wide);
                last.run(wide, output)
            }
            [(one, size), (two, wider_size), (last, last_size), ..] => {
                let count = output.len() / last_size;
                let (wide, wider) = (&mut first[..count * size], &mut second[..count * wider_size]);
                one.run(input, wide);
                two.run(wide, wider);
                last.run(wider, output)
            }
        }
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
        (source, target) if source == target => Some(Vec::new()),
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
