//! `numcodecs.packbits`: bools as bits, the first one in the highest bit, after a byte that counts the padding bits.
//!
//! Specification:
//! [zarr-extensions, `numcodecs.packbits`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.packbits);
//! numcodecs 0.17, `packbits.py`. Not the codec `packbits`, which fills bytes from the low bit up.

use super::cast_fill_value;
use super::number_type::NumberType;
use crate::data_type::{Component, DataType};
use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Kind, Pass, Transform, too_small};
use crate::json::Configuration;
use crate::representation::{ArrayRepresentation, Representation};
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug)]
struct PackBits;

/// No configuration.
pub(crate) fn parse(configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    configuration.finish()?;
    Ok(Arc::new(PackBits))
}

impl Codec for PackBits {
    fn kind(&self) -> Kind {
        Kind::ArrayToArray
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::new()) // zarr-python refuses its codecs without one
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let decoded = decoded.array()?;
        if decoded.data_type().component() != Component::Bool {
            let data_type = decoded.data_type();
            return Err(Error::unsupported(format!(
                "the data type of the array is {data_type}, but this codec packs only bools"
            )));
        }
        let count = decoded.element_count();
        let fill_value = cast_fill_value(decoded, NumberType::Bool, NumberType::U8);
        let encoded = ArrayRepresentation::new(DataType::from_name("uint8")?, vec![encoded_size(count)], fill_value)?;
        Ok(Binding::new(Representation::Array(encoded), Pass::Transform(Arc::new(Packed { count }))))
    }
}

fn encoded_size(count: u64) -> u64 {
    1 + count.div_ceil(8)
}

fn first_bytes(bytes: &mut [u8], size: u64) -> Result<&mut [u8]> {
    usize::try_from(size).ok().and_then(|size| bytes.get_mut(..size)).ok_or_else(too_small)
}

/// 1 in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// All bits of each byte but the highest.
const LOW_BITS: u64 = 0x7F * ONES;

/// The count of padding bits, then the bits of `decoded`.
fn pack(decoded: &[u8], encoded: &mut [u8]) {
    let Some((padding_count, packed)) = encoded.split_first_mut() else { return };
    *padding_count = ((8 - decoded.len() % 8) % 8) as u8;
    let (eights, rest) = decoded.as_chunks();
    let (bytes, last) = packed.split_at_mut(eights.len());
    bytes.iter_mut().zip(eights).for_each(|(byte, bools)| *byte = byte_of(*bools));
    if let [last] = last {
        let mut bools = [0; 8];
        bools[..rest.len()].copy_from_slice(rest);
        *last = byte_of(bools);
    }
}

/// The bits of `packed`, as many as there are elements.
fn unpack(packed: &[u8], decoded: &mut [u8]) {
    let (eights, rest) = decoded.as_chunks_mut();
    eights.iter_mut().zip(packed).for_each(|(bools, byte)| *bools = bools_of(*byte));
    if let Some(byte) = packed.get(eights.len()) {
        rest.copy_from_slice(&bools_of(*byte)[..rest.len()]);
    }
}

/// Whether each of eight bytes is not 0, the first one in the highest bit.
fn byte_of(bools: [u8; 8]) -> u8 {
    let bytes = u64::from_le_bytes(bools);
    // The highest bit of each byte is its own, or carries from the others.
    let bits = ((((bytes & LOW_BITS) + LOW_BITS) | bytes) >> 7) & ONES;
    // Bit 8 i goes to bit 63 - i; no two products meet.
    (bits.wrapping_mul(0x8040_2010_0804_0201) >> 56) as u8
}

/// The bits of a byte, the highest first, as bytes of 0 and 1.
fn bools_of(byte: u8) -> [u8; 8] {
    let bits = (u64::from(byte) * ONES) & 0x0102_0408_1020_4080;
    (((bits + LOW_BITS) >> 7) & ONES).to_le_bytes()
}

#[derive(Debug)]
struct Packed {
    count: u64,
}

impl Transform for Packed {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        let encoded = first_bytes(encoded, encoded_size(self.count))?;
        pack(decoded, encoded);
        Ok(encoded.len())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        let decoded = first_bytes(decoded, self.count)?;
        let Some((padding_count, packed)) = encoded.split_first() else {
            return Err(Error::corrupt("the byte that counts the padding bits is missing"));
        };
        let expected = (8 - self.count % 8) % 8;
        if u64::from(*padding_count) != expected {
            return Err(Error::corrupt(format!(
                "the first byte counts {padding_count} padding bits, but {} elements leave {expected}",
                self.count
            )));
        }
        unpack(packed, decoded);
        Ok(decoded.len())
    }

    fn encoded_bound(&self, _decoded_size: u64) -> Option<u64> {
        Some(encoded_size(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_bits_from_the_highest_one_down() {
        for byte in 0..=u8::MAX {
            let bools: [u8; 8] = std::array::from_fn(|index| byte >> (7 - index) & 1);
            assert_eq!(bools_of(byte), bools);
            for value in [1, 2, 127, 128, 255] {
                assert_eq!(byte_of(bools.map(|bool| bool * value)), byte, "{value}");
            }
        }
    }

    #[test]
    fn the_last_byte_is_padded() {
        for count in 0..40 {
            let decoded: Vec<u8> = (0..count).map(|index| u8::from(index % 3 != 1)).collect();
            let mut encoded = vec![0xA5; encoded_size(count) as usize];
            pack(&decoded, &mut encoded);
            let padding_count = 8 * (encoded.len() - 1) - decoded.len();
            assert_eq!(usize::from(encoded[0]), padding_count);
            if let Some(last) = encoded[1..].last() {
                assert_eq!(last & ((1 << padding_count) - 1), 0, "{count}");
            }
            let mut found = vec![0xA5; decoded.len()];
            unpack(&encoded[1..], &mut found);
            assert_eq!(found, decoded);
        }
    }
}
