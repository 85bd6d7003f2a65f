//! `transpose`: another order of the dimensions. Zarr v3 core specification: dimension i of the encoded array is
//! dimension `order[i]` of the decoded one.

use super::configuration::integer;
use super::{ArrayToArrayCodec, BoundArrayToArray, Codec, Configuration, Transform, TransformCall, too_small};
use crate::chain::ArrayRepresentation;
use crate::error::{Error, Result};
use serde_json::{Map, Value, json};
use std::sync::Arc;

#[derive(Debug)]
struct Transpose {
    order: Vec<usize>,
}

/// `{"order": [..]}`
pub(super) fn parse(mut configuration: Configuration) -> Result<Codec> {
    let order = configuration.required("order")?;
    configuration.finish()?;
    let dimensions = order
        .as_array()
        .ok_or_else(|| Error::metadata(format!("order is {order}, expected a list that permutes the dimensions")))?;
    let mut order = Vec::with_capacity(dimensions.len());
    let mut seen = vec![false; dimensions.len()];
    for (i, dimension) in dimensions.iter().enumerate() {
        let dimension = integer(&format!("order[{i}]"), dimension, 0, dimensions.len() as i128 - 1)? as usize;
        if std::mem::replace(&mut seen[dimension], true) {
            return Err(Error::metadata(format!("order[{i}] is {dimension}, which stands there twice")));
        }
        order.push(dimension);
    }
    Ok(Codec::ArrayToArray(Arc::new(Transpose { order })))
}

impl ArrayToArrayCodec for Transpose {
    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("order".to_owned(), json!(self.order))]))
    }

    fn bind(&self, decoded: &ArrayRepresentation) -> Result<BoundArrayToArray> {
        let shape = decoded.shape();
        if shape.len() != self.order.len() {
            return Err(Error::metadata(format!(
                "order has {} dimensions, the array has {}",
                self.order.len(),
                shape.len()
            )));
        }
        let encoded_shape: Vec<u64> = self.order.iter().map(|dimension| shape[*dimension]).collect();
        let moves = |order: &[usize]| order.iter().filter(|dimension| shape[**dimension] != 1).is_sorted();
        if moves(&self.order) || decoded.element_count() == 0 {
            return Ok(BoundArrayToArray::View { shape: encoded_shape });
        }
        let sizes: Vec<usize> = shape.iter().map(|size| *size as usize).collect();
        let mut inverse = vec![0; self.order.len()];
        for (encoded, decoded) in self.order.iter().enumerate() {
            inverse[*decoded] = encoded;
        }
        let encoded_sizes: Vec<usize> = self.order.iter().map(|dimension| sizes[*dimension]).collect();
        let element_size = decoded.data_type().size();
        Ok(BoundArrayToArray::Transform {
            transform: Arc::new(Bound {
                size: decoded.size(),
                encode: Permutation::new(&sizes, &self.order, element_size),
                decode: Permutation::new(&encoded_sizes, &inverse, element_size),
            }),
            encoded: decoded.with_shape(encoded_shape)?,
        })
    }
}

#[derive(Debug)]
struct Bound {
    size: usize,
    encode: Permutation,
    decode: Permutation,
}

impl Transform for Bound {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], _call: &mut TransformCall<'_>) -> Result<usize> {
        self.encode.run(decoded, encoded.get_mut(..self.size).ok_or_else(too_small)?);
        Ok(self.size)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut TransformCall<'_>) -> Result<usize> {
        self.decode.run(encoded, decoded.get_mut(..self.size).ok_or_else(too_small)?);
        Ok(self.size)
    }

    fn encoded_bound(&self, _decoded_size: usize) -> Option<usize> {
        Some(self.size)
    }
}

/// One dimension of the output, and how far a step along it goes in both arrays, in bytes.
#[derive(Debug, Clone, Copy)]
struct Axis {
    size: usize,
    input_stride: usize,
    output_stride: usize,
}

/// A permutation of dimensions, reduced to what has to be done: blocks of bytes that stay together, and at most one
/// axis that is the fastest of the input.
#[derive(Debug)]
struct Permutation {
    /// Bytes that stay together.
    block_size: usize,
    /// Slowest of the output first. None has the size 1, and no two neighbours could be one.
    axes: Vec<Axis>,
    /// The position in `axes` of the input's fastest axis.
    input_fastest: usize,
}

impl Permutation {
    fn new(shape: &[usize], order: &[usize], element_size: usize) -> Self {
        let mut input_strides = vec![element_size; shape.len()];
        for i in (1..shape.len()).rev() {
            input_strides[i - 1] = input_strides[i] * shape[i];
        }
        let mut axes: Vec<Axis> = Vec::new();
        for &dimension in order.iter().filter(|dimension| shape[**dimension] != 1) {
            let (size, input_stride) = (shape[dimension], input_strides[dimension]);
            match axes.last_mut() {
                Some(outer) if outer.input_stride == size * input_stride => {
                    *outer = Axis { size: outer.size * size, input_stride, output_stride: 0 };
                }
                _ => axes.push(Axis { size, input_stride, output_stride: 0 }),
            }
        }
        let mut block_size = element_size;
        if let Some(axis) = axes.pop_if(|axis| axis.input_stride == element_size) {
            block_size *= axis.size;
        }
        let mut output_stride = block_size;
        for axis in axes.iter_mut().rev() {
            axis.output_stride = output_stride;
            output_stride *= axis.size;
        }
        let input_fastest = (0..axes.len()).min_by_key(|i| axes[*i].input_stride).unwrap_or(0);
        Self { block_size, axes, input_fastest }
    }

