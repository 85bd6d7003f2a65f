//! Decodes a box of a chunk from its blocks alone, if every block takes the same number of bits.
//!
//! Blocks that are neighbours along x are neighbours in the stream. Each row of them is one range of it.

use super::Field;
use super::decode::{Target, parameters_of, read_blocks, readable_words};
use super::element::Element;
use super::grid::SIDE;
use super::mode::{Parameters, WORD_BITS};
use crate::error::{Error, Result};
use crate::interface::BoxCells;
use std::borrow::Cow;
use std::ops::Range;
use zfp_rs::ZfpDimensionality;

/// A box by its range along each axis, x first. Axes that the field does not have are `0..1`.
type Box4 = [Range<usize>; 4];

/// The parts of a box that decode by themselves from a stream of this size: rows of blocks, or whole planes and more of
/// them where those lie back to back in the stream. `None` if its blocks have no fixed size.
///
/// # Errors
/// No stream of this field has this size, or the box is not inside the field.
pub(super) fn parts<E: Element>(
    field: &Field<E>,
    encoded_size: usize,
    (start, shape): (&[u64], &[u64]),
) -> Result<Option<BoxCells>> {
    if !field.parameters.has_fixed_size() {
        return Ok(None);
    }
    let work = BoxWork::new(field, encoded_size, (start, shape))?;
    let blocks = work.blocks();
    // Along the axes before this one the blocks are all that there are, so that they go on in the stream.
    let counts = field.grid.block_counts();
    let cut = (0..3).find(|axis| blocks[*axis] != (0..counts[*axis])).unwrap_or(3);
    let count = blocks[..=cut].iter().map(Range::len).product::<usize>();
    let mut outer = blocks.clone();
    outer[..=cut].iter_mut().for_each(|range| range.end = range.start + 1);
    let [x, y, z, w] = outer;
    let mut ranges = Vec::new();
    for w in w {
        for z in z.clone() {
            for y in y.clone() {
                for x in x.clone() {
                    let first = field.grid.block_index([x, y, z, w]);
                    ranges.push(work.place_in_stream(first..first + count).0);
                }
            }
        }
    }
    let cell = (0..shape.len()).rev().map(|axis| if axis <= cut { u64::MAX } else { SIDE as u64 }).collect();
    Ok(Some(BoxCells { cell, ranges }))
}

/// Decodes the box that begins at `start` and has this `shape`, both in the order of the chunk's shape, into `decoded`:
/// its elements in C order, back to back. `read` returns a range of the stream, whose size is `encoded_size`.
///
/// # Errors
/// The blocks of this mode have no fixed size, the box is not inside the field, `decoded` does not have
/// its size, the stream is too short or too long, or the error of `read`.
pub(super) fn decode_box<'s, E: Element>(
    field: &Field<E>,
    encoded_size: usize,
    (start, shape): (&[u64], &[u64]),
    decoded: &mut [u8],
    read: &mut dyn FnMut(Range<usize>) -> Result<Cow<'s, [u8]>>,
) -> Result<()> {
    let work = BoxWork::new(field, encoded_size, (start, shape))?;
    let value_count: usize = work.region.iter().map(Range::len).product();
    let cells = bytemuck::try_cast_slice_mut(decoded)
        .ok()
        .filter(|cells: &&mut [E::Memory]| cells.len() == value_count)
        .ok_or_else(|| Error::argument(format!("the box has {value_count} elements, but another size was given")))?;
    match field.grid.dimensionality() {
        _ if cells.is_empty() => Ok(()),
        ZfpDimensionality::D1 => work.decode::<4>(cells, read),
        ZfpDimensionality::D2 => work.decode::<16>(cells, read),
        ZfpDimensionality::D3 => work.decode::<64>(cells, read),
        ZfpDimensionality::D4 => work.decode::<256>(cells, read),
    }
}

