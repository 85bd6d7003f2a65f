//! A box of a chunk from just its blocks, where every block takes the same number of bits.
//!
//! Blocks that are neighbours along x are neighbours in the stream, so each row of them is one read.

use super::Field;
use super::bits::words;
use super::element::Element;
use super::grid::{SIDE, dimensionality_of};
use super::mode::WORD_BITS;
use crate::error::{Error, Result};
use std::ops::Range;
use zfp_rs::codec::block::decode_block;
use zfp_rs::{ZfpBitStreamRef, ZfpDimensionality};

/// A box by its range along each axis, x first; axes that the field does not have are `0..1`.
type Box4 = [Range<usize>; 4];

/// Decodes a box. `read` is asked for ranges of the stream's bytes.
///
/// # Errors
/// Blocks of this mode have no fixed size, the box is not inside the field, `decoded` is not its size, or what `read`
/// says.
pub(super) fn decode_box<E: Element>(
    field: &Field<E>,
    region: &Box4,
    decoded: &mut [u8],
    read: &mut dyn FnMut(Range<usize>) -> Result<Vec<u8>>,
) -> Result<()> {
    if !field.parameters.has_fixed_size() {
        return Err(Error::unsupported(format!("mode {} has no fixed size of blocks", field.parameters.mode)));
    }
    let value_count: usize = region.iter().map(Range::len).product();
    let sizes = field.grid.sizes();
    let is_inside = (0..4).all(|axis| region[axis].end <= sizes[axis]);
    let cells: &mut [E::Memory] = bytemuck::try_cast_slice_mut(decoded)
        .ok()
        .filter(|cells: &&mut [E::Memory]| is_inside && cells.len() == value_count)
        .ok_or_else(|| Error::argument(format!("box {region:?} of {sizes:?} does not make the decoded size")))?;
    if cells.is_empty() {
        return Ok(());
    }
    match field.grid.dimensionality() {
        ZfpDimensionality::D1 => decode_rows::<E, 4>(field, region, cells, read),
        ZfpDimensionality::D2 => decode_rows::<E, 16>(field, region, cells, read),
        ZfpDimensionality::D3 => decode_rows::<E, 64>(field, region, cells, read),
        ZfpDimensionality::D4 => decode_rows::<E, 256>(field, region, cells, read),
    }
}

fn decode_rows<E: Element, const N: usize>(
    field: &Field<E>,
    region: &Box4,
    cells: &mut [E::Memory],
    read: &mut dyn FnMut(Range<usize>) -> Result<Vec<u8>>,
) -> Result<()> {
    let [x, y, z, w] = region.clone().map(|range| range.start / SIDE..range.end.div_ceil(SIDE));
    for w in w {
        for z in z.clone() {
            for y in y.clone() {
                let first = field.grid.block_index([x.start, y, z, w]);
                decode_row::<E, N>(field, region, first..first + x.len(), cells, read)?;
            }
        }
    }
    Ok(())
}