    fn run(&self, input: &[u8], output: &mut [u8]) {
        match self.block_size {
            1 => self.run_elements::<1>(input, output),
            2 => self.run_elements::<2>(input, output),
            4 => self.run_elements::<4>(input, output),
            8 => self.run_elements::<8>(input, output),
            16 => self.run_elements::<16>(input, output),
            size => self.for_each(&self.axes, input, output, &|axis: &Axis, input, output| {
                for i in 0..axis.size {
                    let from = i * axis.input_stride;
                    output[i * axis.output_stride..][..size].copy_from_slice(&input[from..from + size]);
                }
            }),
        }
    }

    /// The two axes that are fastest in either array are walked in squares, so that both sides are read and written
    /// by whole cache lines.
    fn run_elements<const SIZE: usize>(&self, input: &[u8], output: &mut [u8]) {
        let Some((inner, outer)) = self.axes.split_last() else { return output.copy_from_slice(input) };
        if self.input_fastest == outer.len() || self.axes[self.input_fastest].input_stride != SIZE {
            return self.for_each(&self.axes, input, output, &|axis: &Axis, input, output| {
                for i in 0..axis.size {
                    let from = i * axis.input_stride;
                    output[i * axis.output_stride..][..SIZE].copy_from_slice(&input[from..from + SIZE]);
                }
            });
        }
        let mut outer = outer.to_vec();
        let other = outer.remove(self.input_fastest);
        outer.push(other);
        self.for_each(&outer, input, output, &|other: &Axis, input, output| {
            transpose_plane::<SIZE>(inner, other, input, output);
        });
    }

    /// Calls `work` for each position along all axes but the last, with that one and what is left of both arrays.
    fn for_each(&self, axes: &[Axis], input: &[u8], output: &mut [u8], work: &impl Fn(&Axis, &[u8], &mut [u8])) {
        match axes {
            [] => output.copy_from_slice(input),
            [last] => work(last, input, output),
            [first, rest @ ..] => {
                for i in 0..first.size {
                    let output = &mut output[i * first.output_stride..];
                    self.for_each(rest, &input[i * first.input_stride..], output, work);
                }
            }
        }
    }
}

/// The side of the squares: whole cache lines of small elements, and a square that stays in the first-level cache.
const SIDE: usize = 32;

/// A plane whose rows are contiguous along `other` in the input and along `inner` in the output. Each cache line of
/// either side is touched once, whatever the strides: the elements change places in a square of its own.
fn transpose_plane<const SIZE: usize>(inner: &Axis, other: &Axis, input: &[u8], output: &mut [u8]) {
    let mut square = [[[0_u8; SIZE]; SIDE]; SIDE];
    for row in (0..inner.size).step_by(SIDE) {
        let rows = SIDE.min(inner.size - row);
        for column in (0..other.size).step_by(SIDE) {
            let columns = SIDE.min(other.size - column);
            for i in 0..rows {
                let from = (row + i) * inner.input_stride + column * SIZE;
                let elements = input[from..from + columns * SIZE].as_chunks::<SIZE>().0;
                for (line, element) in square.iter_mut().zip(elements) {
                    line[i] = *element;
                }
            }
            for (j, line) in square[..columns].iter().enumerate() {
                let to = (column + j) * other.output_stride + row * SIZE;
                output[to..to + rows * SIZE].copy_from_slice(line[..rows].as_flattened());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: element by element.
    fn reference(shape: &[usize], order: &[usize], size: usize, input: &[u8]) -> Vec<u8> {
        let count: usize = shape.iter().product();
        let mut output = Vec::new();
        for mut index in 0..count {
            let mut position = vec![0; shape.len()];
            for &dimension in order.iter().rev() {
                position[dimension] = index % shape[dimension];
                index /= shape[dimension];
            }
            let from = position.iter().zip(shape).fold(0, |from, (position, size)| from * size + position);
            output.extend_from_slice(&input[from * size..][..size]);
        }
        output
    }

    fn permutations(rank: usize) -> Vec<Vec<usize>> {
        if rank == 0 {
            return vec![vec![]];
        }
        let mut all = Vec::new();
        for shorter in permutations(rank - 1) {
            for at in 0..rank {
                let mut order = shorter.clone();
                order.insert(at, rank - 1);
                all.push(order);
            }
        }
        all
    }

    #[test]
    fn every_order_of_up_to_four_dimensions_moves_each_element_to_its_place() {
        for shape in [&[][..], &[5], &[1], &[33, 70], &[3, 1], &[2, 3, 4], &[40, 3, 35], &[1, 4, 1], &[3, 2, 5, 4]] {
            for order in permutations(shape.len()) {
                for size in [1, 2, 3, 4, 8, 16] {
                    let count: usize = shape.iter().product();
                    let input: Vec<u8> = (0..count * size).map(|i| (i * 31 + i / 251) as u8).collect();
                    let mut output = vec![0xA5; input.len()];
                    Permutation::new(shape, &order, size).run(&input, &mut output);
                    assert_eq!(output, reference(shape, &order, size, &input), "{shape:?} {order:?} {size}");
                }
            }
        }
    }
}
