//! The elementwise steps that the elements of a box go through after the step that decoded them.

use super::BoxPlace;
use super::first_fault::ElementOf;
use crate::chain::boxes::region::{Region, Tiles};
use crate::chain::plan::{Operation, Plan, Step};
use crate::chain::workspace::{Pool, Workspace};
use crate::error::{Error, Result};
use crate::interface::{Call, CallOptions};
use crate::memory::grow;
use crate::representation::element_count;
use crate::strided::{self, Source, Target};

/// Elements go through the steps, and then to their place, in parts of at most this many bytes. They fit a second-level
/// cache.
pub(in crate::chain) const TILE_SIZE: usize = 128 << 10;

/// The elementwise steps of some chains: of the chain that decoded the elements, and of those whose inner chunk it was.
#[derive(Debug, Default)]
pub(in crate::chain) struct ElementSteps<'a> {
    /// Innermost first. All that a box of such a plan goes through is elementwise up to the end of its route.
    pub(super) plans: Vec<&'a Plan>,
}

/// The number of a plan among those of [`ElementSteps`], and of one of its steps.
pub(super) type StepNumber = (u32, u32);

/// A box that is decoded, then sent to its place.
#[derive(Debug, Clone, Copy)]
pub(in crate::chain) struct PutDecoded<'a> {
    pub(in crate::chain) region: &'a Region,
    /// The size of an element before the steps.
    pub(in crate::chain) element_size: usize,
    pub(in crate::chain) pool: &'a Pool,
    pub(in crate::chain) options: &'a CallOptions,
}

/// Why elements did not get to their place.
#[derive(Debug)]
pub(in crate::chain) struct PutFault {
    pub(in crate::chain) error: Error,
    /// The step that could not convert an element, if that is why. The error then has the number of the element in the
    /// box.
    pub(in crate::chain) step: Option<StepNumber>,
}

impl From<Error> for PutFault {
    fn from(error: Error) -> Self {
        Self { error, step: None }
    }
}

impl<'a> ElementSteps<'a> {
    pub(in crate::chain) fn new(plans: Vec<&'a Plan>) -> Self {
        Self { plans }
    }

    /// Whether elements get to their place unchanged.
    pub(in crate::chain) fn keeps_values(&self) -> bool {
        self.plans.iter().all(|plan| plan.route.as_deref().is_some_and(|route| route.keeps_values()))
    }

    /// Sends the elements of a box, back to back in C order, to their place.
    pub(in crate::chain) fn put(
        &self,
        elements: &[u8],
        element_size: usize,
        place: &mut BoxPlace<'_>,
        workspace: &mut Workspace,
        options: &CallOptions,
    ) -> std::result::Result<(), PutFault> {
        let mut failed = None;
        let result = place.for_each(&mut |part, target| {
            let source = part.source(elements, element_size)?;
            if self.keeps_values() {
                return strided::copy(&source, target);
            }
            let whole = Region::whole(target.shape());
            let mut first = 0;
            for tile in Tiles::new(&whole, TILE_SIZE / element_size.max(target.element_size())) {
                let source = source.region(&tile.start, &tile.shape)?;
                let found = self.run(&source, workspace, options, None, &mut failed);
                let found = found.map_err(|error| {
                    let number = error.element_index().map(|index| part.number_of(first + index));
                    error.at_element(number)
                })?;
                let source = Source::contiguous(found, target.element_size(), &tile.shape)?;
                strided::copy(&source, &mut target.region(&tile.start, &tile.shape)?)?;
                first += tile.element_count() as u64;
            }
            Ok(())
        });
        result.map_err(|error| PutFault { error, step: failed })
    }

    /// Sends one element everywhere.
    pub(in crate::chain) fn fill(
        &self,
        element: &[u8],
        place: &mut BoxPlace<'_>,
        workspace: &mut Workspace,
        options: &CallOptions,
    ) -> std::result::Result<(), PutFault> {
        let mut failed = None;
        let source = Source::contiguous(element, element.len(), &[])?;
        let result = self
            .run(&source, workspace, options, None, &mut failed)
            .and_then(|element| place.for_each(&mut |_, target| strided::fill(target, element)));
        result.map_err(|error| PutFault { error, step: failed })
    }

