//! The filters as Blosc 1 and HDF5 define them, one byte and one bit at a time.

/// The bytes at each place of an element, one place after the other; bytes after the last whole element stay where they
/// are.
pub(super) fn shuffle(element_size: usize, decoded: &[u8]) -> Vec<u8> {
    let count = decoded.len() / element_size;
    let mut shuffled = decoded.to_vec();
    for index in 0..count {
        for place in 0..element_size {
            shuffled[place * count + index] = decoded[index * element_size + place];
        }
    }
    shuffled
}

/// The bits at each place of an element, one place after the other, the lowest first.
///
/// Bytes after the last whole element stay where they are, and so does everything if the number of elements is not a
/// multiple of 8.
pub(super) fn bitshuffle(element_size: usize, decoded: &[u8]) -> Vec<u8> {
    let count = decoded.len() / element_size;
    let mut shuffled = decoded.to_vec();
    if !count.is_multiple_of(8) {
        return shuffled;
    }
    shuffled[..count * element_size].fill(0);
    for index in 0..count {
        for place in 0..element_size * 8 {
            let bit = decoded[index * element_size + place / 8] >> (place % 8) & 1;
            shuffled[place * (count / 8) + index / 8] |= bit << (index % 8);
        }
    }
    shuffled
}
