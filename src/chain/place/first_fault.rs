//! The first of several elements of a box that elementwise steps cannot convert.
//!
//! Elements are converted tile by tile, in the order of the step that decoded them. The fault that this meets first need
//! not be that of the first element in the array that enters the codec, nor that of the last step that has one. So after
//! a fault the box is converted again, step by step, in the order of that array.

use super::element_steps::{ElementSteps, PutDecoded, PutFault, StepNumber, TILE_SIZE};
use super::{BoxPlace, PlacePart};
use crate::chain::boxes::region::{Region, Tiles};
use crate::chain::plan::Step;
use crate::chain::workspace::Workspace;
use crate::error::{Error, Result};
use crate::representation::{index_of, position_of};
use crate::strided::Source;

/// For the number of a plan, that of a codec of its chain, and the number of an element in a box: the index of the
/// element in the array that enters the codec.
pub(super) type ElementOf<'a> = &'a dyn Fn(u32, usize, u64) -> u64;

/// The last step that is run, and where its elements are.
struct Search<'a> {
    number: StepNumber,
    step: &'a Step,
    element_of: ElementOf<'a>,
}

impl PutDecoded<'_> {
    /// The fault that counts if this one has been met.
    #[cold]
    #[inline(never)] // else each shard in a shard takes more of the stack
    pub(super) fn first_fault(
        &self,
        met: PutFault,
        elements: &[u8],
        place: &mut BoxPlace<'_>,
        through: &ElementSteps<'_>,
        workspace: &mut Workspace,
        element_of: ElementOf<'_>,
    ) -> PutFault {
        let Some(last) = met.step else { return met };
        for (number, step) in through.steps() {
            let search = Search { number, step, element_of };
            match self.first_of_step(&search, elements, place, through, workspace) {
                Ok(None) if number != last => {}
                Ok(Some(error)) => return PutFault { error, step: Some(number) },
                // There is no memory to look for another one, for example.
                Ok(None) | Err(_) => break,
            }
        }
        met
    }

    fn first_of_step(
        &self,
        search: &Search<'_>,
        elements: &[u8],
        place: &mut BoxPlace<'_>,
        through: &ElementSteps<'_>,
        workspace: &mut Workspace,
    ) -> Result<Option<Error>> {
        let mut first: Option<(u64, Error)> = None;
        place.for_each(&mut |part, target| {
            let source = part.source(elements, self.element_size)?;
            let tile_size = TILE_SIZE / self.element_size.max(target.element_size());
            let fault = self.first_of_part(search, (&source, tile_size), part, through, workspace)?;
            if let Some((element, error)) = fault
                && first.as_ref().is_none_or(|(known, _)| element < *known)
            {
                first = Some((element, error));
            }
            Ok(())
        })?;
        Ok(first.map(|(_, error)| error))
    }

    /// The error of the first element of a part, and the index of the element in the array that enters the codec.
    fn first_of_part(
        &self,
        search: &Search<'_>,
        (source, tile_size): (&Source<'_>, usize),
        part: &PlacePart,
        through: &ElementSteps<'_>,
        workspace: &mut Workspace,
    ) -> Result<Option<(u64, Error)>> {
        let order = search.order(part);
        let source = source.permuted(&order)?;
        let whole = Region::whole(source.shape());
        let (mut before, mut failed) = (0, None);
        for tile in Tiles::new(&whole, tile_size) {
            let elements = source.region(&tile.start, &tile.shape)?;
            let found = through.run(&elements, workspace, self.options, Some(search.number), &mut failed);
            if let Err(error) = found {
                let Some(index) = error.element_index() else { return Err(error) };
                let mut position = vec![0; order.len()];
                for (dimension, index) in order.iter().zip(position_of(before + index, source.shape())) {
                    position[*dimension] = index;
                }
                let number = part.number_of(index_of(&position, &part.region.shape));
                return Ok(Some((search.index_of(number), error.at_element(Some(number)))));
            }
            before += tile.element_count() as u64;
        }
        Ok(None)
    }
}

impl Search<'_> {
    /// The index of an element of the box in the array that enters the codecs of the step.
    fn index_of(&self, number: u64) -> u64 {
        (self.element_of)(self.number.0, self.step.last_codec.index, number)
    }

    /// The dimensions of a part as the array that enters the codecs has them.
    fn order(&self, part: &PlacePart) -> Vec<usize> {
        let shape = &part.region.shape;
        let first = self.index_of(part.number_of(0));
        let stride = |dimension: &usize| {
            let next: u64 = shape[dimension + 1..].iter().product();
            if shape[*dimension] > 1 { self.index_of(part.number_of(next)).wrapping_sub(first) } else { 0 }
        };
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.sort_by_cached_key(|dimension| std::cmp::Reverse(stride(dimension)));
        order
    }
}
