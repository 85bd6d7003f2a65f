//! The input of a chain on encode: a box of the chunk, wherever its elements lie; the rest of the chunk is the fill
//! value.

use super::boxes::region::byte_size;
use super::copy::copy_strided;
use super::plan::Elements;
use crate::data_type::{Component, DataType};
use crate::error::{Error, Result};
use crate::interface::CallOptions;
use crate::representation::ArrayRepresentation;
use crate::strided::{self, Layout, Source, Target};

/// The input of a step on encode.
#[derive(Debug, Clone)]
pub(super) enum Decoded<'a> {
    /// Bytes, or all elements back to back in C order.
    Slice(&'a [u8]),
    /// Elements that lie anywhere.
    Input(Input<'a>),
    /// The same for a shard or a transform whose inner chunks or slabs go through an elementwise pass, each by itself.
    /// The dimensions have the order that the kernels get.
    BeforePass(Input<'a>, &'a Elements),
}

/// Only a shard or a transform runs the pass.
#[cold]
pub(super) fn not_by_parts() -> Error {
    Error::internal("a step that encodes no parts gets elements before a pass")
}

/// A chunk of which the caller has a box.
#[derive(Debug, Clone)]
pub(super) struct Input<'a> {
    /// The shape of the chunk.
    shape: Vec<u64>,
    /// Where the box begins.
    start: Vec<u64>,
    /// The box.
    source: Source<'a>,
    /// The value of every element outside the box.
    fill_value: Option<&'a [u8]>,
}

impl<'a> Input<'a> {
    /// A box of a chunk of this shape. The elements outside the box are `fill_value`, which may be `None` only if there
    /// are none.
    pub(super) fn new(shape: &[u64], start: &[u64], source: Source<'a>, fill_value: Option<&'a [u8]>) -> Self {
        Self { shape: shape.to_vec(), start: start.to_vec(), source, fill_value }
    }

    /// All elements of a chunk of this shape.
    pub(super) fn whole(source: Source<'a>) -> Self {
        let shape = source.shape().to_vec();
        Self { start: vec![0; shape.len()], shape, source, fill_value: None }
    }

    /// The shape of the chunk.
    pub(super) fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The size of an element in bytes.
    pub(super) fn element_size(&self) -> usize {
        self.source.element_size()
    }

    /// Whether the caller has all elements.
    fn is_whole(&self) -> bool {
        self.source.shape() == self.shape
    }