/// The box by its axes. `None` if it does not have the field's dimensions, or is not inside it.
fn inside<E>(field: &Field<E>, start: &[u64], shape: &[u64]) -> Option<Box4> {
    let dimension_count = usize::from(field.grid.dimensionality());
    let is_scalar = start.is_empty() && field.grid.value_count() == 1;
    if start.len() != shape.len() || (start.len() != dimension_count && !is_scalar) {
        return None;
    }
    let mut region = [const { 0..1 }; 4];
    for ((range, size), (start, extent)) in region.iter_mut().zip(field.grid.sizes()).zip(start.iter().zip(shape).rev())
    {
        let start = usize::try_from(*start).ok()?;
        let end = start.checked_add(usize::try_from(*extent).ok()?)?;
        *range = (end <= size).then_some(start..end)?;
    }
    Some(region)
}

/// The state that all rows of a box share.
struct BoxWork<'a, E> {
    field: &'a Field<E>,
    parameters: &'a Parameters,
    encoded_size: usize,
    region: Box4,
}

impl<'a, E: Element> BoxWork<'a, E> {
    fn new(field: &'a Field<E>, encoded_size: usize, (start, shape): (&[u64], &[u64])) -> Result<Self> {
        let parameters = parameters_of(field, encoded_size)?;
        if !parameters.has_fixed_size() {
            return Err(Error::unsupported(format!("the blocks of mode {} have no fixed size", parameters.mode)));
        }
        let needed = parameters.encoded_bound(field.grid.block_count())?;
        if encoded_size.div_ceil(8) * 8 < needed {
            return Err(Error::corrupt(format!("the stream has {encoded_size} bytes, but its blocks take {needed}")));
        }
        let sizes = field.grid.sizes();
        let region = inside(field, start, shape)
            .ok_or_else(|| Error::argument(format!("a box of shape {shape:?} at {start:?} is not inside {sizes:?}")))?;
        Ok(Self { field, parameters, encoded_size, region })
    }

    /// The blocks that the box touches, along each axis.
    fn blocks(&self) -> Box4 {
        self.region.clone().map(|range| range.start / SIDE..range.end.div_ceil(SIDE))
    }

    fn decode<'s, const N: usize>(
        &self,
        cells: &mut [E::Memory],
        read: &mut dyn FnMut(Range<usize>) -> Result<Cow<'s, [u8]>>,
    ) -> Result<()> {
        let [x, y, z, w] = self.blocks();
        let mut scratch = Vec::new();
        for w in w {
            for z in z.clone() {
                for y in y.clone() {
                    let row = x.clone().map(|x| [x, y, z, w]);
                    let first = self.field.grid.block_index([x.start, y, z, w]);
                    let (bytes, start) = self.place_in_stream(first..first + x.len());
                    let encoded = read(bytes.clone())?;
                    if encoded.len() != bytes.len() {
                        return Err(Error::corrupt(format!(
                            "{} bytes of the stream were read at {bytes:?}",
                            encoded.len()
                        )));
                    }
                    let words = readable_words(self.field.backend, self.parameters, &encoded, &mut scratch)?;
                    let part = BoxPart { element: &self.field.element, region: &self.region, cells };
                    read_blocks::<_, E::Scalar, N>(self.field.backend, self.parameters, words, start, row, part)?;
                }
            }
        }
        Ok(())
    }

    /// The bytes of the stream that hold these blocks, whole words as far as there are any, and the bit of them where
    /// the blocks begin.
    fn place_in_stream(&self, blocks: Range<usize>) -> (Range<usize>, u64) {
        let bit = |block: usize| block as u64 * u64::from(self.parameters.block_bits);
        let (start, end) = (bit(blocks.start), bit(blocks.end));
        let first_word = start / WORD_BITS;
        let bytes = 8 * first_word as usize..8 * end.div_ceil(WORD_BITS) as usize;
        // The last word of a stream may be cut short.
        (bytes.start..bytes.end.min(self.encoded_size), start - first_word * WORD_BITS)
    }
}

/// The elements of a box.
struct BoxPart<'a, E: Element> {
    element: &'a E,
    region: &'a Box4,
    cells: &'a mut [E::Memory],
}