    /// Sends elements through the steps, up to the last one.
    pub(in crate::chain) fn run<'b>(
        &self,
        elements: &Source<'b>,
        workspace: &'b mut Workspace,
        options: &CallOptions,
        last: Option<StepNumber>,
        failed: &mut Option<StepNumber>,
    ) -> Result<&'b [u8]> {
        let Workspace { back, gathered, contexts, .. } = workspace;
        let (mut from, mut to) = (back, gathered);
        let count = element_count(elements.shape()) as usize;
        let mut size = count * elements.element_size();
        let mut given = elements.as_slice();
        if given.is_none() {
            grow(from, size)?;
            strided::copy(elements, &mut Target::contiguous(from, elements.element_size(), elements.shape())?)?;
        }
        for (number, step) in self.steps() {
            let Operation::Elements(elementwise) = &step.operation else { continue };
            let decoded_size = count * elementwise.fused.element_size();
            grow(to, decoded_size)?;
            let call = &mut Call { options, hooks: None, contexts: &mut *contexts };
            let input = given.take().unwrap_or_else(|| &from[..size]);
            let done = elementwise.fused.decode(input, &mut to[..decoded_size], call);
            done.inspect_err(|_| *failed = Some(number))?;
            std::mem::swap(&mut from, &mut to);
            size = decoded_size;
            if last == Some(number) {
                break;
            }
        }
        Ok(given.unwrap_or_else(|| &from[..size]))
    }

    /// The steps that change elements, in the order of decoding.
    pub(in crate::chain) fn steps(&self) -> impl Iterator<Item = (StepNumber, &'a Step)> {
        (0..).zip(&self.plans).flat_map(|(number, plan)| {
            let end = plan.route.as_deref().map_or(0, |route| route.end);
            let steps = plan.steps[..end].iter().zip(0..end as u32).rev();
            steps.filter(|(step, _)| changes_elements(step)).map(move |(step, index)| ((number, index), step))
        })
    }
}

fn changes_elements(step: &Step) -> bool {
    matches!(&step.operation, Operation::Elements(elements) if !elements.keeps_values())
}

impl PutDecoded<'_> {
    /// Decodes the box to its place: at once, if no step changes its elements, or into scratch memory. `decode` writes
    /// to any strides, or else only back to back. A fault of a step is the first that the box has.
    pub(in crate::chain) fn run(
        &self,
        is_strided: bool,
        place: &mut BoxPlace<'_>,
        through: &ElementSteps<'_>,
        element_of: ElementOf<'_>,
        decode: impl FnOnce(&mut Target<'_>) -> Result<()>,
    ) -> std::result::Result<(), PutFault> {
        if let BoxPlace::Memory(target) = place
            && through.keeps_values()
            && (is_strided || target.is_contiguous())
        {
            return decode(target).map_err(PutFault::from);
        }
        self.pool.with(|workspace| {
            let mut decoded = std::mem::take(&mut workspace.front);
            let result = self.decode(&mut decoded, decode).map_err(PutFault::from).and_then(|elements| {
                let result = through.put(elements, self.element_size, place, workspace, self.options);
                result.map_err(|fault| self.first_fault(fault, elements, place, through, workspace, element_of))
            });
            workspace.front = decoded;
            result
        })
    }

    fn decode<'b>(
        &self,
        scratch: &'b mut Vec<u8>,
        decode: impl FnOnce(&mut Target<'_>) -> Result<()>,
    ) -> Result<&'b [u8]> {
        let size = self.region.byte_size(self.element_size)?;
        grow(scratch, size)?;
        decode(&mut Target::contiguous(&mut scratch[..size], self.element_size, &self.region.shape)?)?;
        Ok(&scratch[..size])
    }
}