    /// All elements, if they lie back to back in C order.
    pub(super) fn as_slice(&self) -> Option<&'a [u8]> {
        if self.is_whole() { self.source.as_slice() } else { None }
    }

    /// The same chunk with its dimensions in another order.
    pub(super) fn permuted(&self, order: &[usize]) -> Result<Self> {
        let in_order = |numbers: &[u64]| order.iter().map(|dimension| numbers[*dimension]).collect();
        Ok(Self {
            shape: in_order(&self.shape),
            start: in_order(&self.start),
            source: self.source.permuted(order)?,
            fill_value: self.fill_value,
        })
    }

    /// The same chunk with other dimensions, see [`Layout::arranged`](crate::strided::Layout::arranged). `None` if the
    /// caller has no elements, so that the box may lack those that stay.
    pub(super) fn arranged(&self, axes: &[Option<usize>]) -> Result<Option<Self>> {
        if self.source.layout().is_empty() {
            return Ok(None);
        }
        let of = |numbers: &[u64], new: u64| axes.iter().map(|axis| axis.map_or(new, |axis| numbers[axis])).collect();
        let (shape, start) = (of(&self.shape, 1), of(&self.start, 0));
        Ok(Some(Self { shape, start, source: self.source.arranged(axes)?, fill_value: self.fill_value }))
    }

    /// A box of the chunk, as a chunk of its own.
    pub(super) fn region(&self, start: &[u64], shape: &[u64]) -> Result<Self> {
        let dimensions = start.iter().zip(shape).zip(self.start.iter().zip(self.source.shape()));
        let common = dimensions.map(|((start, size), (box_start, box_size))| {
            let first = (*start).max(*box_start);
            let end = (start + size).min(box_start + box_size).max(first);
            (first, end - first)
        });
        let (mut first, common_shape): (Vec<u64>, Vec<u64>) = common.unzip();
        if common_shape.contains(&0) {
            // They do not overlap: the result is an empty part of the box.
            first.clone_from(&self.start);
        }
        let in_box: Vec<u64> = first.iter().zip(&self.start).map(|(first, start)| first - start).collect();
        let in_region = first.iter().zip(start).map(|(first, start)| first.saturating_sub(*start)).collect();
        Ok(Self {
            shape: shape.to_vec(),
            start: in_region,
            source: self.source.region(&in_box, &common_shape)?,
            fill_value: self.fill_value,
        })
    }

    /// Where all elements lie, if the caller has them.
    pub(super) fn whole_source(&self) -> Option<&Source<'a>> {
        self.is_whole().then_some(&self.source)
    }

    /// Where the elements that the caller has lie.
    pub(super) fn layout(&self) -> &Layout {
        self.source.layout()
    }

    /// Requests the cache lines of the elements that the caller has.
    pub(super) fn prefetch(&self) {
        self.source.prefetch();
    }

    /// Copies all elements to their places.
    pub(super) fn copy_to(&self, target: &mut Target<'_>, options: &CallOptions) -> Result<()> {
        if !self.is_whole() {
            strided::fill(target, self.fill_value()?)?;
        }
        if self.source.shape().contains(&0) {
            return Ok(());
        }
        copy_strided(&self.source, &mut target.region(&self.start, self.source.shape())?, options)
    }

    /// All elements back to back in C order: where they are, or copied to the beginning of `scratch`.
    pub(super) fn to_slice<'b>(&self, scratch: &'b mut Vec<u8>, options: &CallOptions) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        if let Some(slice) = self.as_slice() {
            return Ok(slice);
        }
        let size = byte_size(&self.shape, self.source.element_size())?;
        crate::memory::grow(scratch, size)?;
        let scratch = &mut scratch[..size];
        self.copy_to(&mut Target::contiguous(scratch, self.source.element_size(), &self.shape)?, options)?;
        Ok(scratch)
    }

    /// Whether every element is the fill value of this array, if it has one. See [`all_are`].
    pub(super) fn is_fill(&self, array: &ArrayRepresentation) -> Result<bool> {
        let Some(fill_value) = array.fill_value() else { return Ok(false) };
        if !self.is_whole() && self.fill_value()? != &*fill_value.0 {
            return Ok(false);
        }
        all_are(&self.source, array.data_type(), &fill_value.0)
    }

    /// Whether the elements outside the box are known.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): there are some, but no fill value.
    pub(super) fn check_rest(&self) -> Result<()> {
        if self.is_whole() { Ok(()) } else { self.fill_value().map(drop) }
    }

    fn fill_value(&self) -> Result<&'a [u8]> {
        self.fill_value.ok_or_else(|| {
            Error::unsupported("the chain has no fill value for the elements outside the box")
                .with_code("no_fill_value")
        })
    }
}

/// Whether every element equals this one in all bits that the data type has: what lies above them in memory is not
/// looked at, and any byte but 0 is true.
pub(super) fn all_are(source: &Source<'_>, data_type: &DataType, element: &[u8]) -> Result<bool> {
    let (parts, is_equal) = (data_type.parts(), strided::all_equal(source, element)?);
    if is_equal || parts.iter().all(|part| part.component.bits() >= 8) {
        return Ok(is_equal);
    }
    let is_same = |other: &[u8]| {
        let (mut other, mut element) = (other, element);
        parts.iter().all(|part| {
            let pair = other.split_at_checked(part.size()).zip(element.split_at_checked(part.size()));
            pair.is_some_and(|((left, rest_of_other), (right, rest))| {
                (other, element) = (rest_of_other, rest);
                is_same_part(part.component, left, right)
            })
        })
    };
    Ok(source.rows().all(|row| row.chunks_exact(element.len()).all(is_same)))
}

fn is_same_part(component: Component, left: &[u8], right: &[u8]) -> bool {
    if component.bits() >= 8 {
        return left == right;
    }
    let mask = (1_u8 << component.bits()) - 1;
    let value = |byte: u8| if component == Component::Bool { u8::from(byte != 0) } else { byte & mask };
    left.iter().zip(right).all(|(left, right)| value(*left) == value(*right))
}
