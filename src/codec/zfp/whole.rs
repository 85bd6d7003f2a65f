//! Whole fields of zfp's own types, aligned in memory, on one thread: `zfp-rs` reads and writes the values in place,
//! without a copy of each block.

use super::Field;
use super::backend::Backend;
use super::element::Element;
use super::grid::Grid;
use super::mode::Parameters;
use zfp_rs::{ZfpBitStreamRef, ZfpBitStreamRefMut, ZfpField, ZfpFieldMut};

/// Encodes into the beginning of `encoded` and returns the size. `None` if this way does not fit, for example because a
/// value is out of range or there is too little room: `encoded` is then unspecified.
pub(super) fn encode<E: Element>(field: &Field<E>, cells: &[E::Memory], encoded: &mut [u8]) -> Option<usize> {
    let (parameters, bound) = (&field.parameters, field.parameters.encoded_bound(field.grid.block_count()).ok()?);
    let words = words_mut(encoded.get_mut(..bound)?)?;
    let values = E::scalars(cells).filter(|values| is_fit(field, values.len()))?;
    if E::any_outside(values, parameters.is_lossless()) {
        return None;
    }
    let values = ZfpField::new(values, sizes(&field.grid)).ok()?;
    ZfpBitStreamRefMut::from_words(words).compress(&parameters.config, &values).ok()
}

/// Decodes a stream. Returns whether it did; if not, `cells` are unspecified.
pub(super) fn decode<E: Element>(
    field: &Field<E>,
    parameters: &Parameters,
    words: &[u64],
    cells: &mut [E::Memory],
) -> bool {
    let Some(values) = E::scalars_mut(cells).filter(|values| is_fit(field, values.len())) else { return false };
    let Ok(mut values) = ZfpFieldMut::new(values, sizes(&field.grid)) else { return false };
    let size = ZfpBitStreamRef::from_words(words).decompress(&parameters.config, &mut values);
    size.is_ok_and(|size| size <= size_of_val(words))
}

fn is_fit<E>(field: &Field<E>, count: usize) -> bool {
    field.backend == Backend::ZfpRs && count > 0
}

/// From x on; 0 for axes that the field does not have.
fn sizes(grid: &Grid) -> [usize; 4] {
    let mut sizes = [0; 4];
    let count = usize::from(grid.dimensionality());
    sizes[..count].copy_from_slice(&grid.sizes()[..count]);
    sizes
}

/// Words of the machine's byte order are those of a stream only where the low byte comes first.
fn words_mut(bytes: &mut [u8]) -> Option<&mut [u64]> {
    if cfg!(target_endian = "big") {
        return None;
    }
    bytemuck::try_cast_slice_mut(bytes).ok()
}
