//! `gzip`: DEFLATE with header and checksum. Specification:
//! [Zarr v3 core, `gzip`](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/gzip/index.html);
//! [RFC 1951](https://www.rfc-editor.org/rfc/rfc1951) and [RFC 1952](https://www.rfc-editor.org/rfc/rfc1952). Under its
//! name in numcodecs it has another default level; [`zlib`] has another header.
//!
//! libdeflate does the work. Several members one after the other are one stream (RFC 1952, section 2.2); bytes after
//! the last member that are not a member are an error.

mod count;
pub(super) mod libdeflate;
pub(super) mod zlib;

use crate::error::{Error, Result};
use crate::interface::{self, Binding, Call, Codec, Context, Kind, Transform};
use crate::json::{Configuration, integer};
use crate::memory;
use crate::representation::Representation;
use libdeflate::{Compressor, Container, Decompressor, Fault};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The default level of zlib.
const DEFAULT_LEVEL: usize = 6;

/// The default level of numcodecs.
const NUMCODECS_LEVEL: usize = 1;

#[derive(Debug, Clone, Copy)]
struct Gzip {
    /// 0 to 9; `None` if the configuration says -1, for zlib's own choice.
    level: Option<usize>,
}

/// `{"level": 0..9}`, default 6
pub(super) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let level = level_of(&mut configuration, 0, DEFAULT_LEVEL)?;
    configuration.finish()?;
    Ok(Arc::new(Gzip { level }))
}

/// `{"level": -1..9}`, default 1
pub(super) fn parse_numcodecs(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let level = level_of(&mut configuration, -1, NUMCODECS_LEVEL)?;
    configuration.finish()?;
    Ok(Arc::new(Gzip { level }))
}

/// The member `level`; `None` for -1, which stands for the default of zlib.
fn level_of(configuration: &mut Configuration, lowest: i128, default: usize) -> Result<Option<usize>> {
    match configuration.optional("level") {
        Some(value) => Ok(usize::try_from(integer("level", &value, lowest, 9)?).ok()),
        None => Ok(Some(default)),
    }
}

/// The level in the metadata.
fn level_json(level: Option<usize>) -> Value {
    level.map_or(json!(-1), |level| json!(level))
}

impl Codec for Gzip {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(Map::from_iter([("level".to_owned(), level_json(self.level))]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::compressor(decoded, Arc::new(*self)))
    }
}

/// The compressors of every gzip and zlib codec of a chain, by level, which libdeflate fixes when it makes a compressor.
#[derive(Debug, Default)]
struct Compressors([Option<Compressor>; 10]);

impl Compressors {
    fn of_level(&mut self, level: Option<usize>) -> Result<&mut Compressor> {
        let level = level.unwrap_or(DEFAULT_LEVEL);
        memory::get_or_make(&mut self.0[level], || Compressor::new(level as i32))
    }
}

/// Makes one stream in this container.
fn encode(
    container: Container,
    level: Option<usize>,
    decoded: &[u8],
    encoded: &mut [u8],
    call: &mut Call<'_>,
) -> Result<usize> {
    let compressor = call.contexts.get(|| Ok(Compressors::default()))?.of_level(level)?;
    compressor.compress(container, decoded, encoded).ok_or_else(interface::too_small)
}

/// The most that this many bytes are encoded to in this container.
fn encoded_bound(container: Container, decoded_size: u64) -> Option<u64> {
    libdeflate::compress_bound(container, usize::try_from(decoded_size).ok()?).map(|bound| bound as u64)
}

impl Transform for Gzip {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        encode(Container::Gzip, self.level, decoded, encoded, call)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        let capacity = decoded.len();
        decode_members(encoded, decoded, call, || too_small(count::gzip_size(encoded), capacity))
    }

    fn decode_fitting(&self, encoded: &[u8], decoded: &mut [u8], call: &mut Call<'_>) -> Result<usize> {
        decode_members(encoded, decoded, call, interface::too_small)
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        encoded_bound(Container::Gzip, decoded_size)
    }
}

fn decode_members(
    encoded: &[u8],
    decoded: &mut [u8],
    call: &mut Call<'_>,
    too_small: impl Fn() -> Error,
) -> Result<usize> {
    let decompressor = call.contexts.get(Decompressor::new)?;
    let (mut read, mut written) = (0, 0);
    loop {
        let result = decompressor.decompress(Container::Gzip, &encoded[read..], &mut decoded[written..]);
        let member = result.map_err(|fault| match fault {
            Fault::TooSmall => too_small(),
            Fault::Corrupt => count::no_member(read, encoded.len()),
        })?;
        read += member.encoded_size;
        written += member.decoded_size;
        if read == encoded.len() {
            return Ok(written);
        }
    }
}

/// BUFFER_TOO_SMALL names a capacity that is enough, as it was counted; if nothing can be decoded, that is the error.
fn too_small(counted: Result<u64>, capacity: usize) -> Error {
    match counted.map(usize::try_from) {
        Ok(Ok(needed)) if needed > capacity => Error::buffer_too_small("decoded_capacity", capacity, needed as u64),
        Ok(Ok(_)) => Error::internal("libdeflate needs more than the size that miniz_oxide counted"),
        Ok(Err(_)) => Error::out_of_memory(),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{CallOptions, Contexts};

    fn run<T>(work: impl FnOnce(&mut Call<'_>) -> T) -> T {
        let (options, mut contexts) = (CallOptions::default(), Contexts::default());
        work(&mut Call { options: &options, hooks: None, contexts: &mut contexts })
    }

    #[test]
    fn a_bound_is_enough_for_what_cannot_be_compressed_at_every_level() {
        for level in 0..=9 {
            for size in [0, 1, 100, 70_000_usize] {
                let decoded: Vec<u8> = (0..size).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
                let mut encoded = vec![0; Gzip { level: Some(level) }.encoded_bound(size as u64).unwrap() as usize];
                run(|call| {
                    let size = Gzip { level: Some(level) }.encode(&decoded, &mut encoded, call).unwrap();
                    let mut again = vec![0; decoded.len()];
                    assert_eq!(
                        Gzip { level: Some(level) }.decode(&encoded[..size], &mut again, call),
                        Ok(decoded.len())
                    );
                    assert_eq!(again, decoded);
                });
            }
        }
    }

    #[test]
    fn bytes_after_the_last_member_are_refused() {
        run(|call| {
            let gzip = Gzip { level: Some(1) };
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
