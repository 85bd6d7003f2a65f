//! `gzip`: DEFLATE with header and checksum. Zarr v3 core specification; RFC 1951, RFC 1952.
//!
//! libdeflate does the work. Several members one after the other are one stream (RFC 1952, section 2.2); bytes behind
//! the last member that are no member are an error.

mod libdeflate;

use super::configuration::integer;
use super::{BoundBytesToBytes, BytesToBytesCodec, Codec, Configuration, Transform, TransformCall, too_small};
use crate::chain::ByteSize;
use crate::error::{Error, Result};
use libdeflate::{Compressor, Decompressor, Fault};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What zlib takes when nothing is said.
const DEFAULT_LEVEL: i32 = 6;

#[derive(Debug, Clone, Copy)]
struct Gzip {
    level: i32,
}

/// `{"level": 0..9}`
pub(super) fn parse(mut configuration: Configuration) -> Result<Codec> {
    let level = match configuration.optional("level") {
        None => DEFAULT_LEVEL,
        Some(value) => integer("level", &value, 0, 9)? as i32,
    };
    configuration.finish()?;
    Ok(Codec::BytesToBytes(Arc::new(Gzip { level })))
}

impl BytesToBytesCodec for Gzip {
    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("level".to_owned(), json!(self.level))]))
    }

    fn bind(&self, decoded: ByteSize) -> Result<BoundBytesToBytes> {
        let encoded = match decoded.bound().and_then(|size| self.encoded_bound(size)) {
            Some(bound) => ByteSize::Bound(bound),
            None => ByteSize::Unknown,
        };
        Ok(BoundBytesToBytes::Transform { transform: Arc::new(*self), encoded })
    }
}

/// Both are made when first needed: most callers only read, or only write.
#[derive(Debug, Default)]
struct State {
    compressor: Option<Compressor>,
    decompressor: Option<Decompressor>,
}

impl Transform for Gzip {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize> {
        let state = call.state(|| Ok(State::default()))?;
        let compressor = match &mut state.compressor {
            Some(compressor) => compressor,
            none => none.insert(Compressor::new(self.level)?),
        };
        compressor.compress(decoded, encoded).ok_or_else(too_small)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut TransformCall<'_>) -> Result<usize> {
        let state = call.state(|| Ok(State::default()))?;
        let decompressor = match &mut state.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new()?),
        };
        let (mut read, mut written) = (0, 0);
        loop {
            let member =
                decompressor.decompress(&encoded[read..], &mut decoded[written..]).map_err(|fault| match fault {
                    Fault::TooSmall => too_small(),
                    Fault::Corrupt => Error::corrupt(format!(
                        "no valid gzip member (cut short, damaged or of another format) begins at byte {read} of {}",
                        encoded.len()
                    )),
                })?;
            read += member.encoded_size;
            written += member.decoded_size;
            if read == encoded.len() {
                return Ok(written);
            }
        }
    }

    fn encoded_bound(&self, decoded_size: usize) -> Option<usize> {
        libdeflate::compress_bound(decoded_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    fn run<T>(work: impl FnOnce(&mut TransformCall<'_>) -> T) -> T {
        work(&mut TransformCall { max_threads: NonZeroUsize::MIN, state: &mut None })
    }

    #[test]
    fn a_bound_is_enough_for_what_cannot_be_compressed_at_every_level() {
        for level in 0..=9 {
            for size in [0, 1, 100, 70_000] {
                let decoded: Vec<u8> = (0..size).map(|i: usize| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
                let mut encoded = vec![0; Gzip { level }.encoded_bound(size).unwrap()];
                run(|call| {
                    let size = Gzip { level }.encode(&decoded, &mut encoded, call).unwrap();
                    let mut again = vec![0; decoded.len()];
                    assert_eq!(Gzip { level }.decode(&encoded[..size], &mut again, call), Ok(decoded.len()));
                    assert_eq!(again, decoded);
                });
            }
        }
    }

    #[test]
    fn bytes_behind_the_last_member_are_refused() {
        run(|call| {
            let gzip = Gzip { level: 1 };
            let mut encoded = [0; 100];
            let size = gzip.encode(b"abc", &mut encoded, call).unwrap();
            let mut decoded = [0; 10];
            assert_eq!(gzip.decode(&encoded[..size], &mut decoded, call), Ok(3));
            assert!(gzip.decode(&encoded[..size + 1], &mut decoded, call).is_err());
            let twice = [&encoded[..size], &encoded[..size]].concat();
            assert_eq!(gzip.decode(&twice, &mut decoded, call), Ok(6));
            assert_eq!(&decoded[..6], b"abcabc");
        });
    }
}
