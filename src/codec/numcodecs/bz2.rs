//! `numcodecs.bz2`: bzip2 streams.
//!
//! Specification: [zarr-extensions,
//! `numcodecs.bz2`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.bz2); numcodecs 0.17,
//! `bz2.py`. Several streams one after the other are one, as in Python; bytes after the last that are not a stream are
//! an error. `libbz2-rs-sys`, a port of libbzip2 to Rust, does the work.

use super::optional;
use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Kind, Transform, too_small};
use crate::json::{Configuration, integer};
use crate::representation::Representation;
use bzip2::{Action, Compress, Compression, Decompress, Status};
use serde_json::{Map, Value};
use std::panic::{UnwindSafe, catch_unwind};
use std::sync::Arc;

/// The default level of numcodecs.
const DEFAULT_LEVEL: u32 = 1;

/// The work factor that libbzip2 uses for 0.
const WORK_FACTOR: u32 = 30;

/// Bytes that do not fit are decoded into a buffer of this size, over and over.
const OVERFLOW_SIZE: usize = 4096;

/// libbzip2 counts the bytes of a call in 32 bits.
const MAX_INPUT_SIZE: usize = 1 << 30;

#[derive(Debug, Clone)]
struct Bz2 {
    configuration: Map<String, Value>,
    level: u32,
}

/// `{"level": 1..9}`, default 1
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let level = match optional(&mut configuration, &mut members, "level") {
        None => DEFAULT_LEVEL,
        Some(value) => integer("level", &value, 1, 9)? as u32,
    };
    configuration.finish()?;
    members.insert("level".to_owned(), level.into());
    Ok(Arc::new(Bz2 { configuration: members, level }))
}

impl Codec for Bz2 {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::compressor(decoded, Arc::new(self.clone())))
    }
}

impl Transform for Bz2 {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        encode_stream(self.level, decoded, encoded, MAX_INPUT_SIZE)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        decode_streams(encoded, decoded, true)
    }

    fn decode_fitting(&self, encoded: &[u8], decoded: &mut [u8], _call: &mut Call<'_>) -> Result<usize> {
        decode_streams(encoded, decoded, false)
    }

    fn encoded_bound(&self, decoded_size: u64) -> Option<u64> {
        // libbzip2's documentation: a hundredth and 600 bytes more.
        decoded_size.checked_add(decoded_size / 100 + 600)
    }
}

/// `bzip2` panics where there is no memory for a stream.
fn new_stream<Stream>(make: impl FnOnce() -> Stream + UnwindSafe) -> Result<Stream> {
    catch_unwind(make).map_err(|_| Error::out_of_memory())
}

/// Encodes into one stream, which libbzip2 gets no more than `max_input_size` bytes of at once; returns the size.
fn encode_stream(level: u32, decoded: &[u8], encoded: &mut [u8], max_input_size: usize) -> Result<usize> {
    if encoded.is_empty() {
        return Err(too_small()); // without progress libbzip2 takes the call for a mistake
    }
    let mut stream = new_stream(|| Compress::new(Compression::new(level), WORK_FACTOR))?;
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = &decoded[read..];
        let (input, action) = match rest.get(..max_input_size) {
            Some(input) if input.len() < rest.len() => (input, Action::Run),
            _ => (rest, Action::Finish),
        };
        let before = (stream.total_in(), stream.total_out());
        let status = stream.compress(input, &mut encoded[written..], action);
        let status = status.map_err(|error| Error::internal(format!("bzip2: {error}")))?;
        read += (stream.total_in() - before.0) as usize;
        written += (stream.total_out() - before.1) as usize;
        match status {
            Status::StreamEnd if read == decoded.len() => return Ok(written),
            Status::StreamEnd => {
                return Err(Error::internal(format!("bzip2 has ended after {read} bytes of {}", decoded.len())));
            }
            _ if written == encoded.len() => return Err(too_small()),
            _ => {}
        }
    }
}