impl<E: Element, const N: usize> Target<[usize; 4], E::Scalar, N> for BoxPart<'_, E> {
    /// Keeps those values of the block at this position that lie in the box.
    fn put(&mut self, position: [usize; 4], values: &[E::Scalar; N]) {
        // Along each axis, the part of the block that lies in the box, and where that begins in the box.
        let parts: [(Range<usize>, usize); 4] = std::array::from_fn(|axis| {
            let (block_start, range) = (SIDE * position[axis], &self.region[axis]);
            let (start, end) = (range.start.max(block_start), range.end.min(block_start + SIDE));
            (start - block_start..end - block_start, start - range.start)
        });
        let [(x, x_place), (y, y_place), (z, z_place), (w, w_place)] = parts;
        let [x_size, y_size, z_size, _] = self.region.clone().map(|range| range.len());
        for (w_index, w) in w.enumerate() {
            for (z_index, z) in z.clone().enumerate() {
                for (y_index, y) in y.clone().enumerate() {
                    let row = ((w_place + w_index) * z_size + z_place + z_index) * y_size + y_place + y_index;
                    let cells = &mut self.cells[row * x_size + x_place..][..x.len()];
                    let values = &values[SIDE * (y + SIDE * (z + SIDE * w))..][x.clone()];
                    for (cell, value) in cells.iter_mut().zip(values) {
                        *cell = self.element.demote(*value);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::zfp::backend::Backend;
    use crate::codec::zfp::element::{Native, Promoted};
    use crate::codec::zfp::grid::Grid;
    use crate::codec::zfp::mode::Mode;
    use crate::data_type::DataType;
    use crate::error::Status;
    use crate::interface::{Call, CallOptions, Contexts, Transform};
    use crate::json::Configuration;
    use serde_json::{Value, json};
    use zfp_rs::ZfpScalar;

    const SHAPES: [&[u64]; 6] = [&[], &[1], &[37], &[9, 22], &[7, 10, 13], &[5, 3, 6, 9]];

    fn field_of<E: Element>(element: E, backend: Backend, shape: &[u64], mode: &Value) -> Field<E> {
        let grid = Grid::new(shape).unwrap();
        let mode = Mode::parse(Configuration::new(mode.as_object().cloned())).unwrap();
        let (scalar_type, dimensionality) = (E::Scalar::SCALAR_TYPE, grid.dimensionality());
        let parameters = mode.parameters(scalar_type, dimensionality).unwrap();
        let foreign = mode.foreign_parameters(scalar_type, dimensionality);
        let data_type = DataType::from_name("float32").unwrap();
        let (header, backend) = (None, backend.for_blocks_of(dimensionality));
        Field { element, data_type, backend, grid, header, parameters, foreign }
    }

    fn at_rate<E: Element>(element: E, backend: Backend, shape: &[u64], rate: f64) -> Field<E> {
        field_of(element, backend, shape, &json!({"mode": "fixed_rate", "rate": rate}))
    }

    fn backends() -> Vec<Backend> {
        let mut backends = vec![Backend::ZfpRs, Backend::chosen()];
        #[cfg(feature = "zfp-sys")]
        backends.push(Backend::CLibrary);
        backends.dedup();
        backends
    }

    fn with_call<T>(work: impl FnOnce(&mut Call<'_>) -> Result<T>) -> Result<T> {
        work(&mut Call { options: &CallOptions::default(), hooks: None, contexts: &mut Contexts::default() })
    }

    fn encode<E: Element>(field: &Field<E>, decoded: &[u8]) -> Vec<u8> {
        let mut encoded = vec![0; field.encoded_bound(decoded.len() as u64).unwrap() as usize];
        let size = with_call(|call| field.encode(decoded, &mut encoded, call)).unwrap();
        encoded.truncate(size);
        encoded
    }

    /// Every box of some sizes at some places, against the whole chunk.
    fn check<E: Element>(field: &Field<E>, shape: &[u64], encoded: &[u8]) {
        let size = size_of::<E::Memory>();
        let mut whole = vec![0; field.grid.value_count() * size];
        with_call(|call| field.decode(encoded, &mut whole, call)).unwrap();
        for seed in 0..60 {
            let start: Vec<u64> = (0..).zip(shape).map(|(axis, size)| (seed * 7 + axis * 5) % size).collect();
            let extents = (0..).zip(shape).zip(&start);
            let extents: Vec<u64> =
                extents.map(|((axis, size), start)| (1 + (seed * 3 + axis) % 6).min(size - start)).collect();
            let mut part = vec![0xA5; extents.iter().product::<u64>() as usize * size];
            let mut read_size = 0;
            decode_box(field, encoded.len(), (&start, &extents), &mut part, &mut |bytes| {
                read_size += bytes.len();
                Ok(if seed % 2 == 0 { Cow::Borrowed(&encoded[bytes]) } else { Cow::Owned(encoded[bytes].to_vec()) })
            })
            .unwrap();
            let place = format!("{extents:?} at {start:?} of {shape:?}, {:?}, {:?}", field.backend, field.parameters);
            assert_eq!(part, cut(&whole, shape, &start, &extents, size), "{place}");
            let block_counts =
                start.iter().zip(&extents).map(|(start, extent)| (start + extent).div_ceil(4) - start / 4);
            let block_count = block_counts.product::<u64>() as usize;
            let block_bits = parameters_of(field, encoded.len()).unwrap().block_bits as usize;
            // A row of blocks begins and ends within a word.
            let most = (block_count * block_bits).div_ceil(8) + 16 * block_count;
            assert!(read_size <= most, "{place}: {read_size} bytes read, {most} would do");
        }
    }

    /// The box of an array, element by element.
    fn cut(whole: &[u8], shape: &[u64], start: &[u64], extents: &[u64], size: usize) -> Vec<u8> {
        let count = extents.iter().product::<u64>();
        (0..count)
            .flat_map(|mut rest| {
                let (mut index, mut stride) = (0, 1);
                for axis in (0..shape.len()).rev() {
                    index += (start[axis] + rest % extents[axis]) * stride;
                    rest /= extents[axis];
                    stride *= shape[axis];
                }
                &whole[index as usize * size..][..size]
            })
            .copied()
            .collect()
    }

    #[test]
    fn every_box_equals_that_part_of_the_chunk() {
        for shape in SHAPES {
            let count = shape.iter().product::<u64>() as usize;
            let floats: Vec<f32> = (0..count).map(|i| (i as f32 * 0.1).sin() * 50.0).collect();
            let bytes: Vec<u8> = (0..count).map(|i| (i * 3 % 251) as u8).collect();
            for backend in backends() {
                for rate in [3.25, 9.0, 40.0] {
                    let field = at_rate(Native::<f32>::new(), backend, shape, rate);
                    check(&field, shape, &encode(&field, bytemuck::cast_slice(&floats)));
                    let field = at_rate(Promoted::<[u8; 1]>::new(8, false), backend, shape, rate);
                    check(&field, shape, &encode(&field, &bytes));
                }
            }
        }
    }

    #[test]
    fn boxes_come_from_streams_whose_rate_was_computed_for_three_dimensions() {
        for shape in [&[37_u64][..], &[9, 22], &[5, 3, 6, 9]] {
            let count = shape.iter().product::<u64>() as usize;
            let floats: Vec<f32> = (0..count).map(|i| (i as f32 * 0.1).sin() * 50.0).collect();
            for backend in backends() {
                let field = at_rate(Native::<f32>::new(), backend, shape, 8.0);
                let mut writer = at_rate(Native::<f32>::new(), backend, shape, 8.0);
                writer.parameters = writer.foreign.take().unwrap();
                let encoded = encode(&writer, bytemuck::cast_slice(&floats));
                assert_ne!(Some(encoded.len() as u64), field.encoded_bound(0), "{shape:?}");
                check(&field, shape, &encoded);
            }
        }
    }

    #[test]
    fn the_parts_of_a_box_lie_back_to_back_in_the_stream() {
        let parts = |shape: &[u64], start: &[u64], extents: &[u64]| {
            let field = at_rate(Native::<f32>::new(), Backend::chosen(), shape, 8.0);
            let size = field.encoded_bound(0).unwrap() as usize;
            let BoxCells { cell, ranges } = super::parts(&field, size, (start, extents)).unwrap().unwrap();
            (cell, ranges.iter().map(|range| [range.start, range.end]).collect::<Vec<_>>())
        };
        // A block of three dimensions has 64 bytes: 5 blocks along x, 3 along y, 2 along z.
        let shape = [8, 12, 20];
        let all = u64::MAX;
        for (start, extents, cell, ranges) in [
            ([0, 0, 0], [8, 12, 20], [all, all, all], vec![[0, 1920]]),
            ([3, 1, 2], [2, 11, 17], [all, all, all], vec![[0, 1920]]),
            ([5, 4, 0], [1, 5, 20], [4, all, all], vec![[1280, 1920]]),
            ([0, 5, 6], [8, 5, 3], [4, 4, all], vec![[384, 512], [704, 832], [1344, 1472], [1664, 1792]]),
        ] {
            assert_eq!(parts(&shape, &start, &extents), (cell.to_vec(), ranges), "{start:?} {extents:?}");
        }
        assert_eq!(parts(&[], &[], &[]), (vec![], vec![[0, 8]]));
        // A block of one dimension has half a word.
        assert_eq!(parts(&[40], &[4], &[4]), (vec![all], vec![[0, 8]]));
    }

    #[test]
    fn boxes_of_a_stream_whose_last_word_is_cut_short_are_those_of_the_chunk() {
        let floats: Vec<f32> = (0..99).map(|i| (i as f32 * 0.1).sin()).collect();
        let field = at_rate(Native::<f32>::new(), Backend::chosen(), &[3, 3, 11], 3.25);
        let mut encoded = encode(&field, bytemuck::cast_slice(&floats));
        encoded.pop();
        check(&field, &[3, 3, 11], &encoded);
    }

    #[test]
    fn what_is_no_box_of_the_stream_is_refused() {
        let field = at_rate(Native::<f32>::new(), Backend::chosen(), &[8, 8], 8.0);
        let encoded_size = field.encoded_bound(0).unwrap() as usize;
        let status = |encoded_size: usize, start: &[u64], shape: &[u64], count: usize, missing: usize| {
            let mut decoded = vec![0; 4 * count];
            let mut read = |bytes: Range<usize>| Ok(Cow::Owned(vec![0; bytes.len() - missing]));
            decode_box(&field, encoded_size, (start, shape), &mut decoded, &mut read).map_err(|error| error.status())
        };
        assert_eq!(status(encoded_size, &[0, 5], &[8, 3], 24, 0), Ok(()));
        assert_eq!(status(encoded_size, &[0, 8], &[8, 0], 0, 0), Ok(()));
        let argument = Err(Status::InvalidArgument);
        assert_eq!(status(encoded_size, &[0, 5], &[8, 4], 32, 0), argument);
        assert_eq!(status(encoded_size, &[0, 5], &[8, 3], 23, 0), argument);
        assert_eq!(status(encoded_size, &[0, u64::MAX], &[8, 3], 24, 0), argument);
        assert_eq!(status(encoded_size, &[5], &[3], 3, 0), argument);
        assert_eq!(status(encoded_size, &[], &[], 1, 0), argument);
        for (encoded_size, missing) in [(encoded_size - 8, 0), (encoded_size + 8, 0), (encoded_size, 1)] {
            assert_eq!(status(encoded_size, &[0, 5], &[8, 3], 24, missing), Err(Status::CorruptData));
        }
    }

    #[test]
    fn only_blocks_of_a_fixed_size_have_boxes() {
        for (mode, expected) in [
            (json!({"mode": "fixed_rate", "rate": 8}), true),
            (json!({"mode": "expert", "minbits": 99, "maxbits": 99, "maxprec": 64, "minexp": -1080}), true),
            (json!({"mode": "reversible"}), false),
        ] {
            let field = field_of(Native::<f32>::new(), Backend::chosen(), &[8, 8], &mode);
            let encoded_size = field.encoded_bound(0).unwrap() as usize;
            assert_eq!(field.granularity().is_some(), expected, "{mode}");
            assert_eq!(parts(&field, encoded_size, (&[0, 0], &[1, 1])).unwrap().is_some(), expected, "{mode}");
            let mut read = |bytes: Range<usize>| Ok(Cow::Owned(vec![0; bytes.len()]));
            let result = decode_box(
                &field,
                field.encoded_bound(0).unwrap() as usize,
                (&[0, 0], &[1, 1]),
                &mut [0; 4],
                &mut read,
            );
            assert_eq!(
                result.map_err(|error| error.status()),
                if expected { Ok(()) } else { Err(Status::Unsupported) }
            );
        }
    }
}
