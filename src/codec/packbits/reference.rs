//! The definition: one bit at a time. Also the tier for raw types of more than a byte.

use super::field::{Field, FieldKind};
use crate::error::Result;
use crate::interface::Elementwise;
use std::sync::Arc;

#[derive(Debug)]
struct Reference(Field);

pub(super) fn kernel(field: &Field) -> Option<Arc<dyn Elementwise>> {
    Some(Arc::new(Reference(*field)))
}

impl Elementwise for Reference {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        encode(&self.0, decoded, encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        decode(&self.0, encoded, decoded);
        Ok(())
    }
}

pub(super) fn encode(field: &Field, decoded: &[u8], encoded: &mut [u8]) {
    encoded.fill(0);
    for (index, component) in decoded.chunks_exact(field.size).enumerate() {
        for bit in field.first_bit..=field.last_bit() {
            let value = match field.kind {
                FieldKind::Bool => component[0] != 0,
                _ => component[byte_index(field, bit)] >> (bit % 8) & 1 == 1,
            };
            let (byte, shift) = packed_place(field, index, bit);
            encoded[byte] |= u8::from(value) << shift;
        }
    }
}

pub(super) fn decode(field: &Field, encoded: &[u8], decoded: &mut [u8]) {
    for (index, component) in decoded.chunks_exact_mut(field.size).enumerate() {
        let packed = |bit: u32| {
            let (byte, shift) = packed_place(field, index, bit);
            encoded[byte] >> shift & 1 == 1
        };
        component.fill(0);
        for bit in field.first_bit..field.size_bits() {
            let value = match field.kind {
                _ if bit <= field.last_bit() => packed(bit),
                FieldKind::Signed => packed(field.last_bit()),
                _ => false,
            };
            component[byte_index(field, bit)] |= u8::from(value) << (bit % 8);
        }
    }
}

/// The byte, and the bit in it, where a bit of a component is packed.
fn packed_place(field: &Field, index: usize, bit: u32) -> (usize, u32) {
    let position = index as u64 * u64::from(field.bits) + u64::from(bit - field.first_bit);
    ((position / 8) as usize, (position % 8) as u32)
}

/// The byte of a component in memory that holds this bit.
fn byte_index(field: &Field, bit: u32) -> usize {
    let byte = bit as usize / 8;
    if cfg!(target_endian = "big") && field.kind != FieldKind::Raw { field.size - 1 - byte } else { byte }
}