/// Decodes blocks that follow each other, and keeps what lies in the box.
fn decode_row<E: Element, const N: usize>(
    field: &Field<E>,
    region: &Box4,
    blocks: Range<usize>,
    cells: &mut [E::Memory],
    read: &mut dyn FnMut(Range<usize>) -> Result<Vec<u8>>,
) -> Result<()> {
    let parameters = &field.parameters;
    let start = blocks.start as u64 * u64::from(parameters.block_bits);
    let end = blocks.end as u64 * u64::from(parameters.block_bits);
    let first_word = start / WORD_BITS;
    let bytes = 8 * first_word as usize..8 * end.div_ceil(WORD_BITS) as usize;
    let encoded = read(bytes.clone())?;
    if encoded.len() != bytes.len() {
        return Err(Error::corrupt(format!("the stream has {} of the bytes {bytes:?}", encoded.len())));
    }
    let mut scratch = Vec::new();
    let mut stream = ZfpBitStreamRef::from_words(words(&encoded, &mut scratch)?);
    stream.seek_read(start - first_word * WORD_BITS);
    for index in blocks {
        let mut values = [E::Scalar::default(); N];
        decode_block(&mut stream, &parameters.config, &mut values, const { dimensionality_of::<N>() })
            .map_err(|error| Error::internal(format!("zfp block: {error}")))?;
        let position = field.grid.block_position(index);
        for (i, value) in values.iter().enumerate() {
            let at: [usize; 4] = std::array::from_fn(|axis| SIDE * position[axis] + (i >> (2 * axis) & 3));
            if (0..4).all(|axis| region[axis].contains(&at[axis])) {
                let offset =
                    (0..4).rev().fold(0, |offset, axis| offset * region[axis].len() + at[axis] - region[axis].start);
                cells[offset] = field.element.demote(*value);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::zfp::backend::Backend;
    use crate::codec::zfp::element::{Native, Promoted};
    use crate::codec::zfp::grid::Grid;
    use crate::codec::zfp::mode::Mode;
    use crate::data_type::DataType;
    use crate::interface::{Call, CallOptions, Contexts, Transform};
    use crate::json::Configuration;
    use serde_json::json;
    use zfp_rs::ZfpScalar;

    fn field<E: Element>(element: E, shape: &[u64], rate: f64) -> Field<E> {
        let grid = Grid::new(shape).unwrap();
        let mode = json!({"mode": "fixed_rate", "rate": rate});
        let mode = Mode::parse(Configuration::new(mode.as_object().cloned())).unwrap();
        let parameters = mode.parameters(E::Scalar::SCALAR_TYPE, grid.dimensionality()).unwrap();
        let data_type = DataType::from_name("float32").unwrap();
        Field { element, data_type, grid, parameters, foreign: None, backend: Backend::ZfpRs }
    }

    /// Every box of some sizes at some places, against the whole chunk.
    fn check<E: Element>(field: &Field<E>, decoded: &[u8]) {
        let size = size_of::<E::Memory>();
        let (options, mut contexts) = (CallOptions::default(), Contexts::default());
        let mut call = Call { options: &options, hook: None, contexts: &mut contexts };
        let mut encoded = vec![0; field.encoded_bound(decoded.len() as u64).unwrap() as usize];
        assert_eq!(field.encode(decoded, &mut encoded, &mut call).unwrap(), encoded.len());
        let mut whole = vec![0; decoded.len()];
        field.decode(&encoded, &mut whole, &mut call).unwrap();
        let sizes = field.grid.sizes();
        for seed in 0..60 {
            let region: Box4 = std::array::from_fn(|axis| {
                let start = (seed * 7 + axis * 5) % sizes[axis];
                start..(start + 1 + (seed * 3 + axis) % 6).min(sizes[axis])
            });
            let mut part = vec![0xA5; region.iter().map(Range::len).product::<usize>() * size];
            let mut read_size = 0;
            decode_box(field, &region, &mut part, &mut |bytes| {
                read_size += bytes.len();
                Ok(encoded[bytes].to_vec())
            })
            .unwrap();
            let mut expected = Vec::new();
            for w in region[3].clone() {
                for z in region[2].clone() {
                    for y in region[1].clone() {
                        let row = ((w * sizes[2] + z) * sizes[1] + y) * sizes[0];
                        expected
                            .extend_from_slice(&whole[(row + region[0].start) * size..(row + region[0].end) * size]);
                    }
                }
            }
            assert_eq!(part, expected, "{region:?} of {sizes:?}");
            let rows: usize = region[1..].iter().map(|range| range.end.div_ceil(4) - range.start / 4).product();
            let x_blocks = region[0].end.div_ceil(4) - region[0].start / 4;
            let most = rows * ((x_blocks * field.parameters.block_bits as usize).div_ceil(64) + 1) * 8;
            assert!(read_size <= most, "{region:?} of {sizes:?}: {read_size} bytes read, {most} would do");
        }
    }

    #[test]
    fn every_box_equals_that_part_of_the_chunk() {
        for shape in [&[1_u64][..], &[37], &[9, 22], &[7, 10, 13], &[5, 3, 6, 9]] {
            let count = shape.iter().product::<u64>() as usize;
            let floats: Vec<f32> = (0..count).map(|i| (i as f32 * 0.1).sin() * 50.0).collect();
            let bytes: Vec<u8> = (0..count).map(|i| (i * 3 % 251) as u8).collect();
            for rate in [3.25, 9.0, 40.0] {
                check(&field(Native::<f32>::new(), shape, rate), bytemuck::cast_slice(&floats));
                check(&field(Promoted::<[u8; 1]>::new(8, false), shape, rate), &bytes);
            }
        }
    }

    #[test]
    fn a_box_outside_or_of_another_size_is_refused() {
        let field = field(Native::<f32>::new(), &[8, 8], 8.0);
        let mut read = |bytes: Range<usize>| Ok(vec![0; bytes.len()]);
        let outside = [5..9, 0..8, 0..1, 0..1];
        assert!(decode_box(&field, &outside, &mut [0; 4 * 32], &mut read).is_err());
        let inside = [5..8, 0..8, 0..1, 0..1];
        assert!(decode_box(&field, &inside, &mut [0; 4 * 23], &mut read).is_err());
        assert!(decode_box(&field, &inside, &mut [0; 4 * 24], &mut read).is_ok());
        let mut short = |bytes: Range<usize>| Ok(vec![0; bytes.len() - 1]);
        assert!(decode_box(&field, &inside, &mut [0; 4 * 24], &mut short).is_err());
    }
}
