//! `numcodecs.packbits`: bools as bits, the first one in the highest bit, after a byte that counts the padding bits.
//!
//! Specification:
//! [zarr-extensions, `numcodecs.packbits`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.packbits);
//! numcodecs 0.17, `packbits.py`. Not the codec `packbits`, which fills bytes from the low bit up.

use crate::data_type::{Component, DataType, Scalar};
use crate::error::{Error, Result};
use crate::interface::{Bound, Call, Codec, Context, Kind, Pass, Transform, too_small};
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
        None
    }

    fn bind(&self, decoded: &Representation) -> Result<Bound> {
        let decoded = decoded.array()?;
        if decoded.data_type().component() != Component::Bool {
            let data_type = decoded.data_type();
            return Err(Error::unsupported(format!(
                "the data type of the array is {data_type}, but this codec packs only bools"
            )));
        }
        let count = decoded.element_count();
        let fill_value = decoded.fill_value().map(|Scalar(element)| {
            let is_true = element.iter().any(|byte| *byte != 0);
            Scalar(Arc::new([if is_true { 255 } else { 0 }]))
        });
        let encoded = ArrayRepresentation::new(DataType::from_name("uint8")?, vec![encoded_size(count)], fill_value)?;
        Ok(Bound::new(Representation::Array(encoded), Pass::Transform(Arc::new(Packed { count }))))
    }
}

fn encoded_size(count: u64) -> u64 {
    1 + count.div_ceil(8)
}

fn first_bytes(bytes: &mut [u8], size: u64) -> Result<&mut [u8]> {
    usize::try_from(size).ok().and_then(|size| bytes.get_mut(..size)).ok_or_else(too_small)
}

/// The count of padding bits, then the bits of `decoded`.
fn pack(decoded: &[u8], encoded: &mut [u8]) {
    let Some((padding_count, packed)) = encoded.split_first_mut() else { return };
    *padding_count = ((8 - decoded.len() % 8) % 8) as u8;
    for (bools, byte) in decoded.chunks(8).zip(packed) {
        let bits = bools.iter().fold(0, |bits, element| bits << 1 | u8::from(*element != 0));
        *byte = bits << (8 - bools.len());
    }
}

/// The bits of `packed`, as many as there are elements.
fn unpack(packed: &[u8], decoded: &mut [u8]) {
    for (byte, bools) in packed.iter().zip(decoded.chunks_mut(8)) {
        for (element, shift) in bools.iter_mut().zip((0..8).rev()) {
            *element = byte >> shift & 1;
        }
    }
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
