//! Kernels for every processor: loops that the compiler vectorises, and bits in registers of 64.
//!
//! Every kernel here continues after `done` elements, which a faster tier has moved already.

use super::Planes;

/// Moves the bytes of elements to their planes.
pub(super) fn to_planes(elements: &[u8], element_size: usize, planes: &mut [u8], stride: usize, done: usize) {
    match element_size {
        2 => to_planes_of::<2>(elements, planes, stride, done),
        4 => to_planes_of::<4>(elements, planes, stride, done),
        8 => to_planes_of::<8>(elements, planes, stride, done),
        16 => to_planes_of::<16>(elements, planes, stride, done),
        // Metadata may name elements larger than any chunk.
        _ if elements.len() < element_size => {}
        _ => {
            for place in 0..element_size {
                let bytes = elements.iter().skip(done * element_size + place).step_by(element_size);
                planes[place * stride + done..].iter_mut().zip(bytes).for_each(|(target, byte)| *target = *byte);
            }
        }
    }
}

fn to_planes_of<const SIZE: usize>(elements: &[u8], planes: &mut [u8], stride: usize, done: usize) {
    let elements = &elements.as_chunks::<SIZE>().0[done..];
    for place in 0..SIZE {
        let plane = &mut planes[place * stride + done..];
        plane.iter_mut().zip(elements).for_each(|(target, element)| *target = element[place]);
    }
}

/// Moves bytes from their planes to the elements.
pub(super) fn from_planes(planes: &[u8], stride: usize, elements: &mut [u8], element_size: usize, done: usize) {
    match element_size {
        2 => from_planes_of::<2>(planes, stride, elements, done),
        4 => from_planes_of::<4>(planes, stride, elements, done),
        8 => from_planes_of::<8>(planes, stride, elements, done),
        16 => from_planes_of::<16>(planes, stride, elements, done),
        _ if elements.len() < element_size => {}
        _ => {
            for place in 0..element_size {
                let bytes = elements.iter_mut().skip(done * element_size + place).step_by(element_size);
                bytes.zip(&planes[place * stride + done..]).for_each(|(target, byte)| *target = *byte);
            }
        }
    }
}

fn from_planes_of<const SIZE: usize>(planes: &[u8], stride: usize, elements: &mut [u8], done: usize) {
    let elements = &mut elements.as_chunks_mut::<SIZE>().0[done..];
    let count = elements.len();
    let planes: [&[u8]; SIZE] = std::array::from_fn(|place| &planes[place * stride + done..][..count]);
    for (index, element) in elements.iter_mut().enumerate() {
        *element = std::array::from_fn(|place| planes[place][index]);
    }
}

/// Moves the bits of a plane to its eight rows.
pub(super) fn to_rows(plane: &[u8], rows: &mut [u8], stride: usize, done: usize) {
    for (index, eight) in plane.as_chunks::<8>().0.iter().enumerate().skip(done / 8) {
        let transposed = transpose(u64::from_le_bytes(*eight)).to_le_bytes();
        for (row, byte) in transposed.into_iter().enumerate() {
            rows[row * stride + index] = byte;
        }
    }
}

/// Moves bits from eight rows to their plane.
pub(super) fn from_rows(rows: &[u8], stride: usize, plane: &mut [u8], done: usize) {
    for (index, eight) in plane.as_chunks_mut::<8>().0.iter_mut().enumerate().skip(done / 8) {
        let bytes: [u8; 8] = std::array::from_fn(|row| rows[row * stride + index]);
        *eight = transpose(u64::from_le_bytes(bytes)).to_le_bytes();
    }
}

/// Transposes eight bytes of eight bits: squares of one bit, then of two, then of four change places across the
/// diagonal.
fn transpose(matrix: u64) -> u64 {
    const fn swap(matrix: u64, distance: u32, mask: u64) -> u64 {
        let different = (matrix ^ (matrix >> distance)) & mask;
        matrix ^ different ^ (different << distance)
    }
    let matrix = swap(matrix, 7, 0x00AA_00AA_00AA_00AA);
    let matrix = swap(matrix, 14, 0x0000_CCCC_0000_CCCC);
    swap(matrix, 28, 0x0000_0000_F0F0_F0F0)
}

/// Nothing: the portable kernels do all.
pub(super) const NOTHING: Planes = Planes {
    to_planes: |_, _, _, _| 0,
    from_planes: |_, _, _, _| 0,
    to_rows: |_, _, _, _| 0,
    from_rows: |_, _, _, _| 0,
};