/// Decodes all streams; returns the size. What does not fit is counted, and not held, or else ends the work.
fn decode_streams(encoded: &[u8], decoded: &mut [u8], counts: bool) -> Result<usize> {
    let capacity = decoded.len();
    let (mut read, mut size) = (0, 0_u64);
    loop {
        let rest = usize::try_from(size).ok().and_then(|size| decoded.get_mut(size..)).unwrap_or_default();
        let (stream_read, stream_size) = decode_stream(&encoded[read..], rest, counts)
            .map_err(|error| error.with_context(&format!("the bzip2 stream from byte {read} on: ")))?;
        read += stream_read;
        size = size.saturating_add(stream_size);
        if read == encoded.len() {
            break;
        }
    }
    match usize::try_from(size) {
        Ok(written) if written <= capacity => Ok(written),
        _ => Err(Error::buffer_too_small("decoded_capacity", capacity, size)),
    }
}

/// Decodes the stream at the beginning of `encoded`; returns how much was read, and the size that it decodes to.
fn decode_stream(encoded: &[u8], decoded: &mut [u8], counts: bool) -> Result<(usize, u64)> {
    let mut stream = new_stream(|| Decompress::new(false))?;
    let mut overflow = [0; OVERFLOW_SIZE];
    loop {
        let (read, size) = (stream.total_in(), stream.total_out());
        let rest = usize::try_from(size).ok().and_then(|size| decoded.get_mut(size..)).unwrap_or_default();
        // Whether a full output is the end shows only when there is room for more.
        let room = if rest.is_empty() { &mut overflow[..] } else { rest };
        let status = stream.decompress(encoded.get(read as usize..).unwrap_or_default(), room);
        if !counts && stream.total_out() > decoded.len() as u64 {
            return Err(too_small());
        }
        match status.map_err(|error| Error::corrupt(format!("damaged or of another format ({error})")))? {
            Status::StreamEnd => return Ok((stream.total_in() as usize, stream.total_out())),
            Status::MemNeeded => return Err(Error::out_of_memory()),
            _ if (stream.total_in(), stream.total_out()) == (read, size) => return Err(Error::corrupt("truncated")),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{CallOptions, Contexts};

    #[test]
    fn a_chunk_that_is_read_in_several_calls_becomes_the_same_stream() {
        let sample: Vec<u8> = (0..300_000_u64).map(|i| (i * i / 1000 % 251) as u8).collect();
        let mut expected = vec![0; 2 * sample.len()];
        let size = encode_stream(1, &sample, &mut expected, usize::MAX).unwrap();
        for max_input_size in [999, 4096, 150_000, sample.len() - 1, sample.len()] {
            let mut encoded = vec![0; expected.len()];
            assert_eq!(encode_stream(1, &sample, &mut encoded, max_input_size), Ok(size), "{max_input_size}");
            assert!(encoded == expected, "{max_input_size}");
            for capacity in [1, size / 2, size - 1] {
                let error = encode_stream(1, &sample, &mut encoded[..capacity], max_input_size).unwrap_err();
                assert_eq!(error.status(), crate::Status::BufferTooSmall, "{max_input_size}, {capacity}: {error}");
            }
        }
    }

    #[test]
    fn a_small_buffer_is_told_what_all_streams_decode_to() {
        let (options, mut contexts) = (CallOptions::default(), Contexts::default());
        let call = &mut Call { options: &options, hooks: None, contexts: &mut contexts };
        let bz2 = Bz2 { configuration: Map::new(), level: 1 };
        let sample: Vec<u8> = (0..3 * OVERFLOW_SIZE + 1).map(|i| (i * i / 1000 % 251) as u8).collect();
        let mut encoded = vec![0; 2 * sample.len() + 1000];
        let size = bz2.encode(&sample, &mut encoded, call).unwrap();
        let encoded = encoded[..size].repeat(2);
        let needed = 2 * sample.len();
        for capacity in [0, 1, sample.len() - 1, sample.len(), sample.len() + 1, needed - 1] {
            let error = bz2.decode(&encoded, &mut vec![0; capacity], call).unwrap_err();
            assert_eq!(error.needed_capacity(), Some(needed), "{capacity}: {error}");
            let error = bz2.decode(&encoded[..encoded.len() - 1], &mut vec![0; capacity], call).unwrap_err();
            assert_eq!(error.status(), crate::Status::CorruptData, "{capacity}");
        }
        let mut decoded = vec![0; needed];
        assert_eq!(bz2.decode(&encoded, &mut decoded, call), Ok(needed));
        assert!(decoded == sample.repeat(2));
    }
}
