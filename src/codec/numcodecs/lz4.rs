//! `numcodecs.lz4`: the size as four bytes, little-endian, then an LZ4 block.
//!
//! Specification: [zarr-extensions,
//! `numcodecs.lz4`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.lz4); numcodecs 0.17,
//! `lz4.pyx`; the LZ4 block format.

use super::optional;
use crate::codec::lz::{lz4, matches::MatchTable};
use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Kind, Transform, too_small};
use crate::json::{Configuration, integer};
use crate::representation::{ByteSize, Representation};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The largest size that numcodecs takes.
const MAX_DECODED_SIZE: u64 = 0x7E00_0000;

const HEADER_SIZE: usize = 4;

/// Those that the C library takes; others are the nearest one.
const ACCELERATIONS: RangeInclusive<i128> = 1..=65537;

#[derive(Debug, Clone)]
struct Lz4 {
    configuration: Map<String, Value>,
    acceleration: usize,
}

/// `{"acceleration": n}`, optional
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let (mut members, mut acceleration) = (Map::new(), 1);
    if let Some(value) = optional(&mut configuration, &mut members, "acceleration") {
        acceleration = integer("acceleration", &value, i32::MIN.into(), i32::MAX.into())?;
    }
    configuration.finish()?;
    let acceleration = acceleration.clamp(*ACCELERATIONS.start(), *ACCELERATIONS.end()) as usize;
    Ok(Arc::new(Lz4 { configuration: members, acceleration }))
}

impl Codec for Lz4 {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        match decoded.bytes()?.size {
            ByteSize::Exact(size) | ByteSize::Written(size) => self.check_decoded_size(size)?,
            ByteSize::AtMost(_) | ByteSize::Unknown => {}
        }
        Ok(Binding::compressor(decoded, Arc::new(self.clone())))
    }
}

fn too_large(size: u64) -> Error {
    Error::unsupported(format!("numcodecs.lz4 takes at most {MAX_DECODED_SIZE} bytes, but this chunk has {size}"))
}

/// The size and the block. A byte of a block stands for at most 255 bytes of a match.
///
/// # Errors
/// There is no size, or one that the block cannot have.
fn split(encoded: &[u8]) -> Result<(usize, &[u8])> {
    let (header, block) = encoded.split_first_chunk::<HEADER_SIZE>().ok_or_else(|| {
        Error::corrupt(format!("the chunk has {} bytes, fewer than the 4 that state its size", encoded.len()))
    })?;
    let size = u64::from(u32::from_le_bytes(*header));
    if size > 255 * block.len() as u64 {
        return Err(Error::corrupt(format!(
            "the chunk claims {size} bytes, more than an LZ4 block of {} can hold",
            block.len()
        )));
    }
    Ok((usize::try_from(size).map_err(|_| Error::out_of_memory())?, block))
}

impl Transform for Lz4 {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let size = u32::try_from(decoded.len()).ok().filter(|size| u64::from(*size) <= MAX_DECODED_SIZE);
        let size = size.ok_or_else(|| too_large(decoded.len() as u64))?;
        let (header, block) = encoded.split_first_chunk_mut::<HEADER_SIZE>().ok_or_else(too_small)?;
        *header = size.to_le_bytes();
        let table = call.contexts.get(MatchTable::new)?;
        let block_size = lz4::compress(table, self.acceleration, decoded, block).ok_or_else(too_small)?;
        Ok(HEADER_SIZE + block_size)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        let (size, block) = split(encoded)?;
        let capacity = decoded.len();
        let too_small = || Error::buffer_too_small("decoded_capacity", capacity, size as u64);
        let decoded = decoded.get_mut(..size).ok_or_else(too_small)?;
        lz4::decompress(block, decoded).ok_or_else(|| {
            Error::corrupt(format!("the {} bytes after the size are not an LZ4 block of {size} bytes", block.len()))
        })?;
        Ok(size)
    }

    fn check_decoded_size(&self, decoded_size: u64) -> Result<()> {
        if decoded_size > MAX_DECODED_SIZE { Err(too_large(decoded_size)) } else { Ok(()) }
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        // Literals alone: a token, and a byte for each 255 of them.
        decoded_size.checked_add(decoded_size / 255)?.checked_add(HEADER_SIZE as u64 + 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::interface::{CallOptions, Contexts};

    #[test]
    fn a_size_that_no_block_can_have_is_not_believed() {
        let (options, mut contexts) = (CallOptions::default(), Contexts::default());
        let mut decode = |encoded: &[u8], capacity: usize| {
            let call = &mut Call { options: &options, hooks: None, contexts: &mut contexts };
            let lz4 = Lz4 { configuration: Map::new(), acceleration: 1 };
            let result = lz4.decode(encoded, &mut vec![0; capacity], call);
            result.map_err(|error| (error.status(), error.needed_capacity()))
        };
        assert_eq!(decode(&[5, 0, 0, 0, 0x50, 1, 2, 3, 4, 5], 5), Ok(5));
        assert_eq!(decode(&[5, 0, 0, 0, 0x50, 1, 2, 3, 4, 5], 4), Err((Status::BufferTooSmall, Some(5))));
        assert_eq!(decode(&[255, 255, 255, 255, 0x50, 1, 2], 4), Err((Status::CorruptData, None)));
        assert_eq!(decode(&[1, 0, 0], 4), Err((Status::CorruptData, None)));
    }

    #[test]
    fn a_capacity_of_the_encoded_size_suffices() {
        let (options, mut contexts) = (CallOptions::default(), Contexts::default());
        let decoded: Vec<u8> = (0..5000_u32).map(|index| (index / 7 % 251) as u8).collect();
        let mut encode = |capacity: usize| {
            let call = &mut Call { options: &options, hooks: None, contexts: &mut contexts };
            let mut encoded = vec![0; capacity];
            let size = Lz4 { configuration: Map::new(), acceleration: 1 }.encode(&decoded, &mut encoded, call);
            size.map(|size| encoded[..size].to_vec()).map_err(|error| error.status())
        };
        let encoded = encode(10_000).unwrap();
        assert_eq!(encode(encoded.len()), Ok(encoded.clone()));
        assert_eq!(encode(encoded.len() - 1), Err(Status::BufferTooSmall));
    }
}
